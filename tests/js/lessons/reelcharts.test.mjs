import assert from "node:assert/strict";
import test from "node:test";

import "./mounting.mjs";

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
