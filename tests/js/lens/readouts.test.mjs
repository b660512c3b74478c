import assert from "node:assert/strict";
import { test } from "node:test";

import { brightestText } from "../../../playground/microscope/lens/readouts.js";
import { passTime } from "./alens.mjs";
import { mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls", "reg0"] };
const shareIn = (text) => Number.parseFloat(text.replace(/[<,]/g, "")) / 100;

test("a clipped patch is counted, and told apart from the brightest", () => {
  assert.equal(brightestText(0.2, 0, 0.2, "weight"), "brightest from 20\u00a0%");
  assert.equal(brightestText(0.2, 1, 0.4, "weight"), "brightest from 20\u00a0%: 1 patch above, up to 40\u00a0%");
});

test("what was assumed of a model stands below its picture, and nothing where nothing was", async () => {
  const assumed = "mean 0.5 0.5 0.5, std 0.5 0.5 0.5, 3 heads of 64, the activation gelu";
  for (const [pack, words] of [
    [{ assumed }, `Assumed of the model: ${assumed}.`],
    [{}, ""],
  ]) {
    const microscope = await mountLens({ pack });
    assert.deepEqual([microscope.words("assumed"), microscope.part("assumed").hidden], [words, !words]);
  }
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

test("a screen reader hears the row in a sentence, once the cursor rests", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, head: 2, query: "3,3", locked: true } });
  microscope.point("pointermove", microscope.part("picture"), 0.1, 0.1);
  assert.equal(microscope.words("live"), "");
  await passTime(600);
  assert.match(microscope.words("live"), /^row 3, column 3 in layer 1, head 2: (Its attention|\S+ % of its|It) /);
});
