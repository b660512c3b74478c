// Which of its two faces the microscope shows: See or Lab; and in which language See speaks. This browser remembers
// both.
import { DEFAULT_VIEW } from "../core/view.js";
import { languageOf } from "../see/words.js";

const KEPT_FACE = "attention-playground-face";
const KEPT_LANGUAGE = "attention-playground-language";

const listeners = new Set();
let now = null;
let language = null;

const kept = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // this browser keeps nothing
  }
};
const keep = (name, value) => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // the next visit begins as the first
  }
};

// `words` of an address. One that says a view and no face was made before See was there: it opens as it was.
export function faceOf(words, remembered) {
  if (words.face === "see" || words.face === "lab") return words.face;
  const says = Object.keys(words).some((key) => key in DEFAULT_VIEW || ["with", "class", "tour"].includes(key));
  return says ? "lab" : remembered === "lab" ? "lab" : "see";
}

export const face = {
  get now() {
    return now ?? "lab";
  },
  get language() {
    language ??= languageOf([kept(KEPT_LANGUAGE) ?? "", ...(navigator.languages ?? [])]);
    return language;
  },
  // As an address says it: only the first counts, for later ones are written here.
  open(words) {
    now ??= faceOf(words, kept(KEPT_FACE));
  },
  set(to) {
    if (to === now) return;
    now = to;
    keep(KEPT_FACE, to);
    tell();
  },
  speak(to) {
    language = languageOf([to]);
    keep(KEPT_LANGUAGE, language);
    tell();
  },
  follow(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

function tell() {
  for (const listener of listeners) listener();
}
