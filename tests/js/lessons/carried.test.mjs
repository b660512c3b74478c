import assert from "node:assert/strict";
import { test } from "node:test";

import { toContainer } from "../../../playground/microscope/core/container.js";
import { reportsHere } from "../../../playground/microscope/core/guesses.js";
import { container } from "../packs.mjs";
import { draw, ELEMENT_WIDTH, mountDrawing, waitForPhotograph } from "./mounting.mjs";

const { carried } = await import("../../../playground/microscope/lessons/mixture.js");

const [LAYER, HEADS, TOKENS, DIM] = [2, 2, 5, 2]; // a class token and 2 × 2 patches
const wave = (phase, head, i) => Math.sin(1 + phase + 3 * head + 0.7 * i) * 2;
const numbersOf = (phase, size) =>
  Array.from({ length: HEADS }, (_, head) => Array.from({ length: TOKENS * size }, (_, i) => wave(phase, head, i)));
const [Q, K] = [numbersOf(0, DIM), numbersOf(1, DIM)];
const NORMS = [
  [1, 1, 1, 1, 300], // the last patch's value is so long that this patch adds most, whatever its weight
  [1, 1, 1, 1, 1],
];
const PACK_BYTES = container(
  {
    ...{ format: "attention-playground/1", model: "small", scale: 0.5, layers: 4, heads: HEADS, head_dim: DIM },
    ...{ tokens: TOKENS, prefix: ["cls"], grid: [2, 2], held: [LAYER], size: [200, 200] },
  },
  {
    q: ["float32", [1, HEADS, TOKENS, DIM], Q.flat()],
    k: ["float32", [1, HEADS, TOKENS, DIM], K.flat()],
    value_norms: ["float32", [1, HEADS, TOKENS], NORMS.flat()],
  },
);
const data = (overrides = {}) =>
  toContainer(
    { id: "meadow", layer: LAYER, patch: 1, look: "", desk: "({row}, {column}), {channels} of {tokens}", ...overrides },
    { pack: [PACK_BYTES, [PACK_BYTES.length]], image: [new Uint8Array(2), [2]] },
  );

// The expected weights of a patch, and the share that each token adds.
function rowsOf(head, patch) {
  const token = 1 + patch;
  const powers = Array.from({ length: TOKENS }, (_, j) => {
    let score = 0;
    for (let d = 0; d < DIM; d++) score += Q[head][token * DIM + d] * K[head][j * DIM + d];
    return Math.exp(score / 2);
  });
  const shares = (numbers) => numbers.map((number) => number / numbers.reduce((a, b) => a + b));
  const weights = shares(powers);
  return [weights, shares(weights.map((weight, j) => weight * NORMS[head][j]))];
}

function assertShown(drawing, head, patch) {
  const { weights, arriving, ...shown } = drawing.read();
  assert.deepEqual([shown.layer, shown.head, shown.patch], [LAYER, head, patch]);
  for (const [rowIndex, expectedRow] of rowsOf(head, patch).entries())
    for (const [j, share] of expectedRow.entries())
      assert.ok(Math.abs([weights, arriving][rowIndex][j] - share) < 1e-5, `${rowIndex} ${j}`);
  const brightestOf = (row) => row.slice(1).indexOf(Math.max(...row.slice(1)));
  assert.deepEqual(shown.tops, rowsOf(head, patch).map(brightestOf));
}

test("weights, and what arrives of each value, are those of the patch that asks", async () => {
  const drawing = mountDrawing(carried, data());
  await waitForPhotograph();
  assertShown(drawing, 0, 1);
  const [topByWeight, topByContribution] = drawing.read().tops;
  assert.equal(topByContribution, 3);
  assert.notEqual(topByWeight, topByContribution, "else this picture shows nothing");
  assert.match(
    drawing.find('[data-ref="verdict"]').textContent,
    /^Patch \(0, 1\): .*, but \(1, 1\) contributes most\.$/,
  );
  assert.match(drawing.find('[data-ref="deskSays"]').textContent, /^\(0, 1\), \d of 5$/);
});

test("a patch that is pointed at asks for the moment; one that is pressed is told and reported", async () => {
  delete reportsHere().carried;
  const drawing = mountDrawing(carried, data());
  await waitForPhotograph();
  const canvas = drawing.find("canvas");
  drawing.point(canvas, "pointermove", ELEMENT_WIDTH - 1, ELEMENT_WIDTH - 1);
  draw();
  assertShown(drawing, 0, 3);
  assert.equal(reportsHere().carried, undefined);
  drawing.point(canvas, "pointerleave", 0, 0);
  draw();
  assertShown(drawing, 0, 1);
  drawing.point(canvas, "click", 1, ELEMENT_WIDTH - 1);
  draw();
  assert.equal(drawing.toldSettings.look, `${LAYER}.0.1.0`);
  assert.deepEqual(reportsHere().carried, { tops: drawing.read().tops });
  drawing.input(drawing.find('[data-ref="head"]'), "1");
  draw();
  assertShown(drawing, 1, 2);
  assert.equal(drawing.toldSettings.look, `${LAYER}.1.1.0`);
});
