// The address of a page: the browser alone writes it. It says the choice, and the microscope's view or a lesson's
// settings, which the server's script has and tells. Streamlit's page keeps a query of its own, and does not see this.

import { DEFAULT_VIEW, viewFromQuery, viewToQuery } from "../core/view.js";
import { cutTo } from "../drawing/dom.js";
import { languageOf } from "../see/words.js";
import { choice, leftOpen, loadCatalogue } from "./choice.js";
import { ownPictures } from "./own.js";

// Where the person is: the page, its place in the address, how often they have come to one, the settings of a lesson,
// the step of the tour, the scene of the story, and whether it is a class link.
const page = {
  ...{ name: "microscope", path: null, arrived: 0, run: null },
  ...{ settings: {}, tour: null, story: null, classLink: false },
};

// The microscope's view, on every page: who comes back to it finds it as it was.
let view = {};

// Behind the ? the words go to the server with the page; behind the # to nobody, where no server reads them.
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

// Which face this page opens with: what its first address says.
export function openFace() {
  face.open(Object.fromEntries(new URLSearchParams(addressWords())));
  return face;
}

export const viewNow = () => view;
export const viewWords = (of = view) => Object.fromEntries(new URLSearchParams(viewToQuery(of)));

// While two pictures are compared, the other one stands beside the picture, unless the address names something else.
const viewWordsHere = (of = view) => ({
  ...(choice.now.beside && { beside: DEFAULT_VIEW.beside }),
  ...viewWords(of),
  // Without it an address that says a view opens Lab.
  ...(face.now === "see" && (choice.now.beside || Object.keys(viewWords(of)).length) && { face: "see" }),
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

// All that the address of this page says, but for the tour.
export function wordsWithoutTour() {
  const { tour, ...said } = wordsNow();
  return said;
}

// `step`: Back leads to what was there before.
export function writeAddress({ step = false } = {}) {
  if (location.pathname !== (page.path ?? location.pathname)) return; // it is another page's
  if (behindHash && page.name !== "microscope") return;
  const url = new URL(location.href);
  const text = new URLSearchParams(wordsNow()).toString();
  if (addressWords() === text) return;
  putWords(url, text);
  history[step ? "pushState" : "replaceState"](history.state, "", url);
}

const CHOSEN = ["sample", "mine", "model", "detail", "with"];

// {choice, view, rest, settings, tour, story} of the address as it stands. `settings`: what a lesson makes of it.
export function readAddress(text = addressWords()) {
  const words = Object.fromEntries(new URLSearchParams(text));
  const chosen = {};
  for (const key of CHOSEN) if (words[key]) chosen[key] = words[key];
  const only = (isWanted) => Object.fromEntries(Object.entries(words).filter(([key]) => isWanted(key)));
  const told = ["tour", "story"];
  const settings = only((key) => !CHOSEN.includes(key) && !told.includes(key));
  const rest = only((key) => !(key in chosen) && !told.includes(key) && !(key in DEFAULT_VIEW));
  const { tour = null, story = null } = words;
  return { choice: chosen, view: viewFromQuery(text), rest, settings, tour, story };
}

export function linkTo(seen) {
  const url = new URL(location.href);
  const words = { ...wordsNow(), ...Object.fromEntries(Object.keys(DEFAULT_VIEW).map((key) => [key, undefined])) };
  const kept = Object.entries({ ...words, ...viewWordsHere(seen) }).filter(([, word]) => word !== undefined);
  [url.search, url.hash] = ["", ""];
  putWords(url, new URLSearchParams(kept).toString());
  return url.href;
}

// Which of its two faces the microscope shows: See or Lab; and in which language See speaks. This browser remembers
// both.

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
    // the next visit begins as the first
  }
};

// `words` of an address. One that says a view and no face was made before See was there: it opens as it was.
export function faceOf(words, remembered) {
  if (words.face === "see" || words.face === "lab") return words.face;
  if (words.tour || words.story || words.class === "yes") return "see"; // a class sees the picture
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
  // As an address says it: only the first counts, for later ones are written here.
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

// One person's visit: where they are in the app, and the ways from one place to another. The toolbar's component tells
// when the server's script has drawn another page.

const viewListeners = new Set();
const leaving = { wholly: false };
let settingsTold = { run: null, n: 0 }; // what a lesson told of its settings last
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
  lens: null, // the one on the stage
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
      begun = null; // the next time it may
      throw error;
    });
    await begun;
    const another = run !== pageNow().run; // a server that begins to count again
    const moved = pageNow().name !== page || (!another && pageNow().arrived !== arrived);
    setPage({ name: page, path: location.pathname, arrived, run });
    if (moved) readAgain({ keep: !leaving.wholly });
    if (moved) leaving.wholly = false;
    writeSettings();
  },

  // The n-th time that a lesson's page tells its settings: {run, n, page, settings, step}. Each part of a page tells
  // them, and says the same again when the theme changes, however old it is.
  hear(now) {
    if (now.run === settingsTold.run && now.n <= settingsTold.n) return;
    settingsTold = now;
    writeSettings();
  },

  // To a saved scene or a step of the tour: its picture, model and view.
  go(address, { step = true } = {}) {
    const found = readAddress(address);
    setPage({ tour: found.tour, story: found.story });
    if (found.tour || found.story) openFace().set("see"); // they are about See
    setView(found.view);
    const before = choice.now;
    if ("sample" in found.choice || "mine" in found.choice) choice.open(found.choice, { view: found.view });
    else if (found.choice.model) choice.set({ model: found.choice.model }, { view: found.view });
    if (choice.now === before) for (const listener of viewListeners) listener();
    writeAddress({ step });
  },

  // To another page of the app, with all that is chosen. `wholly`: `words` are all that counts there.
  leave(page, words = null, { wholly = false } = {}) {
    leaving.wholly = wholly;
    const said = words ?? { ...choice.words(), ...(page === "microscope" ? viewWords() : {}) };
    visit.tell?.({ page, words: said, choice: choice.words(), view: viewWords() });
  },
};

async function beginVisit(samples, page) {
  await Promise.all([loadCatalogue(samples), ownPictures.read()]);
  const found = readAddress();
  setPage({ name: page, path: location.pathname, settings: found.settings, tour: found.tour, story: found.story });
  setPage({ classLink: found.rest.class === "yes" });
  setView(found.view);
  choice.open(found.choice, { view: found.view, quietly: true });
  if (page === "microscope") visit.leftOut = leftOpen(found.choice, choice.now);
  choice.follow((_, how) => how.quietly || writeAddress({ step: true }));
  window.addEventListener("popstate", () => readAgain({ keep: false }));
  isReady();
}

// The address says something that this browser did not write: another page, Back or Forward. `keep`: what it leaves
// open stays as it is.
function readAgain({ keep }) {
  const found = readAddress();
  const { settings, tour, story } = found;
  setPage({ settings, tour, story, classLink: found.rest.class === "yes" });
  setView(keep ? { ...viewNow(), ...found.view } : found.view);
  const before = choice.now;
  if (!keep || "sample" in found.choice || "mine" in found.choice)
    choice.open(found.choice, { quietly: true, view: viewNow() });
  if (choice.now === before) for (const listener of viewListeners) listener();
  writeAddress();
}

// The toolbar may hear of a page after its settings.
function writeSettings() {
  if (settingsTold.page !== pageNow().name) return;
  setPage({ settings: settingsTold.settings });
  writeAddress({ step: settingsTold.step });
}
