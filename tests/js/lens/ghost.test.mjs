import assert from "node:assert/strict";
import { test } from "node:test";

import { threePatches, WALK_MS } from "../../../playground/microscope/lens/moment.js";
import { passTime } from "./alens.mjs";
import { draw, mountLens, setReducedMotion } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };
const VIEW = { layer: 1, head: 1, query: "3,3" };

async function greet(microscope) {
  let startCount = 0;
  const willCome = microscope.lens.greet(() => startCount++);
  await passTime(900);
  return { comes: willCome, startCount, ghost: () => microscope.find(".ghost:not(.leaves)") };
}

test("the ghost visits the patch that is listened to most and one that is not, and ends where it began", () => {
  const row = new Float32Array(42).fill(0.01);
  row[10] = 0.5;
  row[29] = 0.001;
  assert.deepEqual(threePatches(row, 0, 6, 7, 24), [10, 29, 24]);
});

test("the ghost comes after a while, asks as a hand does, hands over, and leaves everything as it was", async () => {
  const microscope = await mountLens({ pack: GRID, view: VIEW });
  const { comes, startCount, ghost } = await greet(microscope);
  assert.deepEqual([comes, startCount], [true, 1]);
  const queries = new Set();
  for (let ms = 0; ms < WALK_MS + 500; ms += 100) {
    await passTime(100);
    draw(2);
    queries.add(microscope.lens.read().query);
  }
  assert.ok(queries.size >= 3, [...queries].join(" "));
  assert.ok(ghost().classList.contains("turn"));
  await passTime(2600);
  draw();
  assert.equal(ghost(), null);
  assert.equal(microscope.lens.read().query, "3,3");
});

test("any movement but that of a resting mouse ends the ghost", async () => {
  const microscope = await mountLens({ pack: GRID, view: VIEW });
  const { ghost } = await greet(microscope);
  const move = (x) => microscope.point("pointermove", microscope.root, x, 0.5);
  move(0.5);
  move(0.52);
  assert.ok(ghost());
  move(0.6);
  assert.equal(ghost(), null);
});

test("the ghost does not come where motion is unwanted or a patch is locked", async () => {
  setReducedMotion(true);
  const microscope = await mountLens({ pack: GRID, view: VIEW });
  assert.equal((await greet(microscope)).comes, false);
  setReducedMotion(false);
  const lockedMicroscope = await mountLens({ pack: GRID, view: { ...VIEW, locked: true } });
  const { startCount, ghost } = await greet(lockedMicroscope);
  assert.deepEqual([startCount, ghost()], [0, null]);
});
