import assert from "node:assert/strict";
import { test } from "node:test";

import { container } from "../packs.mjs";
import { decoded, draw, drawn, WIDE } from "./mounting.mjs";

const { shuffle } = await import("../../../playground/microscope/lessons/positions.js");

const [ROWS, COLUMNS, HEADS, DIM] = [2, 3, 2, 2];
const PATCHES = ROWS * COLUMNS;
const PLACES = [3, 0, 5, 1, 4, 2]; // which patch lies at each place
const wave = (of, head, token, d) => Math.sin(of + 5 * head + 1.3 * token + d) * 2;
// Of each head the class token, then the patches in this order; `more` is what positions would add.
const numbers = (of, order, more = () => 0) =>
  Array.from({ length: HEADS }, (_, head) =>
    [-1, ...order].flatMap((patch, place) =>
      Array.from({ length: DIM }, (_, d) => wave(of, head, patch, d) + more(place, d)),
    ),
  ).flat();
const IN_ORDER = [...Array(PATCHES).keys()];

function data({ more, ...header } = {}) {
  const shape = [2, HEADS, 1 + PATCHES, DIM];
  const both = (of) => ["float32", shape, [...numbers(of, IN_ORDER, more), ...numbers(of, PLACES, more)]];
  return container(
    {
      ...{ format: "attention-playground/1", model: "small", scale: 0.7, layers: 2, heads: HEADS, head_dim: DIM },
      ...{ tokens: 1 + PATCHES, prefix: ["cls"], grid: [ROWS, COLUMNS], held: [0, 1], size: [200, 300], id: "meadow" },
      ...{ places: PLACES, order: "1", orders: 3, asker: "0,1", ...header },
    },
    {
      ...{ q: both(0), k: both(1) },
      value_norms: ["float32", shape.slice(0, 3), Array(2 * HEADS * (1 + PATCHES)).fill(1)],
      image: ["uint8", [2], [0, 0]],
    },
  );
}
const says = (there) => there.find('[data-ref="sum"]').textContent;

test("without positions a patch listens to the same patches, wherever they lie", async () => {
  const there = drawn(shuffle, data());
  await decoded();
  const { at, before, after } = there.read();
  assert.equal(at, 1);
  for (const [place, patch] of PLACES.entries())
    assert.ok(Math.abs(after[1 + place] - before[1 + patch]) < 1e-6, `${place}: ${after}; ${before}`);
  assert.ok(Math.max(...before) - Math.min(...before) > 0.1, `a row that is even shows nothing: ${before}`);
  assert.match(says(there), /^Patch 0,1, the mean of 2 heads: .*the very same patches, wherever they lie\.$/);
});

test("with positions some of its weight goes elsewhere, and how much is said", async () => {
  const there = drawn(shuffle, data({ id: "placed", more: (place, d) => Math.cos(place + d) }));
  await decoded();
  const { before, after } = there.read();
  const apart = PLACES.reduce((sum, patch, place) => sum + Math.abs(before[1 + patch] - after[1 + place]) / 2, 0);
  assert.ok(apart > 0.1, String(apart));
  assert.ok(says(there).includes(`${Math.round(100 * apart)} % of its weight has gone to other patches`), says(there));
});

test("a place of the shuffled picture is the patch that lies there", () => {
  const there = drawn(shuffle, data());
  const [cellWide, cellHigh] = [WIDE / COLUMNS, WIDE / ROWS];
  there.point(there.find('[data-ref="after"]'), "pointermove", 2.5 * cellWide, 0.5 * cellHigh);
  draw();
  assert.deepEqual([there.read().at, there.told.asker], [PLACES[2], "1,2"]);
  there.point(there.find('[data-ref="back"]'), "pointermove", 0.5 * cellWide, 1.5 * cellHigh);
  assert.equal(there.read().at, 3);
  there.key(there.find('[data-ref="before"]'), "ArrowUp");
  assert.equal(there.read().at, 0);
});

test("shuffled again it has the next order, and after the last the first", () => {
  const there = drawn(shuffle, data());
  there.click(there.find('[data-ref="again"]'));
  draw();
  assert.equal(there.told.order, "2");
  there.again(data({ id: "third", order: "3" }));
  there.click(there.find('[data-ref="again"]'));
  draw();
  assert.equal(there.told.order, "1");
});
