import assert from "node:assert/strict";
import { test } from "node:test";

import { catalogue, choiceAfter, choiceFrom, wordsOfTraces } from "../../../playground/microscope/shell/choice.js";
import { answerTraceFiles, checkTraceFile } from "../../../playground/microscope/shell/tracefile.js";
import { container, packOf } from "../packs.mjs";
import { CATALOGUE } from "./browser.mjs";

Object.assign(catalogue, CATALOGUE);
const FILE_ID = "t0123456789abcdef";
const SHAPE = { held: [0, 1, 2, 3], grid: [2, 3], prefix: ["red", "fox"], size: [32, 48], patch: 16 };
const file = (changes = {}) => packOf({ ...SHAPE, model: "theirs", ...changes });
const refusalOf = (bytes) => {
  try {
    checkTraceFile(bytes);
  } catch (error) {
    return error.says;
  }
  return "";
};

test("a source answers for a file out of the file, and for all else as before", async () => {
  const asked = [];
  const other = async (words) => asked.push(words);
  const entry = { id: FILE_ID, title: "fox.trace", blob: new Blob([file({ interventions: ["heads 4.0 off"] })]) };
  const find = async (id) => (id === FILE_ID ? entry : undefined);
  const source = answerTraceFiles({ open: other, layers: other, picture: other }, find);
  const trace = await source.open({ mine: FILE_ID, model: "any" });
  assert.equal(trace.title, "theirs, heads 4.0 off");
  assert.deepEqual([trace.grid, trace.layers, trace.offers, trace.private], [[2, 3], 4, [], true]);
  assert.deepEqual(checkTraceFile(await source.layers(trace, [1])).header.prefix, ["red", "fox"]);
  assert.equal(await source.picture(trace), null, "this file has no picture");
  assert.deepEqual(asked, []);
  await source.open({ sample: "tabby" });
  assert.deepEqual(asked, [{ sample: "tabby" }]);
  await assert.rejects(source.open({ mine: "tfedcba9876543210" }), { status: 404, says: /Drop it here again/ });
});

const zip = Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 0, 0);
const cut = (bytes) => bytes.subarray(0, bytes.length - 64);
const HOSTILE = {
  "the run of a training": [zip, /playground\.watched/],
  "no bytes": [new Uint8Array(0), /another file/],
  "a picture": [Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 1, 2, 3, 4), /another file/],
  "cut off": [cut(file()), /another file/],
  "another format": [file({ format: "somebody/1" }), /format/],
  "layers without end": [file({ layers: 1e9 }), /its layers/],
  "a grid of other tokens": [file({ tokens: 9 }), /grid/],
  "a size of another grid": [file({ size: [16, 48] }), /grid/],
  "a layer twice": [packOf({ ...SHAPE, held: [1, 1] }), /twice/],
  "a name without end": [file({ model: "x".repeat(1000) }), /names/],
  "markup for a grid": [file({ size: "<b>" }), /size/],
  "numbers that are none": [file({ numbers: () => Number.NaN }), /that are none/],
  "numbers beyond measure": [file({ numbers: () => 1e30 }), /that are none/],
  "sections that say nothing": [container({ format: "attention-playground/1" }, {}), /another file/],
};

for (const [kind, [bytes, words]] of Object.entries(HOSTILE))
  test(`of a file that is or has ${kind} a sentence says what is wrong`, () => assert.match(refusalOf(bytes), words));

test("a file is of one model: another model opens a sample, and none is compared on it", () => {
  const choice = choiceAfter(choiceFrom({ sample: "tabby", model: "large" }), { mine: FILE_ID });
  assert.equal(choice.model, ".trace");
  const { sample, mine, model } = choiceAfter(choice, { model: "large", chose: true });
  assert.deepEqual([sample, mine, model], ["tabby", null, "large"]);
  assert.equal(choiceAfter(choice, { sample: "meadow" }).model, "bundled");
  assert.equal(choiceFrom({ mine: FILE_ID, with: "model:large" }).beside, null);
  assert.equal(choiceFrom({ sample: "tabby", model: ".trace" }).model, "dino");
  const compared = wordsOfTraces(choiceFrom({ mine: FILE_ID, with: "sample:tabby" }));
  assert.deepEqual(compared.other, { sample: "tabby", model: "dino" });
});
