// The words of See, and of those parts of Lab that See shows too, one table for each language. Lab speaks English.
// No DOM.
import { filledIn } from "../core/numbers.js";
import { HABITS_DE, SEE_DE } from "../words/de.js";
import { HABITS_EN, SEE_EN } from "../words/en.js";

export const LANGUAGES = { en: "English", de: "Deutsch" };

export const SEE_WORDS = { en: SEE_EN, de: SEE_DE };

// The habits of heads (playground/analysis/heads.py) in each language. habitIn appends the direction to the name of
// "fixed offset".
export const HABIT_NAMES = { en: HABITS_EN, de: HABITS_DE };

export function habitIn(language, label) {
  const knownName = Object.keys(HABIT_NAMES[language]).find((name) => label.startsWith(name));
  return knownName ? HABIT_NAMES[language][knownName] + label.slice(knownName.length) : label;
}

// The browser's first language that has a table; else English.
export const languageOf = (tags) =>
  tags.map((tag) => tag.toLowerCase().split("-")[0]).find((name) => Object.hasOwn(SEE_WORDS, name)) ?? "en";

export const seeWords = (language, key, values = {}) => filledIn(language, SEE_WORDS[language][key], values);
