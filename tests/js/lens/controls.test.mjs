import assert from "node:assert/strict";
import { test } from "node:test";

import { mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls", "reg0"], head_numbers: [0, 2, 5] };
const stateOf = ({ lens }) => lens.read();

test("a click locks a patch, another one moves the lock, one on the locked patch or Escape lets go", async () => {
  const microscope = await mountLens({ pack: GRID });
  const { part, point, key } = microscope;
  const click = (row, column) => point("click", part("picture"), (column + 0.5) / 7, (row + 0.5) / 6);
  const state = () => [stateOf(microscope).query, stateOf(microscope).locked];
  click(3, 4);
  assert.deepEqual(state(), ["3,4", true]);
  assert.equal(microscope.words("lock"), "locked at row 3, column 4 · Esc frees it");
  click(5, 5);
  assert.deepEqual(state(), ["5,5", true]);
  click(5, 5);
  assert.deepEqual(state(), ["5,5", false]);
  click(3, 4);
  key("Escape");
  assert.deepEqual(state(), ["3,4", false]);
});

test("the patch under the cursor asks while none is locked; a locked one is aimed at, and its row stays", async () => {
  const microscope = await mountLens({ pack: GRID });
  const picture = microscope.part("picture");
  microscope.point("pointermove", picture, 0.5 / 7, 0.5 / 6);
  assert.equal(stateOf(microscope).query, "0,0");
  microscope.point("click", picture, 0.5 / 7, 0.5 / 6);
  const { row } = stateOf(microscope);
  microscope.point("pointermove", picture, 2.5 / 7, 3.5 / 6);
  const { query, aim, row: rowAfter } = stateOf(microscope);
  assert.deepEqual([query, aim.at, rowAfter], ["0,0", "3,2", row]);
  assert.equal(aim.weight, row[2 + 3 * 7 + 2]);
  microscope.point("pointerleave", picture, 0, 0);
  assert.equal(stateOf(microscope).aim, null);
});

test("keys move the patch, stop at the border, and choose layer, head, switch, drawing and wall", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, head: 0, query: "3,3", locked: true } });
  for (const [key, query] of [
    ["ArrowUp", "2,3"],
    ["ArrowRight", "2,4"],
    ["ArrowDown", "3,4"],
    ["ArrowLeft", "3,3"],
  ]) {
    microscope.key(key);
    assert.equal(stateOf(microscope).query, query, key);
  }
  for (const [key, name, value] of [
    ["]", "layer", 2],
    ["[", "layer", 1],
    [".", "head", 1],
    [",", "head", 0],
    ["5", "head", 2], // key 5: the head with the index 5 in the model
    ["4", "head", 2], // there is no head with the index 4
    ["s", "scale", "off"],
    ["s", "scale", "on"],
    ["d", "draw", "light"],
    ["d", "draw", "heat"],
    ["w", "beside", "wall"],
    ["w", "beside", "convolution"],
    ["n", "beside", "filter"],
    ["n", "beside", "convolution"],
  ]) {
    microscope.key(key);
    assert.equal(microscope.lens.view[name], value, key);
  }
  microscope.lens.update({ view: { layer: 1, query: "0,0", locked: true } });
  for (const key of ["ArrowUp", "ArrowLeft", "ArrowRight"]) microscope.key(key);
  assert.equal(microscope.lens.view.query, "0,1");
});

test("what is typed with another key held, or into a text, is no shortcut", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1 } });
  const textField = document.createElement("input");
  textField.type = "text";
  microscope.root.append(textField);
  microscope.key("]", textField);
  assert.equal(microscope.lens.view.layer, 1);
});

test("the dial snaps to the trained scale and to none, makes rows even at zero, and goes past none", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, query: "3,3", locked: true } });
  const dial = microscope.part("dial");
  const scaleAfterTurn = (position) => {
    microscope.input(dial, String(position));
    return microscope.lens.view.scale;
  };
  assert.deepEqual([scaleAfterTurn(505), scaleAfterTurn(1005)], ["on", "off"]);
  const formerState = stateOf(microscope);
  assert.ok(scaleAfterTurn(1500) > 1);
  assert.ok(stateOf(microscope).peak >= formerState.peak && stateOf(microscope).entropy <= formerState.entropy);
  scaleAfterTurn(0);
  const { row, effective } = stateOf(microscope);
  for (const weight of row) assert.ok(Math.abs(weight - 1 / 44) < 1e-6, `${weight}`);
  assert.ok(Math.abs(effective - 44) < 1e-3);
  assert.equal(microscope.words("big"), "44.0");
});

test("buttons choose: a special token, a head, a way to look; the exposure is held and let go", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, query: "3,3" } });
  microscope.click(microscope.find('[data-token="cls"]'));
  assert.deepEqual([stateOf(microscope).query, stateOf(microscope).locked], ["cls", true]);
  microscope.click(microscope.find('[data-token="cls"]'));
  assert.equal(stateOf(microscope).locked, false);
  microscope.click(microscope.find('[data-head="2"]'));
  assert.equal(microscope.lens.view.head, 2);
  microscope.click(microscope.find('[data-choice="what"] [data-value="score"]'));
  assert.equal(microscope.lens.view.what, "score");
  microscope.click(microscope.find('[data-choice="what"] [data-value="weight"]'));
  microscope.click(microscope.part("hold"));
  assert.ok(microscope.lens.view.ceiling > 0);
  assert.equal(microscope.words("hold"), "exposure held");
  microscope.click(microscope.part("hold"));
  assert.equal(microscope.lens.view.ceiling, "auto");
});

test("a click on the wall goes to the layer and the head whose picture is there", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, beside: "wall" } });
  const places = Array.from({ length: 24 }, (_, i) => (i + 0.5) / 24);
  const found = new Set();
  for (const x of places)
    for (const y of places) {
      microscope.point("click", microscope.part("wall"), x, y);
      found.add(`${microscope.lens.view.layer} ${microscope.lens.view.head}`);
    }
  assert.deepEqual(
    [...found].sort(),
    [0, 1, 2, 3].flatMap((layer) => [0, 1, 2].map((head) => `${layer} ${head}`)),
  );
});

test("one sheet is open at a time; a click elsewhere on the page, or Escape, closes it", async () => {
  const microscope = await mountLens({ pack: GRID });
  const openSheets = () => ["drawing", "sending"].filter((name) => !microscope.part(`${name}Sheet`).hidden).join();
  microscope.click(microscope.part("drawing"));
  assert.equal(openSheets(), "drawing");
  microscope.click(microscope.part("sending"));
  assert.equal(openSheets(), "sending");
  microscope.point("pointerdown", microscope.part("sendingSheet"), 0, 0);
  assert.equal(openSheets(), "sending", "within it");
  microscope.point("pointerdown", microscope.part("stage"), 0, 0);
  assert.equal(openSheets(), "");
  microscope.click(microscope.part("sending"));
  microscope.key("Escape");
  assert.equal(openSheets(), "");
});
