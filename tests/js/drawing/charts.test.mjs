import assert from "node:assert/strict";
import { test } from "node:test";
import { ticksThatFit } from "../../../playground/microscope/drawing/charts.js";

const textWidth = (text) => 6 * text.length;
const ticks = (...words) => words.map((text, n) => ({ t: n / (words.length - 1), words: text }));
const wordsThatFit = (allTicks, barWidth) => ticksThatFit(allTicks, barWidth, 6, textWidth).map(({ words }) => words);

test("the numbers of a colour bar that would touch are left out, its two ends never", () => {
  const barTicks = ticks("0", "4.8", "≥ 9.5 %");
  assert.deepEqual(wordsThatFit(barTicks, 200).sort(), ["0", "4.8", "≥ 9.5 %"].sort());
  assert.deepEqual(wordsThatFit(barTicks, 90), ["0", "≥ 9.5 %"]); // "4.8" would end at pixel 54; "≥ 9.5 %" begins at 48
  assert.deepEqual(wordsThatFit(barTicks, 30), ["0", "≥ 9.5 %"]);
});

test("of a logarithm's two inner numbers one may stay", () => {
  assert.equal(wordsThatFit(ticks("≤0.01", "0.1", "1", "10 %"), 100).length, 3);
});
