// Describes what each head does on average over the rows of all patches, by the rules of playground/analysis/heads.py;
// tests/analysis/test_habits_in_javascript.py compares the two. No DOM.

import { entropyBits, rowsInto } from "./core.js";

const REACH = 3; // patches: the largest offset of the pattern around the query
const OFFSETS_PER_SIDE = 2 * REACH + 1;
const LEAST_DIVISOR = 1e-9; // smaller divisors are replaced by this number, against division by 0
const LEAST_COLOUR_DISTANCE = 1e-6;

// The distances between all patches' mean colours, (patches × patches). colours: (patches × 3).
export function colourDistancesOf(colours) {
  const patches = colours.length / 3;
  const colourDistances = new Float32Array(patches * patches);
  for (let i = 0; i < patches; i++)
    for (let j = 0; j < patches; j++) {
      const [r, g, b] = [0, 1, 2].map((c) => colours[3 * i + c] - colours[3 * j + c]);
      colourDistances[i * patches + j] = Math.hypot(r, g, b);
    }
  return colourDistances;
}

// A head's numbers, as `Head` in heads.py. colourDistances: from colourDistancesOf. `effect` is NaN if the pack lacks
// the lengths that heads add. All patches' rows are measured here; heads.py takes a sample on large grids.
export function headMeasures(pack, colourDistances, layer, head) {
  const { rows: gridRows, columns: gridColumns, patches, prefixCount, tokens, prefix } = pack;
  const registers = prefix.filter((name) => name.startsWith("reg")).length;
  const patchTokens = Array.from({ length: patches }, (_, patch) => prefixCount + patch);
  const rows = rowsInto(new Float32Array(patches * tokens), pack, layer, head, patchTokens, pack.scale);
  const mean = new Float64Array(tokens);
  let [entropySum, breadthSum, distanceSum, selfSum, nearSum] = [0, 0, 0, 0, 0];
  for (let i = 0; i < patches; i++) {
    const offset = i * tokens;
    const bits = entropyBits(rows, offset, tokens);
    entropySum += bits;
    breadthSum += 2 ** bits / tokens;
    for (let j = 0; j < tokens; j++) mean[j] += rows[offset + j] / patches;
    let [distances, total] = [0, 0];
    for (let j = 0; j < patches; j++) {
      const gap = Math.hypot(
        Math.floor(j / gridColumns) - Math.floor(i / gridColumns),
        (j % gridColumns) - (i % gridColumns),
      );
      const weight = rows[offset + prefixCount + j];
      distances += weight * gap;
      total += weight;
      if (gap > 0 && gap < 2) nearSum += weight;
    }
    distanceSum += distances / Math.max(total, LEAST_DIVISOR);
    selfSum += rows[offset + prefixCount + i];
  }
  const share = (from, to) => mean.subarray(from, to).reduce((sum, weight) => sum + weight, 0);
  const pattern = patternOf(rows, pack);
  return {
    entropy: entropySum / patches,
    breadth: breadthSum / patches,
    distance: distanceSum / patches,
    to_self: selfSum / patches,
    to_class: share(0, prefixCount - registers),
    to_registers: share(prefixCount - registers, prefixCount),
    to_one: Math.max(...mean.subarray(prefixCount)),
    near: nearSum / patches,
    ...contentAndColour(rows, pattern, pack, colourDistances),
    effect: effectOf(pack, layer, head),
    offsets: nearPatternOf(pattern, gridRows, gridColumns),
    mean,
  };
}

// The length of the vectors that a head adds to tokens, divided by the mean over its layer's heads.
function effectOf({ header: { adds, held } }, layer, head) {
  if (!adds) return Number.NaN;
  const lengths = adds[held.indexOf(layer)];
  return lengths[head] / Math.max(lengths.reduce((sum, length) => sum + length, 0) / lengths.length, LEAST_DIVISOR);
}

// The index of the offset from patch i to patch j.
function pairIndex(i, j, rows, columns) {
  const [down, right] = [Math.floor(j / columns) - Math.floor(i / columns), (j % columns) - (i % columns)];
  return offsetIndex(down, right, rows, columns);
}

const offsetIndex = (down, right, rows, columns) => (down + rows - 1) * (2 * columns - 1) + right + columns - 1;

// The mean weight at each offset from the query, over the patches that have a neighbour there: {mean, counts: the
// number of such patches}.
function patternOf(weights, { rows, columns, patches, prefixCount, tokens }) {
  const mean = new Float64Array((2 * rows - 1) * (2 * columns - 1));
  const counts = new Float64Array(mean.length);
  for (let i = 0; i < patches; i++)
    for (let j = 0; j < patches; j++) {
      const index = pairIndex(i, j, rows, columns);
      mean[index] += weights[i * tokens + prefixCount + j];
      counts[index]++;
    }
  for (let index = 0; index < mean.length; index++) mean[index] /= Math.max(counts[index], 1);
  return { mean, counts };
}

// The 7 × 7 pattern around the query; 0 where fewer than half of the patches have such a neighbour, because a mean of
// few weights is noise.
function nearPatternOf({ mean, counts }, rows, columns) {
  const nearPattern = new Array(OFFSETS_PER_SIDE * OFFSETS_PER_SIDE).fill(0);
  for (let down = -Math.min(REACH, rows - 1); down <= Math.min(REACH, rows - 1); down++)
    for (let right = -Math.min(REACH, columns - 1); right <= Math.min(REACH, columns - 1); right++) {
      const index = offsetIndex(down, right, rows, columns);
      if (2 * counts[index] >= rows * columns)
        nearPattern[(down + REACH) * OFFSETS_PER_SIDE + right + REACH] = mean[index];
    }
  return nearPattern;
}

// How far the rows differ from the mean pattern of offsets, and whether the differences follow colour. The patch itself
// is left out, and the remaining weights are scaled to sum to 1.
function contentAndColour(weights, pattern, { rows, columns, patches, prefixCount, tokens }, colourDistances) {
  let [contentSum, actualDistance, expectedDistance] = [0, 0, 0];
  for (let i = 0; i < patches; i++) {
    const expectedShare = (j) => (i === j ? 0 : pattern.mean[pairIndex(i, j, rows, columns)]);
    const share = (j) => (i === j ? 0 : weights[i * tokens + prefixCount + j]);
    let [total, expectedTotal] = [0, 0];
    for (let j = 0; j < patches; j++) {
      total += share(j);
      expectedTotal += expectedShare(j);
    }
    for (let j = 0; j < patches; j++) {
      const [actualWeight, expectedWeight] = [
        share(j) / Math.max(total, LEAST_DIVISOR),
        expectedShare(j) / Math.max(expectedTotal, LEAST_DIVISOR),
      ];
      contentSum += Math.abs(actualWeight - expectedWeight) / 2;
      actualDistance += actualWeight * colourDistances[i * patches + j];
      expectedDistance += expectedWeight * colourDistances[i * patches + j];
    }
  }
  return {
    content: contentSum / patches,
    colour: expectedDistance > LEAST_COLOUR_DISTANCE ? 1 - actualDistance / expectedDistance : 0,
  };
}

// The index of the head's habit in HABITS of heads.py.
export function habitOf(head) {
  const toPatches = 1 - head.to_self - head.to_class - head.to_registers;
  if (head.effect < 0.2) return IDLE;
  if (head.to_class + head.to_registers > 0.5) return PREFIX;
  if (head.to_one > 0.3) return ONE;
  if (head.to_self > 0.5) return ITSELF;
  if (strongestOffset(head).share > 0.3) return FIXED;
  if (head.content > 0.35 && head.colour > 0.2) return CONTENT;
  if (head.near > 0.5 * toPatches) return LOCAL;
  return head.breadth > 0.5 ? EVERYWHERE : MIXED;
}

const [CONTENT, FIXED, LOCAL, ITSELF, PREFIX, ONE, MIXED, EVERYWHERE, IDLE] = Array(9).keys();

// The offset with the largest share, apart from [0, 0], the patch itself: {offset: [down, right], share}.
function strongestOffset({ offsets }) {
  const otherShares = offsets.map((share, index) => (index === REACH * OFFSETS_PER_SIDE + REACH ? 0 : share));
  const largest = otherShares.indexOf(Math.max(...otherShares));
  return {
    offset: [Math.floor(largest / OFFSETS_PER_SIDE) - REACH, (largest % OFFSETS_PER_SIDE) - REACH],
    share: otherShares[largest],
  };
}

// The head's habit in words. habits: the list in heads.py, {label, short}.
export function habitWords(head, habits) {
  const habit = habitOf(head);
  const { label, short } = habits[habit];
  if (habit !== FIXED) return { long: label, short };
  const direction = directionOf(strongestOffset(head).offset);
  return { long: `${label}: ${direction}`, short: direction };
}

// [0, -1] is "left", [2, 1] is "2 down, right".
export function directionOf([down, right]) {
  const axes = [
    [down, "up", "down"],
    [right, "left", "right"],
  ];
  return axes
    .filter(([steps]) => steps)
    .map(
      ([steps, lessWord, moreWord]) =>
        `${Math.abs(steps) > 1 ? `${Math.abs(steps)} ` : ""}${steps > 0 ? moreWord : lessWord}`,
    )
    .join(", ");
}
