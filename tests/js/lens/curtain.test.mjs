import assert from "node:assert/strict";
import { test } from "node:test";

import { verdictOf } from "../../../playground/microscope/lens/readouts.js";

test("the verdict on the whole pass names every label that has changed, the largest change first", () => {
  const before = [
    ["landscape", 1],
    ["plant", 1],
    ["animal", 0.86],
    ["food", 0.09],
    ["tool", 0.01],
  ];
  const after = [
    ["landscape", 1],
    ["food", 0.86],
    ["animal", 0.85],
    ["plant", 0.42],
    ["vehicle", 0.3],
  ];
  assert.equal(
    verdictOf(before, after),
    "food 9.0 % → 86 % · plant 100 % → 42 % · tool 1.0 % → below 30 % · vehicle below 1.0 % → 30 %",
  );
  assert.equal(verdictOf(before, before), "landscape 100 %: no label changed by 2.0 % or more");
});
