// The rows of controls beside the picture.

import assert from "node:assert/strict";
import { test } from "node:test";

import { draw, mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };
const VIEW = { layer: 1, head: 1, query: "3,3", locked: true };
const valueIn = (microscope, name) => microscope.find(`[data-row="${name}"] .opens b`).textContent;

test("each row says its value, and says another one after a choice", async () => {
  const microscope = await mountLens({ pack: { ...GRID, dim: 4 }, view: VIEW });
  const values = () => ["what", "head", "scale", "beside", "change"].map((name) => valueIn(microscope, name));
  assert.deepEqual(values(), ["weight", "layer 1, head 1", "÷ √4, this layer", "3×3 convolution", "nothing cut"]);
  microscope.key("s");
  microscope.key("]");
  microscope.lens.update({ view: { ...microscope.lens.view, direction: "column", cut: "*>3x3" } });
  draw();
  assert.deepEqual(values(), [
    "weight, who looks",
    "layer 2, head 1",
    "without ÷ √4, this layer",
    "3×3 convolution",
    "✂ everybody ⇢ 3×3 alone",
  ]);
});
