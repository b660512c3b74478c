import assert from "node:assert/strict";
import { test } from "node:test";
import { verdictText } from "../../../playground/microscope/lens/readouts.js";
import { callsOf } from "../canvas.mjs";
import { draw, mountLens } from "./mounted.mjs";

test("the verdict on the whole pass names every label that has changed, the largest change first", () => {
  const changes = [
    ["food", 0.09, 0.86],
    ["plant", 1, 0.42],
    ["vehicle", 0.004, 0.3],
  ];
  assert.equal(verdictText(changes), "food 9.0 % → 86 % · plant 100 % → 42 % · vehicle 0.40 % → 30 %");
  assert.equal(verdictText([["landscape", 1, 0.995]]), "landscape 100 %: no label changed by 2.0 % or more");
});

const GRID = { grid: [6, 7], prefix: ["cls"] };
const VIEW = { layer: 1, head: 0, query: "3,3", locked: true };

test("the curtain follows the hand and its keys, and says what stands behind it", async () => {
  const microscope = await mountLens({ pack: GRID, view: VIEW });
  const curtain = microscope.part("curtain");
  Object.assign(curtain, { setPointerCapture() {}, hasPointerCapture: () => true });
  microscope.point("pointermove", curtain, 0.6, 0.5);
  assert.equal(microscope.lens.view.curtain, 0.6);
  assert.deepEqual([curtain.dataset.behind, curtain.getAttribute("aria-valuenow")], ["no scale", "60"]);
  for (const [key, to] of [
    ["ArrowRight", 0.65],
    ["ArrowLeft", 0.6],
    ["End", 1],
    ["Home", 0],
  ]) {
    microscope.key(key, curtain);
    assert.equal(microscope.lens.view.curtain, to, key);
  }
  microscope.key("s");
  assert.equal(curtain.dataset.behind, "with 1/√d");
  microscope.lens.update({ view: { ...VIEW, direction: "column" } });
  draw();
  assert.ok(curtain.hidden, "a column would need the sums of all rows at the other scale too");
});

test("behind the curtain stands the row at the other scale", async () => {
  const microscope = await mountLens({ pack: GRID, view: { ...VIEW, curtain: 0.5 } });
  const [front, behind] = callsOf(microscope.part("picture").getContext("2d"), "drawImage").slice(-2);
  const [frontData, behindData] = [front, behind].map(
    ([, canvas]) => callsOf(canvas.getContext("2d"), "putImageData").at(-1)[1].data,
  );
  assert.notDeepEqual(behindData, frontData);
  microscope.lens.update({ view: { ...VIEW, scale: 1 } });
  draw();
  const [, canvas] = callsOf(microscope.part("picture").getContext("2d"), "drawImage").at(-1);
  assert.deepEqual(callsOf(canvas.getContext("2d"), "putImageData").at(-1)[1].data, behindData);
});
