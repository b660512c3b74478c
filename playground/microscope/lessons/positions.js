// The position embedding: the table, the similarity of the patch under the cursor to all others, and such a map for
// every patch, in a grid.
//
// data: bytes, a container whose header says id, grid, width, kind, place ("row,column" or ""), and whose section
// places is (float16, patches × width). Out goes the state "place".

import { decodeHalves, openContainer } from "../core/core.js";
import { patchAfterKey, patchAt, patchFrom, patchText } from "../core/grid.js";
import { fillHeat, makeCanvas, makeHeat, outlineCell, styled } from "../drawing/dom.js";
import { keepDrawing, sheetOf, signedPalette, signedText, spotOf } from "../drawing/stage.js";

const MOST_MAPS = 14; // along a side; more would be too small
const CLIPPED = 0.1; // of the table's numbers have the full colour: a few large ones would leave the others white
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
    own = unit.subarray(at * width, (at + 1) * width);
  for (let i = 0, u = 0; i < count; i++) {
    let sum = 0;
    for (let x = 0; x < width; x++, u++) sum += own[x] * unit[u];
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

export default function (component) {
  return keepDrawing(component, createPositions);
}
