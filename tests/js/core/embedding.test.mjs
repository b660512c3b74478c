import assert from "node:assert/strict";
import { test } from "node:test";

import { dotProduct, patchFilter, patchVector } from "../../../playground/microscope/core/grid.js";

// A picture of 2 × 4 pixels in two patches of 2 × 2; pixel i has the colours 10 i, 10 i + 1, 10 i + 2.
const embedding = {
  size: [2, 4],
  patch: 2,
  grid: [1, 2],
  own: 1,
  mean: [0, 0, 0],
  std: [1 / 255, 1 / 255, 1 / 255],
  pixels: Uint8Array.from({ length: 24 }, (_, i) => 10 * Math.floor(i / 3) + (i % 3)),
  filters: Float32Array.from([1, 2, 3, 4, 5, 6]), // two filters of three colours and one pixel
  stretch: Float32Array.from([1, 0.5]), // (2, 1): from a filter's pixel to two pixels, times 1 and times 0.5
};

test("a number of a token is the dot product of its patch and a filter", () => {
  const filter = patchFilter(embedding, 0);
  const sum = [...patchVector(embedding, 0)].reduce((total, x, i) => total + x * filter[i], 0);
  assert.ok(Math.abs(dotProduct(patchVector(embedding, 0), filter) - sum) < 1e-3);
});
