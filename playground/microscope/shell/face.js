// Which of its two faces the microscope shows: See or Lab; and in which language See speaks. This browser remembers
// both.
import { DEFAULT_VIEW } from "../core/view.js";
import { cutTo } from "../drawing/dom.js";
import { languageOf } from "../see/words.js";

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
