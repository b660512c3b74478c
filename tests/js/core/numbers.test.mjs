import assert from "node:assert/strict";
import { test } from "node:test";

import { percent, shortNumber, toldApart } from "../../../playground/microscope/core/numbers.js";

test("two numbers are written with as many digits as tell them apart, and no more", () => {
  assert.deepEqual(toldApart(0.035, 0.17, percent), ["3.5 %", "17 %"]);
  assert.deepEqual(toldApart(0.01401, 0.01437, percent), ["1.40 %", "1.44 %"]);
  assert.deepEqual(toldApart(0.1001, 0.1004, percent), ["10.01 %", "10.04 %"]);
  assert.deepEqual(toldApart(2.501, 2.502, shortNumber), ["2.501", "2.502"]);
  assert.deepEqual(toldApart(0.25, 0.25, percent).length, 2, "equal numbers end the search for digits");
});
