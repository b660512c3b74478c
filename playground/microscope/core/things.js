// Finds things that keep to themselves: compact parts of a picture, such as an animal, and for each a patch whose row
// lights the part best. No DOM.

import { rowsInto } from "./core.js";
import { cutInSteps, withNeighbours } from "./features.js";
import { exposure } from "./light.js";

const CUTS = [3, 5, 7]; // numbers of parts into which the picture is cut
const [LEAST_AREA, LARGEST_AREA] = [0.015, 0.4]; // shares of the picture that a thing takes
const MOST_EDGE = 0.2; // most of the picture's border that a thing takes
const MOST_SPREAD = 0.75; // most distance of a thing's patches from its middle, as a share of the root of their number
const CUT_STEPS = 8; // k-means steps of a cut: later ones move few patches
const ASKERS = 4; // patches of a part whose rows are compared

// Returns [{layer, head, patch, patches: of the thing, share: of the row in it, score}], the best first, one for each
// thing. features: of all tokens, from makeFeatures. It is a generator that yields often.
export function* thingsOf({ pack, directions, subject }, features, layers) {
  const parts = [];
  const points = withNeighbours(features);
  for (const count of CUTS) {
    const numbers = yield* cutInSteps(points, features.width, count, CUT_STEPS);
    for (let number = 0; number < count; number++) {
      const patches = Array.from(numbers.keys()).filter((patch) => numbers[patch] === number);
      if (isThing(patches, pack)) parts.push(patches);
    }
    yield;
  }
  const things = [];
  for (const patches of parts) {
    const askers = typicalOf(patches, directions);
    const worth = patches.reduce((sum, other) => sum + subject[other], 0) / patches.length;
    let best = null;
    for (const layer of layers) {
      for (let head = 0; head < pack.heads; head++)
        for (const row of rowsIn(pack, layer, head, askers, patches))
          if (worth * row.fill > (best?.score ?? 0)) best = { layer, head, ...row, score: worth * row.fill, patches };
      yield;
    }
    if (best) things.push(best);
  }
  things.sort((a, b) => b.score - a.score);
  return things.filter(({ patch }, i) => !things.slice(0, i).some(({ patches }) => patches.includes(patch)));
}

function isThing(patches, { rows, columns }) {
  const area = patches.length / (rows * columns);
  if (area < LEAST_AREA || area > LARGEST_AREA) return false;
  const places = patches.map((patch) => [Math.floor(patch / columns), patch % columns]);
  const isEdge = ([row, column]) => row === 0 || column === 0 || row === rows - 1 || column === columns - 1;
  if (places.filter(isEdge).length > MOST_EDGE * (2 * (rows + columns) - 4)) return false;
  const [middleRow, middleColumn] = [0, 1].map((axis) => places.reduce((sum, at) => sum + at[axis], 0) / places.length);
  const square = places.reduce((sum, [row, column]) => sum + (row - middleRow) ** 2 + (column - middleColumn) ** 2, 0);
  return Math.sqrt(square) / places.length <= MOST_SPREAD;
}

// The patches of a part that are most like all of it, evenly taken from the upper half.
function typicalOf(patches, { values, width }) {
  const sum = new Float64Array(width);
  for (const patch of patches) for (let x = 0; x < width; x++) sum[x] += values[patch * width + x];
  const likeness = new Map(
    patches.map((patch) => [patch, sum.reduce((dot, value, x) => dot + value * values[patch * width + x], 0)]),
  );
  const ordered = [...patches].sort((a, b) => likeness.get(b) - likeness.get(a));
  return Array.from({ length: ASKERS }, (_, i) => ordered[Math.floor((i * patches.length) / (2 * ASKERS))]);
}

// For each asking patch {patch, share: of its row in the part, fill: how well the part is filled by the row's light, by
// nothing else, by most of the weight and in a large part}.
function rowsIn(pack, layer, head, askers, patches) {
  const { prefixCount, tokens } = pack;
  const rows = new Float32Array(askers.length * tokens);
  const queries = askers.map((patch) => prefixCount + patch);
  rowsInto(rows, pack, layer, head, queries, pack.scale);
  return askers.map((patch, i) => {
    const from = i * tokens + prefixCount;
    const row = rows.subarray(from, (i + 1) * tokens);
    const high = exposure(rows, from, from + row.length);
    const lightOf = (weight) => Math.min(1, weight / high);
    const light = row.reduce((sum, weight) => sum + lightOf(weight), 0);
    const inside = patches.reduce((sum, other) => sum + lightOf(row[other]), 0);
    const share = patches.reduce((sum, other) => sum + row[other], 0);
    const overlap = (2 * inside) / (light + patches.length);
    return { patch, share, fill: overlap ** 2 * Math.cbrt((share * patches.length) / pack.patches) };
  });
}
