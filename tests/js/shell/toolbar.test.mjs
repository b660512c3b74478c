import assert from "node:assert/strict";
import { test } from "node:test";

import { createToolbar } from "../../../playground/microscope/shell/toolbar.js";
import { aHost, aPlace, pressKey } from "./page.mjs";

function aToolbar(overrides) {
  const host = aHost(overrides);
  const root = aPlace();
  const toolbar = createToolbar(root, host);
  const part = (name) => root.querySelector(name);
  const sheet = () => part(".sheet.open");
  const focusedElement = () => root.getRootNode().activeElement;
  return { host, root, toolbar, part, sheet, focused: focusedElement, words: (name) => part(name)?.textContent };
}

// The words of the lines in the sheet of *More*.
function linesOfMore({ part, sheet }) {
  if (!sheet()) part(".more").click();
  return [...sheet().querySelectorAll(".wide")].filter((item) => !item.hidden).map((item) => item.textContent);
}
function openLine(bar, words) {
  linesOfMore(bar);
  [...bar.sheet().querySelectorAll("button.wide")].find(({ textContent }) => textContent.startsWith(words)).click();
}

test("Escape closes a sheet and gives the focus back, and nobody else hears it", () => {
  const { part, sheet, focused } = aToolbar();
  part(".pages").click();
  let callCount = 0;
  document.body.addEventListener("keydown", () => callCount++, { once: true });
  pressKey(sheet().querySelector("button"), "Escape");
  assert.equal(sheet(), null);
  assert.equal(focused(), part(".pages"));
  assert.equal(callCount, 0);
});

test("the arrow keys walk through the menu, from the page that is shown", () => {
  const { part, focused } = aToolbar();
  part(".pages").click();
  const focusedTexts = ["ArrowDown", "ArrowDown", "ArrowUp", "End"].map((key) => {
    pressKey(focused(), key);
    return focused().textContent;
  });
  assert.deepEqual(focusedTexts, [
    "1By hand: attention without training",
    "For the one who teaches",
    "1By hand: attention without training",
    "Present",
  ]);
});

test("a model for the comparison is chosen on the same cards, and stands beside", () => {
  let options = null;
  const bar = aToolbar({ sheets: { models: (_, sheetOptions) => (options = sheetOptions), export: () => {} } });
  const { host, sheet } = bar;
  openLine(bar, "Compare");
  [...sheet().querySelectorAll(".tabs button")][1].click();
  options.choice.set({ model: "small", chose: true });
  options.done();
  assert.deepEqual([host.choice.now.model, host.choice.now.beside], ["dino", { model: "small" }]);
  assert.equal(sheet(), null);
});

test("More holds model, grid, compare and export, each only where there is one, and follows the choice", () => {
  const bar = aToolbar();
  const { host, toolbar } = bar;
  assert.deepEqual(linesOfMore(bar), ["Model: DINO S/16", "Patches14 × 1428 × 28", "Compare", "Export"]);
  host.choice.set({ model: "small" });
  toolbar.update({ sheets: {}, grids: [] });
  assert.deepEqual(linesOfMore(bar), ["Model: our small ViT", "Compare"]);
});
