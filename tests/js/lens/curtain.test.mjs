import assert from "node:assert/strict";
import { test } from "node:test";
import { verdictText } from "../../../playground/microscope/lens/readouts.js";

test("the verdict on the whole pass names every label that has changed, the largest change first", () => {
  const changes = [
    ["food", 0.09, 0.86],
    ["plant", 1, 0.42],
    ["vehicle", 0.004, 0.3],
  ];
  assert.equal(verdictText(changes), "food 9.0 % → 86 % · plant 100 % → 42 % · vehicle 0.40 % → 30 %");
  assert.equal(verdictText([["landscape", 1, 0.995]]), "landscape 100 %: no label changed by 2.0 % or more");
});
