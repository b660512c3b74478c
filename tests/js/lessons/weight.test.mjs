import assert from "node:assert/strict";
import { test } from "node:test";
import { isBroken, powersOf } from "../../../playground/microscope/core/nine.js";
import { mountDrawing } from "./mounting.mjs";

const { numberText, scores } = await import("../../../playground/microscope/lessons/mixture.js");

const DATA = { says: "{broken}", broken: "sums to {sum}", whole: "whole", scores: "8_0_-8" };

test("a difference of scores is a ratio of weights, and only differences count", () => {
  const { weights } = powersOf([8, 0, -8]);
  assert.ok(Math.abs(weights[0] / weights[1] - Math.exp(8)) < 1);
  assert.deepEqual(powersOf([58, 50, 42]).weights, weights);
});

test("a power, or a sum of powers, that 32-bit numbers can't hold breaks the plain softmax alone", () => {
  for (const brokenScores of [
    [89, 0, 0],
    [88, 88, 88],
    [1000, 0, -8],
  ]) {
    const { naive, weights } = powersOf(brokenScores);
    assert.ok(isBroken(naive), String(brokenScores));
    assert.ok(Math.abs(weights.reduce((a, b) => a + b) - 1) < 1e-6);
  }
  assert.ok(!isBroken(powersOf([88, 0, -100]).naive));
});

test("scores out of an address stay on the dials, and numbers are short", () => {
  assert.deepEqual(mountDrawing(scores, { ...DATA, scores: "9999_-9999_1" }).read().scores, [1000, -100, 1]);
  assert.deepEqual([1.65e38, 0.000335, 0, 2981, Number.NaN, 1].map(numberText), [
    "1.65e+38",
    "0.000335",
    "0",
    "2,981",
    "nan",
    "1",
  ]);
});
