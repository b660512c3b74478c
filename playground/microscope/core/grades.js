// Grades a guessed place by its share of the row and its rank among the places (core/places.js). The story and the
// phones of a class both grade so. No DOM.

import { GRADES_DE } from "../words/de.js";
import { GRADES_EN } from "../words/en.js";
import { GRADES_ES } from "../words/es.js";
import { GRADES_FR } from "../words/fr.js";
import { GRADES_ZH } from "../words/zh.js";
import { filledIn, percent } from "./numbers.js";

const MOST_RANKS = 35; // ranks are single letters
const LARGEST = 1;
const OWN = 0;
const NONE = -1;

export const GRADE_WORDS = { en: GRADES_EN, de: GRADES_DE, zh: GRADES_ZH, es: GRADES_ES, fr: GRADES_FR };

// Grades as plain data for a message: {ranks: a letter for each patch: "." outside all places, "0" in the asking
// patch's own place, else the rank of the place to base 36; shares: of the places, by rank}. places: see namedPlaces;
// holds(place, patch): whether a press there counts for the place.
export function gradesOf(places, patches, holds) {
  const own = places.find((place) => place.own);
  const others = places.filter((place) => !place.own).slice(0, MOST_RANKS);
  const ranked = others.length ? [own, ...others] : [undefined, own]; // else its own is the answer
  const rankOf = (patch) => ranked.findIndex((place) => place && holds(place, patch));
  const letters = Array.from({ length: patches }, (_, patch) => {
    const rank = rankOf(patch);
    return rank < 0 ? "." : rank.toString(36);
  });
  return { ranks: letters.join(""), shares: ranked.map((place) => place?.share ?? 0) };
}

// The verdict on a guessed patch, {right, words}. A patch beside a place counts for it.
export function gradeOf({ ranks, shares }, patch, columns, language) {
  const rank = rankOfGuess(ranks, patch, columns);
  const key = { [NONE]: "none", [OWN]: "own", [LARGEST]: "largest", 2: "second" }[rank] ?? "later";
  const values = { rank, share: percent(shares[rank] ?? 0), most: percent(shares[LARGEST]) };
  return { right: rank === LARGEST, words: filledIn(language, GRADE_WORDS[language][key], values) };
}

// The weights of the patches as hexadecimal digits, 15 for the largest.
export function heatDigits(weights) {
  const largest = Math.max(...weights);
  return Array.from(weights, (weight) => Math.round((15 * weight) / largest).toString(16)).join("");
}

function rankOfGuess(ranks, patch, columns) {
  if (ranks[patch] !== ".") return Number.parseInt(ranks[patch], 36);
  const near = [-1, 0, 1].flatMap((down) =>
    [-1, 0, 1]
      .filter((right) => (patch % columns) + right >= 0 && (patch % columns) + right < columns)
      .map((right) => ranks[patch + down * columns + right] ?? "."),
  );
  const found = near.filter((letter) => letter !== ".").map((letter) => Number.parseInt(letter, 36));
  const others = found.filter((rank) => rank > OWN);
  return others.length ? Math.min(...others) : found.length ? OWN : NONE;
}
