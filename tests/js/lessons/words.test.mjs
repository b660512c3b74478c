import assert from "node:assert/strict";
import { test } from "node:test";
import { markedWords } from "../../../playground/microscope/drawing/listing.js";
import { CHARTS } from "../../../playground/microscope/lessons/guesscharts.js";

test("a subscript stands low, and a root has its bar", () => {
  assert.equal(markedWords("after W_O"), "after <i>W</i><sub>O</sub>");
  assert.match(
    markedWords("1/√d_k"),
    /1\/<span class="root">√<span class="under-root"><i>d<\/i><sub>k<\/sub><\/span><\/span>/,
  );
  assert.match(markedWords("÷ √64"), /√<span class="under-root">64<\/span>/);
});

test("a power stands high, whatever it is", () => {
  assert.equal(markedWords("e^−∞ is 0"), "e<sup>−∞</sup> is 0");
  assert.equal(markedWords("which is e^88.7: a"), "which is e<sup>88.7</sup>: a");
  assert.equal(markedWords("e^(s + 50) = e⁵⁰"), "e<sup>s + 50</sup> = e⁵⁰");
  assert.equal(markedWords("`e^2`"), "<code>e^2</code>");
});

test("names in code and in words stay as they are", () => {
  assert.equal(
    markedWords("`q_k` and **bold**, qk_scale, no_grad"),
    "<code>q_k</code> and <b>bold</b>, qk_scale, no_grad",
  );
  assert.equal(markedWords("<b>"), "&lt;b>");
});

test("the name of a curve has its roots and subscripts, too", () => {
  const state = { guess: null, truth: 1, open: true, width: 400, height: 300 };
  const series = [{ name: "1/√d_k", y: [1, 2], colour: "#000" }];
  const { svg } = CHARTS.Lines({ x: [1, 2], series, low: 0, high: 3, x_title: "d_k", at: [0, 1] }, state);
  assert.match(svg, /1\/√<tspan font-style="italic" text-decoration="overline">d<\/tspan>/);
  assert.match(svg, /<tspan dy="3" font-size="75%">k<\/tspan><tspan dy="-3">/);
  assert.doesNotMatch(svg, /d_k/);
});
