// Whether an exercise is done, by the settings of a lesson and the numbers of its drawings. Here are the exercises for
// which no list of settings tells. The same conditions stand in playground/ui/lessons, where the server checks.

import { readArrows, receivedOf, scoresOf, softmaxRow, TOKENS, weightsOf } from "../core/nine.js";

const NEARLY = 0.005; // of a weight
const weightsIn = ({ arrows }) => weightsOf(scoresOf(readArrows(arrows)));
const isEven = (weight) => Math.abs(weight - 1 / TOKENS) < NEARLY;

const CHECKS = {
  by_hand_even: (settings) => weightsIn(settings).every((weight, at) => at >= TOKENS || isEven(weight)),
  by_hand_one_role: ({ arrows }) => {
    const all = readArrows(arrows);
    return all.subarray(0, 2 * TOKENS).every((number, at) => number === all[2 * TOKENS + at]);
  },
  by_hand_one_way: (settings) => weightsIn(settings)[1] > 0.5 && weightsIn(settings)[TOKENS] < 0.1,
  by_hand_receive: ({ arrows }, { values }) => receivedOf(readArrows(arrows), values)[0] > Math.max(...values) - 10,
  scale_one_key: ({ dk, power, row }, { widths, rows }) =>
    softmaxRow(rows[row % rows.length][widths.indexOf(Number(dk))], dk ** -power).peak > 0.99,
  scale_lower: ({ dk, power }, { less }) => Number(dk) === less && Number(power) === 0,
};

// null: the page cannot tell.
export default function isDone(id, settings, numbers) {
  return Object.hasOwn(CHECKS, id) ? CHECKS[id](settings, numbers) : null;
}
