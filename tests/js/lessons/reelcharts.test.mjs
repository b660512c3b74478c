import assert from "node:assert/strict";
import test from "node:test";

import "./mounting.mjs";

const { lossPoints } = await import("../../../playground/microscope/lessons/reelcharts.js");

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
