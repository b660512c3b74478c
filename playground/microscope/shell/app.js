// Mounts the parts of the app that share one choice: the toolbar of every page, the microscope, and the reports of
// lessons about their settings. One script contains all parts, so that their shared state exists once.

import { openFace, pageAddress, shownTrace, visit } from "./address.js";
import { loadCatalogue } from "./choice.js";
import { markConnected, watchDialog, watchFirstConnection } from "./connection.js";
import { endEarly, isEarly, mountEarly, moveToStreamlit, readPageData, storeMessage } from "./early.js";
import { computeOwnHere } from "./siteanswers.js";
import { askAhead, mountStage } from "./stage.js";
import { mountToolbar } from "./toolbarmount.js";
import { mountWall } from "./wall.js";

// Shows the microscope before Streamlit starts. The server puts Streamlit's scripts into a template (ui/toolbar.py);
// they start after the first picture, or in See when they are needed.

const LATER_SCRIPTS_SELECTOR = "template[data-later]";
const LONGEST_WAIT = 1000; // ms until Streamlit begins, even without a picture
const LONGEST_WAIT_IN_SEE = 8000;
const OTHER_PAGE_SELECTOR = ".opener.pages, .opener.more, a";
const LAYERS_WAIT = 400; // ms that Streamlit waits for layers after the picture

// `mounts`: {toolbar, stage}, the functions that mount these parts
async function mountBeforeStreamlit(mounts) {
  const pageData = readPageData();
  if (pageData?.computes?.length) computeOwnHere(pageData.computes);
  watchDialog();
  const streamlitScripts = document.querySelector(LATER_SCRIPTS_SELECTOR); // not on a lesson's page
  if (!streamlitScripts) watchFirstConnection();
  const begin = streamlitScripts && beginAfterPicture(streamlitScripts);
  if (!pageData) return;
  await (streamlitScripts ? askAhead() : loadCatalogue(pageData.samples));
  if (!streamlitScripts) return;
  const { styles } = await import(import.meta.url);
  const places = mountEarly(styles);
  if (!places) return;
  const data = { page: "microscope", arrived: 0, answer: null, run: null };
  const setTriggerValue = (...settings) => {
    storeMessage(...settings);
    begin();
  };
  places.toolbar.addEventListener("pointerdown", (event) => {
    // a press that opens another page needs Streamlit
    if (event.composedPath().some((element) => element.matches?.(OTHER_PAGE_SELECTOR))) begin();
  });
  mounts.toolbar({ data, parentElement: places.toolbar, setStateValue() {}, setTriggerValue });
  mounts.stage({ parentElement: places.stage });
}

// Delays Streamlit's scripts until the layers have come from the browser's cache, because parsing the scripts would
// delay the layers. Layers from the server are not waited for.
function beginAfterPicture(streamlitScripts) {
  let timer = setTimeout(() => {
    timer = setTimeout(begin, openFace().now === "see" ? LONGEST_WAIT_IN_SEE : 0);
  }, LONGEST_WAIT);
  let isShown = false;
  const beginIfNeeded = () => isShown && openFace().now !== "see" && begin();
  const stopFollowing = openFace().follow(beginIfNeeded);
  function begin() {
    clearTimeout(timer);
    shownTrace.listeners.delete(onShown);
    shownTrace.onComplete = null;
    stopFollowing();
    if (!streamlitScripts.isConnected) return;
    watchFirstConnection();
    streamlitScripts.replaceWith(streamlitScripts.content);
  }
  function onShown() {
    shownTrace.listeners.delete(onShown);
    clearTimeout(timer);
    timer = setTimeout(() => {
      isShown = true;
      beginIfNeeded();
    }, LAYERS_WAIT);
  }
  shownTrace.onComplete = () => {
    isShown = true;
    beginIfNeeded();
  };
  shownTrace.listeners.add(onShown);
  return begin;
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
    link: pageAddress,
    go: (page, words) => visit.leave(page, words, { onlyWords: true }),
  });
  return () => {
    root.__wall?.();
    delete root.__wall;
  };
}

export default (args) => {
  markConnected();
  const part = args.name.replace("attention_", "");
  const wasEarly = isEarly();
  moveToStreamlit(part, args);
  if (part === "toolbar" && args.data.page !== "microscope") endEarly();
  const unmount = MOUNTS[part](args);
  if (wasEarly && !isEarly()) visit.lens?.refresh(); // toolbar and microscope both have their last places now
  return unmount;
};

mountBeforeStreamlit(MOUNTS).catch(() => {}); // the mounted parts request the data again and show the error
