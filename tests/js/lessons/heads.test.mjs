import assert from "node:assert/strict";
import { test } from "node:test";

import { mountPart } from "./mounting.mjs";

const { atlas, board } = await import("../../../playground/microscope/lessons/heads.js");

const perHead = (value) => [0, 1].map((layer) => [0, 1, 2].map((head) => value(layer, head)));
const ATLAS = {
  layers: 2,
  heads: 3,
  measure: "entropy",
  microscope: "./?",
  words: "model=bundled",
  shown: [1, 2],
  reach: 1,
  measures: [
    {
      key: "entropy",
      name: "entropy",
      unit: "bits",
      digits: 2,
      high: 8,
      values: perHead((l, h) => l + h),
      spread: null,
    },
    {
      key: "self",
      name: "itself",
      unit: "%",
      digits: 0,
      high: 90,
      values: perHead((l, h) => 10 * (l + h)),
      spread: perHead(() => 4),
    },
  ],
  habits: perHead((l, h) => ({ short: `s${l}${h}`, long: `looks at ${l}${h}`, told: h === 1 ? "look left" : "" })),
  offsets: perHead(() => [0, 0, 0, 0.2, 0.5, 0.3, 0, 0, 0]),
};
const cellOf = ({ find }, layer, head) => find(`.cell[data-layer="${layer}"][data-head="${head}"]`);
const cellColours = ({ parentElement }) =>
  [...parentElement.querySelectorAll(".cell")].map((item) => item.style.background);

test("the card says all about the head that is pointed at, and what it was told", () => {
  const drawing = mountPart(atlas, ATLAS);
  const card = () => drawing.find(".card");
  assert.equal(drawing.find(".which").textContent, "Layer 1 · head 2");
  drawing.point(cellOf(drawing, 0, 1), "pointermove", 0, 0);
  drawing.point(cellOf(drawing, 0, 1), "pointerover", 0, 0);
  assert.equal(drawing.find(".which").textContent, "Layer 0 · head 1");
  assert.equal(drawing.find(".habit").textContent, "looks at 01");
  assert.equal(drawing.find(".told").textContent, "this head was told to look left");
  assert.deepEqual(drawing.texts("dd"), ["1.00 bits", "10 ± 4 %"]);
  assert.match(card().textContent, /brightest: 30 %/);
  assert.ok(drawing.find(".open").href.endsWith("?model=bundled&layer=0&head=1"));
});

test("another measure has other colours and another scale", () => {
  const drawing = mountPart(atlas, ATLAS);
  const coloursBefore = cellColours(drawing);
  assert.deepEqual(drawing.texts(".scale p > *"), ["0", "entropy, bits", "8.0"]);
  drawing.again({ ...ATLAS, measure: "self" });
  assert.notDeepEqual(cellColours(drawing), coloursBefore);
  assert.deepEqual(drawing.texts(".scale p > *"), ["0 %", "itself", "90 %"]);
  assert.deepEqual(drawing.texts("dd.chosen"), ["30 ± 4 %"]);
});

const BOARD = {
  layers: 2,
  heads: 3,
  most: 40,
  off: "",
  effect: perHead((l, h) => l + h / 10),
  strongest: [1, 2],
  picture: "data:,",
  grid: [1, 2],
  rows: [["a cat", 0.9, 0.25]],
  read: "",
  maps: btoa("\u0000\u0000\u00ff\u0080"),
  ceiling: 0.5,
  means: [0, 0.375],
  averaged: [0, 0.04],
  summary: null,
};

function mountBoard(data = BOARD) {
  const sentSettings = [];
  const drawing = mountPart(board, data, { set: ({ off }) => sentSettings.push(off) });
  return { ...drawing, toldSettings: sentSettings };
}

test("the number of a layer switches all its heads off, and on again", () => {
  const drawing = mountBoard({ ...BOARD, off: "1.2 9.9" });
  drawing.click(drawing.find("button.side"));
  assert.deepEqual(drawing.toldSettings.at(-1), "0.0 0.1 0.2 1.2");
  drawing.click(drawing.find("button.side"));
  assert.deepEqual(drawing.toldSettings.at(-1), "1.2", "a head that the model does not have is dropped");
});

test("where only some states were played, a press leaves that head or layer off alone", () => {
  const drawing = mountBoard({ ...BOARD, played: ["", "0.1", "1.2", "1.0 1.1 1.2"] });
  drawing.click(cellOf(drawing, 1, 2));
  drawing.click(cellOf(drawing, 0, 1));
  assert.deepEqual(drawing.toldSettings.at(-1), "0.1");
  drawing.click(drawing.parentElement.querySelectorAll("button.side")[1]);
  assert.deepEqual(drawing.toldSettings.at(-1), "1.0 1.1 1.2");
  drawing.click(cellOf(drawing, 1, 1));
  assert.deepEqual(drawing.toldSettings.at(-1), "", "it is on again, and the others with it");
});
