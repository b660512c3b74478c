import assert from "node:assert/strict";
import { test } from "node:test";

import { rowInto, unpack } from "../../../playground/microscope/core/core.js";
import { callsOf } from "../canvas.mjs";
import { container, packOf } from "../packs.mjs";
import { draw, mountDrawing, waitForPhotograph } from "./mounting.mjs";

const { default: reel } = await import("../../../playground/microscope/lessons/reel.js");

// A run of two moments: 2 layers of 3 heads, 3 rows of 4 patches behind a class token
const [LAYERS, HEADS, ROWS, COLUMNS] = [2, 3, 3, 4];
const packs = [0, 5].map((moment) =>
  packOf({
    ...{ held: [0, 1], layers: LAYERS, heads: HEADS, grid: [ROWS, COLUMNS] },
    numbers: (source, layer, head, i) => 4 * Math.sin(1 + source + 7 * layer + 3 * head + 0.37 * i + moment),
  }),
);
const perHead = Array.from({ length: 2 * LAYERS * HEADS }, () => 0.5);
const DATA = container(
  {
    ...{ moments: [0, 100], losses: ["loss"], begins: [], chance: 0.1 },
    habits: [{ label: "even", colour: "#111" }],
    kinds: [0, 1].map(() => Array.from({ length: LAYERS }, () => Array(HEADS).fill("even"))),
    ...{ moment: "100", layer: 1, head: 2, patch: "1,2" },
  },
  {
    curve: ["float32", [2, 2], [0, 2, 100, 1]],
    entropy: ["float32", [2, LAYERS, HEADS], perHead],
    mass: ["float32", [2, LAYERS, HEADS], perHead],
    image: ["uint8", [2], [0, 0]],
    ...Object.fromEntries(packs.map((bytes, n) => [`pack${n}`, ["uint8", [bytes.length], bytes]])),
  },
);

const placesByWeight = (values) => [...values.keys()].sort((a, b) => values[a] - values[b]);

// The patches of a drawn canvas, the darkest first.
function placesByLight(canvas) {
  const [, { data, width, height }] = callsOf(canvas.getContext("2d"), "putImageData").at(-1);
  const light = Array.from({ length: ROWS * COLUMNS }, (_, patch) => {
    const x = Math.floor((((patch % COLUMNS) + 0.5) * width) / COLUMNS);
    const y = Math.floor(((Math.floor(patch / COLUMNS) + 0.5) * height) / ROWS);
    const pixel = 4 * (y * width + x);
    return data[pixel] + data[pixel + 1] + data[pixel + 2];
  });
  return placesByWeight(light);
}

function rowOf(moment, head) {
  const pack = unpack(packs[moment]);
  const row = new Float32Array(pack.tokens);
  rowInto(row, 0, pack, 1, head, 1 + COLUMNS + 2, pack.scale);
  return row.subarray(1);
}

test("the picture and each head's small one show the asking patch's row at the moment of the clock", async () => {
  const drawing = mountDrawing(reel, DATA);
  await waitForPhotograph();
  for (const moment of [1, 0]) {
    drawing.input(drawing.find('[data-ref="slider"]'), String(moment));
    draw();
    const thumbs = [...drawing.parentElement.querySelectorAll(".heads canvas")];
    const brightest = (canvas) => placesByLight(canvas).at(-1);
    assert.deepEqual(
      thumbs.map(brightest),
      [0, 1, 2].map((head) => placesByWeight(rowOf(moment, head)).at(-1)),
      `moment ${moment}`,
    );
    const context = drawing.find('[data-ref="picture"]').getContext("2d");
    const [, print] = callsOf(context, "drawImage").at(-1);
    assert.equal(brightest(print), placesByWeight(rowOf(moment, 2)).at(-1));
    const [, x, y, width, height] = callsOf(context, "strokeRect").at(-1);
    assert.deepEqual([Math.round(x / width), Math.round(y / height)], [2, 1], "the asking patch is framed");
  }
});

test("halfway between two moments the rows are halfway", async () => {
  const drawing = mountDrawing(reel, DATA);
  await waitForPhotograph();
  drawing.input(drawing.find('[data-ref="slider"]'), "0.6"); // calm: without motion the nearer moment stands
  draw();
  assert.equal(drawing.find('[data-ref="step"]').textContent, "step 100");
  const [thumb] = drawing.parentElement.querySelectorAll(".heads canvas");
  assert.equal(placesByLight(thumb).at(-1), placesByWeight(rowOf(1, 0)).at(-1));
});
