// One frame: from what is chosen and where the cursor is to everything on the screen.

import { answerCell, answerLayer, headDomain, prepareColumns, sharedDomain } from "../core/answers.js";
import { ownDomain, paintInto, ROLES } from "../core/colours.js";
import { effectiveNumber, entropyBits, holds, kernelWeights, largestIndex, sortInto } from "../core/core.js";
import { dialToScale, sameLayer, sameToken, scaleToDial } from "../core/view.js";
import { drawCells, drawColourBar, drawCurve, percent, shortNumber } from "../drawing/charts.js";
import {
  clearHeat,
  drawConvolution,
  drawPicture,
  drawWall,
  fillHeat,
  makeCanvas,
  makeHeat,
  wallCells,
} from "../drawing/draw.js";
import { backdropsFor, otherSize, readPalette } from "./layout.js";
import { say, show } from "./markup.js";
import { writeNumbers, writeOther, writeTitles } from "./readouts.js";
import { depthOf, isMap, layersAtHand, overlayNow, resolve } from "./shown.js";

const NO_ROW = () => NaN;

export function paintFrame(lens) {
  const shown = resolve(lens);
  const { view } = lens;
  readPalette(lens);
  if (!answerLayer(shown.answers, view.layer, shown.token, shown.scale, shown.what, view.direction)) {
    paintWaiting(lens, `Layer ${view.layer} is on its way.`);
    return;
  }
  shown.domain = sharedDomain(shown.answers, view.layer, shown.scale, shown.what, view.ceiling, view.log);
  paintMain(lens);
  paintHeads(lens);
  if (view.beside === "convolution") paintTwin(lens);
  else if (view.beside === "wall") paintWall(lens);
  else paintOther(lens);
  paintCurve(lens);
  writeTitles(lens);
  writeNumbers(lens);
}

function paintWaiting(lens, text) {
  const { refs, backdrops } = lens;
  const context = refs.picture.getContext("2d");
  if (backdrops) context.drawImage(backdrops.dim, 0, 0, refs.picture.width, refs.picture.height);
  say(refs.waiting, text);
  show(refs.waiting, true);
}

// -------------------------------------------------------------------------------------------------- the large picture

function paintMain(lens) {
  const { refs, view, shown, main } = lens;
  const { pack, answers, token } = shown;
  const at = view.head * pack.tokens;
  const overlay = overlayNow(lens);
  const backdrops = backdropsFor(lens, main, "backdrops");
  if (!lens.heat || lens.heat.rows !== pack.rows || lens.heat.columns !== pack.columns)
    lens.heat = makeHeat(pack.rows, pack.columns);

  let waiting = "";
  if (isMap(view.what) && !overlay) {
    waiting = view.locked ? "Asking the model…" : "Click a patch: this map is made for a locked one.";
    clearHeat(lens.heat);
    shown.mainDomain = shown.domain;
  } else if (overlay) {
    const from = overlay.values.length === pack.patches ? 0 : pack.prefixCount;
    shown.mainDomain = ownDomain(
      overlay.values,
      from,
      from + pack.patches,
      view.log && view.what === "rollout",
      view.what === "similarity",
    );
    fillHeat(lens.heat, overlay.values, from, lens.palette, shown.mainDomain);
  } else if (!answers.ready[view.head] && view.what !== "score") {
    waiting = `Adding up all rows… ${Math.round(100 * lens.columnsDone)} %`;
    clearHeat(lens.heat);
    shown.mainDomain = shown.domain;
  } else {
    shown.mainDomain =
      view.colours === "own" ? headDomain(answers.drawn, at, pack, shown.what, view.log) : shown.domain;
    fillHeat(lens.heat, answers.drawn, at + pack.prefixCount, lens.palette, shown.mainDomain);
  }
  shown.peak = largestIndex(answers.weights, at, at + pack.tokens) - at;
  shown.mark = token - pack.prefixCount;
  setTag(lens, Boolean(waiting || overlay));
  lens.picture = Object.assign(lens.picture, {
    rows: pack.rows,
    columns: pack.columns,
    smooth: view.smooth,
    grid: view.grid,
    mark: shown.mark,
  });
  drawPicture(
    refs.picture.getContext("2d"),
    refs.picture.width,
    refs.picture.height,
    backdrops,
    lens.heat,
    lens.picture,
    lens.unit,
  );
  say(refs.waiting, waiting);
  show(refs.waiting, Boolean(waiting));
  paintColourBar(lens);
}

// The patch with the largest weight wears its number; among itself and prefix tokens there is nothing to point at.
function setTag(lens, hidden) {
  const { shown, view, picture } = lens;
  const { pack, answers, what } = shown;
  const at = view.head * pack.tokens;
  picture.tag = null;
  if (hidden || (!answers.ready[view.head] && what !== "score")) return;
  const from = at + pack.prefixCount;
  const best = largestIndex(answers.drawn, from, at + pack.tokens);
  // A picture of evenly spread weights has no largest one worth a sign.
  if (what === "weight" && answers.weights[best] < 1.5 / pack.tokens) return;
  const tag = lens.tag;
  tag.patch = best - from;
  tag.text = what === "weight" ? percent(answers.drawn[best]) : shortNumber(answers.drawn[best]);
  tag.colour = view.direction === "row" ? ROLES.key : ROLES.query;
  picture.tag = tag;
}

function paintColourBar(lens) {
  const { refs, shown, view } = lens;
  const domain = shown.mainDomain;
  const share = view.what === "weight" || view.what === "rollout";
  const key = `${domain.low} ${domain.high} ${domain.log} ${share} ${view.colours} ${view.what}`;
  if (lens.barKey === key || !refs.colourBar.width) return;
  lens.barKey = key;
  lens.bar = {
    ...domain,
    unit: share ? "percent" : "number",
    open: view.colours === "shared" && !isMap(view.what) && domain.high < 1,
  };
  drawColourBar(
    refs.colourBar.getContext("2d"),
    refs.colourBar.width,
    refs.colourBar.height,
    lens.ramp,
    lens.bar,
    lens.unit,
    lens.colours,
  );
}

// ----------------------------------------------------------------------------------------------------- all the heads

function paintHeads(lens) {
  const { view, shown, thumbs } = lens;
  const { pack, answers } = shown;
  for (let head = 0; head < thumbs.length; head++) {
    const thumb = thumbs[head];
    const at = head * pack.tokens;
    if (thumb.heat.rows !== pack.rows || thumb.heat.columns !== pack.columns)
      thumb.heat = makeHeat(pack.rows, pack.columns, thumb.canvas);
    if (!answers.ready[head] && shown.what !== "score") clearHeat(thumb.heat);
    else {
      const domain = view.colours === "own" ? headDomain(answers.drawn, at, pack, shown.what, view.log) : shown.domain;
      fillHeat(thumb.heat, answers.drawn, at + pack.prefixCount, lens.thumbPalette, domain);
    }
    const number = view.direction === "row" ? effectiveNumber(answers.entropies[head]) : answers.totals[head];
    say(thumb.number, !answers.ready[head] ? "…" : number >= 99.5 ? number.toFixed(0) : number.toFixed(1));
  }
}

// -------------------------------------------------------------------------------------------------------- its twin

function paintTwin(lens) {
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
  drawConvolution(
    refs.twin.getContext("2d"),
    refs.twin.width,
    refs.twin.height,
    backdropsFor(lens, main, "backdrops"),
    lens.twin,
    lens.unit,
  );

  const { k } = view;
  if (!lens.kernel || lens.kernel.length !== k * k) {
    lens.kernel = kernelWeights(k);
    lens.kernelSorted = Float32Array.from(lens.kernel).sort().reverse();
  }
  // The nine cells go to 25 %, the kernel's own middle, so that both nines are read on one scale.
  const nine = lens.nineDomain;
  const canvas = refs.kernelCells;
  if (lens.kernelKey !== `${k}`) {
    lens.kernelKey = `${k}`;
    drawCells(
      canvas.getContext("2d"),
      canvas.width,
      canvas.height,
      k,
      (i) => lens.kernel[i],
      lens.ramp,
      nine,
      lens.unit,
      lens.colours,
    );
  }
  lens.cellAt.k = k;
  const readable = mark >= 0 && answers.ready[view.head];
  const values = readable ? lens.cellAt.read : NO_ROW;
  drawCells(
    refs.rowCells.getContext("2d"),
    canvas.width,
    canvas.height,
    k,
    values,
    lens.ramp,
    nine,
    lens.unit,
    lens.colours,
  );
}

// The attention's weight for cell i of the k × k around the query; NaN beyond the border. Made once per lens.
export function cellReader(lens) {
  const reader = { k: 3, read: null };
  reader.read = (i) => {
    const { pack, answers, mark } = lens.shown;
    const reach = (reader.k - 1) / 2;
    const row = Math.floor(mark / pack.columns) + Math.floor(i / reader.k) - reach;
    const column = (mark % pack.columns) + (i % reader.k) - reach;
    if (row < 0 || column < 0 || row >= pack.rows || column >= pack.columns) return NaN;
    return answers.weights[lens.view.head * pack.tokens + pack.prefixCount + row * pack.columns + column];
  };
  return reader;
}

// -------------------------------------------------------------------------------------------------------- the wall

function paintWall(lens) {
  const { refs, view, shown } = lens;
  const { pack, answers, token } = shown;
  const canvas = refs.wall;
  const width = pack.heads * pack.columns,
    height = pack.layers * pack.rows;
  if (!lens.atlas || lens.atlas.canvas.width !== width || lens.atlas.canvas.height !== height)
    lens.atlas = makeHeat(height, width);
  const { atlas } = lens;
  for (let layer = 0; layer < pack.layers; layer++) {
    if (!holds(pack, layer)) continue;
    const domain =
      view.colours === "shared" ? sharedDomain(answers, layer, shown.scale, shown.what, view.ceiling, view.log) : null;
    for (let head = 0; head < pack.heads; head++) {
      const to = layer * pack.rows * width + head * pack.columns;
      const values = answerCell(answers, layer, head, token, shown.scale, shown.what, view.direction);
      if (!values) {
        for (let r = 0; r < pack.rows; r++)
          atlas.pixels.fill(0xff171212, to + r * width, to + r * width + pack.columns);
        continue;
      }
      const own = domain ?? headDomain(values, 0, pack, shown.what, view.log);
      paintInto(atlas.pixels, to, width, values, pack.prefixCount, pack.rows, pack.columns, lens.solidPalette, own);
    }
  }
  atlas.context.putImageData(atlas.data, 0, 0);
  lens.wallCells = wallCells(
    canvas.width,
    canvas.height,
    layersAtHand(lens),
    pack.heads,
    pack.rows,
    pack.columns,
    lens.unit,
  );
  const picture = {
    rows: pack.rows,
    columns: pack.columns,
    smooth: view.smooth,
    layer: view.layer,
    head: view.head,
    headNumbers: pack.headNumbers,
    missing: (layer) => !holds(pack, layer),
  };
  drawWall(
    canvas.getContext("2d"),
    canvas.width,
    canvas.height,
    lens.wallCells,
    atlas.canvas,
    picture,
    lens.colours,
    lens.unit,
  );
}

// ------------------------------------------------------------------------------------------------------ the other one

function paintOther(lens) {
  const { refs, view, shown, main, other } = lens;
  const context = refs.twin.getContext("2d");
  context.clearRect(0, 0, refs.twin.width, refs.twin.height);
  if (!other) return;
  const { pack, answers } = other;
  const token = sameToken(shown.token, main.pack, pack);
  const layer = sameLayer(view.layer, main.pack, pack);
  const head = Math.min(view.head, pack.heads - 1);
  const scale = dialToScale(scaleToDial(shown.scale, main.pack.scale), pack.scale);
  const values = token >= 0 ? answerCell(answers, layer, head, token, scale, shown.what, view.direction) : null;
  if (!lens.otherHeat || lens.otherHeat.rows !== pack.rows || lens.otherHeat.columns !== pack.columns)
    lens.otherHeat = makeHeat(pack.rows, pack.columns);
  if (values) {
    const domain = view.colours === "own" ? headDomain(values, 0, pack, shown.what, view.log) : shown.domain;
    fillHeat(lens.otherHeat, values, pack.prefixCount, lens.palette, domain);
  } else clearHeat(lens.otherHeat);
  lens.otherPicture = {
    rows: pack.rows,
    columns: pack.columns,
    smooth: view.smooth,
    grid: view.grid,
    mark: token - pack.prefixCount,
    tag: null,
  };
  const size = otherSize(lens, other);
  const x = Math.round((refs.twin.width - size.width) / 2),
    y = Math.round((refs.twin.height - size.height) / 2);
  lens.otherBox = { x, y, ...size };
  const sheet = (lens.otherSheet ??= makeCanvas(size.width, size.height));
  if (sheet.width !== size.width || sheet.height !== size.height) Object.assign(sheet, size);
  drawPicture(
    sheet.getContext("2d"),
    size.width,
    size.height,
    backdropsFor(lens, other, "otherBackdrops"),
    lens.otherHeat,
    lens.otherPicture,
    lens.unit,
  );
  context.drawImage(sheet, x, y);
  const row = values && shown.what === "weight" ? values : null;
  writeOther(lens, other, { token, layer, head, row, bits: row ? entropyBits(row, 0, pack.tokens) : NaN });
}

// ------------------------------------------------------------------------------------------------------ sorted weights

function paintCurve(lens) {
  const { refs, view, shown } = lens;
  const { pack, answers } = shown;
  if (!lens.sorted || lens.sorted.length !== pack.tokens) lens.sorted = new Float32Array(pack.tokens);
  sortInto(lens.sorted, answers.weights, view.head * pack.tokens, pack.tokens);
  lens.kernelSorted ??= kernelWeights(view.k).sort().reverse();
  if (!refs.curve.width) return;
  const domain =
    shown.what === "weight" && !isMap(view.what)
      ? shown.mainDomain
      : sharedDomain(answers, view.layer, shown.scale, "weight", view.ceiling, view.log);
  drawCurve(
    refs.curve.getContext("2d"),
    refs.curve.width,
    refs.curve.height,
    lens.sorted,
    pack.tokens,
    lens.kernelSorted,
    lens.ramp,
    domain,
    lens.unit,
    lens.colours,
  );
}

// Works on the sums that columns need, between frames. True while there is more to do.
export function workOnColumns(lens) {
  const { view, other, main } = lens;
  const shown = resolve(lens);
  if (view.direction !== "column" || shown.layerMissing) return false;
  const layers = view.beside === "wall" ? [view.layer, ...shown.pack.stored.keys()] : [view.layer];
  lens.columnsDone = prepareColumns(shown.answers, layers, view.head, shown.scale, 9);
  if (lens.columnsDone < 1) return true;
  if (view.beside !== "compare" || !other) return false;
  const scale = dialToScale(scaleToDial(shown.scale, main.pack.scale), other.pack.scale);
  return (
    prepareColumns(
      other.answers,
      [sameLayer(view.layer, main.pack, other.pack)],
      Math.min(view.head, other.pack.heads - 1),
      scale,
      9,
    ) < 1
  );
}
