import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PART_NAMES } from "../../../playground/microscope/core/says.js";
import { habitIn, LANGUAGES, languageOf, SEE_WORDS } from "../../../playground/microscope/see/words.js";

const SEE_FOLDER = new URL("../../../playground/microscope/see/", import.meta.url);
const holes = (sentence) => [...sentence.matchAll(/\{\w+\}/g)].map(([hole]) => hole).sort();

test("every language has every sentence, with the same holes", () => {
  assert.deepEqual(Object.keys(SEE_WORDS), Object.keys(LANGUAGES));
  for (const table of Object.values(SEE_WORDS)) {
    assert.deepEqual(Object.keys(table), Object.keys(SEE_WORDS.en));
    for (const [key, sentence] of Object.entries(table))
      assert.deepEqual(holes(sentence), holes(SEE_WORDS.en[key]), `${key}: ${sentence}`);
  }
  for (const names of Object.values(PART_NAMES)) assert.deepEqual(Object.keys(names), Object.keys(PART_NAMES.en));
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
