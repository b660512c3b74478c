// Reads and writes the page's address: the choice, and the microscope's view or a lesson's settings, which the server's
// script reports. Only the browser writes it; Streamlit keeps a query of its own.

import { DEFAULT_VIEW, viewFromQuery, viewToQuery } from "../core/view.js";
import { cutTo } from "../drawing/dom.js";
import { languageOf } from "../see/words.js";
import { choice, leftOpen, loadCatalogue } from "./choice.js";
import { ownPictures } from "./own.js";

// The page on show: its name and path, how many pages were opened before, a lesson's settings, the tour's step, the
// story's scene, and whether it is a class link.
const page = {
  ...{ name: "microscope", path: null, arrived: 0, run: null },
  ...{ settings: {}, tour: null, story: null, classLink: false },
};

// The microscope's view, kept on every page: whoever comes back finds it as it was.
let view = {};

// Whether the address's words stand after a #, as on static hosts, so that they are not sent; else they stand after a
// ?.
let behindHash = false;
export const isBehindHash = () => behindHash;
export function writeBehindHash() {
  behindHash = true;
}
export const addressWords = () => (behindHash ? location.hash : location.search).slice(1);
function putWords(url, text) {
  if (behindHash) url.hash = text;
  else url.search = text;
}

// The face with which this page opens, by its first address.
export function openFace() {
  face.open(Object.fromEntries(new URLSearchParams(addressWords())));
  return face;
}

export const viewNow = () => view;
export const viewWords = (shown = view) => Object.fromEntries(new URLSearchParams(viewToQuery(shown)));

// A compared picture is shown beside the main one, unless the address says otherwise.
const viewWordsHere = (shown = view) => ({
  ...(choice.now.beside && { beside: DEFAULT_VIEW.beside }),
  ...viewWords(shown),
  // without it, an address with a view would open Lab
  ...(face.now === "see" && (choice.now.beside || Object.keys(viewWords(shown)).length) && { face: "see" }),
});

export function setView(next) {
  view = next;
}

export const pageNow = () => page;

export function setPage(change) {
  Object.assign(page, change);
}

export function wordsNow() {
  return {
    ...choice.words(),
    ...(page.name === "microscope" ? viewWordsHere() : page.settings),
    ...(page.tour ? { tour: String(page.tour) } : {}),
    ...(page.story && page.name === "microscope" ? { story: String(page.story) } : {}),
    ...(page.classLink ? { class: "yes" } : {}),
  };
}

// The parameters of this page's address, without the tour.
export function wordsWithoutTour() {
  const { tour, ...said } = wordsNow();
  return said;
}

// `step`: adds an entry to the history, so that Back returns to the former address.
export function writeAddress({ step = false } = {}) {
  if (location.pathname !== (page.path ?? location.pathname)) return; // the settings belong to another page
  if (behindHash && page.name !== "microscope") return;
  const url = new URL(location.href);
  const text = new URLSearchParams(wordsNow()).toString();
  if (addressWords() === text) return;
  putWords(url, text);
  history[step ? "pushState" : "replaceState"](history.state, "", url);
}

const CHOSEN = ["sample", "mine", "model", "detail", "with"];

// {choice, view, rest, settings, tour, story} of the current address. `settings`: for the lesson to read.
export function readAddress(text = addressWords()) {
  const words = Object.fromEntries(new URLSearchParams(text));
  const chosen = {};
  for (const key of CHOSEN) if (words[key]) chosen[key] = words[key];
  const only = (isWanted) => Object.fromEntries(Object.entries(words).filter(([key]) => isWanted(key)));
  const ownWords = ["tour", "story"];
  const settings = only((key) => !CHOSEN.includes(key) && !ownWords.includes(key));
  const rest = only((key) => !(key in chosen) && !ownWords.includes(key) && !(key in DEFAULT_VIEW));
  const { tour = null, story = null } = words;
  return { choice: chosen, view: viewFromQuery(text), rest, settings, tour, story };
}

export function linkTo(seen) {
  const url = new URL(location.href);
  const words = { ...wordsNow(), ...Object.fromEntries(Object.keys(DEFAULT_VIEW).map((key) => [key, undefined])) };
  const entries = Object.entries({ ...words, ...viewWordsHere(seen) }).filter(([, word]) => word !== undefined);
  [url.search, url.hash] = ["", ""];
  putWords(url, new URLSearchParams(entries).toString());
  return url.href;
}

// The microscope's face, See or Lab, and the language of See. The browser remembers both.

const KEPT_FACE = "attention-playground-face";
const KEPT_LANGUAGE = "attention-playground-language";

const hears = new Set();
let chosenFace = null;
let chosenLanguage = null;

const keptWord = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // this browser keeps nothing
  }
};
const keepWord = (name, value) => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // the next visit opens like a first one
  }
};

// `words` of an address. One with a view but no face was made before See existed: it opens in Lab.
export function faceOf(words, remembered) {
  if (words.face === "see" || words.face === "lab") return words.face;
  if (words.tour || words.story || words.class === "yes") return "see"; // a class sees the picture, not Lab
  const says = Object.keys(words).some((key) => key in DEFAULT_VIEW || key === "with");
  return says ? "lab" : remembered === "lab" ? "lab" : "see";
}

export const face = {
  get now() {
    return chosenFace ?? "lab";
  },
  get language() {
    chosenLanguage ??= languageOf([keptWord(KEPT_LANGUAGE) ?? "", ...(navigator.languages ?? [])]);
    return chosenLanguage;
  },
  // Reads the face from the address, only at the first call: afterwards this module writes it.
  open(words) {
    chosenFace ??= faceOf(words, keptWord(KEPT_FACE));
  },
  set(to) {
    if (to === chosenFace) return;
    chosenFace = to;
    keepWord(KEPT_FACE, to);
    tellOfFace();
  },
  // By hand
  turn: (to) => cutTo([document.body], () => face.set(to)),
  speak(to) {
    chosenLanguage = languageOf([to]);
    keepWord(KEPT_LANGUAGE, chosenLanguage);
    tellOfFace();
  },
  follow(listener) {
    hears.add(listener);
    return () => hears.delete(listener);
  },
};

function tellOfFace() {
  for (const listener of hears) listener();
}

// One person's visit: the present page, and the ways to other pages. The toolbar's component reports when the server's
// script has drawn another page.

const viewListeners = new Set();
const leaving = { wholly: false };
let settingsTold = { run: null, n: 0 }; // the settings that a lesson reported last
let begun = null;
let isReady = null;
const whenReady = new Promise((go) => {
  isReady = go;
});

// Resolves when the samples are known and the address has been read.
export const ready = () => whenReady;

// The trace on the stage; the toolbar shows its grids and its model's title.
export const shownTrace = {
  now: null,
  listeners: new Set(),
  whenComplete: null, // called once all its layers are here
  set(trace) {
    this.now = trace;
    for (const listener of this.listeners) listener(trace);
  },
  complete() {
    this.whenComplete?.();
    this.whenComplete = null;
  },
};

export const visit = {
  tell: null, //  ({page, words, …}) → the server's script
  share: null, // () opens the sheet to send on what the stage shows
  picture: null, // (factor) → a canvas of it, so many times its size
  lens: null, // the lens on the stage
  live: null, // {camera(), film(file)}: the stage shows frame after frame
  modelForLive: null, // (wanted) → a promise of the model that looks at them; null: this page can't
  fetch: null, // (model) → brings it to the server, then chooses it
  leftOut: [], // [key, word] of the address that can't be chosen; the stage says it
  follow(listener) {
    viewListeners.add(listener);
    return () => viewListeners.delete(listener);
  },

  // Called whenever the toolbar is drawn. `samples`: the address of their list.
  async arrive({ page, samples, arrived, run }) {
    begun ??= beginVisit(samples, page).catch((error) => {
      begun = null; // the next call tries again
      throw error;
    });
    await begun;
    const another = run !== pageNow().run; // a restarted server counts from the beginning
    const moved = pageNow().name !== page || (!another && pageNow().arrived !== arrived);
    setPage({ name: page, path: location.pathname, arrived, run });
    if (moved) readAgain({ keep: !leaving.wholly });
    if (moved) leaving.wholly = false;
    writeSettings();
  },

  // A lesson's report of its settings: {run, n, page, settings, step}. Each part of a page reports them, and repeats
  // old reports when the theme changes: `n` tells new from old.
  hear(settings) {
    if (settings.run === settingsTold.run && settings.n <= settingsTold.n) return;
    settingsTold = settings;
    writeSettings();
  },

  // To a saved scene or a step of the tour: its picture, model and view.
  go(address, { step = true } = {}) {
    const read = readAddress(address);
    setPage({ tour: read.tour, story: read.story });
    if (read.tour || read.story) openFace().set("see"); // tour and story are about See
    setView(read.view);
    const former = choice.now;
    if ("sample" in read.choice || "mine" in read.choice) choice.open(read.choice, { view: read.view });
    else if (read.choice.model) choice.set({ model: read.choice.model }, { view: read.view });
    if (choice.now === former) for (const listener of viewListeners) listener();
    writeAddress({ step });
  },

  // Opens another page of the app with the present choice. `wholly`: only `words` count there.
  leave(page, words = null, { wholly = false } = {}) {
    leaving.wholly = wholly;
    const next = words ?? { ...choice.words(), ...(page === "microscope" ? viewWords() : {}) };
    visit.tell?.({ page, words: next, choice: choice.words(), view: viewWords() });
  },
};

async function beginVisit(samples, page) {
  await Promise.all([loadCatalogue(samples), ownPictures.read()]);
  const read = readAddress();
  setPage({ name: page, path: location.pathname, settings: read.settings, tour: read.tour, story: read.story });
  setPage({ classLink: read.rest.class === "yes" });
  setView(read.view);
  choice.open(read.choice, { view: read.view, quietly: true });
  if (page === "microscope") visit.leftOut = leftOpen(read.choice, choice.now);
  choice.follow((_, how) => how.quietly || writeAddress({ step: true }));
  window.addEventListener("popstate", () => readAgain({ keep: false }));
  isReady();
}

// The address changed without this module: another page, Back or Forward. `keep`: words that it leaves out keep their
// values.
function readAgain({ keep }) {
  const read = readAddress();
  const { settings, tour, story } = read;
  setPage({ settings, tour, story, classLink: read.rest.class === "yes" });
  setView(keep ? { ...viewNow(), ...read.view } : read.view);
  const former = choice.now;
  if (!keep || "sample" in read.choice || "mine" in read.choice)
    choice.open(read.choice, { quietly: true, view: viewNow() });
  if (choice.now === former) for (const listener of viewListeners) listener();
  writeAddress();
}

// Writes settings that arrived before the toolbar was told of their page.
function writeSettings() {
  if (settingsTold.page !== pageNow().name) return;
  setPage({ settings: settingsTold.settings });
  writeAddress({ step: settingsTold.step });
}
