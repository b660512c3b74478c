import assert from "node:assert/strict";
import { test } from "node:test";

import { passTime } from "./alens.mjs";
import { draw, mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };
const VIEW = { layer: 1, head: 1, query: "3,3", locked: true };

test("a click on the film goes to that layer, and dragging plays them", async () => {
  const microscope = await mountLens({ pack: GRID, view: VIEW });
  const strip = microscope.find(".film canvas");
  Object.assign(strip, { setPointerCapture() {}, hasPointerCapture: () => true });
  microscope.point("pointerdown", strip, 0.9, 0.5);
  assert.equal(microscope.lens.view.layer, 3);
  for (const layer of [0, 1, 2, 3]) {
    microscope.point("pointermove", strip, (layer + 0.5) / 4, 0.5);
    assert.equal(microscope.lens.view.layer, layer);
    assert.match(strip.title, new RegExp(`^layer ${layer}`));
  }
});

test("the film shows each layer's head on view, sharpest head, or mean; the pressed button says which", async () => {
  const microscope = await mountLens({ pack: GRID, view: VIEW });
  await passTime(100);
  const pressedButtons = () =>
    [...microscope.root.querySelectorAll('[data-film][aria-pressed="true"]')].map((item) => item.dataset.film);
  assert.deepEqual(pressedButtons(), ["head"]);
  assert.equal(microscope.find('[data-film="head"]').textContent, "head 1");
  microscope.click(microscope.find('[data-film="sharpest"]'));
  await passTime(100);
  assert.deepEqual(pressedButtons(), ["sharpest"]);
});

test("the mean of heads is what the picture and its numbers show; the head keeps its row", async () => {
  const microscope = await mountLens({ pack: GRID, view: VIEW });
  const headReadout = {
    row: microscope.lens.read().row,
    sentence: microscope.words("sentence"),
    big: microscope.words("big"),
  };
  microscope.click(microscope.find('[data-film="mean"]'));
  assert.match(microscope.words("badge"), /the mean of all heads/);
  assert.match(microscope.words("bigLabel"), /^the mean of all heads listens to about/);
  const meanBig = microscope.words("big"); // of head 1, which other heads follow in memory
  assert.notEqual(meanBig, headReadout.big);
  const mean = new Float64Array(43);
  for (const head of [0, 1, 2]) {
    microscope.lens.update({ view: { ...VIEW, head } });
    draw();
    microscope.lens.read().row.forEach((weight, i) => (mean[i] += weight / 3));
  }
  const entropy = mean.reduce((sum, weight) => sum - weight * Math.log2(weight), 0);
  for (const big of [meanBig, microscope.words("big")]) {
    assert.ok(Math.abs(Number(big) - 2 ** entropy) < 0.06, `${big} ${2 ** entropy}`);
  }
  microscope.lens.update({ view: VIEW });
  draw();
  assert.deepEqual(microscope.lens.read().row, headReadout.row);
  microscope.click(microscope.find('[data-film="head"]'));
  assert.equal(microscope.words("sentence"), headReadout.sentence);
});

test("the film and the wall say how many layers are on their way", async () => {
  const microscope = await mountLens({ pack: { ...GRID, held: [1] }, view: { ...VIEW, beside: "wall" } });
  await passTime(100);
  assert.equal(microscope.find(".film-heads i").textContent, "loading 3 layers");
  assert.match(microscope.words("otherFoot"), /loading 3 layers/);
});
