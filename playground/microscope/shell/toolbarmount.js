// Mounts the toolbar as a component of Streamlit, once for the whole visit. On a lesson's page, whose numbers the
// server computes, it reports each choice to the server's script; on the microscope's page it sends nothing.
// data: the fields of the page's data in early.js, and {page, run: the session, null before Streamlit runs, arrived:
// number of pages opened, answer: {needs: "key"} | {forgotten: id} | {instead: words} | null}

import { startQuery } from "../core/view.js";
import { openFace, pageAddress, pageNow, setPage, shownTrace, viewWords, visit, wordsWithoutTour } from "./address.js";
import { catalogue, choice, choiceFrom, firstSample, wordsOfTraces } from "./choice.js";
import { watchConnection } from "./connection.js";
import { readPageData } from "./early.js";
import { fillExport } from "./export.js";
import { addressOf, ask, mayPass, ownKey, SERVER_RETRY_MS, setPageSession, wordsOfTrouble } from "./http.js";
import { source } from "./httpsource.js";
import { fetchModel, fillModels, showFetching } from "./models.js";
import { notify } from "./notice.js";
import { ownPictures } from "./own.js";
import { beginStory } from "./storyway.js";
import { createToolbar } from "./toolbar.js";
import { followTour, goToStep } from "./tour.js";

const STAYS_IN_BROWSER = "Your photograph stays in this browser. What needs the server asks before it travels.";

// `more`: further fields of the toolbar's host, if it is mounted without Streamlit.
export function mountToolbar({ data: givenData, parentElement, setStateValue, setTriggerValue, more = {} }) {
  const mount = (parentElement.__toolbar ??= beginToolbar(
    parentElement.querySelector("[data-toolbar]") ?? parentElement,
  ));
  const data = { ...readPageData(), ...givenData };
  mount.tellChoice = (settings = null) =>
    setStateValue("choice", {
      choice: choice.words(),
      settings,
      view: viewWords(),
      key: ownKey(),
      run: data.run,
      stamp: Date.now(),
    });
  visit.tell = (target) => setTriggerValue("go", { ...target, key: ownKey(), stamp: Date.now() });
  visit.fetch = (name) => fetchModel({ name, title: titlesOf(data)[name] ?? name }, ask, choice);
  visit.tour = (n) => goToStep(n, tourWay);
  setPageSession(data.run);
  Object.assign(mount, { data, more });
  if (data.run) mount.stopWatching ??= watchConnection();
  arriveOnPage(mount, data);
  return () => {
    mount.stop();
    mount.toolbar?.destroy();
    delete parentElement.__toolbar;
  };
}

async function arriveOnPage(mount, data) {
  clearTimeout(mount.timer);
  const { settings } = pageNow(); // read first, because a restarted server reports its own settings
  try {
    await visit.arrive(data);
  } catch (error) {
    sayRefusal(error);
    if (mayPass(error)) arriveAgain(mount);
    return;
  }
  mount.toolbar ??= createToolbar(mount.root, hostOf(mount));
  mount.toolbar.update(hostOf(mount));
  visit.figures = mount.toolbar.openExport;
  const isNewRun = mount.run && mount.run !== data.run; // the server has restarted
  mount.run = data.run;
  if (isNewRun && data.page !== "microscope") mount.tellChoice(settings);
  const text = JSON.stringify(data.answer ?? null); // the same answer comes again with each message
  if (text !== mount.answeredText) actOnAnswer(mount, data.answer);
  mount.answeredText = text;
  followTour(mount.root.parentNode, tourWay);
}

function arriveAgain(mount) {
  clearTimeout(mount.timer);
  mount.timer = setTimeout(() => arriveOnPage(mount, mount.data), SERVER_RETRY_MS);
}

function beginToolbar(root) {
  const mount = {
    root,
    toolbar: null,
    data: null,
    more: null,
    answeredText: null,
    run: null,
    tellChoice: null,
    stopWatching: null,
    stop: null,
    timer: 0,
  };
  const fetchingLine = document.createElement("div"); // the line that shows a running download
  fetchingLine.className = "coming";
  root.after(fetchingLine);
  const endLine = showFetching(fetchingLine);
  const unfollow = choice.follow((newChoice, options) => {
    const { real: realModel } = catalogue;
    if (newChoice.model === realModel?.model && !realModel.here && realModel.with_photographs)
      return location.assign(addressOf(""));
    if (pageNow().name !== "microscope" && !options.quietly) mount.tellChoice();
  });
  const redraw = () => mount.toolbar?.update(hostOf(mount));
  shownTrace.listeners.add(redraw);
  const onTour = () => followTour(root.parentNode, tourWay);
  const unfollowVisit = visit.follow(onTour);
  const unfollowFace = openFace().follow(onTour);
  const unfollowPicture = choice.follow(onTour); // the tour brings its own
  mount.stop = () => {
    mount.stopWatching?.();
    clearTimeout(mount.timer);
    unfollow();
    unfollowVisit();
    unfollowFace();
    unfollowPicture();
    endLine();
    shownTrace.listeners.delete(redraw);
  };
  return mount;
}

const hostOf = ({ data, more }) => ({
  pages: data.pages,
  page: data.page,
  exports: exportsOf(data),
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
    else if (words.tour) visit.tour(Number(words.tour));
    else if (words.present) visit.lens?.present();
    else visit.leave(page, words);
  },
  link: pageAddress,
  tour: () => visit.tour(1),
  share: () => visit.share?.(),
  sheets: { models: fillModels, export: fillExport },
  notify,
  ...(data.computes?.length && { kept: STAYS_IN_BROWSER }),
  ...(visit.models && { models: visit.models, sheets: { models: visit.models.sheet, export: fillExport } }),
  ...more,
});

// The layout of a page's figures; null: all layouts; undefined: no export.
function exportsOf({ page, pages }) {
  const { exports } = pages.find(({ name }) => name === page);
  return exports === null ? undefined : exports || null;
}

const titlesOf = ({ titles }) => {
  const { now } = shownTrace;
  return now ? { ...titles, [now.model]: now.title } : titles;
};

// Acts on the server's answer about a lesson's picture.
async function actOnAnswer(mount, answer) {
  if (!answer) return;
  if (answer.instead) return choice.open(answer.instead, { quietly: true });
  try {
    if (answer.needs || (await ownPictures.bringAgain(answer.forgotten))) return mount.tellChoice();
  } catch (error) {
    sayRefusal(error);
    if (mayPass(error)) {
      mount.answeredText = null; // the next message repeats this answer, which is then handled again
      return arriveAgain(mount);
    }
    if (error.status !== 404) return; // only 404 means that the picture is gone
    return choice.set({ sample: firstSample().name, beside: null });
  }
  notify("Your photograph is not in this browser any more.");
  choice.set({ sample: firstSample().name, beside: null });
}

const sayRefusal = (error) => void notify(wordsOfTrouble(error));

// ------------------------------------------------------------------------------------------------------------ the tour

const tourWay = {
  moveCount: 0, // number of the tour's latest move; an earlier move that is still loading is dropped

  async go(words) {
    const round = ++tourWay.moveCount;
    const ownChoice = choiceFrom({ sample: firstSample().name });
    const nextWords = { ...choice.words(ownChoice), ...(await openingWords(ownChoice)), ...words };
    if (round !== tourWay.moveCount) return;
    if (pageNow().name === "microscope") visit.go(new URLSearchParams(nextWords).toString());
    else visit.leave("microscope", nextWords, { onlyWords: true });
  },

  back(formerPlace, isFinished) {
    tourWay.moveCount++;
    const fallbackPlace = isFinished
      ? { page: "microscope", words: choice.words() }
      : { page: pageNow().name, words: wordsWithoutTour() };
    const { page, words, face } = formerPlace ?? fallbackPlace;
    setPage({ tour: null }); // before the face turns, at which the card of a tour that goes on would come again
    if (face) openFace().set(face);
    if (page === "microscope" && pageNow().name === "microscope") visit.go(new URLSearchParams(words).toString());
    else visit.leave(page, words, { onlyWords: true });
  },
};

// The layer, head and patch with which a choice opens.
async function openingWords(openedChoice) {
  const trace = await source.open(wordsOfTraces(openedChoice).main).catch(() => null);
  if (!trace) return {}; // the stage reports the error
  const [rows, columns] = trace.grid;
  return { ...trace.opens, query: startQuery({ rows, columns }, trace.picture.start) };
}
