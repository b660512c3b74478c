import assert from "node:assert/strict";
import { test } from "node:test";

import { aContext, callsOf } from "../canvas.mjs";
import "../lessons/mounting.mjs";

const { drawColourBar } = await import("../../../playground/microscope/drawing/charts.js");

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
    ["10", 100],
    ["≥\u200920\u2009%", 200],
  ]);
});
