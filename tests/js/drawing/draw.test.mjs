import assert from "node:assert/strict";
import { test } from "node:test";

import { ROLES } from "../../../playground/microscope/core/colours.js";
import { aContext, callsOf } from "../canvas.mjs";
import "../lessons/mounting.mjs";

const { drawPicture } = await import("../../../playground/microscope/drawing/draw.js");

// 4 rows of 6 columns on 120 × 80 pixels: a patch is 20 × 20
const [ROWS, COLUMNS, WIDTH, HEIGHT] = [4, 6, 120, 80];
const GRID = { rows: ROWS, columns: COLUMNS, mark: -1, tag: null };
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
  assert.ok(x > 80 && y > 40 && y < 80, `at ${x} ${y}`);
  const [atEdge] = argumentsOf(picture({ tag: { patch: 17, text: "13 %", colour: ROLES.key } }), "fillRect");
  assert.ok(atEdge[0] + atEdge[2] <= 100, `at the right edge the number stands at the left: ${atEdge}`);
});

test("the share of an outlined place lies inside the picture and not on the asking patch", () => {
  for (let place = 0; place < ROWS * COLUMNS; place++) {
    const [row, column] = [Math.floor(place / COLUMNS), place % COLUMNS];
    for (let mark = 0; mark < ROWS * COLUMNS; mark++) {
      const tag = { patch: place, text: "13 %", colour: ROLES.key, outline: [[row, column, row + 1, column + 1]] };
      const [left, top, width, height] = argumentsOf(picture({ mark, tag }), "fillRect").at(-1);
      const [x, y] = [20 * (mark % COLUMNS), 20 * Math.floor(mark / COLUMNS)];
      const meets = left < x + 20 && left + width > x && top < y + 20 && top + height > y;
      assert.ok(left >= 0 && left + width <= WIDTH && top >= 0 && top + height <= HEIGHT, `${place} ${mark}`);
      assert.ok(!meets, `the tag of ${place} lies on ${mark}`);
    }
  }
});
