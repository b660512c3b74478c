import assert from "node:assert/strict";
import { test } from "node:test";

import { mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls", "reg0"], head_numbers: [0, 2, 5] };

test("what is typed with another key held, or into a text, is no shortcut", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1 } });
  const textField = document.createElement("input");
  textField.type = "text";
  microscope.root.append(textField);
  microscope.key("]", textField);
  assert.equal(microscope.lens.view.layer, 1);
});

test("one sheet is open at a time; a click elsewhere on the page, or Escape, closes it", async () => {
  const microscope = await mountLens({ pack: GRID });
  const openSheets = () => ["keys", "sending"].filter((name) => !microscope.part(`${name}Sheet`).hidden).join();
  microscope.click(microscope.part("keys"));
  assert.equal(openSheets(), "keys");
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
