// The photograph under the heat, and the photograph lit where it is attended to. core/light.js has the numbers; here
// they become pixels. The heat is a look-up for each pixel: its own grey chooses the tone, its patch's weight the step.

import { DIM, DRAINED, densestInto, heatTable, litOf, outlines, STEPS, stepOf, TONES, toneOf } from "../core/light.js";

const OUTLINE = "#fff3c8";

// What is drawn on one canvas, made once for its size. `clear` is a canvas with the photograph.
export function makeSheet(clear, makeCanvas) {
  const { width, height } = clear;
  const canvas = makeCanvas(width, height);
  const context = canvas.getContext("2d");
  const data = context.createImageData(width, height);
  return {
    clear,
    canvas,
    context,
    data,
    width,
    height,
    pixels: new Uint32Array(data.data.buffer),
    tones: tonesOf(clear), // of each pixel
    steps: new Uint8Array(0), // of each patch, as last drawn
    chosen: new Uint8Array(0), // the patches of the set that holds 60 %
    rows: 0,
    columns: 0,
    dim: null, // the photograph where nothing is attended to; made when the light is first drawn
    mask: null, // one pixel a patch: how much of the photograph it lets through
    drawn: "", // what the canvas holds
  };
}

function tonesOf(clear) {
  const { width, height } = clear;
  const rgba = clear.getContext("2d", { willReadFrequently: false }).getImageData(0, 0, width, height).data;
  const tones = new Uint8Array(width * height);
  for (let p = 0, i = 0; p < tones.length; p++, i += 4) tones[p] = toneOf(rgba[i], rgba[i + 1], rgba[i + 2]);
  return tones;
}

function fit(sheet, rows, columns) {
  if (sheet.rows === rows && sheet.columns === columns) return;
  Object.assign(sheet, {
    rows,
    columns,
    steps: new Uint8Array(rows * columns),
    chosen: new Uint8Array(rows * columns),
  });
  sheet.drawn = "";
}

// The heat of `values[at …]`, a weight a patch. Patches whose step is still the same keep their pixels: hovering
// changes few.
export function drawHeat(sheet, values, at, rows, columns, ceiling, smooth = false) {
  fit(sheet, rows, columns);
  if (smooth) return drawSmoothHeat(sheet, values, at, ceiling);
  const table = heatTable();
  const all = sheet.drawn !== "heat";
  let top = sheet.height,
    bottom = 0;
  for (let row = 0, cell = 0; row < rows; row++) {
    const y0 = edge(row, rows, sheet.height),
      y1 = edge(row + 1, rows, sheet.height);
    for (let column = 0; column < columns; column++, cell++) {
      const step = stepOf(values[at + cell], ceiling);
      if (!all && step === sheet.steps[cell]) continue;
      sheet.steps[cell] = step;
      fillCell(
        sheet,
        table,
        step * TONES,
        edge(column, columns, sheet.width),
        edge(column + 1, columns, sheet.width),
        y0,
        y1,
      );
      if (y0 < top) top = y0;
      if (y1 > bottom) bottom = y1;
    }
  }
  if (bottom > top) sheet.context.putImageData(sheet.data, 0, 0, 0, top, sheet.width, bottom - top);
  sheet.drawn = "heat";
  return sheet.canvas;
}

const edge = (place, count, length) => Math.round((place * length) / count);

function fillCell(sheet, table, colours, x0, x1, y0, y1) {
  const { pixels, tones, width } = sheet;
  for (let y = y0; y < y1; y++) {
    for (let p = y * width + x0, end = y * width + x1; p < end; p++) pixels[p] = table[colours + tones[p]];
  }
}

// The same, interpolated between the middles of the patches.
function drawSmoothHeat(sheet, values, at, ceiling) {
  const { rows, columns, width, height, pixels, tones } = sheet;
  const table = heatTable();
  const last = (n, most) => Math.min(most - 1, Math.max(0, n));
  for (let y = 0, p = 0; y < height; y++) {
    const v = ((y + 0.5) / height) * rows - 0.5;
    const above = last(Math.floor(v), rows) * columns,
      below = last(Math.floor(v) + 1, rows) * columns,
      down = v - Math.floor(v);
    for (let x = 0; x < width; x++, p++) {
      const u = ((x + 0.5) / width) * columns - 0.5;
      const left = last(Math.floor(u), columns),
        right = last(Math.floor(u) + 1, columns),
        across = u - Math.floor(u);
      const over = values[at + above + left] * (1 - across) + values[at + above + right] * across;
      const under = values[at + below + left] * (1 - across) + values[at + below + right] * across;
      pixels[p] = table[stepOf(over * (1 - down) + under * down, ceiling) * TONES + tones[p]];
    }
  }
  sheet.context.putImageData(sheet.data, 0, 0);
  sheet.drawn = "smooth";
  return sheet.canvas;
}

// The photograph in full colour where it is attended to, dim and drained elsewhere, and an outline around the 60 % set.
export function drawLight(sheet, values, at, rows, columns, ceiling, makeCanvas, unit) {
  fit(sheet, rows, columns);
  sheet.dim ??= dimmed(sheet, makeCanvas);
  if (!sheet.mask || sheet.mask.width !== columns || sheet.mask.height !== rows) sheet.mask = makeCanvas(columns, rows);
  densestInto(sheet.chosen, values, at, rows * columns);
  const through = sheet.mask.getContext("2d");
  const mask = through.createImageData(columns, rows);
  for (let cell = 0; cell < rows * columns; cell++) {
    mask.data[4 * cell + 3] = litOf(stepOf(values[at + cell], ceiling), sheet.chosen[cell]);
  }
  through.putImageData(mask, 0, 0);
  const { context, width, height } = sheet;
  context.clearRect(0, 0, width, height);
  context.imageSmoothingEnabled = false;
  context.drawImage(sheet.mask, 0, 0, width, height);
  context.globalCompositeOperation = "source-in";
  context.drawImage(sheet.clear, 0, 0);
  context.globalCompositeOperation = "destination-over";
  context.drawImage(sheet.dim, 0, 0);
  context.globalCompositeOperation = "source-over";
  strokeOutlines(context, outlines(sheet.chosen, rows, columns), width / columns, height / rows, unit);
  sheet.drawn = "light";
  return sheet.canvas;
}

function dimmed(sheet, makeCanvas) {
  const { clear, width, height } = sheet;
  const canvas = makeCanvas(width, height);
  const context = canvas.getContext("2d");
  context.drawImage(clear, 0, 0);
  const pixels = context.getImageData(0, 0, width, height);
  const rgba = pixels.data;
  for (let i = 0; i < rgba.length; i += 4) {
    const grey = 0.299 * rgba[i] + 0.587 * rgba[i + 1] + 0.114 * rgba[i + 2];
    for (let c = i; c < i + 3; c++) rgba[c] = 255 * DIM[0] + DIM[1] * (grey + DRAINED * (rgba[c] - grey));
  }
  context.putImageData(pixels, 0, 0);
  return canvas;
}

// Round corners: a set of patches looks like a region then, not like a staircase.
export function strokeOutlines(context, paths, cw, ch, unit, colour = OUTLINE) {
  const radius = 0.42 * Math.min(cw, ch);
  context.beginPath();
  for (const path of paths) {
    const points = [];
    for (let i = 0; i < path.length; i += 2) points.push([path[i + 1] * cw, path[i] * ch]);
    const middle = (a, b) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    context.moveTo(...middle(points.at(-1), points[0]));
    points.forEach((point, i) => {
      context.arcTo(...point, ...middle(point, points[(i + 1) % points.length]), radius);
    });
    context.closePath();
  }
  context.lineJoin = "round";
  context.strokeStyle = "rgb(0 0 0 / 0.55)";
  context.lineWidth = 3.5 * unit;
  context.stroke();
  context.strokeStyle = colour;
  context.lineWidth = 1.6 * unit;
  context.stroke();
}

// The bar beneath: the heat over the tones of the photograph that lie beneath it most often.
export function barColours(tone = TONES >> 1) {
  const table = heatTable();
  return Array.from({ length: STEPS }, (_, step) => {
    const pixel = table[step * TONES + tone];
    return `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
  });
}
