// The second picture: what a convolution reads, all heads of all layers, or another picture to compare with.

import { answerCell, ownExposure } from "../core/answers.js";
import { ownDomain, ROLES } from "../core/colours.js";
import { entropyBits, holds, holdsAll, largestIndex } from "../core/core.js";
import { shortNumber } from "../core/numbers.js";
import { dialToScale, sameLayer, sameToken, scaleToDial } from "../core/view.js";
import { WAYS, wayOf } from "../core/ways.js";
import { makeCanvas, makeHeat } from "../drawing/canvas.js";
import { drawCells } from "../drawing/charts.js";
import { say, show } from "../drawing/dom.js";
import { drawConvolution, drawPicture, drawRead, drawWall, wallCells } from "../drawing/draw.js";
import { heatInto, makePhoto, printNothing } from "../drawing/light.js";
import { printParts } from "../drawing/parts.js";
import { missingMatrix, otherMap, printComponents } from "./features.js";
import { waySign } from "./film.js";
import { otherSize } from "./layout.js";
import { photoOf, printPatches } from "./prints.js";
import { titleOf, tokenName, writeOther } from "./readouts.js";
import { depthOf, isMap, layersAtHand } from "./shown.js";

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
    depth: depthOf(view),
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
