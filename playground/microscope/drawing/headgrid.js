// A grid of cells, layers downwards and heads to the right, that can be pointed at, reached with the arrow keys and
// clicked. The atlas of habits and the board of switches are made of it.

import { patchAfterKey } from "../core/grid.js";
import { MAGMA } from "../core/magma.js";

export const magmaAt = (t) => {
  const i = 3 * Math.round(255 * Math.min(1, Math.max(0, t || 0)));
  return [MAGMA[i], MAGMA[i + 1], MAGMA[i + 2]];
};

// Calls onPoint(layer, head) for the cell under the cursor or the focus, onClick(layer, head, event) for a clicked one,
// onLayer(layer) for a clicked number of a layer, if that is given.
// tag: "a" where a click leads to another page, else "button".
export function createHeadGrid(place, { layers, heads, tag, onPoint, onClick, onLayer }) {
  const [cells, sides] = [[], []];
  const corner = document.createElement("div");
  Object.assign(corner, { className: "corner", textContent: "layer" });
  const grid = document.createElement("div");
  grid.className = "headgrid";
  grid.style.setProperty("--heads", heads);
  grid.append(
    corner,
    ...Array.from({ length: heads }, (_, head) => named("div", "over", head === 0 ? "head 0" : head)),
  );
  for (let layer = 0; layer < layers; layer++) {
    const side = named(onLayer ? "button" : "div", "side", layer);
    if (onLayer) side.addEventListener("click", () => onLayer(layer));
    sides.push(side);
    grid.append(side);
    for (let head = 0; head < heads; head++) {
      const cell = named(tag, "cell", "");
      Object.assign(cell, { tabIndex: cells.length ? -1 : 0 });
      Object.assign(cell.dataset, { layer, head });
      cell.append(document.createElement("span"));
      cells.push(cell);
      grid.append(cell);
    }
  }
  const at = (layer, head) => cells[layer * heads + head];
  const placeOf = (event) => {
    const cell = event.target.closest?.(".cell");
    return cell ? [Number(cell.dataset.layer), Number(cell.dataset.head)] : null;
  };
  const point = (event) => {
    const found = placeOf(event);
    if (found) onPoint(...found, event);
  };
  grid.addEventListener("pointerover", (event) => event.pointerType !== "touch" && point(event));
  grid.addEventListener("focusin", point);
  grid.addEventListener("click", (event) => {
    const found = placeOf(event);
    if (found) onClick(...found, event);
  });
  grid.addEventListener("keydown", (event) => walk(event, placeOf(event), at, layers, heads));
  place.replaceChildren(grid);
  return { at, grid, sides };
}

// The Tab key stops once at the grid; inside, the arrow keys move.
function walk(event, from, at, layers, heads) {
  const to = from ? patchAfterKey(event.key, from[0] * heads + from[1], layers, heads) : -1;
  if (to < 0) return;
  event.preventDefault();
  at(...from).tabIndex = -1;
  Object.assign(at(Math.floor(to / heads), to % heads), { tabIndex: 0 }).focus();
}

function named(tag, className, text) {
  const element = document.createElement(tag);
  Object.assign(element, { className, textContent: text });
  return element;
}

// Colours a cell, t from 0 to 1, and writes a word on it in black or white, whichever can be read.
export function paintCell(cell, t, word) {
  const [r, g, b] = magmaAt(t);
  cell.style.background = `rgb(${r} ${g} ${b})`;
  cell.style.color = 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111" : "#fff";
  if (cell.firstChild.textContent !== word) cell.firstChild.textContent = word;
}
