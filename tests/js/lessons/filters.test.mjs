import assert from "node:assert/strict";
import { test } from "node:test";

import { toContainer } from "../../../playground/microscope/core/container.js";
import { toHalves } from "../support.mjs";
import { draw, mountDrawing, waitForPhotograph } from "./mounting.mjs";

const { default: filters } = await import("../../../playground/microscope/lessons/filters.js");

const [FILTER_COUNT, PATCH, GRID] = [9, 2, [2, 3]];
const ANSWERS = Array.from({ length: FILTER_COUNT * 6 }, (_, i) => ((i % 6) - 3) * (1 + Math.floor(i / 6)));
const data = (overrides = {}) =>
  toContainer(
    {
      ...{ id: "meadow", patch: PATCH, grid: GRID, size: [4, 6], caption: "9 filters", filter: 1, place: [0, 1] },
      titles: Array.from({ length: FILTER_COUNT }, (_, n) => `filter ${n}`),
      channels: Array.from({ length: FILTER_COUNT }, (_, n) => ({ number: n, red: `${n}.5` })),
      says: "Number {number}: **{red}** of red.",
      ...overrides,
    },
    {
      pictures: [new Uint8Array(FILTER_COUNT * PATCH ** 2 * 3), [FILTER_COUNT, PATCH, PATCH, 3]],
      answers: [toHalves(ANSWERS), [FILTER_COUNT, 6]],
      image: [new Uint8Array(2), [2]],
    },
  );
const text = (drawing, name) => drawing.find(`[data-ref="${name}"]`).textContent;

test("the chosen filter says its name, the largest of its answers, and what it makes of a patch", async () => {
  const drawing = mountDrawing(filters, data());
  await waitForPhotograph();
  assert.deepEqual(drawing.read(), { chosen: 1, title: "filter 1", count: FILTER_COUNT });
  assert.equal(text(drawing, "count"), "9 filters");
  assert.match(text(drawing, "sum"), /^filter 1: .*\(up to ±6\.00\)\.$/); // −3 × 2
  assert.equal(text(drawing, "channels"), "Number 1: 1.5 of red.");
});

test("the arrow keys go along a row of seven and between the rows, and never beyond the last", () => {
  const drawing = mountDrawing(filters, data());
  const grid = drawing.find('[data-ref="grid"]');
  drawing.key(grid, "ArrowDown");
  draw();
  assert.deepEqual([drawing.read().chosen, drawing.toldSettings.filter], [8, "8"]);
  drawing.key(grid, "ArrowRight");
  drawing.key(grid, "ArrowDown");
  assert.equal(drawing.read().chosen, 8);
  drawing.key(grid, "ArrowUp");
  assert.equal(drawing.read().chosen, 1);
});

test("a filter beyond the model's becomes its last, and one that the page names is taken", () => {
  const drawing = mountDrawing(filters, data({ filter: 40 }));
  assert.equal(drawing.read().chosen, FILTER_COUNT - 1);
  drawing.again(data({ filter: 3 }));
  draw();
  assert.equal(drawing.read().chosen, 3);
});
