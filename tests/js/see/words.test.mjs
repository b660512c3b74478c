import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CLASS_WORDS } from "../../../playground/microscope/classroom/words.js";
import { GRADE_WORDS } from "../../../playground/microscope/core/grades.js";
import { PART_NAMES, ROW_WORDS } from "../../../playground/microscope/core/says.js";
import { habitIn, LANGUAGES, languageOf, SEE_WORDS } from "../../../playground/microscope/lens/words.js";
import { STORY_WORDS } from "../../../playground/microscope/story/words.js";

const SEE_FOLDER = new URL("../../../playground/microscope/see/", import.meta.url);
test("every language has every sentence of each table, with the same holes", () => {
  const holes = (item) => (JSON.stringify(item).match(/\{\w+\}/g) ?? []).sort();
  for (const words of [SEE_WORDS, STORY_WORDS, CLASS_WORDS, GRADE_WORDS, ROW_WORDS, PART_NAMES]) {
    assert.deepEqual(Object.keys(words), Object.keys(LANGUAGES));
    for (const table of Object.values(words)) {
      assert.deepEqual(Object.keys(table), Object.keys(words.en));
      for (const [key, item] of Object.entries(table)) assert.deepEqual(holes(item), holes(words.en[key]), key);
    }
  }
});

test("See speaks a browser's first language that has a table, and English where none has", () => {
  assert.equal(languageOf(["de-AT", "en"]), "de");
  assert.equal(languageOf(["fr", "DE"]), "de");
  assert.equal(languageOf(["fr", "ja"]), "en");
  assert.equal(languageOf([]), "en");
  assert.equal(languageOf(["constructor"]), "en");
});

test("a head's habit is told in the reader's language, with the direction of an offset", () => {
  const heads = readFileSync(new URL("../../analysis/heads.py", SEE_FOLDER), "utf8");
  const labels = [...heads.matchAll(/= Habit\(\s*"([^"]+)"/g)].map(([, label]) => label);
  assert.ok(labels.length > 5);
  for (const label of labels) {
    assert.equal(habitIn("en", label), label);
    assert.notEqual(habitIn("de", label), label);
  }
  assert.equal(habitIn("de", "fixed offset: 1 up"), "ein fester Abstand: 1 up");
});
