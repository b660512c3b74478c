// A weight beside what it carries: for the patch under the cursor, its weights and weight × ‖W_O v‖; and below them a
// mixing desk of its largest weights.
//
// data: the container of playground/pack with {id, layer, patch: which asks at first, desk: a sentence with holes,
// look, sections: {pack, image}}. The pack holds this one layer. Out goes the setting "look", "layer.head.row.column".
// It reports `tops`, the patches with the two tags, once somebody has chosen a patch.

import { largestIndex, layerOf, openContainer, rowInto, sumOf, unpack, weighInto } from "../core/core.js";
import { patchAt } from "../core/grid.js";
import { reportNumbers } from "../core/guesses.js";
import { exposure } from "../core/light.js";
import { decodeJpeg } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { markedWords } from "../drawing/listing.js";
import { keepDrawing, sheetOf, spotOf } from "../drawing/stage.js";
import { deskOf } from "./desk.js";

const figure = (title, name) => `<figure><figcaption><b>${title}</b></figcaption>
  <canvas data-ref="${name}" role="img" aria-label="${name} over the picture"></canvas>
  <p class="soft"></p></figure>`;
const MARKUP = `<label class="head">Head <input type="range" min="0" data-ref="head">
    <output data-ref="headNow"></output></label>
  <div class="pair">${figure("The weight", "weight")}
  ${figure("What arrives: weight × ‖W<sub>O</sub> v‖", "arrives")}</div>
  <p class="verdict" data-ref="verdict" aria-live="polite"></p>
  <div class="desk" data-ref="desk"></div><p class="soft" data-ref="deskSays"></p>`;

function createCarried(stage) {
  stage.root.innerHTML = MARKUP;
  const it = Object.seal({
    stage,
    canvases: ["weight", "arrives"].map(stage.find),
    id: null, //       of the layer and the picture
    header: null,
    pack: null,
    bitmap: null,
    photo: null,
    prints: [], //     one for each of the two canvases
    rows: [], //       of the patch that asks, (tokens,) each: its weights, and what arrives as shares of their sum
    head: 0,
    patch: 0, //       which is chosen
    hover: -1, //      the patch under the cursor, which goes before
    chosen: false, //  somebody chose a patch
    shown: null, //    what was drawn last, in numbers
  });
  stage.find("head").addEventListener("input", (event) => choose(it, { head: Number(event.target.value) }));
  for (const canvas of it.canvases) {
    canvas.addEventListener("pointermove", (event) => {
      it.hover = patchUnder(it, canvas, event);
      stage.redraw();
    });
    canvas.addEventListener("pointerleave", () => {
      it.hover = -1;
      stage.redraw();
    });
    canvas.addEventListener("click", (event) => choose(it, { patch: patchUnder(it, canvas, event), chosen: true }));
  }
  return {
    take: (data) => take(it, data),
    paint: () => it.bitmap && paint(it),
    read: () => it.shown,
  };
}

function take(it, data) {
  const { header, section } = openContainer(data);
  const { find, heeds } = it.stage;
  if (it.id !== header.id) {
    const pack = unpack(section("pack"));
    Object.assign(it, { id: header.id, header, pack, bitmap: null, photo: null, patch: header.patch });
    it.rows = [new Float32Array(pack.tokens), new Float32Array(pack.tokens)];
    find("head").max = String(pack.heads - 1);
    decodeJpeg(section("image")).then((bitmap) => {
      if (it.pack !== pack) return;
      it.bitmap = bitmap;
      it.stage.redraw();
    });
  }
  if (!heeds("look", header.look) || !header.look) return;
  const [, head, row, column] = header.look.split(".").map(Number);
  const { rows, columns, heads } = it.pack;
  it.head = Math.min(heads - 1, head);
  it.patch = Math.min(rows - 1, row) * columns + Math.min(columns - 1, column);
  it.chosen = true;
}

function choose(it, change) {
  Object.assign(it, change);
  const { columns } = it.pack;
  const look = [it.header.layer, it.head, Math.floor(it.patch / columns), it.patch % columns];
  it.stage.tell("look", look.join("."));
  it.stage.redraw();
}

function patchUnder({ pack }, canvas, event) {
  const [x, y] = spotOf(event, canvas);
  return patchAt(x / canvas.clientWidth, y / canvas.clientHeight, pack.rows, pack.columns);
}

function paint(it) {
  const { pack, head, header, rows } = it;
  const { find } = it.stage;
  const [weights, arriving] = rows;
  const front = pack.prefixCount;
  const patch = it.hover >= 0 ? it.hover : it.patch;
  const { norms } = layerOf(pack, header.layer);
  rowInto(weights, 0, pack, header.layer, head, front + patch, pack.scale);
  weighInto(arriving, 0, weights, norms, head * pack.tokens, pack.tokens);
  const all = sumOf(arriving, 0, pack.tokens); // as shares, so that both pictures have the same colours
  for (let token = 0; token < pack.tokens; token++) arriving[token] /= all || 1;
  const tops = rows.map((shares) => largestIndex(shares, front, pack.tokens) - front);
  const domain = { low: 0, high: Math.max(...rows.map((one) => exposure(one, front, pack.tokens))), log: false };
  for (const [i, shares] of rows.entries()) paintOne(it, i, shares, patch, tops[i], domain);
  find("head").value = String(head);
  find("headNow").textContent = String(head);
  const [most, adds] = tops.map((top) => placeOf(pack, top));
  find("verdict").textContent =
    tops[0] === tops[1]
      ? `Patch ${placeOf(pack, patch)}: the most-weighted patch is also the one that contributes most.`
      : `Patch ${placeOf(pack, patch)}: the most-weighted patch is ${most}, but ${adds} contributes most.`;
  const loud = norms.subarray(head * pack.tokens, (head + 1) * pack.tokens);
  const desk = deskOf(find("desk"), weights, loud, pack);
  const [row, column] = [Math.floor(patch / pack.columns), patch % pack.columns];
  const filled = { tokens: pack.tokens.toLocaleString("en"), channels: desk.length, row, column, head };
  const numbers = { ...filled, layer: header.layer };
  find("deskSays").innerHTML = markedWords(header.desk.replace(/\{(\w+)\}/g, (_, name) => numbers[name]));
  it.shown = { layer: header.layer, head, patch, tops, desk, weights: [...weights], arriving: [...arriving] };
  if (it.chosen) reportNumbers("carried", { tops });
}

const placeOf = (pack, patch) => `(${Math.floor(patch / pack.columns)}, ${patch % pack.columns})`;

function paintOne(it, i, shares, patch, top, domain) {
  const { pack } = it,
    canvas = it.canvases[i];
  const [high, wide] = pack.header.size ?? [pack.rows, pack.columns];
  const { context, ratio } = sheetOf(canvas, Math.round((canvas.clientWidth * high) / wide));
  const { width, height } = canvas;
  if (it.photo?.width !== width) {
    it.photo = makePhoto(it.bitmap, width, height);
    it.prints = it.canvases.map(() => makePrint(it.photo));
  }
  printHeat(it.prints[i], shares, pack.prefixCount, pack.rows, pack.columns, domain);
  const text = `${(100 * shares[pack.prefixCount + top]).toFixed(1)} %`;
  const tag = { patch: top, text, colour: i ? "#009E73" : "#D55E00" };
  const marks = { rows: pack.rows, columns: pack.columns, grid: false, mark: patch, tag };
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0);
  drawPicture(context, width, height, it.prints[i].canvas, marks, ratio);
  context.restore();
  const prefix = sumOf(shares, 0, pack.prefixCount);
  const others = pack.prefixCount ? ` · class token and registers: ${(100 * prefix).toFixed(1)} %` : "";
  canvas.nextElementSibling.textContent = `most: ${placeOf(pack, top)}, ${text}${others}`;
}

export default function (component) {
  return keepDrawing(component, createCarried);
}
