// Whether an exercise is done, by the settings of a lesson and the numbers of its drawings. Here are the exercises for
// which no list of settings tells. The same conditions stand in playground/ui/lessons, where the server checks.
//
// An exercise of playground/lessons/parts.py brings its conditions: true or false, as Python has found; {setting: [its
// values, as text]}; or {drawing, check}, a check of REPORTED over what the drawing reports.

import { readArrows, receivedOf, scoresOf, TOKENS, weightsOf } from "../core/nine.js";

const NEARLY = 0.005; // of a weight
const weightsIn = ({ arrows }) => weightsOf(scoresOf(readArrows(arrows)));
const isEven = (weight) => Math.abs(weight - 1 / TOKENS) < NEARLY;

const STATES = {
  by_hand_even: (settings) => weightsIn(settings).every((weight, at) => at >= TOKENS || isEven(weight)),
  by_hand_one_role: ({ arrows }) => {
    const all = readArrows(arrows);
    return all.subarray(0, 2 * TOKENS).every((number, at) => number === all[2 * TOKENS + at]);
  },
  by_hand_one_way: (settings) => weightsIn(settings)[1] > 0.5 && weightsIn(settings)[TOKENS] < 0.1,
  by_hand_receive: ({ arrows }, { values }) => receivedOf(readArrows(arrows), values)[0] > Math.max(...values) - 10,
};

// null: the page cannot tell.
export function isDone(id, settings, numbers) {
  return Object.hasOwn(STATES, id) ? STATES[id](settings, numbers) : null;
}

const REPORTED = {
  one_key: ({ peak }) => peak > 0.99,
};

export function holdsNow(condition, settings, reports) {
  if (typeof condition === "boolean") return condition;
  if (condition.drawing) {
    const numbers = reports[condition.drawing];
    return Boolean(numbers) && REPORTED[condition.check](numbers);
  }
  return Object.entries(condition).every(([name, values]) => values.includes(settings[name]));
}

// {done: true | false | null where nothing tells, why: what is tempting in the page's state, and wrong}
export function stateOfExercise({ done, tempting }, settings, reports) {
  if (done === null) return { done, why: "" };
  if (holdsNow(done, settings, reports)) return { done: true, why: "" };
  const why = tempting.find(([condition]) => holdsNow(condition, settings, reports))?.[1] ?? "";
  return { done: false, why };
}
