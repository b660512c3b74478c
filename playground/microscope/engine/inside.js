// One token's way through one head, as in playground/analysis/inside.py: what W_Q reads, the values, and what is added
// to the token.

import { someColumns, someRows } from "./tensors.js";

// `passOf(at)`: the generator of a pass with this `at`, see vit.js. Returns {bias, number, arrays of floats}.
export function inside(vit, passOf, { layer, head, token }) {
  const { t, config, w } = vit;
  const { width: D, heads } = config;
  const d = D / heads;
  const copyOf = (x) => t.read(t.take(x)); // without the gaps of a part
  const tokenOf = (x) => copyOf(someRows(x, token, 1));
  const found = {};
  let number = 0; // the dimension in which the query is largest
  const keepers = {
    [layer ? `layers.${layer - 1}.residual` : "embedding"]: (x) => {
      found.entering = tokenOf(x);
      found.before = likenesses(t.read(x), token, D);
    },
    [`layers.${layer}.attention.queries`]: (x) => {
      const q = tokenOf(x).subarray(head * d, (head + 1) * d);
      number = q.reduce((best, value, i) => (Math.abs(value) > Math.abs(q[best]) ? i : best), 0);
    },
    [`layers.${layer}.attention.values`]: (x) => {
      found.values = copyOf(someColumns(x, head * d, d));
    },
    [`layers.${layer}.attention.heads`]: (x) => {
      const alone = new Float32Array(D); // the head's mixture, zeros in place of the others
      alone.set(tokenOf(x).subarray(head * d, (head + 1) * d), head * d);
      found.head = t.read(t.linear(t.put(alone, 1, D), w[`blocks.${layer}.attn.proj.weight`]));
    },
    [`layers.${layer}.attention`]: (x) => {
      found.attention = tokenOf(x);
    },
    [`layers.${layer}.residual`]: (x) => {
      found.leaving = tokenOf(x);
      found.after = likenesses(t.read(x), token, D);
    },
  };
  const layers = passOf((point, x) => {
    keepers[point]?.(x);
    return x;
  });
  while (layers.next().value.layer < layer);
  found.normed = t.read(vit.norm(t.put(found.entering, 1, D), `blocks.${layer}.norm1`));
  const identity = new Float32Array(D * D);
  for (let i = 0; i < D; i++) identity[i * D + i] = 1;
  const column = head * d + number;
  const name = `blocks.${layer}.attn.qkv`;
  found.reads = copyOf(someColumns(t.linear(t.put(identity, D, D), w[`${name}.weight`]), column, 1)); // a row of W_Q
  return { bias: t.read(w[`${name}.bias`])[column], number, arrays: found };
}

// The cosine of one token with every token.
function likenesses(x, token, D) {
  const one = x.subarray(token * D, (token + 1) * D);
  return Float32Array.from({ length: x.length / D }, (_, i) => {
    const other = x.subarray(i * D, (i + 1) * D);
    return other.reduce((sum, number, n) => sum + number * one[n], 0) / (Math.hypot(...one) * Math.hypot(...other));
  });
}
