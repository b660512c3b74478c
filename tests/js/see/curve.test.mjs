import assert from "node:assert/strict";
import { test } from "node:test";

import { createCurve, drawStaircase } from "../../../playground/microscope/see/curve.js";
import { aContext, callsOf } from "../canvas.mjs";

const DRAWN_WITH = {
  ramp: Array.from({ length: 256 }, (_, step) => `step ${step}`),
  domain: { low: 0, high: 0.2 },
  colours: { soft: "soft", line: "line" },
  unit: 1,
};

test("each bar is as high as its share, and the dashed one as the share that it stands for", () => {
  for (const [dashedShare, heights] of [
    [0.4, [98, 49, 24.5]], // pixels: the largest of all is 98 high
    [0.1, [49, 98, 49]],
    [0.2, [98, 98, 49]],
  ]) {
    const context = aContext();
    drawStaircase(context, 120, 101, [0.2, 0.1], dashedShare, DRAWN_WITH);
    const outlines = callsOf(context, "strokeRect").map(([, x, y, , height]) => [x, y, height]);
    const expected = heights.map((height, i) => [i === 2 ? 10.5 : 0.5, 100 - height, height]);
    assert.deepEqual(outlines, expected, `dashed at ${dashedShare}`);
    const bars = callsOf(context, "fillRect").slice(0, 2);
    for (const [i, [, x, y, , height]] of bars.entries()) assert.deepEqual([x + 0.5, y, height], expected[1 + i]);
    assert.equal(bars[0].style.fillStyle, "step 255");
    assert.notEqual(bars[1].style.fillStyle, "step 255");
  }
});

test("the curve goes from the middle of the asking patch to that of the brightest, and bows upwards", () => {
  const frame = { shown: { pack: { rows: 4, columns: 6 }, mark: 13 }, picture: { tag: { patch: 5 } } };
  const { points } = createCurve(frame, { querySelector: () => null, querySelectorAll: () => [] });
  const { from, bend, to } = points(600, 400);
  assert.deepEqual(
    [from, to],
    [
      [150, 250],
      [550, 50],
    ],
  );
  assert.equal(bend[0], 350);
  assert.ok(bend[1] < 50, `bends at ${bend}`);
  frame.picture.tag.patch = 14;
  assert.equal(points(600, 400), null, "between neighbours there is no curve");
});
