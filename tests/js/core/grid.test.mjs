import assert from "node:assert/strict";
import { test } from "node:test";

import { patchAfterKey, patchAt, patchFrom, patchText } from "../../../playground/microscope/core/grid.js";

test("a patch and its text are the same place", () => {
  for (let patch = 0; patch < 12; patch++) assert.equal(patchFrom(patchText(patch, 4), 3, 4), patch);
  assert.equal(patchFrom("9,9", 3, 4), 11); // a patch of a finer grid becomes the nearest one
  assert.equal(patchFrom("", 3, 4), 6); // the default is the middle
});

test("a point on a picture belongs to one patch, also at its edges and beyond", () => {
  assert.deepEqual(
    [
      [0, 0],
      [0.99, 0.99],
      [0.3, 0.5],
      [1, 1],
      [-1, 2],
    ].map(([x, y]) => patchAt(x, y, 3, 4)),
    [0, 11, 5, 11, 8],
  );
});

test("arrow keys move by one patch and stop at the edge", () => {
  const keys = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "a"];
  const patchesAfter = (patch) => keys.map((key) => patchAfterKey(key, patch, 3, 4));
  assert.deepEqual(patchesAfter(5), [1, 9, 4, 6, -1]);
  assert.deepEqual(patchesAfter(0), [0, 4, 0, 1, -1]);
  assert.deepEqual(patchesAfter(11), [7, 11, 10, 11, -1]);
});
