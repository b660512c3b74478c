// Draws a small attention matrix, with queries as rows, keys as columns, and numbers in the cells if there is room; and
// makes a grid of layers and heads.

import { patchAfterKey } from "../core/grid.js";
import { heatAt, heatCss } from "../core/light.js";
import { make } from "./dom.js";
import { hatch, signedColour, signedCss } from "./stage.js";

export const LETTERS = "ABCDEFGHI";
const LETTER_EDGE = 18; // pixels at the top and left for the letters

const inkOn = ([r, g, b]) => (0.3 * r + 0.59 * g + 0.11 * b > 118 ? "#111" : "#fff");

const cellSize = (size, count) => (size - LETTER_EDGE) / count;

export function cellUnder(x, y, size, count) {
  const cell = cellSize(size, count);
  const column = Math.floor((x - LETTER_EDGE) / cell),
    row = Math.floor((y - LETTER_EDGE) / cell);
  return row >= 0 && column >= 0 && row < count && column < count ? { row, column } : null;
}

// matrix: {values, reach: the score with the strongest colour, null for weights}; markedCell: {row, column} or null.
// Cells of −∞ are hatched.
export function drawMatrix(context, size, count, matrix, markedCell, theme, colours) {
  const cell = cellSize(size, count);
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let i = 0; i < count; i++) {
    const centre = LETTER_EDGE + (i + 0.5) * cell;
    context.font = `${markedCell?.row === i ? 700 : 400} 13px ${theme.font}`;
    context.fillStyle = markedCell?.row === i ? theme.ink : theme.soft;
    context.fillText(LETTERS[i], LETTER_EDGE / 2 - 2, centre);
    context.font = `${markedCell?.column === i ? 700 : 400} 13px ${theme.font}`;
    context.fillStyle = markedCell?.column === i ? theme.ink : theme.soft;
    context.fillText(LETTERS[i], centre, LETTER_EDGE / 2);
  }
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < count; column++) {
      const [x, y] = [LETTER_EDGE + column * cell, LETTER_EDGE + row * cell];
      drawCell(context, x, y, cell, matrix.values[row * count + column], matrix, theme);
    }
  }
  if (!markedCell) return;
  context.lineWidth = 2.5;
  context.strokeStyle = colours.query;
  context.strokeRect(LETTER_EDGE, LETTER_EDGE + markedCell.row * cell, count * cell, cell);
  if (markedCell.column < 0) return;
  context.strokeStyle = colours.key;
  context.strokeRect(LETTER_EDGE + markedCell.column * cell, LETTER_EDGE, cell, count * cell);
}

function drawCell(context, x, y, cell, value, matrix, theme) {
  context.font = `${Math.min(12, cell * 0.36)}px ${theme.font}`;
  if (!Number.isFinite(value)) {
    context.fillStyle = theme.wash;
    context.fillRect(x, y, cell - 1, cell - 1);
    hatch(context, x, y, cell - 1, cell - 1, theme.line);
    context.fillStyle = theme.ink;
    context.fillText(Number.isNaN(value) ? "NaN" : "−∞", x + cell / 2, y + cell / 2);
    return;
  }
  const isWeight = matrix.reach === null;
  context.fillStyle = isWeight ? heatCss(value) : signedCss(value / matrix.reach, theme.dark);
  context.fillRect(x, y, cell - 1, cell - 1);
  if (cell < 20) return;
  context.fillStyle = isWeight ? inkOn(heatAt(value)) : inkOn(signedColour(value / matrix.reach, theme.dark));
  context.globalAlpha = isWeight && value > 0 && value < 0.01 ? 0.55 : 1;
  context.fillText(isWeight ? percentText(value) : value.toFixed(1).replace("-", "−"), x + cell / 2, y + cell / 2);
  context.globalAlpha = 1;
}

// "0" is written only for an exact zero.
const percentText = (value) => (value === 0 ? "0" : value < 0.005 ? "<1\u2009%" : `${Math.round(100 * value)}\u2009%`);

// A grid of cells, with layers downwards and heads to the right, that can be used by pointer and arrow keys. The
// lessons use the grid for the table of all heads and for the switches that turn heads off.

// Calls onPoint(layer, head) for the cell under the cursor or with the focus, onClick(layer, head, event) for a clicked
// cell, and onLayer(layer), if given, for a clicked layer number.
// tag: "a" if a click leads to another page, else "button".
export function createHeadGrid(box, { layers, heads, tag, onClick, onPoint = null, onLayer = null }) {
  const [cells, sides] = [[], []];
  const over = Array.from({ length: heads }, (_, head) => make("div", "over", head === 0 ? "head 0" : head));
  const grid = make("div", "headgrid", make("div", "corner", "layer"), ...over);
  grid.style.setProperty("--heads", heads);
  for (let layer = 0; layer < layers; layer++) {
    const layerLabel = make(onLayer ? "button" : "div", "side", layer);
    if (onLayer) layerLabel.addEventListener("click", () => onLayer(layer));
    sides.push(layerLabel);
    grid.append(layerLabel);
    for (let head = 0; head < heads; head++) {
      const fields = { className: "cell", tabIndex: cells.length ? -1 : 0, "data-layer": layer, "data-head": head };
      const cell = make(tag, fields, make("span"));
      cells.push(cell);
      grid.append(cell);
    }
  }
  const cellAt = (layer, head) => cells[layer * heads + head];
  const headUnder = (event) => {
    const cell = event.target.closest?.(".cell");
    return cell ? [Number(cell.dataset.layer), Number(cell.dataset.head)] : null;
  };
  const point = (event) => {
    const cell = headUnder(event);
    if (cell) onPoint?.(...cell, event);
  };
  grid.addEventListener("pointerover", (event) => event.pointerType !== "touch" && point(event));
  grid.addEventListener("focusin", point);
  grid.addEventListener("click", (event) => {
    const cell = headUnder(event);
    if (cell) onClick(...cell, event);
  });
  grid.addEventListener("keydown", (event) => moveByKey(event, headUnder(event), cellAt, layers, heads));
  box.replaceChildren(grid);
  return { at: cellAt, grid, sides };
}

// Moves the focus by arrow keys inside the grid, which is a single stop of the Tab key.
function moveByKey(event, place, cellAt, layers, heads) {
  const index = place ? patchAfterKey(event.key, place[0] * heads + place[1], layers, heads) : -1;
  if (index < 0) return;
  event.preventDefault();
  cellAt(...place).tabIndex = -1;
  Object.assign(cellAt(Math.floor(index / heads), index % heads), { tabIndex: 0 }).focus();
}

// Colours a cell by t from 0 to 1, and writes a word on it, in black or white, whichever is legible.
export function paintCell(cell, t, word) {
  const [r, g, b] = heatAt(t);
  cell.style.background = `rgb(${r} ${g} ${b})`;
  cell.style.color = 0.299 * r + 0.587 * g + 0.114 * b > 118 ? "#111" : "#fff";
  if (cell.firstChild.textContent !== word) cell.firstChild.textContent = word;
}
