import assert from "node:assert/strict";
import { test } from "node:test";

import { mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls", "reg0"] };
const LOCKED_VIEW = { layer: 1, head: 1, query: "3,3", locked: true };
const middleOf = (row, column) => [(column + 0.5) / 7, (row + 0.5) / 6];

test("a line runs from the locked patch to the one under the cursor, and says what it gives", async () => {
  const microscope = await mountLens({ pack: GRID, view: LOCKED_VIEW });
  const [lineBox, label] = [microscope.find(".lockline"), microscope.find(".pair-label")];
  assert.ok(lineBox.hidden);
  microscope.point("pointermove", microscope.part("picture"), ...middleOf(5, 6));
  const { aim, row } = microscope.lens.read();
  const ends = ["x1", "y1", "x2", "y2"].map((name) => Number(microscope.find(".wire").getAttribute(name)));
  assert.deepEqual([lineBox.hidden, ends], [false, [3.5, 3.5, 6.5, 5.5]]);
  assert.equal(aim.weight, row[2 + 5 * 7 + 6]);
  assert.match(label.textContent, /^gives this patch .* %rank \d+ of 44 · q·k\/√4 = /);
  assert.ok(label.textContent.includes(`rank ${aim.rank} of`));
  microscope.point("pointermove", microscope.part("picture"), ...middleOf(3, 3));
  assert.match(label.textContent, /^gives itself /);
  microscope.point("pointerleave", microscope.part("picture"), 0, 0);
  assert.ok(lineBox.hidden);
});

test("in a column the words are turned round, and a map has neither weight nor arithmetic", async () => {
  const microscope = await mountLens({ pack: GRID, view: { ...LOCKED_VIEW, direction: "column" } });
  microscope.point("pointermove", microscope.part("picture"), ...middleOf(0, 0));
  assert.match(microscope.find(".pair-label").textContent, /^gets from this patch /);
  microscope.lens.update({ view: { ...LOCKED_VIEW, what: "norm" } });
  microscope.point("pointermove", microscope.part("picture"), ...middleOf(0, 1));
  assert.ok(microscope.find(".pair-label").disabled);
});
