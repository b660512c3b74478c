import assert from "node:assert/strict";
import { test } from "node:test";

import { container } from "../packs.mjs";
import { draw, mountDrawing } from "./mounting.mjs";

const { positions } = await import("../../../playground/microscope/lessons/positions.js");

// The positions of a class token and four patches, in two dimensions: the first two patches are similar, the others are
// not.
// Numbers are float16 bits.
const [ONE_BITS, MINUS_ONE_BITS] = [0x3c00, 0xbc00];
const PLACES = container(
  { id: "table", grid: [2, 2], width: 2, kind: "learned", place: "0,1", own: ["CLS"] },
  { places: ["float16", [5, 2], [0, MINUS_ONE_BITS, ONE_BITS, 0, ONE_BITS, 0, 0, ONE_BITS, MINUS_ONE_BITS, 0]] },
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

test("the class token’s row is the first of the table: by its button, and by pointing at it", () => {
  const drawing = mountDrawing(positions, PLACES);
  drawing.click(drawing.find('[data-ref="own"]'));
  draw();
  assert.deepEqual(drawing.read().map.map(Math.round), [0, 0, -1, 0]);
  const words = drawing.find('[data-ref="sum"]').textContent;
  assert.match(words, /^CLS has a row of its own.* −0\.25 on average, from −1\.00 to 0\.00\.$/);
  drawing.point(drawing.find('[data-ref="table"]'), "pointermove", 9, 100);
  assert.equal(drawing.read().at, 0);
  drawing.point(drawing.find('[data-ref="table"]'), "pointermove", 9, 70);
  assert.deepEqual([drawing.read().at, drawing.toldSettings.place], [-1, "0,0"]);
});
