import assert from "node:assert/strict";
import { test } from "node:test";

import { container } from "../packs.mjs";
import { draw, ELEMENT_WIDTH, mountDrawing, waitForPhotograph } from "./mounting.mjs";

const { shuffle } = await import("../../../playground/microscope/lessons/positions.js");

const [ROWS, COLUMNS, HEADS, DIM] = [2, 3, 2, 2];
const PATCHES = ROWS * COLUMNS;
const PLACES = [3, 0, 5, 1, 4, 2]; // the patch at each place
const wave = (phase, head, token, d) => Math.sin(phase + 5 * head + 1.3 * token + d) * 2;
// For each head, the class token's numbers, then the patches' in this order. `embeddingAt(place, d)` is added to each
// number, as position embeddings are.
const numbers = (phase, order, embeddingAt = () => 0) =>
  Array.from({ length: HEADS }, (_, head) =>
    [-1, ...order].flatMap((patch, place) =>
      Array.from({ length: DIM }, (_, d) => wave(phase, head, patch, d) + embeddingAt(place, d)),
    ),
  ).flat();
const IN_ORDER = [...Array(PATCHES).keys()];

function data({ embeddingAt, ...header } = {}) {
  const shape = [2, HEADS, 1 + PATCHES, DIM];
  const bothPasses = (phase) => [
    "float32",
    shape,
    [...numbers(phase, IN_ORDER, embeddingAt), ...numbers(phase, PLACES, embeddingAt)],
  ];
  return container(
    {
      ...{ format: "attention-playground/1", model: "small", scale: 0.7, layers: 2, heads: HEADS, head_dim: DIM },
      ...{ tokens: 1 + PATCHES, prefix: ["cls"], grid: [ROWS, COLUMNS], held: [0, 1], size: [200, 300], id: "meadow" },
      ...{ places: PLACES, order: "1", orders: 3, asker: "0,1", ...header },
    },
    {
      ...{ q: bothPasses(0), k: bothPasses(1) },
      value_norms: ["float32", shape.slice(0, 3), Array(2 * HEADS * (1 + PATCHES)).fill(1)],
      image: ["uint8", [2], [0, 0]],
    },
  );
}
const verdictOf = (drawing) => drawing.find('[data-ref="sum"]').textContent;

test("without positions a patch listens to the same patches, wherever they lie", async () => {
  const drawing = mountDrawing(shuffle, data());
  await waitForPhotograph();
  const { at, before: rowBefore, after: rowAfter } = drawing.read();
  assert.equal(at, 1);
  for (const [place, patch] of PLACES.entries())
    assert.ok(Math.abs(rowAfter[1 + place] - rowBefore[1 + patch]) < 1e-6, `${place}: ${rowAfter}; ${rowBefore}`);
  assert.ok(Math.max(...rowBefore) - Math.min(...rowBefore) > 0.1, `a row that is even shows nothing: ${rowBefore}`);
  assert.match(verdictOf(drawing), /^Patch 0,1, the mean of 2 heads: .*the very same patches, wherever they lie\.$/);
});

test("with positions some of its weight goes elsewhere, and how much is said", async () => {
  const drawing = mountDrawing(shuffle, data({ id: "placed", embeddingAt: (place, d) => Math.cos(place + d) }));
  await waitForPhotograph();
  const { before: rowBefore, after: rowAfter } = drawing.read();
  const difference = PLACES.reduce(
    (sum, patch, place) => sum + Math.abs(rowBefore[1 + patch] - rowAfter[1 + place]) / 2,
    0,
  );
  assert.ok(difference > 0.1, String(difference));
  assert.ok(
    verdictOf(drawing).includes(`${Math.round(100 * difference)} % of its weight has gone to other patches`),
    verdictOf(drawing),
  );
});

test("a place of the shuffled picture is the patch that lies there", () => {
  const drawing = mountDrawing(shuffle, data());
  const [cellWidth, cellHeight] = [ELEMENT_WIDTH / COLUMNS, ELEMENT_WIDTH / ROWS];
  drawing.point(drawing.find('[data-ref="after"]'), "pointermove", 2.5 * cellWidth, 0.5 * cellHeight);
  draw();
  assert.deepEqual([drawing.read().at, drawing.toldSettings.asker], [PLACES[2], "1,2"]);
  drawing.point(drawing.find('[data-ref="back"]'), "pointermove", 0.5 * cellWidth, 1.5 * cellHeight);
  assert.equal(drawing.read().at, 3);
  drawing.key(drawing.find('[data-ref="before"]'), "ArrowUp");
  assert.equal(drawing.read().at, 0);
});
