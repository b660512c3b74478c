import assert from "node:assert/strict";
import { test } from "node:test";

import { container } from "../packs.mjs";
import { draw, mountDrawing } from "./mounting.mjs";

const { positions } = await import("../../../playground/microscope/lessons/positions.js");

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
