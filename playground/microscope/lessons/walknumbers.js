// Computes the nine steps of random tokens through a layer with random parameters, for any sizes. If input and output
// are equally wide, the layer is Block of vit.py; otherwise it is the layer of lessons/walk.py, whose skip connection
// carries V. tests/lessons/test_walk_numbers.py compares both with PyTorch.

import { normals, uniform } from "../core/random.js";

const WHOLE_ROWS = 100; // a tensor with at most so many rows is shown whole, as in lessons/walk.py
const MOST_ROWS = 64; // rows shown of a larger tensor
const MOST_COLUMNS = 768; // shown columns of all heads together
const MOST_HEADS = 12;
const MOST_BILLIONS = 2; // the most multiplications, in billions, which take about two seconds
const EPS = 1e-6; // of LayerNorm

// The numbers in the steps' sentences, from {batch, tokens, dim, chan, heads}.
export function namedNumbers(sizes) {
  const d_k = sizes.chan / sizes.heads;
  return { ...sizes, width: sizes.chan, d_k, qkv: 3 * sizes.chan, scale: Number((d_k ** -0.5).toPrecision(3)) };
}

// A sentence that says why these sizes are impossible, and what to take instead; "" if there is no problem.
export function sizesProblem({ tokens, dim, chan, heads }) {
  const remainder = chan % heads;
  if (remainder)
    return (
      `${chan} columns can't be shared out evenly among ${heads} heads: ${remainder} left over. ` +
      `Take a width of ${chan + heads - remainder}.`
    );
  const billions = productCount({ tokens, dim, chan }) / 1e9;
  if (billions <= MOST_BILLIONS) return "";
  return (
    `That takes ${billions.toFixed(1)} billion multiplications; at most ${MOST_BILLIONS} billion are done here. ` +
    "Take fewer tokens or a smaller width."
  );
}

// The number of multiplications in layerSteps.
function productCount({ tokens, dim, chan }) {
  const rows = rowsShown(tokens);
  return (rows + 2 * tokens) * dim * chan + 2 * rows * tokens * chan + rows * chan * chan;
}

// Random tokens and parameters; equal sizes give equal numbers. Queries, keys and values have about the variance of the
// tokens.
export function randomLayer({ tokens, dim, chan }) {
  const random = uniform(1);
  return {
    x: normals(tokens * dim, 1, random), // (tokens, dim)
    qkv: normals(3 * chan * dim, dim ** -0.5, random), // (3 · chan, dim)
    proj: normals(chan * chan, chan ** -0.5, random), // (chan, chan)
  };
}

export const rowsShown = (tokens) => (tokens <= WHOLE_ROWS ? tokens : MOST_ROWS);

// Returns all tensors of the walk by name, with rows for the shown tokens only; but K and V have all tokens, because
// each query meets every key. The heads of Q, K and V are side by side.
export function layerSteps({ tokens, dim, chan, heads }, { x, qkv, proj }) {
  const rows = rowsShown(tokens);
  const input = dim === chan ? normalised(x, dim) : x; // (tokens, dim)
  const [W_Q, W_K, W_V] = [0, 1, 2].map((n) => qkv.subarray(n * chan * dim, (n + 1) * chan * dim)); // (chan, dim) each
  const Q = timesTransposed(input.subarray(0, rows * dim), W_Q, dim); // (rows, chan)
  const [K, V] = [W_K, W_V].map((matrix) => timesTransposed(input, matrix, dim)); // (tokens, chan) each
  const d_k = chan / heads;
  const scores = new Float32Array(heads * rows * tokens); // (heads, rows, tokens)
  const weights = new Float32Array(scores.length);
  const mixtures = new Float32Array(rows * chan);
  for (let head = 0; head < heads; head++) {
    const start = head * d_k;
    for (let i = 0; i < rows; i++) {
      const index = (head * rows + i) * tokens;
      for (let j = 0; j < tokens; j++) {
        let sum = 0;
        for (let c = start; c < start + d_k; c++) sum += Q[i * chan + c] * K[j * chan + c];
        scores[index + j] = sum / Math.sqrt(d_k);
      }
      const row = softmax(scores.subarray(index, index + tokens));
      weights.set(row, index);
      for (let j = 0; j < tokens; j++)
        for (let c = start; c < start + d_k; c++) mixtures[i * chan + c] += row[j] * V[j * chan + c];
    }
  }
  const answer = timesTransposed(mixtures, proj, chan); // (rows, chan)
  const residual = dim === chan ? x : V;
  const sum = answer.map((number, i) => residual[i] + number); // (rows, chan)
  return { x, Q, K, V, scores, weights, "A V": mixtures, heads: mixtures, answer, sum };
}

// a: (n, width), b: (m, width) → a bᵀ: (n, m).
function timesTransposed(a, b, width) {
  const [n, m] = [a.length / width, b.length / width];
  const product = new Float32Array(n * m);
  for (let j = 0; j < m; j++)
    for (let i = 0; i < n; i++) {
      let sum = 0;
      for (let c = 0; c < width; c++) sum += a[i * width + c] * b[j * width + c];
      product[i * m + j] = sum;
    }
  return product;
}

// LayerNorm with its initial gain and shift, 1 and 0
function normalised(x, width) {
  const normalRows = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += width) {
    const row = x.subarray(start, start + width);
    const mean = row.reduce((sum, number) => sum + number, 0) / width;
    const variance = row.reduce((sum, number) => sum + (number - mean) ** 2, 0) / width;
    normalRows.set(
      row.map((number) => (number - mean) / Math.sqrt(variance + EPS)),
      start,
    );
  }
  return normalRows;
}

function softmax(scores) {
  const largest = scores.reduce((maximum, score) => Math.max(maximum, score));
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

// The data that steps.js draws: {numbers, tokens, steps, values(section)}. `texts`: {vit, teaching}, the words of the
// nine steps.
export function walkOfNumbers(sizes, texts) {
  const numbers = namedNumbers(sizes);
  const tensors = layerSteps(sizes, randomLayer(sizes));
  const rows = rowsShown(sizes.tokens);
  const sections = new Map();
  const steps = (sizes.dim === sizes.chan ? texts.vit : texts.teaching).map((step, n) => {
    const shape = step.axes.map((axis) => numbers[axis]);
    const groups = step.groups.map((group) => {
      const panel = panelsOf(tensors[group.name], step, shape.at(-1), sizes.heads, rows);
      sections.set(`${n}-${group.name}`, panel.values);
      const { panels, columns } = panel;
      return { ...group, section: `${n}-${group.name}`, panels, rows, columns };
    });
    const values = groups.map(({ section }) => sections.get(section));
    return { ...step, shape, groups, ...rangeOf(values, step.groups[0].role === "weight") };
  });
  const tokens = Array.from({ length: rows }, (_, i) => `token ${i}`);
  return { numbers, tokens, steps, values: (section) => sections.get(section) };
}

// A tensor as (panels, rows, columns), with a panel for each head if the step has heads. width: the length of the last
// axis.
function panelsOf(tensor, { axes, joined: isJoined }, width, heads, rows) {
  const isSquare = axes.at(-1) === "tokens";
  const inPanels = isJoined || axes.includes("heads");
  const panels = inPanels ? Math.min(heads, MOST_HEADS) : 1;
  const headWidth = isJoined ? width / heads : width; // numbers in a row of one head
  const columns = isSquare ? rows : Math.min(headWidth, Math.floor(MOST_COLUMNS / panels));
  const values = new Float32Array(panels * rows * columns);
  for (let panel = 0; panel < panels; panel++)
    for (let row = 0; row < rows; row++) {
      const start = isSquare
        ? (panel * rows + row) * width
        : row * headWidth * (inPanels ? heads : 1) + panel * headWidth;
      values.set(tensor.subarray(start, start + columns), (panel * rows + row) * columns);
    }
  return { values, panels, columns };
}

// Returns the smallest and largest number, and the number with the full colour: the largest weight, or else the 99th
// percentile, because one outlier would make all other numbers pale.
function rangeOf(tensors, areWeights) {
  const numbers = Float32Array.from(tensors.flatMap((values) => [...values]));
  const [low, high] = [Math.min, Math.max].map((extreme) =>
    numbers.reduce((extremeSoFar, number) => extreme(extremeSoFar, number)),
  );
  const magnitudes = numbers.map(Math.abs).sort();
  return { low, high, end: (areWeights ? high : magnitudes[Math.floor(0.99 * (magnitudes.length - 1))]) || 1 };
}
