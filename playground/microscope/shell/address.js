// Reads and writes the page's address: the choice, and either the microscope's view or a lesson's settings.

import { DEFAULT_VIEW, viewFromQuery, viewToQuery } from "../core/view.js";
import { languageOf } from "../words/languages.js";
import { choice, isTraceFile, loadCatalogue } from "./choice.js";
import { addressOf } from "./http.js";
import { keepText, keptText } from "./kept.js";
import { ownPictures } from "./own.js";

// The shown page: its name and path, the number of pages opened so far, a lesson's settings, the
// story's scene, and whether the address is a class link.
const page = { ...{ name: "microscope", path: null, arrived: 0 }, ...{ settings: {}, story: null, classLink: false } };

// The microscope's view. It is kept while lessons are read, so that a person who comes back finds it unchanged.
/** @type {any} */
let view = {};

// Whether the address's parameters follow a #, as on static hosts, or a ?. Browsers do not send the part behind a #.
let isHashUsed = false;
export const isBehindHash = () => isHashUsed;
export function putWordsBehindHash() {
  isHashUsed = true;
}

// The address of a page with these parameters.
export function pageAddress(page, allWords) {
  const words = page === "microscope" ? allWords : withoutFile(allWords);
  if (!isHashUsed) return addressOf(`${page === "microscope" ? "" : page}?${new URLSearchParams(words)}`);
  return addressOf(`#${new URLSearchParams({ ...pageWord(page), ...words })}`);
}

// Lessons are not of a saved trace: they open with their own picture.
function withoutFile(words) {
  const { mine, model: _model, ...others } = words;
  return isTraceFile(mine) ? others : words;
}

const pageWord = (page) => (isHashUsed && page !== "microscope" ? { page } : {});
export const addressWords = () => (isHashUsed ? location.hash : location.search).slice(1);
function putWords(url, text) {
  if (isHashUsed) url.hash = text;
  else url.search = text;
}

// The face in which this page opens, according to its first address.
export function openFace() {
  face.open(Object.fromEntries(new URLSearchParams(addressWords())));
  return face;
}

export const viewNow = () => view;
export const viewWords = (shownView = view) => Object.fromEntries(new URLSearchParams(viewToQuery(shownView)));

// The view's parameters. While something is compared, `beside` is written even with its default value: without it the
// address would show the compared picture.
const viewWordsHere = (shownView = view) => ({
  ...(choice.now.beside && { beside: DEFAULT_VIEW.beside }),
  ...viewWords(shownView),
  // without face=see, an address with a view would open Lab
  ...(face.now === "see" && (choice.now.beside || Object.keys(viewWords(shownView)).length) && { face: "see" }),
});

export function setView(newView) {
  view = newView;
}

export const pageNow = () => page;

export function setPage(changes) {
  Object.assign(page, changes);
}

export function wordsNow() {
  return {
    ...choice.words(),
    ...(page.name === "microscope" ? viewWordsHere() : page.settings),
    ...(page.story && page.name === "microscope" ? { story: String(page.story) } : {}),
    ...(page.classLink ? { class: "yes" } : {}),
  };
}

// `step`: whether to add an entry to the history, so that Back returns to the former address.
export function writeAddress({ step = false } = {}) {
  if (location.pathname !== (page.path ?? location.pathname)) return; // the settings belong to a page at another path
  const url = new URL(location.href);
  const text = new URLSearchParams({ ...pageWord(page.name), ...wordsNow() }).toString();
  if (addressWords() === text) return;
  putWords(url, text);
  history[step ? "pushState" : "replaceState"](history.state, "", url);
}

const CHOICE_KEYS = ["sample", "mine", "model", "detail", "with"];

// {choice, view, rest, settings, story} of an address. `settings`: parameters for a lesson; `rest`: parameters
// that belong neither to the choice nor to the view.
export function readAddress(text = addressWords()) {
  const words = Object.fromEntries(new URLSearchParams(text));
  const choiceWords = {};
  for (const key of CHOICE_KEYS) if (words[key]) choiceWords[key] = words[key];
  const wordsWhere = (isWanted) => Object.fromEntries(Object.entries(words).filter(([key]) => isWanted(key)));
  const settings = wordsWhere((key) => !CHOICE_KEYS.includes(key) && key !== "story" && key !== "page");
  const otherWords = wordsWhere((key) => !(key in choiceWords) && key !== "story" && !(key in DEFAULT_VIEW));
  return { choice: choiceWords, view: viewFromQuery(text), rest: otherWords, settings, story: words.story ?? null };
}

export function linkTo(viewToLink) {
  const url = new URL(location.href);
  const words = { ...wordsNow(), ...Object.fromEntries(Object.keys(DEFAULT_VIEW).map((key) => [key, undefined])) };
  const entries = Object.entries({ ...words, ...viewWordsHere(viewToLink) }).filter(([, word]) => word !== undefined);
  [url.search, url.hash] = ["", ""];
  putWords(url, new URLSearchParams(entries).toString());
  return url.href;
}

// The microscope's face, See or Lab, and the language of See. The browser stores both.

const FACE_KEY = "attention-playground-face";
const LANGUAGE_KEY = "attention-playground-language";

const FACES = ["see", "lab"];
const faceListeners = new Set();
let chosenFace = null;
let chosenLanguage = null;

// The face (See or Lab) of an address. An address with a view but no face was made before See existed: it opens in Lab.
export function faceOf(words, storedFace) {
  if (FACES.includes(words.face)) return words.face;
  if (words.story || words.class === "yes") return "see"; // a class link opens in See
  const hasViewWords = Object.keys(words).some((key) => key in DEFAULT_VIEW || key === "with");
  return hasViewWords ? "lab" : storedFace === "lab" ? "lab" : "see";
}

export const face = {
  get now() {
    return chosenFace ?? "lab";
  },
  get language() {
    chosenLanguage ??= languageOf([keptText(LANGUAGE_KEY) ?? "", ...(navigator.languages ?? [])]);
    return chosenLanguage;
  },
  // Only the first call reads the face from the address: later, this module itself writes the address.
  open(words) {
    chosenFace ??= faceOf(words, keptText(FACE_KEY));
  },
  set(newFace) {
    if (newFace === chosenFace) return;
    chosenFace = newFace;
    keepText(FACE_KEY, newFace);
    tellOfFace();
  },
  // Changes the face and adds an entry to the history, so that Back returns to the former face. The entries store the
  // face, because their addresses need not name it.
  step(newFace) {
    if (newFace === chosenFace) return;
    history.replaceState({ ...history.state, face: chosenFace }, "");
    history.pushState({ ...history.state, face: newFace }, "");
    face.set(newFace);
  },
  setLanguage(newLanguage) {
    chosenLanguage = languageOf([newLanguage]);
    keepText(LANGUAGE_KEY, chosenLanguage);
    tellOfFace();
  },
  follow(listener) {
    faceListeners.add(listener);
    return () => faceListeners.delete(listener);
  },
};

function tellOfFace() {
  for (const listener of faceListeners) listener();
}

// A person's visit: functions that open pages of the app.

const viewListeners = new Set();
const departure = { onlyWords: false };
let visitPromise = null;
let markReady = null;
const whenReady = new Promise((resolve) => {
  markReady = resolve;
});

// Resolves when the samples are known and the address has been read.
export const ready = () => whenReady;

// The trace on the stage; the toolbar shows its grids and its model's title.
export const shownTrace = {
  now: null,
  listeners: new Set(),
  set(trace) {
    this.now = trace;
    for (const listener of this.listeners) listener(trace);
  },
};

export const visit = {
  open: null, // open(page, words) shows another page
  share: null, // opens the sheet of Share
  figures: null, // opens the sheet of Export
  lens: null, // the lens on the stage
  fetch: null, // downloads a model to the server, then chooses it
  follow(listener) {
    viewListeners.add(listener);
    return () => viewListeners.delete(listener);
  },

  // Called when a page is shown. `samples`: the address of the list of samples; `arrived`: pages opened so far.
  async arrive({ page, samples, arrived: arrival }) {
    visitPromise ??= beginVisit(samples, page).catch((error) => {
      visitPromise = null; // the next call tries again
      throw error;
    });
    await visitPromise;
    const isNewPage = pageNow().name !== page || pageNow().arrived !== arrival;
    setPage({ name: page, path: location.pathname, arrived: arrival });
    if (isNewPage) readAgain({ keep: !departure.onlyWords });
    if (isNewPage) departure.onlyWords = false;
  },

  // Shows the picture, model and view of a saved scene.
  go(address, { step = true } = {}) {
    const parsed = readAddress(address);
    setPage({ story: parsed.story });
    if (parsed.story) openFace().set("see"); // the story belongs to See
    setView(parsed.view);
    const formerChoice = choice.now;
    if ("sample" in parsed.choice || "mine" in parsed.choice) choice.open(parsed.choice, { view: parsed.view });
    else if (parsed.choice.model) choice.set({ model: parsed.choice.model }, { view: parsed.view });
    if (choice.now === formerChoice) for (const listener of viewListeners) listener();
    writeAddress({ step });
  },

  // Opens another page of the app with the present choice. `onlyWords`: the address gets only `words`, without
  // the choice.
  leave(page, words = null, { onlyWords = false } = {}) {
    departure.onlyWords = onlyWords;
    const nextWords = words ?? { ...choice.words(), ...(page === "microscope" ? viewWords() : {}) };
    visit.open(page, nextWords);
  },
};

async function beginVisit(samples, page) {
  await Promise.all([loadCatalogue(samples), ownPictures.read()]);
  const parsed = readAddress();
  setPage({ name: page, path: location.pathname, settings: parsed.settings, story: parsed.story });
  setPage({ classLink: parsed.rest.class === "yes" });
  if (page === "microscope") setView(parsed.view); // a lesson's layer and head are its own settings
  choice.open(parsed.choice, { view: viewNow(), quietly: true });
  const isLeaving = () => page.name !== "microscope" && isTraceFile(choice.now.mine); // it opens the microscope
  choice.follow((_, options) => options.quietly || isLeaving() || writeAddress({ step: true }));
  window.addEventListener("popstate", () => isSamePage() && readAgain({ keep: false }));
  markReady();
}

// Whether the address names the shown page; another page reads the address when it is shown.
const isSamePage = () =>
  location.pathname === page.path && (!isHashUsed || (readAddress().rest.page ?? "microscope") === page.name);

// Reads an address that this module has not written: after another page has opened, or after Back or Forward.
// `keepsView`: whether values of the view stay if their parameters are missing.
function readAgain({ keep: keepsView }) {
  const parsed = readAddress();
  const { settings, story } = parsed;
  setPage({ settings, story, classLink: parsed.rest.class === "yes" });
  const isStory = story && page.name === "microscope"; // the story belongs to See
  if (isStory) openFace().set("see");
  else if (FACES.includes(settings.face)) openFace().set(settings.face);
  else if (history.state?.face) openFace().set(history.state.face);
  if (page.name === "microscope") setView(keepsView ? { ...viewNow(), ...parsed.view } : parsed.view);
  const formerChoice = choice.now;
  if (!keepsView || "sample" in parsed.choice || "mine" in parsed.choice)
    choice.open(parsed.choice, { quietly: true, view: viewNow() });
  if (choice.now === formerChoice) for (const listener of viewListeners) listener();
  writeAddress();
}
