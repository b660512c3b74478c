import assert from "node:assert/strict";
import { test } from "node:test";

import { stateOfExercise } from "../../../playground/microscope/lessons/exercise.js";

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
