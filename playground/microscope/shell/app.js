// The parts of the app that share one choice: the toolbar of every page and the microscope. One script, so that what
// they share is there once.

import { fetchAhead } from "./ahead.js";
import { mountStage } from "./stage.js";
import { mountToolbar } from "./toolbarmount.js";

const PARTS = { attention_toolbar: mountToolbar, attention_stage: mountStage };

export default (args) => PARTS[args.name](args);

fetchAhead().catch(() => {}); // the parts ask again, and say what is wrong
