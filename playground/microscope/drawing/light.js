// Paints heat as pixels; core/light.js has the arithmetic. Each pixel's heat is the entry of a table for the
// pixel's tone (its grey in the photograph) and the patch's step (its weight), and is blended with the photograph.

import {
  fadedPixels,
  hatchedStep,
  hatching,
  heatTable,
  OPACITIES,
  STEP_COUNT,
  stepOf,
  TONE_COUNT,
  toneOf,
} from "../core/light.js";
import { makeCanvas } from "./dom.js";

const MIDDLE_GREY = 127; // a middle grey, the background of the heat's colour bar
const NO_PICTURE_COLOUR = "#8c8c90";

// A photograph at its drawn size, with data that is computed from it once.
export function makePhoto(image, width, height) {
  const photoCanvas = makeCanvas(width, height);
  const context = photoCanvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  if (image) context.drawImage(image, 0, 0, photoCanvas.width, photoCanvas.height);
  else {
    context.fillStyle = NO_PICTURE_COLOUR;
    context.fillRect(0, 0, photoCanvas.width, photoCanvas.height);
  }
  const { data } = context.getImageData(0, 0, photoCanvas.width, photoCanvas.height);
  const tones = new Uint8Array(photoCanvas.width * photoCanvas.height);
  for (let p = 0, i = 0; p < tones.length; p++, i += 4) tones[p] = toneOf(data[i], data[i + 1], data[i + 2]);
  return {
    image,
    width: photoCanvas.width,
    height: photoCanvas.height,
    clear: photoCanvas, //       a canvas: the photograph itself
    tones, //       for each pixel, its tone in the table of heat
    beneath: fadedPixels(data), // the faded photograph under the heat
    soft: null, //  the faded photograph as a canvas; see softOf
  };
}

// The faded photograph without any heat.
export function softOf(photo) {
  photo.soft ??= canvasOf(photo, photo.beneath);
  return photo.soft;
}

function canvasOf({ width, height }, pixels) {
  const canvas = makeCanvas(width, height);
  const context = canvas.getContext("2d");
  context.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), width, height), 0, 0);
  return canvas;
}

// A print: a canvas of a photograph's size, and a record of what is drawn on the canvas.
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
    steps: new Int16Array(0), //  each patch's last drawn step of the heat
    holds: "", //                 what is drawn: "heat", "nothing", or the parts of printParts
  };
}

function resizePrint(print, rows, columns) {
  if (print.rows === rows && print.columns === columns) return;
  Object.assign(print, { rows, columns, steps: new Int16Array(rows * columns), holds: "" });
}

// Draws the heat of one value for each patch, from values[offset]. A row of patches is drawn if one of its steps has
// changed, line by line: memory that is read in order is read twice as fast.
export function printHeat(print, values, offset, rows, columns, domain) {
  resizePrint(print, rows, columns);
  const { steps, photo } = print;
  const { width, height } = photo;
  const edges = Int32Array.from({ length: columns + 1 }, (_, column) => edge(column, columns, width));
  const table = blendTable();
  const redrawAll = print.holds !== "heat";
  let top = height,
    bottom = 0;
  for (let row = 0, cell = 0; row < rows; row++) {
    let isChanged = redrawAll;
    for (const end = cell + columns; cell < end; cell++) {
      const step = stepOf(values[offset + cell], domain);
      if (step !== steps[cell]) isChanged = true;
      steps[cell] = step;
    }
    if (!isChanged) continue;
    const y0 = edge(row, rows, height);
    bottom = edge(row + 1, rows, height);
    top = Math.min(top, y0);
    for (let y = y0; y < bottom; y++) heatLine(print, cell - columns, edges, y, table);
  }
  print.holds = "heat";
  if (bottom > top) print.context.putImageData(print.data, 0, 0, 0, top, width, bottom - top);
  return print.canvas;
}

const edge = (place, count, length) => Math.round((place * length) / count);

// Draws the line of pixels y across the row of patches that begins with firstCell.
function heatLine({ pixels, photo, steps, rows }, firstCell, edges, y, table) {
  const { tones, beneath, width, height } = photo;
  const start = y * width,
    isInLine = hatching(height / rows);
  for (let column = 0; column < edges.length - 1; column++) {
    const step = steps[firstCell + column];
    if (step < 0) {
      negativeLine(pixels, photo, -step, edges[column], edges[column + 1], y, isInLine);
      continue;
    }
    const firstColour = step * TONE_COUNT,
      photoShare = 256 - OPACITIES[step];
    for (let p = start + edges[column], end = start + edges[column + 1]; p < end; p++) {
      pixels[p] = blend(beneath[p], photoShare, table, firstColour + tones[p]);
    }
  }
}

// Draws one line of pixels of a patch below zero: hatched, from the table for values below zero.
function negativeLine(pixels, { tones, beneath, width }, step, x0, x1, y, isInLine) {
  const table = blendTable(true);
  const [fullStep, faintStep] = [step, hatchedStep(step)];
  for (let x = x0, p = y * width + x0; x < x1; x++, p++) {
    const cellStep = isInLine(x, y) ? faintStep : fullStep;
    pixels[p] = blend(beneath[p], 256 - OPACITIES[cellStep], table, cellStep * TONE_COUNT + tones[p]);
  }
}

// Blends a pixel with a colour. Red and blue share one multiplication, because they lie two bytes apart.
function blend(pixel, photoShare, { redBlue, green }, index) {
  const rb = Math.imul(pixel & 0xff00ff, photoShare) + redBlue[index];
  const g = Math.imul(pixel & 0xff00, photoShare) + green[index];
  return 0xff000000 | ((rb >>> 8) & 0xff00ff) | ((g >>> 8) & 0xff00);
}

// The heat's tables: false → for values above zero, true → for values below. Colours are multiplied by their opacity,
// plus half a step for rounding.
const blendTables = new Map();

function blendTable(isNegative = false) {
  if (blendTables.has(isNegative)) return blendTables.get(isNegative);
  const table = heatTable(isNegative);
  const blended = { redBlue: new Uint32Array(table.length), green: new Uint32Array(table.length) };
  for (let index = 0; index < table.length; index++) {
    const opacity = OPACITIES[Math.floor(index / TONE_COUNT)];
    blended.redBlue[index] = Math.imul(table[index] & 0xff00ff, opacity) + 0x800080;
    blended.green[index] = Math.imul(table[index] & 0xff00, opacity) + 0x8000;
  }
  blendTables.set(isNegative, blended);
  return blended;
}

// Prints the photograph alone.
export function printNothing(print) {
  if (print.holds !== "nothing") print.context.drawImage(softOf(print.photo), 0, 0);
  print.holds = "nothing";
  return print.canvas;
}

export function strokeOutlines(context, paths, cw, ch, unit, colour) {
  context.beginPath();
  for (const path of paths) {
    const count = path.length;
    context.moveTo(((path[count - 1] + path[1]) * cw) / 2, ((path[count - 2] + path[0]) * ch) / 2);
    for (let i = 0; i < count; i += 2) {
      const nextIndex = i + 2 < count ? i + 2 : 0;
      const [y, x] = [path[i] * ch, path[i + 1] * cw];
      context.quadraticCurveTo(x, y, (x + path[nextIndex + 1] * cw) / 2, (y + path[nextIndex] * ch) / 2);
    }
    context.closePath();
  }
  context.lineJoin = "round";
  context.strokeStyle = "#fff";
  context.lineWidth = 4 * unit;
  context.stroke();
  context.strokeStyle = colour;
  context.lineWidth = 2 * unit;
  context.stroke();
}

// Writes a thumbnail's pixels: the heat over a photograph, both with one pixel for each patch.
export function heatInto(pixels, pixelOffset, stride, values, offset, rows, columns, { tones, beneath }, domain) {
  const table = blendTable();
  for (let row = 0, cell = 0; row < rows; row++) {
    for (let column = 0, p = pixelOffset + row * stride; column < columns; column++, cell++, p++) {
      const step = stepOf(values[offset + cell], domain);
      pixels[p] = blend(beneath[cell], 256 - OPACITIES[step], table, step * TONE_COUNT + tones[cell]);
    }
  }
}

// 256 CSS colours for bars and charts, over a middle grey; isNegative: for values below zero.
export function barColours(isNegative = false) {
  const table = blendTable(isNegative);
  const tone = toneOf(MIDDLE_GREY, MIDDLE_GREY, MIDDLE_GREY),
    [basePixel] = fadedPixels([MIDDLE_GREY, MIDDLE_GREY, MIDDLE_GREY, 0]);
  return Array.from({ length: STEP_COUNT }, (_, step) => {
    const pixel = blend(basePixel, 256 - OPACITIES[step], table, step * TONE_COUNT + tone);
    return `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
  });
}
