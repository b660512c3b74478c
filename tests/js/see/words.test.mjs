import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CLASS_WORDS } from "../../../playground/microscope/classroom/words.js";
import { GRADE_WORDS } from "../../../playground/microscope/core/grades.js";
import { PART_NAMES, ROW_WORDS } from "../../../playground/microscope/core/says.js";
import { habitIn, pageTitle, SEE_WORDS } from "../../../playground/microscope/lens/words.js";
import { STORY_WORDS } from "../../../playground/microscope/story/words.js";
import { LANGUAGES, languageOf } from "../../../playground/microscope/words/languages.js";

const SEE_FOLDER = new URL("../../../playground/microscope/see/", import.meta.url);
test("every language has every sentence of each table, with the same holes", async () => {
  const fileOf = (tag) => `../../../playground/microscope/words/${tag}.js`;
  const modules = await Promise.all(Object.keys(LANGUAGES).map((tag) => import(fileOf(tag))));
  const holes = (item) => [...new Set(JSON.stringify(item).match(/\{\w+\}/g) ?? [])].sort();
  const faults = [];
  const sheets = Object.fromEntries(
    Object.keys(LANGUAGES).map((tag, n) => [tag, modules[n][`SHEETS_${tag.toUpperCase()}`]]),
  );
  for (const words of [sheets, SEE_WORDS, STORY_WORDS, CLASS_WORDS, GRADE_WORDS, ROW_WORDS, PART_NAMES])
    for (const language of Object.keys(LANGUAGES)) {
      const [table, english] = [words[language] ?? {}, words.en];
      for (const key of new Set([...Object.keys(english), ...Object.keys(table)])) {
        if (!(key in table)) faults.push(`${language} lacks ${key}: ${english[key]}`);
        else if (!(key in english)) faults.push(`${language} has ${key}, which English has not`);
        else if (`${holes(table[key])}` !== `${holes(english[key])}`)
          faults.push(`${language}, ${key} has ${holes(table[key])}, English ${holes(english[key])}`);
      }
    }
  assert.deepEqual(faults, []);
});

test("every page of the menu has its title in every language", () => {
  const pages = readFileSync(new URL("../../ui/pages.py", SEE_FOLDER), "utf8");
  const titles = [...pages.matchAll(/Page\("(\w+)", "([^"]+)"\)/g)];
  assert.ok(titles.length > 12);
  for (const [, name, title] of titles) {
    assert.equal(pageTitle("en", { name, title }), title);
    for (const tag of ["de", "zh", "es", "fr"])
      assert.ok(pageTitle(tag, { name, title: "" }).length > 1, `${tag} lacks the title of ${name}`);
  }
});

test("See speaks a browser's first language that has a table, and English where none has", () => {
  assert.equal(languageOf(["de-AT", "en"]), "de");
  assert.equal(languageOf(["ja", "DE"]), "de");
  assert.equal(languageOf(["zh-Hans-CN", "en"]), "zh");
  assert.equal(languageOf(["ja", "it"]), "en");
  assert.equal(languageOf([]), "en");
  assert.equal(languageOf(["constructor"]), "en");
});

test("a head's habit is told in the reader's language, with the direction of an offset", () => {
  const heads = readFileSync(new URL("../../analysis/heads.py", SEE_FOLDER), "utf8");
  const labels = [...heads.matchAll(/= Habit\(\s*"([^"]+)"/g)].map(([, label]) => label);
  assert.ok(labels.length > 5);
  for (const label of labels) {
    assert.equal(habitIn("en", label), label);
    for (const language of Object.keys(LANGUAGES).filter((name) => name !== "en"))
      assert.notEqual(habitIn(language, label), label, language);
  }
  assert.equal(habitIn("de", "fixed offset: 1 up"), "ein fester Abstand: 1 up");
});
