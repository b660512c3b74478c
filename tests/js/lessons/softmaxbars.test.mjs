import assert from "node:assert/strict";
import { test } from "node:test";

import { softmaxRow } from "../../../playground/microscope/core/nine.js";

const assertClose = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

test("a row of the softmax is the one computed by hand", () => {
  const scores = [4, 2, 1, 1].map(Math.log);
  const row = softmaxRow(
    scores.map((score) => score * 10),
    0.1,
  );
  [1 / 2, 1 / 4, 1 / 8, 1 / 8].forEach((weight, j) => assertClose(row.weights[j], weight));
  assertClose(row.entropy, 1.75);
  assertClose(row.peak, 1 / 2);
  const squares = 1 / 4 + 1 / 16 + 2 / 64,
    cubes = 1 / 8 + 1 / 64 + 2 / 512;
  assertClose(row.gradient, 0.1 * Math.sqrt(squares - 2 * cubes + squares ** 2)); // by q·k, ten times the score
  const mean = (Math.log(4) + Math.log(2)) / 4;
  assertClose(row.deviation, Math.sqrt(scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / 4));
});

test("one key that takes all lets no gradient through", () => {
  const row = softmaxRow([900, 0, 0], 1);
  assert.deepEqual([...row.weights], [1, 0, 0]);
  assert.equal(row.entropy, 0);
  assert.equal(row.gradient, 0);
});
