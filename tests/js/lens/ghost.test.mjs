import assert from "node:assert/strict";
import { test } from "node:test";

import { threePatches, WALK } from "../../../playground/microscope/lens/moment.js";
import { pass } from "./alens.mjs";
import { draw, mounted, wantsNoMotion } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };
const VIEW = { layer: 1, head: 1, query: "3,3" };

async function greeted(there) {
  let began = 0;
  const comes = there.lens.greet(() => began++);
  await pass(900);
  return { comes, began, ghost: () => there.find(".ghost:not(.leaves)") };
}

test("it shows the patch that is listened to most, one that is not, and ends where it began", () => {
  const row = new Float32Array(42).fill(0.01);
  row[10] = 0.5;
  row[29] = 0.001;
  assert.deepEqual(threePatches(row, 0, 6, 7, 24), [10, 29, 24]);
});

test("it comes after a while, asks as a hand does, gives the turn, and leaves everything as it was", async () => {
  const there = await mounted({ pack: GRID, view: VIEW });
  const { comes, began, ghost } = await greeted(there);
  assert.deepEqual([comes, began], [true, 1]);
  const asked = new Set();
  for (let ms = 0; ms < WALK + 500; ms += 100) {
    await pass(100);
    draw(2);
    asked.add(there.lens.read().query);
  }
  assert.ok(asked.size >= 3, [...asked].join(" "));
  assert.ok(ghost().classList.contains("turn"));
  await pass(2600);
  draw();
  assert.equal(ghost(), null);
  assert.equal(there.lens.read().query, "3,3");
});

test("any movement ends it, but for a mouse that rests", async () => {
  const there = await mounted({ pack: GRID, view: VIEW });
  const { ghost } = await greeted(there);
  const move = (x) => there.point("pointermove", there.root, x, 0.5);
  move(0.5);
  move(0.52);
  assert.ok(ghost());
  move(0.6);
  assert.equal(ghost(), null);
});

test("who wants no motion sees none, and who has a patch locked is not interrupted", async () => {
  wantsNoMotion(true);
  const there = await mounted({ pack: GRID, view: VIEW });
  assert.equal((await greeted(there)).comes, false);
  wantsNoMotion(false);
  const locked = await mounted({ pack: GRID, view: { ...VIEW, locked: true } });
  const { began, ghost } = await greeted(locked);
  assert.deepEqual([began, ghost()], [0, null]);
});
