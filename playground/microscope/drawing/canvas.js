// Canvases: made, fitted to the screen, filled with one pixel a patch.

import { paintInto, ROLES } from "../core/colours.js";

export function makeCanvas(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width));
  canvas.height = Math.max(1, Math.round(height));
  return canvas;
}

export const decodeJpeg = (bytes) => createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));

// Gives a canvas on the page the pixels of the screen. True when its size changed, which also wipes it.
export function fitCanvas(canvas, width, height, ratio) {
  const w = Math.max(1, Math.round(width * ratio)),
    h = Math.max(1, Math.round(height * ratio));
  if (canvas.width === w && canvas.height === h) return false;
  canvas.width = w;
  canvas.height = h;
  return true;
}

// One pixel per patch; the canvas that shows it enlarges it.
export function makeHeat(rows, columns, canvas = makeCanvas(columns, rows)) {
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const data = context.createImageData(columns, rows);
  return { canvas, context, data, pixels: new Uint32Array(data.data.buffer), rows, columns };
}

export function fillHeat(heat, values, at, palette, domain) {
  paintInto(heat.pixels, 0, heat.columns, values, at, heat.rows, heat.columns, palette, domain);
  heat.context.putImageData(heat.data, 0, 0);
}

// Outlines the cell that asks in the colour of queries (in a column: the cell that is asked about, in that of keys),
// with white around it, so that it shows on any picture.
export function outlineCell(context, x, y, w, h, unit, colour = ROLES.query) {
  context.lineJoin = "miter";
  context.strokeStyle = "#fff";
  context.lineWidth = 5 * unit;
  context.strokeRect(x, y, w, h);
  context.strokeStyle = colour;
  context.lineWidth = 2.8 * unit;
  context.strokeRect(x, y, w, h);
}
