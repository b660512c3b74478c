import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../../playground/microscope/core/core.js";
import {
  alikeness,
  directionsOf,
  keysOf,
  likenessOf,
  regionAround,
} from "../../../playground/microscope/core/kinds.js";
import { packOf } from "../packs.mjs";

// Cases that are missing in tests/analysis/test_row_kinds.py.

const pack = unpack(packOf({ held: [0, 1, 2, 3], grid: [4, 5] }));

test("the keys of all heads stand side by side, token by token", () => {
  const features = keysOf(pack, 1);
  assert.deepEqual([features.tokens, features.width, features.from], [21, 12, 1]);
  const { k } = pack.stored.get(1).ready;
  assert.deepEqual([...features.raw.subarray(3 * 12 + 4, 3 * 12 + 8)], [...k.subarray((21 + 3) * 4, (21 + 4) * 4)]);
});

test("a patch resembles itself, and another both ways alike", () => {
  const directions = directionsOf(keysOf(pack, 1));
  const cosines = likenessOf(directions, 7);
  assert.equal(cosines.length, 20);
  assert.ok(Math.abs(cosines[7] - 1) < 1e-5);
  assert.ok(Math.abs(cosines[3] - alikeness(directions, 3, 7)) < 1e-6);
});

test("a region holds patches that touch at a side, not those that touch at a corner", () => {
  const members = new Set([0, 1, 6, 12, 13]); // patches of the 4 × 5 grid
  const region = regionAround((j) => members.has(j), 1, 4, 5);
  assert.deepEqual(
    [...region.keys()].filter((j) => region[j]),
    [0, 1, 6],
  );
});
