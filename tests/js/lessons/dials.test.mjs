import assert from "node:assert/strict";
import { test } from "node:test";

import { container } from "../packs.mjs";
import { draw, ELEMENT_WIDTH, mountDrawing, mountPart } from "./mounting.mjs";

const { default: softmaxbars } = await import("../../../playground/microscope/lessons/softmaxbars.js");
const { positions } = await import("../../../playground/microscope/lessons/positions.js");

const SCORES = [
  [0, 1, 2, 3],
  [0, 2, 4, 16],
];
const DIALS = {
  widths: [4, 64],
  powers: [0, 0.5, 1],
  scores: SCORES,
  rows: 5,
  row: 3,
  dk: 64,
  power: 0.5,
};

// The positions of four patches, in two dimensions: the first two are similar, the others are not.
// Numbers are float16 bits.
const [ONE_BITS, MINUS_ONE_BITS] = [0x3c00, 0xbc00];
const PLACES = container(
  { id: "table", grid: [2, 2], width: 2, kind: "learned", place: "0,1" },
  { places: ["float16", [4, 2], [ONE_BITS, 0, ONE_BITS, 0, 0, ONE_BITS, MINUS_ONE_BITS, 0]] },
);

test("the place that is pointed at says which others are alike, by mouse and by keys", () => {
  const drawing = mountDrawing(positions, PLACES);
  assert.equal(drawing.read().at, 1);
  assert.deepEqual(drawing.read().map.map(Math.round), [1, 1, 0, -1]);
  drawing.point(drawing.find('[data-ref="map"]'), "pointermove", 300, 300);
  draw();
  assert.deepEqual([drawing.read().at, drawing.toldSettings.place], [3, "1,1"]);
  assert.deepEqual(drawing.read().map.map(Math.round), [-1, -1, 0, 1]);
  drawing.key(drawing.find('[data-ref="map"]'), "ArrowLeft");
  assert.equal(drawing.read().at, 2);
});

test("a bar is as high as its weight on the chart's scale, and the one under the pointer is written out", () => {
  const drawing = mountPart(softmaxbars, { ...DIALS, dk: 4 }, { set: () => {} });
  const powers = SCORES[0].map((score) => Math.exp(score / 2));
  const weights = powers.map((power) => power / powers.reduce((a, b) => a + b));
  assert.equal(drawing.find('[data-ref="top"]').textContent, "50 %");
  const heights = [...drawing.find('[data-ref="bars"]').children].map((bar) => Number.parseFloat(bar.style.height));
  for (const [j, height] of heights.entries())
    assert.ok(Math.abs(height - 200 * weights[j]) < 0.01, `${j}: ${heights}`);
  drawing.point(drawing.find('[data-ref="plot"]'), "pointermove", 0.45 * ELEMENT_WIDTH, 5); // the second of four
  assert.match(drawing.find('[data-ref="said"]').textContent, /^key 2: /);
});
