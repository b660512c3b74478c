// One patch on its way to a token: its colours apart, its rows one after another, the filter, the token. `it` is the
// state of patches.js; `it.flown` goes from 0 to 1.

import { makeCanvas, outlineCell } from "../drawing/canvas.js";
import { eased, sheetOf, signedPalette } from "../drawing/stage.js";

const CHANNELS = ["red", "green", "blue"];
const SIDE = 92; // of the enlarged patch, at most

export function paintFlight(it, theme, { vector, filter }) {
  const { patch, width, tokens } = it.cut;
  const w = it.flight.clientWidth,
    label = 17,
    side = Math.min(SIDE, (w - 30) / 4),
    band = 20;
  const places = {
    x: 0,
    w,
    patchY: label,
    vectorY: label + side + 28,
    filterY: label + side + 28 + band + 24,
    token: { y: label + side + 28 + 2 * (band + 24), h: 24 },
  };
  it.places = places;
  const { context } = sheetOf(it.flight, places.token.y + places.token.h + 6);
  const words = (text, x, y) => {
    context.font = `13px ${theme.font}`;
    context.fillStyle = theme.soft;
    context.textBaseline = "alphabetic";
    context.fillText(text, x, y);
  };
  const planes = planesOf(it);
  const planeX = (channel) => (channel + 1) * ((w - side) / 3);
  context.imageSmoothingEnabled = false;
  const column = it.at % it.cut.grid[1],
    row = Math.floor(it.at / it.cut.grid[1]);
  words(`patch ${row},${column}`, 0, label - 5);
  context.drawImage(it.image, column * patch, row * patch, patch, patch, 0, places.patchY, side, side);
  CHANNELS.forEach((name, channel) => {
    words(name, planeX(channel), label - 5);
    context.drawImage(planes[channel], planeX(channel), places.patchY, side, side);
  });
  const phase = (from, to) => eased(Math.min(1, Math.max(0, (it.flown - from) / (to - from))));
  words(`flatten and normalise: ${vector.length.toLocaleString("en")} numbers in a row`, 0, places.vectorY - 6);
  flyRows(it, context, planes, planeX, side, band, w, places);
  const shown = phase(0.62, 0.8);
  words(`multiply by filter ${it.number}, which is learned, and add up`, 0, places.filterY - 6);
  context.globalAlpha = shown;
  bandOf(context, filter, it.filter.most, 0, places.filterY, w * shown, band, theme);
  context.globalAlpha = 1;
  words(`the token: ${width} numbers. Point at one of them`, 0, places.token.y - 6);
  const token = tokens.subarray(it.at * width, (it.at + 1) * width);
  const most = token.reduce((m, x) => Math.max(m, Math.abs(x)), 1e-12);
  bandOf(context, token, most, 0, places.token.y, w * phase(0.8, 1), places.token.h, theme);
  if (it.flown > 0.8)
    outlineCell(context, (it.number / width) * w, places.token.y, Math.max(3, w / width), places.token.h, 1);
}

// Every row of pixels moves from its colour plane to its place in the vector.
function flyRows(it, context, planes, planeX, side, band, w, places) {
  const { patch } = it.cut,
    count = 3 * patch,
    length = w / count;
  for (let i = 0; i < count; i++) {
    const channel = Math.floor(i / patch),
      y = i % patch,
      wait = (0.4 * i) / count;
    const t = eased(Math.min(1, Math.max(0, (it.flown - wait) / 0.22)));
    if (t === 0) continue;
    const fromX = planeX(channel),
      fromY = places.patchY + (y * side) / patch;
    const at = (a, b) => a + (b - a) * t;
    context.drawImage(
      planes[channel],
      0,
      y,
      patch,
      1,
      at(fromX, i * length),
      at(fromY, places.vectorY),
      at(side, length + 0.3),
      at(side / patch, band),
    );
  }
}

// One canvas for each colour, in that colour.
function planesOf(it) {
  const key = `${it.id} ${it.at}`;
  if (it.planes?.key === key) return it.planes.canvases;
  const {
    patch,
    size: [, width],
    grid: [, columns],
    pixels,
  } = it.cut;
  const top = Math.floor(it.at / columns) * patch,
    left = (it.at % columns) * patch;
  const canvases = CHANNELS.map((_, channel) => {
    const canvas = makeCanvas(patch, patch),
      context = canvas.getContext("2d"),
      data = context.createImageData(patch, patch);
    for (let i = 0; i < patch * patch; i++) {
      const value = pixels[((top + Math.floor(i / patch)) * width + left + (i % patch)) * 3 + channel];
      const pixel = [0, 1, 2].map((c) => (c === channel ? value : value * 0.28));
      data.data.set([...pixel, 255], 4 * i);
    }
    context.putImageData(data, 0, 0);
    return canvas;
  });
  it.planes = { key, canvases };
  return canvases;
}

// Signed numbers as a band of colours: one pixel each, stretched to the width.
function bandOf(context, values, most, x, y, w, h, theme) {
  if (w <= 0) return;
  const strip = makeCanvas(values.length, 1),
    inside = strip.getContext("2d"),
    data = inside.createImageData(values.length, 1);
  const pixels = new Uint32Array(data.data.buffer),
    palette = signedPalette(theme.dark);
  for (let i = 0; i < values.length; i++)
    pixels[i] = palette[Math.round(127.5 + 127.5 * Math.min(1, Math.max(-1, values[i] / most)))];
  inside.putImageData(data, 0, 0);
  context.imageSmoothingEnabled = values.length > 2 * w;
  context.drawImage(strip, x, y, w, h);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
}
