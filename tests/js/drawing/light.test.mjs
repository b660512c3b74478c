import assert from "node:assert/strict";
import { test } from "node:test";

import "../lessons/mounting.mjs";

const { makePhoto, makePrint, printHeat } = await import("../../../playground/microscope/drawing/light.js");

// 2 rows of 3 columns behind a class token, which has the largest weight; a patch is 8 × 8 pixels
const [ROWS, COLUMNS, SIDE] = [2, 3, 8];
const ROW = Float32Array.of(0.9, 0, 0.1, 0.2, 0.05, 0.15, 0.02);
const DOMAIN = { low: 0, high: 0.2 };
const aPrint = (side = SIDE) => makePrint(makePhoto(null, COLUMNS * side, ROWS * side));

// The different pixels of each patch, as [red, green, blue, opacity].
function pixelsByPatch({ data: { data, width } }, side = SIDE) {
  return Array.from({ length: ROWS * COLUMNS }, (_, patch) => {
    const colours = new Set();
    for (let y = 0; y < side; y++)
      for (let x = 0; x < side; x++) {
        const pixel = (Math.floor(patch / COLUMNS) * side + y) * width + (patch % COLUMNS) * side + x;
        colours.add(data.subarray(4 * pixel, 4 * pixel + 4).join());
      }
    return [...colours].map((colour) => colour.split(",").map(Number));
  });
}
const brightness = ([red, green, blue]) => red + green + blue;
const placesByBrightness = (colours) =>
  [...colours.keys()].sort((a, b) => brightness(colours[a]) - brightness(colours[b]));
const PLACES_BY_WEIGHT = [0, 5, 3, 1, 4, 2];

test("each patch has one colour, brighter the larger its weight is", () => {
  const print = aPrint();
  printHeat(print, ROW, 1, ROWS, COLUMNS, DOMAIN);
  const patches = pixelsByPatch(print);
  assert.deepEqual(
    patches.map(({ length }) => length),
    [1, 1, 1, 1, 1, 1],
  );
  assert.deepEqual(placesByBrightness(patches.flat()), PLACES_BY_WEIGHT);
  for (const [, , , opacity] of patches.flat()) assert.equal(opacity, 255);
});

test("for is warm and plain, against is cold and hatched", () => {
  const print = aPrint();
  printHeat(print, [0.2, -0.2, 0.1, -0.1, 0, 0], 0, ROWS, COLUMNS, { low: -0.2, high: 0.2, signed: true });
  const [most, least, more, less] = pixelsByPatch(print);
  assert.deepEqual([most.length, more.length, least.length, less.length], [1, 1, 2, 2]);
  for (const [red, , blue] of [...most, ...more]) assert.ok(red > blue, `${red} ${blue}`);
  for (const [red, , blue] of [...least, ...less]) assert.ok(blue > red, `${red} ${blue}`);
});
