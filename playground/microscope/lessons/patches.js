// A picture is cut into patches; one patch becomes a vector and the vector a token, with all the numbers.
//
// data: bytes, a container (see core/core.js) whose header says
//   id, size: [height, width], patch, own: the patch size that the filters were trained for, width: of a token, mean,
//   std, at: "row,column" or "", number: which number of the token
// and whose sections are pixels (uint8, height × width × 3), filters (width × 3 × own × own), stretch (patch × own),
// bias (width) and tokens (patches × width). Out go the states "at" and "number".
import { decodeHalves, openContainer } from "../core/core.js";
import { dotProduct, patchAfterKey, patchFilter, patchFrom, patchText, patchVector } from "../core/grid.js";
import { makeCanvas, outlineCell } from "../drawing/dom.js";
import { hatch } from "../drawing/matrix.js";
import { eased, keepDrawing, sheetOf, signedPalette, signedText, spotOf } from "../drawing/stage.js";

// One patch on its way to a token: its colours apart, its rows one after another, the filter, the token. `it` is the
// state of patches.js; `it.flown` goes from 0 to 1.

const CHANNELS = ["red", "green", "blue"];
const SIDE = 92; // pixels: side of the enlarged patch, at most

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

// Three canvases: the patch's red, green and blue planes, each in its colour.
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

const WRITTEN = 3; // products that are written out
const MARKUP = `
  <div class="apart">
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
  stage.root.innerHTML = MARKUP;
  const it = Object.seal({
    stage,
    picture: stage.find("picture"),
    flight: stage.find("flight"),
    id: null, //          of the picture, the grid and the filters
    cut: null, //         what came in, see the top of this file, and grid: [rows, columns]
    image: null, //       the picture on a canvas
    at: 0, //             the chosen patch
    number: 0, //         the chosen number of its token
    wanted: true, //      the picture is to be taken apart
    apart: 0, //          how far it is, 0 to 1
    flown: 1, //          how far the patch has come on its way to a token, 0 to 1
    stopApart: () => {},
    stopFlight: () => {},
    places: null, //      where the parts of the flight are drawn
    filter: null, //      {of, values, most}: the filter of number `of` at the size of a patch
    planes: null, //      {key, canvases}: the patch in red, green and blue
  });
  bindPatches(it);
  stage.root.querySelector('[data-do="apart"]').addEventListener("click", () => spread(it, !it.wanted));
  stage.root.querySelector('[data-do="again"]').addEventListener("click", () => fly(it));
  return {
    take: (data) => takeCut(it, data),
    paint: (theme) => paintPatches(it, theme),
    read: () => ({
      at: it.at,
      number: it.number,
      grid: it.cut.grid,
      patch: it.cut.patch,
      apart: it.apart,
      flown: it.flown,
      ...productsOf(it),
      token: it.cut.tokens[it.at * it.cut.width + it.number],
    }),
  };
}

function takeCut(it, data) {
  const { header, section } = openContainer(data);
  const fresh = it.id !== header.id;
  if (fresh) {
    it.id = header.id;
    const grid = header.size.map((side) => Math.floor(side / header.patch));
    it.cut = {
      ...header,
      grid,
      pixels: section("pixels"),
      filters: decodeHalves(section("filters")),
      stretch: section("stretch"),
      bias: section("bias"),
      tokens: decodeHalves(section("tokens")),
    };
    it.image = pictureOf(it.cut);
    it.filter = null;
  }
  if (it.stage.heeds("at", header.at) || fresh) it.at = patchFrom(header.at, ...it.cut.grid);
  if (it.stage.heeds("number", String(header.number)) || fresh) it.number = Math.min(header.number, it.cut.width - 1);
  if (!fresh) return;
  it.apart = 0;
  spread(it, true);
  it.flown = 0;
  setTimeout(() => fly(it), 700);
}

function pictureOf({ size: [height, width], pixels }) {
  const canvas = makeCanvas(width, height),
    context = canvas.getContext("2d");
  const data = context.createImageData(width, height);
  for (let i = 0; i < width * height; i++)
    data.data.set([pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2], 255], 4 * i);
  context.putImageData(data, 0, 0);
  return canvas;
}

function spread(it, isApart) {
  const from = it.apart;
  it.wanted = isApart;
  it.stopApart();
  it.stopApart = it.stage.moves(900, (t) => {
    it.apart = from + ((isApart ? 1 : 0) - from) * eased(t);
    it.stage.redraw();
  });
}

function fly(it) {
  it.stopFlight();
  it.stopFlight = it.stage.moves(1600, (t) => {
    it.flown = t;
    it.stage.redraw();
  });
}

// ------------------------------------------------------------------------------------------------------------ pointing

function bindPatches(it) {
  const { picture, flight, stage } = it;
  const choose = (at) => {
    if (at < 0 || at === it.at) return;
    it.stopFlight();
    Object.assign(it, { at, flown: 1 });
    stage.tell("at", patchText(at, it.cut.grid[1]));
    stage.redraw();
  };
  const point = (event) => choose(patchUnder(it, ...spotOf(event, picture)));
  picture.addEventListener("pointermove", point);
  picture.addEventListener("pointerdown", (event) => {
    point(event);
    fly(it);
  });
  picture.addEventListener("keydown", (event) => {
    const next = patchAfterKey(event.key, it.at, ...it.cut.grid);
    if (next < 0) return;
    event.preventDefault();
    choose(next);
  });
  const number = (event) => {
    const [x, y] = spotOf(event, flight);
    if (!it.places || y < it.places.token.y - 8 || y > it.places.token.y + it.places.token.h + 8) return;
    const column = Math.floor(((x - it.places.x) / it.places.w) * it.cut.width);
    if (column < 0 || column >= it.cut.width || column === it.number) return;
    it.number = column;
    stage.tell("number", String(column));
    stage.redraw();
  };
  flight.addEventListener("pointermove", number);
  flight.addEventListener("pointerdown", number);
}

// Where the cells are drawn, with the gaps that they have at this moment.
function spreadOf(it) {
  const {
    size: [height, width],
    patch,
    grid: [rows, columns],
  } = it.cut;
  const w = it.picture.clientWidth;
  const most = Math.max(1.5, Math.min(9, (0.22 * w) / columns)); // the widest gap
  const scale = (w - (columns + 0.5) * most - 2) / width;
  const gap = most * it.apart,
    room = (w - scale * width - columns * gap) / 2;
  return {
    scale,
    gap,
    x: Math.max(1, room),
    y: 1 + ((rows + 0.5) * most - rows * gap) / 2,
    cell: patch * scale,
    height: scale * height + (rows + 0.5) * most + 4,
  };
}

function patchUnder(it, x, y) {
  const { scale, gap, x: left, y: top, cell } = spreadOf(it);
  const [rows, columns] = it.cut.grid,
    step = cell + gap;
  const column = Math.floor((x - left) / step),
    row = Math.floor((y - top) / step);
  return scale > 0 && row >= 0 && column >= 0 && row < rows && column < columns ? row * columns + column : -1;
}

function productsOf(it) {
  const { cut, at, number } = it;
  if (it.filter?.of !== number) {
    const values = patchFilter(cut, number);
    it.filter = { of: number, values, most: values.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-12) };
  }
  const vector = patchVector(cut, at),
    filter = it.filter.values;
  return { vector, filter, sum: dotProduct(vector, filter), bias: cut.bias[number] ?? 0 };
}

// ------------------------------------------------------------------------------------------------------------ painting

function paintPatches(it, theme) {
  if (!it.cut) return;
  it.stage.root.querySelector('[data-do="apart"]').textContent = it.wanted ? "put it together" : "take it apart";
  paintApart(it, theme);
  const products = productsOf(it);
  paintFlight(it, theme, products);
  writeProducts(it, products);
  writeFit(it);
}

function paintApart(it, theme) {
  const {
    size: [height, width],
    patch,
    grid: [rows, columns],
  } = it.cut;
  const { scale, gap, x, y, cell, height: room } = spreadOf(it);
  const { context } = sheetOf(it.picture, Math.ceil(room));
  context.imageSmoothingEnabled = cell < 3 * patch;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      context.drawImage(
        it.image,
        column * patch,
        row * patch,
        patch,
        patch,
        x + column * (cell + gap),
        y + row * (cell + gap),
        cell + 0.3,
        cell + 0.3,
      );
    }
  }
  const right = width - columns * patch,
    bottom = height - rows * patch;
  const edgeX = x + columns * (cell + gap),
    edgeY = y + rows * (cell + gap);
  const unread = (sx, sy, sw, sh, dx, dy, dw, dh) => {
    context.globalAlpha = 1 - 0.72 * it.apart;
    context.drawImage(it.image, sx, sy, sw, sh, dx, dy, dw, dh);
    context.globalAlpha = it.apart;
    hatch(context, dx, dy, dw, dh, theme.ink);
    context.globalAlpha = 1;
  };
  if (right) unread(columns * patch, 0, right, rows * patch, edgeX, y, right * scale, edgeY - y - gap);
  if (bottom)
    unread(0, rows * patch, width, bottom, x, edgeY, edgeX - x - (right ? 0 : gap) + right * scale, bottom * scale);
  outlineCell(
    context,
    x + (it.at % columns) * (cell + gap),
    y + Math.floor(it.at / columns) * (cell + gap),
    cell,
    cell,
    1,
  );
}

function writeFit(it) {
  const {
    size: [height, width],
    patch,
    grid: [rows, columns],
  } = it.cut;
  const right = width - columns * patch,
    bottom = height - rows * patch;
  const lost = [right && `${right} pixels at the right`, bottom && `${bottom} at the bottom`]
    .filter(Boolean)
    .join(" and ");
  it.stage.find("fit").innerHTML =
    `${width} × ${height} pixels in patches of ${patch} × ${patch}: ` +
    `${columns} × ${rows} = <b>${rows * columns} tokens</b>. ` +
    (lost ? `The hatched rest, ${lost}, fills no patch: <b>no token contains it</b>.` : "Nothing is left over.");
}

function writeProducts(it, { vector, filter, sum, bias }) {
  const products = Array.from(
    { length: WRITTEN },
    (_, i) => `${signedText(vector[i])} · ${signedText(filter[i], 3)}`,
  ).join(" + ");
  it.stage.find("sum").innerHTML =
    `${products} + … <i class="soft">(${(vector.length - WRITTEN).toLocaleString("en")} more)</i>` +
    `${it.cut.bias.length ? ` + bias ${signedText(bias, 3)}` : ""} = <b>${signedText(sum + bias, 3)}</b>, ` +
    `number ${it.number} of the token`;
}

export default function (component) {
  return keepDrawing(component, createPatches);
}
