// The numbers that lessons state about a trace, computed for a visitor's photograph without Python. Each function has a
// counterpart of the same name in playground/lessons/measures.py with the same arguments, except that it takes a pack
// with all layers. No DOM.

import { decodeHalves, entropyBits, layerOf, rowInto, rowsInto, scoresInto, softmaxInPlace } from "./core.js";
import { patchFrom } from "./grid.js";
import { carriedBy } from "./kinds.js";
import { percent } from "./numbers.js";

const MOST_NEAR_DISTANCE = 3; // patches: largest distance that counts as near, like REACH in analysis/heads.py
const LOCKED_SHARE = 0.3; // a head with a larger mean share on one place is locked, as in lessons/measures.py
const MEASURED_PATCHES = 24; // patches, evenly spread, whose mean row stands for all rows

// The first query in a visitor's photograph: the middle patch.
export const middleOf = ({ rows, columns }) => patchFrom("", rows, columns);

export const MEASURES = {
  differing: (pack) => 100 * cached(pack, "differing", shareDiffering),
  rows_asked: ({ patches, layers, heads }) => patches * layers * heads,
  distances: (pack) => cached(pack, "distances", distances),
  mean_distance: (pack, { layer }) =>
    meanOf(MEASURES.distances(pack).slice(layer * pack.heads, (layer + 1) * pack.heads)),
  layer_by_distance: (pack, { which, what: quantity }) => {
    const means = layerDistances(pack); // mean distance of each layer's heads
    const layer = means.indexOf(which === "nearest" ? Math.min(...means) : Math.max(...means));
    return quantity === "layer" ? layer : means[layer];
  },
  by_depth: (pack) => {
    const slope = correlationWithPlace(layerDistances(pack));
    return slope > 0.5 ? "near first, far later" : slope < -0.5 ? "far first, near later" : "no steady trend";
  },
  a_head: (pack, words) => extremeHead(pack, words),
  agreeing: (pack, words) => agreeingHead(pack, words.which)[words.what],
  agreeing_percent: (pack) => 100 * agreeingHead(pack, "most").share,
  all_heads: ({ layers, heads }) => layers * heads,
  locked_heads: (pack) => placeShares(pack).filter(({ share }) => share > LOCKED_SHARE).length,
  agreed_place: (pack) => {
    const { prefix, prefixCount, columns } = pack;
    const token = agreedToken(pack);
    if (token < prefixCount) return prefix.join(" and ");
    return `one patch, at (${Math.floor((token - prefixCount) / columns)}, ${(token - prefixCount) % columns})`;
  },
  key_length: (pack) => agreedKeyLength(pack),
  carried: (pack) => {
    const { layer, head } = agreeingHead(pack, "most");
    const { norms } = layerOf(pack, layer);
    return carriedBy(norms.subarray(head * pack.tokens, (head + 1) * pack.tokens), agreedToken(pack));
  },
  even_share: ({ tokens }) => 1 / tokens,
  spread_of_scores: (pack, { what: quantity }) => spreadOf(pack, quantity),
  even_distance: ({ rows, columns }) => evenDistance(rows, columns),
  patches: ({ patches }) => patches,
  longer_side: ({ rows, columns }) => Math.max(rows, columns),
  layers_needed: ({ rows, columns }, { kernel }) => Math.ceil((Math.max(rows, columns) - 1) / Math.floor(kernel / 2)),
  reaches: ({ rows, columns, layers }, { kernel }) =>
    Array.from({ length: layers }, (_, layer) =>
      Math.min(Math.max(rows, columns), Math.floor((1 + (layer + 1) * (kernel - 1)) / 2)),
    ),
  far_layer: (pack) => farHead(pack)[0],
  far_head: (pack) => farHead(pack)[1],
  far_share: (pack) => brightestShare(farRow(pack)),
  far_peak: (pack) => Math.max(...farRow(pack)),
};

// Measures each pack once, because several sentences state the same number.
const resultsByPack = new WeakMap();
function cached(pack, name, measure) {
  if (!resultsByPack.has(pack)) resultsByPack.set(pack, {});
  const results = resultsByPack.get(pack);
  results[name] ??= measure(pack);
  return results[name];
}

const meanOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

// ------------------------------------------------------------------------------------------------ rows of all heads

// Calls visit(layer, head, rows) with the rows of all patches, (patches × tokens).
function eachHead(pack, visit) {
  const { layers, heads, patches, prefixCount, tokens } = pack;
  const queries = Array.from({ length: patches }, (_, patch) => prefixCount + patch);
  const rows = new Float32Array(patches * tokens);
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) visit(layer, head, rowsInto(rows, pack, layer, head, queries, pack.scale));
}

// The share of rows in which the patch with the largest weight is not the patch that adds the longest vector.
function shareDiffering(pack) {
  const { layers, heads, patches, prefixCount, tokens } = pack;
  let count = 0;
  eachHead(pack, (layer, head, rows) => {
    const norms = layerOf(pack, layer).norms.subarray(head * tokens, (head + 1) * tokens);
    for (let offset = 0; offset < rows.length; offset += tokens) {
      let [largestWeightToken, longestVectorToken] = [prefixCount, prefixCount];
      for (let j = prefixCount + 1; j < tokens; j++) {
        if (rows[offset + j] > rows[offset + largestWeightToken]) largestWeightToken = j;
        if (rows[offset + j] * norms[j] > rows[offset + longestVectorToken] * norms[longestVectorToken])
          longestVectorToken = j;
      }
      if (largestWeightToken !== longestVectorToken) count++;
    }
  });
  return count / (layers * heads * patches);
}

function distances(pack) {
  const { patches, columns, prefixCount, tokens } = pack;
  const headDistances = [];
  eachHead(pack, (_layer, _head, rows) => {
    let sum = 0;
    for (let i = 0; i < patches; i++) {
      const [y, x, offset] = [Math.floor(i / columns), i % columns, i * tokens + prefixCount];
      let [weightedDistance, total] = [0, 0];
      for (let j = 0; j < patches; j++) {
        weightedDistance += rows[offset + j] * Math.hypot(Math.floor(j / columns) - y, (j % columns) - x);
        total += rows[offset + j];
      }
      sum += weightedDistance / Math.max(total, 1e-9);
    }
    headDistances.push(sum / patches);
  });
  return headDistances;
}

const layerDistances = (pack) =>
  Array.from({ length: pack.layers }, (_, layer) => MEASURES.mean_distance(pack, { layer }));

// Pearson's correlation of the numbers with 0, 1, 2, …; 0 if there are fewer than three numbers.
function correlationWithPlace(numbers) {
  if (numbers.length < 3) return 0;
  const [centre, mean] = [(numbers.length - 1) / 2, meanOf(numbers)];
  let [covariance, placeSquares, valueSquares] = [0, 0, 0];
  for (const [n, number] of numbers.entries()) {
    covariance += (n - centre) * (number - mean);
    placeSquares += (n - centre) ** 2;
    valueSquares += (number - mean) ** 2;
  }
  return covariance / Math.sqrt(placeSquares * valueSquares);
}

// The mean entropy of each head's rows: all heads of layer 0, then all of layer 1, …
const entropies = (pack) =>
  cached(pack, "entropies", () => {
    const entropyList = [];
    eachHead(pack, (_layer, _head, rows) => {
      let bits = 0;
      for (let offset = 0; offset < rows.length; offset += pack.tokens) bits += entropyBits(rows, offset, pack.tokens);
      entropyList.push(bits / pack.patches);
    });
    return entropyList;
  });

// A number about a head. which: the head that adds "most", or has the "sharpest" or the "evenest" rows. what: the
// head's layer, the head's number, the length that the head adds relative to the layer's mean, or the entropy of the
// head's rows.
export function extremeHead(pack, { which, what: quantity }) {
  const relativeLengths = pack.header.adds.flatMap((layer) => layer.map((length) => length / meanOf(layer)));
  const rankedValues = {
    most: relativeLengths.map((length) => -length),
    sharpest: entropies(pack),
    evenest: entropies(pack).map((bits) => -bits),
  }[which];
  const index = rankedValues.indexOf(Math.min(...rankedValues));
  const [layer, head] = [Math.floor(index / pack.heads), index % pack.heads];
  return { layer, head, adds: relativeLengths[index], entropy: entropies(pack)[index] }[quantity];
}

// For each head {layer, head, mean: its mean row, (tokens,), toOne: the largest share of one patch in that row, share:
// the larger of toOne and the row's sum on prefix tokens}.
export const placeShares = (pack) =>
  cached(pack, "places", () => {
    const headShares = [];
    const { prefixCount, patches, tokens } = pack;
    eachHead(pack, (layer, head, rows) => {
      const mean = new Float64Array(tokens);
      for (let index = 0; index < rows.length; index++) mean[index % tokens] += rows[index] / patches;
      const toOne = Math.max(...mean.subarray(prefixCount));
      const toPrefix = mean.subarray(0, prefixCount).reduce((sum, weight) => sum + weight, 0);
      headShares.push({ layer, head, mean, toOne, share: Math.max(toOne, toPrefix) });
    });
    return headShares;
  });

// The head of placeShares with the largest share; if `which` is not "most", with the smallest.
export function agreeingHead(pack, which) {
  const isBetter = (head, best) => (which === "most" ? head.share > best.share : head.share < best.share);
  return placeShares(pack).reduce((best, head) => (isBetter(head, best) ? head : best));
}

// In the head whose rows agree most, the patch with the largest weight, or the prefix token if the prefix gets more.
function agreedToken(pack) {
  const { mean, toOne, share } = agreeingHead(pack, "most");
  if (toOne >= share) return mean.indexOf(toOne, pack.prefixCount);
  return mean.indexOf(Math.max(...mean.subarray(0, pack.prefixCount)));
}

// The length of the key of agreedToken, divided by the median length of the patches' keys in the same head.
function agreedKeyLength(pack) {
  const { layer, head } = agreeingHead(pack, "most");
  const { tokens, dim, prefixCount, patches } = pack;
  const { k } = layerOf(pack, layer);
  const lengthOf = (token) =>
    Math.hypot(...k.subarray((head * tokens + token) * dim, (head * tokens + token + 1) * dim));
  const lengths = Float64Array.from({ length: patches }, (_, patch) => lengthOf(prefixCount + patch)).sort();
  const median = lengths[Math.floor((patches - 1) / 2)]; // of two middle values the lower, as in torch.median
  return lengthOf(agreedToken(pack)) / median;
}

// For each head {layer, head, entropy, peak: the largest weight, deviation: the standard deviation of the scaled
// scores}, all as means over the rows of patches, as `sharpness` in playground/analysis/scale.py.
export const sharpnessOf = (pack, scale) => cached(pack, `sharpness ${scale}`, () => measureSharpness(pack, scale));

function measureSharpness(pack, scale) {
  const { layers, heads, patches, prefixCount, tokens } = pack;
  const row = new Float32Array(tokens);
  return Array.from({ length: layers * heads }, (_, index) => {
    const [layer, head] = [Math.floor(index / heads), index % heads];
    let [entropy, peak, deviation] = [0, 0, 0];
    for (let patch = 0; patch < patches; patch++) {
      const largest = scoresInto(row, 0, pack, layer, head, prefixCount + patch, scale);
      const mean = row.reduce((sum, score) => sum + score, 0) / tokens;
      deviation += Math.sqrt(row.reduce((sum, score) => sum + (score - mean) ** 2, 0) / tokens) / patches;
      entropy += softmaxInPlace(row, 0, tokens, largest) / patches;
      peak += Math.max(...row) / patches;
    }
    return { layer, head, entropy, peak, deviation };
  });
}

// A number about the standard deviation of a row's scaled scores. quantity: "first" or "last": the largest of the heads
// in that layer; "least" or "most": the smallest or largest of all heads; "layer" or "head": the number of the layer
// or head with the largest of all.
function spreadOf(pack, quantity) {
  const sharpness = sharpnessOf(pack, pack.scale);
  const spreads = sharpness.map(({ deviation }) => deviation);
  const largestSpread = (layer) => Math.max(...spreads.slice(layer * pack.heads, (layer + 1) * pack.heads));
  const [least, most] = [Math.min(...spreads), Math.max(...spreads)];
  const { layer, head } = sharpness[spreads.indexOf(most)];
  return { layer, head, least, most, first: largestSpread(0), last: largestSpread(pack.layers - 1) }[quantity];
}

// The mean distance if all weights are equal: each offset is weighted by the number of pairs of patches that have it.
function evenDistance(rows, columns) {
  let sum = 0;
  for (let down = 1 - rows; down < rows; down++)
    for (let right = 1 - columns; right < columns; right++)
      sum += (rows - Math.abs(down)) * (columns - Math.abs(right)) * Math.hypot(down, right);
  return sum / (rows * columns) ** 2;
}

// ----------------------------------------------------------------------------------------- a head that looks far

// The [layer, head] that looks far, see far_looking in playground/analysis/heads.py.
const farHead = (pack) => cached(pack, "far", searchFar);

function searchFar(pack) {
  const { layers, heads, rows, columns, patches, prefixCount, tokens } = pack;
  const query = middleOf(pack);
  const [y, x] = [Math.floor(query / columns), query % columns];
  const isFar = (patch) =>
    Math.max(Math.abs(Math.floor(patch / columns) - y), Math.abs((patch % columns) - x)) > MOST_NEAR_DISTANCE;
  const topCount = Math.max(1, Math.floor((rows * columns) / 20));
  const step = Math.ceil(patches / MEASURED_PATCHES);
  const queries = Array.from({ length: Math.ceil(patches / step) }, (_, i) => prefixCount + i * step);
  const spreadRows = new Float32Array(queries.length * tokens);
  const row = new Float32Array(tokens);
  let bestHead = { share: -1, at: [0, 0] };
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      rowsInto(spreadRows, pack, layer, head, queries, pack.scale);
      rowInto(row, 0, pack, layer, head, prefixCount + query, pack.scale);
      const surplus = new Float32Array(patches); // the weight minus the mean of other patches' weights
      for (let patch = 0; patch < patches; patch++) {
        if (!isFar(patch)) continue;
        let otherTotal = 0;
        for (let i = 0; i < queries.length; i++) otherTotal += spreadRows[i * tokens + prefixCount + patch];
        surplus[patch] = Math.max(0, row[prefixCount + patch] - otherTotal / queries.length);
      }
      const share = surplus
        .sort()
        .subarray(patches - topCount)
        .reduce((sum, weight) => sum + weight, 0);
      if (share > bestHead.share) bestHead = { share, at: [layer, head] };
    }
  return bestHead.at;
}

// The middle patch's row in the head of farHead, without prefix tokens: (patches,)
export const farRow = (pack) =>
  cached(pack, "far row", () => {
    const row = new Float32Array(pack.tokens);
    rowInto(row, 0, pack, ...farHead(pack), pack.prefixCount + middleOf(pack), pack.scale);
    return row.subarray(pack.prefixCount);
  });

// The share of the brightest 2 % of patches in the row's weight on all patches.
function brightestShare(row) {
  const sorted = Float32Array.from(row).sort().reverse();
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  return sum(sorted.subarray(0, Math.max(1, Math.floor(row.length / 50)))) / sum(sorted);
}

// ----------------------------------------------------------------------------------------------------- two passes

const LEAST_SQUARE = 1e-24; // least squared length of a token, against division by 0

// How far each token moved between two passes, relative to its length before: (tokens,). Tokens are float16 bits.
export function movedTokens(uncutHalves, cutHalves, { tokens }) {
  const [uncutFeatures, cutFeatures] = [uncutHalves, cutHalves].map(decodeHalves);
  const width = uncutFeatures.length / tokens;
  return Array.from({ length: tokens }, (_, token) => {
    let [changeSquares, lengthSquares] = [0, 0];
    for (let index = token * width, x = 0; x < width; x++, index++) {
      changeSquares += (cutFeatures[index] - uncutFeatures[index]) ** 2;
      lengthSquares += uncutFeatures[index] ** 2;
    }
    return Math.sqrt(changeSquares / Math.max(lengthSquares, LEAST_SQUARE));
  });
}

// A quantile of ascending numbers, interpolated between two of them.
export function quantile(sorted, share) {
  const position = share * (sorted.length - 1);
  const [lowerIndex, fraction] = [Math.floor(position), position - Math.floor(position)];
  return sorted[lowerIndex] + fraction * ((sorted[lowerIndex + 1] ?? sorted[lowerIndex]) - sorted[lowerIndex]);
}

// ------------------------------------------------------------------------------------------------------------- words

const BLANK = /\{(\w+)(?::([^}]*))?\}/g; // such as {share:%}

// Writes a number as Python does in the formats "", "," and ".2f"; "%" stands for `percent`, our rule for shares.
export function formatNumber(number, style) {
  if (style === "%") return percent(number);
  const [, digits] = /^,?(?:\.(\d)f)?$/.exec(style);
  const commas = style.startsWith(",");
  const text = digits === undefined ? String(number) : number.toFixed(Number(digits));
  const [integerPart, fraction] = text.split(".");
  const groupedDigits = commas ? integerPart.replace(/\B(?=(\d{3})+$)/g, ",") : integerPart;
  return groupedDigits + (fraction === undefined ? "" : `.${fraction}`);
}

// Fills a text's blanks with values measured on `pack`, or, without a pack, with the sample's values. values: {name:
// {measure, …, says: the sample's value}}
export function wordsOf({ text, values }, pack = null) {
  if (!values) return text;
  const textOf = (value, style) => (pack ? formatNumber(measureOf(value, pack), style) : value.says);
  return text.replace(BLANK, (match, name, style = "") => (name in values ? textOf(values[name], style) : match));
}

export const measureOf = ({ measure, ...options }, pack) => MEASURES[measure](pack, options);
