import assert from "node:assert/strict";
import { test } from "node:test";

import { bareShare, percent, shortNumber, toldApart } from "../../../playground/microscope/core/numbers.js";

test("two numbers are written with as many digits as tell them apart, and no more", () => {
  assert.deepEqual(toldApart(0.035, 0.17, percent), ["3.5 %", "17 %"]);
  assert.deepEqual(toldApart(0.01401, 0.01437, percent), ["1.40 %", "1.44 %"]);
  assert.deepEqual(toldApart(0.1001, 0.1004, percent), ["10.01 %", "10.04 %"]);
  assert.deepEqual(toldApart(2.501, 2.502, shortNumber), ["2.501", "2.502"]);
  assert.deepEqual(toldApart(0.25, 0.25, percent).length, 2, "equal numbers end the search for digits");
});

test("a share on a patch and a short number are rounded, and a number below zero has a minus sign", () => {
  assert.deepEqual([0.678, 0.128, 0.0995, 0.0994, 0.012].map(bareShare), ["68", "13", "10", "9.9", "1.2"]);
  assert.deepEqual([-0.526, 12.34, -345.6, 0].map(shortNumber), ["−0.53", "12.3", "−346", "0"]);
});
