import assert from "node:assert/strict";
import { test } from "node:test";

import { aContext, callsOf } from "../canvas.mjs";
import "../lessons/mounting.mjs";

const { drawColourBar, drawCurve } = await import("../../../playground/microscope/drawing/charts.js");

const canvasOf = (context, width, height) => ({ getContext: () => context, width, height });

const RAMP = Array.from({ length: 256 }, (_, step) => step);
const DOMAIN = { low: 0, high: 0.2, unit: "percent", open: true };
const COLOURS = { soft: "soft", line: "line", convolution: "convolution", font: "x" };

test("the colour bar goes from the faintest colour to the strongest, its numbers from zero to the exposure", () => {
  const context = aContext();
  drawColourBar(canvasOf(context, 200, 30), RAMP, DOMAIN, 1, COLOURS);
  const colours = callsOf(context, "fillRect").map(({ style }) => style.fillStyle);
  assert.deepEqual(
    colours,
    colours.toSorted((a, b) => a - b),
  );
  assert.ok(colours[0] < 5 && colours.at(-1) > 250, `${colours[0]} to ${colours.at(-1)}`);
  const numbers = callsOf(context, "fillText").map(([, words, x]) => [words, x]);
  assert.deepEqual(numbers, [
    ["0", 0],
    ["≥\u200920\u2009%", 200],
    ["10", 100],
  ]);
});

test("a bar is as high as its weight, the line as the kernel's, and the pointer finds the bar's rank", () => {
  const [width, height, bottom, top] = [800, 123, 106, 6];
  const [sorted, kernel] = [
    [0.5, 0.25, 0.125, 0.1, 0.025],
    [0.25, 0.125, 0.0625],
  ];
  const context = aContext();
  drawCurve(canvasOf(context, width, height), sorted, 5, kernel, RAMP, DOMAIN, 1, COLOURS, 2);
  const heightOf = (weight) => (weight / 0.5) * (bottom - top);
  const bars = callsOf(context, "fillRect").slice(0, 5);
  assert.deepEqual(
    bars.map(([, , , , barHeight]) => barHeight),
    sorted.map(heightOf),
  );
  const [lit] = callsOf(context, "fillRect").slice(5);
  assert.deepEqual(lit.slice(1, 3), bars[2].slice(1, 3), "the patch under the cursor lights its bar");
  const line = callsOf(context, "lineTo").slice(-7); // two points for each weight of the kernel, then down
  assert.deepEqual(
    line.map(([, , y]) => bottom - y),
    [...kernel.flatMap((weight) => [weight, weight]), 0].map(heightOf),
  );
});
