// The panel that computes one weight: the query's and the key's numbers, their products, the sum, the scale, the
// exponential and the share. The panel follows the cursor, and writes out one of the d_k multiplications.

import { pairOf, rankOf, scoreOf } from "../core/answers.js";
import { ROLES } from "../core/colours.js";
import { holdsHead, largestIndex } from "../core/core.js";
import { percent, shortNumber } from "../core/numbers.js";
import { prefixName } from "../core/sentence.js";
import { isSigned, sizeWords, unitOf, wayOf, wayWords } from "../core/ways.js";
import { fitCanvas, make, setText, setVisible } from "../drawing/dom.js";
import { withMinus } from "../drawing/stage.js";
import { divisorOf, faceWords, placeHere, scaleText } from "./readouts.js";
import { isMap, overlayNow } from "./state.js";

// The pair of the shown token and the token under the cursor; null if the cursor is on no token or the layer has not
// arrived.
export function aimedPair({ view, choice: { aim }, shown }) {
  if (aim < 0 || shown.layerMissing || !shown.answers?.ready[view.head]) return null;
  const { pack, answers, token, scale } = shown;
  if (aim >= pack.tokens) return null;
  const start = view.head * pack.tokens;
  const [query, key] = view.direction === "row" ? [token, aim] : [aim, token];
  return {
    query,
    key,
    weight: answers.weights[start + aim],
    rank: rankOf(answers.weights, aim, start, pack.tokens),
    of: pack.tokens,
    score: scoreOf(pack, view.layer, view.head, query, key, scale),
  };
}

// The pair whose product is shown: the one under the cursor, else the one with the largest weight.
export function chosenPair(lens) {
  const { view, shown } = lens;
  const pair = aimedPair(lens);
  if (pair) return pair;
  if (shown.layerMissing || !shown.answers?.ready[view.head]) return null;
  const start = view.head * shown.pack.tokens;
  const largestToken = largestIndex(shown.answers.weights, start, start + shown.pack.tokens) - start;
  return view.direction === "row"
    ? { query: shown.token, key: largestToken }
    : { query: largestToken, key: shown.token };
}

// The rank of the patch under the cursor among the row's weights, from 0; −1: none.
export const rankOfAim = (lens) => (aimedPair(lens)?.rank ?? 0) - 1;

export const withCommas = (count) => count.toLocaleString("en");

// The score as a formula: "q·k/√64" at the trained scale, "q·k" at scale 1; at another scale, "q·k × " and the scale.
export function productText(pack, scale) {
  if (Math.abs(scale - 1) < 1e-9) return "q·k";
  return Math.abs(scale / pack.scale - 1) < 1e-6 ? `q·k/${divisorOf(pack)}` : `q·k × ${scaleText(scale)}`;
}

const SUMS_HTML = `
  <header><h2><span data-say="sumsOne"></span> <b class="chip query"></b> <span data-say="sumsTo"></span>
      <b class="chip key"></b></h2><button class="close" data-name="sumsClose" title="Close (Esc)">×</button></header>
  <canvas role="img" data-name="stripsNamed"></canvas>
  <p class="product" aria-live="off"></p>
  <dl></dl>`;
const NAMES_WIDTH = 40; // units at the canvas's left for the strips' names; a unit is a pixel if the type has 14 pixels

export function bindSums({ choice, frame, page }) {
  const panel = make("section", { className: "sums", "data-name": "sumsNamed", innerHTML: SUMS_HTML, hidden: true });
  page.root.append(panel);
  const [query, key] = panel.querySelectorAll(".chip");
  page.sums = {
    panel,
    query,
    key,
    canvas: panel.querySelector("canvas"),
    product: panel.querySelector(".product"),
    steps: panel.querySelector("dl"),
  };
  const { canvas } = page.sums;
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const leftEdge = (NAMES_WIDTH * frame.unit) / frame.ratio;
    const part = (event.clientX - box.left - leftEdge) / (box.width - leftEdge);
    const { dim } = frame.shown.pack;
    choice.dimension = part < 0 ? -1 : Math.min(dim - 1, Math.floor(part * dim));
    page.schedule(true);
  });
  panel.querySelector(".close").addEventListener("click", () => closeSums(page));
}

export const sumsAreOpen = (page) => !page.sums.panel.hidden;

export function openSums(lens) {
  const { choice, page } = lens;
  const pair = isMap(choice.view.what) ? null : chosenPair(lens);
  if (!pair) return;
  if (choice.aim < 0) choice.aim = choice.view.direction === "row" ? pair.key : pair.query;
  if (!choice.view.locked) page.choose({ locked: true });
  choice.hover = -1;
  choice.aim = choice.view.direction === "row" ? pair.key : pair.query;
  setVisible(page.sums.panel, true);
  page.schedule();
}

// Closes the panel; returns true if it was open.
export function closeSums(page) {
  const wasOpen = sumsAreOpen(page);
  setVisible(page.sums.panel, false);
  if (wasOpen) page.refs.picture.focus({ preventScroll: true });
  return wasOpen;
}

export function paintSums(lens) {
  const { choice, page, view, shown } = lens;
  const { sums } = page;
  const { colours, unit, ratio } = lens.frame;
  if (!sumsAreOpen(page)) return;
  const isHeadHeld = holdsHead(shown.pack, view.layer, view.head);
  const shownPair = isMap(view.what) || !view.locked || !isHeadHeld ? null : chosenPair(lens);
  if (!shownPair) return void setVisible(sums.panel, false);
  const { pack, scale } = shown;
  const pair = pairOf(pack, view.layer, view.head, shownPair.query, shownPair.key, scale);
  setText(sums.query, placeHere(page, shownPair.query, pack));
  setText(sums.key, placeHere(page, shownPair.key, pack));
  // writes the text first, because the strips get the remaining height
  writeSteps(sums.steps, stepsOf(page, pair, pack, scale));
  fitCanvas(sums.canvas, sums.canvas.clientWidth, sums.canvas.clientHeight, ratio);
  const { dimension } = choice;
  const index = dimension >= 0 && dimension < pack.dim ? dimension : largestIndex(pair.products.map(Math.abs));
  drawStrips(sums.canvas, pair, index, unit, colours);
  const opening = faceWords(page, "sumsNumber", { place: index + 1, count: pack.dim });
  setText(
    sums.product,
    `${opening}: ${withMinus(pair.q[index])} × ${withMinus(pair.k[index])} = ${withMinus(pair.products[index])}`,
  );
}

// Draws three strips of d_k bars: q, k and q × k. Each strip has its own scale; the number at its left is its largest
// value.
function drawStrips(canvas, { q, k, products }, index, unit, colours) {
  const context = canvas.getContext("2d");
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  const leftEdge = NAMES_WIDTH * unit,
    barStep = (width - leftEdge) / q.length,
    stripHeight = height / 3;
  context.fillStyle = colours.line;
  context.fillRect(leftEdge + index * barStep, 0, barStep, height);
  for (const [row, [name, values, colour]] of [
    ["q", q, ROLES.query],
    ["k", k, ROLES.key],
    ["q × k", products, colours.ink],
  ].entries()) {
    const centre = (row + 0.5) * stripHeight,
      halfHeight = 0.44 * stripHeight;
    const maximum = values.reduce((largest, x) => Math.max(largest, Math.abs(x)), 1e-9);
    context.fillStyle = colour;
    for (let x = 0; x < values.length; x++) {
      const barHeight = (values[x] / maximum) * halfHeight;
      context.fillRect(
        leftEdge + x * barStep,
        Math.min(centre, centre - barHeight),
        Math.max(1, barStep - unit),
        Math.abs(barHeight),
      );
    }
    context.fillStyle = colours.soft;
    context.fillRect(leftEdge, centre, width - leftEdge, Math.max(1, unit / 2));
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.font = `600 ${12 * unit}px ${colours.font}`;
    context.fillText(name, 0, centre - 7 * unit);
    context.font = `${12 * unit}px ${colours.font}`;
    context.fillText(`±${shortNumber(maximum)}`, 0, centre + 7 * unit);
  }
}

// The steps of the computation, in words.
function stepsOf(page, pair, pack, scale) {
  const [dim, product, largest] = [pack.dim, productText(pack, scale), withMinus(pair.largest)];
  const [count, total] = [withCommas(pair.of), pair.total.toPrecision(4)];
  return [
    [faceWords(page, "sumsDot", { dim }), withMinus(pair.dot)],
    [faceWords(page, "sumsScore", { product }), withMinus(pair.score)],
    [faceWords(page, "sumsPower", { largest }), pair.exponential.toPrecision(3)],
    [faceWords(page, "sumsTotal", { count, total }), percent(pair.weight)],
  ];
}

function writeSteps(list, steps) {
  if (!list.childElementCount) list.innerHTML = steps.map(() => "<div><dt></dt><dd></dd></div>").join("");
  for (const [i, [name, value]] of steps.entries()) {
    setText(list.children[i].firstChild, name);
    setText(list.children[i].lastChild, value);
  }
}

// While a patch is locked, a line runs from it to the patch under the cursor, with the weight between them.

const LABEL_REST = 250; // ms until the label takes clicks; until then the cursor passes through it
const LABEL_HEIGHT = 48; // CSS pixels that the label needs below its patch

const LINE_HTML = `
  <svg preserveAspectRatio="none" aria-hidden="true">
    <line class="halo"/><line class="wire"/><rect width="1" height="1"/></svg>
  <button class="pair-label" title="Show the arithmetic of this weight (key a)"><b></b><span></span></button>`;

// A map's value for one patch, in words.
function pairWords(view, value) {
  const cases = isSigned(view) ? [value < 0 ? "against" : "for"] : [];
  const size = isSigned(view) ? Math.abs(value) : value;
  return wayWords(wayOf(view), "pair", cases, { value: sizeWords(size, unitOf(view)), part: value + 1 });
}

export function bindLine(lens) {
  const { page } = lens;
  const lineBox = make("div", { className: "lockline", innerHTML: LINE_HTML, hidden: true });
  page.refs.pictureBox.append(lineBox);
  const label = lineBox.querySelector("button");
  page.line = {
    box: lineBox,
    label,
    drawing: lineBox.querySelector("svg"),
    lines: [...lineBox.querySelectorAll("line")],
    cell: lineBox.querySelector("rect"),
    value: label.querySelector("b"),
    rank: label.querySelector("span"),
    timer: 0, // runs for LABEL_REST
  };
  label.addEventListener("click", () => openSums(lens));
  label.addEventListener("pointerleave", (event) => {
    const entered = /** @type {Node} */ (event.relatedTarget);
    if (entered !== page.refs.picture && !lineBox.contains(entered)) dropAim(lens);
  });
}

// Whether the line stays when the cursor leaves the picture: the cursor is on the line's label, or the arithmetic is
// open.
export const holdsLine = ({ choice, page }, event) =>
  choice.view.locked && (page.line.box.contains(event.relatedTarget) || sumsAreOpen(page));

function dropAim({ choice, page }) {
  if (sumsAreOpen(page)) return;
  choice.aim = choice.hover = -1;
  page.schedule(true);
}

export function paintLine(lens) {
  const { shown } = lens;
  const { aim } = lens.choice;
  const { line } = lens.page;
  const pair = aimedPair(lens);
  setVisible(line.box, Boolean(pair));
  if (!pair) return;
  const { rows, columns, prefixCount } = shown.pack;
  const queryPatch = shown.token - prefixCount,
    aimPatch = aim - prefixCount;
  line.drawing.setAttribute("viewBox", `0 0 ${columns} ${rows}`);
  setVisible(line.drawing, aimPatch >= 0); // a prefix token has no place in the picture
  for (const wire of line.lines) {
    wire.style.display = queryPatch >= 0 && queryPatch !== aimPatch ? "" : "none";
    wire.setAttribute("x1", (Math.max(0, queryPatch) % columns) + 0.5);
    wire.setAttribute("y1", Math.floor(Math.max(0, queryPatch) / columns) + 0.5);
    wire.setAttribute("x2", (aimPatch % columns) + 0.5);
    wire.setAttribute("y2", Math.floor(aimPatch / columns) + 0.5);
  }
  line.cell.setAttribute("x", aimPatch % columns);
  line.cell.setAttribute("y", Math.floor(aimPatch / columns));
  placeLabel(lens, queryPatch, aimPatch >= 0 ? aimPatch : queryPatch);
  writeLabel(lens, pair);
}

// Puts the label beside the patch at the line's end, away from the locked patch if there is room.
function placeLabel({ shown, frame: { pictureHeight }, page: { line } }, queryPatch, aimPatch) {
  const { rows, columns } = shown.pack;
  const row = Math.floor(Math.max(0, aimPatch) / columns);
  const roomBelow = ((rows - row - 1) / rows) * pictureHeight >= LABEL_HEIGHT;
  const roomAbove = (row / rows) * pictureHeight >= LABEL_HEIGHT;
  const isBelowQuery = queryPatch < 0 || row >= Math.floor(queryPatch / columns);
  const { style, classList } = line.label;
  classList.toggle("above", isBelowQuery ? !roomBelow && roomAbove : roomAbove);
  style.setProperty("--x", `${(100 * ((Math.max(0, aimPatch) % columns) + 0.5)) / columns}%`);
  style.setProperty("--top", `${(100 * row) / rows}%`);
  style.setProperty("--bottom", `${(100 * (row + 1)) / rows}%`);
  classList.remove("resting");
  clearTimeout(line.timer);
  line.timer = setTimeout(() => classList.add("resting"), LABEL_REST);
}

function writeLabel(lens, pair) {
  const { view, shown } = lens;
  const { aim } = lens.choice;
  const { line } = lens.page;
  const { pack } = shown;
  const overlay = overlayNow(lens);
  line.label.disabled = isMap(view.what);
  if (isMap(view.what)) {
    const value = overlay?.values[overlay.values.length === pack.patches ? aim - pack.prefixCount : aim];
    const rankText =
      overlay && !isSigned(view)
        ? `rank ${withCommas(rankOf(overlay.values, aim))} of ${withCommas(overlay.values.length)}`
        : "";
    setText(line.value, overlay ? pairWords(view, value) : "");
    setText(line.rank, rankText);
    return;
  }
  const aimName = aim === shown.token ? "itself" : aim < pack.prefixCount ? prefixName(pack.prefix[aim]) : "this patch";
  const verb =
    view.direction === "row" ? `gives ${aimName}` : aim === shown.token ? "gives itself" : `gets from ${aimName}`;
  setText(line.value, `${verb} ${percent(pair.weight)}`);
  const rank = `rank ${withCommas(pair.rank)} of ${withCommas(pair.of)}`;
  setText(line.rank, `${rank} · ${productText(pack, shown.scale)} = ${shortNumber(pair.score)}`);
}
