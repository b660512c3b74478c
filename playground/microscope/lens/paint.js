// Paints one frame from the choices and the position of the cursor.

import {
  answerLayer,
  comparedDomain,
  domainOfBoth,
  pictureDomain,
  prepareColumns,
  sharedDomain,
} from "../core/answers.js";
import { ownDomain, ROLES } from "../core/colours.js";
import { effectiveNumber, KERNEL_WEIGHTS, largestIndex, sortInto } from "../core/core.js";
import { clippedPatches, domainAround } from "../core/light.js";
import { bareShare, shortNumber } from "../core/numbers.js";
import { outlineOf } from "../core/places.js";
import { shownPlace } from "../core/says.js";
import { dialToScale, sameLayer, scaleToDial } from "../core/view.js";
import { asks, FIRST_WAY, isSigned, sizeWords, unitOf, WAYS, wayOf } from "../core/ways.js";
import { drawColourBar, drawCurve } from "../drawing/charts.js";
import { setText, setVisible } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { printHeat, printNothing, softOf } from "../drawing/light.js";
import { paintLine, paintSums, rankOfAim } from "./arithmetic.js";
import { comparesNumbers, paintNearness, paintOther, paintTwin, paintWall, rowBeside } from "./beside.js";
import { printBehind } from "./curtain.js";
import { explainedWaitingWords, mapWaitingWords, paintExplained } from "./explained.js";
import { isExplained, otherMap, printComponents } from "./features.js";
import { photoOf, prepareThumb } from "./layout.js";
import { areNumbersSeen, writeNumbers, writeTitles } from "./readouts.js";
import { writeRows } from "./rows.js";
import { paintScissors } from "./scissors.js";
import { habitOf, isMap, isRowOpen, overlayNow, resolve } from "./state.js";
import { rowOnView } from "./told.js";
import { paintWallHead } from "./wall.js";

const KERNEL_SORTED = KERNEL_WEIGHTS.toSorted().reverse();
const COUNT_WORDS = { row: "tokens it looks at:", column: "what this patch gets, on average 1:" };
const COLUMNS_SLICE = 9; // ms per frame for the sums that columns need

// What the first frame needs, a part in each of the frames before it, so that a slow phone answers in between.
const FIRST_PARTS = [
  (lens) => photoOf(lens, lens.main),
  (lens) => answerHeads(lens),
  (lens) => answerHeads(lens) && paintMain(lens),
];

// Makes the next part of the first frame; false: all are made.
export function prepareFirst(lens) {
  const part = FIRST_PARTS[lens.frame.prepared];
  if (!part) return false;
  lens.frame.prepared++;
  part(lens);
  return true;
}

// The numbers of the row or column on view; false: their layer has not come.
function answerHeads(lens) {
  const { page, view } = lens;
  const shown = resolve(lens);
  const onlyHead = page.see?.on ? view.head : null; // See shows one head
  if (!answerLayer(shown.answers, view.layer, shown.token, shown.scale, shown.what, view.direction, onlyHead))
    return false;
  if (onlyHead === null || !shown.domain)
    shown.domain = sharedDomain(shown.answers, view.layer, shown.scale, shown.what, view.ceiling);
  return true;
}

export function paintFrame(lens) {
  const { choice, page, view } = lens;
  if (!answerHeads(lens)) {
    paintWaiting(lens, `Layer ${view.layer} is on its way.`);
    paintLine(lens);
    paintScissors(lens);
    return;
  }
  paintMain(lens);
  if (isRowOpen(page, "head")) paintHeads(lens);
  const isBesideSeen = page.see?.on || choice.presenting || isRowOpen(page, "beside");
  if (view.beside === "convolution") isBesideSeen && paintTwin(lens);
  else if (view.beside === "wall") paintWall(lens);
  else if (view.beside === "compare" && isBesideSeen) paintOther(lens);
  paintAim(lens);
  paintExplained(lens);
  writeNumbers(lens);
  if (!page.see?.on) {
    writeTitles(lens);
    writeRows(lens);
  }
  if (view.beside === "filter") paintNearness(lens);
  if (view.beside === "wall") paintWallHead(lens);
  page.see?.paint();
  page.root.classList.toggle("map", isMap(view.what));
}

// Paints the parts that follow the cursor while a patch is locked.
export function paintAim(lens) {
  paintCurve(lens);
  paintLine(lens);
  paintScissors(lens);
  paintSums(lens);
}

function paintWaiting({ frame: { photo }, refs }, text) {
  if (photo) refs.picture.getContext("2d").drawImage(softOf(photo), 0, 0);
  setText(refs.waiting, text);
  setVisible(refs.waiting, true);
}

// -------------------------------------------------------------------------------------------------- the large picture

function paintMain(lens) {
  const { frame, view, main, other, shown, refs } = lens;
  const { pack, answers, token } = shown;
  const start = view.head * pack.tokens;
  const overlay = overlayNow(lens);
  const way = wayOf(view);
  photoOf(lens, main);

  let waitingWords = "";
  shown.mainDomain = shown.domain;
  if (isMap(view.what) && !overlay)
    waitingWords = isExplained(view) ? explainedWaitingWords(lens) : mapWaitingWords(lens);
  else if (overlay && !overlay.pixels) {
    const start = overlay.values.length === pack.patches ? 0 : pack.prefixCount;
    const endIndex = start + pack.patches;
    if (isSigned(view)) shown.mainDomain = domainAround(overlay.values, start, endIndex, overlay.floor);
    else if (comparesNumbers(lens))
      shown.mainDomain = domainOfBoth([
        { values: overlay.values, from: start, to: endIndex },
        patchRange(other, otherMap(lens).values),
      ]);
    else shown.mainDomain = atLeastExposure(overlay.floor, ownDomain(overlay.values, start, endIndex, way.spread));
  } else if (!overlay && !answers.ready[view.head] && !way.raw)
    waitingWords = `Adding up all rows… ${Math.round(100 * frame.columnsDone)} %`;
  else if (!overlay) shown.mainDomain = domainNow(lens, start);
  printMap(lens, frame.print);
  shown.peak = largestIndex(answers.weights, start, start + pack.tokens) - start;
  shown.mark = overlay?.from ? -1 : token - pack.prefixCount; // the query is a patch of the other picture
  setTag(lens, Boolean(waitingWords || overlay));
  const { rows, columns } = pack;
  const behindCanvas = waitingWords || (overlay && !way.resembles) ? null : printBehind(lens);
  const isColumn = view.direction === "column" && !overlay;
  const mark = asks(view) || !isExplained(view) ? shown.mark : -1; // a map that explains a label marks no patch
  frame.picture = Object.assign(frame.picture, { rows, columns, mark, isKey: isColumn, behind: behindCanvas });
  setClipped(lens, Boolean(waitingWords || overlay));
  const { picture } = refs;
  drawPicture(picture.getContext("2d"), picture.width, picture.height, frame.print.canvas, frame.picture, frame.unit);
  setText(refs.waiting, waitingWords);
  setVisible(refs.waiting, Boolean(waitingWords));
  paintColourBar(lens);
}

// Prints the map, or the row of the head on view.
export function printMap(lens, print) {
  const { view, shown } = lens;
  const { pack, answers, mainDomain } = shown;
  const overlay = overlayNow(lens);
  const isMissing = isMap(view.what) ? !overlay : !answers.ready[view.head] && !wayOf(view).raw;
  if (isMissing) printNothing(print);
  else if (overlay?.pixels) printComponents(print, overlay.pixels, pack);
  else {
    const values = overlay?.values ?? answers.values;
    const start = (overlay ? 0 : view.head * pack.tokens) + (values.length === pack.patches ? 0 : pack.prefixCount);
    printHeat(print, values, start, pack.rows, pack.columns, mainDomain);
  }
  return print;
}

// The domain with an exposure of at least `floor`, so that the map of a change without effect is not bright.
const atLeastExposure = (floor, domain) => (floor > domain.high ? { ...domain, high: floor } : domain);

const patchRange = ({ pack }, values) => ({ values, from: pack.prefixCount, to: pack.tokens });

// Compared pictures share one exposure.
function domainNow(lens, start) {
  const { view, other, shown } = lens;
  const { pack, answers, what } = shown;
  const otherValues = view.beside === "compare" && other ? rowBeside(lens).values : null;
  if (!otherValues) return pictureDomain(answers.values, start, pack, what, view.ceiling);
  const mainValues = { values: answers.values, from: start + pack.prefixCount, to: start + pack.tokens };
  return comparedDomain([mainValues, patchRange(other, otherValues)], what, view.ceiling);
}

// Sets picture.tag: of a row of weights the share of a place, outlined; else the number beside the brightest patch.
function setTag(lens, isHidden) {
  const { frame, view, shown } = lens;
  const { picture } = frame;
  const { pack, answers, what } = shown;
  const start = view.head * pack.tokens;
  picture.tag = null;
  shown.row = isHidden ? null : rowOnView(lens);
  if (isHidden || (!answers.ready[view.head] && !WAYS[what].raw)) return;
  const firstPatch = start + pack.prefixCount;
  const place = shown.row && shownPlace(shown.row.told);
  const taggedIndex = place
    ? firstPatch + place.brightest
    : largestIndex(answers.values, firstPatch, start + pack.tokens);
  // An even row has no place worth naming.
  if (shown.row ? shown.row.even : WAYS[what].rows && answers.weights[taggedIndex] < 1.5 / pack.tokens) return;
  const tag = frame.tag;
  tag.patch = taggedIndex - firstPatch;
  tag.text = sizeWords(place?.share ?? answers.values[taggedIndex], WAYS[what].unit);
  tag.outline = place ? outlineOf(place.patches, pack) : null;
  tag.own = place?.own ?? false;
  tag.colour = view.direction === "row" ? ROLES.key : ROLES.query;
  picture.tag = tag;
}

// Sets picture.clipped, the numbers written on patches whose value exceeds the exposure: none on the marked patch, on
// the patch of picture.tag, and where a place is outlined, because its share is written beside it.
function setClipped({ view, shown, frame: { picture } }, isHidden) {
  const { pack, answers, what } = shown;
  picture.clipped = [];
  shown.clipped = 0;
  if (isHidden || WAYS[what].spread || !answers.ready[view.head]) return;
  const start = view.head * pack.tokens + pack.prefixCount,
    end = start + pack.patches;
  const patches = clippedPatches(answers.values, start, end, shown.mainDomain.high);
  shown.clipped = patches.length;
  if (picture.tag?.outline) return;
  const format = WAYS[what].unit === "share" ? bareShare : shortNumber;
  picture.clipped = patches
    .filter((patch) => patch !== picture.tag?.patch && patch !== shown.mark)
    .map((patch) => ({ patch, text: format(answers.values[start + patch]) }));
}

function paintColourBar(lens) {
  const { frame, view, shown, refs, see } = lens;
  const way = wayOf(view);
  const domain = shown.mainDomain;
  const isLoading = isMap(view.what) && !overlayNow(lens);
  refs.colourBar.style.visibility = way.coloured || isLoading ? "hidden" : "";
  const isShare = unitOf(view) === "share";
  const key = `${domain.low} ${domain.high} ${isShare} ${view.what}`;
  if (frame.barKey === key || !refs.colourBar.width) return;
  frame.bar = { ...domain, unit: isShare ? "percent" : "number", open: way.exposed === "brightest" && domain.high < 1 };
  if (see?.on) return; // See's colour bar has no numbers
  frame.barKey = key;
  drawColourBar(refs.colourBar, frame.ramp, frame.bar, frame.unit, frame.colours);
}

// ----------------------------------------------------------------------------------------------------- all the heads

function paintHeads(lens) {
  const { frame, view, shown } = lens;
  const { thumbs } = lens.page;
  const { pack, answers } = shown;
  const { rows, columns } = pack;
  for (let head = 0; head < thumbs.length; head++) {
    const thumb = thumbs[head];
    const start = head * pack.tokens;
    prepareThumb(frame, thumb);
    if (!answers.ready[head] && !WAYS[shown.what].raw) printNothing(thumb.print);
    else printHeat(thumb.print, answers.values, start + pack.prefixCount, rows, columns, shown.domain);
    const shownNumber = view.direction === "row" ? effectiveNumber(answers.entropies[head]) : answers.totals[head];
    const text = !answers.ready[head] ? "…" : shownNumber >= 99.5 ? shownNumber.toFixed(0) : shownNumber.toFixed(1);
    nameHead(lens, thumb, head, text);
  }
}

const HABIT_NOTE = "This is measured on average over the patches of this picture.";

// Writes a head's average behaviour, if known, and its number below its thumbnail.
function nameHead(lens, thumb, head, number) {
  const { choice, frame } = lens;
  const habit = habitOf(lens, choice.view.layer, head);
  const text = habit ? `${habit.short} ${number}` : number;
  if (thumb.saidNumber === number && thumb.number.saidText === text) return;
  thumb.saidNumber = number;
  setText(thumb.number, text);
  thumb.button.setAttribute("aria-label", `head ${frame.shown.pack.headNumbers[head]} ${text}`);
  thumb.button.ariaDescription = `${habit ? `${habit.label}, ` : ""}${COUNT_WORDS[choice.view.direction]} ${number}`;
  const name = [`head ${frame.shown.pack.headNumbers[head]}`, habit?.label].filter(Boolean).join(": ");
  thumb.button.title = habit?.means ? "" : name;
  thumb.button.dataset.explains = habit?.means ? `${name}. ${habit.means} ${HABIT_NOTE}` : "";
  thumb.number.classList.toggle("habit", Boolean(habit));
  if (habit) thumb.number.style.setProperty("--habit", habit.colour);
}

// ------------------------------------------------------------------------------------------------------ sorted weights

export function paintCurve(lens) {
  const { frame, page, view, shown, refs } = lens;
  const { pack, answers } = shown;
  if (frame.sorted.length !== pack.tokens) frame.sorted = new Float32Array(pack.tokens);
  sortInto(frame.sorted, answers.weights, view.head * pack.tokens, pack.tokens);
  if (!refs.curve.width || !areNumbersSeen(page)) return;
  const isRowWay = wayOf(view).rows;
  const start = view.head * pack.tokens;
  const domain = isRowWay ? shown.mainDomain : pictureDomain(answers.weights, start, pack, FIRST_WAY, view.ceiling);
  const { sorted, unit, colours } = frame;
  const ramp = frame.ramp;
  drawCurve(refs.curve, sorted, pack.tokens, KERNEL_SORTED, ramp, domain, unit, colours, rankOfAim(lens));
}

// Computes a part of the normalisers that columns need; true while more are needed.
export function workOnColumns(lens) {
  const { frame, view, other, main } = lens;
  const shown = resolve(lens);
  if (view.direction !== "column" || shown.layerMissing) return false;
  frame.columnsDone = prepareColumns(shown.answers, [view.layer], view.head, shown.scale, COLUMNS_SLICE);
  if (frame.columnsDone < 1) return true;
  const { pack, answers } = shown;
  const needsMore = (...columns) => prepareColumns(...columns, COLUMNS_SLICE) < 1;
  if (view.beside === "wall" && needsMore(answers, [...pack.stored.keys()], view.head, shown.scale)) return true;
  if (view.beside !== "compare" || !other) return false;
  const scale = dialToScale(scaleToDial(shown.scale, main.pack.scale), other.pack.scale);
  const head = Math.min(view.head, other.pack.heads - 1);
  return needsMore(other.answers, [sameLayer(view.layer, main.pack, other.pack)], head, scale);
}
