import assert from "node:assert/strict";
import { test } from "node:test";

import { mounted } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls", "reg0"] };
const LOCKED = { layer: 1, head: 1, query: "3,3", locked: true };
const at = (row, column) => [(column + 0.5) / 7, (row + 0.5) / 6];

test("a line runs from the locked patch to the one under the cursor, and says what it gives", async () => {
  const there = await mounted({ pack: GRID, view: LOCKED });
  const [box, label] = [there.find(".lockline"), there.find(".pair-label")];
  assert.ok(box.hidden);
  there.point("pointermove", there.part("picture"), ...at(5, 6));
  const { aim, row } = there.lens.read();
  const ends = ["x1", "y1", "x2", "y2"].map((name) => Number(there.find(".wire").getAttribute(name)));
  assert.deepEqual([box.hidden, ends], [false, [3.5, 3.5, 6.5, 5.5]]);
  assert.equal(aim.weight, row[2 + 5 * 7 + 6]);
  assert.match(label.textContent, /^gives this patch .* %rank \d+ of 44 · q·k\/√4 = /);
  assert.ok(label.textContent.includes(`rank ${aim.rank} of`));
  there.point("pointermove", there.part("picture"), ...at(3, 3));
  assert.match(label.textContent, /^gives itself /);
  there.point("pointerleave", there.part("picture"), 0, 0);
  assert.ok(box.hidden);
});

test("in a column the words are turned round, and a map has neither weight nor arithmetic", async () => {
  const there = await mounted({ pack: GRID, view: { ...LOCKED, direction: "column" } });
  there.point("pointermove", there.part("picture"), ...at(0, 0));
  assert.match(there.find(".pair-label").textContent, /^gets from this patch /);
  there.lens.update({ view: { ...LOCKED, what: "norm" } });
  there.point("pointermove", there.part("picture"), ...at(0, 1));
  assert.ok(there.find(".pair-label").disabled);
});

test("a bar of the sorted weights that is pointed at lights the patch of that rank", async () => {
  const there = await mounted({ pack: GRID, view: LOCKED });
  there.point("pointermove", there.part("curve"), 0.6, 0.8);
  const { aim, row } = there.lens.read();
  assert.equal(row.toSorted((a, b) => b - a)[aim.rank - 1], aim.weight);
  const first = aim.rank;
  there.point("pointermove", there.part("curve"), 0.9, 0.8);
  assert.ok(there.lens.read().aim.rank > first);
  there.point("pointerleave", there.part("curve"), 0, 0);
  assert.equal(there.lens.read().aim, null);
});
