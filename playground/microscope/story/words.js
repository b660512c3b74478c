// The story's words, one table for each language. {name} in a sentence is filled with a number or word about the
// picture. No DOM.
import { filledIn } from "../core/numbers.js";
import { STORY_DE } from "../words/de.js";
import { STORY_EN } from "../words/en.js";
import { STORY_ES } from "../words/es.js";
import { STORY_FR } from "../words/fr.js";
import { STORY_ZH } from "../words/zh.js";

export const STORY_WORDS = { en: STORY_EN, de: STORY_DE, zh: STORY_ZH, es: STORY_ES, fr: STORY_FR };

// A text is one string, or the lines of one; Chinese has no blanks between words.
export const storyText = (language, key) => [STORY_WORDS[language][key]].flat().join(language === "zh" ? "" : " ");

export const storyWords = (language, key, values) => filledIn(language, storyText(language, key), values);
