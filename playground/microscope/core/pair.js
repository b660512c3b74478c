// One weight from its beginnings: what the query gives this token, step by step, from the numbers of q and k to the
// share.

import { layerOf, rowInto } from "./core.js";

// {q, k, products: dim numbers each, dot: q·k, score: dot × scale, exponential: e^(score − the row's largest score),
//  total: the sum of all tokens' exponentials, weight, rank: 1 for the largest of the row, of: tokens}
export function pairOf(pack, layer, head, query, key, scale) {
  const stored = layerOf(pack, layer);
  const { dim, tokens } = pack;
  const vector = (values, token) => values.slice((head * tokens + token) * dim, (head * tokens + token + 1) * dim);
  const q = vector(stored.q, query),
    k = vector(stored.k, key);
  const products = q.map((x, i) => x * k[i]);
  const dot = dotOf(stored, head, query, key, pack);
  let largest = -Infinity;
  for (let j = 0; j < tokens; j++) largest = Math.max(largest, dotOf(stored, head, query, j, pack) * scale);
  let total = 0;
  for (let j = 0; j < tokens; j++) total += Math.exp(dotOf(stored, head, query, j, pack) * scale - largest);
  const score = dot * scale;
  const exponential = Math.exp(score - largest);
  const row = new Float32Array(tokens);
  rowInto(row, 0, pack, layer, head, query, scale);
  return {
    q,
    k,
    products,
    dot,
    score,
    largest,
    exponential,
    total,
    weight: exponential / total,
    rank: rankOf(row, key),
    of: tokens,
  };
}

function dotOf({ q, k }, head, query, key, { dim, tokens }) {
  const qAt = (head * tokens + query) * dim,
    kAt = (head * tokens + key) * dim;
  let sum = 0;
  for (let x = 0; x < dim; x++) sum += q[qAt + x] * k[kAt + x];
  return sum;
}

// scale · q·k of one pair.
export const scoreOf = (pack, layer, head, query, key, scale) =>
  dotOf(layerOf(pack, layer), head, query, key, pack) * scale;

// 1 for the largest; equal ones share the better place.
export function rankOf(row, token, at = 0, count = row.length - at) {
  let rank = 1;
  for (let j = at; j < at + count; j++) if (row[j] > row[at + token]) rank++;
  return rank;
}
