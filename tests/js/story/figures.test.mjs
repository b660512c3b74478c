import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../../playground/microscope/core/core.js";
import "../lessons/mounting.mjs";
import { packOf } from "../packs.mjs";

const { drawFigure } = await import("../../../playground/microscope/story/figures.js");
const { factsOfStory } = await import("../../../playground/microscope/story/scenes.js");

const pack = unpack(packOf({ held: [2], grid: [6, 8], patch: 16, size: [96, 128] }));
const facts = factsOfStory(pack, { layer: 2, head: 1, patch: 19 }, 16); // row 2, column 3

function figureOf(figure, options = {}) {
  const box = document.createElement("div");
  const photo = (width, height) => ({ width, height, clear: document.createElement("canvas") });
  drawFigure(box, figure, facts, {
    language: "en",
    ratio: 1,
    name: String,
    photo,
    choose() {},
    drawMarks() {},
    ...options,
  });
  return box;
}
const propertyOf = (name) => (element) => Number.parseFloat(element.style.getPropertyValue(name));

test("a token's second bar is its share times its length, on the scale of the shares", () => {
  const contributions = [
    { token: 3, share: 0.4, product: 0.1 },
    { token: 7, share: 0.1, product: 0.3 },
  ];
  const box = figureOf({ kind: "contributions", contributions });
  const lengthsOf = (kind) => [...box.querySelectorAll(`i.${kind}`)].map(propertyOf("--long"));
  assert.deepEqual([lengthsOf("share"), lengthsOf("product")].flat().map(Math.round), [100, 25, 25, 75]);
  assert.deepEqual(
    [...box.querySelectorAll("em")].map((item) => item.textContent),
    ["40 %", "10 %"],
  );
});
