// The address of a page: the browser alone writes it. It says the choice, and the microscope's view or a lesson's
// settings, which the server's script has and tells. Streamlit's page keeps a query of its own, and does not see this.

import { DEFAULT_VIEW, viewFromQuery, viewToQuery } from "../core/view.js";
import { choice } from "./choice.js";
import { face } from "./face.js";

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
