import assert from "node:assert/strict";
import { test } from "node:test";
import { receive } from "../../../playground/microscope/lens/asking.js";
import { rowBeside } from "../../../playground/microscope/lens/beside.js";
import { resolve } from "../../../playground/microscope/lens/state.js";
import { callsOf } from "../canvas.mjs";
import { packOf } from "../packs.mjs";
import { aLens, aTrace } from "./alens.mjs";
import { draw, mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };
const bitmap = { width: 70, height: 60 };

test("the compared picture is asked at the same place, at the same height, with the scale turned as far", () => {
  const { lens } = aLens({ pack: { grid: [2, 3] }, view: { layer: 3, head: 2, query: "1,2", scale: 0.25 } });
  const { choice, data, frame } = lens;
  data.other = receive(data, aTrace("dog"), packOf({ layers: 8, held: [7], heads: 2, grid: [4, 6], prefix: [] }));
  resolve(choice, data, frame);
  const { token, layer, head, values } = rowBeside(choice, data, frame);
  assert.deepEqual([layer, head, values.length], [7, 1, 24]);
  assert.deepEqual([Math.floor(token / 6) >= 2, token % 6 >= 4], [true, true], `${token}`);
  choice.view = { ...choice.view, query: "cls" };
  resolve(choice, data, frame);
  assert.deepEqual(rowBeside(choice, data, frame).values, null, "it has no such token");
});

test("a filter without a network says what it lights, and follows the patch that asks", async () => {
  const microscope = await mountLens({
    pack: GRID,
    bitmap,
    view: { layer: 1, query: "3,3", locked: true, beside: "filter" },
  });
  const sentence = microscope.words("filterWords");
  assert.match(sentence, /^The filter gives .*The row of layer 1, head 0 is .*: .*% in common\.$/);
  assert.match(microscope.words("twinBadge"), /^no network: colour and nearness alone$/);
  assert.match(microscope.words("filterExposed"), /^brightest from /);
  microscope.lens.update({ view: { layer: 1, query: "0,0", locked: true, beside: "filter" } });
  draw();
  assert.notEqual(microscope.words("filterWords"), sentence);
});

test("a column of the network is no row to compare with; a special token has no colour", async () => {
  const view = { layer: 1, query: "3,3", locked: true, beside: "filter" };
  const microscope = await mountLens({ pack: GRID, bitmap, view: { ...view, direction: "column" } });
  assert.doesNotMatch(microscope.words("filterWords"), /in common/);
  microscope.lens.update({ view: { ...view, query: "cls" } });
  draw();
  assert.equal(microscope.words("twinBadge"), "A filter of colours has no CLS token.");
  assert.deepEqual([microscope.words("filterWords"), microscope.words("filterExposed")], ["", ""]);
  const microscopeWithoutPixels = await mountLens({ pack: GRID, view });
  assert.equal(
    microscopeWithoutPixels.words("twinBadge"),
    "The picture could not be read: a filter needs its colours.",
  );
});

test("a convolution has no special token, and says how many patches it reads", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, query: "0,0", locked: true } });
  assert.equal(microscope.words("reads"), "reads 4 of 42 patches");
  microscope.lens.update({ view: { layer: 1, query: "3,3", locked: true, k: 5 } });
  draw();
  assert.equal(microscope.words("reads"), "reads 25 of 42 patches");
  microscope.lens.update({ view: { layer: 1, query: "cls", locked: true } });
  draw();
  assert.equal(microscope.words("twinBadge"), "A convolution has no CLS token.");
});

test("the kernel's cells beside the row's have the weights of the patches around the one that asks", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, query: "3,3", locked: true } });
  microscope.openRow("beside");
  const texts = callsOf(microscope.part("rowCells").getContext("2d"), "fillText").slice(-9);
  const { row } = microscope.lens.read();
  const around = [2, 3, 4].flatMap((r) => [2, 3, 4].map((c) => 100 * row[1 + 7 * r + c]));
  assert.deepEqual(
    texts.map(([, text]) => text),
    around.map((share) => (share >= 9.95 ? share.toFixed(0) : share.toFixed(1))),
  );
});

test("on the wall each layer has a row, each head a column", async () => {
  const view = { layer: 1, query: "3,3", locked: true, beside: "wall" };
  const microscope = await mountLens({ pack: GRID, view });
  const [, sheet] = callsOf(microscope.part("wall").getContext("2d"), "drawImage").at(-1);
  const [, { data, width }] = callsOf(sheet.getContext("2d"), "putImageData").at(-1);
  for (const [layer, head] of [
    [0, 2],
    [3, 1],
  ]) {
    microscope.lens.update({ view: { ...view, layer, head } });
    draw();
    const row = [...microscope.lens.read().row].slice(1);
    const lights = row.map((_, patch) => {
      const pixel = 4 * ((layer * 6 + Math.floor(patch / 7)) * width + head * 7 + (patch % 7));
      return data[pixel] + data[pixel + 1] + data[pixel + 2];
    });
    assert.equal(lights.indexOf(Math.max(...lights)), row.indexOf(Math.max(...row)), `layer ${layer}, head ${head}`);
  }
});
