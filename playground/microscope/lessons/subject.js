// Lessons on a visitor's photograph where there is no Python. A part with `own` (playground/lessons/parts.py) gets its
// words, numbers, data and pictures from here, in place of those that were written ahead for a sample.
//
// The photograph is {id, pack: its trace with all layers, bytes: the same as bytes, bitmap: its pixels, at most 1024 to
// a side, gridFor([rows, columns] of a square picture): its grid of patches}.

import { MAGMA } from "../core/colours.js";
import { toContainer } from "../core/container.js";
import { FORMAT, rowInto } from "../core/core.js";
import { meanColours } from "../core/kinds.js";
import { greyOf } from "../core/light.js";
import { farRow, measureOf, middleOf, wordsOf } from "../core/measures.js";

const DRAWN_SIDE = 640; // pixels of a picture in a drawing
const AROUND = 2; // patches around the one that asks
const ENLARGED_SIDE = 480; // pixels
const COLOURS_SIDE = 224; // pixels of a square picture whose patches have mean colours; and their usual scale, which is
const COLOURS_SCALE = 20; //    1/temperature: as in playground/analysis/by_hand.py
const BLACK_PART = 1e-6; // counts as grey

// The question, asked about the photograph: the fields in `own` are replaced.
export async function askedOf({ question, own, ...more }, subject) {
  return { ...question, ...(await othersOf(own, question, subject)), ...more, context: subject.id };
}

// The picture and its caption, made from the photograph.
export const pictureOf = async ({ own, ...picture }, subject) => {
  const { caption = picture.caption, data } = await othersOf(own, picture, subject);
  return { ...picture, data, caption, words: caption };
};

// {field: its value for the photograph}, for each field in `own`.
async function othersOf(own, whole, subject) {
  const other = {};
  for (const [name, told] of Object.entries(own)) {
    if ("text" in told) other[name] = wordsOf(told, subject.pack);
    else if ("measure" in told) other[name] = measureOf(told, subject.pack);
    else other[name] = await PICTURES[told.made](told, subject, whole[name]);
  }
  return other;
}

// The chart's traces; those in `own` get the photograph's values as y.
export const tracesOf = (data, own, { pack }) =>
  data.map((trace, n) => (own[n] ? { ...trace, y: measureOf(own[n], pack) } : trace));

// A promise of a drawing's data. The same request gets the same promise.
export function bytesOf(own, subject) {
  const key = JSON.stringify(own);
  subject.made ??= new Map();
  if (!subject.made.has(key)) subject.made.set(key, DRAWINGS[own.made](own, subject));
  return subject.made.get(key);
}

const DRAWINGS = {
  async layer({ layer, desk }, { id, pack, bytes, bitmap }) {
    const image = await jpegOf(bitmap, DRAWN_SIDE);
    const header = { id: `${id} ${layer}`, layer, patch: middleOf(pack), desk };
    return toContainer(header, { pack: [bytes, [bytes.length]], image: [image, [image.length]] });
  },

  // A trace with one layer and one head: each patch's query and key is its mean colour, as a vector of length one.
  async colours({ patch, temperatures }, { id, bitmap, gridFor }) {
    const side = Math.max(1, Math.floor(COLOURS_SIDE / patch));
    const grid = gridFor([side, side]);
    const [height, width] = grid.map((count) => count * patch);
    const { data } = drawnOn(bitmap, width, height).getImageData(0, 0, width, height);
    const unit = unitColours(meanColours(data, width, height, ...grid));
    const image = await jpegOf(bitmap, 2 * Math.max(width, height));
    const tokens = unit.length / 3;
    const header = {
      ...{
        format: FORMAT,
        scale: COLOURS_SCALE,
        layers: 1,
        heads: 1,
        head_dim: 3,
        tokens,
        prefix: [],
        grid,
        held: [0],
      },
      ...{ size: [height, width], id: `${id} ${patch}`, temperatures },
    };
    const shape = [1, 1, tokens, 3];
    return toContainer(header, { q: [unit, shape], k: [unit, shape], image: [image, [image.length]] });
  },
};

// (patches × 3) → the same, each of length one.
export function unitColours(colours) {
  const unit = colours.map((part) => part + BLACK_PART);
  for (let at = 0; at < unit.length; at += 3) {
    const length = Math.hypot(unit[at], unit[at + 1], unit[at + 2]);
    for (let c = at; c < at + 3; c++) unit[c] /= length;
  }
  return unit;
}

const PICTURES = {
  // The photograph with the row to guess; beside it, enlarged, the patch that asks and its neighbours.
  async far_row({ words }, { pack, bitmap }, photo) {
    const { rows, columns } = pack;
    const mark = middleOf(pack);
    const heat = Array.from(farRow(pack), (weight) => Number(weight.toFixed(6)));
    const beside = { words, ...(await enlarged(bitmap, pack, mark)) };
    const image = urlOf(await jpegOf(bitmap, DRAWN_SIDE));
    return { ...photo, image, grid: [rows, columns], aspect: columns / rows, mark, heat, beside };
  },

  // The photograph in grey, its middle patch outlined, and that patch's row in colour over it. `lit` in
  // playground/lessons/pictures.py draws the same.
  async lit({ row, ...asked }, { pack, bitmap }) {
    const { rows, columns } = pack;
    const values = ROWS[row](pack, asked);
    const share = Math.min(1, DRAWN_SIDE / Math.max(bitmap.width, bitmap.height));
    const [width, height] = [bitmap.width, bitmap.height].map((pixels) => Math.max(1, Math.round(share * pixels)));
    const context = drawnOn(bitmap, width, height);
    const photo = context.getImageData(0, 0, width, height);
    for (let at = 0; at < photo.data.length; at += 4)
      photo.data.fill(greyOf(photo.data[at], photo.data[at + 1], photo.data[at + 2]), at, at + 3);
    context.putImageData(photo, 0, 0);
    const most = Math.max(...values);
    const edges = (n, count, side) => [Math.round((n * side) / count), Math.round(((n + 1) * side) / count)];
    const boxOf = (patch) => {
      const [[top, bottom], [left, right]] = [
        edges(Math.floor(patch / columns), rows, height),
        edges(patch % columns, columns, width),
      ];
      return [left, top, right - left, bottom - top];
    };
    for (const [patch, value] of values.entries()) {
      const at = 3 * Math.floor((255 * value) / most);
      context.fillStyle = `rgb(${MAGMA.slice(at, at + 3).join(" ")} / ${(40 + (200 * value) / most) / 255})`;
      context.fillRect(...boxOf(patch));
    }
    context.strokeStyle = "white";
    context.lineWidth = 3;
    context.strokeRect(...boxOf(middleOf(pack)));
    return urlOf(await bytesOfCanvas(context.canvas));
  },
};

// The middle patch's row, (patches,), by the name that a lesson gives.
export const ROWS = {
  kernel: ({ rows, columns }) => {
    const [y, x] = [Math.floor(rows / 2), Math.floor(columns / 2)];
    const isNear = (patch) => Math.max(Math.abs(Math.floor(patch / columns) - y), Math.abs((patch % columns) - x)) < 2;
    return Float32Array.from({ length: rows * columns }, (_, patch) => Number(isNear(patch)));
  },
  even: ({ patches }) => new Float32Array(patches).fill(1),
  head: (pack, { layer, head }) => {
    const row = new Float32Array(pack.tokens);
    rowInto(row, 0, pack, layer, head, pack.prefixCount + middleOf(pack), pack.scale);
    return row.subarray(pack.prefixCount);
  },
};

// {image, aspect}: a patch, outlined, and those around it.
async function enlarged(bitmap, { rows, columns }, patch) {
  const across = 2 * AROUND + 1;
  const [high, wide] = [bitmap.height / rows, bitmap.width / columns];
  const within = (at, count) => Math.min(Math.max(at, AROUND), Math.max(AROUND, count - 1 - AROUND)) - AROUND;
  const [row, column] = [Math.floor(patch / columns), patch % columns];
  const [top, left] = [within(row, rows), within(column, columns)];
  const height = Math.round((ENLARGED_SIDE * high) / wide);
  const canvas = new OffscreenCanvas(ENLARGED_SIDE, height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, left * wide, top * high, across * wide, across * high, 0, 0, ENLARGED_SIDE, height);
  const [y, x] = [((row - top) * height) / across, ((column - left) * ENLARGED_SIDE) / across];
  for (const [colour, line] of [
    ["black", 6],
    ["white", 2],
  ]) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(x, y, ENLARGED_SIDE / across, height / across);
  }
  return { image: urlOf(await bytesOfCanvas(canvas)), aspect: ENLARGED_SIDE / height };
}

// ---------------------------------------------------------------------------------------------------- as files

function drawnOn(bitmap, width, height) {
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, width, height);
  return context;
}

// At most so many pixels to a side.
function jpegOf(bitmap, side) {
  const share = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
  const [width, height] = [bitmap.width, bitmap.height].map((pixels) => Math.max(1, Math.round(share * pixels)));
  return bytesOfCanvas(drawnOn(bitmap, width, height).canvas);
}

async function bytesOfCanvas(canvas) {
  const blob = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 });
  return new Uint8Array(await blob.arrayBuffer());
}

function urlOf(jpeg) {
  let text = "";
  for (let at = 0; at < jpeg.length; at += 8192) text += String.fromCharCode(...jpeg.subarray(at, at + 8192));
  return `data:image/jpeg;base64,${btoa(text)}`;
}
