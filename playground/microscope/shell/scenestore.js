// Where the scenes of the microscope are kept: in this browser. A link may bring some (#scenes=…).

import { joinScenes, readScenes, writeScenes } from "../core/scenes.js";

const SCENES = "attention-playground-scenes";

let held = ""; // where storage is forbidden they last as long as the page

export function keptScenes() {
  try {
    return localStorage.getItem(SCENES) ?? held;
  } catch {
    return held;
  }
}

export function keepScenes(text) {
  held = text;
  try {
    localStorage.setItem(SCENES, text);
  } catch {
    // storage is forbidden, or full
  }
}

// Those of a link join one's own; the address is then as if they had not been in it.
export function takeScenesOfLink() {
  const [, text] = location.hash.match(/^#scenes=(.*)$/) ?? [];
  if (!text) return;
  let given = [];
  try {
    given = readScenes(decodeURIComponent(text));
  } catch {
    // cut short on its way
  }
  keepScenes(writeScenes(joinScenes(readScenes(keptScenes()), given)));
  history.replaceState(history.state, "", location.pathname + location.search);
}
