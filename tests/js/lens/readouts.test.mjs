import assert from "node:assert/strict";
import { test } from "node:test";

import {
  brightestText,
  divisorOf,
  scaleText,
  tokenName,
  whatToDo,
} from "../../../playground/microscope/lens/readouts.js";
import { passTime } from "./alens.mjs";
import { draw, mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls", "reg0"] };
const shareIn = (text) => Number.parseFloat(text.replace(/[<,]/g, "")) / 100;

test("tokens and scales have their names", () => {
  const pack = { prefixCount: 1, prefix: ["cls"], columns: 7, scale: 0.125, dim: 64 };
  assert.deepEqual([tokenName(0, pack), tokenName(9, pack)], ["CLS", "row 1, column 1"]);
  assert.deepEqual([divisorOf(pack), divisorOf({ scale: 0.1, dim: 64 })], ["√64", "10"]);
  assert.deepEqual([0, 0.125, 0.0001].map(scaleText), ["0", "0.125", "1.0e-4"]);
});

test("what to do is said by the picture's own hint, or by one for a finger or a mouse", () => {
  const mainEntry = { picture: { hint: "Point at one eye." } };
  assert.equal(whatToDo({ main: mainEntry }, { touch: false }), "Point at one eye.");
  assert.match(whatToDo({ main: { picture: {} } }, { touch: true }), /^Drag/);
  assert.match(whatToDo({ main: { picture: {} } }, { touch: false }), /^Put the cursor/);
});

test("a clipped patch is counted, and told apart from the brightest", () => {
  assert.equal(brightestText(0.2, 0, 0.2, "weight"), "brightest from 20\u00a0%");
  assert.equal(brightestText(0.2, 1, 0.4, "weight"), "brightest from 20\u00a0%: 1 patch above, up to 40\u00a0%");
});

test("what special tokens take, the largest weight and what lies above the exposure are the row's", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, query: "3,3", locked: true, ceiling: 0.03 } });
  const { prefix, row, peak, domain } = microscope.lens.read();
  const shares = [...microscope.part("shares").querySelectorAll("dd")].map((item) => shareIn(item.textContent));
  Object.values(prefix).forEach((share, i) => assert.ok(Math.abs(share - shares[i]) < 0.006, `${share} ${shares[i]}`));
  assert.ok(Math.abs(shareIn(microscope.words("peak")) - peak) < 0.006);
  const exceedingWeights = row.slice(2).filter((weight) => weight > domain.high);
  assert.ok(exceedingWeights.length > 0);
  const sentence = microscope.words("exposed");
  assert.match(sentence, new RegExp(`: ${exceedingWeights.length} patch`));
  assert.ok(Math.abs(shareIn(sentence.split("up to ")[1]) - Math.max(...exceedingWeights)) < 0.006, sentence);
});

test("the badge says what differs from training, and goes when nothing does", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, query: "3,3" } });
  assert.ok(microscope.part("badge").hidden);
  microscope.click(microscope.part("switch"));
  assert.match(microscope.words("badge"), /^without 1\/√4 · in this layer only$/);
  microscope.click(microscope.part("switch"));
  assert.ok(microscope.part("badge").hidden);
});

test("the outlined share is told where light is drawn, and not where heat is", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, query: "3,3", draw: "light" } });
  assert.match(microscope.words("outlined"), /^outlined: \d+\u00a0% of what all patches get$/);
  microscope.lens.update({ view: { layer: 1, query: "3,3", draw: "heat" } });
  draw();
  assert.equal(microscope.words("outlined"), "");
});

test("a map cannot hold an exposure, for it has an axis of its own", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, what: "similarity" } });
  assert.ok(microscope.part("hold").disabled);
  microscope.lens.update({ view: { layer: 1 } });
  draw();
  assert.equal(microscope.part("hold").disabled, false);
});

test("a screen reader hears the row in a sentence, once the cursor rests", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, head: 2, query: "3,3", locked: true } });
  microscope.point("pointermove", microscope.part("picture"), 0.1, 0.1);
  assert.equal(microscope.words("live"), "");
  await passTime(600);
  assert.match(microscope.words("live"), /^row 3, column 3 in layer 1, head 2: (Its attention|\S+ % of its|It) /);
});
