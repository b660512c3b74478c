import assert from "node:assert/strict";
import test from "node:test";

import { ELEMENT_WIDTH } from "./mounting.mjs";

const { buildCharts, lossPoints, writeCharts } = await import("../../../playground/microscope/lessons/reelcharts.js");

test("each loss is a share of its first value, from when it begins", () => {
  const curve = [
    [20, 4, 0],
    [40, 2, 0],
    [60, 1, 8],
    [80, 1, 2],
  ];
  assert.deepEqual(
    lossPoints(curve, 1).map(([, share]) => share),
    [1, 0.5, 0.25, 0.25],
  );
  assert.deepEqual(lossPoints(curve, 2), [
    [60, 1],
    [80, 0.25],
  ]);
  assert.deepEqual(lossPoints([[20, 0]], 1), []);
});

// A run of two moments, three layers and two heads: a layer is never mistaken for a head, nor a moment for a layer.
const [MOMENTS, LAYERS, HEADS] = [[0, 100], 3, 2];
const HABITS = [
  { label: "even", colour: "#111" },
  { label: "itself", colour: "#222" },
];
const everyHead = (numberOf) =>
  MOMENTS.flatMap((_, moment) =>
    Array.from({ length: LAYERS * HEADS }, (_, i) => numberOf(moment, Math.floor(i / HEADS), i % HEADS)),
  );
const massOf = (moment, layer, head) => (4 * layer + 2 * head + moment) / 20;

function aReel(view) {
  const kinds = MOMENTS.map((_, moment) =>
    Array.from({ length: LAYERS }, (_, layer) =>
      Array.from({ length: HEADS }, (_, head) => (moment === 1 && layer === 2 && head === 0 ? "itself" : "even")),
    ),
  );
  const reel = {
    ...{ refs: { charts: document.createElement("div") }, charts: null, view, now: 1 },
    ...{ moments: MOMENTS, shape: { layers: LAYERS, heads: HEADS, tokens: 64 }, kinds, habits: HABITS },
    ...{ entropy: everyHead((...head) => 6 * massOf(...head)), mass: everyHead(massOf), chance: 0.1, begins: [] },
    losses: ["cross-entropy"],
    curve: [
      [0, 4],
      [100, 1],
    ],
  };
  buildCharts(reel);
  return reel;
}
const numbersIn = (text) => [...text.matchAll(/[\d.]+/g)].map(([number]) => Number(number));
// the height of a share of the chart: from 6 pixels below its top to 17 above its bottom
const heightOf = (share) => ELEMENT_WIDTH - 17 - share * (ELEMENT_WIDTH - 17 - 6);
const [LEFT, RIGHT] = [34, ELEMENT_WIDTH - 8];

test("beside the charts stand the chosen head's numbers at this moment", () => {
  for (const [moment, layer, head] of [
    [0, 2, 0],
    [1, 2, 0],
    [1, 0, 1],
    [1, 1, 1],
  ]) {
    const reel = aReel({ layer, head });
    writeCharts(reel, moment);
    const [, entropy, mass, habit] = reel.charts.map(
      ({ value, owner }) => `${owner.textContent}: ${value.textContent}`,
    );
    const value = massOf(moment, layer, head);
    assert.equal(entropy, `layer ${layer}, head ${head}: ${(6 * value).toFixed(1)} bits`);
    assert.equal(mass, `layer ${layer}, head ${head}: ${Math.round(100 * value)} %`);
    assert.equal(habit, `layer ${layer}, head ${head}: ${reel.kinds[moment][layer][head]}`);
    assert.equal(reel.charts[3].legend.textContent, moment ? "5 even1 itself" : "6 even");
  }
});

test("the thick line is the chosen head's, and each line lies at its head's values", () => {
  const { charts } = aReel({ layer: 2, head: 1 });
  for (const [chart, most] of [
    [charts[1], 6 * 1.02], // bits
    [charts[2], 1],
  ]) {
    const lines = Object.groupBy(chart.plot.querySelectorAll("path"), (line) => line.getAttribute("class"));
    const pointsOf = (line) => numbersIn(line.getAttribute("d"));
    const linesOf = (heads) =>
      heads.map(([layer, head]) =>
        MOMENTS.flatMap((_, moment) => {
          const value = massOf(moment, layer, head) * (most === 1 ? 1 : 6);
          return [moment ? RIGHT : LEFT, Number(heightOf(value / most).toFixed(1))];
        }),
      );
    assert.deepEqual(lines.chosen.map(pointsOf), linesOf([[2, 1]]));
    assert.deepEqual(lines.sister.map(pointsOf), linesOf([[2, 0]]));
    const others = [0, 1].flatMap((layer) => [0, 1].map((head) => [layer, head]));
    assert.deepEqual(lines.other.map(pointsOf), linesOf(others));
  }
});

test("a loss falls from one; a head's habits are a row in the order of layers and heads, the chosen one framed", () => {
  const { charts } = aReel({ layer: 2, head: 0 });
  const [loss] = charts[0].plot.querySelectorAll(".loss");
  assert.deepEqual(
    numbersIn(loss.getAttribute("d")),
    [LEFT, heightOf(1 / 1.25), RIGHT, heightOf(0.25 / 1.25)].map((number) => Number(number.toFixed(1))),
  );
  const fields = [...charts[3].plot.querySelectorAll("rect[data-row]")];
  const changed = fields.filter((field) => field.getAttribute("fill") === "#222");
  assert.deepEqual(
    changed.map((field) => field.dataset.row),
    ["2 0"],
  );
  const topOf = (field) => Number(field.getAttribute("y"));
  const tops = fields.slice(0, LAYERS * HEADS).map(topOf);
  assert.deepEqual(
    tops,
    tops.toSorted((a, b) => a - b),
  );
  assert.equal(topOf(charts[3].plot.querySelector(".frame")), topOf(changed[0]) - 1);
  assert.ok(Number(changed[0].getAttribute("x")) > ELEMENT_WIDTH / 2, "the later moment stands at the right");
  for (const { mark } of charts) assert.equal(mark.getAttribute("transform"), `translate(${RIGHT}.0 0)`);
});
