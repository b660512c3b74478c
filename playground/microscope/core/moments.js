// The best moment of a picture: the head and the three patches that show most. The same lines as in
// playground/analysis/moments.py, which says what is telling; tests/analysis/test_moments.py compares the two. No DOM
// in here.

import { rowInto, rowsInto, wholeLayers } from "./core.js";
import { ALIKE, alikeness, component, directionsOf, likenessOf, reach, spreadPatches } from "./kinds.js";

const BESIDE = 0.03; // of the longer side: nearer partners do not count
const FAR = 0.25; // of the longer side: at this distance or more a partner counts in full
const SUBJECT = 400; // patches that are searched for partners: those that belong most to the picture's subject
const ASKING = 24; // patches with a far partner whose rows are compared
const REGION = 0.4; // the cosine from which a patch belongs to the region of the one that asks
const WALL = 0.3; // of the picture: a region of this size counts half
const SEEN = 0.45; // the cosine that the brightest patch of a telling row has at least
const PLAIN = 0.1; // of what it would tell: a row whose brightest patch is no far part like the one that asks
const ISLAND = 2; // patches around the one that tells most
const WHO_ASKS = 8; // patches, evenly spread, whose rows say what everybody listens to
const FRAME = 0.08; // of each side: what lies in this frame counts half
const APART = 0.1; // of the longer side: two of the three patches are farther from each other
const MOST_TAKEN = 4; // times the mean weight: more from the class token is not taken as a sign of the subject
export const STRIKING = 0.044; // moments with a smaller score are not called striking

export const isLate = (layer, { layers }) => layer >= Math.floor(layers / 2);

// The layers that are here and worth a look, lowest first.
export const telling = (pack) => wholeLayers(pack).filter((layer) => isLate(layer, pack));

// Works through all heads of `layers`, and gives way after each: a generator that returns a scene, see headsFor, with
// `moments`: {layer, head, patches: who asks, tells: how telling each row is}, the best first. `features`: of all
// tokens, as makeFeatures gives them.
export function* searchMoments(pack, features, layers = telling(pack)) {
  const toward = directionsOf(features);
  yield;
  const scene = { pack, toward, usual: new Map(), moments: [] };
  scene.subject = subjectOf(pack, toward, yield* atClass(pack, layers)).map((rank) => rank ** 3);
  yield;
  const patches = yield* twinsOf(scene);
  const asking = [];
  for (const patch of patches) {
    asking.push(askerOf(scene, patch));
    yield;
  }
  const lit = asking.map(() => new Float32Array(pack.patches));
  const rows = new Float32Array(asking.length * pack.tokens);
  const tokens = patches.map((patch) => pack.prefixCount + patch);
  for (const layer of layers) {
    for (let head = 0; head < pack.heads; head++) {
      rowsInto(rows, pack, layer, head, tokens, pack.scale);
      const usual = usualOf(scene, layer, head);
      const tells = asking.map((asker, i) =>
        litInto(lit[i], pack, usual, asker, rows.subarray(i * pack.tokens + pack.prefixCount)),
      );
      scene.moments.push(momentOf(pack, layer, head, patches, lit, tells));
      yield;
    }
  }
  scene.moments.sort((a, b) => b.tells[0] - a.tells[0]);
  return scene;
}

// {layer, head, tells: how telling the row of this patch is} of the heads that were searched, the best first.
export function headsFor(scene, patch) {
  const { pack } = scene;
  const asker = askerOf(scene, patch);
  const row = new Float32Array(pack.tokens);
  const lit = new Float32Array(pack.patches);
  const heads = scene.moments.map(({ layer, head }) => {
    rowInto(row, 0, pack, layer, head, pack.prefixCount + patch, pack.scale);
    const tells = litInto(lit, pack, usualOf(scene, layer, head), asker, row.subarray(pack.prefixCount));
    return { layer, head, tells };
  });
  return heads.sort((a, b) => b.tells - a.tells);
}

// The most telling rows as {layer, head, patch}: two of a head at most, and all of different places.
export function surprisesOf({ moments, pack }, most = 8) {
  const rows = moments.flatMap((moment) =>
    moment.patches.map((patch, i) => ({ ...moment, moment, patch, tells: moment.tells[i] })),
  );
  const room = APART * Math.max(pack.rows, pack.columns);
  const taken = [];
  for (const row of rows.sort((a, b) => b.tells - a.tells)) {
    if (taken.length === most || !(row.tells > 0)) break;
    const near = taken.some(({ patch }) => apart(patch, row.patch, pack.columns) <= room);
    if (!near && taken.filter(({ moment }) => moment === row.moment).length < 2) taken.push(row);
  }
  return taken;
}

// How many rows or columns lie between two patches.
const apart = (one, other, columns) =>
  Math.max(
    Math.abs(Math.floor(one / columns) - Math.floor(other / columns)),
    Math.abs((one % columns) - (other % columns)),
  );

const farness = (one, other, { rows, columns }) =>
  Math.min(1, Math.max(0, (apart(one, other, columns) / Math.max(rows, columns) - BESIDE) / (FAR - BESIDE)));

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
  const inward = Float64Array.from({ length: patches }, (_, j) => {
    const r = Math.floor(j / columns),
      c = j % columns;
    return Math.min(Math.min(r, rows - 1 - r) / rows, Math.min(c, columns - 1 - c) / columns);
  });
  for (let j = 0; j < patches; j++) if (!inward[j]) for (let x = 0; x < width; x++) edge[x] += values[j * width + x];
  const unlike = new Float64Array(patches);
  for (let j = 0; j < patches; j++) for (let x = 0; x < width; x++) unlike[j] -= values[j * width + x] * edge[x];
  let found = ranks(smooth(unlike, rows, columns));
  if (looked) {
    const seen = ranks(smooth(looked, rows, columns));
    found = ranks(found.map((rank, j) => rank + seen[j]));
  }
  return found.map((rank, j) => rank * (inward[j] < FRAME ? 0.5 : 1));
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

// The places of rising values; of equal ones the first comes first.
const rising = (values) => Array.from(values, (_, j) => j).sort((a, b) => values[a] - values[b] || a - b);

// 0 for the smallest … 1 for the largest.
function ranks(values) {
  const out = new Float64Array(values.length);
  rising(values).forEach((j, place) => {
    out[j] = place / Math.max(1, values.length - 1);
  });
  return out;
}

// ------------------------------------------------------------------------------------------------------- who is asked

// Patches of the subject that another far away in it resembles.
function* twinsOf({ pack, toward, subject }) {
  const some = rising(subject.map((is) => -is)).slice(0, SUBJECT);
  const left = new Float64Array(some.length);
  for (let i = 0; i < some.length; i++) {
    for (let j = 0; j < i; j++) {
      const [a, b] = [some[i], some[j]];
      const most = farness(a, b, pack) * subject[a] * subject[b]; // were they alike
      if (most <= left[i] && most <= left[j]) continue;
      const twins = Math.max(0, alikeness(toward, a, b)) ** 3 * most;
      left[i] = Math.max(left[i], twins);
      left[j] = Math.max(left[j], twins);
    }
    if (i % 16 === 15) yield;
  }
  const found = [];
  while (found.length < Math.min(ASKING, some.length)) {
    const best = largest(left);
    found.push(some[best]);
    for (let j = 0; j < some.length; j++) if (apart(some[best], some[j], pack.columns) <= 1) left[j] *= 0.8;
    left[best] = -1;
  }
  return found;
}

// {patch, likeness, worth: (patches,) what a weight there tells}
function askerOf({ pack, toward, subject }, patch) {
  const { rows, columns } = pack;
  const likeness = likenessOf(toward, patch);
  let [count, reaches] = [0, 1];
  component((j) => likeness[j] >= REGION, patch, rows, columns).forEach((is, j) => {
    count += is;
    if (is) reaches = Math.max(reaches, apart(patch, j, columns));
  });
  const area = likeness.filter((alike) => alike >= REGION).length / pack.patches;
  const full = Math.min(1, count / reaches ** 2); // an outline fills little of its surroundings
  const by = (subject[patch] * Math.sqrt(full)) / (1 + (area / WALL) ** 2);
  const worth = likeness.map((alike, j) => by * Math.max(0, alike) ** 3 * farness(patch, j, pack) * subject[j]);
  return { patch, likeness, worth };
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

// Writes what of each weight of the row, (patches, …), is telling. Gives how much that is, and how much of it lies
// together where it is brightest; little if what is brightest in the row is something else.
function litInto(out, { rows, columns, patches }, usual, { patch, likeness, worth }, row) {
  let [total, all, most, peak, island] = [0, 0, 0, 0, 0];
  for (let j = 0; j < patches; j++) {
    const beyond = row[j] - 3 * usual[j];
    out[j] = beyond > 0 ? beyond * worth[j] : 0;
    total += out[j];
    all += row[j];
    if (row[j] > row[most]) most = j;
    if (out[j] > out[peak]) peak = j;
  }
  if (!(total > 0)) return 0;
  for (let j = 0; j < patches; j++) if (out[j] && apart(peak, j, columns) <= ISLAND) island += out[j];
  const same = component((j) => likeness[j] >= ALIKE && row[j] >= all / patches, patch, rows, columns);
  const isFar =
    likeness[most] >= SEEN && !same[most] && !same[peak] && apart(patch, most, columns) > reach(rows, columns);
  return (isFar ? 1 : PLAIN) * Math.sqrt(island * total) * (row[peak] / row[most]);
}

// The three patches that show most, and neither ask nor look at the same place.
function momentOf({ rows, columns }, layer, head, asking, lit, tells) {
  const peaks = lit.map(largest);
  const left = Float64Array.from(tells);
  const room = APART * Math.max(rows, columns);
  const chosen = [];
  while (chosen.length < 3) {
    const best = largest(left);
    chosen.push(best);
    for (const places of [asking, peaks])
      for (let i = 0; i < left.length; i++) if (apart(places[best], places[i], columns) <= room) left[i] *= 0.3;
    for (const c of chosen) left[c] = -1;
  }
  return { layer, head, patches: chosen.map((i) => asking[i]), tells: chosen.map((i) => tells[i]) };
}
