import assert from "node:assert/strict";
import { test } from "node:test";

import { writeArrows } from "../../../playground/microscope/core/nine.js";
import isDone from "../../../playground/microscope/lessons/checks.js";

const arrows = (put) => {
  const all = new Float64Array(36);
  put?.(all);
  return { arrows: writeArrows(all) };
};

test("an exercise is done in its state, and not beside it", () => {
  const oneWay = (all) => {
    all[0] = all[2] = 4; // A and B look for what B offers
    all[18] = -1;
    all[20] = 1;
  };
  const atI = (all) => (all[0] = all[34] = 4);
  const values = [0, 0, 0, 0, 0, 0, 0, 0, 100];
  for (const [id, settings, numbers, done] of [
    ["by_hand_even", arrows(), {}, true],
    ["by_hand_even", arrows(oneWay), {}, false],
    ["by_hand_one_role", arrows(), {}, true],
    ["by_hand_one_role", arrows(oneWay), {}, false],
    ["by_hand_one_way", arrows(oneWay), {}, true],
    ["by_hand_one_way", arrows(), {}, false],
    ["by_hand_receive", arrows(atI), { values }, true],
    ["by_hand_receive", arrows(), { values }, false],
    [
      "scale_one_key",
      { dk: "1024", power: 0, row: 0 },
      {
        widths: [64, 1024],
        rows: [
          [
            [0, 1],
            [0, 50],
          ],
        ],
      },
      true,
    ],
    [
      "scale_one_key",
      { dk: "64", power: 0.5, row: 0 },
      {
        widths: [64, 1024],
        rows: [
          [
            [0, 1],
            [0, 50],
          ],
        ],
      },
      false,
    ],
    ["scale_lower", { dk: "512", power: 0 }, { less: 512 }, true],
    ["scale_lower", { dk: "512", power: 0.5 }, { less: 512 }, false],
  ])
    assert.equal(isDone(id, settings, numbers), done, `${id} ${JSON.stringify(settings)}`);
});

test("of others the page cannot tell", () => {
  assert.equal(isDone("patches_halve", {}, {}), null);
  assert.equal(isDone("toString", {}, {}), null);
});
