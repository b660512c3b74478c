// A small attention matrix: rows are the queries, columns the keys, with numbers in the cells where there is room.

import { MAGMA } from "../core/magma.js";
import { signedColour, signedCss } from "./stage.js";

export const LETTERS = "ABCDEFGHI";
const EDGE = 18; // pixels for the letters

const magmaOf = (weight) => MAGMA.subarray(3 * Math.round(255 * Math.min(1, Math.max(0, weight)))).subarray(0, 3);
export const magmaCss = (weight) => `rgb(${magmaOf(weight).join(" ")})`;
const inkOn = ([r, g, b]) => (0.3 * r + 0.59 * g + 0.11 * b > 140 ? "#111" : "#fff");

const cellSize = (size, count) => (size - EDGE) / count;

export function cellUnder(x, y, size, count) {
  const cell = cellSize(size, count);
  const column = Math.floor((x - EDGE) / cell),
    row = Math.floor((y - EDGE) / cell);
  return row >= 0 && column >= 0 && row < count && column < count ? { row, column } : null;
}

// matrix: {values, reach: of scores the one with the strongest colour; null: they are weights}; marked: {row, column}
// or null. −∞ is hatched.
export function drawMatrix(context, size, count, matrix, marked, theme, colours) {
  const cell = cellSize(size, count);
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let i = 0; i < count; i++) {
    const at = EDGE + (i + 0.5) * cell;
    context.font = `${marked?.row === i ? 700 : 400} 13px ${theme.font}`;
    context.fillStyle = marked?.row === i ? theme.ink : theme.soft;
    context.fillText(LETTERS[i], EDGE / 2 - 2, at);
    context.font = `${marked?.column === i ? 700 : 400} 13px ${theme.font}`;
    context.fillStyle = marked?.column === i ? theme.ink : theme.soft;
    context.fillText(LETTERS[i], at, EDGE / 2);
  }
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < count; column++) {
      drawCell(
        context,
        EDGE + column * cell,
        EDGE + row * cell,
        cell,
        matrix.values[row * count + column],
        matrix,
        theme,
      );
    }
  }
  if (!marked) return;
  context.lineWidth = 2.5;
  context.strokeStyle = colours.query;
  context.strokeRect(EDGE, EDGE + marked.row * cell, count * cell, cell);
  if (marked.column < 0) return;
  context.strokeStyle = colours.key;
  context.strokeRect(EDGE + marked.column * cell, EDGE, cell, count * cell);
}

function drawCell(context, x, y, cell, value, matrix, theme) {
  context.font = `${Math.min(12, cell * 0.36)}px ${theme.font}`;
  if (value === -Infinity) {
    context.fillStyle = theme.wash;
    context.fillRect(x, y, cell - 1, cell - 1);
    hatch(context, x, y, cell - 1, cell - 1, theme.line);
    context.fillStyle = theme.ink;
    context.fillText("−∞", x + cell / 2, y + cell / 2);
    return;
  }
  const weight = matrix.reach === null;
  context.fillStyle = weight ? magmaCss(value) : signedCss(value / matrix.reach, theme.dark);
  context.fillRect(x, y, cell - 1, cell - 1);
  if (cell < 20) return;
  context.fillStyle = weight ? inkOn(magmaOf(value)) : inkOn(signedColour(value / matrix.reach, theme.dark));
  context.globalAlpha = weight && value > 0 && value < 0.01 ? 0.55 : 1;
  context.fillText(weight ? percentText(value) : value.toFixed(1).replace("-", "−"), x + cell / 2, y + cell / 2);
  context.globalAlpha = 1;
}

// "0" is written for exactly zero only.
const percentText = (value) => (value === 0 ? "0" : value < 0.005 ? "<1%" : `${Math.round(100 * value)}%`);

export function hatch(context, x, y, w, h, colour) {
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  context.beginPath();
  for (let at = -h; at < w; at += 7) {
    context.moveTo(x + at, y + h);
    context.lineTo(x + at + h, y);
  }
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.stroke();
  context.restore();
}
