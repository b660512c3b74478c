// One row of scores, and what the scale makes of it. No DOM in here.

import { softmaxInPlace } from "./core.js";

// The weights of the row at this scale, and the numbers below the bars.
export function softmaxRow(scores, scale) {
  const count = scores.length;
  const weights = Float64Array.from(scores, (score) => score * scale);
  const mean = weights.reduce((sum, score) => sum + score, 0) / count;
  const deviation = Math.sqrt(weights.reduce((sum, score) => sum + (score - mean) ** 2, 0) / count);
  const entropy = softmaxInPlace(weights, 0, count, Math.max(...weights));
  let squares = 0,
    cubes = 0;
  for (const a of weights) {
    squares += a * a;
    cubes += a * a * a;
  }
  const gradient = scale * Math.sqrt(Math.max(0, squares - 2 * cubes + squares * squares)); // ‖∂weights/∂(q·k)‖
  return { weights, deviation, entropy, peak: Math.max(...weights), gradient };
}
