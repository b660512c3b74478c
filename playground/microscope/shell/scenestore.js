// Where the scenes of the microscope are kept: in this browser. A link may bring some (#scenes=…).

import { joinScenes, readScenes, writeScenes } from "../core/scenes.js";

const SCENES = "attention-playground-scenes";

let held = null; // what storage did not take, being forbidden or full, lasts as long as the page

export function keptScenes() {
  if (held !== null) return held;
  try {
    return localStorage.getItem(SCENES);
  } catch {
    return null;
  }
}

export function keepScenes(text) {
  try {
    localStorage.setItem(SCENES, text);
    held = null;
  } catch {
    held = text;
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
