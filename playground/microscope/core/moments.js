// Finds a picture's best moments: for each head the three patches with the most telling rows, and things that keep to
// themselves (things.js). No DOM.
//
// A row is telling if its brightest patches lie together, far from the query, and resemble the query without being in
// one region with it; if the query lies in a small region, such as an eye or a wheel; if other patches don't look at
// the same place; and if both places belong to the picture's subject.

import { largestIndex, rowInto, rowOf, rowsInto, wholeLayers } from "./core.js";
import { patchDistance } from "./grid.js";
import {
  ALIKE_COSINE,
  alikeness,
  directionsOf,
  likenessOf,
  neighbourRadius,
  regionAround,
  spreadPatches,
} from "./kinds.js";
import { thingsOf } from "./things.js";

// A patch's partner is a distant patch that resembles it. Distances are shares of the picture's longer side.
const BESIDE_DISTANCE = 0.03; // distance up to which a partner does not count
const FAR_DISTANCE = 0.25; // distance from which a partner counts in full
const SUBJECT_PATCHES = 400; // patches searched for partners: those that belong most to the subject
const QUERY_COUNT = 24; // queries whose rows are compared; each has a partner
const REGION_COSINE = 0.4; // least cosine of a patch in the query's region
const LARGE_REGION = 0.3; // share of the picture: a region of this size halves the score
const LEAST_LIKENESS = 0.45; // least cosine between the query and the brightest patch of a telling row
const PLAIN_FACTOR = 0.1; // factor for a row whose brightest patch is near the query or unlike the query
const ISLAND_RADIUS = 2; // radius in patches around the most telling weight; the sum within it enters the score
const CROWD_PATCHES = 8; // patches, evenly spread, whose mean row stands for all patches
const FRAME_SHARE = 0.08; // share of a side: patches nearer than this to an edge count half
const LEAST_DISTANCE = 0.1; // least distance between two of a moment's three patches
const MOST_TAKEN = 4; // × the mean weight: the class token's weights are cut to at most this
export const STRIKING_SCORE = 0.044; // moments with a smaller score are not called striking
const CLEAR_SCORE = 0.15; // a moment with a smaller score gives way to a thing
const THING_SCORE = 0.004; // least score of a thing
const COARSE_THING_SCORE = 0.02; // the same on a coarse grid; below it the finer grid is waited for

export const isLate = (layer, { layers }) => layer >= Math.floor(layers / 2);

// The layers in the upper half that the pack holds whole, lowest first.
/** @param {Pack} pack */
export const tellingLayers = (pack) => wholeLayers(pack).filter((layer) => isLate(layer, pack));

// Searches all heads of `layers`. It is a generator that yields after each head, so that the page stays responsive. It
// yields the scene when a clear moment is known, before things are. Returns a scene for headsFor. The scene's
// `moments`, the best first, are {layer, head, patches: the three queries, tells: the scores of their rows}; its
// `things` are those of things.js. features: of all tokens, from makeFeatures.
export function* searchMoments(pack, features, layers = tellingLayers(pack)) {
  const directions = directionsOf(features);
  yield;
  const seen = yield* classWeights(pack, layers);
  const subject = subjectOf(pack, directions, seen).map((rank) => rank ** 3);
  const scene = { pack, directions, seen, subject, meanRows: new Map(), moments: [], things: [] };
  yield;
  const patches = yield* twinsOf(scene);
  const askers = [];
  for (const patch of patches) {
    askers.push(askerOf(scene, patch));
    yield;
  }
  const tellingRows = askers.map(() => new Float32Array(pack.patches));
  const rows = new Float32Array(askers.length * pack.tokens);
  const tokens = patches.map((patch) => pack.prefixCount + patch);
  for (const layer of layers) {
    for (let head = 0; head < pack.heads; head++) {
      rowsInto(rows, pack, layer, head, tokens, pack.scale);
      const meanRow = meanPatchRow(scene, layer, head);
      const scores = askers.map((asker, i) =>
        tellingInto(tellingRows[i], pack, meanRow, asker, rows.subarray(i * pack.tokens + pack.prefixCount)),
      );
      scene.moments.push(momentOf(pack, layer, head, patches, tellingRows, scores));
      yield;
    }
  }
  scene.moments.sort((a, b) => b.tells[0] - a.tells[0]);
  if (scene.moments[0].tells[0] >= CLEAR_SCORE) yield scene;
  scene.things = yield* thingsOf(scene, layers);
  return scene;
}

// The row at which a picture opens: {kind, layer, head, token}. "far": a patch looks at a far one like it; "thing": a
// thing keeps to itself; "nothing": neither stands out, so the row is the class token's, null without one.
// isCoarse: whether a finer grid will follow.
export function openingOf(scene, isCoarse = false) {
  const [{ layer, head, patches, tells }] = scene.moments;
  const [thing] = scene.things;
  const first = scene.pack.prefixCount;
  if (tells[0] < CLEAR_SCORE && thing?.score >= (isCoarse ? COARSE_THING_SCORE : THING_SCORE))
    return { kind: "thing", layer: thing.layer, head: thing.head, token: first + thing.patch };
  if (tells[0] >= (isCoarse ? CLEAR_SCORE : STRIKING_SCORE))
    return { kind: "far", layer, head, token: first + patches[0] };
  return { kind: "nothing", ...classRowOf(scene) };
}

// The class token's row that is most like its mean row of all searched heads.
function classRowOf({ pack, moments }) {
  if (pack.prefix[0] !== "cls") return { layer: moments[0].layer, head: moments[0].head, token: null };
  const rows = moments.map(({ layer, head }) => rowOf(pack, layer, head, 0).subarray(pack.prefixCount));
  const meanRow = Float64Array.from(rows[0], (_, j) => rows.reduce((sum, row) => sum + row[j], 0));
  const fits = rows.map((row) => {
    const length = Math.sqrt(row.reduce((sum, weight) => sum + weight * weight, 0));
    return row.reduce((sum, weight, j) => sum + weight * meanRow[j], 0) / Math.max(length, 1e-12);
  });
  const { layer, head } = moments[largestIndex(fits)];
  return { layer, head, token: 0 };
}

// All searched heads for this patch, the best first: {layer, head, tells: the score of the patch's row}.
export function headsFor(scene, patch) {
  const { pack } = scene;
  const asker = askerOf(scene, patch);
  const row = new Float32Array(pack.tokens);
  const tellingRow = new Float32Array(pack.patches);
  const heads = scene.moments.map(({ layer, head }) => {
    rowInto(row, 0, pack, layer, head, pack.prefixCount + patch, pack.scale);
    const meanRow = meanPatchRow(scene, layer, head);
    return { layer, head, tells: tellingInto(tellingRow, pack, meanRow, asker, row.subarray(pack.prefixCount)) };
  });
  return heads.sort((a, b) => b.tells - a.tells);
}

// The most telling rows and the things as {layer, head, patch}: one of each head, and all at different places.
export function surprisesOf({ moments, things, pack }, maximum = 8) {
  const rows = moments.flatMap(({ layer, head, patches, tells }) =>
    patches.map((patch, i) => ({ layer, head, patch, tells: tells[i] })),
  );
  rows.push(...things.map((thing) => ({ ...thing, tells: thing.score })));
  const minimumDistance = LEAST_DISTANCE * Math.max(pack.rows, pack.columns);
  const chosenRows = [];
  for (const row of rows.sort((a, b) => b.tells - a.tells)) {
    if (chosenRows.length === maximum || !(row.tells > 0)) break;
    const isRepeat = chosenRows.some(
      ({ layer, head, patch }) =>
        (layer === row.layer && head === row.head) || patchDistance(patch, row.patch, pack.columns) <= minimumDistance,
    );
    if (!isRepeat) chosenRows.push(row);
  }
  return chosenRows;
}

const farness = (patch, otherPatch, { rows, columns }) =>
  Math.min(
    1,
    Math.max(
      0,
      (patchDistance(patch, otherPatch, columns) / Math.max(rows, columns) - BESIDE_DISTANCE) /
        (FAR_DISTANCE - BESIDE_DISTANCE),
    ),
  );

// -------------------------------------------------------------------------------------------- subject and background

// The mean of what the class token gives to each patch in all heads of `layers`, 1 on average: (patches,); null in a
// model without a class token.
function* classWeights(pack, layers) {
  if (pack.prefix[0] !== "cls") return null;
  const seen = new Float64Array(pack.patches);
  const row = new Float32Array(pack.tokens);
  for (const layer of layers) {
    for (let head = 0; head < pack.heads; head++) {
      rowInto(row, 0, pack, layer, head, 0, pack.scale);
      let total = 0;
      for (let j = pack.prefixCount; j < pack.tokens; j++) total += row[j];
      const factor = pack.patches / Math.max(total, 1e-12);
      for (let j = 0; j < seen.length; j++)
        seen[j] += Math.min(row[pack.prefixCount + j] * factor, MOST_TAKEN) / (layers.length * pack.heads);
    }
    yield;
  }
  return seen;
}

// How much each patch belongs to the picture's subject: (patches,), from 0 for background to 1.
function subjectOf({ rows, columns, patches }, { values, width }, seen) {
  const edgeSum = new Float64Array(width);
  const edgeDistance = Float64Array.from({ length: patches }, (_, j) => {
    const r = Math.floor(j / columns),
      c = j % columns;
    return Math.min(Math.min(r, rows - 1 - r) / rows, Math.min(c, columns - 1 - c) / columns);
  });
  for (let j = 0; j < patches; j++)
    if (!edgeDistance[j]) for (let x = 0; x < width; x++) edgeSum[x] += values[j * width + x];
  const unlikeness = new Float64Array(patches);
  for (let j = 0; j < patches; j++) for (let x = 0; x < width; x++) unlikeness[j] -= values[j * width + x] * edgeSum[x];
  let subjectRanks = ranks(smooth(unlikeness, rows, columns));
  if (seen) {
    const seenRanks = ranks(smooth(seen, rows, columns));
    subjectRanks = ranks(subjectRanks.map((rank, j) => rank + seenRanks[j]));
  }
  return subjectRanks.map((rank, j) => rank * (edgeDistance[j] < FRAME_SHARE ? 0.5 : 1));
}

// The sum over each patch's 3 × 3 neighbourhood; beyond the border, the nearest patch counts again.
function smooth(values, rows, columns) {
  const clampedIndex = (n, count) => Math.min(count - 1, Math.max(0, n));
  return values.map((_, j) => {
    let sum = 0;
    for (let down = -1; down <= 1; down++)
      for (let right = -1; right <= 1; right++)
        sum +=
          values[
            clampedIndex(Math.floor(j / columns) + down, rows) * columns + clampedIndex((j % columns) + right, columns)
          ];
    return sum;
  });
}

// The indices that sort the values in ascending order; equal values keep their order.
const ascending = (values) => Array.from(values, (_, j) => j).sort((a, b) => values[a] - values[b] || a - b);

// Each value's rank, from 0 for the smallest to 1 for the largest.
function ranks(values) {
  const rankList = new Float64Array(values.length);
  ascending(values).forEach((j, place) => {
    rankList[j] = place / Math.max(1, values.length - 1);
  });
  return rankList;
}

// ------------------------------------------------------------------------------------------------------- the queries

// Finds patches of the subject that resemble a distant patch of the subject.
function* twinsOf({ pack, directions, subject }) {
  const candidates = ascending(subject.map((share) => -share)).slice(0, SUBJECT_PATCHES);
  const scores = new Float64Array(candidates.length);
  for (let i = 0; i < candidates.length; i++) {
    for (let j = 0; j < i; j++) {
      const [a, b] = [candidates[i], candidates[j]];
      const maximum = farness(a, b, pack) * subject[a] * subject[b]; // the score at a cosine of 1
      if (maximum <= scores[i] && maximum <= scores[j]) continue;
      const score = Math.max(0, alikeness(directions, a, b)) ** 3 * maximum;
      scores[i] = Math.max(scores[i], score);
      scores[j] = Math.max(scores[j], score);
    }
    if (i % 16 === 15) yield;
  }
  const queries = [];
  while (queries.length < Math.min(QUERY_COUNT, candidates.length)) {
    const index = largestIndex(scores);
    queries.push(candidates[index]);
    for (let j = 0; j < candidates.length; j++)
      if (patchDistance(candidates[index], candidates[j], pack.columns) <= 1) scores[j] *= 0.8;
    scores[index] = -1;
  }
  return queries;
}

// A query as {patch, likeness: each patch's similarity to `patch`, worth: how telling a weight on each patch is}.
function askerOf({ pack, directions, subject }, patch) {
  const { rows, columns } = pack;
  const likeness = likenessOf(directions, patch);
  let [regionSize, regionRadius] = [0, 1];
  regionAround((j) => likeness[j] >= REGION_COSINE, patch, rows, columns).forEach((isInRegion, j) => {
    regionSize += isInRegion;
    if (isInRegion) regionRadius = Math.max(regionRadius, patchDistance(patch, j, columns));
  });
  const area = likeness.filter((cosine) => cosine >= REGION_COSINE).length / pack.patches;
  const areaFactor = Math.min(1, regionSize / regionRadius ** 2); // smaller for patches along an outline
  const factor = (subject[patch] * Math.sqrt(areaFactor)) / (1 + (area / LARGE_REGION) ** 2);
  const worth = likeness.map((alike, j) => factor * Math.max(0, alike) ** 3 * farness(patch, j, pack) * subject[j]);
  return { patch, likeness, worth };
}

// ----------------------------------------------------------------------------------------------------- what is telling

// The mean row of evenly spread patches in a head: (patches,). Cached, because every query in this head is compared
// with it.
function meanPatchRow({ pack, meanRows }, layer, head) {
  const key = layer * pack.heads + head;
  if (meanRows.has(key)) return meanRows.get(key);
  const meanRow = new Float32Array(pack.patches);
  const spreadTokens = spreadPatches(pack.rows, pack.columns, CROWD_PATCHES).map((patch) => pack.prefixCount + patch);
  const rows = new Float32Array(spreadTokens.length * pack.tokens);
  rowsInto(rows, pack, layer, head, spreadTokens, pack.scale);
  for (let offset = pack.prefixCount; offset < rows.length; offset += pack.tokens)
    for (let j = 0; j < meanRow.length; j++) meanRow[j] += rows[offset + j] / spreadTokens.length;
  meanRows.set(key, meanRow);
  return meanRow;
}

// Writes the telling part of each weight of a row into `out`. Returns a score, which grows with the sum of these parts
// and with their sum around the largest part, and shrinks if the row's largest weight is not telling. row: at least
// (patches,).
function tellingInto(out, { rows, columns, patches }, meanRow, { patch, likeness, worth }, row) {
  let [tellingSum, patchTotal, largestPatch, peakPatch, islandSum] = [0, 0, 0, 0, 0];
  for (let j = 0; j < patches; j++) {
    const excess = row[j] - 3 * meanRow[j];
    out[j] = excess > 0 ? excess * worth[j] : 0;
    tellingSum += out[j];
    patchTotal += row[j];
    if (row[j] > row[largestPatch]) largestPatch = j;
    if (out[j] > out[peakPatch]) peakPatch = j;
  }
  if (!(tellingSum > 0)) return 0;
  for (let j = 0; j < patches; j++)
    if (out[j] && patchDistance(peakPatch, j, columns) <= ISLAND_RADIUS) islandSum += out[j];
  const region = regionAround(
    (j) => likeness[j] >= ALIKE_COSINE && row[j] >= patchTotal / patches,
    patch,
    rows,
    columns,
  );
  const isFar =
    likeness[largestPatch] >= LEAST_LIKENESS &&
    !region[largestPatch] &&
    !region[peakPatch] &&
    patchDistance(patch, largestPatch, columns) > neighbourRadius(rows, columns);
  return (isFar ? 1 : PLAIN_FACTOR) * Math.sqrt(islandSum * tellingSum) * (row[peakPatch] / row[largestPatch]);
}

// The three queries with the most telling rows. A query counts less if it, or its row's peak, is close to a chosen
// query or to that query's peak.
function momentOf({ rows, columns }, layer, head, queries, tellingRows, scores) {
  const peaks = tellingRows.map((row) => largestIndex(row));
  const remainingScores = Float64Array.from(scores);
  const minimumDistance = LEAST_DISTANCE * Math.max(rows, columns);
  const chosenIndices = [];
  while (chosenIndices.length < 3) {
    const index = largestIndex(remainingScores);
    chosenIndices.push(index);
    for (const places of [queries, peaks])
      for (let i = 0; i < remainingScores.length; i++)
        if (patchDistance(places[index], places[i], columns) <= minimumDistance) remainingScores[i] *= 0.3;
    for (const chosenIndex of chosenIndices) remainingScores[chosenIndex] = -1;
  }
  return { layer, head, patches: chosenIndices.map((i) => queries[i]), tells: chosenIndices.map((i) => scores[i]) };
}
