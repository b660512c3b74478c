import assert from "node:assert/strict";
import { test } from "node:test";
import { pairOf, rankOf } from "../../../playground/microscope/core/answers.js";
import * as core from "../../../playground/microscope/core/core.js";
import { fixture } from "../support.mjs";

test("the arithmetic of a pair ends in the very weight of the row, at any scale", () => {
  const pack = core.unpack(fixture().bytes);
  const layer = [...pack.stored.keys()][0];
  const row = new Float32Array(pack.tokens);
  for (const scale of [pack.scale, 1, 0.01]) {
    core.rowInto(row, 0, pack, layer, 1, 3, scale);
    for (let key = 0; key < pack.tokens; key++) {
      const pair = pairOf(pack, layer, 1, 3, key, scale);
      assert.ok(Math.abs(pair.weight - row[key]) < 1e-6, `${pair.weight} ${row[key]}`);
      const sum = pair.products.reduce((a, b) => a + b, 0);
      assert.ok(Math.abs(sum - pair.dot) < 1e-4 * Math.max(1, Math.abs(sum)));
      assert.equal(pair.score, pair.dot * scale);
      assert.equal(pair.products.length, pack.dim);
    }
  }
});

test("a weight's rank counts the weights that are larger", () => {
  const row = Float32Array.from([0.1, 0.4, 0.2, 0.2, 0.1]);
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((j) => rankOf(row, j)),
    [4, 1, 2, 2, 4],
  );
});
