// The position embedding: its table, the similarity of the patch under the cursor to all others, and a grid with such a
// map for every patch. data: what `packed_positions` of playground/lessons/patches.py packs. Sends "place".

import { decodeHalves, openContainer, rowInto, unpack } from "../core/core.js";
import { patchAt, patchFrom, patchText } from "../core/grid.js";
import { exposure } from "../core/light.js";
import { percent } from "../core/numbers.js";
import { applyDataStyles, fillHeat, makeCanvas, makeHeat, outlineCell, outlinePatch } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat, softOf } from "../drawing/light.js";
import { eased, lessonDrawing, sheetOf, signedPalette, spotOf, withMinus } from "../drawing/stage.js";
import { bringBitmap, followKeys, followPatches, followPointer, heightFor, patchUnder } from "./patch.js";

const MOST_MAPS = 14; // maps along a side; more would be too small
// The share of the table's numbers, the largest ones, that get the full colour: a few outliers would pale all others.
const FULL_COLOUR_SHARE = 0.1;
const COSINE_RANGE = { low: -1, high: 1 };
const MARKUP = `
  <div class="three">
    <figure><figcaption><b>The table</b> <span data-ref="rows"></span>
      <button data-ref="own"></button></figcaption>
      <canvas data-ref="table" role="img" aria-label="The table of positions"></canvas></figure>
    <figure><figcaption><b>How alike</b> <span data-ref="which"></span></figcaption>
      <canvas data-ref="map" tabindex="0" role="img"
          aria-label="Similarity to the patch under the cursor. The arrow keys choose one."></canvas></figure>
    <figure><figcaption><b>The maps of all patches</b> <span>each where its patch lies</span></figcaption>
      <canvas data-ref="maps" role="img" aria-label="One similarity map for every patch"></canvas></figure>
  </div>
  <p class="sum" data-ref="sum" aria-live="polite"></p>`;

function createPositions(stage) {
  const state = Object.seal({
    stage,
    ...stage.refs,
    id: null, //          identifies the table
    // the data; also table, unitTable: its rows scaled to length one, count: the number of patches, limit: the number
    // with the full colour; own: the names of the tokens with rows of their own, before the patches
    data: null,
    at: 0, //             the chosen patch; below 0, a token with a row of its own
    mapsSheet: null, //   a canvas with all the small maps
    mapsKey: null, //     the table's id and the theme for which `mapsSheet` was drawn
  });
  const choose = (place) => {
    state.at = place;
    if (place >= 0) stage.tell("place", patchText(place, state.data.grid[1]));
    stage.redraw();
  };
  stage.find("own").addEventListener("click", () => choose(-state.data.own.length));
  const now = () => ({ at: state.at, grid: state.data.grid });
  followPatches(state.map, now, choose);
  followPatches(state.maps, now, choose);
  followPointer(state.table, (event) => {
    const { count, own } = state.data;
    const share = spotOf(event, state.table)[1] / state.table.clientHeight;
    choose(patchAt(0, share, own.length + count, 1) - own.length);
  });
  return {
    take: (data) => takePlaces(state, data),
    paint: (theme) => state.data && paintPlaces(state, theme),
    read: () => ({
      at: state.at,
      kind: state.data.kind,
      grid: state.data.grid,
      map: Array.from(similarities(state, state.at)),
    }),
  };
}

function takePlaces(state, data) {
  const { header, section } = openContainer(data);
  const isNew = state.id !== header.id;
  const { grid, width } = header;
  state.at = patchFrom(header.place, ...grid);
  if (!isNew) return;
  state.id = header.id;
  const table = decodeHalves(section("places")),
    unitTable = new Float32Array(table.length);
  for (let start = 0; start < table.length; start += width) {
    const row = table.subarray(start, start + width);
    const length = Math.hypot(...row) || 1;
    for (let x = 0; x < width; x++) unitTable[start + x] = row[x] / length;
  }
  const sizes = table.map(Math.abs).sort();
  const limit = Math.max(sizes[Math.floor((1 - FULL_COLOUR_SHARE) * (sizes.length - 1))], 1e-12);
  const { own } = header;
  const many = own.length ? `${own.length} + ${grid[0] * grid[1]} rows` : "a row for each patch";
  state.stage.find("rows").textContent = `${many}; full colour from ±${limit.toPrecision(2)}`;
  Object.assign(state.stage.find("own"), { textContent: `row of ${own[0]}`, hidden: !own.length });
  state.data = { ...header, table, unitTable, limit, count: grid[0] * grid[1] };
  state.mapsKey = null;
}

// The cosines between one patch's row of the table and all rows.
function similarities(state, place) {
  const { unitTable, width, count, own } = state.data,
    similarity = new Float32Array(count),
    row = unitTable.subarray((own.length + place) * width, (own.length + place + 1) * width);
  for (let i = 0, u = own.length * width; i < count; i++) {
    let sum = 0;
    for (let x = 0; x < width; x++, u++) sum += row[x] * unitTable[u];
    similarity[i] = sum;
  }
  return similarity;
}

function paintPlaces(state, theme) {
  const { grid, count } = state.data;
  const [rows, columns] = grid;
  const palette = signedPalette(theme.dark);
  const height = Math.round((state.map.clientWidth * rows) / columns);
  const similarity = similarities(state, state.at);
  paintTable(state, palette, height);
  const { context, width: w } = sheetOf(state.map, height);
  const heat = makeHeat(rows, columns);
  fillHeat(heat, similarity, 0, palette, COSINE_RANGE);
  context.imageSmoothingEnabled = false;
  context.drawImage(heat.canvas, 0, 0, w, height);
  const row = Math.floor(state.at / columns),
    column = state.at % columns;
  const isPatch = state.at >= 0;
  if (isPatch) outlinePatch(context, state.at, [rows, columns], w, height);
  paintMaps(state, theme, palette, height);
  state.stage.find("own").setAttribute("aria-pressed", String(!isPatch));
  if (!isPatch) return tellOwn(state, similarity);
  state.stage.find("which").textContent = `to the patch ${row},${column}`;
  const neighbourText = (r, c) =>
    r < 0 || c < 0 || r >= rows || c >= columns ? "–" : withMinus(similarity[r * columns + c]);
  state.stage.find("sum").innerHTML =
    `<b>Patch ${row},${column}</b>: similarity to its right neighbour ${neighbourText(row, column + 1)}, ` +
    `to the one below ${neighbourText(row + 1, column)}, ` +
    `to the first patch ${withMinus(similarity[0])} and to the last ${withMinus(similarity[count - 1])} ` +
    `(1: the same, <i data-style="color:#01665e">teal</i>; 0: nothing in common; ` +
    `below 0: <i data-style="color:#a6611a">brown</i>).`;
  applyDataStyles(state.stage.find("sum"));
}

function tellOwn({ stage, at, data: { own, count } }, similarity) {
  const mean = similarity.reduce((sum, cosine) => sum + cosine, 0) / count;
  const [low, high] = [Math.min(...similarity), Math.max(...similarity)].map((cosine) => withMinus(cosine));
  stage.find("which").textContent = `to the row of ${own.at(at)}`;
  stage.find("sum").innerHTML =
    `<b>${own.at(at)}</b> has a row of its own, and no place in the grid. Its cosine with a patch’s row is ` +
    `${withMinus(mean)} on average, from ${low} to ${high}.`;
}

function paintTable(state, palette, height) {
  const { table, width, limit, own } = state.data;
  const count = own.length + state.data.count;
  const heat = makeHeat(count, width);
  fillHeat(heat, table, 0, palette, { low: -limit, high: limit });
  const { context, width: w } = sheetOf(state.table, height);
  context.imageSmoothingEnabled = width > w || count > height;
  context.drawImage(heat.canvas, 0, 0, w, height);
  const step = height / count;
  outlineCell(context, 1, (own.length + state.at) * step, w - 2, Math.max(2, step), 0.75);
}

// Draws the maps; on a fine grid only those of every second or third patch.
function paintMaps(state, theme, palette, height) {
  const [rows, columns] = state.data.grid,
    mapStep = Math.max(1, Math.ceil(Math.max(rows, columns) / MOST_MAPS));
  const mapRows = Math.ceil(rows / mapStep),
    mapColumns = Math.ceil(columns / mapStep),
    key = `${state.id} ${theme.dark}`;
  if (state.mapsKey !== key) {
    state.mapsKey = key;
    state.mapsSheet = makeCanvas(mapColumns * (columns + 1), mapRows * (rows + 1));
    const context = state.mapsSheet.getContext("2d"),
      heat = makeHeat(rows, columns);
    for (let i = 0; i < mapRows * mapColumns; i++) {
      const row = Math.floor(i / mapColumns),
        column = i % mapColumns;
      const place = Math.min(rows - 1, row * mapStep) * columns + Math.min(columns - 1, column * mapStep);
      fillHeat(heat, similarities(state, place), 0, palette, COSINE_RANGE);
      context.drawImage(heat.canvas, column * (columns + 1), row * (rows + 1));
    }
  }
  const { context, width: w } = sheetOf(state.maps, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(state.mapsSheet, 0, 0, w, height);
  if (state.at < 0) return;
  const row = Math.floor(Math.floor(state.at / columns) / mapStep),
    column = Math.floor((state.at % columns) / mapStep);
  outlinePatch(context, row * mapColumns + column, [mapRows, mapColumns], w, height);
}

export const positions = lessonDrawing(createPositions, MARKUP);

// The same patches in two orders, and the attention of the patch under the cursor in both: without positions it goes to
// the same patches.
// data: what `packed_shuffle` of playground/lessons/patches.py packs: layer 0 is a pass with the patches in order,
// layer 1 one with them shuffled. Sends "asker" and "order".

const SHUFFLE_MARKUP = `
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
  const state = Object.seal({
    stage,
    canvases: ["before", "after", "back"].map(stage.find),
    id: null, //          identifies the picture, the order and the positions
    pack: null,
    bitmap: null,
    photo: null,
    shuffled: null, // the photograph with its patches in the order of the second pass
    prints: [],
    at: 0, //             the asking patch
    progress: 1, //       how far the patches are on the way to their new places, 0 to 1
    stop: () => {}, //    stops the motion
  });
  const choose = (place) => {
    if (place === state.at) return;
    state.at = place;
    stage.tell("asker", patchText(place, state.pack.columns));
    stage.redraw();
  };
  const now = () => ({ at: state.at, grid: [state.pack.rows, state.pack.columns] });
  stage.find("again").addEventListener("click", () => {
    const { order, orders } = state.pack.header;
    stage.tell("order", String((Number(order) % orders) + 1));
  });
  for (const [pass, canvas] of state.canvases.entries())
    followPointer(canvas, (event) => {
      const place = patchUnder(event, canvas, now().grid);
      choose(pass === 1 ? state.pack.header.places[place] : place);
    });
  followKeys(state.canvases[0], now, choose);
  return {
    take: (data) => takeShuffle(state, data),
    paint: () => state.pack && paintShuffle(state),
    read: () => ({
      at: state.at,
      before: Array.from(meanRow(state, 0)),
      after: Array.from(meanRow(state, 1)),
      order: state.pack.header.places,
      id: state.id,
    }),
  };
}

function takeShuffle(state, data) {
  const { header, section } = openContainer(data);
  const isNew = state.id !== header.id;
  const formerPlaces = state.pack?.header.places;
  state.pack = unpack(data);
  state.at = patchFrom(header.asker, state.pack.rows, state.pack.columns);
  if (!isNew) return;
  state.id = header.id;
  bringBitmap(state, section("image"));
  if (String(formerPlaces) === String(header.places)) return; // only the position embedding was switched on or off
  state.stop();
  state.progress = 0;
  state.stop = state.stage.moves(1100, (t) => {
    state.progress = t;
    state.stage.redraw();
  });
}

// The mean of all heads' rows for the asking patch, in the token order of `pass`: 0 in order, 1 shuffled.
function meanRow(state, pass) {
  const { pack } = state,
    { places: order } = pack.header;
  const token = pack.prefixCount + (pass ? order.indexOf(state.at) : state.at);
  const row = new Float32Array(pack.tokens),
    rowMean = new Float32Array(pack.tokens);
  for (let head = 0; head < pack.heads; head++) {
    rowInto(row, 0, pack, pass, head, token, pack.scale);
    for (let j = 0; j < pack.tokens; j++) rowMean[j] += row[j] / pack.heads;
  }
  return rowMean;
}

function paintShuffle(state) {
  const { pack } = state,
    { places: order, size } = pack.header,
    { rows, columns, prefixCount } = pack;
  const orderedRow = meanRow(state, 0),
    shuffledRow = meanRow(state, 1),
    restoredRow = new Float32Array(pack.patches);
  order.forEach((patch, place) => (restoredRow[patch] = shuffledRow[prefixCount + place]));
  const domain = { low: 0, high: exposure(orderedRow, prefixCount, pack.tokens) };
  const height = heightFor(state.canvases[0], size);
  const sheets = state.canvases.map((canvas) => sheetOf(canvas, height));
  const { width: w, ratio } = sheets[0];
  if (state.photo?.image !== state.bitmap || state.photo.width !== state.canvases[0].width)
    preparePhotos(state, w * ratio, height * ratio);
  const paintPass = (i, values, start, place) => {
    printHeat(state.prints[i], values, start, rows, columns, domain);
    sheets[i].context.drawImage(state.prints[i].canvas, 0, 0, w, height);
    outlinePatch(sheets[i].context, place, [rows, columns], w, height);
  };
  paintPass(0, orderedRow, prefixCount, state.at);
  if (state.progress >= 1) {
    paintPass(1, shuffledRow, prefixCount, order.indexOf(state.at));
    paintPass(2, restoredRow, 0, state.at);
  } else {
    paintMoved(state, sheets[1].context, w, height, state.photo.clear, eased(state.progress));
    sheets[2].context.drawImage(softOf(state.photo), 0, 0, w, height);
  }
  writeShuffle(state, orderedRow, restoredRow);
}

function preparePhotos(state, width, height) {
  state.photo = makePhoto(state.bitmap, width, height);
  const movedCanvas = makeCanvas(width, height);
  paintMoved(state, movedCanvas.getContext("2d"), movedCanvas.width, movedCanvas.height, state.photo.clear, 1);
  state.shuffled = makePhoto(movedCanvas, width, height);
  state.prints = [state.photo, state.shuffled, state.photo].map((photo) => makePrint(photo));
}

// Paints every patch between its old place and its new one.
function paintMoved(state, context, w, h, picture, t) {
  const { rows, columns } = state.pack,
    cw = w / columns,
    ch = h / rows;
  const sw = picture.width / columns,
    sh = picture.height / rows;
  const cornerOf = (patch) => [patch % columns, Math.floor(patch / columns)];
  state.pack.header.places.forEach((patch, place) => {
    const [[column, row], [toColumn, toRow]] = [patch, place].map(cornerOf);
    const [x, y] = [(column + (toColumn - column) * t) * cw, (row + (toRow - row) * t) * ch];
    context.drawImage(picture, column * sw, row * sh, sw, sh, x, y, cw + 0.4, ch + 0.4);
  });
}

function writeShuffle(state, orderedRow, restoredRow) {
  const { pack } = state;
  let difference = 0;
  for (let i = 0; i < pack.patches; i++) difference += Math.abs(orderedRow[pack.prefixCount + i] - restoredRow[i]) / 2;
  const place = patchText(state.at, pack.columns);
  const verdict =
    difference < 0.001
      ? "it listens to the very same patches, wherever they lie"
      : `${percent(difference)} of its weight has gone to other patches`;
  state.stage.find("sum").innerHTML =
    `<b>Patch ${place}</b>, the mean of ${pack.heads} heads: after shuffling, ${verdict}.`;
}

export const shuffle = lessonDrawing(createShuffle, SHUFFLE_MARKUP);
