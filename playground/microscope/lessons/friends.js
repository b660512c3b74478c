// A picture whose patches attend by colour alone: queries and keys are mean colours of length one. The patch under the
// cursor lights up the patches of similar colour; patches can be hidden, and then get exactly nothing.
//
// data: bytes, a pack (see core/core.js) of one layer and one head at 32 bits, with the section "image" and, in its
// header,
//   id, temperature: number, temperatures: [number], hidden: a bitmap in base 64 or "", at: "row,column" or ""
// Out go the states "temperature", "hidden" and "at".

import { ROLES } from "../core/colours.js";
import { effectiveNumber, layerOf, openContainer, scoresInto, softmaxInPlace, unpack } from "../core/core.js";
import { patchAfterKey, patchFrom, patchText } from "../core/grid.js";
import { exposure } from "../core/light.js";
import { percent } from "../core/numbers.js";
import { drawColourBar } from "../drawing/charts.js";
import { decodeJpeg, outlineCell, styled } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { barColours, makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { hatch } from "../drawing/matrix.js";
import { keepDrawing, sheetOf, spotOf } from "../drawing/stage.js";

const RAMP = barColours();
const LISTED = 8; // patches with the largest weights, as swatches
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
  const it = Object.seal({
    stage,
    picture: stage.find("picture"),
    mosaic: stage.find("mosaic"),
    dial: stage.find("temperature"),
    id: null, //          of the picture and its grid
    pack: null,
    bitmap: null,
    photo: null,
    print: null,
    heat: null,
    row: null, //         (tokens,) the weights of the patch that asks
    hidden: null, //      (tokens,) 1: hidden
    at: -1, //            the chosen patch
    hover: -1, //         the patch under the cursor, which goes before
    tool: "look", //      or "hide"
    brush: null, //       while patches are painted: 1 hides them, 0 shows them
    steps: [1], //        the temperatures of the dial
    temperature: 1,
  });
  for (const canvas of [it.picture, it.mosaic]) bindPicture(it, canvas);
  for (const button of stage.root.querySelectorAll("[data-tool]"))
    button.addEventListener("click", () => pickTool(it, button.dataset.tool));
  it.dial.addEventListener("input", () => {
    it.temperature = it.steps[Number(it.dial.value)];
    stage.tell("temperature", String(it.temperature));
    stage.redraw();
  });
  return {
    take: (data) => takeFriends(it, data),
    paint: (theme) => it.pack && paintFriends(it, theme),
    read: () => {
      const at = it.hover >= 0 ? it.hover : it.at;
      attend(it, at); // what was chosen in this moment is painted with the next frame
      return {
        row: Array.from(it.row),
        at,
        temperature: it.temperature,
        hidden: it.hidden.reduce((a, b) => a + b, 0),
        grid: [it.pack.rows, it.pack.columns],
      };
    },
  };
}

function takeFriends(it, data) {
  const { header, section } = openContainer(data);
  const { stage } = it;
  const same = it.id === header.id;
  it.pack = unpack(data);
  it.row = new Float32Array(it.pack.tokens);
  it.steps = header.temperatures;
  it.dial.max = it.steps.length - 1;
  if (stage.heeds("temperature", String(header.temperature))) it.temperature = header.temperature;
  it.dial.value = it.steps.indexOf(it.temperature);
  if (stage.heeds("hidden", header.hidden) || !same) it.hidden = readBitmap(header.hidden, it.pack.tokens);
  if (stage.heeds("at", header.at) || !same) it.at = patchFrom(header.at, it.pack.rows, it.pack.columns);
  if (same) return;
  it.id = header.id;
  it.hover = -1;
  it.bitmap = it.photo = null;
  decodeJpeg(section("image")).then((bitmap) => {
    it.bitmap = bitmap;
    stage.redraw();
  });
}

function readBitmap(text, count) {
  const hidden = new Uint8Array(count);
  if (text.length !== Math.ceil(count / 6)) return hidden; // of another grid
  for (let i = 0; i < count; i++) hidden[i] = (DIGITS.indexOf(text[Math.floor(i / 6)]) >> (i % 6)) & 1;
  return hidden;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function writeBitmap(hidden) {
  if (!hidden.includes(1)) return "";
  const digits = new Uint8Array(Math.ceil(hidden.length / 6));
  hidden.forEach((bit, i) => (digits[Math.floor(i / 6)] |= bit << (i % 6)));
  return Array.from(digits, (digit) => DIGITS[digit]).join("");
}

// ------------------------------------------------------------------------------------------------------------ pointing

function bindPicture(it, canvas) {
  const { stage } = it;
  const under = (event) => {
    const [x, y] = spotOf(event, canvas);
    const column = Math.floor((x / canvas.clientWidth) * it.pack.columns),
      row = Math.floor((y / canvas.clientHeight) * it.pack.rows);
    return row >= 0 && column >= 0 && row < it.pack.rows && column < it.pack.columns
      ? row * it.pack.columns + column
      : -1;
  };
  canvas.addEventListener("pointermove", (event) => {
    const patch = under(event);
    if (it.brush !== null && patch >= 0) setHidden(it, patch, it.brush);
    else if (patch === it.hover) return;
    it.hover = patch;
    stage.redraw();
  });
  canvas.addEventListener("pointerdown", (event) => {
    const patch = under(event);
    if (patch < 0) return;
    if (it.tool === "hide") {
      it.brush = it.hidden[patch] ? 0 : 1;
      canvas.setPointerCapture(event.pointerId);
      setHidden(it, patch, it.brush);
    } else {
      it.at = patch;
      tellPlace(it);
    }
    stage.redraw();
  });
  const lift = () => (it.brush = null);
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => {
    if (it.hover >= 0 && it.tool === "look") {
      it.at = it.hover;
      tellPlace(it);
    }
    it.hover = -1;
    stage.redraw();
  });
  canvas.addEventListener("touchmove", (event) => it.tool === "hide" && event.preventDefault(), { passive: false });
  canvas.addEventListener("keydown", (event) => onFriendsKey(it, event));
}

const tellPlace = (it) => it.stage.tell("at", patchText(it.at, it.pack.columns));

function onFriendsKey(it, event) {
  const next = patchAfterKey(event.key, it.at, it.pack.rows, it.pack.columns);
  if (event.key === "h") setHidden(it, it.at, it.hidden[it.at] ? 0 : 1);
  else if (next >= 0) {
    it.at = next;
    tellPlace(it);
  } else return;
  event.preventDefault();
  it.hover = -1;
  it.stage.redraw();
}

function setHidden(it, patch, hidden) {
  const many = it.hidden.reduce((a, b) => a + b, 0);
  if (hidden && many >= it.hidden.length - 1) return; // one patch must stay
  it.hidden[patch] = hidden;
  it.stage.tell("hidden", writeBitmap(it.hidden));
}

function pickTool(it, tool) {
  if (tool === "clear") {
    it.hidden.fill(0);
    it.stage.tell("hidden", "");
  } else it.tool = tool;
  it.stage.redraw();
}

// ------------------------------------------------------------------------------------------------------------ painting

// A hidden patch gets the score −∞ before the softmax, so that its weight is exactly 0.
function attend(it, query) {
  const { pack, row, hidden } = it;
  scoresInto(row, 0, pack, 0, 0, query, 1 / it.temperature);
  let largest = -Infinity;
  for (let j = 0; j < pack.tokens; j++) {
    if (hidden[j]) row[j] = -Infinity;
    else if (row[j] > largest) largest = row[j];
  }
  return softmaxInPlace(row, 0, pack.tokens, largest);
}

function paintFriends(it, theme) {
  const { pack, stage } = it;
  const query = it.hover >= 0 ? it.hover : it.at;
  const bits = attend(it, query);
  const aspect = pack.header.size[0] / pack.header.size[1];
  for (const button of stage.root.querySelectorAll("[data-tool]")) {
    if (button.dataset.tool !== "clear") button.setAttribute("aria-pressed", String(button.dataset.tool === it.tool));
    else button.hidden = !it.hidden.includes(1);
  }
  const domain = { low: 0, high: exposure(it.row, 0, pack.tokens), log: false };
  paintHeat(it, query, domain, aspect);
  paintMosaic(it, query, aspect, theme);
  const { context, width, height } = sheetOf(stage.find("bar"), 28);
  drawColourBar(context, width, height, RAMP, { ...domain, unit: "percent", open: true }, 1, theme);
  stage.find("degrees").textContent = String(it.temperature);
  writeFriends(it, query, bits);
}

function paintHeat(it, query, domain, aspect) {
  const { pack } = it;
  const { context, width, height, ratio } = sheetOf(it.picture, Math.round(it.picture.clientWidth * aspect));
  if (it.photo?.width !== it.picture.width || it.photo.image !== it.bitmap) {
    it.photo = makePhoto(it.bitmap, width * ratio, height * ratio);
    it.print = makePrint(it.photo);
  }
  printHeat(it.print, it.row, 0, pack.rows, pack.columns, domain);
  drawPicture(
    context,
    width,
    height,
    it.print.canvas,
    { rows: pack.rows, columns: pack.columns, grid: false, tag: null, mark: query },
    1,
  );
}

function paintMosaic(it, query, aspect, theme) {
  const { pack } = it;
  const { context, width, height } = sheetOf(it.mosaic, Math.round(it.mosaic.clientWidth * aspect));
  const { rows, columns } = pack,
    cw = width / columns,
    ch = height / rows;
  for (let patch = 0; patch < pack.tokens; patch++) {
    const x = Math.round((patch % columns) * cw),
      y = Math.round(Math.floor(patch / columns) * ch);
    const w = Math.round(((patch % columns) + 1) * cw) - x,
      h = Math.round((Math.floor(patch / columns) + 1) * ch) - y;
    context.fillStyle = it.hidden[patch] ? theme.wash : unitColour(it, patch);
    context.fillRect(x, y, w, h);
    if (it.hidden[patch]) hatch(context, x, y, w, h, theme.soft);
  }
  outlineCell(context, (query % columns) * cw, Math.floor(query / columns) * ch, cw, ch, 1);
}

// A vector of length one holds a colour without its brightness; it is shown as bright as possible.
function unitColour(it, patch) {
  const { k } = layerOf(it.pack, 0);
  const part = k.subarray(3 * patch, 3 * patch + 3),
    most = Math.max(...part);
  return `rgb(${Array.from(part, (x) => Math.round((255 * x) / most)).join(" ")})`;
}

function writeFriends(it, query, bits) {
  const { pack, row, stage } = it;
  const best = Array.from(row.keys())
    .sort((a, b) => row[b] - row[a])
    .slice(0, LISTED);
  const swatch = (patch, words) => `<span><i data-style="background:${unitColour(it, patch)}"></i>${words}</span>`;
  stage.find("friends").innerHTML = best.map((patch) => swatch(patch, percent(row[patch]))).join("");
  styled(stage.find("friends"));
  const { k } = layerOf(pack, 0);
  const vector = Array.from(k.subarray(3 * query, 3 * query + 3), (x) => x.toFixed(2)).join(", ");
  const place = patchText(query, pack.columns);
  const many = it.hidden.reduce((a, b) => a + b, 0);
  const about = Math.max(1, Math.round(effectiveNumber(bits)));
  const gone = it.hidden.reduce((sum, bit, patch) => sum + (bit ? row[patch] : 0), 0);
  stage.find("sum").innerHTML =
    `<i data-style="background:${ROLES.query}" class="chip">${place}</i> q = k = (${vector}) ` +
    `listens to about <b>${about}</b> of ${pack.tokens - many} patches` +
    (many ? `; the ${many} hidden ones get ${gone}` : "");
  styled(stage.find("sum"));
}

export default function (component) {
  return keepDrawing(component, createFriends);
}
