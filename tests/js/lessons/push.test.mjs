import assert from "node:assert/strict";
import { test } from "node:test";

import { toContainer } from "../../../playground/microscope/core/container.js";
import { toHalves } from "../support.mjs";
import { draw, ELEMENT_WIDTH, mountDrawing } from "./mounting.mjs";

globalThis.createImageBitmap = async () => ({});
const { default: push } = await import("../../../playground/microscope/lessons/push.js");

const [LAYERS, ROWS, COLUMNS] = [3, 2, 4];
const PATCHES = ROWS * COLUMNS;
// The four measures of pushOf in push.js, different for each layer and patch
const MOVES = [(n) => 10 + n, (n) => 1 + n / 4, (n) => n / 32, (n) => -n / 32].flatMap((number) =>
  Array.from({ length: LAYERS * PATCHES }, (_, n) => number(n)),
);
const data = (overrides) =>
  toContainer(
    {
      id: "meadow",
      grid: [ROWS, COLUMNS],
      size: [100, 200],
      start: [1, 2],
      layers: LAYERS,
      upper: 1,
      layer: -1,
      patch: "",
      title: "Plane",
      names: ["before", "push", "after"],
      says: "{layer} ({row}, {column}): {length} {push} {cosine} **{kept}**",
      ...overrides,
    },
    { moves: [toHalves(MOVES), [4, LAYERS, PATCHES]], image: [new Uint8Array(2), [2]] },
  );

test("a patch that is pointed at is shown and told, and a layer of the page is taken", () => {
  const drawing = mountDrawing(push, data({}));
  drawing.point(drawing.find('[data-ref="picture"]'), "pointermove", ELEMENT_WIDTH - 1, 1);
  draw();
  assert.deepEqual([drawing.read().at, drawing.toldSettings.patch], [3, "0,3"]);
  drawing.again(data({ layer: 2, patch: "0,3" }));
  draw();
  assert.deepEqual([drawing.read().layer, drawing.read().at], [2, 3]);
  drawing.key(drawing.find('[data-ref="picture"]'), "ArrowDown");
  assert.equal(drawing.read().at, 7);
});

test("a layer beyond the model's becomes the upper one, and a patch beyond the grid its last", () => {
  const drawing = mountDrawing(push, data({ layer: 40, patch: "9,9" }));
  assert.deepEqual([drawing.read().layer, drawing.read().at], [1, 7]);
});
