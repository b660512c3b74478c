// What each head does on average over the rows of all patches: the same numbers and rules as in
// playground/analysis/heads.py; tests/analysis/test_habits_in_javascript.py compares the two. No DOM in here.

import { entropyBits, rowsInto } from "./core.js";

const REACH = 3; // patches: offsets up to this distance are searched
const WIDE = 2 * REACH + 1;
const LEAST = 1e-9; // least divisor
const LEAST_COLOUR = 1e-6;

// (patches × 3) mean colours → (patches × patches) how far apart they are.
export function apartIn(colours) {
  const patches = colours.length / 3;
  const apart = new Float32Array(patches * patches);
  for (let i = 0; i < patches; i++)
    for (let j = 0; j < patches; j++) {
      const [r, g, b] = [0, 1, 2].map((c) => colours[3 * i + c] - colours[3 * j + c]);
      apart[i * patches + j] = Math.hypot(r, g, b);
    }
  return apart;
}

// A head's numbers, as Head in heads.py. `apart`: of the patches' mean colours. `effect` is known where the pack says
// how much each head adds. The rows of all patches are measured: no grid here has as many as heads.py draws from.
export function headNumbers(pack, apart, layer, head) {
  const { rows: high, columns: wide, patches, prefixCount, tokens, prefix } = pack;
  const registers = prefix.filter((name) => name.startsWith("reg")).length;
  const asking = Array.from({ length: patches }, (_, patch) => prefixCount + patch);
  const rows = rowsInto(new Float32Array(patches * tokens), pack, layer, head, asking, pack.scale);
  const mean = new Float64Array(tokens);
  let [entropy, breadth, distance, toSelf, near] = [0, 0, 0, 0, 0];
  for (let i = 0; i < patches; i++) {
    const at = i * tokens;
    const bits = entropyBits(rows, at, tokens);
    entropy += bits;
    breadth += 2 ** bits / tokens;
    for (let j = 0; j < tokens; j++) mean[j] += rows[at + j] / patches;
    let [away, total] = [0, 0];
    for (let j = 0; j < patches; j++) {
      const far = Math.hypot(Math.floor(j / wide) - Math.floor(i / wide), (j % wide) - (i % wide));
      const weight = rows[at + prefixCount + j];
      away += weight * far;
      total += weight;
      if (far > 0 && far < 2) near += weight;
    }
    distance += away / Math.max(total, LEAST);
    toSelf += rows[at + prefixCount + i];
  }
  const share = (from, to) => mean.subarray(from, to).reduce((sum, one) => sum + one, 0);
  const pattern = patternOf(rows, pack);
  return {
    entropy: entropy / patches,
    breadth: breadth / patches,
    distance: distance / patches,
    to_self: toSelf / patches,
    to_class: share(0, prefixCount - registers),
    to_registers: share(prefixCount - registers, prefixCount),
    to_one: Math.max(...mean.subarray(prefixCount)),
    near: near / patches,
    ...lookingPast(rows, pattern, pack, apart),
    effect: effectOf(pack, layer, head),
    offsets: aroundOf(pattern, high, wide),
    mean,
  };
}

// How much a head adds to the tokens, relative to its layer's average head.
function effectOf({ header: { adds, held } }, layer, head) {
  if (!adds) return Number.NaN;
  const lengths = adds[held.indexOf(layer)];
  return lengths[head] / Math.max(lengths.reduce((sum, one) => sum + one, 0) / lengths.length, LEAST);
}

// The number of an offset from patch i to patch j.
function offsetOf(i, j, rows, columns) {
  const [down, right] = [Math.floor(j / columns) - Math.floor(i / columns), (j % columns) - (i % columns)];
  return placeOf(down, right, rows, columns);
}

const placeOf = (down, right, rows, columns) => (down + rows - 1) * (2 * columns - 1) + right + columns - 1;

// The mean weight at each offset, over the patches that have a patch there: {mean, asked}.
function patternOf(weights, { rows, columns, patches, prefixCount, tokens }) {
  const mean = new Float64Array((2 * rows - 1) * (2 * columns - 1));
  const counts = new Float64Array(mean.length);
  for (let i = 0; i < patches; i++)
    for (let j = 0; j < patches; j++) {
      const at = offsetOf(i, j, rows, columns);
      mean[at] += weights[i * tokens + prefixCount + j];
      counts[at]++;
    }
  for (let at = 0; at < mean.length; at++) mean[at] /= Math.max(counts[at], 1);
  return { mean, asked: counts };
}

// The pattern near the patch that asks, 7 × 7; a mean over less than half of the patches would be noise.
function aroundOf({ mean, asked }, rows, columns) {
  const around = new Array(WIDE * WIDE).fill(0);
  for (let down = -Math.min(REACH, rows - 1); down <= Math.min(REACH, rows - 1); down++)
    for (let right = -Math.min(REACH, columns - 1); right <= Math.min(REACH, columns - 1); right++) {
      const at = placeOf(down, right, rows, columns);
      if (2 * asked[at] >= rows * columns) around[(down + REACH) * WIDE + right + REACH] = mean[at];
    }
  return around;
}

// How far rows differ from what the pattern of offsets alone would give, and whether they then go by colour. A patch
// itself is left out, and what is left sums to 1.
function lookingPast(weights, pattern, { rows, columns, patches, prefixCount, tokens }, apart) {
  let [content, ours, usual] = [0, 0, 0];
  for (let i = 0; i < patches; i++) {
    const expected = (j) => (i === j ? 0 : pattern.mean[offsetOf(i, j, rows, columns)]);
    const share = (j) => (i === j ? 0 : weights[i * tokens + prefixCount + j]);
    let [all, allExpected] = [0, 0];
    for (let j = 0; j < patches; j++) {
      all += share(j);
      allExpected += expected(j);
    }
    for (let j = 0; j < patches; j++) {
      const [is, would] = [share(j) / Math.max(all, LEAST), expected(j) / Math.max(allExpected, LEAST)];
      content += Math.abs(is - would) / 2;
      ours += is * apart[i * patches + j];
      usual += would * apart[i * patches + j];
    }
  }
  return { content: content / patches, colour: usual > LEAST_COLOUR ? 1 - ours / usual : 0 };
}

// The index of its habit in HABITS of heads.py.
export function habitOf(head) {
  const elsewhere = 1 - head.to_self - head.to_class - head.to_registers;
  if (head.effect < 0.2) return IDLE;
  if (head.to_class + head.to_registers > 0.5) return PREFIX;
  if (head.to_one > 0.3) return ONE;
  if (head.to_self > 0.5) return ITSELF;
  if (farthestAhead(head).share > 0.3) return FIXED;
  if (head.content > 0.35 && head.colour > 0.2) return CONTENT;
  if (head.near > 0.5 * elsewhere) return LOCAL;
  return head.breadth > 0.5 ? EVERYWHERE : MIXED;
}

const [CONTENT, FIXED, LOCAL, ITSELF, PREFIX, ONE, MIXED, EVERYWHERE, IDLE] = Array(9).keys();

// {offset: [down, right], share} of the offset that gets most; the patch itself is left out.
function farthestAhead({ offsets }) {
  const others = offsets.map((share, at) => (at === REACH * WIDE + REACH ? 0 : share));
  const at = others.indexOf(Math.max(...others));
  return { offset: [Math.floor(at / WIDE) - REACH, (at % WIDE) - REACH], share: others[at] };
}

// Its habit in words: `habits` are those of heads.py, {label, short}.
export function habitWords(head, habits) {
  const place = habitOf(head);
  const { label, short } = habits[place];
  if (place !== FIXED) return { long: label, short };
  const way = directionOf(farthestAhead(head).offset);
  return { long: `${label}: ${way}`, short: way };
}

// [0, -1] is "left", [2, 1] is "2 down, right".
export function directionOf([down, right]) {
  const words = [
    [down, "up", "down"],
    [right, "left", "right"],
  ];
  return words
    .filter(([steps]) => steps)
    .map(([steps, less, more]) => `${Math.abs(steps) > 1 ? `${Math.abs(steps)} ` : ""}${steps > 0 ? more : less}`)
    .join(", ");
}
