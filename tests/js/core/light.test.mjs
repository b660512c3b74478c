import assert from "node:assert/strict";
import { test } from "node:test";
import { outlines, stepOf } from "../../../playground/microscope/core/light.js";

test("a value's step is a power of its share, taken from a table", () => {
  const domain = { low: 0, high: 0.2 };
  for (let n = -10; n <= 20010; n++) {
    const share = Math.min(1, Math.max(0, n / 20000));
    assert.equal(stepOf((n / 20000) * 0.2, domain), (share ** 0.8 * 255 + 0.5) | 0, `share ${share}`);
  }
  assert.equal(stepOf(NaN, domain), 0);
});

test("a hole has an outline of its own, and cells at a corner have two", () => {
  const ringCells = Uint8Array.of(1, 1, 1, 1, 0, 1, 1, 1, 1);
  assert.deepEqual(
    outlines(ringCells, 3, 3).map((path) => path.length / 2),
    [4, 4],
  );
  assert.deepEqual(
    outlines(Uint8Array.of(1, 0, 0, 1), 2, 2).map((path) => path.length / 2),
    [4, 4],
  );
});
