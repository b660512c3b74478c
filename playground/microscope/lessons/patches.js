// Shows how a picture is cut into patches, and how one patch becomes a vector and then a token, with all the numbers.
// data: what `packed_patches` of playground/lessons/patches.py packs. Sends "at" and "number".
import { decodeHalves, dot, openContainer } from "../core/core.js";
import { patchFilter, patchFrom, patchText, patchVector } from "../core/grid.js";
import { fillHeat, makeCanvas, makeHeat, outlineCell, pixelSheet } from "../drawing/dom.js";
import { eased, hatch, lessonDrawing, sheetOf, signedPalette, spotOf, withMinus } from "../drawing/stage.js";
import { followKeys, followPointer } from "./patch.js";

// Draws how one patch becomes a token: the patch's three colour planes side by side, their rows end to end, the filter
// and the token. state.flightProgress goes from 0 to 1.

const CHANNELS = ["red", "green", "blue"];
const MOST_PATCH_SIDE = 92; // pixels: largest side of the enlarged patch

export function paintFlight(state, theme, { vector, filter }) {
  const { patch, width, tokens } = state.data;
  const w = state.flight.clientWidth,
    labelHeight = 17,
    side = Math.min(MOST_PATCH_SIDE, (w - 30) / 4),
    bandHeight = 20;
  const places = {
    x: 0,
    w,
    patchY: labelHeight,
    vectorY: labelHeight + side + 28,
    filterY: labelHeight + side + 28 + bandHeight + 24,
    token: { y: labelHeight + side + 28 + 2 * (bandHeight + 24), h: 24 },
  };
  state.places = places;
  const { context } = sheetOf(state.flight, places.token.y + places.token.h + 6);
  const writeAt = (text, x, y) => {
    context.font = `13px ${theme.font}`;
    context.fillStyle = theme.soft;
    context.textBaseline = "alphabetic";
    context.fillText(text, x, y);
  };
  const planes = colourPlanes(state);
  const planeX = (channel) => (channel + 1) * ((w - side) / 3);
  context.imageSmoothingEnabled = false;
  const column = state.at % state.data.grid[1],
    row = Math.floor(state.at / state.data.grid[1]);
  writeAt(`patch ${row},${column}`, 0, labelHeight - 5);
  context.drawImage(state.image, column * patch, row * patch, patch, patch, 0, places.patchY, side, side);
  CHANNELS.forEach((name, channel) => {
    writeAt(name, planeX(channel), labelHeight - 5);
    context.drawImage(planes[channel], planeX(channel), places.patchY, side, side);
  });
  const phase = (from, to) => eased(Math.min(1, Math.max(0, (state.flightProgress - from) / (to - from))));
  writeAt(`flatten and normalise: ${vector.length.toLocaleString("en")} numbers in a row`, 0, places.vectorY - 6);
  drawFlyingRows(state, context, planes, planeX, side, bandHeight, w, places);
  const opacity = phase(0.62, 0.8);
  writeAt(`multiply by filter ${state.number}, which is learned, and add up`, 0, places.filterY - 6);
  context.globalAlpha = opacity;
  drawBand(context, filter, state.filter.largest, 0, places.filterY, w * opacity, bandHeight, theme);
  context.globalAlpha = 1;
  writeAt(`the token: ${width} numbers. Point at one of them`, 0, places.token.y - 6);
  const token = tokens.subarray(state.at * width, (state.at + 1) * width);
  const largest = token.reduce((m, x) => Math.max(m, Math.abs(x)), 1e-12);
  drawBand(context, token, largest, 0, places.token.y, w * phase(0.8, 1), places.token.h, theme);
  if (state.flightProgress > 0.8)
    outlineCell(context, (state.number / width) * w, places.token.y, Math.max(3, w / width), places.token.h, 1);
}

// Moves every row of pixels from its colour plane to its place in the vector.
function drawFlyingRows(state, context, planes, planeX, side, bandHeight, w, places) {
  const { patch } = state.data,
    count = 3 * patch,
    numberWidth = w / count;
  for (let i = 0; i < count; i++) {
    const channel = Math.floor(i / patch),
      y = i % patch,
      delay = (0.4 * i) / count;
    const t = eased(Math.min(1, Math.max(0, (state.flightProgress - delay) / 0.22)));
    if (t === 0) continue;
    const from = [planeX(channel), places.patchY + (y * side) / patch, side, side / patch];
    const to = [i * numberWidth, places.vectorY, numberWidth + 0.3, bandHeight];
    context.drawImage(planes[channel], 0, y, patch, 1, ...from.map((a, n) => a + (to[n] - a) * t));
  }
}

// Three canvases: the patch's red, green and blue planes, each in its colour.
function colourPlanes(state) {
  const key = `${state.id} ${state.at}`;
  if (state.planes?.key === key) return state.planes.canvases;
  const { patch, size, grid, pixels } = state.data;
  const [width, columns] = [size[1], grid[1]];
  const top = Math.floor(state.at / columns) * patch,
    left = (state.at % columns) * patch;
  const canvases = CHANNELS.map((_, channel) => {
    const canvas = makeCanvas(patch, patch),
      context = canvas.getContext("2d"),
      data = context.createImageData(patch, patch);
    for (let i = 0; i < patch * patch; i++) {
      const value = pixels[((top + Math.floor(i / patch)) * width + left + (i % patch)) * 3 + channel];
      const pixel = [0, 1, 2].map((plane) => (plane === channel ? value : value * 0.28));
      data.data.set([...pixel, 255], 4 * i);
    }
    context.putImageData(data, 0, 0);
    return canvas;
  });
  state.planes = { key, canvases };
  return canvases;
}

// Draws signed numbers as a band of colours: one pixel for each number, stretched to the width w.
function drawBand(context, values, largest, x, y, w, h, theme) {
  if (w <= 0) return;
  const strip = makeHeat(1, values.length);
  fillHeat(strip, values, 0, signedPalette(theme.dark), { low: -largest, high: largest });
  context.imageSmoothingEnabled = values.length > 2 * w;
  context.drawImage(strip.canvas, x, y, w, h);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
}

const PRODUCTS_WRITTEN = 3; // number of products that are written out
const MARKUP = `
  <div class="pair">
    <figure>
      <figcaption><b>The picture, in patches</b> <span class="tabs">
        <button data-do="apart"></button>
      </span></figcaption>
      <canvas data-ref="picture" tabindex="0" role="img"
          aria-label="The picture in patches. The arrow keys choose one."></canvas>
      <p class="sum" data-ref="fit"></p>
    </figure>
    <figure>
      <figcaption><b>One patch becomes a token</b> <span class="tabs">
        <button data-do="again">play it again</button>
      </span></figcaption>
      <canvas data-ref="flight" role="img"
          aria-label="The patch, its three colour planes, the vector, the filter and the token"></canvas>
      <p class="sum" data-ref="sum"></p>
    </figure>
  </div>`;

function createPatches(stage) {
  const state = Object.seal({
    stage,
    ...stage.refs,
    id: null, //          identifies the picture, the grid and the filters
    data: null, //        the data, see the top of this file, and grid: [rows, columns]
    image: null, //       the picture on a canvas
    at: 0, //             the chosen patch
    number: 0, //         the chosen number of its token
    wantsGaps: true, //   whether gaps between the patches were asked for
    gapShare: 0, //       the gap between the patches, as a share of the full gap
    flightProgress: 1, // progress of the animation from patch to token, 0 to 1
    stopApart: () => {},
    stopFlight: () => {},
    places: null, //      where the parts of the animation are drawn
    filter: null, //      {of: its number, values: the filter in a patch's size, largest: the largest |value|}
    planes: null, //      {key, canvases}: the patch in red, green and blue
  });
  bindPatches(state);
  stage.root.querySelector('[data-do="apart"]').addEventListener("click", () => moveApart(state, !state.wantsGaps));
  stage.root.querySelector('[data-do="again"]').addEventListener("click", () => fly(state));
  return {
    take: (data) => takeCut(state, data),
    paint: (theme) => paintPatches(state, theme),
    read: () => ({
      at: state.at,
      number: state.number,
      grid: state.data.grid,
      patch: state.data.patch,
      apart: state.gapShare,
      flown: state.flightProgress,
      ...productsOf(state),
      token: state.data.tokens[state.at * state.data.width + state.number],
    }),
  };
}

function takeCut(state, data) {
  const { header, section } = openContainer(data);
  const isNew = state.id !== header.id;
  if (isNew) {
    state.id = header.id;
    const grid = header.size.map((side) => Math.floor(side / header.patch));
    state.data = {
      ...header,
      grid,
      pixels: section("pixels"),
      filters: decodeHalves(section("filters")),
      stretch: section("stretch"),
      bias: section("bias"),
      tokens: decodeHalves(section("tokens")),
    };
    state.image = pixelSheet(header.size[1], header.size[0], state.data.pixels);
    state.filter = null;
  }
  state.at = patchFrom(header.at, ...state.data.grid);
  state.number = Math.min(header.number, state.data.width - 1);
  if (!isNew) return;
  state.gapShare = 0;
  moveApart(state, true);
  state.flightProgress = 0;
  setTimeout(() => fly(state), 700);
}

function moveApart(state, isApart) {
  const start = state.gapShare;
  state.wantsGaps = isApart;
  state.stopApart();
  state.stopApart = state.stage.moves(900, (t) => {
    state.gapShare = start + ((isApart ? 1 : 0) - start) * eased(t);
    state.stage.redraw();
  });
}

function fly(state) {
  state.stopFlight();
  state.stopFlight = state.stage.moves(1600, (t) => {
    state.flightProgress = t;
    state.stage.redraw();
  });
}

// ------------------------------------------------------------------------------------------------------------ pointing

function bindPatches(state) {
  const { picture, flight, stage } = state;
  const choose = (patch) => {
    if (patch < 0 || patch === state.at) return;
    state.stopFlight();
    Object.assign(state, { at: patch, flightProgress: 1 });
    stage.tell("at", patchText(patch, state.data.grid[1]));
    stage.redraw();
  };
  followPointer(picture, (event) => choose(spreadPatchUnder(state, ...spotOf(event, picture))));
  picture.addEventListener("pointerdown", () => fly(state));
  followKeys(picture, () => ({ at: state.at, grid: state.data.grid }), choose);
  followPointer(flight, (event) => {
    const [x, y] = spotOf(event, flight);
    if (!state.places || y < state.places.token.y - 8 || y > state.places.token.y + state.places.token.h + 8) return;
    const column = Math.floor(((x - state.places.x) / state.places.w) * state.data.width);
    if (column < 0 || column >= state.data.width || column === state.number) return;
    state.number = column;
    stage.tell("number", String(column));
    stage.redraw();
  });
}

// The positions of the patches with the present gaps between them.
function spreadOf(state) {
  const { size, patch, grid } = state.data;
  const [[height, width], [rows, columns]] = [size, grid];
  const w = state.picture.clientWidth;
  const widestGap = Math.max(1.5, Math.min(9, (0.22 * w) / columns));
  const scale = (w - (columns + 0.5) * widestGap - 2) / width;
  const gap = widestGap * state.gapShare,
    margin = (w - scale * width - columns * gap) / 2;
  return {
    scale,
    gap,
    x: Math.max(1, margin),
    y: 1 + ((rows + 0.5) * widestGap - rows * gap) / 2,
    cell: patch * scale,
    height: scale * height + (rows + 0.5) * widestGap + 4,
  };
}

function spreadPatchUnder(state, x, y) {
  const { scale, gap, x: left, y: top, cell } = spreadOf(state);
  const [rows, columns] = state.data.grid,
    step = cell + gap;
  const column = Math.floor((x - left) / step),
    row = Math.floor((y - top) / step);
  return scale > 0 && row >= 0 && column >= 0 && row < rows && column < columns ? row * columns + column : -1;
}

function productsOf(state) {
  const { data, at: patch, number } = state;
  if (state.filter?.of !== number) {
    const values = patchFilter(data, number);
    state.filter = { of: number, values, largest: values.reduce((m, x) => Math.max(m, Math.abs(x)), 1e-12) };
  }
  const vector = patchVector(data, patch),
    filter = state.filter.values;
  return { vector, filter, sum: dot(vector, 0, filter, 0, vector.length), bias: data.bias[number] ?? 0 };
}

// ------------------------------------------------------------------------------------------------------------ painting

function paintPatches(state, theme) {
  if (!state.data) return;
  state.stage.root.querySelector('[data-do="apart"]').textContent = state.wantsGaps
    ? "put it together"
    : "take it apart";
  paintApart(state, theme);
  const products = productsOf(state);
  paintFlight(state, theme, products);
  writeProducts(state, products);
  writeFit(state);
}

function paintApart(state, theme) {
  const { size, patch, grid } = state.data;
  const [[height, width], [rows, columns]] = [size, grid];
  const { scale, gap, x, y, cell, height: contentHeight } = spreadOf(state);
  const { context } = sheetOf(state.picture, Math.ceil(contentHeight));
  context.imageSmoothingEnabled = cell < 3 * patch;
  const step = cell + gap;
  const cornerOf = (n) => [x + (n % columns) * step, y + Math.floor(n / columns) * step];
  for (let n = 0; n < rows * columns; n++) {
    const [sourceX, sourceY] = [(n % columns) * patch, Math.floor(n / columns) * patch];
    context.drawImage(state.image, sourceX, sourceY, patch, patch, ...cornerOf(n), cell + 0.3, cell + 0.3);
  }
  const restWidth = width - columns * patch,
    restHeight = height - rows * patch;
  const edgeX = x + columns * step,
    edgeY = y + rows * step;
  const hatchRest = (sx, sy, sw, sh, dx, dy, dw, dh) => {
    context.globalAlpha = 1 - 0.72 * state.gapShare;
    context.drawImage(state.image, sx, sy, sw, sh, dx, dy, dw, dh);
    context.globalAlpha = state.gapShare;
    hatch(context, dx, dy, dw, dh, theme.ink);
    context.globalAlpha = 1;
  };
  if (restWidth) hatchRest(columns * patch, 0, restWidth, rows * patch, edgeX, y, restWidth * scale, edgeY - y - gap);
  const footWidth = edgeX - x - (restWidth ? 0 : gap) + restWidth * scale;
  if (restHeight) hatchRest(0, rows * patch, width, restHeight, x, edgeY, footWidth, restHeight * scale);
  outlineCell(context, ...cornerOf(state.at), cell, cell, 1);
}

function writeFit(state) {
  const { size, patch, grid } = state.data;
  const [[height, width], [rows, columns]] = [size, grid];
  const restWidth = width - columns * patch,
    restHeight = height - rows * patch;
  const restWords = [restWidth && `${restWidth} pixels at the right`, restHeight && `${restHeight} at the bottom`]
    .filter(Boolean)
    .join(" and ");
  state.stage.find("fit").innerHTML =
    `${width} × ${height} pixels in patches of ${patch} × ${patch}: ` +
    `${columns} × ${rows} = <b>${rows * columns} tokens</b>. ` +
    (restWords
      ? `The hatched rest, ${restWords}, fills no patch: <b>no token contains it</b>.`
      : "Nothing is left over.");
}

function writeProducts(state, { vector, filter, sum, bias }) {
  const products = Array.from(
    { length: PRODUCTS_WRITTEN },
    (_, i) => `${withMinus(vector[i])} · ${withMinus(filter[i], 3)}`,
  ).join(" + ");
  state.stage.find("sum").innerHTML =
    `${products} + … <i class="soft">(${(vector.length - PRODUCTS_WRITTEN).toLocaleString("en")} more)</i>` +
    `${state.data.bias.length ? ` + bias ${withMinus(bias, 3)}` : ""} = <b>${withMinus(sum + bias, 3)}</b>, ` +
    `number ${state.number} of the token`;
}

export default lessonDrawing(createPatches, MARKUP);
