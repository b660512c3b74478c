import assert from "node:assert/strict";
import { test } from "node:test";

import { mountLens } from "./mounted.mjs";

const LOCKED_VIEW = { layer: 1, head: 1, query: "3,3", locked: true };
const numberIn = (text) => Number.parseFloat(text.replace("−", "-").replace(",", ""));

test("the arithmetic leads from the products to the weight, follows the cursor, and Escape closes it", async () => {
  const microscope = await mountLens({ pack: { grid: [6, 7] }, view: LOCKED_VIEW });
  const panel = microscope.find(".sums");
  const point = (row, column) =>
    microscope.point("pointermove", microscope.part("picture"), (column + 0.5) / 7, (row + 0.5) / 6);
  point(2, 5);
  microscope.click(microscope.find(".pair-label"));
  assert.equal(panel.hidden, false);
  const steps = () => [...panel.querySelectorAll("dd")].map((item) => numberIn(item.textContent));
  const { aim } = microscope.lens.read();
  const [dot, score, , share] = steps();
  assert.ok(Math.abs(dot / 2 - score) < 0.02, "the scale of heads four wide");
  assert.ok(Math.abs(score - aim.score) < 0.01 && Math.abs(share / 100 - aim.weight) < 0.006);
  const [, place, a, b, product] = /number (\d) of 4: (\S+) × (\S+) = (\S+)/.exec(panel.textContent);
  assert.ok(Number(place) >= 1);
  assert.ok(Math.abs(numberIn(a) * numberIn(b) - numberIn(product)) < 0.05);
  const formerText = panel.textContent;
  point(4, 1);
  assert.notEqual(panel.textContent, formerText);
  microscope.key("Escape");
  assert.deepEqual([panel.hidden, microscope.lens.view.locked], [true, true], "the lock stays");
});

test("without an aimed patch the arithmetic is of the largest weight; a map has none", async () => {
  const microscope = await mountLens({ pack: { grid: [6, 7] }, view: { ...LOCKED_VIEW, locked: false } });
  microscope.key("a");
  const { aim, locked, peakAt } = microscope.lens.read();
  assert.deepEqual([aim.at, locked], [peakAt, true]);
  const mapMicroscope = await mountLens({ pack: { grid: [6, 7] }, view: { ...LOCKED_VIEW, what: "norm" } });
  mapMicroscope.key("a");
  assert.ok(mapMicroscope.find(".sums").hidden);
});
