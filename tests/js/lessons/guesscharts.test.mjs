import assert from "node:assert/strict";
import { test } from "node:test";

import { reasonFor } from "../../../playground/microscope/core/guesses.js";
import { axis, CHARTS, photograph, ticks } from "../../../playground/microscope/lessons/guesscharts.js";

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

const TWO_BARS = {
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
  const state = { guess: null, truth: 30, open: false, width: 400, height: 300 };
  const coveredChart = CHARTS.Bars(TWO_BARS, state);
  assert.match(coveredChart.svg, /covered/);
  assert.doesNotMatch(coveredChart.svg, /bar true/);
  const openChart = CHARTS.Bars(TWO_BARS, { ...state, guess: 50, open: true });
  assert.doesNotMatch(openChart.svg, /covered/);
  assert.match(openChart.svg, /bar true/);
  assert.match(openChart.svg, /your guess/);
  assert.ok(coveredChart.valueAt(0, 20) > coveredChart.valueAt(0, 200));
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

test("a place on the axis is guessed along the axis, and drawn there", () => {
  const curve = { name: "loss", y: [1, 0.5], colour: "red" };
  const chart = { kind: "Lines", x: [10, 1000], series: [curve], low: 0, high: 1, x_title: "", at: null, log_x: true };
  const state = { guess: 100, truth: 300, open: false, width: 700, height: 300 };
  const { svg, valueAt } = CHARTS.Lines(chart, state);
  const place = Number(svg.match(/class="guess-line" x1="([\d.]+)"/)[1]);
  assert.ok(Math.abs(valueAt(place, 7) - 100) < 1e-6);
  assert.match(svg, /your guess/);
});

test("a guess near the truth does not cross the number on the bar", () => {
  const chart = { kind: "Bars", labels: ["a", "b"], values: [10, 50], high: 100, at: 1, unit: " %", title: "", x: "" };
  const { svg } = CHARTS.Bars(chart, { guess: 52, truth: 50, open: true, width: 700, height: 380 });
  const guess = Number(svg.match(/class="guess-line"[^>]* y1="([\d.]+)"/)[1]);
  const number = Number(svg.match(/y="([\d.]+)" class="known"/)[1]);
  assert.ok(number < guess, `the number stands at ${number}, the line lies at ${guess}`);
});

test("the name of a curve stands above it, or below it, and does not cross it", () => {
  for (const below of [false, true]) {
    const y = [1, 0.98, 0.9, 0.5, 0.46, 0.45];
    const curve = { name: "sum of the losses", y, colour: "red", below };
    const chart = { kind: "Lines", x: [0, 1, 2, 3, 4, 5], series: [curve], low: 0, high: 1, x_title: "", at: null };
    const { svg } = CHARTS.Lines(chart, { guess: null, truth: 4, open: true, width: 700, height: 300 });
    const points = [...svg.match(/d="([^"]*)"/)[1].matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, a, b]) => [+a, +b]);
    const [, right, height] = svg.match(/<text x="([\d.]+)" y="([\d.]+)" class="series"/).map(Number);
    const heightsAlongName = points.filter(([x]) => x > right - 7 * curve.name.length && x < right).map(([, y]) => y);
    assert.ok(heightsAlongName.length > 0);
    assert.ok(
      below ? height - 12 > Math.max(...heightsAlongName) : height < Math.min(...heightsAlongName),
      `${height} of ${heightsAlongName}`,
    );
  }
});

test("names of curves that end together stand apart, and cross no line", () => {
  const x = [0, 1, 2, 3, 4, 5];
  const curves = [
    { name: "the MLP's push", y: [47, 30, 28, 36, 50, 160], below: true },
    { name: "attention's push", y: [5, 27, 36, 40, 33, 49], below: true },
    { name: "token, as it enters", y: [8, 52, 67, 88, 110, 134] },
  ].map((line) => ({ colour: "#000", ...line }));
  const chart = { x, series: curves, low: 0, high: 184, x_title: "", at: [1, 5] };
  const { svg } = CHARTS.Lines(chart, { guess: 0, truth: 49, open: true, width: 570, height: 236 });
  const names = [...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)" class="series" [^>]*>([^<]*)/g)];
  assert.equal(names.length, 3);
  const boxes = names.map(([, left, y, words]) => ({ left: +left, right: +left + 7 * words.length, y: +y, words }));
  for (const item of boxes) {
    for (const other of boxes) {
      const overlaps = item !== other && item.left < other.right && other.left < item.right;
      assert.ok(!overlaps || Math.abs(item.y - other.y) > 14, `${item.words} lies on ${other.words}`);
    }
  }
});

test("where a guess is small, its name lies on no other row", () => {
  const chart = { ...TWO_BARS, across: true, labels: ["Add", "MLP"], values: [0, 64], at: 1 };
  const { svg } = CHARTS.Bars(chart, { guess: 0, truth: 64, open: true, width: 570, height: 120 });
  const [y] = svg.match(/y="([\d.]+)" class="own"/).slice(1);
  assert.equal(y, svg.match(/y="([\d.]+)" text-anchor="end">MLP/)[1]);
});

test("the name of a mark stands beside its line", () => {
  const chart = { x: [1, 10], series: [{ name: "", y: [1, 1], colour: "#000" }], low: 0, high: 2, x_title: "" };
  const state = { guess: null, truth: 1, open: true, width: 400, height: 300 };
  for (const x of [2, 9.9]) {
    const { svg } = CHARTS.Lines({ ...chart, marks: [{ x, words: "the first habit" }] }, state);
    const line = +svg.match(/class="true-line" x1="([\d.]+)"/)[1];
    const left = +svg.match(/<text x="([\d.]+)" y="[\d.]+" class="known-mark"/)[1];
    assert.ok(left > line || left + 7 * "the first habit".length < line, `${left} beside ${line}`);
  }
});

test("the true bar stands at the truth, the guess at the guess", () => {
  const chart = { kind: "Bars", labels: ["a", "b"], values: [10, 50], high: 100, at: 1, unit: " %", title: "", x: "" };
  const { svg } = CHARTS.Bars(chart, { guess: 20, truth: 50, open: true, width: 700, height: 380 });
  const heightOf = (pattern) => Number(svg.match(pattern)[1]);
  const [known, truth] = [/height="([\d.]+)" class="bar"/, /height="([\d.]+)" class="bar true"/].map(heightOf);
  assert.ok(Math.abs(truth - 5 * known) < 1e-6, `${truth} is five times ${known}`);
  const [bottom, guess] = [/y2="([\d.]+)"\/>/, /class="guess-line"[^>]* y1="([\d.]+)"/].map(heightOf);
  assert.ok(Math.abs(bottom - guess - 2 * known) < 1e-6, `${guess} over ${bottom}`);
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
