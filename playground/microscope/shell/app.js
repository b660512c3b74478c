// The parts of the app that share one choice: the toolbar of every page, the microscope, and what a lesson tells of its
// settings. One script, so that what they share is there once.

import { headWanted } from "../lens/asking.js";
import { readAddress, shownTrace, visit } from "./address.js";
import { loadCatalogue, openedBy, tracesOf } from "./choice.js";
import { enterTheDoor, watchDialog, watchDoor } from "./connection.js";
import { endEarly, moveIn, pageSays, standEarly, wish } from "./early.js";
import { addressOf } from "./http.js";
import { source } from "./httpsource.js";
import { ownPictures } from "./own.js";
import { computeOwnHere } from "./siteanswers.js";
import { mountStage } from "./stage.js";
import { mountToolbar } from "./toolbarmount.js";
import { mountWall } from "./wall.js";

// The microscope is shown before Streamlit begins: the server names this script in the page, and lays Streamlit's own
// scripts into a template (ui/toolbar.py), where they wait until the first picture is there.

const STREAMLITS = "template[data-later]";
const LATEST = 1000; // ms after which Streamlit begins, whether there is a picture or not
const LAYERS = 400; // ms after the picture, if its layers are not here sooner

// `mounts`: {toolbar, stage}
async function comeAhead(mounts) {
  const told = pageSays();
  if (told?.computes?.length) computeOwnHere(told.computes);
  watchDoor();
  watchDialog();
  const waits = document.querySelector(STREAMLITS); // not on a lesson's page
  if (waits) beginAfterPicture(waits);
  if (told) await Promise.all([loadCatalogue(told.samples), ownPictures.read()]);
  if (!told || !waits) return;
  const found = readAddress();
  const { main } = tracesOf(openedBy(found.choice));
  source.beginWith(main, (trace) => headWanted({ ...trace.opens, ...found.view })).catch(() => {}); // the stage says it
  const { styles } = await import(import.meta.url);
  const places = standEarly(styles);
  if (!places) return;
  const data = { page: "microscope", arrived: 0, answer: null, run: null };
  mounts.toolbar({ data, parentElement: places.toolbar, setStateValue() {}, setTriggerValue: wish });
  mounts.stage({ parentElement: places.stage });
}

// Where the layers lie in the browser's cache they are here sooner than Streamlit's scripts could be read; where they
// come from the server, nothing waits for them.
function beginAfterPicture(waits) {
  let latest = setTimeout(begin, LATEST);
  function begin() {
    clearTimeout(latest);
    shownTrace.listeners.delete(shown);
    shownTrace.whenComplete = null;
    waits.replaceWith(waits.content);
  }
  function shown() {
    shownTrace.listeners.delete(shown);
    clearTimeout(latest);
    latest = setTimeout(begin, LAYERS);
  }
  shownTrace.whenComplete = begin;
  shownTrace.listeners.add(shown);
}

const MOUNTS = {
  toolbar: mountToolbar,
  stage: mountStage,
  settings: ({ data }) => visit.hear(data),
  wall: ({ parentElement }) => mountWallOnce(parentElement.querySelector("[data-wall]")),
};

function mountWallOnce(root) {
  root.className = "wall-room";
  root.__wall ??= mountWall(root, {
    link: (page, words) => addressOf(`${page}?${new URLSearchParams(words)}`),
    go: (page, words) => visit.leave(page, words, { wholly: true }),
  });
  return () => {
    root.__wall?.();
    delete root.__wall;
  };
}

export default (args) => {
  enterTheDoor();
  const part = args.name.replace("attention_", "");
  moveIn(part, args);
  if (part === "toolbar" && args.data.page !== "microscope") endEarly();
  return MOUNTS[part](args);
};

comeAhead(MOUNTS).catch(() => {}); // the parts ask again, and say what is wrong
