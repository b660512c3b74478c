// Finds things that keep to themselves: patches whose row lights an object in its own shape. No DOM.

import { dot, rowsInto } from "./core.js";
import { spreadPatches } from "./kinds.js";
import { exposure } from "./light.js";
import { toldOf } from "./places.js";

const ASKERS = 80; // patches, evenly spread, whose rows are compared
const LEAST_SUBJECT = 0.1; // how much an asking patch belongs to the picture's subject: more than about half of all
const FAINT = 0.15; // share of the exposure from which light outside a thing disturbs
const EDGE_FACTOR = 2; // a thing that takes half of the picture's border counts nothing
const COMPARABLE = 30; // makes scores comparable with those of rows with a far partner

// Returns [{layer, head, patch, patches: of the thing, share: of the row in it, score}], the best first, one for each
// thing. It is a generator that yields after each head.
export function* thingsOf(scene, layers) {
  const { pack, directions } = scene;
  const { prefixCount, tokens, patches, rows, columns } = pack;
  const askers = spreadPatches(rows, columns, ASKERS).filter((patch) => scene.subject[patch] > LEAST_SUBJECT);
  const things = askers.map((patch) => ({ patch, score: 0, patches: [] }));
  const weights = new Float32Array(askers.length * tokens);
  const queries = askers.map((patch) => prefixCount + patch);
  for (const layer of layers) {
    for (let head = 0; head < pack.heads; head++) {
      rowsInto(weights, pack, layer, head, queries, pack.scale);
      for (const [i, thing] of things.entries()) {
        const from = i * tokens + prefixCount;
        const row = weights.subarray(from, from + patches);
        const { kind, places } = toldOf(row, 0, pack, thing.patch);
        if (kind !== "own") continue;
        const [{ patches: told, share }] = places;
        const lightScore = lightScoreOf(row, told, scene);
        if (lightScore <= thing.score) continue; // its shape could only lessen it
        const { border, roundness } = shapeOf(told, directions, pack);
        const score = lightScore * border * roundness ** 3;
        if (score > thing.score) Object.assign(thing, { layer, head, patches: told, share, score });
      }
      yield;
    }
  }
  things.sort((a, b) => b.score - a.score);
  return things.filter(
    ({ patch, score }, i) => score > 0 && !things.slice(0, i).some(({ patches }) => patches.includes(patch)),
  );
}

// What the light says for a thing. The powers and factors, here and above, are fitted to labelled rows of 199
// photographs, see benchmarks/striking.py.
function lightScoreOf(row, told, { subject, seen }) {
  const high = exposure(row, 0, row.length);
  const lights = row.map((weight) => Math.min(1, weight / high));
  const mean = (of) => told.reduce((sum, patch) => sum + of(patch), 0) / told.length;
  const size = told.length / row.length;
  const ownLight = mean((patch) => lights[patch]);
  const allLight = lights.reduce((sum, light) => sum + light) / told.length;
  const filled = (2 * ownLight) / (allLight + 1); // it is lit all over, and alone
  const others = lights.reduce((sum, light) => sum + (light > FAINT), 0) / told.length - 1;
  const alone = Math.exp(-3 * others); // a second look finds nothing else
  const whole = size * mean((patch) => subject[patch]); // it is much of the subject, not a part of a part
  const noticed = seen ? mean((patch) => seen[patch]) : 1; // the class token looks at things more than at ground
  const visible = Math.exp(-0.1 * Math.log(size) ** 2); // a speck is nothing to point at
  return COMPARABLE * filled ** 3 * alone * whole * noticed ** 2 * visible;
}

// The cosine of any patch with the mean of these.
function likenessTo(told, { values, width }) {
  const mean = new Float32Array(width);
  for (const patch of told) for (let x = 0; x < width; x++) mean[x] += values[patch * width + x];
  const length = Math.sqrt(dot(mean, 0, mean, 0, width)) || 1;
  return (patch) => dot(values, patch * width, mean, 0, width) / length;
}

// border: how much more the patches inside the border of these are alike than those outside it; less along the
// picture's own border, and for a ragged border. roundness: 1 for a square, less for a strip and a ragged border.
export function shapeOf(told, directions, { rows, columns }) {
  const isTold = new Uint8Array(rows * columns);
  for (const patch of told) isTold[patch] = 1;
  const [inner, outer] = [new Set(), new Set()];
  let [edges, sides] = [0, 0];
  for (const patch of told) {
    const [row, column] = [Math.floor(patch / columns), patch % columns];
    if (row === 0 || column === 0 || row === rows - 1 || column === columns - 1) edges++;
    for (let r = Math.max(0, row - 1); r <= Math.min(rows - 1, row + 1); r++)
      for (let c = Math.max(0, column - 1); c <= Math.min(columns - 1, column + 1); c++)
        if (!isTold[r * columns + c]) {
          inner.add(patch);
          outer.add(r * columns + c);
          if (r === row || c === column) sides++;
        }
  }
  const likeness = likenessTo(told, directions);
  const meanLikeness = (patches) => {
    let total = 0;
    for (const patch of patches) total += likeness(patch);
    return total / Math.max(1, patches.size);
  };
  const alongEdge = (EDGE_FACTOR * edges) / (2 * (rows + columns) - 4);
  const evenness = (length) => Math.min(1, (4 * Math.sqrt(told.length)) / Math.max(1, length));
  const contrast = Math.max(0, meanLikeness(inner) - meanLikeness(outer));
  return {
    border: contrast * Math.max(0, 1 - alongEdge) * Math.sqrt(evenness(sides)),
    roundness: evenness(sides + edges),
  };
}
