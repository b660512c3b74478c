// The numbers that lessons state about a trace, for a visitor's photograph where there is no Python. Each function has
// a twin of the same name in playground/lessons/measures.py. It takes a pack with all layers, and its arguments. No
// DOM in here.

import { layerOf, rowInto, rowsInto } from "./core.js";
import { patchFrom } from "./grid.js";
import { percent } from "./numbers.js";

const NOT_FAR = 3; // patches: what is nearer needs no guess; as REACH in analysis/heads.py
const CROWD_SEEN = 24; // patches, evenly spread, whose mean row stands for all rows

// The patch at which a visitor's photograph opens.
export const middleOf = ({ rows, columns }) => patchFrom("", rows, columns);

export const MEASURES = {
  differing: (pack) => 100 * kept(pack, "differing", differing),
  rows_asked: ({ patches, layers, heads }) => patches * layers * heads,
  distances: (pack) => kept(pack, "distances", distances),
  mean_distance: (pack, { layer }) =>
    meanOf(MEASURES.distances(pack).slice(layer * pack.heads, (layer + 1) * pack.heads)),
  even_distance: ({ rows, columns }) => evenDistance(rows, columns),
  patches: ({ patches }) => patches,
  longer_side: ({ rows, columns }) => Math.max(rows, columns),
  layers_needed: ({ rows, columns }, { kernel }) => Math.ceil((Math.max(rows, columns) - 1) / Math.floor(kernel / 2)),
  reaches: ({ rows, columns, layers }, { kernel }) =>
    Array.from({ length: layers }, (_, layer) =>
      Math.min(Math.max(rows, columns), Math.floor((1 + (layer + 1) * (kernel - 1)) / 2)),
    ),
  far_layer: (pack) => farLooking(pack)[0],
  far_head: (pack) => farLooking(pack)[1],
  far_share: (pack) => brightestShare(farRow(pack)),
  far_peak: (pack) => Math.max(...farRow(pack)),
};

// Each pack is measured once: several sentences state the same number.
const measuredOf = new WeakMap();
function kept(pack, name, measure) {
  if (!measuredOf.has(pack)) measuredOf.set(pack, {});
  const there = measuredOf.get(pack);
  there[name] ??= measure(pack);
  return there[name];
}

const meanOf = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

// ------------------------------------------------------------------------------------------------ rows of all heads

// Calls each(layer, head, rows) with the rows of all patches, (patches × tokens).
function eachHead(pack, each) {
  const { layers, heads, patches, prefixCount, tokens } = pack;
  const asking = Array.from({ length: patches }, (_, patch) => prefixCount + patch);
  const rows = new Float32Array(patches * tokens);
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) each(layer, head, rowsInto(rows, pack, layer, head, asking, pack.scale));
}

// The share of rows in which the patch with the largest weight is not the one that adds the longest vector.
function differing(pack) {
  const { layers, heads, patches, prefixCount, tokens } = pack;
  let found = 0;
  eachHead(pack, (layer, head, rows) => {
    const norms = layerOf(pack, layer).norms.subarray(head * tokens, (head + 1) * tokens);
    for (let at = 0; at < rows.length; at += tokens) {
      let [heaviest, longest] = [prefixCount, prefixCount];
      for (let j = prefixCount + 1; j < tokens; j++) {
        if (rows[at + j] > rows[at + heaviest]) heaviest = j;
        if (rows[at + j] * norms[j] > rows[at + longest] * norms[longest]) longest = j;
      }
      if (heaviest !== longest) found++;
    }
  });
  return found / (layers * heads * patches);
}

function distances(pack) {
  const { patches, columns, prefixCount, tokens } = pack;
  const found = [];
  eachHead(pack, (_layer, _head, rows) => {
    let all = 0;
    for (let i = 0; i < patches; i++) {
      const [y, x, at] = [Math.floor(i / columns), i % columns, i * tokens + prefixCount];
      let [away, given] = [0, 0];
      for (let j = 0; j < patches; j++) {
        away += rows[at + j] * Math.hypot(Math.floor(j / columns) - y, (j % columns) - x);
        given += rows[at + j];
      }
      all += away / Math.max(given, 1e-9);
    }
    found.push(all / patches);
  });
  return found;
}

// The mean distance under equal weights: each offset counts as often as there are pairs of patches with it.
function evenDistance(rows, columns) {
  let all = 0;
  for (let down = 1 - rows; down < rows; down++)
    for (let right = 1 - columns; right < columns; right++)
      all += (rows - Math.abs(down)) * (columns - Math.abs(right)) * Math.hypot(down, right);
  return all / (rows * columns) ** 2;
}

// ----------------------------------------------------------------------------------------- a row that is worth a guess

// [layer, head]: see far_looking in playground/analysis/heads.py.
const farLooking = (pack) => kept(pack, "far", searchFar);

function searchFar(pack) {
  const { layers, heads, rows, columns, patches, prefixCount, tokens } = pack;
  const query = middleOf(pack);
  const [y, x] = [Math.floor(query / columns), query % columns];
  const isFar = (patch) =>
    Math.max(Math.abs(Math.floor(patch / columns) - y), Math.abs((patch % columns) - x)) > NOT_FAR;
  const few = Math.max(1, Math.floor((rows * columns) / 20));
  const step = Math.ceil(patches / CROWD_SEEN);
  const asking = Array.from({ length: Math.ceil(patches / step) }, (_, i) => prefixCount + i * step);
  const crowd = new Float32Array(asking.length * tokens);
  const row = new Float32Array(tokens);
  let best = { share: -1, at: [0, 0] };
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      rowsInto(crowd, pack, layer, head, asking, pack.scale);
      rowInto(row, 0, pack, layer, head, prefixCount + query, pack.scale);
      const more = new Float32Array(patches); // than other patches give
      for (let patch = 0; patch < patches; patch++) {
        if (!isFar(patch)) continue;
        let others = 0;
        for (let i = 0; i < asking.length; i++) others += crowd[i * tokens + prefixCount + patch];
        more[patch] = Math.max(0, row[prefixCount + patch] - others / asking.length);
      }
      const share = more
        .sort()
        .subarray(patches - few)
        .reduce((sum, one) => sum + one, 0);
      if (share > best.share) best = { share, at: [layer, head] };
    }
  return best.at;
}

// (patches,): what the patch in the middle gives to each.
export const farRow = (pack) =>
  kept(pack, "far row", () => {
    const row = new Float32Array(pack.tokens);
    rowInto(row, 0, pack, ...farLooking(pack), pack.prefixCount + middleOf(pack), pack.scale);
    return row.subarray(pack.prefixCount);
  });

// The share of the row that its brightest 2 % of patches hold.
function brightestShare(row) {
  const sorted = Float32Array.from(row).sort().reverse();
  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
  return sum(sorted.subarray(0, Math.max(1, Math.floor(row.length / 50)))) / sum(sorted);
}

// ------------------------------------------------------------------------------------------------------------- words

const BLANKS = /\{(\w+)(?::([^}]*))?\}/g; // such as {share:%}

// A number by Python's format: "", ",", ".2f"; "%" writes a share by our rule.
export function written(number, how) {
  if (how === "%") return percent(number);
  const [, digits] = /^,?(?:\.(\d)f)?$/.exec(how);
  const commas = how.startsWith(",");
  const text = digits === undefined ? String(number) : number.toFixed(Number(digits));
  const [whole, rest] = text.split(".");
  const grouped = commas ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return grouped + (rest === undefined ? "" : `.${rest}`);
}

// `values`: {name: {measure, …, says: the sample's value}}. Without a pack the sentence is the sample's.
export function wordsOf({ text, values }, pack = null) {
  if (!values) return text;
  const textOf = (value, how) => (pack ? written(measureOf(value, pack), how) : value.says);
  return text.replace(BLANKS, (blank, name, how = "") => (name in values ? textOf(values[name], how) : blank));
}

export const measureOf = ({ measure, ...given }, pack) => MEASURES[measure](pack, given);
