import assert from "node:assert/strict";
import { test } from "node:test";

import { aContext, callsOf } from "../canvas.mjs";
import "../lessons/mounting.mjs";

const { drawMatrix } = await import("../../../playground/microscope/drawing/matrix.js");

const [SIZE, EDGE, CELL] = [198, 18, 60]; // pixels: 3 × 3 cells behind the letters
const COLOURS = { query: "query", key: "key" };
const WEIGHTS = [0.7, 0.2, 0.1, 0, 0.5, 0.5, 0.25, 0.25, 0.5];

test("queries are rows, keys are columns; the marked query's row and key's column are framed", () => {
  const context = aContext();
  drawMatrix(context, SIZE, 3, { values: WEIGHTS, reach: null }, { row: 1, column: 2 }, {}, COLOURS);
  const numbers = callsOf(context, "fillText").filter(([, text]) => /\d/.test(text));
  assert.deepEqual(
    numbers.map(([, text, x, y]) => [text.replace("\u2009%", ""), (x - EDGE) / CELL - 0.5, (y - EDGE) / CELL - 0.5]),
    WEIGHTS.map((weight, i) => [String(Math.round(100 * weight)), i % 3, Math.floor(i / 3)]),
  );
  assert.deepEqual(
    callsOf(context, "strokeRect").map(({ style, ...call }) => [style.strokeStyle, call[1], call[2], call[3], call[4]]),
    [
      ["query", EDGE, EDGE + CELL, 3 * CELL, CELL],
      ["key", EDGE + 2 * CELL, EDGE, CELL, 3 * CELL],
    ],
  );
});
