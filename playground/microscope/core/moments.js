// The best moment of a picture: the head and the three patches that show most. The same lines as in
// playground/analysis/moments.py, which says what is telling; tests/analysis/test_moments.py compares the two. No DOM
// in here.

import { holdsAll, rowInto, rowsInto } from "./core.js";
import { alikeness, directionsOf, likenessOf, spreadPatches } from "./kinds.js";

const FAR = 0.15; // of the longer side: what is farther away is far
const FEW = 0.03; // of the patches
const ASKING = 24; // patches with a far twin
const WHO_ASKS = 12; // patches, evenly spread, whose rows say what everybody listens to
const FRAME = 0.08; // of each side: what lies in this frame counts half
const APART = 0.1; // of the longer side: two of the three patches are farther from each other
const MOST_TAKEN = 4; // times the mean weight: more from the class token is not taken as a sign of the subject

// The layers that are here and worth a look, lowest first.
export const telling = (pack) =>
  Array.from({ length: pack.layers }, (_, layer) => layer).filter(
    (layer) => layer >= Math.floor(pack.layers / 2) && holdsAll(pack, layer),
  );

// Works through all heads of `layers`, and gives way after each: a generator that returns a scene, see tellsOf, with
// `moments`: {layer, head, patches: who asks, tells: how telling each row is, score}, the best first. `features`: of
// all tokens, as makeFeatures gives them.
export function* searchMoments(pack, features, layers = telling(pack)) {
  const toward = directionsOf(features);
  yield;
  const scene = { pack, toward, far: FAR * Math.max(pack.rows, pack.columns), usual: new Map(), moments: [] };
  scene.subject = subjectOf(pack, toward, yield* atClass(pack, layers));
  yield;
  const asking = yield* twinsOf(scene);
  const likeness = [];
  for (const patch of asking) {
    likeness.push(likenessOf(toward, patch));
    yield;
  }
  const lit = asking.map(() => new Float32Array(pack.patches));
  const rows = new Float32Array(asking.length * pack.tokens);
  const tokens = asking.map((patch) => pack.prefixCount + patch);
  for (const layer of layers) {
    for (let head = 0; head < pack.heads; head++) {
      usualOf(scene, layer, head);
      rowsInto(rows, pack, layer, head, tokens, pack.scale);
      const tells = asking.map((patch, i) =>
        litInto(lit[i], scene, layer, head, patch, likeness[i], rows, i * pack.tokens),
      );
      scene.moments.push(momentOf(scene, layer, head, asking, lit, tells));
      yield;
    }
  }
  scene.moments.sort((a, b) => b.score - a.score);
  return scene;
}

// How telling the row of this patch is, in this head.
export function tellsOf(scene, layer, head, patch, likeness = likenessOf(scene.toward, patch)) {
  const { pack } = scene;
  const row = new Float32Array(pack.tokens);
  rowInto(row, 0, pack, layer, head, pack.prefixCount + patch, pack.scale);
  return litInto(new Float32Array(pack.patches), scene, layer, head, patch, likeness, row, 0);
}

// {layer, head, tells}, or null: the head in which this patch shows most, of those that were searched.
export function bestHeadFor(scene, patch) {
  const likeness = likenessOf(scene.toward, patch);
  let best = null;
  for (const { layer, head } of scene.moments) {
    const tells = tellsOf(scene, layer, head, patch, likeness);
    if (!best || tells > best.tells) best = { layer, head, tells };
  }
  return best;
}

// The most telling rows as {layer, head, patch}: two of a head at most, and all of different places.
export function surprisesOf({ moments, pack }, most = 8) {
  const rows = moments.flatMap(({ layer, head, patches, tells }) =>
    patches.map((patch, i) => ({ layer, head, patch, tells: tells[i] })),
  );
  rows.sort((a, b) => b.tells - a.tells);
  const taken = [];
  const room = APART * Math.max(pack.rows, pack.columns);
  for (const row of rows) {
    if (taken.length === most || !(row.tells > 0)) break;
    const near = taken.some(({ patch }) => apart(patch, row.patch, pack.columns) <= room);
    const same = taken.filter(({ layer, head }) => layer === row.layer && head === row.head);
    if (!near && same.length < 2) taken.push(row);
  }
  return taken;
}

// How many rows or columns lie between two patches.
const apart = (one, other, columns) =>
  Math.max(
    Math.abs(Math.floor(one / columns) - Math.floor(other / columns)),
    Math.abs((one % columns) - (other % columns)),
  );

// -------------------------------------------------------------------------------------------- subject and background

// (patches,) what the class token looks at in all these heads, or null where there is none.
function* atClass(pack, layers) {
  if (pack.prefix[0] !== "cls") return null;
  const looked = new Float64Array(pack.patches);
  const row = new Float32Array(pack.tokens);
  const most = MOST_TAKEN / pack.patches;
  for (const layer of layers) {
    for (let head = 0; head < pack.heads; head++) {
      rowInto(row, 0, pack, layer, head, 0, pack.scale);
      let total = 0;
      for (let j = pack.prefixCount; j < pack.tokens; j++) total += row[j];
      for (let j = 0; j < looked.length; j++)
        looked[j] += Math.min(row[pack.prefixCount + j] / Math.max(total, 1e-12), most);
    }
    yield;
  }
  return looked;
}

// (patches,) 0 background … 1 what the picture shows.
function subjectOf({ rows, columns, patches }, { values, width }, looked) {
  const edge = new Float64Array(width);
  const toEdge = (j) => {
    const r = Math.floor(j / columns),
      c = j % columns;
    return { r: Math.min(r, rows - 1 - r), c: Math.min(c, columns - 1 - c) };
  };
  for (let j = 0; j < patches; j++) {
    const { r, c } = toEdge(j);
    if (r === 0 || c === 0) for (let x = 0; x < width; x++) edge[x] += values[j * width + x];
  }
  const unlike = new Float64Array(patches);
  for (let j = 0; j < patches; j++) for (let x = 0; x < width; x++) unlike[j] -= values[j * width + x] * edge[x];
  let found = ranks(smooth(unlike, rows, columns));
  if (looked) {
    const seen = ranks(smooth(looked, rows, columns));
    found = ranks(found.map((rank, j) => rank + seen[j]));
  }
  return found.map((rank, j) => {
    const { r, c } = toEdge(j);
    return rank * (Math.min(r / rows, c / columns) < FRAME ? 0.5 : 1);
  });
}

// The sum of each patch's 3 × 3 surroundings; the border counts itself again.
function smooth(values, rows, columns) {
  const inside = (n, count) => Math.min(count - 1, Math.max(0, n));
  return values.map((_, j) => {
    let sum = 0;
    for (let down = -1; down <= 1; down++)
      for (let right = -1; right <= 1; right++)
        sum += values[inside(Math.floor(j / columns) + down, rows) * columns + inside((j % columns) + right, columns)];
    return sum;
  });
}

// 0 for the smallest … 1 for the largest; of equal ones the first is smaller.
function ranks(values) {
  const order = Array.from(values, (_, j) => j).sort((a, b) => values[a] - values[b] || a - b);
  const out = new Float64Array(values.length);
  order.forEach((j, place) => {
    out[j] = place / Math.max(1, values.length - 1);
  });
  return out;
}

// ------------------------------------------------------------------------------------------------------- who is asked

// Patches that something far away resembles, and not much of the picture.
function* twinsOf({ pack, toward, far, subject }) {
  const { rows, columns, patches } = pack;
  const some = spreadPatches(rows, columns, Math.floor(patches / 4));
  const best = some.map(() => [-1, -1, -1]); // of the far ones, rising
  const squares = new Float64Array(some.length);
  for (let i = 0; i < some.length; i++) {
    for (let j = i; j < some.length; j++) {
      const alike = alikeness(toward, some[i], some[j]);
      const square = Math.max(alike, 0) ** 2;
      squares[i] += square;
      if (j === i) continue;
      squares[j] += square;
      if (apart(some[i], some[j], columns) <= far) continue;
      for (const three of [best[i], best[j]]) if (alike > three[0]) riseInto(three, alike);
    }
    if (i % 16 === 15) yield;
  }
  const left = some.map(
    (patch, i) =>
      ((best[i][0] + best[i][1] + best[i][2]) / 3 - Math.sqrt(squares[i] / some.length) + 0.5) * subject[patch],
  );
  const found = [];
  while (found.length < Math.min(ASKING, some.length)) {
    const here = some[largest(left)];
    found.push(here);
    for (let j = 0; j < some.length; j++) if (apart(here, some[j], columns) <= 2) left[j] -= 0.5;
  }
  return found;
}

// A larger value joins a rising list, whose smallest goes.
function riseInto(list, value) {
  let place = 0;
  while (place + 1 < list.length && list[place + 1] < value) {
    list[place] = list[place + 1];
    place++;
  }
  list[place] = value;
}

function largest(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

// ----------------------------------------------------------------------------------------------------- what is telling

// (patches,) what some evenly spread patches of a head listen to on average. Kept: the same head is asked for others.
function usualOf({ pack, usual }, layer, head) {
  const key = layer * pack.heads + head;
  if (usual.has(key)) return usual.get(key);
  const mean = new Float32Array(pack.patches);
  const crowd = spreadPatches(pack.rows, pack.columns, WHO_ASKS).map((patch) => pack.prefixCount + patch);
  const rows = new Float32Array(crowd.length * pack.tokens);
  rowsInto(rows, pack, layer, head, crowd, pack.scale);
  for (let at = pack.prefixCount; at < rows.length; at += pack.tokens)
    for (let j = 0; j < mean.length; j++) mean[j] += rows[at + j] / crowd.length;
  usual.set(key, mean);
  return mean;
}

let telltale = new Float32Array(0); // the values of one row, to be sorted

// Writes what of each weight of the row at rows[from …] is telling. Gives how much of that lies on the few patches that
// have most.
function litInto(out, scene, layer, head, patch, likeness, rows, from) {
  const { pack, far, subject } = scene;
  const { prefixCount, columns, patches } = pack;
  if (telltale.length < patches) telltale = new Float32Array(patches);
  const usual = usualOf(scene, layer, head);
  let count = 0;
  for (let j = 0; j < patches; j++) {
    const beyond = rows[from + prefixCount + j] - 2 * usual[j];
    const tells = beyond > 0 && likeness[j] > 0 && apart(patch, j, columns) > far;
    out[j] = tells ? beyond * likeness[j] * subject[j] * subject[patch] : 0;
    if (tells) telltale[count++] = out[j];
  }
  const sorted = telltale.subarray(0, count).sort();
  let total = 0;
  for (let n = 1; n <= Math.min(count, Math.max(3, Math.floor(FEW * patches))); n++) total += sorted[count - n];
  return total;
}

// The three patches that show most, and not the same.
function momentOf({ pack }, layer, head, asking, lit, tells) {
  const left = Float64Array.from(tells);
  const sums = lit.map((row) => row.reduce((sum, value) => sum + value, 0));
  const room = APART * Math.max(pack.rows, pack.columns);
  const chosen = [];
  let score = 0;
  for (const weight of [1, 0.5, 0.5]) {
    const best = largest(left);
    score += weight * Math.max(0, left[best]);
    chosen.push(best);
    for (let i = 0; i < asking.length; i++) {
      left[i] *= 1 - common(lit[best], sums[best], lit[i], sums[i]);
      if (apart(asking[best], asking[i], pack.columns) <= room) left[i] *= 0.3;
    }
    // Of a small picture a patch may stand among them twice.
    for (let i = 0; i < asking.length; i++) if (chosen.some((c) => asking[c] === asking[i])) left[i] = -1;
  }
  return { layer, head, patches: chosen.map((i) => asking[i]), tells: chosen.map((i) => tells[i]), score };
}

// What two rows have in common, 0 to 1.
function common(one, sum, other, otherSum) {
  if (!(sum > 0 && otherSum > 0)) return 0;
  let shared = 0;
  for (let j = 0; j < one.length; j++) if (one[j] && other[j]) shared += Math.min(one[j] / sum, other[j] / otherSum);
  return shared;
}
