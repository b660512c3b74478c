// Computes the attention of nine tokens whose queries and keys are arrows in a plane. No DOM.

import { softmaxInPlace } from "./core.js";

export const TOKEN_COUNT = 9;
export const MOST_COORDINATE = 4; // an arrow's coordinates go from −4 to 4
const SCALE = 1 / Math.sqrt(2); // 1/√d_k: a query has two numbers

// Reads "20_0_15_13_…": the coordinates of all queries, then of all keys, in tenths, x before y.
export const readArrows = (text) => Float64Array.from(text.split("_"), (number) => Number(number) / 10);
export const writeArrows = (arrows) => Array.from(arrows, (number) => String(Math.round(number * 10))).join("_");
export const clampCoordinate = (number) =>
  Math.min(MOST_COORDINATE, Math.max(-MOST_COORDINATE, Math.round(number * 10) / 10));

// The 81 scaled scores of each query i with each key j.
export function scoresOf(arrows) {
  return Float64Array.from({ length: TOKEN_COUNT * TOKEN_COUNT }, (_, index) => {
    const i = Math.floor(index / TOKEN_COUNT),
      j = TOKEN_COUNT + (index % TOKEN_COUNT);
    return (arrows[2 * i] * arrows[2 * j] + arrows[2 * i + 1] * arrows[2 * j + 1]) * SCALE;
  });
}

// Whether token j is hidden from token i. A mask is "", "causal", or the letters of the hidden tokens.
export function isMasked(mask, i, j) {
  return mask === "causal" ? j > i : mask.includes("ABCDEFGHI"[j]);
}

// The scores, −∞ where a token is hidden. multiplies: −∞ is multiplied by 1 where one is hidden, else by 0, and added.
export const maskScores = (scores, mask, multiplies = false) =>
  scores.map((score, index) => {
    const isHidden = isMasked(mask, Math.floor(index / TOKEN_COUNT), index % TOKEN_COUNT);
    return multiplies ? score + Number(isHidden) * -Infinity : isHidden ? -Infinity : score;
  });

export function weightsOf(scores) {
  const weights = Float64Array.from(scores);
  for (let i = 0; i < TOKEN_COUNT; i++) {
    softmaxInPlace(
      weights,
      i * TOKEN_COUNT,
      TOKEN_COUNT,
      Math.max(...scores.subarray(i * TOKEN_COUNT, (i + 1) * TOKEN_COUNT)),
    );
  }
  return weights;
}

// For each token, the mean of all values, weighted by the token's row.
export function receivedOf(arrows, values) {
  const weights = weightsOf(scoresOf(arrows));
  return values.map((_, i) => values.reduce((sum, value, j) => sum + weights[i * TOKEN_COUNT + j] * value, 0));
}

// Below: the softmax of one row of scores at a scale.

// The row's weights at this scale, the scaled scores' deviation, and the weights' entropy, peak and gradient.
export function softmaxRow(scores, scale) {
  const count = scores.length;
  const weights = Float64Array.from(scores, (score) => score * scale);
  const mean = weights.reduce((sum, score) => sum + score, 0) / count;
  const deviation = Math.sqrt(weights.reduce((sum, score) => sum + (score - mean) ** 2, 0) / count);
  const entropy = softmaxInPlace(weights, 0, count, Math.max(...weights));
  let squares = 0,
    cubes = 0;
  for (const weight of weights) {
    squares += weight * weight;
    cubes += weight * weight * weight;
  }
  const gradient = scale * Math.sqrt(Math.max(0, squares - 2 * cubes + squares * squares)); // ‖∂weights/∂(q·k)‖
  return { weights, deviation, entropy, peak: Math.max(...weights), gradient };
}

// Below: the softmax of a few scores, with and without subtracting the largest score.

// The powers of a few scores and their softmax in 32-bit floats, where a power above the largest float becomes
// infinite.
export function powersOf(scores) {
  const largest = Math.max(...scores);
  const exponentials = Float32Array.from(scores, Math.exp);
  const stable = Float32Array.from(scores, (score) => Math.exp(score - largest));
  return { plain: exponentials, naive: shares(exponentials), stable, weights: shares(stable) };
}

function shares(powers) {
  const sum = powers.reduce((total, power) => Math.fround(total + power), 0);
  return powers.map((power) => power / sum);
}

// Whether the weights don't sum to 1: some are NaN, or all are 0 after a division by ∞.
export const isBroken = (weights) => !(Math.abs(weights.reduce((a, b) => a + b, 0) - 1) < 1e-3);
