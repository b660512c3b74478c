import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
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

const TOLD_KINDS = ["one", "own", "several"]; // core/places.js gives these, and they name a sentence

test("every sentence of the table is used somewhere, and none that is used is missing", () => {
  const files = readdirSync(SEE_FOLDER).filter((name) => name.endsWith(".js") && name !== "words.js");
  const sources = [
    ...files,
    "../shell/toolbar.js",
    "../shell/wall.js",
    "../lens/saving.js",
    "../lens/readouts.js",
    "../lens/wall.js",
    "../lens/controls.js",
    "../lens/arithmetic.js",
  ].map((name) => readFileSync(new URL(name, SEE_FOLDER), "utf8"));
  const allSource = sources.join("\n");
  for (const key of Object.keys(SEE_WORDS.en)) {
    assert.ok(allSource.includes(`"${key}"`) || TOLD_KINDS.includes(key), `nobody says ${key}`);
  }
  for (const [, key] of allSource.matchAll(/\b(?:words|wordOf|seeWords)\("(\w+)"/g))
    assert.ok(key in SEE_WORDS.en, key);
});

test("no word of See stands outside the table", () => {
  const files = readdirSync(SEE_FOLDER).filter((name) => name.endsWith(".js") && name !== "words.js");
  for (const name of files) {
    const code = readFileSync(new URL(name, SEE_FOLDER), "utf8").replace(/\/\/.*$/gm, "");
    const matches = [...code.matchAll(/\b(?:say|sayOnce|setMath)\([^\n"`]*["`]([^"`\n]*)["`]/g)];
    const words = matches
      .map(([, text]) => text.replace(/\$\{.*?\}/g, ""))
      .filter((text) => /[A-Za-z]{3,} [a-z]{2,}/.test(text));
    assert.deepEqual(words, [], name);
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
