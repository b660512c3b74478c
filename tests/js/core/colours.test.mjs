import assert from "node:assert/strict";
import { test } from "node:test";

import { createAnswers, sharedDomain } from "../../../playground/microscope/core/answers.js";
import {
  colourIndex,
  heatPixels,
  niceNumber,
  ownDomain,
  paintInto,
  sharedCeiling,
} from "../../../playground/microscope/core/colours.js";
import { unpack } from "../../../playground/microscope/core/core.js";
import { MAGMA } from "../../../playground/microscope/core/magma.js";
import { fixture } from "../support.mjs";

const pack = unpack(fixture().bytes);
const near = (a, b, tolerance = 1e-6) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

test("shared colours depend on the number of tokens alone", () => {
  assert.equal(sharedCeiling(201), 0.1);
  assert.equal(sharedCeiling(257), 0.1);
  near(sharedCeiling(4097), 0.005);
  assert.equal(sharedCeiling(10), 1);
  assert.deepEqual([0.013, 0.02, 0.04, 0.9, 7].map(niceNumber), [0.01, 0.02, 0.05, 1, 5]);
  const answers = createAnswers(pack);
  assert.deepEqual(
    sharedDomain(answers, 1, 0.3, "weight", "auto", false),
    sharedDomain(answers, 3, 1, "weight", "auto", false),
  );
  assert.ok(sharedDomain(answers, 1, 0, "score", "auto", false).high > 0);
});

test("magma is matplotlib's: its ends, its middle, its length", () => {
  assert.equal(MAGMA.length, 768);
  assert.deepEqual([...MAGMA.subarray(0, 3)], [0, 0, 4]);
  assert.deepEqual([...MAGMA.subarray(384, 387)], [183, 55, 121]);
  assert.deepEqual([...MAGMA.subarray(765)], [252, 253, 191]);
});

test("painting puts each value's colour in its place", () => {
  const palette = heatPixels(1);
  const domain = { low: 0, high: 1, log: false };
  const pixels = new Uint32Array(12);
  paintInto(pixels, 5, 4, Float32Array.from([9, 0, 1, 2, 0.5]), 1, 2, 2, palette, domain);
  assert.deepEqual([...pixels], [0, 0, 0, 0, 0, palette[0], palette[255], 0, 0, palette[255], palette[128], 0]);
  assert.equal(palette[255] >>> 24, 255);
  assert.equal(palette[0] >>> 24, 255); // at full opacity nothing of the image is left
  assert.equal(heatPixels(0)[255] >>> 24, 0);
  const log = { low: 0.001, high: 1, log: true };
  assert.deepEqual(
    [0, 0.001, 0.0316228, 1, 5].map((x) => colourIndex(x, log)),
    [0, 0, 128, 255, 255],
  );
  assert.deepEqual(ownDomain(Float32Array.from([9, -1, 0.25]), 1, 3, false, false), { low: 0, high: 0.25, log: false });
});
