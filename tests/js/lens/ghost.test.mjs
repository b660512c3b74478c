import assert from "node:assert/strict";
import { test } from "node:test";

import { threePatches, WALK_MS } from "../../../playground/microscope/lens/moment.js";
import { pass } from "./alens.mjs";
import { draw, mounted, wantsNoMotion } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };
const VIEW = { layer: 1, head: 1, query: "3,3" };

async function greeted(microscope) {
  let startCount = 0;
  const comes = microscope.lens.greet(() => startCount++);
  await pass(900);
  return { comes, began: startCount, ghost: () => microscope.find(".ghost:not(.leaves)") };
}

test("it shows the patch that is listened to most, one that is not, and ends where it began", () => {
  const row = new Float32Array(42).fill(0.01);
  row[10] = 0.5;
  row[29] = 0.001;
  assert.deepEqual(threePatches(row, 0, 6, 7, 24), [10, 29, 24]);
});

test("it comes after a while, asks as a hand does, gives the turn, and leaves everything as it was", async () => {
  const microscope = await mounted({ pack: GRID, view: VIEW });
  const { comes, began: startCount, ghost } = await greeted(microscope);
  assert.deepEqual([comes, startCount], [true, 1]);
  const queries = new Set();
  for (let ms = 0; ms < WALK_MS + 500; ms += 100) {
    await pass(100);
    draw(2);
    queries.add(microscope.lens.read().query);
  }
  assert.ok(queries.size >= 3, [...queries].join(" "));
  assert.ok(ghost().classList.contains("turn"));
  await pass(2600);
  draw();
  assert.equal(ghost(), null);
  assert.equal(microscope.lens.read().query, "3,3");
});

test("any movement ends it, but for a mouse that rests", async () => {
  const microscope = await mounted({ pack: GRID, view: VIEW });
  const { ghost } = await greeted(microscope);
  const move = (x) => microscope.point("pointermove", microscope.root, x, 0.5);
  move(0.5);
  move(0.52);
  assert.ok(ghost());
  move(0.6);
  assert.equal(ghost(), null);
});

test("who wants no motion sees none, and who has a patch locked is not interrupted", async () => {
  wantsNoMotion(true);
  const microscope = await mounted({ pack: GRID, view: VIEW });
  assert.equal((await greeted(microscope)).comes, false);
  wantsNoMotion(false);
  const lockedMicroscope = await mounted({ pack: GRID, view: { ...VIEW, locked: true } });
  const { began: startCount, ghost } = await greeted(lockedMicroscope);
  assert.deepEqual([startCount, ghost()], [0, null]);
});
