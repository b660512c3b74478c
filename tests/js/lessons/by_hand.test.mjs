import assert from "node:assert/strict";
import { test } from "node:test";
import { reportNumbers, reportsHere } from "../../../playground/microscope/core/guesses.js";
import { MOST_COORDINATE, readArrows, writeArrows } from "../../../playground/microscope/core/nine.js";
import { draw, mountDrawing } from "./mounting.mjs";

const { default: arrows } = await import("../../../playground/microscope/lessons/arrows.js");
const { masks, received } = await import("../../../playground/microscope/lessons/nine.js");

const START_ARROWS = writeArrows(Float64Array.from({ length: 36 }, (_, i) => Math.round(10 * Math.sin(i)) / 10));
const DATA = { arrows: START_ARROWS, start: START_ARROWS };
test("letters choose a token, Q and K its arrow, the arrow keys move the tip, and numbers can be typed", () => {
  const drawing = mountDrawing(arrows, DATA);
  const grid = drawing.find('[data-ref="grid"]');
  for (const key of ["c", "k", "ArrowRight"]) drawing.key(grid, key);
  const expectedArrows = readArrows(START_ARROWS);
  expectedArrows[22] += 0.1;
  assert.deepEqual([drawing.read().token, drawing.read().arrows], [2, writeArrows(expectedArrows)]);
  drawing.input(drawing.find('[data-number="1"]'), "-3.5");
  expectedArrows[5] = -3.5;
  assert.equal(drawing.read().arrows, writeArrows(expectedArrows));
  drawing.input(drawing.find('[data-number="1"]'), "99");
  assert.equal(readArrows(drawing.read().arrows)[5], MOST_COORDINATE);
});

test("a hidden token gets exactly nothing, causal hides what comes later, and one token must stay", () => {
  const drawing = mountDrawing(masks, { arrows: START_ARROWS, mask: "" });
  const column = (letter) => drawing.read().weights.filter((_, index) => index % 9 === "ABCDEFGHI".indexOf(letter));
  drawing.click(drawing.find('[data-letter="B"]'));
  draw();
  assert.deepEqual([drawing.read().mask, drawing.toldSettings.mask, column("B")], ["B", "B", new Array(9).fill(0)]);
  assert.match(drawing.find('[data-ref="sum"]').innerHTML, /column B: .*<b>0, exactly<\/b>$/);
  drawing.click(drawing.find('[data-mask="causal"]'));
  drawing.read().weights.forEach((weight, index) => assert.equal(weight > 0, index % 9 <= Math.floor(index / 9)));
  for (const letter of "ABCDEFGHI") drawing.click(drawing.find(`[data-letter="${letter}"]`));
  draw();
  assert.equal(drawing.read().mask, "ABCDEFGH");
  assert.match(drawing.find('[data-ref="sum"]').textContent, /^One token must stay/);
});

test("a mask that is multiplied makes 0 · (−∞), which is NaN in every row", () => {
  const drawing = mountDrawing(masks, { arrows: START_ARROWS, mask: "B" });
  drawing.click(drawing.find('[data-ref="times"]'));
  draw();
  assert.ok(drawing.read().weights.every(Number.isNaN));
  assert.match(drawing.find('[data-ref="sum"]').textContent, /0 · \(−∞\) is NaN/);
  drawing.click(drawing.find('[data-ref="times"]'));
  assert.ok(drawing.read().weights.every(Number.isFinite));
});

test("each token receives its row of weights times the values", () => {
  const flatArrows = writeArrows(new Float64Array(36));
  const data = { arrows: flatArrows, values: [9, 0, 0, 0, 0, 0, 0, 0, 9], letters: [..."ABCDEFGHI"], nearly: 8 };
  reportNumbers("arrows", { arrows: flatArrows });
  const drawing = mountDrawing(received, data);
  assert.deepEqual(drawing.texts("td b"), new Array(9).fill("2.0"));
  assert.deepEqual(reportsHere().received.received, new Array(9).fill(2));
});
