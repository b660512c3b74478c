// Searches a picture's best moment: the head and the three patches with the most telling rows. The same arithmetic as
// in playground/analysis/moments.py, which says what makes a row telling; tests/analysis/test_moments.py compares the
// two. No DOM in here.

import { rowInto, rowsInto, wholeLayers } from "./core.js";
import { ALIKE, alikeness, component, directionsOf, likenessOf, reach, spreadPatches } from "./kinds.js";

const BESIDE = 0.03; // of the longer side: nearer partners do not count
const FAR = 0.25; // of the longer side: at this distance or more a partner counts in full
const SUBJECT = 400; // patches that are searched for partners: those that belong most to the picture's subject
const ASKING = 24; // patches with a far partner whose rows are compared
const REGION = 0.4; // the cosine from which a patch belongs to the query's region
const WALL = 0.3; // of the picture: a region of this size counts half
const SEEN = 0.45; // the least cosine of the query and the brightest patch of a telling row
const PLAIN = 0.1; // factor for a row whose brightest patch is no far patch like the query
const ISLAND = 2; // patches: the radius around the most telling patch
const WHO_ASKS = 8; // patches, evenly spread, whose mean row stands for all patches
const FRAME = 0.08; // of each side: patches in this frame count half
const APART = 0.1; // of the longer side: the least distance between two of the three patches
const MOST_TAKEN = 4; // × the mean weight: larger weights of the class token are cut to this
export const STRIKING = 0.044; // moments with a smaller score are not called striking

export const isLate = (layer, { layers }) => layer >= Math.floor(layers / 2);

// The layers in the upper half that the pack holds whole, lowest first.
export const telling = (pack) => wholeLayers(pack).filter((layer) => isLate(layer, pack));

// Searches all heads of `layers`; a generator that yields after each head, so that the page stays responsive. Returns a
// scene, which headsFor takes, with `moments`, the best first: {layer, head, patches: the three queries, tells: how
// telling each of their rows is}. `features`: of all tokens, from makeFeatures.
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

// For each head that was searched {layer, head, tells: how telling the row of this patch is}, the best first.
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

// The distance between two patches in rows or in columns, whichever is larger.
const apart = (patch, other, columns) =>
  Math.max(
    Math.abs(Math.floor(patch / columns) - Math.floor(other / columns)),
    Math.abs((patch % columns) - (other % columns)),
  );

const farness = (patch, other, { rows, columns }) =>
  Math.min(1, Math.max(0, (apart(patch, other, columns) / Math.max(rows, columns) - BESIDE) / (FAR - BESIDE)));

// -------------------------------------------------------------------------------------------- subject and background

// The class token's weights, summed over all heads of `layers`: (patches,); null in a model without a class token.
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

// How much each patch belongs to the picture's subject: (patches,), from 0, background, to 1.
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

// The sum over each patch's 3 × 3 neighbourhood; beyond the border, the nearest patch counts again.
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

// The indices that sort the values in ascending order; equal values keep their order.
const rising = (values) => Array.from(values, (_, j) => j).sort((a, b) => values[a] - values[b] || a - b);

// Each value's rank, from 0 for the smallest to 1 for the largest.
function ranks(values) {
  const out = new Float64Array(values.length);
  rising(values).forEach((j, place) => {
    out[j] = place / Math.max(1, values.length - 1);
  });
  return out;
}

// ------------------------------------------------------------------------------------------------------- the queries

// Patches of the subject that resemble a far patch of the subject.
function* twinsOf({ pack, toward, subject }) {
  const candidates = rising(subject.map((share) => -share)).slice(0, SUBJECT);
  const scores = new Float64Array(candidates.length);
  for (let i = 0; i < candidates.length; i++) {
    for (let j = 0; j < i; j++) {
      const [a, b] = [candidates[i], candidates[j]];
      const most = farness(a, b, pack) * subject[a] * subject[b]; // the score at a cosine of 1
      if (most <= scores[i] && most <= scores[j]) continue;
      const score = Math.max(0, alikeness(toward, a, b)) ** 3 * most;
      scores[i] = Math.max(scores[i], score);
      scores[j] = Math.max(scores[j], score);
    }
    if (i % 16 === 15) yield;
  }
  const queries = [];
  while (queries.length < Math.min(ASKING, candidates.length)) {
    const best = largest(scores);
    queries.push(candidates[best]);
    for (let j = 0; j < candidates.length; j++)
      if (apart(candidates[best], candidates[j], pack.columns) <= 1) scores[j] *= 0.8;
    scores[best] = -1;
  }
  return queries;
}

// {patch, likeness, worth: (patches,) how telling a weight on each patch is}
function askerOf({ pack, toward, subject }, patch) {
  const { rows, columns } = pack;
  const likeness = likenessOf(toward, patch);
  let [count, reaches] = [0, 1];
  component((j) => likeness[j] >= REGION, patch, rows, columns).forEach((isInRegion, j) => {
    count += isInRegion;
    if (isInRegion) reaches = Math.max(reaches, apart(patch, j, columns));
  });
  const area = likeness.filter((alike) => alike >= REGION).length / pack.patches;
  const full = Math.min(1, count / reaches ** 2); // an outline fills little of its surroundings
  const factor = (subject[patch] * Math.sqrt(full)) / (1 + (area / WALL) ** 2);
  const worth = likeness.map((alike, j) => factor * Math.max(0, alike) ** 3 * farness(patch, j, pack) * subject[j]);
  return { patch, likeness, worth };
}

function largest(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

// ----------------------------------------------------------------------------------------------------- what is telling

// The mean row of evenly spread patches in a head: (patches,). Kept, because other queries need the same head's.
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

// Writes the telling part of each of the row's weights into `out`. Returns a score that grows with the sum of these
// parts and with the sum around the largest one, and shrinks if the row's largest weight is not telling. row: (patches,
// …)
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

// The three queries with the most telling rows. Neither the queries nor the peaks of their rows are close together.
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
