import assert from "node:assert/strict";
import { test } from "node:test";

import { ROLES } from "../../../playground/microscope/core/colours.js";
import { aContext, callsOf } from "../canvas.mjs";
import "../lessons/mounting.mjs";

const { drawPicture, drawWall, wallCellAt, wallCells } = await import("../../../playground/microscope/drawing/draw.js");

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
