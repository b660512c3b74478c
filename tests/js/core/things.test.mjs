import assert from "node:assert/strict";
import { test } from "node:test";
import { rowInto, unpack } from "../../../playground/microscope/core/core.js";
import { keysOf } from "../../../playground/microscope/core/kinds.js";
import { openingOf, searchMoments } from "../../../playground/microscope/core/moments.js";
import { shapeOf } from "../../../playground/microscope/core/things.js";
import { packOf } from "../packs.mjs";

const [ROWS, COLUMNS] = [12, 14];

// The scene of a picture in which the patches of `isThing` have their own queries and keys, in head 1 of layer 3 only.
function sceneWith(isThing) {
  const numbers = (_source, layer, head, i) => {
    const patch = Math.floor(i / 4) - 1;
    const isOne = patch >= 0 && isThing(Math.floor(patch / COLUMNS), patch % COLUMNS);
    if (isOne) return i % 4 ? 0 : layer === 3 && head === 1 ? 4 : 1;
    return i % 4 ? Math.sin(1.7 * i * i) : -1;
  };
  const pack = unpack(packOf({ held: [0, 1, 2, 3], layers: 4, grid: [ROWS, COLUMNS], numbers }));
  const steps = searchMoments(pack, keysOf(pack, 2));
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

const isSquare = (row, column) => row >= 4 && row < 8 && column >= 5 && column < 10;

test("a compact part is found, in the head whose row lies in it, and its share is the row's sum over it", () => {
  const scene = sceneWith(isSquare);
  const [{ layer, head, patch, share, patches }] = scene.things;
  assert.deepEqual([layer, head], [3, 1]);
  assert.ok(isSquare(Math.floor(patch / COLUMNS), patch % COLUMNS), `patch ${patch}`);
  const inSquare = patches.filter((one) => isSquare(Math.floor(one / COLUMNS), one % COLUMNS)).length;
  assert.ok(inSquare / patches.length > 0.6 && inSquare > 12, `${inSquare} of ${patches.length}`);
  const row = new Float32Array(scene.pack.tokens);
  rowInto(row, 0, scene.pack, layer, head, scene.pack.prefixCount + patch, scene.pack.scale);
  const sum = patches.reduce((total, one) => total + row[scene.pack.prefixCount + one], 0);
  assert.ok(Math.abs(sum - share) < 1e-5 && share > 0.9, `${sum}, ${share}`);
});

test("a border counts as much as the picture changes there, and a ragged one less", () => {
  const { directions } = sceneWith(isSquare);
  const patchesOf = (isIn) =>
    Array.from({ length: ROWS * COLUMNS }, (_, patch) => patch).filter((patch) =>
      isIn(Math.floor(patch / COLUMNS), patch % COLUMNS),
    );
  const square = patchesOf(isSquare);
  const border = (patches) => shapeOf(patches, directions, { rows: ROWS, columns: COLUMNS }).border;
  const half = patchesOf((row, column) => isSquare(row, column) && column < 7);
  const ragged = patchesOf((row, column) => isSquare(row, column) && (row + column) % 2);
  assert.ok(border(square) > border(half) && border(half) > border(ragged), [square, half, ragged].map(border).join());
});

test("what lies along the border, or takes half of the picture, is no thing", () => {
  const isIn =
    (isPart) =>
    ({ patches, score }) =>
      score > 0.05 &&
      patches.filter((one) => isPart(Math.floor(one / COLUMNS), one % COLUMNS)).length > patches.length / 2;
  for (const isPart of [(row) => row < 3, (_row, column) => column < 7])
    assert.equal(sceneWith(isPart).things.filter(isIn(isPart)).length, 0);
});

test("a picture opens with a clear far partner, else a thing, else a far partner, else the class token", () => {
  const pack = unpack(packOf({ held: [2, 3], layers: 4, grid: [ROWS, COLUMNS], numbers: () => 0 }));
  const openingWith = (tells, score, isCoarse = false) => {
    const moments = [
      { layer: 3, head: 0, patches: [40, 6, 7], tells: [tells, 0, 0] },
      { layer: 2, head: 1, patches: [8, 9, 10], tells: [0, 0, 0] },
    ];
    const things = score ? [{ layer: 2, head: 0, patch: 90, score }] : [];
    const { kind, layer, head, token } = openingOf({ pack, moments, things }, isCoarse);
    return [kind, layer, head, token - pack.prefixCount];
  };
  const [far, thing] = [
    ["far", 3, 0, 40],
    ["thing", 2, 0, 90],
  ];
  assert.deepEqual(openingWith(0.2, 0.3), far);
  assert.deepEqual(openingWith(0.1, 0.05), thing);
  assert.deepEqual(openingWith(0.06, 0.001), far);
  const [kind, , , patch] = openingWith(0.01, 0.001);
  assert.deepEqual([kind, patch], ["nothing", -1], "the class token");
  assert.deepEqual(openingWith(0.1, 0.1, true), thing);
  assert.equal(openingWith(0.1, 0.01, true)[0], "nothing", "a coarse grid waits for the finer one");
});
