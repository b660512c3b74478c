// The parts of the app that share one choice: the toolbar of every page, the microscope, and what a lesson tells of its
// settings. One script, so that what they share is there once.

import { comeAhead } from "./ahead.js";
import { enterTheDoor } from "./connection.js";
import { endEarly, moveIn } from "./early.js";
import { mountStage } from "./stage.js";
import { mountToolbar } from "./toolbarmount.js";
import { visit } from "./visit.js";

const MOUNTS = { toolbar: mountToolbar, stage: mountStage, settings: ({ data }) => visit.hear(data) };

export default (args) => {
  enterTheDoor();
  const part = args.name.replace("attention_", "");
  moveIn(part, args);
  if (part === "toolbar" && args.data.page !== "microscope") endEarly();
  return MOUNTS[part](args);
};

comeAhead(MOUNTS).catch(() => {}); // the parts ask again, and say what is wrong
