// The parts of the app that share one choice: the toolbar of every page, the microscope, and what a lesson tells of its
// settings. One script, so that what they share is there once.

import { headWanted } from "../lens/asking.js";
import { openFace, readAddress, shownTrace, visit } from "./address.js";
import { choice, loadCatalogue, openedBy, tracesOf } from "./choice.js";
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
// scripts into a template (ui/toolbar.py), where they wait until the first picture is there; in See until they are
// needed, for each page of Streamlit's is a session on the server.

const STREAMLITS = "template[data-later]";
const LATEST = 1000; // ms after which Streamlit begins, whether there is a picture or not
const LATEST_IN_SEE = 8000;
const LEADS_ELSEWHERE = ".opener.pages, .opener.more, a";
const LAYERS = 400; // ms after the picture, if its layers are not here sooner

// `mounts`: {toolbar, stage}
async function comeAhead(mounts) {
  const told = pageSays();
  if (told?.computes?.length) computeOwnHere(told.computes);
  watchDialog();
  const waits = document.querySelector(STREAMLITS); // not on a lesson's page
  if (!waits) watchDoor();
  const begin = waits && beginAfterPicture(waits);
  if (told) await Promise.all([loadCatalogue(told.samples), ownPictures.read()]);
  if (!told || !waits) return;
  const found = readAddress();
  const { main } = tracesOf(openedBy(found.choice));
  source.beginWith(main, (trace) => headWanted({ ...trace.opens, ...found.view })).catch(() => {}); // the stage says it
  const { styles } = await import(import.meta.url);
  const places = standEarly(styles);
  if (!places) return;
  const data = { page: "microscope", arrived: 0, answer: null, run: null };
  const setTriggerValue = (...said) => {
    wish(...said);
    begin();
  };
  places.toolbar.addEventListener("pointerdown", (event) => {
    if (event.composedPath().some((one) => one.matches?.(LEADS_ELSEWHERE))) begin(); // before the page is chosen
  });
  mounts.toolbar({ data, parentElement: places.toolbar, setStateValue() {}, setTriggerValue });
  mounts.stage({ parentElement: places.stage });
}

// Where the layers lie in the browser's cache they are here sooner than Streamlit's scripts could be read; where they
// come from the server, nothing waits for them.
function beginAfterPicture(waits) {
  let latest = setTimeout(() => {
    latest = setTimeout(begin, openFace().now === "see" ? LATEST_IN_SEE : 0);
  }, LATEST);
  let isShown = false;
  const beginIfNeeded = () => isShown && needsServerSide() && begin();
  const unfollow = [openFace().follow(beginIfNeeded), choice.follow(beginIfNeeded)];
  function begin() {
    clearTimeout(latest);
    shownTrace.listeners.delete(shown);
    shownTrace.whenComplete = null;
    for (const end of unfollow.splice(0)) end();
    if (!waits.isConnected) return;
    watchDoor();
    waits.replaceWith(waits.content);
  }
  function shown() {
    shownTrace.listeners.delete(shown);
    clearTimeout(latest);
    latest = setTimeout(() => {
      isShown = true;
      beginIfNeeded();
    }, LAYERS);
  }
  shownTrace.whenComplete = () => {
    isShown = true;
    beginIfNeeded();
  };
  shownTrace.listeners.add(shown);
  return begin;
}

// Lab, and a photograph of somebody's own: whoever asks for much has a page at the server, by which they are known.
const needsServerSide = () => openFace().now !== "see" || Boolean(choice.now.mine);

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
