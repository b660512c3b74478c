import assert from "node:assert/strict";
import { test } from "node:test";

import { ROLES } from "../../../playground/microscope/core/colours.js";
import { aContext, callsOf } from "../canvas.mjs";
import "../lessons/mounting.mjs";

const { drawConvolution, drawPicture, drawReadPatches, drawWall, wallCellAt, wallCells } = await import(
  "../../../playground/microscope/drawing/draw.js"
);
const { makePhoto } = await import("../../../playground/microscope/drawing/light.js");

// 4 rows of 6 columns on 120 × 80 pixels: a patch is 20 × 20
const [ROWS, COLUMNS, WIDTH, HEIGHT] = [4, 6, 120, 80];
const GRID = { rows: ROWS, columns: COLUMNS, grid: false, mark: -1, tag: null };
const argumentsOf = (context, ...names) => callsOf(context, ...names).map(([, ...args]) => args);

function picture(shown) {
  const context = aContext();
  drawPicture(context, WIDTH, HEIGHT, { width: 240, height: 160 }, { ...GRID, ...shown }, 1);
  return context;
}

test("asking patch and brightest one are framed where they lie; the number stands beside the brightest", () => {
  const context = picture({ mark: 8, tag: { patch: 15, text: "13 %", colour: ROLES.key } });
  const frames = callsOf(context, "strokeRect").map(({ style, ...call }) => [
    style.strokeStyle,
    ...Object.values(call).slice(1),
  ]);
  assert.deepEqual(frames, [
    ["#fff", 60, 40, 20, 20],
    [ROLES.key, 60, 40, 20, 20],
    ["#fff", 40, 20, 20, 20],
    [ROLES.query, 40, 20, 20, 20],
  ]);
  const [[text, x, y]] = argumentsOf(context, "fillText");
  assert.equal(text, "13 %");
  assert.ok(x > 80 && y > 40 && y < 60, `at ${x} ${y}`);
  const [atEdge] = argumentsOf(picture({ tag: { patch: 17, text: "13 %", colour: ROLES.key } }), "fillRect");
  assert.ok(atEdge[0] + atEdge[2] <= 100, `at the right edge the number stands at the left: ${atEdge}`);
});

test("a clipped cell bears its number in its middle", () => {
  const context = picture({ clipped: [{ patch: 9, text: "7" }] });
  assert.deepEqual(argumentsOf(context, "strokeText", "fillText"), [
    ["7", 70, 30],
    ["7", 70, 30],
  ]);
});

test("left of the curtain stands the left part of the other picture", () => {
  const canvas = { width: 60, height: 40 };
  const context = picture({ behind: { canvas, to: 0.25 }, tag: { patch: 0, text: "1 %", colour: ROLES.key } });
  const [, curtain] = argumentsOf(context, "drawImage");
  assert.deepEqual(curtain, [canvas, 0, 0, 15, 40, 0, 0, 30, 80]);
  assert.deepEqual(argumentsOf(context, "fillText"), [], "the number of a patch behind the curtain is not written");
});

test("the grid's lines lie between the patches", () => {
  const starts = argumentsOf(picture({ grid: true }), "moveTo");
  assert.deepEqual(starts, [...[20, 40, 60, 80, 100].map((x) => [x, 0]), ...[20, 40, 60].map((y) => [0, y])]);
});

test("a convolution shows in full colour what lies around the asking patch", () => {
  const photo = makePhoto(null, 2 * WIDTH, 2 * HEIGHT);
  const context = aContext();
  drawConvolution(context, WIDTH, HEIGHT, photo, { ...GRID, mark: 10 }, 1); // row 1, column 4
  const [, kernel] = argumentsOf(context, "drawImage");
  assert.deepEqual(kernel, [photo.clear, 120, 0, 120, 120, 60, 0, 60, 60]);
  assert.deepEqual(argumentsOf(context, "strokeRect").at(-1), [80, 20, 20, 20]);
});

test("at a corner of the picture the enlarged patches leave out what lies beyond", () => {
  const photo = makePhoto(null, WIDTH, HEIGHT);
  const context = aContext();
  drawReadPatches(context, 90, 90, photo, { ...GRID, mark: 0 }, 1);
  assert.deepEqual(argumentsOf(context, "drawImage"), [[photo.clear, 0, 0, 40, 40, 30, 30, 60, 60]]);
  const cells = argumentsOf(context, "strokeRect")
    .slice(0, 4)
    .map(([x, y]) => `${x} ${y}`);
  assert.deepEqual(cells.sort(), ["30 30", "30 60", "60 30", "60 60"]);
});

test("on the wall each head's picture stands in its layer's row; a press there finds that head", () => {
  const [layers, heads] = [[0, 2, 5], 4];
  const cells = wallCells(400, 300, layers, heads, ROWS, COLUMNS, 1);
  const context = aContext();
  const shown = {
    ...GRID,
    layer: 2,
    head: 3,
    headNumbers: [0, 1, 2, 3],
    missing: (layer) => layer === 5,
  };
  drawWall(context, 400, 300, cells, "heat", shown, {}, 1);
  const pictures = argumentsOf(context, "drawImage");
  assert.deepEqual(
    pictures.map(([, x, y, width, height]) => [x / COLUMNS, y / ROWS, width, height]), // head, layer
    [0, 2].flatMap((layer) => [0, 1, 2, 3].map((head) => [head, layer, COLUMNS, ROWS])),
  );
  for (const [, x, y, , , left, top, width, height] of pictures)
    assert.deepEqual(wallCellAt(cells, left + 0.9 * width, top + 0.9 * height, ROWS, COLUMNS), {
      head: x / COLUMNS,
      layer: y / ROWS,
      patch: ROWS * COLUMNS - 1,
    });
  assert.equal(wallCellAt(cells, cells.x - 5, cells.y, ROWS, COLUMNS), null);
  const outlines = argumentsOf(context, "strokeRect");
  assert.equal(outlines.length, heads + 1, "the missing layer has frames alone");
  const [left, top] = pictures.at(-1).slice(5);
  assert.deepEqual(outlines.at(-1).slice(0, 2), [left - 1, top - 1], "the chosen head is framed");
});

test("in a wide place the wall lies on its side: layers to the right, heads downwards", () => {
  const layers = [0, 1, 2, 3, 4, 5, 6, 7];
  const cells = wallCells(800, 150, layers, 2, ROWS, COLUMNS, 1);
  const context = aContext();
  const shown = { ...GRID, layer: 7, head: 1, headNumbers: [3, 4], missing: () => false };
  drawWall(context, 800, 150, cells, "heat", shown, {}, 1);
  const pictures = argumentsOf(context, "drawImage");
  for (const [, x, y, , , left, top] of pictures)
    assert.deepEqual(wallCellAt(cells, left + 1, top + 1, ROWS, COLUMNS), {
      head: x / COLUMNS,
      layer: y / ROWS,
      patch: 0,
    });
  const [first, second] = pictures.map(([, , , , , left, top]) => [left, top]);
  assert.ok(second[1] > first[1] && second[0] === first[0], "the next head is below");
  const names = argumentsOf(context, "fillText");
  assert.deepEqual(names.map(([text]) => text).sort(), ["0", "1", "2", "3", "3", "4", "4", "5", "6", "7"]);
  const [left, top] = pictures.at(-1).slice(5);
  assert.deepEqual(argumentsOf(context, "strokeRect").at(-1).slice(0, 2), [left - 1, top - 1]);
});
