// The second picture: what a convolution reads, all heads of all layers, or another picture to compare with.
import { answerCell, ownExposure } from "../core/answers.js";
import { ownDomain, ROLES } from "../core/colours.js";
import { entropyBits, holds, holdsAll, largestIndex } from "../core/core.js";
import { clippedPatches } from "../core/light.js";
import { inCommon, isMuch, meanColours, nearnessInto } from "../core/nearness.js";
import { bareShare, percent, shortNumber } from "../core/numbers.js";
import { nearnessSentence, placeName, spread } from "../core/sentence.js";
import { dialToScale, sameLayer, sameToken, scaleToDial } from "../core/view.js";
import { FIRST_WAY, WAYS, wayOf } from "../core/ways.js";
import { drawCells, drawColourBar } from "../drawing/charts.js";
import { makeCanvas, makeHeat, say, show } from "../drawing/dom.js";
import { drawConvolution, drawPicture, drawRead, drawWall, printParts, wallCells } from "../drawing/draw.js";
import { heatInto, makePhoto, makePrint, printNothing } from "../drawing/light.js";
import { missingMatrix, otherMap, printComponents } from "./features.js";
import { waySign } from "./film.js";
import { otherSize, photoOf, printPatches, rampOf } from "./layout.js";
import { brightestFrom, titleOf, tokenName, writeOther } from "./readouts.js";
import { depthOf, isMap, isMean, layersAtHand } from "./shown.js";

// The second picture, without any network: what a filter that knows only colours and places lights from the same patch.

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

const CELLS = { low: 0, high: 0.25, log: false }; // 25 %: the middle of the 3 × 3 kernel
const WALL_TEXT = "Layers downwards, heads to the right, all for the same patch. Click one to enlarge it.";
const NOT_READY = 0xff171212; // a thumbnail of the wall that waits for its sums

// ------------------------------------------------------------------------------------------- the convolution

export function paintTwin(lens) {
  const { refs, view, shown, main } = lens;
  const { pack, answers, mark } = shown;
  lens.twin = Object.assign(lens.twin, {
    rows: pack.rows,
    columns: pack.columns,
    grid: view.grid,
    k: view.k,
    depth: lens.see?.on ? 1 : depthOf(view),
    mark,
  });
  const photo = photoOf(lens, main);
  drawConvolution(refs.twin.getContext("2d"), refs.twin.width, refs.twin.height, photo, lens.twin, lens.unit);
  drawRead(refs.nine.getContext("2d"), refs.nine.width, refs.nine.height, photo, lens.twin, lens.unit);

  if (!lens.more) return; // the cells are folded away
  const { k } = view;
  const canvas = refs.kernelCells;
  if (lens.kernelKey !== `${k}`) {
    lens.kernelKey = `${k}`;
    drawCells(
      canvas.getContext("2d"),
      canvas.width,
      canvas.height,
      k,
      (i) => lens.kernel[i],
      lens.ramps.heat,
      CELLS,
      lens.unit,
      lens.colours,
    );
  }
  const readable = mark >= 0 && answers.ready[view.head];
  const values = readable ? (i) => weightAround(lens, i) : () => NaN;
  drawCells(
    refs.rowCells.getContext("2d"),
    canvas.width,
    canvas.height,
    k,
    values,
    lens.ramps.heat,
    CELLS,
    lens.unit,
    lens.colours,
  );
}

// The attention's weight for cell i of the k × k cells around the query; NaN outside the picture.
function weightAround(lens, i) {
  const { pack, answers, mark } = lens.shown;
  const { k, head } = lens.view;
  const row = Math.floor(mark / pack.columns) + Math.floor(i / k) - (k - 1) / 2;
  const column = (mark % pack.columns) + (i % k) - (k - 1) / 2;
  if (row < 0 || column < 0 || row >= pack.rows || column >= pack.columns) return NaN;
  return answers.weights[head * pack.tokens + pack.prefixCount + row * pack.columns + column];
}

// -------------------------------------------------------------------------------------- the wall of all heads

export function paintWall(lens) {
  const { refs, view, shown } = lens;
  const { pack, answers, token } = shown;
  const canvas = refs.wall;
  const width = pack.heads * pack.columns,
    height = pack.layers * pack.rows;
  if (!lens.wallHeat || lens.wallHeat.canvas.width !== width || lens.wallHeat.canvas.height !== height)
    lens.wallHeat = makeHeat(height, width);
  const { wallHeat } = lens;
  // The picture shows through faintly, at one pixel a patch.
  lens.patchPhoto ??= makePhoto(lens.photo.image, pack.columns, pack.rows);

  for (let layer = 0; layer < pack.layers; layer++) {
    if (!holds(pack, layer)) continue;
    for (let head = 0; head < pack.heads; head++) {
      const to = layer * pack.rows * width + head * pack.columns;
      const values = answerCell(answers, layer, head, token, shown.scale, shown.what, view.direction);
      if (!values) {
        for (let r = 0; r < pack.rows; r++)
          wallHeat.pixels.fill(NOT_READY, to + r * width, to + r * width + pack.columns);
        continue;
      }
      const own = view.colours === "own" || WAYS[shown.what].spread;
      const domain = own ? ownExposure(values, 0, pack, shown.what, view.ceiling, view.log) : shown.domain;
      heatInto(wallHeat.pixels, to, width, values, pack.prefixCount, pack.rows, pack.columns, lens.patchPhoto, domain);
    }
  }
  wallHeat.context.putImageData(wallHeat.data, 0, 0);
  say(refs.otherFoot, [WALL_TEXT, waySign(lens)].filter(Boolean).join(" · "));
  lens.wallCells = drawHeads(lens, canvas.getContext("2d"), canvas.width, canvas.height, lens.colours, lens.unit);
}

// All heads as they were last worked out, on the screen or in a file. Gives where the thumbnails lie.
export function drawHeads(lens, context, w, h, colours, unit) {
  const { view, shown, wallHeat } = lens;
  const { pack } = shown;
  const { rows, columns, headNumbers } = pack;
  const cells = wallCells(w, h, layersAtHand(lens), pack.heads, rows, columns, unit);
  const missing = (layer) => !holdsAll(pack, layer);
  const picture = { rows, columns, smooth: view.smooth, layer: view.layer, head: view.head, headNumbers, missing };
  drawWall(context, w, h, cells, wallHeat.canvas, picture, colours, unit);
  return cells;
}

// --------------------------------------------------------------------------------------------- a second picture

export function paintOther(lens) {
  const { refs, view, shown, other } = lens;
  const context = refs.twin.getContext("2d");
  context.clearRect(0, 0, refs.twin.width, refs.twin.height);
  if (!other) return;
  const { pack } = other;
  if (isMap(view.what)) return paintOtherMap(lens, other);
  const { token, layer, head, values } = rowBeside(lens);
  photoOf(lens, other);
  if (values) {
    printPatches(lens, lens.otherPrint, values, pack.prefixCount, pack, shown.mainDomain);
  } else printNothing(lens.otherPrint);
  setOther(lens, other, token - pack.prefixCount, null);
  const row = values && WAYS[shown.what].rows ? values : null;
  writeOther(lens, other, { token, layer, head, row, bits: row ? entropyBits(row, 0, pack.tokens) : NaN });
}

// What the same head says of the same place in the compared picture; values: null where that is not here.
export function rowBeside({ view, shown, main, other }) {
  const { pack, answers } = other;
  const token = sameToken(shown.token, main.pack, pack);
  const layer = sameLayer(view.layer, main.pack, pack);
  const head = Math.min(view.head, pack.heads - 1);
  const scale = dialToScale(scaleToDial(shown.scale, main.pack.scale), pack.scale);
  const values = token >= 0 ? answerCell(answers, layer, head, token, scale, shown.what, view.direction) : null;
  return { token, layer, head, values };
}

// What in the compared picture resembles the patch that asks in the first one; or its own colours and lengths.
function paintOtherMap(lens, other) {
  const { view } = lens;
  const { pack } = other;
  const { prefixCount } = pack;
  const map = otherMap(lens);
  photoOf(lens, other);
  say(lens.refs.twinBadge, titleOf(other));
  show(lens.refs.twinBadge, true);
  let tag = null,
    words = map ? "" : "Features of two models are not to be compared; the rollout is drawn for the first picture.";
  if (!map) printNothing(lens.otherPrint);
  else if (map.parts) {
    printParts(lens.otherPrint, map.parts, pack);
    words = "Both pictures are cut together: the same part has the same colour in both.";
  } else if (map.pixels) {
    printComponents(lens.otherPrint, map.pixels, pack);
    if (map.shared) words = "Both pictures share their components: what is alike has the same colour in both.";
  } else {
    const both = comparesNumbers(lens) && lens.shown.mainDomain; // else of two models: no scale is theirs together
    const domain = both || ownDomain(map.values, prefixCount, pack.tokens, false, true);
    printPatches(lens, lens.otherPrint, map.values, prefixCount, pack, domain);
    const best = largestIndex(map.values, prefixCount, pack.tokens);
    if (map.asked < 0) tag = { patch: best - prefixCount, text: shortNumber(map.values[best]), colour: ROLES.key };
    if (wayOf(view).resembles && map.asked < 0) {
      words = [
        `Most alike here: patch ${tokenName(best, pack)}, cosine ${shortNumber(map.values[best])}.`,
        matchWords(map.match),
      ].join(" ");
    }
  }
  if (missingMatrix(lens)) words = "Its features are on their way.";
  setOther(lens, other, map?.asked >= 0 ? map.asked - prefixCount : -1, tag);
  say(lens.refs.otherFoot, words);
}

// Whether both maps have one scale, so that 0.48 has the same colour in both.
export const comparesNumbers = (lens) =>
  lens.view.beside === "compare" && wayOf(lens.view).needs === "features" && Boolean(otherMap(lens));

// Whether the two belong together, or one of them resembles a third one more.
const matchWords = (match) =>
  match === null ? "" : match < 0 ? "No match: that patch resembles another one here more." : "They match, both ways.";

// Draws the compared picture in its frame.
function setOther(lens, other, mark, tag) {
  const { refs, view } = lens;
  const { pack } = other;
  const context = refs.twin.getContext("2d");
  const picture = { rows: pack.rows, columns: pack.columns, grid: view.grid, mark, tag };
  const size = otherSize(lens, other);
  const x = Math.round((refs.twin.width - size.width) / 2),
    y = Math.round((refs.twin.height - size.height) / 2);
  lens.otherBox = { x, y, ...size };
  const sheet = (lens.otherSheet ??= makeCanvas(size.width, size.height));
  if (sheet.width !== size.width || sheet.height !== size.height) Object.assign(sheet, size);
  drawPicture(sheet.getContext("2d"), size.width, size.height, lens.otherPrint.canvas, picture, lens.unit);
  context.drawImage(sheet, x, y);
}
