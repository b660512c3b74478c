import assert from "node:assert/strict";
import { test } from "node:test";

import { nearnessSentence, sentenceOf, summaryOf } from "../../../playground/microscope/core/sentence.js";
import { WAYS } from "../../../playground/microscope/core/ways.js";
import { WAY_WORDS } from "../../../playground/microscope/core/waytable.js";

const FAR_SUMMARY = { total: 0.9, far: 0.41, best: 3, value: 0.09, where: "far" };
const FACTS = {
  what: "weight",
  direction: "row",
  name: "",
  asks: true,
  k: 3,
  summary: FAR_SUMMARY,
  place: "here",
  special: { names: "CLS", share: 0.02 },
  row: {
    told: { kind: "one", places: [{ patches: [3], share: 0.6, brightest: 3, own: false, near: false, part: null }] },
    most: 0.09,
    token: "",
    even: false,
  },
  columns: null,
  outside: 0.41,
  scale: "",
  heard: 1.74,
};
test("a row's largest share is at the patch itself, in its 3 × 3 neighbourhood, or far", () => {
  const [rows, columns, mark] = [5, 6, 14]; // row 2, column 2
  const neighbours = [7, 8, 9, 13, 15, 19, 20, 21];
  for (let patch = 0; patch < rows * columns; patch++) {
    const values = new Float32Array(1 + rows * columns).fill(0.01);
    values[1 + patch] = 0.5;
    const { best: largest, where: whereabouts } = summaryOf(values, 1, rows, columns, mark, 3);
    assert.equal(largest, patch);
    assert.equal(
      whereabouts,
      patch === mark ? "itself" : neighbours.includes(patch) ? "near" : "far",
      `patch ${patch}`,
    );
  }
});

const textOf = (facts) => {
  const { before, place, after } = sentenceOf({ ...FACTS, ...facts });
  return (before + place + after).replaceAll("\u00a0", " ");
};

test("the sentence tells a row by its places, and says what a convolution does not reach", () => {
  assert.equal(sentenceOf(FACTS).place, "here");
  assert.equal(
    textOf({}),
    "60 % of its attention goes here. 41 % of its attention lies outside its 3×3 neighbourhood.",
  );
  assert.match(textOf({ columns: 2 }), /^60 % of its attention goes to the place around row 1, column 1\. /);
});

test("what lies outside the neighbourhood is counted, and where the most goes is found", () => {
  const values = new Float32Array(26); // one special token, 5 × 5 patches
  values[0] = 0.2; // the special token, which has no place
  values[1 + 12] = 0.3; // the patch itself, in the middle
  values[1 + 6] = 0.1; // its neighbour
  values[1 + 24] = 0.4; // the far corner
  const summary = summaryOf(values, 1, 5, 5, 12, 3);
  assert.ok(
    Math.abs(summary.far - 0.4) < 1e-6 && summary.best === 24 && summary.where === "far",
    JSON.stringify(summary),
  );
  assert.ok(Math.abs(summaryOf(values, 1, 5, 5, 12, 5).far) < 1e-6, "5 × 5 reaches everything");
  values[1 + 6] = 0.5;
  assert.equal(summaryOf(values, 1, 5, 5, 12, 3).where, "near");
  values[1 + 12] = 0.6;
  assert.equal(summaryOf(values, 1, 5, 5, 12, 3).where, "itself");
  assert.equal(summaryOf(values, 1, 5, 5, 0, 3).where, "far", "at the corner the neighbourhood is cut");
  assert.ok(Math.abs(summaryOf(values, 1, 5, 5, -1, 3).far - 1.5) < 1e-6, "a special token has no neighbourhood");
});

test("the sentence says what special tokens take where it is much", () => {
  assert.doesNotMatch(textOf({}), /CLS/);
  assert.match(
    textOf({ special: { names: "CLS and registers", share: 0.35 } }),
    /neighbourhood; CLS and registers get 35 %\.$/,
  );
});

test("a special token speaks of the picture, and not of a neighbourhood", () => {
  assert.equal(
    textOf({ name: "CLS", outside: 0.88 }),
    "CLS: 60 % of its attention goes here. 88 % of its attention lies on the picture's patches.",
  );
  assert.match(textOf({ name: "register 0" }), /^Register 0: /);
});

test("of a label the sentence names what speaks most for it and what most against it", () => {
  const highest = { value: 0.03, place: "row 3, column 11" },
    least = { value: -0.02, place: "row 10, column 6" };
  const facts = {
    what: "relevance",
    label: "a cat",
    summary: FAR_SUMMARY,
    ends: { most: highest, least, written: String },
  };
  assert.equal(
    textOf(facts),
    "Through all layers, row 3, column 11 speaks most for “a cat” (0.03), row 10, column 6 most against it (-0.02).",
  );
  const onlyAgainst = { ...facts.ends, most: { ...highest, value: 0 } };
  assert.match(
    textOf({ ...facts, ends: onlyAgainst }),
    /^Nothing in the picture speaks for “a cat”, most against it row 10/,
  );
  const onlyFor = { ...facts.ends, least: { ...least, value: 0 } };
  assert.equal(
    textOf({ ...facts, what: "occlusion" }),
    "Blanking row 3, column 11 takes most from “a cat” (0.03), blanking row 10, column 6 gives it most (-0.02).",
  );
  assert.match(textOf({ ...facts, ends: onlyFor }), /nothing against it\.$/);
  assert.match(textOf({ ...facts, what: "occlusion", ends: onlyFor }), /and nothing that is blanked gives it more\.$/);
});

test("while numbers are on their way, a patch is named only where one asks", () => {
  assert.equal(textOf({ summary: null }), "This patch: the numbers are on their way.");
  assert.equal(
    textOf({ summary: null, what: "occlusion", label: "a cat", asks: false }),
    "The numbers are on their way.",
  );
});

const HOLE_PATTERN = /\{\w+\}/g;

test("every word of every sentence is one of the table: another language is another table", (test) => {
  const english = { ...WAY_WORDS.en.sentence };
  test.after(() => Object.assign(WAY_WORDS.en.sentence, english));
  for (const [key, text] of Object.entries(english))
    WAY_WORDS.en.sentence[key] = text.toUpperCase().replace(HOLE_PATTERN, (hole) => hole.toLowerCase());
  const ends = { most: { value: 1, place: "ROW 3" }, least: { value: -1, place: "ROW 9" }, written: String };
  const changes = [{}, { name: "CLS" }, { direction: "column" }, { summary: null }, { unmoved: "1 %" }];
  changes.push({ summary: null, asks: false }, { part: { here: 0.2, there: 0.1 } });
  changes.push({ scale: "WITHOUT" }, { ends }, { ends: { ...ends, least: { value: 0 } } });
  changes.push(
    { ends: { ...ends, most: { value: 0 } } },
    { place: "here" },
    { special: { names: "A and B", share: 1 } },
  );
  for (const whereabouts of ["near", "itself"]) changes.push({ summary: { ...FAR_SUMMARY, where: whereabouts } });
  const sentences = new Set();
  for (const way of Object.keys(WAYS))
    for (const change of changes.filter((item) => !item.ends || WAYS[way].signed || WAYS[way].explains === "patch"))
      sentences.add(
        textOf({
          ...{ what: way, place: "ROW 2", label: "A CAT" },
          ...(WAYS[way].signed && { ends, written: { total: 2, special: 1 } }),
          ...change,
        }),
      );
  for (const whereabouts of ["near", "far"])
    sentences.add(nearnessSentence({ k: 3, summary: { ...FAR_SUMMARY, where: whereabouts }, place: "ROW 2" }));
  assert.ok(sentences.size > 45, String(sentences.size));
  for (const sentence of sentences) {
    assert.doesNotMatch(
      sentence.replace(/of its attention goes here|\bhere\b|A and B/g, ""),
      /[a-z]|undefined/,
      sentence,
    );
    assert.doesNotMatch(sentence, /[{}\p{Cc}]/u, sentence);
  }
});

test("in every sentence the share stands before the place", () => {
  for (const [key, text] of Object.entries(WAY_WORDS.en.sentence)) {
    const [share, place] = [text.indexOf("{share}"), text.search(/\{(place|within|block)\}/)];
    assert.ok(share < 0 || place < 0 || share < place, key);
  }
});
