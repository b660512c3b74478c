import assert from "node:assert/strict";
import { test } from "node:test";

import { writeArrows } from "../../../playground/microscope/core/nine.js";
import { isDone, stateOfExercise } from "../../../playground/microscope/lessons/checks.js";

const arrows = (put) => {
  const all = new Float64Array(36);
  put?.(all);
  return { arrows: writeArrows(all) };
};

test("an exercise is done in its state, and not beside it", () => {
  const oneWay = (all) => {
    all[0] = all[2] = 4; // A and B look for what B offers
    all[18] = -1;
    all[20] = 1;
  };
  const atI = (all) => (all[0] = all[34] = 4);
  const values = [0, 0, 0, 0, 0, 0, 0, 0, 100];
  for (const [id, settings, numbers, done] of [
    ["by_hand_even", arrows(), {}, true],
    ["by_hand_even", arrows(oneWay), {}, false],
    ["by_hand_one_role", arrows(), {}, true],
    ["by_hand_one_role", arrows(oneWay), {}, false],
    ["by_hand_one_way", arrows(oneWay), {}, true],
    ["by_hand_one_way", arrows(), {}, false],
    ["by_hand_receive", arrows(atI), { values }, true],
    ["by_hand_receive", arrows(), { values }, false],
  ])
    assert.equal(isDone(id, settings, numbers), done, `${id} ${JSON.stringify(settings)}`);
});

test("of others the page cannot tell", () => {
  assert.equal(isDone("patches_halve", {}, {}), null);
  assert.equal(isDone("toString", {}, {}), null);
});

const exercise = {
  done: { power: ["0.0"], dk: ["64"] },
  tempting: [
    [{ power: ["0.0"], dk: ["4"] }, "Too few."],
    [true, "Never this."],
  ],
};

test("a condition over settings holds where each has one of its values", () => {
  assert.deepEqual(stateOfExercise(exercise, { power: "0.0", dk: "64" }, {}), { done: true, why: "" });
  assert.deepEqual(stateOfExercise(exercise, { power: "0.0", dk: "4" }, {}), { done: false, why: "Too few." });
  assert.deepEqual(stateOfExercise(exercise, { power: "0.5", dk: "64" }, {}), { done: false, why: "Never this." });
  assert.deepEqual(stateOfExercise({ done: null, tempting: [] }, {}, {}), { done: null, why: "" });
});

test("one key has more than 99 % where the drawing reports it", () => {
  const oneKey = { done: { drawing: "softmaxbars", check: "one_key" }, tempting: [] };
  for (const [reports, done] of [
    [{}, false],
    [{ softmaxbars: { peak: 0.99 } }, false],
    [{ softmaxbars: { peak: 0.991 } }, true],
  ])
    assert.equal(stateOfExercise(oneKey, {}, reports).done, done);
});
