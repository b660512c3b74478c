// The photograph under the heat, and the photograph lit where it is attended to. core/light.js has the numbers; here
// they become pixels. The heat is a look-up for each pixel: its own grey chooses the tone, its patch's weight the
// step.

import { DIM, DRAINED, densestInto, heatTable, litOf, outlines, STEPS, stepOf, TONES, toneOf } from "../core/light.js";
import { makeCanvas } from "./canvas.js";

const OUTLINE = "#fff3c8";
const NO_PICTURE = "#8c8c90";

// A photograph at the size at which it is drawn, and what is worked out of it once.
export function makePhoto(image, width, height) {
  const clear = makeCanvas(width, height);
  const context = clear.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  if (image) context.drawImage(image, 0, 0, clear.width, clear.height);
  else {
    context.fillStyle = NO_PICTURE;
    context.fillRect(0, 0, clear.width, clear.height);
  }
  const rgba = context.getImageData(0, 0, clear.width, clear.height).data;
  const tones = new Uint8Array(clear.width * clear.height);
  for (let p = 0, i = 0; p < tones.length; p++, i += 4) tones[p] = toneOf(rgba[i], rgba[i + 1], rgba[i + 2]);
  return {
    image,
    width: clear.width,
    height: clear.height,
    clear, //       the photograph itself
    tones, //       of each pixel: its row in the table of the heat
    soft: null, //  a canvas: in soft grey, as beneath the heat; see softOf
    dim: null, //   a canvas: as the light leaves what is not attended to; see dimOf
  };
}

// The photograph in soft grey: the heat of nothing.
export function softOf(photo) {
  photo.soft ??= recoloured(photo, (rgba, p, i) => {
    const pixel = heatTable()[photo.tones[p]];
    rgba[i] = pixel & 255;
    rgba[i + 1] = (pixel >> 8) & 255;
    rgba[i + 2] = (pixel >> 16) & 255;
  });
  return photo.soft;
}

function dimOf(photo) {
  photo.dim ??= recoloured(photo, (rgba, _, i) => {
    const grey = 0.299 * rgba[i] + 0.587 * rgba[i + 1] + 0.114 * rgba[i + 2];
    for (let c = i; c < i + 3; c++) rgba[c] = 255 * DIM[0] + DIM[1] * (grey + DRAINED * (rgba[c] - grey));
  });
  return photo.dim;
}

function recoloured({ clear, width, height }, change) {
  const canvas = makeCanvas(width, height);
  const context = canvas.getContext("2d");
  context.drawImage(clear, 0, 0);
  const pixels = context.getImageData(0, 0, width, height);
  for (let p = 0, i = 0; p < width * height; p++, i += 4) change(pixels.data, p, i);
  context.putImageData(pixels, 0, 0);
  return canvas;
}

// What is drawn on a photograph: a canvas of its size, and what it holds at the moment.
export function makePrint(photo, canvas = makeCanvas(photo.width, photo.height)) {
  canvas.width = photo.width;
  canvas.height = photo.height;
  const context = canvas.getContext("2d");
  const data = context.createImageData(photo.width, photo.height);
  return {
    photo,
    canvas,
    context,
    data,
    pixels: new Uint32Array(data.data.buffer),
    rows: 0,
    columns: 0,
    steps: new Uint8Array(0), //  of each patch, as last drawn
    chosen: new Uint8Array(0), // the patches of the set that holds 60 %
    mask: null, //                one pixel a patch: how much of the photograph it lets through
    holds: "", //                 which of the ways to draw
  };
}

function fit(print, rows, columns) {
  if (print.rows === rows && print.columns === columns) return;
  const count = rows * columns;
  Object.assign(print, { rows, columns, steps: new Uint8Array(count), chosen: new Uint8Array(count), holds: "" });
}

// The heat of `values[at …]`, one for each patch. A patch whose step is still the same keeps its pixels.
export function printHeat(print, values, at, rows, columns, domain, smooth = false) {
  fit(print, rows, columns);
  if (smooth) return printSmoothHeat(print, values, at, domain);
  const { width, height } = print.photo;
  const all = print.holds !== "heat";
  let top = height,
    bottom = 0;
  for (let row = 0, cell = 0; row < rows; row++) {
    const y0 = edge(row, rows, height),
      y1 = edge(row + 1, rows, height);
    for (let column = 0; column < columns; column++, cell++) {
      const step = stepOf(values[at + cell], domain);
      if (!all && step === print.steps[cell]) continue;
      print.steps[cell] = step;
      fillCell(print, step * TONES, edge(column, columns, width), edge(column + 1, columns, width), y0, y1);
      if (y0 < top) top = y0;
      if (y1 > bottom) bottom = y1;
    }
  }
  if (bottom > top) print.context.putImageData(print.data, 0, 0, 0, top, width, bottom - top);
  print.holds = "heat";
  return print.canvas;
}

const edge = (place, count, length) => Math.round((place * length) / count);

function fillCell({ pixels, photo }, colours, x0, x1, y0, y1) {
  const table = heatTable();
  const { tones, width } = photo;
  for (let y = y0; y < y1; y++) {
    for (let p = y * width + x0, end = y * width + x1; p < end; p++) pixels[p] = table[colours + tones[p]];
  }
}

// The same, interpolated between the middles of the patches.
function printSmoothHeat(print, values, at, domain) {
  const { rows, columns, pixels } = print;
  const { width, height, tones } = print.photo;
  const table = heatTable();
  const inside = (n, count) => Math.min(count - 1, Math.max(0, n));
  for (let y = 0, p = 0; y < height; y++) {
    const v = ((y + 0.5) / height) * rows - 0.5,
      down = v - Math.floor(v);
    const above = at + inside(Math.floor(v), rows) * columns,
      below = at + inside(Math.floor(v) + 1, rows) * columns;
    for (let x = 0; x < width; x++, p++) {
      const u = ((x + 0.5) / width) * columns - 0.5,
        across = u - Math.floor(u);
      const left = inside(Math.floor(u), columns),
        right = inside(Math.floor(u) + 1, columns);
      const over = values[above + left] * (1 - across) + values[above + right] * across;
      const under = values[below + left] * (1 - across) + values[below + right] * across;
      pixels[p] = table[stepOf(over * (1 - down) + under * down, domain) * TONES + tones[p]];
    }
  }
  print.context.putImageData(print.data, 0, 0);
  print.holds = "smooth";
  return print.canvas;
}

// The photograph in full colour where it is attended to, dim and drained elsewhere, and an outline around the 60 % set.
export function printLight(print, values, at, rows, columns, domain, unit) {
  fit(print, rows, columns);
  if (print.mask?.width !== columns || print.mask.height !== rows) print.mask = makeCanvas(columns, rows);
  densestInto(print.chosen, values, at, rows * columns);
  const through = print.mask.getContext("2d");
  const mask = through.createImageData(columns, rows);
  for (let cell = 0; cell < rows * columns; cell++) {
    mask.data[4 * cell + 3] = litOf(stepOf(values[at + cell], domain), print.chosen[cell]);
  }
  through.putImageData(mask, 0, 0);
  const { context, photo } = print;
  context.clearRect(0, 0, photo.width, photo.height);
  context.imageSmoothingEnabled = false;
  context.drawImage(print.mask, 0, 0, photo.width, photo.height);
  context.globalCompositeOperation = "source-in";
  context.drawImage(photo.clear, 0, 0);
  context.globalCompositeOperation = "destination-over";
  context.drawImage(dimOf(photo), 0, 0);
  context.globalCompositeOperation = "source-over";
  strokeOutlines(context, outlines(print.chosen, rows, columns), photo.width / columns, photo.height / rows, unit);
  print.holds = "light";
  return print.canvas;
}

// Nothing but the photograph in soft grey.
export function printNothing(print) {
  if (print.holds !== "nothing") print.context.drawImage(softOf(print.photo), 0, 0);
  print.holds = "nothing";
  return print.canvas;
}

// Round corners: a set of patches looks like a region then, not like a staircase.
export function strokeOutlines(context, paths, cw, ch, unit) {
  const radius = 0.42 * Math.min(cw, ch);
  const middle = (a, b) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  context.beginPath();
  for (const path of paths) {
    const points = [];
    for (let i = 0; i < path.length; i += 2) points.push([path[i + 1] * cw, path[i] * ch]);
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
  context.strokeStyle = OUTLINE;
  context.lineWidth = 1.6 * unit;
  context.stroke();
}

// `count` patches of a thumbnail as pixels: the heat over the mean tone of each patch.
export function heatInto(pixels, to, stride, values, at, rows, columns, tones, domain) {
  const table = heatTable();
  for (let row = 0, cell = 0; row < rows; row++) {
    for (let column = 0, p = to + row * stride; column < columns; column++, cell++, p++) {
      pixels[p] = table[stepOf(values[at + cell], domain) * TONES + tones[cell]];
    }
  }
}

// 256 CSS colours for bars and charts: the heat over a middle tone.
export function barColours(tone = TONES >> 1) {
  const table = heatTable();
  return Array.from({ length: STEPS }, (_, step) => {
    const pixel = table[step * TONES + tone];
    return `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
  });
}
