// The second picture, without any network: what a filter that knows only colours and places lights from the same patch.

import { ownExposure } from "../core/answers.js";
import { ROLES } from "../core/colours.js";
import { largestIndex } from "../core/core.js";
import { clippedPatches } from "../core/light.js";
import { inCommon, isMuch, meanColours, nearnessInto } from "../core/nearness.js";
import { bareShare, percent } from "../core/numbers.js";
import { nearnessSentence, placeName, spread } from "../core/sentence.js";
import { FIRST_WAY, wayOf } from "../core/ways.js";
import { makeCanvas } from "../drawing/canvas.js";
import { drawColourBar } from "../drawing/charts.js";
import { say, show } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { makePhoto, makePrint, printNothing } from "../drawing/light.js";
import { isMean } from "./meanheads.js";
import { printPatches, rampOf } from "./prints.js";
import { brightestFrom, tokenName } from "./readouts.js";

const PIXELS = 8; // along each side of a patch, for its mean colour
export const FILTER_TITLE = "no network: colour and nearness alone";

// What stood there before comes back.
export function toggleNearness(lens) {
  const before = lens.other ? "compare" : "convolution";
  lens.choose({ beside: lens.view.beside === "filter" ? before : "filter" });
}

// (patches,) what the filter lights from this patch; null where there is no picture to read.
function nearnessOf(lens, patch) {
  const { nearness, main } = lens;
  const { bitmap } = main.picture;
  if (!bitmap || patch < 0) return null;
  const { rows, columns } = main.pack;
  const key = `${main.picture.id} ${rows} ${columns}`;
  if (nearness.key !== key) {
    const canvas = makeCanvas(columns * PIXELS, rows * PIXELS);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.imageSmoothingQuality = "high";
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const colours = meanColours(data, canvas.width, canvas.height, rows, columns);
    Object.assign(nearness, { key, colours, row: new Float32Array(rows * columns), patch: -1 });
  }
  if (nearness.patch !== patch) nearnessInto(nearness.row, 0, nearness.colours, rows, columns, patch);
  nearness.patch = patch;
  return nearness.row;
}

// ---------------------------------------------------------------------------------------------------- the picture

export function paintNearness(lens) {
  const { refs, main, nearness } = lens;
  const { twin } = refs;
  const image = main.picture.bitmap;
  const { print } = nearness;
  if (!print || print.photo.image !== image || print.canvas.width !== twin.width || print.canvas.height !== twin.height)
    nearness.print = makePrint(makePhoto(image, twin.width, twin.height));
  const drawn = nearnessPicture(lens);
  drawNearness(lens, twin.getContext("2d"), twin.width, twin.height, nearness.print, drawn, lens.unit);
  say(refs.twinBadge, drawn.row ? FILTER_TITLE : whyNot(lens));
  show(refs.twinBadge, true);
  writeNearness(lens, drawn);
}

// The same in a file, at its size.
export const drawNearnessAt = (lens, context, width, height, photo, unit) =>
  drawNearness(lens, context, width, height, makePrint(photo), nearnessPicture(lens), unit);

function drawNearness(lens, context, width, height, print, { row, domain, picture }, unit) {
  if (row) printPatches(lens, print, row, 0, lens.shown.pack, domain);
  else printNothing(print);
  drawPicture(context, width, height, print.canvas, picture, unit);
}

// {row, domain, picture: see drawPicture}: the row that is drawn, and all that is said of it comes from it.
function nearnessPicture(lens) {
  const { shown, view } = lens;
  const { mark } = shown;
  const { rows, columns, patches } = shown.pack;
  const picture = { rows, columns, grid: view.grid, mark, tag: null, clipped: [] };
  const row = nearnessOf(lens, mark);
  if (!row) return { row, domain: null, picture };
  const domain = ownExposure(row, 0, { prefixCount: 0, tokens: patches }, FIRST_WAY, view.ceiling, view.log);
  const best = largestIndex(row, 0, patches);
  picture.tag = { patch: best, text: percent(row[best]), colour: ROLES.key };
  picture.clipped = clippedPatches(row, 0, patches, domain.high)
    .filter((patch) => patch !== best)
    .map((patch) => ({ patch, text: bareShare(row[patch]) }));
  return { row, domain, picture };
}

const whyNot = ({ main, shown }) =>
  main.picture.bitmap
    ? `A filter of colours has no ${tokenName(shown.token, shown.pack)} token.`
    : "The picture could not be read: a filter needs its colours.";

// ------------------------------------------------------------------------------------------- its legend and sentence

function writeNearness(lens, { row, domain }) {
  const { refs, shown, view } = lens;
  refs.filterBar.style.visibility = row ? "" : "hidden";
  if (!row) {
    say(refs.filterExposed, "");
    say(refs.filterWords, "");
    return;
  }
  const { rows, columns, patches } = shown.pack;
  const seen = spread(row, 0, rows, columns, shown.mark, view.k);
  const above = clippedPatches(row, 0, patches, domain.high).length;
  say(refs.filterExposed, brightestFrom(domain.high, above, seen.value, FIRST_WAY));
  const sentence = nearnessSentence({ k: view.k, seen, place: placeName(seen.best, columns) });
  say(refs.filterWords, [sentence, sharedWords(lens, row)].join(" ").replaceAll(" %", "\u00a0%")); // on one line
  const { filterBar: bar } = refs;
  if (!bar.width) return;
  const legend = { ...domain, unit: "percent", open: domain.high < 1 };
  drawColourBar(bar.getContext("2d"), bar.width, bar.height, rampOf(lens), legend, lens.unit, lens.colours);
}

// How much of it the row on show does as well. Only a row of weights can be compared.
function sharedWords(lens, filtered) {
  const { shown, view } = lens;
  if (view.direction !== "row" || !wayOf(view).rows || !shown.answers.ready[view.head]) return "";
  const share = inCommon(...rowOnShow(lens), filtered, shown.mark);
  const how = isMuch(share) ? "much the same" : "another";
  const head = isMean(lens) ? "the mean of all heads" : `head ${shown.pack.headNumbers[view.head]}`;
  return `The row of layer ${view.layer}, ${head} is ${how}: ${percent(share)} in common.`;
}

const rowOnShow = ({ shown: { answers, pack }, view }) => [answers.weights, view.head * pack.tokens + pack.prefixCount];

// What the head's row has in common with the filter's, 0 to 1; null where there is nothing to compare.
export function nearnessShare(lens, patch) {
  const filtered = nearnessOf(lens, patch);
  return filtered && inCommon(...rowOnShow(lens), filtered, patch);
}
