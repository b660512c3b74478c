import assert from "node:assert/strict";
import { test } from "node:test";

import { toContainer, toHalves } from "../../../playground/microscope/core/container.js";
import { callsOf } from "../canvas.mjs";
import { draw, ELEMENT_WIDTH, mountDrawing } from "./mounting.mjs";

const { signedPalette } = await import("../../../playground/microscope/drawing/stage.js");
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

test("the picture is taken apart, and put together again", () => {
  const drawing = mountDrawing(patches, data());
  const button = drawing.find('[data-do="apart"]');
  assert.deepEqual([drawing.read().apart, button.textContent], [1, "put it together"]);
  drawing.click(button);
  draw();
  assert.deepEqual([drawing.read().apart, button.textContent], [0, "take it apart"]);
});

test("the enlarged patch, its three planes and its token are those of the chosen patch", () => {
  const drawing = mountDrawing(patches, data({ at: "1,2" }));
  draw();
  const pictures = callsOf(drawing.find('[data-ref="flight"]').getContext("2d"), "drawImage");
  const planes = pictures.filter(([, image, ...place]) => image.width === PATCH && place.length === 4).slice(-3);
  const enlarged = pictures.filter(([, image]) => image.width === WIDTH).at(-1);
  assert.deepEqual(enlarged.slice(2, 6), [2 * PATCH, PATCH, PATCH, PATCH]);
  for (const [channel, [, plane]] of planes.entries()) {
    const [[, { data: pixels }]] = callsOf(plane.getContext("2d"), "putImageData");
    const numbers = Array.from({ length: PATCH ** 2 }, (_, i) => pixels[4 * i + channel]);
    const vector = vectorOf(1, 2).slice(channel * PATCH ** 2, (channel + 1) * PATCH ** 2);
    assert.deepEqual(
      numbers,
      vector.map((x) => Math.round(255 * (x * STD[channel] + MEAN[channel]))),
    );
  }
  const [, band] = pictures.filter(([, image]) => image.width === TOKEN_WIDTH).at(-1);
  const [[, { data: bytes }]] = callsOf(band.getContext("2d"), "putImageData");
  const colours = [2.5 / 2.75, 1].map((x) => signedPalette(false)[Math.round(127.5 + 127.5 * x)]);
  assert.deepEqual([...new Uint32Array(bytes.buffer)], colours);
});

test("each patch of the picture in pieces is found where it is drawn", () => {
  const drawing = mountDrawing(patches, data());
  draw();
  const picture = drawing.find('[data-ref="picture"]');
  const whole = ([, , , , width, height]) => width === PATCH && height === PATCH; // not the rest at the bottom
  const pieces = callsOf(picture.getContext("2d"), "drawImage").filter(whole).slice(-6);
  for (const [patch, [, , , , , , x, y, width, height]] of pieces.entries()) {
    drawing.point(picture, "pointermove", x + 0.95 * width, y + 0.95 * height);
    assert.equal(drawing.read().at, patch);
  }
});
