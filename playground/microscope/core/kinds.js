// Names the kind of a row by a rule: one word for what a patch attends to. Below: a filter by colour and nearness that
// needs no network. tests/analysis/test_row_kinds.py compares the rule with rows labelled by eye. No DOM.

import { dot, entropyBits, largestIndex, layerOf, rowInto } from "./core.js";
import { makeFeatures } from "./features.js";
import { patchDistance } from "./grid.js";

const MEAN_ROW_PATCHES = 48; // evenly spread patches whose mean row stands for all rows
const NEIGHBOUR_SHARE = 0.07; // radius of the neighbourhood, as a share of the longer side
export const ALIKE_COSINE = 0.35; // cosine from which two patches are alike
const EARLY_LAYERS_SHARE = 1 / 3; // share of the layers that count as early
const SHARED_PLACE_FACTOR = 0.5; // × the row's largest weight: the least weight of a shared place in the mean row
const EVEN_ROW_FACTOR = 4; // × the mean weight: a row with a larger weight is not called even
const NOISE_ROW_FACTOR = 10; // × the mean weight: a row with a larger weight is not noise

// The numbers of at most about `maximum` patches on a lattice.
export function spreadPatches(rows, columns, maximum) {
  const step = Math.max(1, Math.floor(Math.sqrt((rows * columns) / maximum)));
  const patches = [];
  for (let r = step >> 1; r < rows; r += step)
    for (let c = step >> 1; c < columns; c += step) patches.push(r * columns + c);
  return patches;
}

// The neighbourhood's radius in patches. Rounds n + ½ to the even integer, as Python does.
export function neighbourRadius(rows, columns) {
  const unroundedRadius = NEIGHBOUR_SHARE * Math.max(rows, columns);
  const floor = Math.floor(unroundedRadius);
  return Math.max(1, unroundedRadius - floor === 0.5 ? floor + (floor % 2) : Math.round(unroundedRadius));
}

// ------------------------------------------------------------------------------------------ similarity of patches

// Features from a layer's keys: one vector for each token, the keys of all heads side by side. The pack has the keys,
// so no request is needed.
/** @param {Pack} pack */
export function keysOf(pack, layer) {
  const { k } = layerOf(pack, layer);
  const { heads, tokens, dim } = pack;
  const keys = new Float32Array(k.length);
  for (let head = 0; head < heads; head++)
    for (let j = 0; j < tokens; j++)
      keys.set(k.subarray((head * tokens + j) * dim, (head * tokens + j + 1) * dim), (j * heads + head) * dim);
  return makeFeatures(keys, tokens, heads * dim, pack.prefixCount);
}

// {values: (patches × width), width}: each patch's features minus the mean patch's, at length 1.
export function directionsOf({ unit, width, from, tokens }) {
  const values = unit.slice(from * width);
  const count = tokens - from;
  const mean = new Float64Array(width);
  for (let p = 0; p < values.length; p += width) for (let x = 0; x < width; x++) mean[x] += values[p + x] / count;
  for (let p = 0; p < values.length; p += width) {
    let square = 0;
    for (let x = 0; x < width; x++) {
      values[p + x] -= mean[x];
      square += values[p + x] ** 2;
    }
    const inverse = 1 / Math.max(Math.sqrt(square), 1e-12);
    for (let x = 0; x < width; x++) values[p + x] *= inverse;
  }
  return { values, width };
}

// The cosine of two patches' directions.
export const alikeness = ({ values, width }, patch, otherPatch) =>
  dot(values, patch * width, values, otherPatch * width, width);

export function likenessOf(directions, patch) {
  const cosines = new Float32Array(directions.values.length / directions.width);
  for (let j = 0; j < cosines.length; j++) cosines[j] = alikeness(directions, patch, j);
  return cosines;
}

// ---------------------------------------------------------------------------------------- the mean row of a head

// The mean row of evenly spread patches: {tokens: its weight on each token, most: the token with the largest weight,
// offsets: the mean weight at each offset from the query, (2 rows − 1) × (2 columns − 1), the query itself in the
// middle}.
/** @param {Pack} pack */
export function meanRowOf(pack, layer, head, scale) {
  const { rows, columns, prefixCount, tokens } = pack;
  const queries = spreadPatches(rows, columns, MEAN_ROW_PATCHES);
  const row = new Float32Array(tokens);
  const meanRow = new Float64Array(tokens);
  const width = 2 * columns - 1;
  const sums = new Float64Array(width * (2 * rows - 1));
  const counts = new Float64Array(sums.length);
  for (const patch of queries) {
    rowInto(row, 0, pack, layer, head, prefixCount + patch, scale);
    for (let j = 0; j < tokens; j++) meanRow[j] += row[j] / queries.length;
    const firstIndex = firstOffsetIndex(patch, rows, columns);
    for (let r = 0, j = prefixCount; r < rows; r++) {
      for (let c = 0, index = firstIndex + r * width; c < columns; c++, index++, j++) {
        sums[index] += row[j];
        counts[index]++;
      }
    }
  }
  for (let index = 0; index < sums.length; index++) if (counts[index]) sums[index] /= counts[index];
  return { tokens: meanRow, most: largestIndex(meanRow), offsets: sums };
}

// The index of the offset from this patch to the picture's first patch.
const firstOffsetIndex = (patch, rows, columns) =>
  (rows - 1 - Math.floor(patch / columns)) * (2 * columns - 1) + columns - 1 - (patch % columns);

// -------------------------------------------------------------------------------------------------- facts of a row

// The facts that decide a row's kind. row: (tokens,); meanRow: from meanRowOf; likeness: (patches,).
/** @param {Pack} pack */
export function rowFacts(row, pack, patch, meanRow, likeness) {
  const { rows, columns, prefixCount, tokens, patches } = pack;
  let patchTotal = 0;
  for (let j = prefixCount; j < tokens; j++) patchTotal += row[j];
  const isSimilar = (j) => likeness[j] >= ALIKE_COSINE && row[prefixCount + j] >= patchTotal / patches;
  const region = regionAround(isSimilar, patch, rows, columns);
  const nearRadius = neighbourRadius(rows, columns);
  const width = 2 * columns - 1,
    firstIndex = firstOffsetIndex(patch, rows, columns);
  let expectedTotal = 0,
    nearTotal = 0,
    nearCount = 0,
    alikeTotal = 0,
    alikeCount = 0;
  const offsetMean = (j) => meanRow.offsets[firstIndex + Math.floor(j / columns) * width + (j % columns)];
  const isNear = (j) => patchDistance(patch, j, columns) <= nearRadius;
  let largest = 0;
  for (let j = 0; j < patches; j++) {
    const weight = row[prefixCount + j];
    expectedTotal += offsetMean(j);
    if (weight > row[prefixCount + largest]) largest = j;
    if (isNear(j)) {
      nearTotal += weight;
      nearCount++;
    } else if (likeness[j] >= ALIKE_COSINE) {
      alikeTotal += weight;
      alikeCount++;
    }
  }
  let place = 0,
    shared = 0;
  for (let j = 0; j < patches; j++)
    place += Math.min(
      row[prefixCount + j] / Math.max(patchTotal, 1e-12),
      offsetMean(j) / Math.max(expectedTotal, 1e-12),
    );
  for (let j = 0; j < tokens; j++) shared += Math.min(row[j], meanRow.tokens[j]);
  const largestWeight = row[prefixCount + largest];
  const fitsByKind = {
    near: isNear(largest),
    thing: region[largest] === 1,
    far: likeness[largest] >= ALIKE_COSINE && !isNear(largest) && !region[largest],
    place:
      offsetMean(largest) / Math.max(expectedTotal, 1e-12) >=
      (SHARED_PLACE_FACTOR * largestWeight) / Math.max(patchTotal, 1e-12),
    peak: row.every((weight) => weight <= row[meanRow.most]),
    shared: meanRow.tokens[prefixCount + largest] >= SHARED_PLACE_FACTOR * largestWeight,
    even: largestWeight <= EVEN_ROW_FACTOR / tokens,
    noise: largestWeight <= NOISE_ROW_FACTOR / tokens,
  };
  return {
    breadth: 2 ** entropyBits(row, 0, tokens) / tokens,
    shared,
    peak: row[meanRow.most],
    crowdPeak: meanRow.tokens[meanRow.most],
    near: nearTotal / Math.max(patchTotal, 1e-12),
    place,
    alike: alikeTotal / Math.max(patchTotal - nearTotal, 1e-12),
    area: alikeCount / Math.max(1, patches - nearCount),
    // Only kinds that fit the patch with the largest weight, because the sentence above the picture names this patch.
    fits: Object.keys(fitsByKind).filter((name) => fitsByKind[name]),
  };
}

// The connected region around a patch: 1 for this patch, and for each patch that fulfils `isMember` and is connected to
// this patch over common sides.
export function regionAround(isMember, patch, rows, columns) {
  const isReached = new Uint8Array(rows * columns);
  isReached[patch] = 1;
  const toVisit = [patch];
  const addCell = (neighbour) => {
    if (isReached[neighbour] || !isMember(neighbour)) return;
    isReached[neighbour] = 1;
    toVisit.push(neighbour);
  };
  while (toVisit.length) {
    const cell = toVisit.pop();
    if (cell >= columns) addCell(cell - columns);
    if (cell < (rows - 1) * columns) addCell(cell + columns);
    if (cell % columns) addCell(cell - 1);
    if (cell % columns < columns - 1) addCell(cell + 1);
  }
  return isReached;
}

// ---------------------------------------------------------------------------------------------------------- the rule

export const isEarlyLayer = (layer, layers) => layer < EARLY_LAYERS_SHARE * layers;

// Whether the row's sink is a single token.
export const isPeak = ({ peak, crowdPeak, fits }) => peak >= 0.3 && crowdPeak >= 0.2 && fits.includes("peak");

// The simplest kind that fits both the row and its patch with the largest weight; null if there is none.
export function kindOf(facts, isEarly) {
  const { breadth, shared, near, place, alike, area, fits } = facts;
  if (breadth >= 0.8 && fits.includes("even")) return "even";
  if (isPeak(facts)) return "sink";
  if (shared >= 0.6 && breadth < 0.4 && fits.includes("shared")) return "sink";
  if (near >= (place >= 0.7 ? 0.2 : 0.5) && fits.includes("near")) return "near";
  if (place >= 0.7 && fits.includes("place")) return "place";
  if (alike >= 0.4 && alike >= 1.5 * area) {
    if (fits.includes("thing")) return "thing";
    if (fits.includes("far")) return "far";
  }
  if (near >= 0.25 && fits.includes("near")) return "near";
  return isEarly && fits.includes("noise") ? "noise" : null;
}

export const LEAST_SINK_SHARE = 0.3; // of a row: a special token that takes as much is called a sink
export const LITTLE = 0.5; // a sink that carries less carries next to nothing, as in playground/analysis/sinks.py

// What a sink carries: the length of its value after W_O, divided by the median of all tokens in the head. norms:
// (tokens,), of one head. Whether a long value is one thing for all depends on the rank of what the head writes, which
// only Python computes (`Sink.kind`).
export function carriedBy(norms, token) {
  const sorted = Float64Array.from(norms).sort();
  return norms[token] / sorted[Math.floor((sorted.length - 1) / 2)]; // the lower of two middle values, as in torch
}

const SINK_PLACES = {
  patch: "at one patch that everybody looks at",
  token: "at one token that everybody looks at, which is no place in the picture",
  many: "where everybody looks, whoever asks",
};

const KIND_SENTENCES = {
  thing: "This row looks at the same thing",
  far: "This row looks at a far part that is like this one",
  near: "This row looks at what is near",
  place: "This row looks at a place, whatever the picture shows there",
  noise: "An early layer: this row looks like noise",
  even: "This row looks at everything alike",
};

// The sentence about a kind; "" for null. single: "patch" or "token", if the sink is a single patch or prefix token.
// plain: whether a filter by colour and nearness gives nearly the same row; null: unknown.
export function kindWords(kind, { one: single = "", plain = null } = {}) {
  if (kind === null) return "";
  if (kind === "sink") return `This row looks ${SINK_PLACES[single || "many"]}.`;
  const looksLearned = kind === "thing" || kind === "far"; // the filter is expected to give the other kinds
  if (!looksLearned || plain === null) return `${KIND_SENTENCES[kind]}.`;
  return `${KIND_SENTENCES[kind]}; colour and nearness alone ${plain ? "do nearly the same" : "do not"}.`;
}

// Below: a filter by colour and nearness, which needs no network. playground/analysis/colour_nearness.py has the same
// arithmetic; tests/analysis/test_colour_nearness.py compares the two. No DOM.

const COLOUR_WIDTH = 0.03; // standard deviation in red, green and blue, which go from 0 to 1
const PLACE_WIDTH = 0.08; // standard deviation in place, as a share of the picture's longer side
const NEARLY_SAME_OVERLAP = 0.5; // from this overlap on, a head's row and the filter's row are called nearly the same

// The mean colour of each patch, (patches × 3), from 0 to 1. pixels: four bytes each; the grid's borders may lie
// between pixels.
export function meanColours(pixels, width, height, rows, columns) {
  const cellHeight = height / rows,
    cellWidth = width / columns;
  const colours = new Float32Array(3 * rows * columns);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const patch = Math.floor(y / cellHeight) * columns + Math.floor(x / cellWidth);
      for (let c = 0; c < 3; c++) colours[3 * patch + c] += pixels[4 * (y * width + x) + c];
    }
  }
  for (let i = 0; i < colours.length; i++) colours[i] /= 255 * cellHeight * cellWidth;
  return colours;
}

// Writes the filter's row to out[offset …]: weight ∝ exp(−Δcolour² / 2a² − Δplace² / 2b²), 0 for the patch itself, sum
// 1.
export function nearnessInto(out, offset, colours, rows, columns, patch) {
  const side = Math.max(rows, columns);
  const y = Math.floor(patch / columns),
    x = patch % columns;
  let largest = -Infinity;
  for (let j = 0; j < rows * columns; j++) {
    let colourTerm = 0;
    for (let c = 0; c < 3; c++) colourTerm += (colours[3 * patch + c] - colours[3 * j + c]) ** 2;
    const placeTerm = ((Math.floor(j / columns) - y) / side) ** 2 + (((j % columns) - x) / side) ** 2;
    out[offset + j] = -colourTerm / (2 * COLOUR_WIDTH ** 2) - placeTerm / (2 * PLACE_WIDTH ** 2);
    if (j !== patch && out[offset + j] > largest) largest = out[offset + j];
  }
  let total = 0;
  for (let j = 0; j < rows * columns; j++) {
    out[offset + j] = j === patch ? 0 : Math.exp(out[offset + j] - largest);
    total += out[offset + j];
  }
  for (let j = 0; j < rows * columns; j++) out[offset + j] /= total;
  return out;
}

// The overlap of a head's row with the filter's row, both without the query's own patch, from 0 to 1.
export function overlapWithFilter(row, offset, filterRow, patch) {
  let total = 0;
  for (let j = 0; j < filterRow.length; j++) if (j !== patch) total += row[offset + j];
  let overlap = 0;
  for (let j = 0; j < filterRow.length; j++)
    if (j !== patch) overlap += Math.min(row[offset + j] / Math.max(total, 1e-12), filterRow[j]);
  return overlap;
}

export const isNearlySame = (overlap) => overlap >= NEARLY_SAME_OVERLAP;
