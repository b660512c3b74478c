// The numbers that lessons state about a trace. Each function takes a recipe's arguments (`Made` of
// playground/lessons/questions.py) and the subject (lessons/subject.js). No DOM.

import { largestIndex, layerOf, rowInto, rowOf, scoresInto, softmaxInPlace, sumOf } from "./core.js";
import { patchDistance } from "./grid.js";
import { carriedBy, spreadPatches } from "./kinds.js";
import { percent } from "./numbers.js";

const MOST_NEAR_DISTANCE = 3; // patches: largest distance that counts as near
const LOCKED_SHARE = 0.3; // a head with a larger mean share on one place is locked, as in lessons/weight.py
const MOST_PRODUCTS = 8e8; // multiplications to which the scores of all heads are limited: a second of a laptop
const FEWEST_ROWS = 64;
const MOST_ROWS_OF_A_HEAD = 1024;

export const MEASURES = {
  rows_asked: async (_, { report }) => {
    const { all, measured } = await report();
    return all.length * measured;
  },
  async sampling_note(_, { report, grid }) {
    const [{ measured }, patches] = [await report(), grid[0] * grid[1]];
    return measured < patches ? ` Measured on the rows of ${measured} of ${patches} patches.` : "";
  },
  differing: async (_, { report }) => 100 * meanOf((await report()).all.map(({ differing }) => differing)),
  mean_distance: async ({ layer }, { report }) => {
    const headsOfLayer = (await report()).all.filter((head) => head.layer === layer);
    return meanOf(headsOfLayer.map(({ distance }) => distance));
  },
  agreeing: async ({ which, what: quantity }, { report }) => agreeingHead(await report(), which)[quantity],
  agreeing_percent: async (_, { report }) => 100 * agreeingHead(await report(), "most").share,
  all_heads: async (_, { report }) => (await report()).all.length,
  locked_heads: async (_, { report }) => (await report()).all.filter((head) => shareOf(head) > LOCKED_SHARE).length,
  async agreed_place(_, subject) {
    const { pack, token } = await agreedToken(subject);
    if (token < pack.prefixCount) return pack.prefix.join(" and ");
    const patch = token - pack.prefixCount;
    return `one patch, at (${Math.floor(patch / pack.columns)}, ${patch % pack.columns})`;
  },
  // The length of the key of the place of the head that agrees most, divided by the median length of the patches' keys.
  async key_length(_, subject) {
    const { pack, layer, head, token } = await agreedToken(subject);
    const { tokens, dim, prefixCount, patches } = pack;
    const { k } = layerOf(pack, layer);
    const lengthOf = (key) => Math.hypot(...k.subarray((head * tokens + key) * dim, (head * tokens + key + 1) * dim));
    const lengths = Float64Array.from({ length: patches }, (_, patch) => lengthOf(prefixCount + patch)).sort();
    return lengthOf(token) / lengths[Math.floor((patches - 1) / 2)]; // of two middle values the lower, as in torch
  },
  // The length of what that place carries, divided by the median of all tokens. Less than 1: the head rests where
  // little is handed over. More: it sends one vector to everybody.
  async carried(_, subject) {
    const { pack, layer, head, token } = await agreedToken(subject);
    return carriedBy(layerOf(pack, layer).norms.subarray(head * pack.tokens, (head + 1) * pack.tokens), token);
  },
  even_share: async (_, { report }) => 1 / (await report()).tokens,
  even_end: async (_, { report }) => 100 / (await report()).tokens + 1, // per cent: a guess up to it is an even row's
  // About the standard deviation of a row's scaled scores. "first" or "last": the largest of the heads in that layer;
  // "least" or "most": the smallest or largest of all heads; "layer" or "head": of the head with the largest.
  async spread_of_scores({ what: quantity }, subject) {
    const { all } = await subject.report();
    const spreads = all.map(({ deviation }) => deviation);
    const [least, most, widest] = [Math.min(...spreads), Math.max(...spreads), await widestOf(subject)];
    const { layer, head } = all[spreads.indexOf(most)];
    return { layer, head, least, most, first: widest[0], last: widest.at(-1) }[quantity];
  },
  even_distance: (_, { grid }) => evenDistance(...grid),
  longer_side: (_, { grid }) => Math.max(...grid),
  layers_needed: ({ kernel }, { grid }) => Math.ceil((Math.max(...grid) - 1) / Math.floor(kernel / 2)),
  // Of the row to guess: in the head that is asked for, or else in the head that gives most to far patches.
  far_layer: async (given, subject) => (await farHead(given, subject)).layer,
  far_head: async (given, subject) => (await farHead(given, subject)).head,
  far_share: async (given, subject) => brightestShare(await farRow(given, subject)),
  far_peak: async (given, subject) => Math.max(...(await farRow(given, subject))),
};

const meanOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

// ------------------------------------------------------------------------------------------------ rows of all heads

// The patches whose rows are measured: all, or in a large grid some on a lattice.
export function measuredPatches({ layers, heads, tokens, dim, rows, columns, patches }) {
  const affordable = Math.max(FEWEST_ROWS, MOST_PRODUCTS / (layers * heads * tokens * dim));
  return spreadPatches(rows, columns, patches / Math.ceil(Math.sqrt(patches / affordable)) ** 2);
}

// A promise of {tokens, measured: the number of rows of a head that are measured, all: the numbers of all heads of
// layer 0, then of layer 1, …, means over these rows}, as head_report in playground/analysis/heads.py gives them. Each
// head: {layer, head, entropy, peak: the largest weight, deviation: of the scaled scores, distance: how many patches
// away the attended patches lie, differing: the share of rows in which the patch with the largest weight is not the
// patch that adds the longest vector, to_one: the largest share of one patch in the mean row, to_class, to_registers,
// far: what `query` gives to a few far patches beyond what all patches give them}.
/** @param {Pack} pack */
export async function measureHeads(pack, scale, query) {
  const { layers, heads, rows, columns } = pack;
  const queries = measuredPatches(pack);
  const distances = Float32Array.from({ length: rows * columns }, (_, n) =>
    Math.hypot(Math.floor(n / columns), n % columns),
  );
  const all = [];
  for (let layer = 0; layer < layers; layer++) {
    await new Promise((resolve) => setTimeout(resolve)); // the page answers meanwhile
    for (let head = 0; head < heads; head++)
      all.push({ layer, head, ...measureHead(pack, scale, layer, head, { queries, distances, query }) });
  }
  return { tokens: pack.tokens, measured: queries.length, all };
}

/** @param {Pack} pack */
function measureHead(pack, scale, layer, head, { queries, distances, query: firstQuery }) {
  const { columns, prefixCount, tokens, prefix } = pack;
  const { norms } = layerOf(pack, layer);
  const [row, mean] = [new Float32Array(tokens), new Float64Array(tokens)];
  const sums = { entropy: 0, peak: 0, deviation: 0, distance: 0, differing: 0 };
  for (const query of queries) {
    const largest = scoresInto(row, 0, pack, layer, head, prefixCount + query, scale);
    sums.deviation += deviationOf(row);
    sums.entropy += softmaxInPlace(row, 0, tokens, largest);
    const [y, x] = [Math.floor(query / columns), query % columns];
    let [heaviest, longest, weighted, total, peak] = [prefixCount, prefixCount, 0, 0, 0];
    for (let j = 0; j < tokens; j++) {
      const weight = row[j];
      mean[j] += weight / queries.length;
      if (weight > peak) peak = weight;
      if (j < prefixCount) continue;
      if (weight > row[heaviest]) heaviest = j;
      if (norms && weight * norms[head * tokens + j] > row[longest] * norms[head * tokens + longest]) longest = j;
      const place = j - prefixCount;
      const [down, right] = [Math.abs(Math.floor(place / columns) - y), Math.abs((place % columns) - x)];
      weighted += weight * distances[down * columns + right];
      total += weight;
    }
    sums.peak += peak;
    sums.distance += weighted / Math.max(total, 1e-9);
    if (heaviest !== longest) sums.differing += 1;
  }
  const registers = prefix.filter((name) => name.startsWith("reg")).length;
  const share = (from, to) => sumOf(mean, from, to);
  rowInto(row, 0, pack, layer, head, prefixCount + firstQuery, scale);
  return {
    ...Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / queries.length])),
    to_one: Math.max(...mean.subarray(prefixCount)),
    to_class: share(0, prefixCount - registers),
    to_registers: share(prefixCount - registers, prefixCount),
    far: farSurplus(pack, row, mean, firstQuery),
  };
}

// The sum of a row's weights on a few far patches, after the mean row of all patches is subtracted. The subtraction
// excludes heads whose rows are all alike.
function farSurplus({ rows, columns, patches, prefixCount }, row, mean, query) {
  const isFar = (patch) => patchDistance(patch, query, columns) > MOST_NEAR_DISTANCE;
  const surplus = Float32Array.from({ length: patches }, (_, patch) =>
    isFar(patch) ? Math.max(0, row[prefixCount + patch] - mean[prefixCount + patch]) : 0,
  );
  return sumOf(surplus.sort(), patches - Math.max(1, Math.floor((rows * columns) / 20)), patches);
}

function deviationOf(row) {
  let [sum, squares] = [0, 0];
  for (const score of row) sum += score;
  for (const score of row) squares += (score - sum / row.length) ** 2;
  return Math.sqrt(squares / row.length);
}

const shareOf = ({ to_one: toOne, to_class: toClass, to_registers: toRegisters }) =>
  Math.max(toOne, toClass + toRegisters);

// All heads with `share`, that of one place, the largest first.
export const byShare = ({ all }) =>
  all.map((head) => ({ ...head, share: shareOf(head) })).sort((a, b) => b.share - a.share);

export const agreeingHead = (report, which) => byShare(report).at(which === "most" ? 0 : -1);

// In the head that agrees most, the patch with the largest weight, or the prefix token if the prefix gets more.
async function agreedToken({ report, packOf }) {
  const { layer, head, to_one: toOne, share } = agreeingHead(await report(), "most");
  const pack = await packOf(layer);
  const mean = meanRow(pack, layer, head);
  const [from, to] = toOne >= share ? [pack.prefixCount, pack.tokens] : [0, pack.prefixCount];
  return { pack, layer, head, token: largestIndex(mean, from, to) };
}

// The mean of a head's rows: (tokens,)
/** @param {Pack} pack */
export function meanRow(pack, layer, head) {
  const queries = spreadPatches(pack.rows, pack.columns, Math.min(pack.patches, MOST_ROWS_OF_A_HEAD));
  const [row, mean] = [new Float32Array(pack.tokens), new Float32Array(pack.tokens)];
  for (const query of queries) {
    rowInto(row, 0, pack, layer, head, pack.prefixCount + query, pack.scale);
    for (let j = 0; j < row.length; j++) mean[j] += row[j] / queries.length;
  }
  return mean;
}

// For each layer, the widest spread of scores among its heads.
export async function widestOf({ report }) {
  const widest = [];
  for (const { layer, deviation } of (await report()).all) widest[layer] = Math.max(widest[layer] ?? 0, deviation);
  return widest;
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

async function farHead({ layer, head }, { report }) {
  if (layer !== undefined) return { layer, head };
  return (await report()).all.reduce((best, other) => (other.far > best.far ? other : best));
}

// The query's row in that head, without prefix tokens: (patches,)
export async function farRow(given, subject) {
  const { layer, head } = await farHead(given, subject);
  const pack = await subject.packOf(layer);
  return rowOf(pack, layer, head, pack.prefixCount + subject.query).subarray(pack.prefixCount);
}

// The share of the brightest 2 % of patches in the row's weight on all patches.
function brightestShare(row) {
  const sorted = Float32Array.from(row).sort().reverse();
  return sumOf(sorted, 0, Math.max(1, Math.floor(row.length / 50))) / sumOf(sorted, 0, row.length);
}

// ------------------------------------------------------------------------------------------------------------- words

const BLANK = /\{(\w+)(?::([^}]*))?\}/g; // such as {share:%}

// Writes a number as Python does in the formats "", "," and ".2f"; "%" stands for `percent`, our rule for shares.
function formatNumber(number, style) {
  if (typeof number === "string") return number;
  if (style === "%") return percent(number);
  const [, digits] = /^,?(?:\.(\d)f)?$/.exec(style);
  const text = digits === undefined ? String(number) : number.toFixed(Number(digits));
  const [integerPart, fraction] = text.split(".");
  const groupedDigits = style.startsWith(",") ? integerPart.replace(/\B(?=(\d{3})+$)/g, ",") : integerPart;
  return groupedDigits + (fraction === undefined ? "" : `.${fraction}`);
}

// Fills a text's blanks. Braces without a value stay: a model's name may have some.
export const filledWords = ({ text, ...values }) =>
  text.replace(BLANK, (match, name, style = "") => (name in values ? formatNumber(values[name], style) : match));
