import assert from "node:assert/strict";
import { test } from "node:test";

import { toContainer } from "../../../playground/microscope/core/container.js";
import { toHalves } from "../support.mjs";
import { draw, ELEMENT_WIDTH, mountDrawing } from "./mounting.mjs";

const { default: patches } = await import("../../../playground/microscope/lessons/patches.js");

const [HEIGHT, WIDTH, PATCH, TOKEN_WIDTH] = [7, 9, 3, 2]; // 2 × 3 patches, and a remaining row of pixels
const [MEAN, STD] = [
  [0.5, 0.25, 0],
  [0.5, 0.25, 1],
];
const PIXELS = Uint8Array.from({ length: HEIGHT * WIDTH * 3 }, (_, i) => (37 * i) % 256);
const FILTERS = Array.from({ length: TOKEN_WIDTH * 3 * PATCH ** 2 }, (_, i) => ((i % 7) - 3) / 8); // exact as float16
const IDENTITY = Float32Array.from({ length: PATCH ** 2 }, (_, i) => Number(i % (PATCH + 1) === 0));
const TOKENS = Array.from({ length: 6 * TOKEN_WIDTH }, (_, i) => i / 4);

const data = (overrides = {}) =>
  toContainer(
    {
      ...{ id: "meadow", size: [HEIGHT, WIDTH], patch: PATCH, own: PATCH, width: TOKEN_WIDTH },
      ...{ mean: MEAN, std: STD, at: "", number: 1, ...overrides },
    },
    {
      pixels: [PIXELS, [HEIGHT, WIDTH, 3]],
      filters: [toHalves(FILTERS), [TOKEN_WIDTH, 3, PATCH, PATCH]],
      stretch: [IDENTITY, [PATCH, PATCH]],
      bias: [new Float32Array([0.5, -0.25]), [TOKEN_WIDTH]],
      tokens: [toHalves(TOKENS), [6, TOKEN_WIDTH]],
    },
  );

// The expected vector of a patch: all of red, then green, then blue, each row by row.
function vectorOf(row, column) {
  const vector = [];
  for (let channel = 0; channel < 3; channel++)
    for (let y = 0; y < PATCH; y++)
      for (let x = 0; x < PATCH; x++) {
        const pixel = PIXELS[((row * PATCH + y) * WIDTH + column * PATCH + x) * 3 + channel];
        vector.push((pixel / 255 - MEAN[channel]) / STD[channel]);
      }
  return vector;
}

test("a patch is laid out as a vector, and the sum is that of its products with the filter", () => {
  const drawing = mountDrawing(patches, data({ at: "1,2" }));
  const { at, number, vector, sum, bias, token, grid } = drawing.read();
  assert.deepEqual([at, number, grid, bias, token], [5, 1, [2, 3], -0.25, TOKENS[11]]);
  const expectedVector = vectorOf(1, 2);
  for (const [i, item] of expectedVector.entries()) assert.ok(Math.abs(vector[i] - item) < 1e-6, `number ${i}`);
  const filter = FILTERS.slice(27);
  const total = expectedVector.reduce((total, item, i) => total + item * filter[i], 0);
  assert.ok(Math.abs(sum - total) < 1e-4, `${sum}, by hand ${total}`);
  const sentence = drawing.find('[data-ref="sum"]').textContent;
  assert.match(sentence, /24 more/);
  assert.ok(sentence.includes(`= ${(sum + bias).toFixed(3).replace("-", "−")}, number 1`), sentence);
});

test("the page says how many pixels fill no patch, or that none are left over", () => {
  const fitText = (overrides) => mountDrawing(patches, data(overrides)).find('[data-ref="fit"]').textContent;
  assert.equal(
    fitText({}),
    "9 × 7 pixels in patches of 3 × 3: 3 × 2 = 6 tokens. " +
      "The hatched rest, 1 at the bottom, fills no patch: no token contains it.",
  );
  assert.match(fitText({ id: "whole", size: [6, 9] }), /Nothing is left over\.$/);
});

test("the arrow keys choose a patch, the token under the pointer a number of it; both are told", () => {
  const drawing = mountDrawing(patches, data({ at: "0,0" }));
  const picture = drawing.find('[data-ref="picture"]');
  drawing.key(picture, "ArrowDown");
  drawing.key(picture, "ArrowRight");
  draw();
  assert.deepEqual([drawing.read().at, drawing.toldSettings.at], [4, "1,1"]);
  const flight = drawing.find('[data-ref="flight"]');
  drawing.point(flight, "pointermove", 0.1 * ELEMENT_WIDTH, 5); // the cursor is on the drawn patch, not on a number
  assert.equal(drawing.read().number, 1);
  const tokenY = Number.parseFloat(flight.style.height) - 12;
  drawing.point(flight, "pointermove", 0.1 * ELEMENT_WIDTH, tokenY);
  draw();
  assert.deepEqual([drawing.read().number, drawing.toldSettings.number], [0, "0"]);
});
