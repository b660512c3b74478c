// A picture whose patches attend by colour alone: queries and keys are mean colours of length one. The patch under the
// cursor lights up the patches of similar colour.
// data: the pack that `colours` of subject.js makes, and the settings temperature and at, which the drawing sends.

import { ROLES } from "../core/colours.js";
import { effectiveNumber, layerOf, openContainer, rowInto, unpack } from "../core/core.js";
import { patchFrom, patchText } from "../core/grid.js";
import { exposure } from "../core/light.js";
import { percent } from "../core/numbers.js";
import { drawColourBar } from "../drawing/charts.js";
import { applyDataStyles, outlinePatch, pixelSheet } from "../drawing/dom.js";
import { barColours } from "../drawing/light.js";
import { lessonDrawing, sheetOf } from "../drawing/stage.js";
import { bringBitmap, followPatches, heightFor, paintLit } from "./patch.js";

const RAMP = barColours();
const PATCHES_LISTED = 8; // number of patches with the largest weights, as swatches
const MARKUP = `
  <div class="pair">
    <figure>
      <figcaption><b>Patches of similar colour</b></figcaption>
      <canvas data-ref="picture" tabindex="0" role="img"
          aria-label="The picture; the patch under the cursor asks all others"></canvas>
      <canvas data-ref="bar" class="bar"></canvas>
    </figure>
    <figure>
      <figcaption><b>What this attention sees</b> <span>colours, without their brightness</span></figcaption>
      <canvas data-ref="mosaic" role="img"
          aria-label="The picture as mean colours"></canvas>
      <label class="dial">temperature <input type="range" data-ref="temperature" step="1"
          aria-label="temperature"> <output data-ref="degrees"></output></label>
      <p class="friends" data-ref="friends"></p>
      <p class="sum" data-ref="sum" aria-live="polite"></p>
    </figure>
  </div>`;

function createFriends(stage) {
  const state = Object.seal({
    stage,
    ...stage.refs,
    dial: stage.find("temperature"),
    id: null, //          identifies the picture and its grid
    pack: null,
    bitmap: null,
    lit: {}, //           see paintLit
    row: null, //         (tokens,) the weights of the asking patch
    colours: null, //     (tokens, 3) see queryColours
    at: -1, //            the asking patch
    temperatures: [1], // those of the dial
    temperature: 1,
  });
  const now = () => ({ at: state.at, grid: [state.pack.rows, state.pack.columns] });
  const choose = (patch) => {
    state.at = patch;
    stage.tell("at", patchText(patch, state.pack.columns));
    stage.redraw();
  };
  for (const canvas of [state.picture, state.mosaic]) followPatches(canvas, now, choose);
  state.dial.addEventListener("input", () => {
    state.temperature = state.temperatures[Number(state.dial.value)];
    stage.tell("temperature", String(state.temperature));
    stage.redraw();
  });
  return {
    take: (data) => takeFriends(state, data),
    paint: (theme) => state.pack && paintFriends(state, theme),
    read: () => {
      computeRow(state); // because the last choice may not have been painted yet
      const { row, at, temperature } = state;
      return { row: Array.from(row), at, temperature, grid: now().grid };
    },
  };
}

function takeFriends(state, data) {
  const { header, section } = openContainer(data);
  const isSame = state.id === header.id;
  state.pack = unpack(data);
  state.row = new Float32Array(state.pack.tokens);
  state.temperatures = header.temperatures;
  state.dial.max = state.temperatures.length - 1;
  state.temperature = header.temperature;
  state.dial.value = state.temperatures.indexOf(state.temperature);
  state.at = patchFrom(header.at, state.pack.rows, state.pack.columns);
  if (isSame) return;
  state.id = header.id;
  state.colours = queryColours(state.pack);
  state.bitmap = null;
  bringBitmap(state, section("image"));
}

// Computes the row of the asking patch; returns its entropy.
const computeRow = ({ pack, row, at, temperature }) => rowInto(row, 0, pack, 0, 0, at, 1 / temperature);

function paintFriends(state, theme) {
  const { pack, stage } = state;
  const query = state.at;
  const entropy = computeRow(state);
  const domain = { low: 0, high: exposure(state.row, 0, pack.tokens) };
  const marks = { rows: pack.rows, columns: pack.columns, mark: query };
  paintLit(state.lit, state.picture, state.bitmap, pack.header.size, state.row, 0, domain, marks);
  paintMosaic(state, query);
  const { context, ratio } = sheetOf(stage.find("bar"), 28);
  context.resetTransform();
  drawColourBar(context.canvas, RAMP, { ...domain, unit: "percent", open: true }, ratio, theme);
  stage.find("degrees").textContent = String(state.temperature);
  writeFriends(state, query, entropy);
}

function paintMosaic(state, query) {
  const { rows, columns, header } = state.pack;
  const { context, width, height } = sheetOf(state.mosaic, heightFor(state.mosaic, header.size));
  context.imageSmoothingEnabled = false;
  context.drawImage(pixelSheet(columns, rows, state.colours), 0, 0, width, height);
  outlinePatch(context, query, [rows, columns], width, height);
}

// The colour of each patch's query, which equals its key, as bright as possible: at length one it holds no brightness.
function queryColours(pack) {
  const { k } = layerOf(pack, 0);
  return k.map((part, i) => (255 * part) / Math.max(...k.subarray(i - (i % 3), i - (i % 3) + 3)));
}

function writeFriends(state, query, entropy) {
  const { pack, row, stage } = state;
  const largestPatches = Array.from(row.keys())
    .sort((a, b) => row[b] - row[a])
    .slice(0, PATCHES_LISTED);
  const colourOf = (patch) =>
    `rgb(${state.colours
      .slice(3 * patch, 3 * patch + 3)
      .map(Math.round)
      .join(" ")})`;
  const swatch = (patch, words) => `<span><i data-style="background:${colourOf(patch)}"></i>${words}</span>`;
  stage.find("friends").innerHTML = largestPatches.map((patch) => swatch(patch, percent(row[patch]))).join("");
  applyDataStyles(stage.find("friends"));
  const { k } = layerOf(pack, 0);
  const vector = Array.from(k.subarray(3 * query, 3 * query + 3), (x) => x.toFixed(2)).join(", ");
  const place = patchText(query, pack.columns);
  const listenedCount = Math.max(1, Math.round(effectiveNumber(entropy)));
  stage.find("sum").innerHTML =
    `<i data-style="background:${ROLES.query}" class="chip">${place}</i> q = k = (${vector}) ` +
    `listens to about <b>${listenedCount}</b> of ${pack.tokens} patches`;
  applyDataStyles(stage.find("sum"));
}

export default lessonDrawing(createFriends, MARKUP);
