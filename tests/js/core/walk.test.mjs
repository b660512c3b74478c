import assert from "node:assert/strict";
import { test } from "node:test";

import { threePatches, WALK_MS, walkAt } from "../../../playground/microscope/lens/moment.js";

test("the greeting shows whom a patch listens to far away, whom it hardly hears, and ends on the patch itself", () => {
  const [rows, columns, start] = [9, 9, 40];
  const row = new Float32Array(1 + rows * columns).fill(0.01);
  row[1 + 41] = 0.9; // a neighbour, which does not count because a convolution reads it, too
  row[1 + 20] = 0.2;
  row[1 + 60] = 0.001;
  row[1 + 0] = 0.0001; // in the corner
  assert.deepEqual(threePatches(row, 1, rows, columns, start), [20, 60, 40]);
});

test("the cursor glides: it never jumps, rests on each patch, and takes about five seconds", () => {
  const places = [
    { x: 0.5, y: 1 },
    { x: 0.7, y: 0.5 },
    { x: 0.3, y: 0.4 },
    { x: 0.2, y: 0.9 },
  ];
  const restingPlaces = new Set();
  let formerPlace = walkAt(0, places);
  for (let ms = 0; ms <= WALK_MS; ms += 16) {
    const place = walkAt(ms, places);
    assert.ok(Math.hypot(place.x - formerPlace.x, place.y - formerPlace.y) < 0.03, `a jump at ${ms} ms`);
    if (place.rests) restingPlaces.add(`${place.x} ${place.y}`);
    formerPlace = place;
  }
  assert.deepEqual([...restingPlaces], ["0.7 0.5", "0.3 0.4", "0.2 0.9"]);
  assert.ok(WALK_MS > 4500 && WALK_MS < 5500);
});
