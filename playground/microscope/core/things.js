// Finds things that keep to themselves: patches whose row lights an object in its own shape. No DOM.

import { rowsInto } from "./core.js";
import { likenessOf, spreadPatches } from "./kinds.js";
import { exposure } from "./light.js";
import { toldOf } from "./places.js";

const ASKERS = 40; // patches, evenly spread, whose rows are compared
const LEAST_SUBJECT = 0.1; // how much an asking patch belongs to the picture's subject: more than about half of all
const AREA_POWER = 0.75; // how much a large thing counts more than a small one
const EDGE_FACTOR = 2; // a thing that takes half of the picture's border counts nothing
const COMPARABLE = 8; // makes scores comparable with those of rows with a far partner

// Returns [{layer, head, patch, patches: of the thing, share: of the row in it, score}], the best first, one for each
// thing. It is a generator that yields after each head.
export function* thingsOf(scene, layers) {
  const { pack } = scene;
  const { prefixCount, tokens, patches, rows, columns } = pack;
  const askers = spreadPatches(rows, columns, ASKERS).filter((patch) => scene.subject[patch] > LEAST_SUBJECT);
  const likenesses = askers.map((patch) => {
    const cosines = likenessOf(scene.directions, patch);
    return (other) => cosines[other];
  });
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
        const filled = fillOf(row, told, share, scene);
        if (filled <= thing.score) continue; // its border could only lessen it
        const score = filled * borderOf(told, likenesses[i], pack);
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

// How well these patches are filled by the row's light, by nothing else, by most of its weight, in the subject.
function fillOf(row, told, share, { subject }) {
  const high = exposure(row, 0, row.length);
  const lightOf = (weight) => Math.min(1, weight / high);
  const light = row.reduce((sum, weight) => sum + lightOf(weight), 0);
  const inside = told.reduce((sum, patch) => sum + lightOf(row[patch]), 0);
  const worth = told.reduce((sum, patch) => sum + subject[patch], 0) / told.length;
  const area = (told.length / row.length) ** AREA_POWER;
  const filled = (2 * inside) / (light + told.length);
  return COMPARABLE * worth * filled ** 2 * Math.sqrt(share) * area;
}

// How much more the patches inside the border of these are like the asking patch than those outside it; less along the
// picture's own border, and for a ragged border.
export function borderOf(told, likeness, { rows, columns }) {
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
  const meanLikeness = (patches) => {
    let total = 0;
    for (const patch of patches) total += likeness(patch);
    return total / Math.max(1, patches.size);
  };
  const alongEdge = (EDGE_FACTOR * edges) / (2 * (rows + columns) - 4);
  const roundness = Math.sqrt(Math.min(1, (4 * Math.sqrt(told.length)) / Math.max(1, sides))); // 1 for a square
  return Math.max(0, meanLikeness(inner) - meanLikeness(outer)) * Math.max(0, 1 - alongEdge) * roundness;
}
