// Finds things that keep to themselves: compact parts of a picture, such as an animal, and for each the row of its most
// typical patch that lies most in the part. No DOM.

import { rowInto } from "./core.js";
import { cutInSteps, withNeighbours } from "./features.js";

const CUTS = [3, 5, 7]; // numbers of parts into which the picture is cut
const [LEAST_AREA, LARGEST_AREA] = [0.015, 0.4]; // shares of the picture that a thing takes
const MOST_EDGE = 0.2; // most of the picture's border that a thing takes
const MOST_SPREAD = 0.75; // most distance of a thing's patches from its middle, as a share of the root of their number
const MOST_EVEN = 0.6; // evenness that is enough, of 1 for a row that is the same on all of the thing

// Returns [{layer, head, patch, patches: of the thing, share: of the row in it, score}], the best first, one for each
// thing. features: of all tokens, from makeFeatures. It is a generator that yields often.
export function* thingsOf({ pack, directions, subject }, features, layers) {
  const parts = [];
  const points = withNeighbours(features);
  for (const count of CUTS) {
    const numbers = yield* cutInSteps(points, features.width, count);
    for (let number = 0; number < count; number++) {
      const patches = Array.from(numbers.keys()).filter((patch) => numbers[patch] === number);
      if (isThing(patches, pack)) parts.push(patches);
    }
    yield;
  }
  const things = [];
  for (const patches of parts) {
    const patch = typicalOf(patches, directions);
    const worth = patches.reduce((sum, other) => sum + subject[other], 0) / patches.length;
    let best = null;
    for (const layer of layers) {
      for (let head = 0; head < pack.heads; head++) {
        const { share, score } = keepingOf(pack, layer, head, patch, patches);
        if (worth * score > (best?.score ?? 0)) best = { layer, head, patch, share, score: worth * score, patches };
      }
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

// The patch of a part that is most like all of it.
function typicalOf(patches, { values, width }) {
  const sum = new Float64Array(width);
  for (const patch of patches) for (let x = 0; x < width; x++) sum[x] += values[patch * width + x];
  const alikeness = (patch) => sum.reduce((dot, value, x) => dot + value * values[patch * width + x], 0);
  return patches.reduce(
    ([best, most], patch) => {
      const alike = alikeness(patch);
      return alike > most ? [patch, alike] : [best, most];
    },
    [-1, -Infinity],
  )[0];
}

// How much a row lies in a part: beyond the asking patch's neighbours, evenly, and more than the part's area would get.
function keepingOf(pack, layer, head, patch, patches) {
  const { prefixCount, columns, tokens } = pack;
  const row = new Float32Array(tokens);
  rowInto(row, 0, pack, layer, head, prefixCount + patch, pack.scale);
  const isBeside = (other) =>
    Math.abs(Math.floor(other / columns) - Math.floor(patch / columns)) <= 1 &&
    Math.abs((other % columns) - (patch % columns)) <= 1;
  let [share, beyond, entropy] = [0, 0, 0];
  for (const other of patches) {
    const weight = row[prefixCount + other];
    share += weight;
    if (!isBeside(other)) beyond += weight;
  }
  for (const other of patches) {
    const inside = row[prefixCount + other] / Math.max(share, 1e-9);
    if (inside > 0) entropy -= inside * Math.log(inside);
  }
  const even = Math.exp(entropy) / patches.length;
  return { share, score: beyond * Math.min(even, MOST_EVEN) * (share - patches.length / pack.patches) };
}
