// A picture that is cut into parts: one colour for each, above the photograph, and a line where one part ends.

import { PART_COLOURS } from "../core/colours.js";
import { softOf } from "./light.js";

const TINT = 0.5; // of the colours above the photograph
const BORDER = "rgb(255 255 255 / 0.9)";

// parts: the number of each patch's part. They stay when the cursor moves.
export function printParts(print, parts, { rows, columns }) {
  const { context, photo, canvas } = print;
  if (print.holds === parts) return canvas;
  const [w, h] = [photo.width / columns, photo.height / rows];
  context.drawImage(softOf(photo), 0, 0);
  context.globalAlpha = TINT;
  const edges = new Path2D();
  for (let patch = 0; patch < parts.length; patch++) {
    const column = patch % columns,
      row = Math.floor(patch / columns);
    const [x, y] = [Math.round(column * w), Math.round(row * h)];
    const [right, bottom] = [Math.round((column + 1) * w), Math.round((row + 1) * h)];
    context.fillStyle = PART_COLOURS[parts[patch]];
    context.fillRect(x, y, right - x, bottom - y);
    if (column + 1 < columns && parts[patch + 1] !== parts[patch]) {
      edges.moveTo(right, y);
      edges.lineTo(right, bottom);
    }
    if (row + 1 < rows && parts[patch + columns] !== parts[patch]) {
      edges.moveTo(x, bottom);
      edges.lineTo(right, bottom);
    }
  }
  context.globalAlpha = 1;
  context.strokeStyle = BORDER;
  context.lineWidth = Math.max(1, photo.width / 500);
  context.stroke(edges);
  print.holds = parts;
  return canvas;
}
