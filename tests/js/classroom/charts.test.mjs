import assert from "node:assert/strict";
import { test } from "node:test";

import { callsOf } from "../canvas.mjs";
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

test("the map has a pixel for each patch, dark where the weight is small, bright where it is large", () => {
  const canvas = chartsOf(PLACE).querySelector("canvas.heat");
  assert.deepEqual([canvas.width, canvas.height], [3, 2]);
  const pixels = callsOf(canvas.getContext("2d"), "fillRect");
  assert.deepEqual(
    pixels.map(([, x, y]) => `${x} ${y}`),
    ["0 0", "1 0", "2 0", "0 1", "1 1", "2 1"],
  );
  const colours = pixels.map(({ style }) => style.fillStyle);
  assert.deepEqual([colours[0], colours[1]], ["rgb(0 0 0 / 0.6)", "rgb(255 170 60 / 0.85)"]);
  assert.match(colours[2], /^rgb\(255 170 60 \/ 0\.05/);
});

test("a bar is as long as its part of the most-guessed, and the true one is marked", () => {
  const longOf = (item) => Number(item.querySelector("i").style.getPropertyValue("--long"));
  const options = [
    ["a", { en: "A" }],
    ["b", { en: "B" }],
  ];
  const choice = chartsOf({ guess: { kind: "Choice", options }, counts: [{ a: 1, b: 4 }], truth: "a" });
  assert.deepEqual(all(choice, "li").map(longOf), [0.25, 1]);
  assert.deepEqual(
    all(choice, "li").map((item) => item.className),
    ["truth", ""],
  );
  const counts = [{ 0: 2, 2: 8 }, { 1: 3 }];
  const number = chartsOf({ guess: { kind: "Number", low: 0, high: 2 }, counts, truth: 1 }, { mine: [2, 1] });
  assert.deepEqual(
    all(number, "ol").map((round) => all(round, "li").map((item) => [longOf(item), item.className].join(" "))),
    [
      ["0.25 ", "0 truth", "1 mine"],
      ["0 ", "1 truth mine", "0 "],
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
