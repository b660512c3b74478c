// The parts of the app that share one choice: the toolbar of every page and the microscope. One script, so that what
// they share is there once.

import { comeAhead } from "./ahead.js";
import { enterTheDoor } from "./door.js";
import { endEarly, moveIn } from "./early.js";
import { mountStage } from "./stage.js";
import { mountToolbar } from "./toolbarmount.js";

const MOUNTS = { toolbar: mountToolbar, stage: mountStage };

export default (args) => {
  enterTheDoor();
  const part = args.name.replace("attention_", "");
  moveIn(part, args);
  if (part === "toolbar" && args.data.page !== "microscope") endEarly();
  return MOUNTS[part](args);
};

comeAhead(MOUNTS).catch(() => {}); // the parts ask again, and say what is wrong
