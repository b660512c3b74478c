import assert from "node:assert/strict";
import { test } from "node:test";
import { outlineOf, placesOf, toldOf } from "../../../playground/microscope/core/places.js";

const GRID = { rows: 4, columns: 6 };
const weightsOf = (shares) => {
  const weights = new Float32Array(25); // one special token before the patches
  for (const [patch, share] of Object.entries(shares)) weights[1 + Number(patch)] = share;
  return weights;
};
const told = (shares, mark, parts) => toldOf(weightsOf(shares), 1, GRID, mark, parts);
const rounded = (places) => places.map(({ share }) => Math.round(100 * share));

test("patches that touch are one place, at corners too, but not around the end of a row", () => {
  const places = placesOf(weightsOf({ 0: 0.2, 7: 0.3, 5: 0.1, 6: 0.1, 17: 0.2, 18: 0.05 }), 1, GRID);
  assert.deepEqual(
    places.map(({ patches }) => [...patches].sort((a, b) => a - b)),
    [[0, 6, 7], [17], [5]],
  );
  assert.deepEqual(rounded(places), [60, 20, 10]);
  assert.equal(places[0].brightest, 7);
});

test("one place, one's own, several and a spread row are told apart by what they sum to", () => {
  assert.equal(told({ 0: 0.3, 1: 0.25, 17: 0.4 }, 17).kind, "one");
  assert.equal(told({ 0: 0.3, 1: 0.25, 17: 0.4 }, 1).kind, "own");
  const several = told({ 0: 0.45, 4: 0.4, 17: 0.1 }, 17);
  assert.equal(several.kind, "several");
  assert.deepEqual(rounded(several.places), [45, 40]);
  const spread = told({ 0: 0.12, 2: 0.12, 4: 0.12, 12: 0.12, 14: 0.12, 16: 0.12 }, 17);
  assert.equal(spread.kind, "spread");
  assert.equal(spread.lit, 6);
  const most = Object.fromEntries(Array.from({ length: 13 }, (_, patch) => [patch, 0.08]));
  assert.equal(told(most, 17).kind, "spread", "more than half of the picture is no place");
});

test("a named place sums over the sample's box, once, and the asker's own part gives no name", () => {
  const parts = [
    { kind: "eye", box: [0, 0, 0.5, 0.5] }, // columns 0 to 2, rows 0 and 1
    { kind: "eye", box: [0.5, 0.5, 1, 1] },
  ];
  const row = told({ 0: 0.3, 2: 0.28, 7: 0.02, 17: 0.3 }, 17, parts);
  assert.deepEqual(rounded(row.places), [60]);
  assert.equal(row.places[0].part, parts[0]);
  assert.equal(told({ 0: 0.6, 2: 0.3 }, 8, parts).places[0].part, null);
});

test("an own place is near where half of its share is; a large thing is not one's surroundings", () => {
  const near = (shares, mark) => told(shares, mark).places[0].near;
  assert.equal(near({ 7: 0.4, 8: 0.3, 1: 0.1, 9: 0.1 }, 8), true);
  assert.equal(near({ 7: 0.1, 8: 0.1, 9: 0.1, 10: 0.3, 11: 0.3 }, 7), false);
  assert.equal(near({ 0: 0.3, 1: 0.25 }, 17), false, "another place");
});

test("an outline encloses all patches of a place and nothing else", () => {
  const patches = [0, 1, 6, 8, 13]; // 8 and 13 touch at corners
  const paths = outlineOf(patches, GRID);
  const isCrossed = (y, x, [y0, x0], [y1, x1]) => y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0);
  const isInside = (cell) => {
    const [y, x] = [Math.floor(cell / GRID.columns) + 0.5, (cell % GRID.columns) + 0.5];
    const crossings = paths.flatMap((path) => {
      const corners = Array.from({ length: path.length / 2 }, (_, i) => [path[2 * i], path[2 * i + 1]]);
      return corners.filter((corner, i) => isCrossed(y, x, corner, corners[(i + 1) % corners.length]));
    });
    return crossings.length % 2 === 1;
  };
  const inside = Array.from({ length: 24 }, (_, j) => j).filter(isInside);
  assert.deepEqual(inside, patches);
});

test("the largest place is first by what is said of it: a named one has the sum over its box", () => {
  const parts = [{ kind: "eye", box: [0.5, 0.5, 1, 1] }];
  const { kind, places } = told({ 0: 0.21, 15: 0.12, 16: 0.07, 17: 0.06, 21: 0.06 }, 5, parts);
  assert.equal(kind, "several");
  assert.deepEqual([places[0].part, rounded(places)[0]], [parts[0], 31]);
});
