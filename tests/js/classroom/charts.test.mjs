import assert from "node:assert/strict";
import { test } from "node:test";

import "../lessons/mounting.mjs";

const { drawGuesses } = await import("../../../playground/microscope/classroom/words.js");

function chartsOf(question, options = {}) {
  const box = document.createElement("div");
  drawGuesses(box, question, { language: "en", ...options });
  return box;
}
const all = (box, selector) => [...box.querySelectorAll(selector)];
const attributesOf = (element, ...names) => names.map((name) => element.getAttribute(name)).join(" ");

// 2 rows of 3 columns: patch 2 is at the right above, patch 3 at the left below
const PLACE = {
  guess: { kind: "Place", rows: 2, columns: 3, mark: 1 },
  ...{ heat: "0f8000", counts: [{ 2: 4, 3: 1 }], truth: 3 },
};

test("a class's guesses of a place, the truth and the reader's own lie where their patches lie", () => {
  const svg = chartsOf(PLACE, { mine: [2] }).querySelector("svg");
  assert.equal(svg.getAttribute("viewBox"), "0 0 3 2");
  assert.deepEqual(
    all(svg, "rect, circle").map((item) => attributesOf(item, "class", "x", "y", "cx", "cy", "r")),
    [
      "guessed   2.5 0.5 0.8", // four guesses: four times the area of one
      "guessed   0.5 1.5 0.4",
      "asks 1 0   ",
      "truth 0 1   ",
      "mine   2.5 0.5 0.6",
    ],
  );
});

test("a round says whether it is the first or the second, and the axis its ends and its middle", () => {
  const box = chartsOf({
    guess: { kind: "Number", low: 20, high: 40, unit: " %" },
    ...{ counts: [{ 20: 2 }, { 40: 1 }], truth: 30 },
  });
  const textsOf = (selector) => all(box, selector).map((item) => item.textContent);
  assert.deepEqual(textsOf(".class-count"), ["First guess · 2 guesses", "Second guess · 1 guess"]);
  assert.deepEqual(textsOf(".class-axis span").slice(0, 3), ["20 %", "30 %", "40 %"]);
});
