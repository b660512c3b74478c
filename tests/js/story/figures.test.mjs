import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../../playground/microscope/core/core.js";
import { callsOf } from "../canvas.mjs";
import "../lessons/mounting.mjs";
import { packOf } from "../packs.mjs";

const { makePhoto } = await import("../../../playground/microscope/drawing/light.js");
const { drawFigure, drawSceneMarks } = await import("../../../playground/microscope/story/figures.js");
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

test("the enlarged patch is cut from the place of the story's patch", () => {
  const [[, , ...place]] = callsOf(figureOf({ kind: "patch" }).querySelector("canvas").getContext("2d"), "drawImage");
  assert.deepEqual(place, [3 * 16, 2 * 16, 16, 16, 0, 0, 168, 168]);
});

test("the bars of the shares are as high as the shares", () => {
  const heights = (figure) => [...figureOf(figure).querySelectorAll("li")].map(propertyOf("--high"));
  assert.deepEqual(heights({ kind: "shares", shares: [0.5, 0.25, 0.125] }), [1, 0.5, 0.25]);
  const desk = heights({ kind: "knob", words: { volume: "", clips: "", largest: "" } });
  const largest = facts.row.toSorted((a, b) => b - a).slice(0, desk.length);
  for (const [i, share] of largest.entries()) assert.ok(Math.abs(desk[i] - share) < 1e-5, `${desk}; ${largest}`);
});

test("a strip of numbers points up where they are positive, down where they are negative", () => {
  const q = [1, -0.5, 0, 0.25];
  const books = [{ kind: "best", token: 9, k: [0.5, 0.5, -1, 0], score: 0, share: 0, length: 0.4 }];
  const box = document.createElement("div");
  const words = { best: "best", finds: "", value: "value" };
  drawFigure(box, { kind: "library", q, words }, { books, pack }, { ratio: 1, drawMarks() {}, language: "en" });
  const barsOf = (canvas) =>
    callsOf(canvas.getContext("2d"), "fillRect").map(([, x, y, , height]) => [x, y, height].join(" "));
  assert.deepEqual([...box.querySelectorAll("canvas")].map(barsOf), [
    ["0 0 17", "100 17 8.5", "200 17 1", "300 12.75 4.25"],
    ["0 8.5 8.5", "100 8.5 8.5", "200 17 17", "300 17 1"],
  ]);
  assert.equal(propertyOf("--long")(box.querySelector(".story-value i")), 40);
});

test("rings lie around the asking patch, and the partner's frame around the partner", () => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const framesOf = (marks, state) => {
    drawSceneMarks(svg, marks, { pack, patch: 19, partner: 38 }, { guessed: true, hidden: false, ...state });
    return [...svg.querySelectorAll("rect")].map((rect) =>
      [rect.getAttribute("class"), ...["x", "y", "width"].map((name) => rect.getAttribute(name))].join(" "),
    );
  };
  assert.deepEqual(framesOf({ partner: true }), ["asks 3 2 1", "hears 6 4 1"]);
  assert.deepEqual(framesOf({ partner: true }, { hidden: true }), ["asks 3 2 1"]);
  assert.deepEqual(framesOf({ rings: 2 }), ["ring 2 1 3", "ring 1 0 5", "asks 3 2 1", "hears 6 4 1"]);
  assert.deepEqual(framesOf({ everybody: true, at: 8 }), ["everybody 0 0 8", "asks 3 2 1", "hears 0 1 1"]);
});

test("each head's picture has its row without the special tokens, and its number", () => {
  const heads = [0, 1].map((head) => ({
    head,
    row: Float32Array.from({ length: 49 }, (_, i) => Number(i === 9 + head)),
  }));
  const box = figureOf(
    { kind: "heads", heads },
    { photo: (w, h) => makePhoto(null, Math.round(w), Math.round(h)), aspect: 8 / 6 },
  );
  assert.deepEqual(
    [...box.querySelectorAll("figcaption")].map((item) => item.textContent),
    ["0", "1"],
  );
  assert.deepEqual(
    [...box.querySelectorAll("figure")].map((item) => item.className),
    ["", "ours"],
  );
  for (const [head, canvas] of [...box.querySelectorAll("canvas")].entries()) {
    const [[, { data, width, height }]] = callsOf(canvas.getContext("2d"), "putImageData");
    const redAt = (patch) => {
      const [x, y] = [((patch % 8) + 0.5) * (width / 8), (Math.floor(patch / 8) + 0.5) * (height / 6)].map(Math.floor);
      return data[4 * (y * width + x)];
    };
    const brightest = Array.from({ length: 48 }, (_, patch) => patch).sort((a, b) => redAt(b) - redAt(a))[0];
    assert.equal(brightest, 8 + head, "behind one class token");
  }
});

test("places are numbered row by row, a line lies between columns and between rows, and German has its comma", () => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawSceneMarks(svg, { places: true, grid: true }, { pack, patch: 19, partner: 38 }, { guessed: true, hidden: false });
  for (const place of svg.querySelectorAll("text")) {
    const [x, y] = ["x", "y"].map((name) => Number(place.getAttribute(name)) - 0.5);
    assert.equal(place.textContent, String(8 * y + x));
  }
  assert.ok(svg.querySelector("text"));
  const lines = [...svg.querySelectorAll("line")].map((line) =>
    ["x1", "y1", "x2", "y2"].map((name) => line.getAttribute(name)),
  );
  assert.deepEqual(
    lines.filter(([, , , y2]) => y2 === "6").map(([x]) => x),
    ["1", "2", "3", "4", "5", "6", "7"],
  );
  assert.deepEqual(
    lines.filter(([, , x2]) => x2 === "8").map(([, y]) => y),
    ["1", "2", "3", "4", "5"],
  );
  const texts = [...figureOf({ kind: "shares", shares: [0.5, 0.055] }, { language: "de" }).querySelectorAll("span")];
  assert.deepEqual(
    texts.map((item) => item.textContent),
    ["50", "5,5"],
  );
});
