import assert from "node:assert/strict";
import { test } from "node:test";

import { reasonFor } from "../../../playground/microscope/core/guesses.js";
import { axis, CHARTS, ticks } from "../../../playground/microscope/lessons/guesscharts.js";

test("an axis leads to pixels and back, and stays within its ends", () => {
  for (const log of [false, true]) {
    const y = axis(0.1, 100, 300, 20, log);
    for (const value of [0.1, 3, 100]) assert.ok(Math.abs(y.value(y.at(value)) - value) < 1e-9);
    assert.ok(Math.abs(y.value(900) - 0.1) < 1e-12);
    assert.ok(Math.abs(y.value(0) - 100) < 1e-9);
  }
});

test("ticks are round numbers, few of them", () => {
  assert.deepEqual(ticks(0, 100), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(ticks(0.01, 10, true), [0.01, 0.1, 1, 10]);
});

const bars = {
  kind: "Bars",
  labels: ["A", "B"],
  values: [10, 30],
  high: 100,
  at: 1,
  later: null,
  title: "",
  unit: " %",
};

test("the bar that is asked about is covered, then drawn at its height", () => {
  const now = { guess: null, truth: 30, open: false, width: 400, height: 300 };
  const before = CHARTS.Bars(bars, now);
  assert.match(before.svg, /covered/);
  assert.doesNotMatch(before.svg, /bar true/);
  const after = CHARTS.Bars(bars, { ...now, guess: 50, open: true });
  assert.doesNotMatch(after.svg, /covered/);
  assert.match(after.svg, /bar true/);
  assert.match(after.svg, /your guess/);
  assert.ok(before.valueAt(0, 20) > before.valueAt(0, 200));
});

test("of the curve that is asked about the rest is not in the picture before", () => {
  const line = { name: "x", y: [1, 2, 3, 4], colour: "red", shown: 2 };
  const chart = { kind: "Lines", x: [0, 1, 2, 3], series: [line], low: 0, high: 5, x_title: "", at: [0, 3], marks: [] };
  const points = (open) => {
    const now = { guess: null, truth: 4, open, width: 400, height: 300 };
    return CHARTS.Lines(chart, now)
      .svg.match(/d="([^"]*)"/)[1]
      .match(/[ML]/g).length;
  };
  assert.deepEqual([points(false), points(true)], [2, 4]);
});

test("a wrong answer hears its reason, the right one none", () => {
  const tempting = [
    ["b", "because"],
    [[0, 5], "too small"],
  ];
  assert.equal(reasonFor("b", "a", tempting), "because");
  assert.equal(reasonFor("a", "a", tempting), "");
  assert.equal(reasonFor(3, 40, tempting), "too small");
  assert.equal(reasonFor(60, 40, tempting), "");
});
