// A lock that holds: while a patch is locked, a line runs from it to the patch under the cursor and says what the one
// gives the other. A bar of the sorted weights that is pointed at lights its patch in the same way.

import { rankOf } from "../core/answers.js";
import { percent, shortNumber } from "../core/numbers.js";
import { explainsLabel, sizeWords, unitOf, wayOf, wayWords } from "../core/ways.js";
import { rankAt } from "../drawing/charts.js";
import { say, show } from "../drawing/dom.js";
import { aimedPair, grouped, openSums, productText, sumsAreOpen } from "./arithmetic.js";
import { prefixName } from "./readouts.js";
import { isMap, isMean, overlayNow } from "./shown.js";

const LABEL_REST = 250; // ms after which the label can be clicked; before, the cursor passes beneath it
const LABEL_HEIGHT = 48; // CSS pixels that the label needs below its patch

const LINE = `
  <svg preserveAspectRatio="none" aria-hidden="true">
    <line class="halo"/><line class="wire"/><rect width="1" height="1"/></svg>
  <button class="pair-label" title="Show the arithmetic of this weight (key a)"><b></b><span></span></button>`;

// What a map's value of one patch is called.
function pairWords(view, value) {
  const cases = explainsLabel(view) ? [value < 0 ? "against" : "for"] : [];
  const size = explainsLabel(view) ? Math.abs(value) : value;
  return wayWords(wayOf(view), "pair", cases, { value: sizeWords(size, unitOf(view)), part: value + 1 });
}

export function bindLine(lens) {
  const { choice, page } = lens;
  const box = document.createElement("div");
  box.className = "lockline";
  box.innerHTML = LINE;
  box.hidden = true;
  page.refs.pictureBox.append(box);
  const label = box.querySelector("button");
  page.line = {
    box,
    label,
    drawing: box.querySelector("svg"),
    lines: [...box.querySelectorAll("line")],
    cell: box.querySelector("rect"),
    given: label.querySelector("b"),
    more: label.querySelector("span"),
    resting: 0, // a timer
  };
  label.addEventListener("click", () => openSums(choice, lens.frame, page));
  label.addEventListener("pointerleave", (event) => {
    if (event.relatedTarget !== page.refs.picture && !box.contains(event.relatedTarget)) letGo(choice, page);
  });
  bindCurve(lens);
}

// The cursor has left the picture for the label, or the arithmetic is open and to be read: the pair stays.
export const holdsLine = (choice, page, event) =>
  choice.view.locked && (page.line.box.contains(event.relatedTarget) || sumsAreOpen(page));

function letGo(choice, page) {
  if (sumsAreOpen(page)) return;
  choice.aim = choice.hover = -1;
  page.schedule(true);
}

// ------------------------------------------------------------------------------------------------- sorted weights

function bindCurve({ choice, data, frame, page }) {
  const { curve } = page.refs;
  curve.addEventListener("pointermove", (event) => {
    const { view } = choice,
      { main } = data,
      { shown } = frame;
    if (!main || !shown.answers?.ready[view.head]) return;
    const { tokens } = shown.pack;
    const box = curve.getBoundingClientRect();
    const rank = rankAt(((event.clientX - box.left) / box.width) * curve.width, curve.width, tokens, frame.unit);
    choice.aim = rank < 0 ? -1 : tokenOfRank(shown.answers.weights, view.head * tokens, tokens, rank);
    page.schedule(true);
  });
  curve.addEventListener("pointerleave", () => letGo(choice, page));
}

function tokenOfRank(weights, at, tokens, rank) {
  const order = Array.from({ length: tokens }, (_, j) => j).sort((a, b) => weights[at + b] - weights[at + a]);
  return order[rank];
}

// ------------------------------------------------------------------------------------------------------- the line

export function paintLine(lens) {
  const { choice, frame, page } = lens;
  const { aim } = choice,
    { shown } = frame,
    { line } = page;
  const pair = aimedPair(choice, frame);
  show(line.box, Boolean(pair));
  if (!pair) return;
  const { rows, columns, prefixCount } = shown.pack;
  const from = shown.token - prefixCount,
    to = aim - prefixCount;
  line.drawing.setAttribute("viewBox", `0 0 ${columns} ${rows}`);
  show(line.drawing, to >= 0); // a prefix token has no place in the picture
  for (const wire of line.lines) {
    wire.style.display = from >= 0 && from !== to ? "" : "none";
    wire.setAttribute("x1", (Math.max(0, from) % columns) + 0.5);
    wire.setAttribute("y1", Math.floor(Math.max(0, from) / columns) + 0.5);
    wire.setAttribute("x2", (to % columns) + 0.5);
    wire.setAttribute("y2", Math.floor(to / columns) + 0.5);
  }
  line.cell.setAttribute("x", to % columns);
  line.cell.setAttribute("y", Math.floor(to / columns));
  placeLabel(frame, page, from, to >= 0 ? to : from);
  writeLabel(lens, pair);
}

// Beside its patch, on the side away from the locked one where there is room.
function placeLabel({ shown, pictureHeight }, { line }, from, to) {
  const { rows, columns } = shown.pack;
  const row = Math.floor(Math.max(0, to) / columns);
  const roomBelow = ((rows - row - 1) / rows) * pictureHeight >= LABEL_HEIGHT;
  const roomAbove = (row / rows) * pictureHeight >= LABEL_HEIGHT;
  const away = from < 0 || row >= Math.floor(from / columns);
  const { style, classList } = line.label;
  classList.toggle("above", away ? !roomBelow && roomAbove : roomAbove);
  style.setProperty("--x", `${(100 * ((Math.max(0, to) % columns) + 0.5)) / columns}%`);
  style.setProperty("--top", `${(100 * row) / rows}%`);
  style.setProperty("--bottom", `${(100 * (row + 1)) / rows}%`);
  classList.remove("resting");
  clearTimeout(line.resting);
  line.resting = setTimeout(() => classList.add("resting"), LABEL_REST);
}

function writeLabel({ choice, data, frame, page: { line } }, pair) {
  const { view, aim } = choice,
    { shown } = frame;
  const { pack } = shown;
  const overlay = overlayNow(choice, data, frame);
  const mean = isMean(choice, frame); // it has no query and no key, and so no arithmetic
  line.label.disabled = isMap(view.what) || mean;
  if (isMap(view.what)) {
    const value = overlay?.values[overlay.values.length === pack.patches ? aim - pack.prefixCount : aim];
    const rank =
      overlay && !explainsLabel(view)
        ? `rank ${grouped(rankOf(overlay.values, aim))} of ${grouped(overlay.values.length)}`
        : "";
    say(line.given, overlay ? pairWords(view, value) : "");
    say(line.more, rank);
    return;
  }
  const whom = aim === shown.token ? "itself" : aim < pack.prefixCount ? prefixName(pack.prefix[aim]) : "this patch";
  const verb = view.direction === "row" ? `gives ${whom}` : aim === shown.token ? "gives itself" : `gets from ${whom}`;
  say(line.given, `${verb} ${percent(pair.weight)}`);
  const rank = `rank ${grouped(pair.rank)} of ${grouped(pair.of)}`;
  say(line.more, mean ? rank : `${rank} · ${productText(pack, shown.scale)} = ${shortNumber(pair.score)}`);
}
