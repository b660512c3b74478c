// The nine steps of random tokens through a layer with random parameters, for any sizes. The layer is vit.py's Block if
// input and output are equally wide, else the teaching layer of lessons/walk.py, whose skip carries V.
// tests/lessons/test_walk_numbers.py holds both against PyTorch.

const MOST_ROWS = 64; // of more than WHOLE_ROWS tokens, as lessons/walk.py cuts a picture's
const WHOLE_ROWS = 100;
const MOST_COLUMNS = 768; // of all heads together
const MOST_HEADS = 12;
const MOST_BILLIONS = 2; // of multiplications: about two seconds
const EPS = 1e-6; // of LayerNorm

// {batch, tokens, dim, chan, heads} → the numbers in the steps' sentences
export function namedNumbers(sizes) {
  const d_k = sizes.chan / sizes.heads;
  return { ...sizes, width: sizes.chan, d_k, qkv: 3 * sizes.chan, scale: Number((d_k ** -0.5).toPrecision(3)) };
}

// Why these sizes are impossible, and which are possible; "" if they are possible.
export function whyNot(sizes) {
  if (sizes.chan % sizes.heads) return uneven(sizes);
  const billions = productsOf(sizes) / 1e9;
  if (billions <= MOST_BILLIONS) return "";
  return (
    `That takes ${billions.toFixed(1)} billion multiplications; at most ${MOST_BILLIONS} billion are done here. ` +
    "Take fewer tokens or a smaller width."
  );
}

function uneven({ chan, heads }) {
  const over = chan % heads;
  const below = chan - over;
  const widths = below ? `a width of ${below} or ${below + heads}` : `a width of ${heads}`;
  const divisors = Array.from({ length: chan }, (_, i) => i + 1).filter((n) => chan % n === 0);
  const near = [divisors.findLast((n) => n < heads), divisors.find((n) => n > heads)].filter(Boolean);
  return (
    `${chan} columns can't be shared out evenly among ${heads} heads: ${over} left over. Possible are ${widths}, or ` +
    `${near.join(" or ")} head${near.at(-1) > 1 ? "s" : ""}.`
  );
}

// Of the matrices in layerSteps
function productsOf({ tokens, dim, chan }) {
  const rows = rowsShown(tokens);
  return (rows + 2 * tokens) * dim * chan + 2 * rows * tokens * chan + rows * chan * chan;
}

// The same numbers for the same sizes. Queries, keys and values have about the variance of the tokens.
export function randomLayer({ tokens, dim, chan }) {
  const random = uniform(1);
  return {
    x: normals(tokens * dim, 1, random), // (tokens, dim)
    qkv: normals(3 * chan * dim, dim ** -0.5, random), // (3 · chan, dim)
    proj: normals(chan * chan, chan ** -0.5, random), // (chan, chan)
  };
}

// mulberry32: even numbers between 0 and 1
function uniform(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// Box and Muller's way from two even numbers to two normal ones
function normals(count, deviation, random) {
  const out = new Float32Array(count);
  for (let i = 0; i < count; i += 2) {
    const length = deviation * Math.sqrt(-2 * Math.log(1 - random()));
    const angle = 2 * Math.PI * random();
    out[i] = length * Math.cos(angle);
    if (i + 1 < count) out[i + 1] = length * Math.sin(angle);
  }
  return out;
}

export const rowsShown = (tokens) => (tokens <= WHOLE_ROWS ? tokens : MOST_ROWS);

// All tensors of the walk by their names, of the tokens that are shown; K and V are those of all tokens, for each query
// meets every key. The heads of Q, K and V lie side by side.
export function layerSteps({ tokens, dim, chan, heads }, { x, qkv, proj }) {
  const rows = rowsShown(tokens);
  const read = dim === chan ? normalised(x, dim) : x; // (tokens, dim)
  const [W_Q, W_K, W_V] = [0, 1, 2].map((n) => qkv.subarray(n * chan * dim, (n + 1) * chan * dim)); // (chan, dim) each
  const Q = timesTransposed(read.subarray(0, rows * dim), W_Q, dim); // (rows, chan)
  const [K, V] = [W_K, W_V].map((matrix) => timesTransposed(read, matrix, dim)); // (tokens, chan) each
  const d_k = chan / heads;
  const scores = new Float32Array(heads * rows * tokens); // (heads, rows, tokens)
  const weights = new Float32Array(scores.length);
  const mixed = new Float32Array(rows * chan);
  for (let head = 0; head < heads; head++) {
    const from = head * d_k;
    for (let i = 0; i < rows; i++) {
      const at = (head * rows + i) * tokens;
      for (let j = 0; j < tokens; j++) {
        let sum = 0;
        for (let c = from; c < from + d_k; c++) sum += Q[i * chan + c] * K[j * chan + c];
        scores[at + j] = sum / Math.sqrt(d_k);
      }
      const row = softmax(scores.subarray(at, at + tokens));
      weights.set(row, at);
      for (let j = 0; j < tokens; j++)
        for (let c = from; c < from + d_k; c++) mixed[i * chan + c] += row[j] * V[j * chan + c];
    }
  }
  const answer = timesTransposed(mixed, proj, chan); // (rows, chan)
  const carried = dim === chan ? x : V;
  const sum = answer.map((number, i) => carried[i] + number); // (rows, chan)
  return { x, Q, K, V, scores, weights, "A V": mixed, heads: mixed, answer, sum };
}

// a: (n, width), b: (m, width) → a bᵀ: (n, m).
function timesTransposed(a, b, width) {
  const [n, m] = [a.length / width, b.length / width];
  const out = new Float32Array(n * m);
  for (let j = 0; j < m; j++)
    for (let i = 0; i < n; i++) {
      let sum = 0;
      for (let c = 0; c < width; c++) sum += a[i * width + c] * b[j * width + c];
      out[i * m + j] = sum;
    }
  return out;
}

// LayerNorm with its first gain and shift, 1 and 0
function normalised(x, width) {
  const out = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += width) {
    const row = x.subarray(at, at + width);
    const mean = row.reduce((sum, number) => sum + number, 0) / width;
    const variance = row.reduce((sum, number) => sum + (number - mean) ** 2, 0) / width;
    out.set(
      row.map((number) => (number - mean) / Math.sqrt(variance + EPS)),
      at,
    );
  }
  return out;
}

function softmax(scores) {
  const largest = scores.reduce((most, score) => Math.max(most, score));
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((all, power) => all + power, 0);
  return powers.map((power) => power / sum);
}

// What steps.js draws: {numbers, tokens, steps, values(section)}. `says`: {vit, teaching}, the words of the nine steps.
export function walkOfNumbers(sizes, says) {
  const numbers = namedNumbers(sizes);
  const random = layerSteps(sizes, randomLayer(sizes));
  const rows = rowsShown(sizes.tokens);
  const sections = new Map();
  const steps = (sizes.dim === sizes.chan ? says.vit : says.teaching).map((step, n) => {
    const shape = step.axes.map((axis) => numbers[axis]);
    const groups = step.groups.map((group) => {
      const shown = shownOf(random[group.name], step, shape.at(-1), sizes.heads, rows);
      sections.set(`${n}-${group.name}`, shown.values);
      const { panels, columns } = shown;
      return { ...group, section: `${n}-${group.name}`, panels, rows, columns };
    });
    const all = groups.map(({ section }) => sections.get(section));
    return { ...step, shape, groups, ...rangeOf(all, step.groups[0].role === "weight") };
  });
  const tokens = Array.from({ length: rows }, (_, i) => `token ${i}`);
  return { numbers, tokens, steps, values: (section) => sections.get(section) };
}

// (panels, rows, columns) of a tensor: a panel for each head where a step has heads. `width`: of its last axis.
function shownOf(tensor, { axes, joined }, width, heads, rows) {
  const square = axes.at(-1) === "tokens";
  const apart = joined || axes.includes("heads");
  const panels = apart ? Math.min(heads, MOST_HEADS) : 1;
  const long = joined ? width / heads : width; // of one head's row
  const columns = square ? rows : Math.min(long, Math.floor(MOST_COLUMNS / panels));
  const values = new Float32Array(panels * rows * columns);
  for (let panel = 0; panel < panels; panel++)
    for (let row = 0; row < rows; row++) {
      const at = square ? (panel * rows + row) * width : row * long * (apart ? heads : 1) + panel * long;
      values.set(tensor.subarray(at, at + columns), (panel * rows + row) * columns);
    }
  return { values, panels, columns };
}

// The smallest and the largest number, and where the colours end: at the 99th percentile, because one outlier would
// make everything else pale; those of weights at the largest.
function rangeOf(all, areWeights) {
  const sizes = Float32Array.from(all.flatMap((values) => [...values]));
  const [low, high] = [Math.min, Math.max].map((pick) => sizes.reduce((most, number) => pick(most, number)));
  const ordered = sizes.map(Math.abs).sort();
  return { low, high, end: (areWeights ? high : ordered[Math.floor(0.99 * (ordered.length - 1))]) || 1 };
}
