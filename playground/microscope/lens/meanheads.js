// "Mean of heads": the row that the picture, its sentence and its numbers show is the mean of all heads of the layer.
// For the time of a drawing it lies in the place of the chosen head's row.

import { entropyBits } from "../core/core.js";
import { wayOf } from "../core/ways.js";
import { isMap } from "./shown.js";

export function isMean(lens) {
  const { film, view, shown } = lens;
  if (film.of !== "mean" || isMap(view.what) || wayOf(view).raw) return false;
  return Boolean(shown.answers) && shown.answers.ready.every(Boolean);
}

// Gives what puts the head's own row back.
export function layMean(lens) {
  if (!isMean(lens)) return () => {};
  const { head } = lens.view;
  const { answers, pack } = lens.shown;
  const { heads, tokens } = pack;
  const at = head * tokens;
  const arrays = [...new Set([answers.weights, answers.drawn])];
  const kept = arrays.map((values) => values.slice(at, at + tokens));
  const { [head]: bits } = answers.entropies,
    { [head]: total } = answers.totals;
  for (const values of arrays) {
    const mean = new Float32Array(tokens);
    for (let h = 0; h < heads; h++) for (let j = 0; j < tokens; j++) mean[j] += values[h * tokens + j] / heads;
    values.set(mean, at);
  }
  answers.entropies[head] = entropyBits(answers.weights, at, at + tokens);
  answers.totals[head] = answers.totals.reduce((sum, each) => sum + each, 0) / heads;
  return () => {
    arrays.forEach((values, n) => values.set(kept[n], at));
    answers.entropies[head] = bits;
    answers.totals[head] = total;
  };
}
