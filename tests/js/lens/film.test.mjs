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

test("the film has each layer's row of the head on view; the layer on view is framed", async () => {
  const microscope = await mountLens({ pack: GRID, view: VIEW });
  microscope.openRow("head");
  const rows = [0, 1, 2, 3].map((layer) => rowsOf(microscope, layer));
  microscope.lens.update({ view: { ...VIEW, layer: 2 } });
  draw();
  await passTime(100);
  for (const [layer, lights] of stripOf(microscope).entries()) {
    const row = rows[layer][VIEW.head].slice(1);
    assert.ok(row[brightestOf(lights)] > 0.9 * Math.max(...row), `layer ${layer}: ${lights}; ${row}`);
  }
  const context = microscope.find(".film canvas").getContext("2d");
  const [x, y] = callsOf(context, "drawImage").at(-2).slice(6);
  assert.deepEqual(callsOf(context, "strokeRect").at(-1).slice(1, 3), [x, y]);
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
