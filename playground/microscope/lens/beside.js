// The second picture: the patches that a convolution reads, all heads of all layers, or another picture to compare
// with.
import { answerCell, pictureDomain } from "../core/answers.js";
import { ownDomain, ROLES } from "../core/colours.js";
import { entropyBits, holds, holdsAll, largestIndex } from "../core/core.js";
import { isNearlySame, meanColours, nearnessInto, overlapWithFilter } from "../core/kinds.js";
import { BARE_TONE, clippedPatches } from "../core/light.js";
import { bareShare, percent, shortNumber } from "../core/numbers.js";
import { nearnessSentence, placeName, summaryOf } from "../core/sentence.js";
import { dialToScale, sameLayer, sameToken, scaleToDial } from "../core/view.js";
import { FIRST_WAY, WAYS, wayOf } from "../core/ways.js";
import { drawColourBar } from "../drawing/charts.js";
import { makeCanvas, makeHeat, setText, setVisible } from "../drawing/dom.js";
import { drawConvolution, drawPicture, drawReadPatches, drawWall, wallCells } from "../drawing/draw.js";
import { heatInto, makePhoto, makePrint, printHeat, printNothing } from "../drawing/light.js";
import { loadingWords } from "./curtain.js";
import { missingMatrix, otherMap, printComponents } from "./features.js";
import { photoOf } from "./layout.js";
import { brightestText, titleOf, tokenName, writeOther } from "./readouts.js";
import { isMap, layersAtHand } from "./state.js";

// The second picture without a network: the filter by colour and place, for the same patch.

const PIXELS_PER_SIDE = 8; // pixels along each side of a patch, for its mean colour
const FILTER_TITLE = "no network: colour and nearness alone";

// Opens the filter, or closes it and shows the former second picture.
export function toggleNearness({ choice, data, page }) {
  const formerSide = data.other ? "compare" : "convolution";
  page.choose({ beside: choice.view.beside === "filter" ? formerSide : "filter" });
}

// The filter's row for this patch, one number for each patch; null if the picture's pixels can't be read.
function nearnessOf({ main, frame: { nearness } }, patch) {
  const { bitmap } = main.picture;
  if (!bitmap || patch < 0) return null;
  const { rows, columns } = main.pack;
  const pictureKey = `${main.picture.id} ${rows} ${columns}`;
  if (nearness.key !== pictureKey) {
    const canvas = makeCanvas(columns * PIXELS_PER_SIDE, rows * PIXELS_PER_SIDE);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.imageSmoothingQuality = "high";
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = meanColours(pixels, canvas.width, canvas.height, rows, columns);
    Object.assign(nearness, { key: pictureKey, colours, row: new Float32Array(rows * columns), patch: -1 });
  }
  if (nearness.patch !== patch) nearnessInto(nearness.row, 0, nearness.colours, rows, columns, patch);
  nearness.patch = patch;
  return nearness.row;
}

export function paintNearness(lens) {
  const { frame, main, refs } = lens;
  const { nearness } = frame;
  const { twin: canvas } = refs;
  const image = main.picture.bitmap;
  const { print } = nearness;
  const { width, height } = canvas;
  if (print?.photo.image !== image || print.canvas.width !== width || print.canvas.height !== height)
    nearness.print = makePrint(makePhoto(image, width, height));
  const filter = nearnessPicture(lens);
  if (filter.row)
    printHeat(nearness.print, filter.row, 0, frame.shown.pack.rows, frame.shown.pack.columns, filter.domain);
  else printNothing(nearness.print);
  drawPicture(canvas.getContext("2d"), width, height, nearness.print.canvas, filter.picture, frame.unit);
  setText(refs.twinBadge, filter.row ? FILTER_TITLE : reasonWithoutRow(lens));
  setVisible(refs.twinBadge, true);
  writeNearness(lens, filter);
}

// Returns {row: the filter's row, domain: the range of values for the row's colours, picture: `shown` of drawPicture}.
function nearnessPicture(lens) {
  const { view, shown } = lens;
  const { mark } = shown;
  const { rows, columns, patches } = shown.pack;
  const picture = { rows, columns, mark, tag: null, clipped: [] };
  const row = nearnessOf(lens, mark);
  if (!row) return { row, domain: null, picture };
  const domain = pictureDomain(row, 0, { prefixCount: 0, tokens: patches }, FIRST_WAY, view.ceiling);
  const brightest = largestIndex(row, 0, patches);
  picture.tag = { patch: brightest, text: percent(row[brightest]), colour: ROLES.key };
  picture.clipped = clippedPatches(row, 0, patches, domain.high)
    .filter((patch) => patch !== brightest)
    .map((patch) => ({ patch, text: bareShare(row[patch]) }));
  return { row, domain, picture };
}

const reasonWithoutRow = ({ main, shown }) =>
  main.picture.bitmap
    ? `A filter of colours has no ${tokenName(shown.token, shown.pack)} token.`
    : "The picture could not be read: a filter needs its colours.";

// ------------------------------------------------------------------------------ the filter's legend and sentence

function writeNearness(lens, { row, domain }) {
  const { frame, shown, refs } = lens;
  refs.filterBar.style.visibility = row ? "" : "hidden";
  if (!row) {
    setText(refs.filterExposed, "");
    setText(refs.filterWords, "");
    return;
  }
  const { rows, columns, patches } = shown.pack;
  const summary = summaryOf(row, 0, rows, columns, shown.mark, 3);
  const clippedCount = clippedPatches(row, 0, patches, domain.high).length;
  setText(refs.filterExposed, brightestText(domain.high, clippedCount, summary.value, FIRST_WAY));
  const sentence = nearnessSentence({ k: 3, summary, place: placeName(summary.best, columns) });
  const sentences = [sentence, overlapWords(lens, row)].join(" ");
  setText(refs.filterWords, sentences.replaceAll(" %", "\u00a0%")); // keeps each "%" on the line of its number
  const { filterBar: barCanvas } = refs;
  if (!barCanvas.width) return;
  const legend = { ...domain, unit: "percent", open: domain.high < 1 };
  drawColourBar(barCanvas, frame.ramp, legend, frame.unit, frame.colours);
}

// The sentence about the overlap of the head's row with the filter's row; "" for maps that are not weights.
function overlapWords(lens, filterRow) {
  const { view, shown } = lens;
  if (view.direction !== "row" || !wayOf(view).rows || !shown.answers.ready[view.head]) return "";
  const share = overlapWithFilter(...rowOnShow(lens), filterRow, shown.mark);
  const comparison = isNearlySame(share) ? "much the same" : "another";
  const head = shown.pack.headNumbers[view.head];
  return `The row of layer ${view.layer}, head ${head} is ${comparison}: ${percent(share)} in common.`;
}

const rowOnShow = ({ view, shown: { answers, pack } }) => [answers.weights, view.head * pack.tokens + pack.prefixCount];

// The overlap of the head's row with the filter's row, 0 to 1; null if one of the rows is missing.
export function nearnessOverlap(lens, patch) {
  const filterRow = nearnessOf(lens, patch);
  return filterRow && overlapWithFilter(...rowOnShow(lens), filterRow, patch);
}

const NOT_READY_COLOUR = 0xff171212; // colour of a thumbnail whose column can't be computed yet

// ------------------------------------------------------------------------------------------- the convolution

export function paintTwin(lens) {
  const { frame, main, shown, refs } = lens;
  const { pack, mark } = shown;
  Object.assign(frame.twin, { rows: pack.rows, columns: pack.columns, mark });
  const photo = photoOf(lens, main);
  drawConvolution(refs.twin.getContext("2d"), refs.twin.width, refs.twin.height, photo, frame.twin, frame.unit);
  drawReadPatches(refs.nine.getContext("2d"), refs.nine.width, refs.nine.height, photo, frame.twin, frame.unit);
}

// -------------------------------------------------------------------------------------- the wall of all heads

export function paintWall(lens) {
  const { data, frame, view, shown, refs } = lens;
  const { answers, pack, token } = shown;
  const canvas = refs.wall;
  const width = pack.heads * pack.columns,
    height = pack.layers * pack.rows;
  if (!frame.wallHeat || frame.wallHeat.canvas.width !== width || frame.wallHeat.canvas.height !== height)
    frame.wallHeat = makeHeat(height, width);
  const { wallHeat } = frame;
  const beneath = bareGround(pack);

  for (let layer = 0; layer < pack.layers; layer++) {
    if (!holds(pack, layer)) continue;
    for (let head = 0; head < pack.heads; head++) {
      const start = layer * pack.rows * width + head * pack.columns;
      const values = answerCell(answers, layer, head, token, shown.scale, shown.what, view.direction);
      if (!values) {
        for (let r = 0; r < pack.rows; r++)
          wallHeat.pixels.fill(NOT_READY_COLOUR, start + r * width, start + r * width + pack.columns);
        continue;
      }
      const domain = pictureDomain(values, 0, pack, shown.what, view.ceiling);
      heatInto(wallHeat.pixels, start, width, values, pack.prefixCount, pack.rows, pack.columns, beneath, domain);
    }
  }
  wallHeat.context.putImageData(wallHeat.data, 0, 0);
  setText(refs.otherFoot, loadingWords(lens));
  const { width: w, height: h } = canvas;
  const cells = wallCells(w, h, layersAtHand(data), pack.heads, pack.rows, pack.columns, frame.unit);
  const missing = (layer) => !holdsAll(pack, layer);
  const { layer, head } = view;
  const picture = { rows: pack.rows, columns: pack.columns, layer, head, headNumbers: pack.headNumbers, missing };
  drawWall(canvas.getContext("2d"), w, h, cells, wallHeat.canvas, picture, frame.colours, frame.unit);
  frame.wallCells = cells;
}

// What lies under the heat instead of a photograph: black, with one pixel for each patch.
const bareGround = ({ patches }) => ({
  tones: new Uint8Array(patches).fill(BARE_TONE),
  beneath: new Uint32Array(patches).fill(0xff000000),
});

export function paintOther(lens) {
  const { frame, view, other, shown, refs } = lens;
  const context = refs.twin.getContext("2d");
  context.clearRect(0, 0, refs.twin.width, refs.twin.height);
  if (!other) return;
  const { pack } = other;
  if (isMap(view.what)) return paintOtherMap(lens, other);
  const { token, layer, head, values } = rowBeside(lens);
  photoOf(lens, other);
  if (values) {
    printHeat(frame.otherPrint, values, pack.prefixCount, pack.rows, pack.columns, shown.mainDomain);
  } else printNothing(frame.otherPrint);
  drawOther(lens, other, token - pack.prefixCount, null);
  const weightRow = values && WAYS[shown.what].rows ? values : null;
  writeOther(lens, other, {
    token,
    layer,
    head,
    row: weightRow,
    bits: weightRow ? entropyBits(weightRow, 0, pack.tokens) : NaN,
  });
}

// The same head's row for the same place in the compared picture; `values` is null until that picture has arrived.
export function rowBeside({ view, main, other, shown }) {
  const { pack, answers } = other;
  const token = sameToken(shown.token, main.pack, pack);
  const layer = sameLayer(view.layer, main.pack, pack);
  const head = Math.min(view.head, pack.heads - 1);
  const scale = dialToScale(scaleToDial(shown.scale, main.pack.scale), pack.scale);
  const values = token >= 0 ? answerCell(answers, layer, head, token, scale, shown.what, view.direction) : null;
  return { token, layer, head, values };
}

// Paints the compared picture's map: the similarity of its patches to the query, the colours of their components,
// or the lengths of their features.
function paintOtherMap(lens, other) {
  const { frame, page, view } = lens;
  const { pack } = other;
  const { prefixCount } = pack;
  const map = otherMap(lens);
  photoOf(lens, other);
  setText(page.refs.twinBadge, titleOf(other));
  setVisible(page.refs.twinBadge, true);
  let tag = null,
    noteText = map
      ? ""
      : "Features of two models are not to be compared; rollout and contributions are drawn for the first picture.";
  if (!map) printNothing(frame.otherPrint);
  else if (map.pixels) {
    printComponents(frame.otherPrint, map.pixels, pack);
    if (map.shared) noteText = "Both pictures share their components: what is alike has the same colour in both.";
  } else {
    // two models have no common scale of colours
    const sharedDomain = comparesNumbers(lens) && frame.shown.mainDomain;
    const domain = sharedDomain || ownDomain(map.values, prefixCount, pack.tokens, true);
    printHeat(frame.otherPrint, map.values, prefixCount, pack.rows, pack.columns, domain);
    const largest = largestIndex(map.values, prefixCount, pack.tokens);
    if (map.asked < 0)
      tag = { patch: largest - prefixCount, text: shortNumber(map.values[largest]), colour: ROLES.key };
    if (wayOf(view).resembles && map.asked < 0)
      noteText = `Most alike here: patch ${tokenName(largest, pack)}, cosine ${shortNumber(map.values[largest])}.`;
  }
  if (missingMatrix(lens)) noteText = "Its features are on their way.";
  drawOther(lens, other, map?.asked >= 0 ? map.asked - prefixCount : -1, tag);
  setText(page.refs.otherFoot, noteText);
}

// Whether both maps share one scale of colours, so that 0.48 looks the same in both.
export const comparesNumbers = (lens) =>
  lens.choice.view.beside === "compare" && wayOf(lens.choice.view).needs === "features" && Boolean(otherMap(lens));

function drawOther({ frame, refs: { twin } }, { pack }, mark, tag) {
  const picture = { rows: pack.rows, columns: pack.columns, mark, tag };
  drawPicture(twin.getContext("2d"), twin.width, twin.height, frame.otherPrint.canvas, picture, frame.unit);
}
