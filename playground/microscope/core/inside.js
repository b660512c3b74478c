// One token's way through one head: what playground/analysis/inside.py and engine/inside.js collect, and what the story
// computes from it. No DOM.

import { decodeHalves, dot, openContainer } from "./core.js";
import { normals, uniform } from "./random.js";

/**
 * @typedef {{bias: number | null, number: number, entering: Float32Array, leaving: Float32Array, normed: Float32Array,
 *   reads: Float32Array, head: Float32Array, attention: Float32Array, values: Float32Array, before: Float32Array,
 *   after: Float32Array}} Inside
 */

/** @returns {Inside} */
export function openInside(bytes) {
  const { header, section } = openContainer(bytes);
  const arrays = Object.keys(header.sections).map((name) => [name, decodeHalves(section(name))]);
  return { bias: header.bias, number: header.number, ...Object.fromEntries(arrays) };
}

const dotProduct = (a, b) => dot(a, 0, b, 0, a.length);
const vectorLength = (x) => Math.hypot(...x);

// The largest products of a token's numbers with W_Q's row, [{at, x, w, product}], and the sum of all with the bias.
export function queryNumberOf({ normed, reads, bias }, count) {
  const products = normed.map((x, i) => x * reads[i]);
  const order = [...products.keys()].sort((a, b) => Math.abs(products[b]) - Math.abs(products[a]));
  const largest = order.slice(0, count).map((at) => ({ at, x: normed[at], w: reads[at], product: products[at] }));
  return { largest, count: products.length, sum: products.reduce((sum, x) => sum + x, bias ?? 0) };
}

// The values seen along their two largest directions: {places: [x, y] of each token, held: the share of the values'
// squared lengths that lies in the two}.
export function seenInTwo(values, tokens) {
  const d = values.length / tokens;
  const rowOf = (i) => values.subarray(i * d, (i + 1) * d);
  const gram = Array.from({ length: d }, () => new Float64Array(d)); // VᵀV
  for (let i = 0; i < tokens; i++) {
    const v = rowOf(i);
    for (let a = 0; a < d; a++) for (let b = 0; b < d; b++) gram[a][b] += v[a] * v[b];
  }
  const total = gram.reduce((sum, row, a) => sum + row[a], 0);
  const found = [largestDirection(gram)];
  const { direction: e, strength } = found[0];
  found.push(largestDirection(gram.map((row, a) => row.map((x, b) => x - strength * e[a] * e[b]))));
  return {
    places: Array.from({ length: tokens }, (_, i) => found.map(({ direction }) => dotProduct(rowOf(i), direction))),
    held: (found[0].strength + found[1].strength) / total,
  };
}

const ROUNDS = 300;

// The eigenvector of a symmetric matrix with the largest eigenvalue, by repeated multiplication.
function largestDirection(matrix) {
  let direction = Float64Array.from(matrix, (row, a) => row[a] + 1e-12 * (a + 1));
  let strength = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const next = Float64Array.from(matrix, (row) => dotProduct(row, direction));
    strength = vectorLength(next) / (vectorLength(direction) || 1);
    const length = vectorLength(next) || 1;
    direction = next.map((x) => x / length);
  }
  return { direction, strength };
}

// A mixture as arrows laid one after the other, [{token, share, from, to}]: the largest shares, then all others
// together (token −1). The last ends at the mixture.
export function arrowsOf(row, places, count) {
  const order = [...row.keys()].sort((a, b) => row[b] - row[a]);
  let from = [0, 0];
  const arrowTo = (token, share, [x, y]) => {
    const to = [from[0] + x, from[1] + y];
    const arrow = { token, share, from, to };
    from = to;
    return arrow;
  };
  const scaled = (token) => places[token].map((x) => row[token] * x);
  const single = order.slice(0, count).map((token) => arrowTo(token, row[token], scaled(token)));
  const others = order.slice(count);
  const rest = others.map(scaled).reduce(([a, b], [x, y]) => [a + x, b + y], [0, 0]);
  return [
    ...single,
    arrowTo(
      -1,
      others.reduce((sum, token) => sum + row[token], 0),
      rest,
    ),
  ];
}

// What the layer did to the token: lengths of what was added as shares of the token's length, the angle in degrees
// between the token before and after, and the token that it became more like than any other: {token, before, after}.
export function moveOf({ entering, leaving, head, attention, before, after }, tokenSelf) {
  const length = vectorLength(entering);
  const cosine = dotProduct(entering, leaving) / (length * vectorLength(leaving));
  const grew = (token) => after[token] - before[token];
  const others = [...after.keys()].filter((token) => token !== tokenSelf);
  const token = others.reduce((best, other) => (grew(other) > grew(best) ? other : best));
  return {
    byHead: vectorLength(head) / length,
    byAttention: vectorLength(attention) / length,
    angle: (Math.acos(Math.min(1, Math.max(-1, cosine))) * 180) / Math.PI,
    nearer: { token, before: before[token], after: after[token] },
  };
}

// The products of a score beside those of a query of random numbers of the same length, which cancel: for each the sum
// of the positive and of the negative ones, and how much is left: |sum| / sum of |product|.
export function cancelling(q, k) {
  const numbers = normals(q.length, 1, uniform(1));
  const scale = vectorLength(q) / vectorLength(numbers);
  return [q, numbers.map((x) => x * scale)].map((query) => {
    const products = Array.from(query, (x, i) => x * k[i]);
    const side = (sign) => products.reduce((sum, x) => sum + (sign * x > 0 ? x : 0), 0);
    const [positive, negative] = [side(1), side(-1)];
    return { products, positive, negative, left: Math.abs(positive + negative) / (positive - negative) };
  });
}
