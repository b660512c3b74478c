import assert from "node:assert/strict";
import { test } from "node:test";
import { reportsHere } from "../../../playground/microscope/core/guesses.js";
import { isBroken, powersOf } from "../../../playground/microscope/core/nine.js";
import { draw, mountDrawing } from "./mounting.mjs";

const { drawDesk: deskOf, numberText, scores } = await import("../../../playground/microscope/lessons/mixture.js");

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

test("a moved score changes bars, table and sentence, and the page hears of it", () => {
  const drawing = mountDrawing(scores, DATA);
  assert.deepEqual(drawing.texts(".bars b").slice(0, 3), ["8", "0", "−8"]);
  assert.equal(drawing.find('[data-ref="says"]').textContent, "whole");
  drawing.input(drawing.find('[data-ref="A"]'), "1000");
  draw();
  assert.equal(drawing.toldSettings.scores, "1000_0_-8");
  assert.deepEqual(drawing.texts("tr:nth-child(2) td"), ["A", "1000", "∞", "nan", "1", "1"]);
  assert.equal(drawing.find('[data-ref="says"]').textContent, "sums to nan");
  assert.deepEqual(reportsHere().scores.scores, [1000, 0, -8]);
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

test("on the mixing desk what is heard is fader times loudness, the largest weights first", () => {
  const weights = Float32Array.from({ length: 12 }, (_, i) => (i * 7) % 12);
  const valueNorms = Float32Array.from({ length: 12 }, (_, i) => 1 / (1 + i));
  const place = document.createElement("div");
  const desk = deskOf(place, weights, valueNorms, { prefix: ["cls"], prefixCount: 1, columns: 4 });
  assert.equal(desk.length, 8);
  assert.deepEqual(
    desk.map(({ weight }) => weight),
    [11, 10, 9, 8, 7, 6, 5, 4],
  );
  for (const { weight, loud: loudness, heard: contribution } of desk) assert.equal(contribution, weight * loudness);
  assert.deepEqual([desk[0].name, place.querySelectorAll("figure").length], ["1,0", 3]);
});
