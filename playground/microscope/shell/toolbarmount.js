// Mounts the toolbar as a component of Streamlit, once for the whole visit. On a lesson's page, whose numbers the
// server computes, it reports each choice to the server's script; on the microscope's page it sends nothing.
// data: the fields of the page's data in early.js, and {page, run: the session, null before Streamlit runs, arrived:
// number of pages opened, answer: {needs: "key"} | {forgotten: id} | {instead: words} | null}

import { startQuery } from "../core/view.js";
import { openFace, pageNow, shownTrace, viewWords, visit, wordsWithoutTour } from "./address.js";
import { catalogue, choice, firstSample, tracesOf } from "./choice.js";
import { watchConnection } from "./connection.js";
import { pageSays } from "./early.js";
import { fillExport } from "./export.js";
import { addressOf, ask, mayPass, nameRun, ownKey, SERVER_AGAIN, wordsOfTrouble } from "./http.js";
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
  const toolbar = (parentElement.__toolbar ??= beginToolbar(
    parentElement.querySelector("[data-toolbar]") ?? parentElement,
  ));
  const data = { ...pageSays(), ...givenData };
  toolbar.tellChoice = (settings = null) =>
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
  nameRun(data.run);
  Object.assign(toolbar, { data, more });
  if (data.run) toolbar.unconnected ??= watchConnection();
  arriveOnPage(toolbar, data);
  return () => {
    toolbar.stop();
    toolbar.toolbar?.destroy();
    delete parentElement.__toolbar;
  };
}

async function arriveOnPage(toolbar, data) {
  clearTimeout(toolbar.timer);
  const { settings } = pageNow(); // read first, because a restarted server reports its own settings
  try {
    await visit.arrive(data);
  } catch (error) {
    sayRefusal(error);
    if (mayPass(error)) arriveAgain(toolbar);
    return;
  }
  toolbar.toolbar ??= createToolbar(toolbar.root, hostOf(toolbar));
  toolbar.toolbar.update(hostOf(toolbar));
  const isNewRun = toolbar.run && toolbar.run !== data.run; // the server has restarted
  toolbar.run = data.run;
  if (isNewRun && data.page !== "microscope") toolbar.tellChoice(settings);
  const text = JSON.stringify(data.answer ?? null); // the same answer comes again with each message
  if (text !== toolbar.answered) actOnAnswer(toolbar, data.answer);
  toolbar.answered = text;
  followTour(toolbar.root.parentNode, tourWay);
}

function arriveAgain(toolbar) {
  clearTimeout(toolbar.timer);
  toolbar.timer = setTimeout(() => arriveOnPage(toolbar, toolbar.data), SERVER_AGAIN);
}

function beginToolbar(root) {
  const toolbar = {
    root,
    toolbar: null,
    data: null,
    more: null,
    answered: null,
    run: null,
    tellChoice: null,
    unconnected: null,
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
    if (pageNow().name !== "microscope" && !options.quietly) toolbar.tellChoice();
  });
  const redraw = () => toolbar.toolbar?.update(hostOf(toolbar));
  shownTrace.listeners.add(redraw);
  const onTour = () => followTour(root.parentNode, tourWay);
  const unfollowVisit = visit.follow(onTour);
  const unfollowFace = openFace().follow(onTour);
  toolbar.stop = () => {
    toolbar.unconnected?.();
    clearTimeout(toolbar.timer);
    unfollow();
    unfollowVisit();
    unfollowFace();
    endLine();
    shownTrace.listeners.delete(redraw);
  };
  return toolbar;
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
    else visit.leave(page, words);
  },
  link: (page, words) => addressOf(`${page}?${new URLSearchParams(words)}`),
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
async function actOnAnswer(toolbar, answer) {
  if (!answer) return;
  if (answer.instead) return choice.open(answer.instead, { quietly: true });
  try {
    if (answer.needs || (await ownPictures.bringAgain(answer.forgotten))) return toolbar.tellChoice();
  } catch (error) {
    sayRefusal(error);
    if (mayPass(error)) {
      toolbar.answered = null; // the next message repeats this answer, which is then handled again
      return arriveAgain(toolbar);
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
  asked: 0, // number of the tour's latest move; an earlier move that is still loading is dropped

  async go(words) {
    const round = ++tourWay.asked;
    const nextWords = choice.words();
    delete nextWords.with;
    Object.assign(nextWords, await firstLook());
    if (round !== tourWay.asked) return;
    Object.assign(nextWords, words);
    if (pageNow().name === "microscope") visit.go(new URLSearchParams(nextWords).toString());
    else visit.leave("microscope", nextWords, { wholly: true });
  },

  back(formerPlace, isFinished) {
    tourWay.asked++;
    const fallbackPlace = isFinished
      ? { page: "microscope", words: choice.words() }
      : { page: pageNow().name, words: wordsWithoutTour() };
    const { page, words, face } = formerPlace ?? fallbackPlace;
    if (face) openFace().set(face);
    if (page === "microscope" && pageNow().name === "microscope") visit.go(new URLSearchParams(words).toString());
    else visit.leave(page, words, { wholly: true });
  },
};

// The layer, head and patch with which the chosen picture opens.
async function firstLook() {
  const trace = await source.open(tracesOf(choice.now).main).catch(() => null);
  if (!trace) return {}; // the stage reports the error
  const [rows, columns] = trace.grid;
  return { ...trace.opens, query: startQuery({ rows, columns }, trace.picture.start) };
}
