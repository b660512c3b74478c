// The words of See, and of those parts of Lab that See shows too, one table for each language. Lab speaks English.
// No DOM.
import { filledIn } from "../core/numbers.js";
import { HABITS_DE, PAGES_DE, SEE_DE } from "../words/de.js";
import { HABITS_EN, SEE_EN } from "../words/en.js";
import { HABITS_ES, PAGES_ES, SEE_ES } from "../words/es.js";
import { HABITS_FR, PAGES_FR, SEE_FR } from "../words/fr.js";
import { HABITS_ZH, PAGES_ZH, SEE_ZH } from "../words/zh.js";

export const SEE_WORDS = { en: SEE_EN, de: SEE_DE, zh: SEE_ZH, es: SEE_ES, fr: SEE_FR };

// The habits of heads (playground/analysis/heads.py) in each language. habitIn appends the direction to the name of
// "fixed offset".
export const HABIT_NAMES = { en: HABITS_EN, de: HABITS_DE, zh: HABITS_ZH, es: HABITS_ES, fr: HABITS_FR };

export function habitIn(language, label) {
  const knownName = Object.keys(HABIT_NAMES[language]).find((name) => label.startsWith(name));
  return knownName ? HABIT_NAMES[language][knownName] + label.slice(knownName.length) : label;
}

const PAGE_TITLES = { de: PAGES_DE, zh: PAGES_ZH, es: PAGES_ES, fr: PAGES_FR };

// A page's title in the reader's language. `title` is English, from pagedata.js.
export const pageTitle = (language, { name, title }) => PAGE_TITLES[language]?.[name] ?? title;

export const seeWords = (language, key, values = {}) => filledIn(language, SEE_WORDS[language][key], values);
