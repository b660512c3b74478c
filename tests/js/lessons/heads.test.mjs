import assert from "node:assert/strict";
import { test } from "node:test";

import { mountDrawing } from "./mounting.mjs";

const { board } = await import("../../../playground/microscope/lessons/heads.js");

const perHead = (value) => [0, 1].map((layer) => [0, 1, 2].map((head) => value(layer, head)));
const cellOf = ({ find }, layer, head) => find(`.cell[data-layer="${layer}"][data-head="${head}"]`);

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

test("where only some states were played, a press leaves that head or layer off alone", () => {
  const drawing = mountDrawing(board, { ...BOARD, played: ["", "0.1", "1.2", "1.0 1.1 1.2"] });
  drawing.click(cellOf(drawing, 1, 2));
  drawing.click(cellOf(drawing, 0, 1));
  assert.deepEqual(drawing.toldSettings.off, "0.1");
  drawing.click(drawing.parentElement.querySelectorAll("button.side")[1]);
  assert.deepEqual(drawing.toldSettings.off, "1.0 1.1 1.2");
  drawing.click(cellOf(drawing, 1, 1));
  assert.deepEqual(drawing.toldSettings.off, "", "it is on again, and the others with it");
});
