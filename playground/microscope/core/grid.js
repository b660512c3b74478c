// Patches of a picture, numbered row by row: patch = row · columns + column.

export const patchText = (patch, columns) => `${Math.floor(patch / columns)},${patch % columns}`;

// "row,column" as a patch of this grid; without a text, the middle.
export function patchFrom(text, rows, columns) {
  const [row, column] = text ? text.split(",").map(Number) : [rows >> 1, columns >> 1];
  return Math.min(row, rows - 1) * columns + Math.min(column, columns - 1);
}

// The patch at a point given as parts of width and height, from 0 to 1.
export function patchAt(x, y, rows, columns) {
  const inside = (part, count) => Math.min(count - 1, Math.max(0, Math.floor(part * count)));
  return inside(y, rows) * columns + inside(x, columns);
}

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// Where an arrow key leads; at the edge it stays. −1: another key.
export function patchAfterKey(key, patch, rows, columns) {
  const step = ARROWS[key];
  if (!step) return -1;
  const row = Math.min(rows - 1, Math.max(0, Math.floor(patch / columns) + step[0]));
  const column = Math.min(columns - 1, Math.max(0, (patch % columns) + step[1]));
  return row * columns + column;
}
