import assert from "node:assert/strict";
import { test } from "node:test";

import { reasonFor } from "../../../playground/microscope/core/guesses.js";
import { axis } from "../../../playground/microscope/drawing/axes.js";
import { CHARTS, photograph } from "../../../playground/microscope/lessons/guesscharts.js";

test("an axis leads to pixels and back, and stays within its ends", () => {
  for (const log of [false, true]) {
    const y = axis(0.1, 100, 300, 20, log);
    for (const value of [0.1, 3, 100]) assert.ok(Math.abs(y.value(y.at(value)) - value) < 1e-9);
    assert.ok(Math.abs(y.value(900) - 0.1) < 1e-12);
    assert.ok(Math.abs(y.value(0) - 100) < 1e-9);
  }
});

test("before the guess the chart holds only the known part of the curve that is asked about", () => {
  const curve = { name: "x", y: [1, 2, 3, 4], colour: "red", shown: 2 };
  const chart = {
    kind: "Lines",
    x: [0, 1, 2, 3],
    series: [curve],
    low: 0,
    high: 5,
    x_title: "",
    at: [0, 3],
    marks: [],
  };
  const points = (isOpen) => {
    const state = { guess: null, truth: 4, open: isOpen, width: 400, height: 300 };
    return CHARTS.Lines(chart, state)
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
  assert.equal(reasonFor(3, 4, tempting), ""); // no reason: the truth is small, too
});

test("a painted patch is drawn where it was pressed", () => {
  const chart = { image: "", grid: [2, 3], aspect: 1.5, mark: 1 };
  for (let patch = 0; patch < 6; patch++) {
    const { svg, patchAt } = photograph(chart, { guess: new Set([patch]), width: 300, height: 200 });
    const [x, y] = svg
      .match(/<rect x="([\d.]+)" y="([\d.]+)"[^>]* class="painted"/)
      .slice(1)
      .map(Number);
    assert.deepEqual([x, y], [100 * (patch % 3), 100 * Math.floor(patch / 3)]);
    assert.equal(patchAt(x + 95, y + 95), patch);
  }
});
