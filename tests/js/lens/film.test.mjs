import assert from "node:assert/strict";
import { test } from "node:test";

import { callsOf } from "../canvas.mjs";
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
  microscope.openRow("head");
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
  assert.match(microscope.words("bigLabel"), /^the mean of all heads looks at about/);
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

const lightOf = (data, pixel) => data[4 * pixel] + data[4 * pixel + 1] + data[4 * pixel + 2];
const brightestOf = (values) => values.indexOf(Math.max(...values));

// The strip of all layers, one pixel for each patch, as it was last painted.
function stripOf(microscope) {
  const pictures = callsOf(microscope.find(".film canvas").getContext("2d"), "drawImage").slice(-4);
  const [, strip] = pictures[0];
  const [, { data, width }] = callsOf(strip.getContext("2d"), "putImageData").at(-1);
  const lightsOfLayer = (layer) =>
    Array.from({ length: 42 }, (_, patch) =>
      lightOf(data, Math.floor(patch / 7) * width + pictures[layer][2] + (patch % 7)),
    );
  return [0, 1, 2, 3].map(lightsOfLayer);
}

function rowsOf(microscope, layer) {
  return [0, 1, 2].map((head) => {
    microscope.lens.update({ view: { ...VIEW, layer, head } });
    draw();
    return [...microscope.lens.read().row];
  });
}
const entropyOf = (row) => row.reduce((sum, weight) => sum - weight * Math.log2(weight), 0);

test("the film has each layer's row of the head on view, or of the sharpest; the layer on view is framed", async () => {
  const microscope = await mountLens({ pack: GRID, view: VIEW });
  microscope.openRow("head");
  const rows = [0, 1, 2, 3].map((layer) => rowsOf(microscope, layer));
  microscope.lens.update({ view: { ...VIEW, layer: 2 } });
  draw();
  await passTime(100);
  const assertShown = (rowOfLayer) => {
    for (const [layer, lights] of stripOf(microscope).entries()) {
      const row = rowOfLayer(rows[layer]).slice(1);
      assert.ok(row[brightestOf(lights)] > 0.9 * Math.max(...row), `layer ${layer}: ${lights}; ${row}`);
    }
  };
  assertShown((heads) => heads[1]);
  const context = microscope.find(".film canvas").getContext("2d");
  const [x, y] = callsOf(context, "drawImage").at(-2).slice(6);
  assert.deepEqual(callsOf(context, "strokeRect").at(-1).slice(1, 3), [x, y]);
  microscope.click(microscope.find('[data-film="sharpest"]'));
  await passTime(100);
  assertShown((heads) => heads.toSorted((a, b) => entropyOf(a) - entropyOf(b))[0]);
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
