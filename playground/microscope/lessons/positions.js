// The position embedding: the table, the similarity of the patch under the cursor to all others, and such a map for
// every patch, in a grid.
//
// data: bytes, a container whose header says id, grid, width, kind, place ("row,column" or ""), and whose section
// places is (float16, patches × width). Out goes the state "place".

import { decodeHalves, openContainer, rowInto, unpack } from "../core/core.js";
import { patchAfterKey, patchAt, patchFrom, patchText } from "../core/grid.js";
import { exposure } from "../core/light.js";
import { percent } from "../core/numbers.js";
import { decodeJpeg, fillHeat, makeCanvas, makeHeat, outlineCell, styled } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat, softOf } from "../drawing/light.js";
import { eased, keepDrawing, sheetOf, signedPalette, signedText, spotOf } from "../drawing/stage.js";

const MOST_MAPS = 14; // along a side; more would be too small
const CLIPPED = 0.1; // share of the table's numbers with the full colour: else a few large ones make the rest white
const WHOLE = { low: -1, high: 1, log: false };
const MARKUP = `
  <div class="three">
    <figure><figcaption><b>The table</b> <span data-ref="rows"></span></figcaption>
      <canvas data-ref="table" role="img" aria-label="The table of positions"></canvas></figure>
    <figure><figcaption><b>How alike</b> <span data-ref="which"></span></figcaption>
      <canvas data-ref="map" tabindex="0" role="img"
          aria-label="Similarity to the patch under the cursor. The arrow keys choose one."></canvas></figure>
    <figure><figcaption><b>The maps of all patches</b> <span>each where its patch lies</span></figcaption>
      <canvas data-ref="maps" role="img" aria-label="One similarity map for every patch"></canvas></figure>
  </div>
  <p class="sum" data-ref="sum" aria-live="polite"></p>`;

function createPositions(stage) {
  stage.root.innerHTML = MARKUP;
  const it = Object.seal({
    stage,
    table: stage.find("table"),
    map: stage.find("map"),
    maps: stage.find("maps"),
    id: null, //          of the table
    set: null, //         what came in, and unit: its rows at length one, count: of patches
    at: 0, //             the chosen patch
    heat: null, //        the map of the chosen patch
    tableHeat: null,
    tableOf: null, //     what `tableHeat` shows: the table's id and whether the page is dark
    mapsSheet: null, //   a canvas with all the small maps
    mapsOf: null,
  });
  const choose = (at) => {
    if (at === it.at || !(at >= 0)) return;
    it.at = at;
    stage.tell("place", patchText(at, it.set.grid[1]));
    stage.redraw();
  };
  const onGrid = (event, canvas) => {
    const [x, y] = spotOf(event, canvas);
    return patchAt(x / canvas.clientWidth, y / canvas.clientHeight, ...it.set.grid);
  };
  const inTable = (event) => {
    const [, y] = spotOf(event, it.table);
    return patchAt(0, y / it.table.clientHeight, it.set.count, 1);
  };
  for (const kind of ["pointermove", "pointerdown"]) {
    it.map.addEventListener(kind, (event) => choose(onGrid(event, it.map)));
    it.maps.addEventListener(kind, (event) => choose(onGrid(event, it.maps)));
    it.table.addEventListener(kind, (event) => choose(inTable(event)));
  }
  it.map.addEventListener("keydown", (event) => {
    const next = patchAfterKey(event.key, it.at, ...it.set.grid);
    if (next < 0) return;
    event.preventDefault();
    choose(next);
  });
  return {
    take: (data) => takePlaces(it, data),
    paint: (theme) => it.set && paintPlaces(it, theme),
    read: () => ({ at: it.at, kind: it.set.kind, grid: it.set.grid, map: Array.from(likeness(it, it.at)) }),
  };
}

function takePlaces(it, data) {
  const { header, section } = openContainer(data);
  const fresh = it.id !== header.id;
  const [rows, columns] = header.grid;
  if (it.stage.heeds("place", header.place) || fresh) it.at = patchFrom(header.place, rows, columns);
  if (!fresh) return;
  it.id = header.id;
  const places = decodeHalves(section("places")),
    count = rows * columns,
    { width } = header;
  const unit = new Float32Array(places.length);
  for (let i = 0; i < count; i++) {
    let square = 0;
    for (let x = 0; x < width; x++) square += places[i * width + x] ** 2;
    const length = Math.sqrt(square) || 1;
    for (let x = 0; x < width; x++) unit[i * width + x] = places[i * width + x] / length;
  }
  it.set = { ...header, places, unit, count };
  it.tableOf = it.mapsOf = null;
}

// The cosines between one patch's row of the table and all rows.
function likeness(it, at) {
  const { unit, width, count } = it.set,
    out = new Float32Array(count),
    row = unit.subarray(at * width, (at + 1) * width);
  for (let i = 0, u = 0; i < count; i++) {
    let sum = 0;
    for (let x = 0; x < width; x++, u++) sum += row[x] * unit[u];
    out[i] = sum;
  }
  return out;
}

function paintPlaces(it, theme) {
  const {
    grid: [rows, columns],
    count,
  } = it.set;
  const palette = signedPalette(theme.dark);
  const height = Math.round((it.map.clientWidth * rows) / columns);
  const like = likeness(it, it.at);
  paintTable(it, theme, palette, height);
  const { context, width: w } = sheetOf(it.map, height);
  if (!it.heat || it.heat.rows !== rows || it.heat.columns !== columns) it.heat = makeHeat(rows, columns);
  fillHeat(it.heat, like, 0, palette, WHOLE);
  context.imageSmoothingEnabled = false;
  context.drawImage(it.heat.canvas, 0, 0, w, height);
  const row = Math.floor(it.at / columns),
    column = it.at % columns;
  outlineCell(context, (column * w) / columns, (row * height) / rows, w / columns, height / rows, 1);
  paintMaps(it, theme, palette, height);
  it.stage.find("which").textContent = `to the patch ${row},${column}`;
  const beside = (r, c) => (r < 0 || c < 0 || r >= rows || c >= columns ? "–" : signedText(like[r * columns + c]));
  it.stage.find("sum").innerHTML =
    `<b>Patch ${row},${column}</b>: similarity to its right neighbour ${beside(row, column + 1)}, ` +
    `to the one below ${beside(row + 1, column)}, ` +
    `to the first patch ${signedText(like[0])} and to the last ${signedText(like[count - 1])} ` +
    `(1: the same, <i data-style="color:#01665e">teal</i>; 0: nothing in common; ` +
    `below 0: <i data-style="color:#a6611a">brown</i>).`;
  styled(it.stage.find("sum"));
}

function paintTable(it, theme, palette, height) {
  const { places, width, count } = it.set,
    key = `${it.id} ${theme.dark}`;
  if (it.tableOf !== key) {
    const sizes = places.map(Math.abs).sort();
    const most = Math.max(sizes[Math.floor((1 - CLIPPED) * (sizes.length - 1))], 1e-12);
    it.stage.find("rows").textContent = `a row for each patch; full colour from ±${most.toPrecision(2)}`;
    it.tableHeat = makeHeat(count, width);
    fillHeat(it.tableHeat, places, 0, palette, { low: -most, high: most, log: false });
    it.tableOf = key;
  }
  const { context, width: w } = sheetOf(it.table, height);
  context.imageSmoothingEnabled = width > w || count > height;
  context.drawImage(it.tableHeat.canvas, 0, 0, w, height);
  const step = height / count;
  outlineCell(context, 1, it.at * step, w - 2, Math.max(2, step), 0.75);
}

// On a fine grid only every second or third patch's map is drawn.
function paintMaps(it, theme, palette, height) {
  const {
      grid: [rows, columns],
    } = it.set,
    every = Math.max(1, Math.ceil(Math.max(rows, columns) / MOST_MAPS));
  const down = Math.ceil(rows / every),
    across = Math.ceil(columns / every),
    key = `${it.id} ${theme.dark}`;
  if (it.mapsOf !== key) {
    it.mapsOf = key;
    it.mapsSheet = makeCanvas(across * (columns + 1), down * (rows + 1));
    const context = it.mapsSheet.getContext("2d"),
      heat = makeHeat(rows, columns);
    for (let i = 0; i < down * across; i++) {
      const row = Math.floor(i / across),
        column = i % across;
      fillHeat(
        heat,
        likeness(it, Math.min(rows - 1, row * every) * columns + Math.min(columns - 1, column * every)),
        0,
        palette,
        WHOLE,
      );
      context.drawImage(heat.canvas, column * (columns + 1), row * (rows + 1));
    }
  }
  const { context, width: w } = sheetOf(it.maps, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(it.mapsSheet, 0, 0, w, height);
  const row = Math.floor(Math.floor(it.at / columns) / every),
    column = Math.floor((it.at % columns) / every);
  outlineCell(context, (column * w) / across, (row * height) / down, w / across, height / down, 1);
}

export function positions(component) {
  return keepDrawing(component, createPositions);
}

// The same patches in two orders, and the attention of the patch under the cursor in both: without positions it goes to
// the same patches.
//
// data: bytes, a pack (see core/core.js) whose layer 0 is the pass in order and whose layer 1 the shuffled one, with
// the section "image" (JPEG) and in its header id, places: which patch lies at each of them, order: the
// number of this order, orders: how many there are, asker: "row,column" or "". Out go the settings "asker" and "order".

const SHUFFLE = `
  <div class="three">
    <figure><figcaption><b>In order</b></figcaption><canvas data-ref="before" tabindex="0" role="img"
        aria-label="The picture. The arrow keys choose a patch."></canvas></figure>
    <figure><figcaption><b>Shuffled</b></figcaption><canvas data-ref="after" role="img"
        aria-label="Its patches in another order"></canvas></figure>
    <figure><figcaption><b>Shuffled, put back</b> <span>to compare</span></figcaption><canvas data-ref="back" role="img"
        aria-label="The shuffled attention, each patch back in its place"></canvas></figure>
  </div>
  <p class="sum" data-ref="sum" aria-live="polite"></p>
  <p class="buttons"><button data-ref="again">Shuffle again</button></p>`;

function createShuffle(stage) {
  stage.root.innerHTML = SHUFFLE;
  const it = Object.seal({
    stage,
    canvases: ["before", "after", "back"].map(stage.find),
    id: null, //          of the picture, the order and the positions
    pack: null,
    bitmap: null,
    photo: null,
    shuffled: null, // the photograph with its patches in the order of the second pass
    prints: [],
    heat: null,
    at: 0, //             the patch that asks
    moved: 1, //          how far the patches are on their way to their new places, 0 to 1
    stop: () => {}, //    ends this way
  });
  const choose = (at) => {
    if (at === it.at || !(at >= 0)) return;
    it.at = at;
    stage.tell("asker", patchText(at, it.pack.columns));
    stage.redraw();
  };
  stage.find("again").addEventListener("click", () => {
    const { order, orders } = it.pack.header;
    stage.tell("order", String((Number(order) % orders) + 1));
  });
  it.canvases.forEach((canvas, which) => {
    const point = (event) => {
      const [x, y] = spotOf(event, canvas),
        { rows, columns } = it.pack;
      const row = Math.floor((y / canvas.clientHeight) * rows),
        column = Math.floor((x / canvas.clientWidth) * columns);
      if (row < 0 || column < 0 || row >= rows || column >= columns) return;
      const place = row * columns + column;
      choose(which === 1 ? it.pack.header.places[place] : place);
    };
    canvas.addEventListener("pointermove", point);
    canvas.addEventListener("pointerdown", point);
  });
  it.canvases[0].addEventListener("keydown", (event) => {
    const next = patchAfterKey(event.key, it.at, it.pack.rows, it.pack.columns);
    if (next < 0) return;
    event.preventDefault();
    choose(next);
  });
  return {
    take: (data) => takeShuffle(it, data),
    paint: (theme) => it.pack && paintShuffle(it, theme),
    read: () => ({
      at: it.at,
      before: Array.from(meanRow(it, 0)),
      after: Array.from(meanRow(it, 1)),
      order: it.pack.header.places,
      id: it.id,
    }),
  };
}

function takeShuffle(it, data) {
  const { header, section } = openContainer(data);
  const fresh = it.id !== header.id;
  const former = it.pack?.header.places;
  it.pack = unpack(data);
  if (it.stage.heeds("asker", header.asker) || !former || former.length !== header.places.length)
    it.at = patchFrom(header.asker, it.pack.rows, it.pack.columns);
  if (!fresh) return;
  it.id = header.id;
  decodeJpeg(section("image")).then((bitmap) => {
    it.bitmap = bitmap;
    it.photo = null;
    it.stage.redraw();
  });
  if (String(former) === String(header.places)) return; // only the positions were switched
  it.stop();
  it.moved = 0;
  it.stop = it.stage.moves(1100, (t) => {
    it.moved = t;
    it.stage.redraw();
  });
}

// The mean of all heads' rows, in the order of the tokens in that pass.
function meanRow(it, pass) {
  const { pack } = it,
    { places: order } = pack.header;
  const token = pack.prefixCount + (pass ? order.indexOf(it.at) : it.at);
  const row = new Float32Array(pack.tokens),
    mean = new Float32Array(pack.tokens);
  for (let head = 0; head < pack.heads; head++) {
    rowInto(row, 0, pack, pass, head, token, pack.scale);
    for (let j = 0; j < pack.tokens; j++) mean[j] += row[j] / pack.heads;
  }
  return mean;
}

function paintShuffle(it) {
  const { pack } = it,
    { places: order, size } = pack.header,
    { rows, columns, prefixCount } = pack;
  const ordered = meanRow(it, 0),
    after = meanRow(it, 1),
    back = new Float32Array(pack.patches);
  order.forEach((patch, place) => (back[patch] = after[prefixCount + place]));
  const domain = { low: 0, high: exposure(ordered, prefixCount, pack.tokens), log: false };
  const height = Math.round((it.canvases[0].clientWidth * size[0]) / size[1]);
  const sheets = it.canvases.map((canvas) => sheetOf(canvas, height));
  const { width: w, ratio } = sheets[0];
  if (it.photo?.width !== it.canvases[0].width) preparePhotos(it, w * ratio, height * ratio);
  const cw = w / columns,
    ch = height / rows;
  const show = (i, values, from, place) => {
    printHeat(it.prints[i], values, from, rows, columns, domain);
    sheets[i].context.drawImage(it.prints[i].canvas, 0, 0, w, height);
    outlineCell(sheets[i].context, (place % columns) * cw, Math.floor(place / columns) * ch, cw, ch, 1);
  };
  show(0, ordered, prefixCount, it.at);
  if (it.moved >= 1) {
    show(1, after, prefixCount, order.indexOf(it.at));
    show(2, back, 0, it.at);
  } else {
    paintMoved(it, sheets[1].context, w, height, it.photo.clear, eased(it.moved));
    sheets[2].context.drawImage(softOf(it.photo), 0, 0, w, height);
  }
  writeShuffle(it, ordered, back);
}

function preparePhotos(it, width, height) {
  it.photo = makePhoto(it.bitmap, width, height);
  const moved = makeCanvas(width, height);
  paintMoved(it, moved.getContext("2d"), moved.width, moved.height, it.photo.clear, 1);
  it.shuffled = makePhoto(moved, width, height);
  it.prints = [it.photo, it.shuffled, it.photo].map((photo) => makePrint(photo));
}

// Every patch on its way from its old place to its new one.
function paintMoved(it, context, w, h, picture, t) {
  const { rows, columns } = it.pack,
    cw = w / columns,
    ch = h / rows;
  const sw = picture.width / columns,
    sh = picture.height / rows;
  it.pack.header.places.forEach((patch, place) => {
    const along = (from, to) => from + (to - from) * t;
    const x = along(patch % columns, place % columns) * cw,
      y = along(Math.floor(patch / columns), Math.floor(place / columns)) * ch;
    context.drawImage(
      picture,
      (patch % columns) * sw,
      Math.floor(patch / columns) * sh,
      sw,
      sh,
      x,
      y,
      cw + 0.4,
      ch + 0.4,
    );
  });
}

function writeShuffle(it, ordered, back) {
  const { pack } = it;
  let apart = 0;
  for (let i = 0; i < pack.patches; i++) apart += Math.abs(ordered[pack.prefixCount + i] - back[i]) / 2;
  const place = patchText(it.at, pack.columns);
  const says =
    apart < 0.001
      ? "it listens to the very same patches, wherever they lie"
      : `${percent(apart)} of its weight has gone to other patches`;
  it.stage.find("sum").innerHTML = `<b>Patch ${place}</b>, the mean of ${pack.heads} heads: after shuffling, ${says}.`;
}

export function shuffle(component) {
  return keepDrawing(component, createShuffle);
}
