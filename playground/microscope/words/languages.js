// The languages of the words, and the one that a browser asks for.

export const LANGUAGES = { en: "English", de: "Deutsch", zh: "中文", es: "Español", fr: "Français" };

// The browser's first language that is here; else English. tags: as of navigator.languages
export const languageOf = (tags) =>
  tags.map((tag) => tag.toLowerCase().split("-")[0]).find((name) => Object.hasOwn(LANGUAGES, name)) ?? "en";
