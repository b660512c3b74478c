import assert from "node:assert/strict";
import { test } from "node:test";

import { answerLayer, createAnswers, prepareColumns } from "../../../playground/microscope/core/answers.js";
import { ablate, isCut, rowInto, unpack } from "../../../playground/microscope/core/core.js";
import { packOf } from "../packs.mjs";

// The grid is 2 × 3: token 0 is CLS, and patches 1 2 3 lie above 4 5 6.
const packWithCuts = (...cuts) => unpack(packOf({ cuts, held: [0, 1] }));
const cutEdges = (pack, layer, head) => {
  const edgeNames = [];
  for (let i = 0; i < pack.tokens; i++)
    for (let j = 0; j < pack.tokens; j++) if (isCut(pack, layer, head, i, j)) edgeNames.push(`${i}-${j}`);
  return edgeNames.join(" ");
};

test("the cut 3x3 keeps the neighbours, and CLS where the text names it", () => {
  assert.equal(cutEdges(packWithCuts("*>3x3"), 0, 0), "1-0 1-3 1-6 2-0 3-0 3-1 3-4 4-0 4-3 4-6 5-0 6-0 6-1 6-4");
  assert.equal(cutEdges(packWithCuts("*>3x3+cls"), 0, 0), "1-3 1-6 3-1 3-4 4-3 4-6 6-1 6-4");
});

test("an ablated head cuts no edge: its output becomes zero, or its mean over the tokens", () => {
  const pack = packWithCuts("zero@0.1", "mean@0+1.2");
  assert.equal(cutEdges(pack, 0, 1) + cutEdges(pack, 1, 2), "");
  const pass = { cuts: pack.cuts, tokens: 2, headNumbers: [0, 1, 2] };
  const ablatedNumbers = (layer) => {
    const numbers = Float32Array.from([1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16]); // (2 tokens, 3 heads of 2)
    ablate(numbers, pass, layer);
    return [...numbers];
  };
  assert.deepEqual(ablatedNumbers(0), [1, 2, 0, 0, 10, 11, 11, 12, 0, 0, 10, 11]);
  assert.deepEqual(ablatedNumbers(1), [1, 2, 3, 4, 10, 11, 11, 12, 13, 14, 10, 11]);
  assert.deepEqual(ablatedNumbers(2), [1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16]);
});

test("a file that holds some heads knows their numbers", () => {
  const pack = unpack(packOf({ cuts: ["0,1>1,2@0.7"], heads: 2, head_numbers: [4, 7] }));
  assert.deepEqual([cutEdges(pack, 0, 0), cutEdges(pack, 0, 1)], ["", "2-6"]);
});

test("rows, columns and entropies are those of a softmax without the edge", () => {
  const [uncutPack, cutPack] = [packWithCuts(), packWithCuts("0,1>1,2@0.1")];
  const row = (pack, head, token) => {
    const out = new Float32Array(pack.tokens);
    const bits = rowInto(out, 0, pack, 0, head, token, pack.scale);
    return { row: [...out], bits };
  };
  const uncutRow = row(uncutPack, 1, 2).row;
  const keptShare = 1 - uncutRow[6];
  const expected = uncutRow.map((weight, j) => (j === 6 ? 0 : weight / keptShare));
  const { row: cutRow, bits } = row(cutPack, 1, 2);
  cutRow.forEach((weight, j) => assert.ok(Math.abs(weight - expected[j]) < 1e-6));
  const entropy = -expected.reduce((sum, weight) => sum + (weight ? weight * Math.log2(weight) : 0), 0);
  assert.ok(Math.abs(bits - entropy) < 1e-5);
  assert.deepEqual(row(cutPack, 0, 2), row(uncutPack, 0, 2), "another head hears as before");

  const answers = createAnswers(cutPack);
  answerLayer(answers, 0, 2, cutPack.scale, "weight", "row");
  const answeredRow = [...answers.weights.subarray(7, 14)];
  answeredRow.forEach((weight, j) => assert.ok(Math.abs(weight - expected[j]) < 1e-6));
  prepareColumns(answers, [0], 0, cutPack.scale, 1e4);
  answerLayer(answers, 0, 6, cutPack.scale, "weight", "column");
  const column = [...answers.weights.subarray(7, 14)];
  for (let i = 0; i < 7; i++) assert.ok(Math.abs(column[i] - row(cutPack, 1, i).row[6]) < 1e-6);
  assert.equal(column[2], 0);
});
