// Mounts the bar, once for the whole visit.

import { make } from "../drawing/dom.js";
import { openFace, pageAddress, pageNow, shownTrace, viewWords, visit } from "./address.js";
import { catalogue, choice, isTraceFile } from "./choice.js";
import { addressOf, ask, mayPass, SERVER_RETRY_MS, wordsOfTrouble } from "./http.js";
import { fetchModel, fillModels, showFetching } from "./models.js";
import { notify } from "./notice.js";
import { ownPictures } from "./own.js";
import { readPageData } from "./pagedata.js";
import { beginStory } from "./storyway.js";
import { createToolbar } from "./toolbar.js";

// `more`: further fields of the toolbar's host. Returns the function that shows a page's bar; `arrived`: the number
// of pages opened so far.
export function mountToolbar(root, more) {
  const mount = { root, toolbar: null, data: readPageData(), more, timer: 0 };
  const fetchingLine = make("div"); // the line that shows a running download
  fetchingLine.className = "coming";
  root.after(fetchingLine);
  showFetching(fetchingLine);
  visit.fetch = (name) => fetchModel({ name, title: titlesOf(mount.data)[name] ?? name }, ask, choice);
  choice.follow((newChoice) => {
    const { real: realModel } = catalogue;
    if (newChoice.model === realModel?.model && !realModel.here && realModel.with_photographs)
      location.assign(addressOf(""));
  });
  shownTrace.listeners.add(() => mount.toolbar?.update(hostOf(mount)));
  return ({ page, arrived }) => {
    mount.data = { ...mount.data, page, arrived };
    return arriveOnPage(mount);
  };
}

async function arriveOnPage(mount) {
  clearTimeout(mount.timer);
  try {
    await visit.arrive(mount.data);
  } catch (error) {
    sayRefusal(error);
    if (mayPass(error)) mount.timer = setTimeout(() => arriveOnPage(mount), SERVER_RETRY_MS);
    return;
  }
  mount.toolbar ??= createToolbar(mount.root, hostOf(mount));
  mount.toolbar.update(hostOf(mount));
  visit.figures = mount.toolbar.openExport;
}

const hostOf = ({ data, more }) => ({
  pages: data.pages,
  page: data.page,
  hidden: pageNow().classLink,
  labelled: data.labelled,
  version: data.version,
  titles: titlesOf(data),
  grids: data.page === "microscope" && shownTrace.now?.model === choice.now.model ? shownTrace.now.grids : [],
  choice,
  face: openFace(),
  catalogue,
  ownPictures,
  ask,
  viewWords: () => (pageNow().name === "microscope" ? viewWords() : {}),
  go: (page, words) => {
    if (words.story) beginStory();
    else if (words.present) visit.lens?.present();
    else visit.leave(page, words);
  },
  link: pageAddress,
  share: () => visit.share?.(),
  workbench: data.workbench ? () => addressOf(`${data.workbench}?${new URLSearchParams(wordsForPython())}`) : null,
  sheets: { models: fillModels, export: more.fillExport },
  ...more,
});

// The picture, the model and the head on view, which pages of the workbench read. An own photograph stays here.
function wordsForPython() {
  const { model, sample } = isTraceFile(choice.now.mine) ? /** @type {any} */ ({}) : choice.now;
  const { layer, head, query } = visit.lens?.view ?? {};
  const words = { model, sample, layer, head, query };
  return Object.entries(words).filter(([, word]) => word !== null && word !== undefined);
}

const titlesOf = ({ titles }) => {
  const { now } = shownTrace;
  return now ? { ...titles, [now.model]: now.title } : titles;
};

const sayRefusal = (error) => void notify(wordsOfTrouble(error));
