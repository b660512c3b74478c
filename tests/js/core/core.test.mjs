import assert from "node:assert/strict";
import { test } from "node:test";

import * as core from "../../../playground/microscope/core/core.js";
import { MADE_OF_WEIGHTS } from "../../../playground/microscope/core/ways.js";
import { fixture } from "../support.mjs";

const { bytes, eightBitBytes, cases, halves, decoded, sum_of_positive_halves: halfSum } = fixture();
const pack = core.unpack(bytes);

const assertClose = (actual, expected, tolerance, label) => {
  assert.equal(actual.length, expected.length, label);
  actual.forEach((x, i) =>
    assert.ok(
      Math.abs(x - expected[i]) <= tolerance * Math.max(1, Math.abs(expected[i])),
      `${label} [${i}]: ${x} is not ${expected[i]}`,
    ),
  );
};

test("every float16 decodes to what numpy reads", () => {
  const table = core.halfFloats();
  for (const [bits, value] of halves) assert.equal(table[bits], value);
  let total = 0;
  for (const x of table) if (x > 0 && x < Infinity) total += x;
  assert.equal(total, halfSum);
  assert.equal(table[0x7c00], Infinity);
  assert.ok(Number.isNaN(table[0x7e00]));
});

test("queries and keys in eight bits decode to what numpy reads", () => {
  const smallPack = core.unpack(eightBitBytes);
  [1, 3].forEach((layer, place) => {
    assertClose(core.layerOf(smallPack, layer).q, decoded[0][place], 1e-5, "q");
    assertClose(core.layerOf(smallPack, layer).k, decoded[1][place], 1e-5, "k");
  });
});

test("a pack opens from the odd offsets at which sockets deliver", () => {
  for (const offset of [1, 3, 7, 8]) {
    const message = new Uint8Array(bytes.length + offset);
    message.set(bytes, offset);
    const movedPack = core.unpack(message.subarray(offset));
    assert.deepEqual(core.layerOf(movedPack, 3).q, core.layerOf(pack, 3).q);
  }
});

test("broken bytes are refused with a sentence", () => {
  assert.throws(() => core.unpack(new Uint8Array(0)), /empty/);
  assert.throws(() => core.unpack(bytes.slice(0, 40)), /cut off/);
  assert.throws(() => core.unpack(bytes.slice(0, bytes.length - 64)), /cut off/);
});

test("rows that are computed together equal rows that are computed one by one", () => {
  const [layer, head, queries] = [3, 1, [0, 5, 13, 2, 7]]; // five queries: rowsInto computes four together
  const allRows = core.rowsInto(new Float32Array(queries.length * pack.tokens), pack, layer, head, queries, pack.scale);
  for (const [n, token] of queries.entries()) {
    const singleRow = new Float32Array(pack.tokens);
    core.rowInto(singleRow, 0, pack, layer, head, token, pack.scale);
    assertClose([...allRows.subarray(n * pack.tokens, (n + 1) * pack.tokens)], [...singleRow], 1e-6, `row of ${token}`);
  }
});

test("rows, entropies, scores and value weights equal numpy's, at every scale", () => {
  const out = new Float32Array(3 * pack.tokens).fill(-7);
  const weighted = new Float32Array(3 * pack.tokens);
  for (const { layer, head, token, scale, row, scores, entropy, weighted: expected } of cases) {
    const start = pack.tokens;
    core.scoresInto(out, start, pack, layer, head, token, scale);
    assertClose([...out.subarray(start, 2 * start)], scores, 1e-6, "scores");
    const bits = core.rowInto(out, start, pack, layer, head, token, scale);
    assertClose([...out.subarray(start, 2 * start)], row, 1e-6, "row");
    assert.ok(Math.abs(bits - entropy) < 1e-6, `${bits} bits is not ${entropy}`);
    assert.ok(Math.abs(core.entropyBits(out, start, start) - entropy) < 1e-5);
    MADE_OF_WEIGHTS.value(weighted, start, out, start, core.layerOf(pack, layer).norms, head * start, 1);
    assertClose([...weighted.subarray(start, 2 * start)], expected, 1e-6, "weighted");
    assert.equal(out[start - 1], -7, "nothing is written beside the place that was given");
    assert.equal(out[2 * start], -7);
  }
});

test("columns equal numpy's", () => {
  const { tokens } = pack;
  const normalisers = new Float64Array(tokens),
    scratch = new Float32Array(tokens),
    out = new Float32Array(tokens);
  for (const { layer, head, token, scale, column } of cases) {
    core.normalisersInto(normalisers, 0, pack, layer, head, scale, 0, 5, scratch);
    core.normalisersInto(normalisers, 0, pack, layer, head, scale, 5, tokens, scratch);
    const total = core.columnInto(out, 0, pack, layer, head, token, scale, normalisers, 0);
    assertClose([...out], column, 2e-6, "column");
    assert.ok(Math.abs(total - column.reduce((a, b) => a + b)) < 1e-5);
  }
});

test("a convolution reads nine cells inside, six at an edge, four in a corner", () => {
  const count = (row, column, k) => core.neighbourhood(14, 14, row, column, k).count;
  assert.equal(count(7, 5, 3), 9);
  assert.equal(count(0, 5, 3), 6);
  assert.equal(count(13, 13, 3), 4);
  assert.equal(count(7, 7, 5), 25);
  assert.deepEqual(core.neighbourhood(3, 20, 0, 19, 5), { top: 0, left: 17, bottom: 2, right: 19, count: 9 });
});

test("layers that arrive later join the pack", () => {
  const fullPack = core.unpack(bytes),
    partialPack = core.unpack(bytes);
  partialPack.stored.delete(3);
  assert.equal(core.holds(partialPack, 3), false);
  core.mergePack(partialPack, fullPack);
  assert.deepEqual(core.layerOf(partialPack, 3).k, core.layerOf(pack, 3).k);
});

test("a token whose value points against what the head writes takes from it", () => {
  const weights = [0.5, 0.3, 0.2];
  const values = new Float32Array([2, 0, -1, 0, 0, 1]); // of one head: (tokens, dim)
  const parts = new Float32Array(3);
  core.partsInto(parts, weights, values, { tokens: 3, dim: 2 }, 0);
  const written = [0.5 * 2 - 0.3, 0.2];
  const length = Math.hypot(...written);
  const expected = [(0.5 * 2 * written[0]) / length, (-0.3 * written[0]) / length, (0.2 * written[1]) / length];
  for (const [i, part] of parts.entries()) assert.ok(Math.abs(part - expected[i]) < 1e-6, `${parts}`);
});
