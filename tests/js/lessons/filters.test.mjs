import assert from "node:assert/strict";
import { test } from "node:test";

import { toContainer, toHalves } from "../../../playground/microscope/core/container.js";
import { decoded, draw, drawn, WIDE } from "./mounting.mjs";

const { default: filters } = await import("../../../playground/microscope/lessons/filters.js");

const [COUNT, PATCH, GRID] = [9, 2, [2, 3]];
const ANSWERS = Array.from({ length: COUNT * 6 }, (_, i) => ((i % 6) - 3) * (1 + Math.floor(i / 6)));
const data = (more = {}) =>
  toContainer(
    {
      ...{ id: "meadow", patch: PATCH, grid: GRID, size: [4, 6], caption: "9 filters", filter: 1, place: [0, 1] },
      titles: Array.from({ length: COUNT }, (_, n) => `filter ${n}`),
      channels: Array.from({ length: COUNT }, (_, n) => ({ number: n, red: `${n}.5` })),
      says: "Number {number}: **{red}** of red.",
      ...more,
    },
    {
      pictures: [new Uint8Array(COUNT * PATCH ** 2 * 3), [COUNT, PATCH, PATCH, 3]],
      answers: [toHalves(ANSWERS), [COUNT, 6]],
      image: [new Uint8Array(2), [2]],
    },
  );
const text = (there, name) => there.find(`[data-ref="${name}"]`).textContent;

test("the chosen filter says its name, the largest of its answers, and what it makes of a patch", async () => {
  const there = drawn(filters, data());
  await decoded();
  assert.deepEqual(there.read(), { chosen: 1, title: "filter 1", count: COUNT });
  assert.equal(text(there, "count"), "9 filters");
  assert.match(text(there, "sum"), /^filter 1: .*\(up to ±6\.00\)\.$/); // −3 × 2
  assert.equal(text(there, "channels"), "Number 1: 1.5 of red.");
});

test("the arrow keys go along a row of seven and between the rows, and never beyond the last", () => {
  const there = drawn(filters, data());
  const grid = there.find('[data-ref="grid"]');
  there.key(grid, "ArrowDown");
  draw();
  assert.deepEqual([there.read().chosen, there.told.filter], [8, "8"]);
  there.key(grid, "ArrowRight");
  there.key(grid, "ArrowDown");
  assert.equal(there.read().chosen, 8);
  there.key(grid, "ArrowUp");
  assert.equal(there.read().chosen, 1);
});

test("the filter under the pointer is chosen; where there is none, nothing changes", () => {
  const there = drawn(filters, data());
  const grid = there.find('[data-ref="grid"]');
  const step = WIDE / 7;
  there.point(grid, "pointermove", 4.5 * step, 0.5 * step);
  assert.equal(there.read().chosen, 4);
  there.point(grid, "pointermove", 4.5 * step, 1.5 * step);
  assert.equal(there.read().chosen, 4);
});

test("a filter that the model has not is its last, and one from the page is taken", () => {
  const there = drawn(filters, data({ filter: 40 }));
  assert.equal(there.read().chosen, COUNT - 1);
  there.again(data({ filter: 3 }));
  draw();
  assert.equal(there.read().chosen, 3);
});
