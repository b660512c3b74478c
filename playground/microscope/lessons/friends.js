// A picture whose patches attend by colour alone: queries and keys are mean colours of length one. The patch under the
// cursor lights up the patches of similar colour; hidden patches get a weight of exactly 0.
// data: bytes, a pack (see core/core.js) of one layer and one head at 32 bits, with the section "image" and in its
// header id, temperature: number, temperatures: [number], hidden: a bitmap in base 64 or "", at: "row,column" or "".
// The drawing sends the settings "temperature", "hidden" and "at".

import { ROLES } from "../core/colours.js";
import { effectiveNumber, layerOf, openContainer, scoresInto, softmaxInPlace, unpack } from "../core/core.js";
import { patchAfterKey, patchFrom, patchText } from "../core/grid.js";
import { exposure } from "../core/light.js";
import { percent } from "../core/numbers.js";
import { drawColourBar } from "../drawing/charts.js";
import { applyDataStyles, outlinePatch } from "../drawing/dom.js";
import { barColours } from "../drawing/light.js";
import { hatch } from "../drawing/matrix.js";
import { mountLessonDrawing, sheetOf } from "../drawing/stage.js";
import { bringBitmap, heightFor, paintLit, patchUnder } from "./patch.js";

const RAMP = barColours();
const PATCHES_LISTED = 8; // number of patches with the largest weights, as swatches
const MARKUP = `
  <div class="pair">
    <figure>
      <figcaption><b>Patches of similar colour</b> <span class="tabs">
        <button data-tool="look">look</button>
        <button data-tool="hide">hide patches</button>
        <button data-tool="clear">show all</button>
      </span></figcaption>
      <canvas data-ref="picture" tabindex="0" role="img"
          aria-label="The picture; the patch under the cursor asks all others"></canvas>
      <canvas data-ref="bar" class="bar"></canvas>
    </figure>
    <figure>
      <figcaption><b>What this attention sees</b> <span>colours, without their brightness</span></figcaption>
      <canvas data-ref="mosaic" role="img"
          aria-label="The picture as mean colours, the hidden patches hatched"></canvas>
      <label class="dial">temperature <input type="range" data-ref="temperature" step="1"
          aria-label="temperature"> <output data-ref="degrees"></output></label>
      <p class="friends" data-ref="friends"></p>
      <p class="sum" data-ref="sum" aria-live="polite"></p>
    </figure>
  </div>`;

function createFriends(stage) {
  stage.root.innerHTML = MARKUP;
  const state = Object.seal({
    stage,
    picture: stage.find("picture"),
    mosaic: stage.find("mosaic"),
    dial: stage.find("temperature"),
    id: null, //          identifies the picture and its grid
    pack: null,
    bitmap: null,
    lit: {}, //           see paintLit
    row: null, //         (tokens,) the weights of the asking patch
    hidden: null, //      (tokens,) 1 for hidden patches
    at: -1, //            the chosen patch
    hover: -1, //         the patch under the cursor, which has priority
    tool: "look", //      or "hide"
    brush: null, //       1: the mouse hides patches; 0: it shows them; null: no button is down
    temperatures: [1], // those of the dial
    temperature: 1,
  });
  for (const canvas of [state.picture, state.mosaic]) bindPicture(state, canvas);
  for (const button of stage.root.querySelectorAll("[data-tool]"))
    button.addEventListener("click", () => pickTool(state, button.dataset.tool));
  state.dial.addEventListener("input", () => {
    state.temperature = state.temperatures[Number(state.dial.value)];
    stage.tell("temperature", String(state.temperature));
    stage.redraw();
  });
  return {
    take: (data) => takeFriends(state, data),
    paint: (theme) => state.pack && paintFriends(state, theme),
    read: () => {
      const patch = state.hover >= 0 ? state.hover : state.at;
      computeRow(state, patch); // because the last choice may not have been painted yet
      return {
        row: Array.from(state.row),
        at: patch,
        temperature: state.temperature,
        hidden: state.hidden.reduce((a, b) => a + b, 0),
        grid: [state.pack.rows, state.pack.columns],
      };
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
  state.hidden = readBitmap(header.hidden, state.pack.tokens);
  state.at = patchFrom(header.at, state.pack.rows, state.pack.columns);
  if (isSame) return;
  state.id = header.id;
  state.hover = -1;
  state.bitmap = null;
  bringBitmap(state, section("image"));
}

function readBitmap(text, count) {
  const bits = new Uint8Array(count);
  if (text.length !== Math.ceil(count / 6)) return bits; // the text is for another grid
  for (let i = 0; i < count; i++) bits[i] = (DIGITS.indexOf(text[Math.floor(i / 6)]) >> (i % 6)) & 1;
  return bits;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function writeBitmap(bits) {
  if (!bits.includes(1)) return "";
  const digits = new Uint8Array(Math.ceil(bits.length / 6));
  bits.forEach((bit, i) => (digits[Math.floor(i / 6)] |= bit << (i % 6)));
  return Array.from(digits, (digit) => DIGITS[digit]).join("");
}

// ------------------------------------------------------------------------------------------------------------ pointing

function bindPicture(state, canvas) {
  const { stage } = state;
  const patchUnderEvent = (event) => patchUnder(event, canvas, [state.pack.rows, state.pack.columns]);
  canvas.addEventListener("pointermove", (event) => {
    const patch = patchUnderEvent(event);
    if (state.brush !== null) setHidden(state, patch, state.brush);
    else if (patch === state.hover) return;
    state.hover = patch;
    stage.redraw();
  });
  canvas.addEventListener("pointerdown", (event) => {
    const patch = patchUnderEvent(event);
    if (state.tool === "hide") {
      state.brush = state.hidden[patch] ? 0 : 1;
      canvas.setPointerCapture(event.pointerId);
      setHidden(state, patch, state.brush);
    } else {
      state.at = patch;
      tellPlace(state);
    }
    stage.redraw();
  });
  const stopBrush = () => (state.brush = null);
  canvas.addEventListener("pointerup", stopBrush);
  canvas.addEventListener("pointercancel", stopBrush);
  canvas.addEventListener("pointerleave", () => {
    if (state.hover >= 0 && state.tool === "look") {
      state.at = state.hover;
      tellPlace(state);
    }
    state.hover = -1;
    stage.redraw();
  });
  canvas.addEventListener("touchmove", (event) => state.tool === "hide" && event.preventDefault(), { passive: false });
  canvas.addEventListener("keydown", (event) => onFriendsKey(state, event));
}

const tellPlace = (state) => state.stage.tell("at", patchText(state.at, state.pack.columns));

function onFriendsKey(state, event) {
  const nextPatch = patchAfterKey(event.key, state.at, state.pack.rows, state.pack.columns);
  if (event.key === "h") setHidden(state, state.at, state.hidden[state.at] ? 0 : 1);
  else if (nextPatch >= 0) {
    state.at = nextPatch;
    tellPlace(state);
  } else return;
  event.preventDefault();
  state.hover = -1;
  state.stage.redraw();
}

function setHidden(state, patch, isHidden) {
  const hiddenCount = state.hidden.reduce((a, b) => a + b, 0);
  if (isHidden && hiddenCount >= state.hidden.length - 1) return; // at least one patch stays visible
  state.hidden[patch] = isHidden;
  state.stage.tell("hidden", writeBitmap(state.hidden));
}

function pickTool(state, tool) {
  if (tool === "clear") {
    state.hidden.fill(0);
    state.stage.tell("hidden", "");
  } else state.tool = tool;
  state.stage.redraw();
}

// ------------------------------------------------------------------------------------------------------------ painting

// A hidden patch gets the score −∞ before the softmax, so that its weight is exactly 0.
function computeRow(state, query) {
  const { pack, row, hidden } = state;
  scoresInto(row, 0, pack, 0, 0, query, 1 / state.temperature);
  let largest = -Infinity;
  for (let j = 0; j < pack.tokens; j++) {
    if (hidden[j]) row[j] = -Infinity;
    else if (row[j] > largest) largest = row[j];
  }
  return softmaxInPlace(row, 0, pack.tokens, largest);
}

function paintFriends(state, theme) {
  const { pack, stage } = state;
  const query = state.hover >= 0 ? state.hover : state.at;
  const entropy = computeRow(state, query);
  for (const button of stage.root.querySelectorAll("[data-tool]")) {
    if (button.dataset.tool !== "clear")
      button.setAttribute("aria-pressed", String(button.dataset.tool === state.tool));
    else button.hidden = !state.hidden.includes(1);
  }
  const domain = { low: 0, high: exposure(state.row, 0, pack.tokens) };
  const marks = { rows: pack.rows, columns: pack.columns, mark: query };
  paintLit(state.lit, state.picture, state.bitmap, pack.header.size, state.row, 0, domain, marks);
  paintMosaic(state, query, theme);
  const { context, ratio } = sheetOf(stage.find("bar"), 28);
  context.resetTransform();
  drawColourBar(context.canvas, RAMP, { ...domain, unit: "percent", open: true }, ratio, theme);
  stage.find("degrees").textContent = String(state.temperature);
  writeFriends(state, query, entropy);
}

function paintMosaic(state, query, theme) {
  const { pack } = state;
  const { context, width, height } = sheetOf(state.mosaic, heightFor(state.mosaic, pack.header.size));
  const { rows, columns } = pack,
    cw = width / columns,
    ch = height / rows;
  for (let patch = 0; patch < pack.tokens; patch++) {
    const x = Math.round((patch % columns) * cw),
      y = Math.round(Math.floor(patch / columns) * ch);
    const w = Math.round(((patch % columns) + 1) * cw) - x,
      h = Math.round((Math.floor(patch / columns) + 1) * ch) - y;
    context.fillStyle = state.hidden[patch] ? theme.wash : queryColour(state, patch);
    context.fillRect(x, y, w, h);
    if (state.hidden[patch]) hatch(context, x, y, w, h, theme.soft);
  }
  outlinePatch(context, query, [rows, columns], width, height);
}

// The colour of a patch's query, which equals its key, as bright as possible: at length one it holds no brightness.
function queryColour(state, patch) {
  const { k } = layerOf(state.pack, 0);
  const colour = k.subarray(3 * patch, 3 * patch + 3),
    brightest = Math.max(...colour);
  return `rgb(${Array.from(colour, (x) => Math.round((255 * x) / brightest)).join(" ")})`;
}

function writeFriends(state, query, entropy) {
  const { pack, row, stage } = state;
  const largestPatches = Array.from(row.keys())
    .sort((a, b) => row[b] - row[a])
    .slice(0, PATCHES_LISTED);
  const swatch = (patch, words) => `<span><i data-style="background:${queryColour(state, patch)}"></i>${words}</span>`;
  stage.find("friends").innerHTML = largestPatches.map((patch) => swatch(patch, percent(row[patch]))).join("");
  applyDataStyles(stage.find("friends"));
  const { k } = layerOf(pack, 0);
  const vector = Array.from(k.subarray(3 * query, 3 * query + 3), (x) => x.toFixed(2)).join(", ");
  const place = patchText(query, pack.columns);
  const hiddenCount = state.hidden.reduce((a, b) => a + b, 0);
  const listenedCount = Math.max(1, Math.round(effectiveNumber(entropy)));
  const hiddenShare = state.hidden.reduce((sum, bit, patch) => sum + (bit ? row[patch] : 0), 0);
  stage.find("sum").innerHTML =
    `<i data-style="background:${ROLES.query}" class="chip">${place}</i> q = k = (${vector}) ` +
    `listens to about <b>${listenedCount}</b> of ${pack.tokens - hiddenCount} patches` +
    (hiddenCount ? `; the ${hiddenCount} hidden ones get ${hiddenShare}` : "");
  applyDataStyles(stage.find("sum"));
}

export default function (component) {
  return mountLessonDrawing(component, createFriends);
}
