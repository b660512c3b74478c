// The photograph under the heat, and the photograph lit where it is attended to. core/light.js has the numbers; here
// they become pixels. The heat is a look-up for each pixel: its own grey chooses the tone, its patch's weight the
// step.

import {
  DIM,
  DRAINED,
  densestInto,
  heatTable,
  LIT_GOLD,
  litOf,
  outlines,
  STEPS,
  stepOf,
  TONES,
  toneOf,
} from "../core/light.js";
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
  const { data } = context.getImageData(0, 0, clear.width, clear.height);
  const tones = new Uint8Array(clear.width * clear.height);
  for (let p = 0, i = 0; p < tones.length; p++, i += 4) tones[p] = toneOf(data[i], data[i + 1], data[i + 2]);
  return {
    image,
    width: clear.width,
    height: clear.height,
    clear, //       a canvas: the photograph itself
    pixels: new Uint32Array(data.buffer), // of it, as canvas has them: 0xAABBGGRR
    tones, //       of each pixel: its row in the table of the heat
    soft: null, //  a canvas: in soft grey, as beneath the heat; see softOf
    dim: null, //   the pixels as the light leaves what is not attended to; see dimOf
  };
}

// The photograph in soft grey: the heat of nothing.
export function softOf(photo) {
  if (photo.soft) return photo.soft;
  const { tones, width, height } = photo;
  const table = heatTable();
  photo.soft = makeCanvas(width, height);
  const context = photo.soft.getContext("2d");
  const data = context.createImageData(width, height);
  const pixels = new Uint32Array(data.data.buffer);
  for (let p = 0; p < tones.length; p++) pixels[p] = table[tones[p]];
  context.putImageData(data, 0, 0);
  return photo.soft;
}

function dimOf(photo) {
  if (photo.dim) return photo.dim;
  const bytes = new Uint8ClampedArray(photo.pixels.slice().buffer);
  for (let i = 0; i < bytes.length; i += 4) {
    const grey = greyOf(bytes[i], bytes[i + 1], bytes[i + 2]);
    for (let c = i; c < i + 3; c++) bytes[c] = dimmed(bytes[c], grey);
  }
  photo.dim = new Uint32Array(bytes.buffer);
  return photo.dim;
}

// A colour's red, green or blue as the light leaves it where nothing is attended to.
const dimmed = (c, grey) => 255 * DIM[0] + DIM[1] * (grey + DRAINED * (c - grey));

const greyOf = (r, g, b) => 0.299 * r + 0.587 * g + 0.114 * b;

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
    steps: new Uint8Array(0), //  of each patch, as last drawn: of the heat, or how lit it is
    chosen: new Uint8Array(0), // the patches of the set that holds 60 %
    holds: "", //                 which of the ways to draw, or the pixels that are drawn
  };
}

function fit(print, rows, columns) {
  if (print.rows === rows && print.columns === columns) return;
  const count = rows * columns;
  Object.assign(print, { rows, columns, steps: new Uint8Array(count), chosen: new Uint8Array(count), holds: "" });
}

// The heat of `values[at …]`, one for each patch.
export function printHeat(print, values, at, rows, columns, domain, smooth = false) {
  fit(print, rows, columns);
  if (smooth) return printSmoothHeat(print, values, at, domain);
  const [top, bottom] = printCells(print, "heat", (cell) => stepOf(values[at + cell], domain), heatCell);
  if (bottom > top) print.context.putImageData(print.data, 0, 0, 0, top, print.photo.width, bottom - top);
  return print.canvas;
}

// Fills each patch whose step is not what it was. Gives the rows of pixels that have changed, from and to.
function printCells(print, way, stepOfCell, fillCell) {
  const { rows, columns, steps, photo } = print;
  const { width, height } = photo;
  const all = print.holds !== way;
  let top = height,
    bottom = 0;
  for (let row = 0, cell = 0; row < rows; row++) {
    const y0 = edge(row, rows, height),
      y1 = edge(row + 1, rows, height);
    for (let column = 0; column < columns; column++, cell++) {
      const step = stepOfCell(cell);
      if (!all && step === steps[cell]) continue;
      steps[cell] = step;
      fillCell(print, step, edge(column, columns, width), edge(column + 1, columns, width), y0, y1);
      if (y0 < top) top = y0;
      if (y1 > bottom) bottom = y1;
    }
  }
  print.holds = way;
  return [top, bottom];
}

const edge = (place, count, length) => Math.round((place * length) / count);

function heatCell({ pixels, photo }, step, x0, x1, y0, y1) {
  const table = heatTable(),
    colours = step * TONES;
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
  const { context, photo, chosen } = print;
  densestInto(chosen, values, at, rows * columns);
  printCells(print, "light", (cell) => litOf(stepOf(values[at + cell], domain), chosen[cell]), lightCell);
  context.putImageData(print.data, 0, 0); // all of it: the former outline is taken away
  strokeOutlines(context, outlines(chosen, rows, columns), photo.width / columns, photo.height / rows, unit);
  return print.canvas;
}

// Between dim and clear, red and blue in one multiplication: they lie two bytes apart.
function lightCell({ pixels, photo }, lit, x0, x1, y0, y1) {
  const clear = photo.pixels,
    dim = dimOf(photo);
  const much = lit + (lit >> 7), // of 256
    little = 256 - much;
  for (let y = y0; y < y1; y++) {
    for (let p = y * photo.width + x0, end = y * photo.width + x1; p < end; p++) {
      const redBlue = Math.imul(dim[p] & 0xff00ff, little) + Math.imul(clear[p] & 0xff00ff, much);
      const green = Math.imul(dim[p] & 0xff00, little) + Math.imul(clear[p] & 0xff00, much);
      pixels[p] = 0xff000000 | ((redBlue >>> 8) & 0xff00ff) | ((green >>> 8) & 0xff00);
    }
  }
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

// 256 CSS colours for bars and charts: the heat over a middle tone, or the light on a bright colour.
export function barColours(draw = "heat", tone = TONES >> 1) {
  const table = heatTable();
  return Array.from({ length: STEPS }, (_, step) => {
    if (draw === "light") return `rgb(${litGold(litOf(step, false) / 255).join(" ")})`;
    const pixel = table[step * TONES + tone];
    return `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
  });
}

function litGold(lit) {
  const grey = greyOf(...LIT_GOLD);
  return LIT_GOLD.map((c) => Math.round(dimmed(c, grey) * (1 - lit) + c * lit));
}
