// Draws on canvases: a picture with marks, the patches that a convolution reads, thumbnails of all heads. Sizes are in
// device pixels, so that the screen and exported files are drawn by the same code.
import { ROLES } from "../core/colours.js";
import { neighbourhood } from "../core/core.js";
import { outlineCell } from "./dom.js";
import { softOf, strokeOutlines } from "./light.js";

const NUMBER_SIZE = 10; // pixels: size of a number in a cell

// Outlines a cell, or a place, and writes its weight beside it, where there is room and the marked patch stays visible.
function tagCell(context, w, h, { rows, columns, mark: marked, tag, asking: mark = marked }, unit) {
  const { patch, text, colour, outline } = tag;
  const [cw, ch] = [w / columns, h / rows];
  const [row, column] = [Math.floor(patch / columns), patch % columns];
  const paths = outline ?? [[row, column, row + 1, column + 1]];
  if (outline) strokeOutlines(context, paths, cw, ch, unit, colour);
  else outlineCell(context, column * cw, row * ch, cw, ch, 0.7 * unit, colour);
  context.font = `600 ${12 * unit}px system-ui, sans-serif`;
  const width = context.measureText(text).width + 10 * unit,
    height = 19 * unit;
  const sides = (axis, size) =>
    paths.flatMap((path) => Array.from(path).filter((_, i) => i % 2 === axis)).map((n) => n * size);
  const [x, right] = [Math.min(...sides(1, cw)), Math.max(...sides(1, cw))];
  const [y, bottom] = [Math.min(...sides(0, ch)), Math.max(...sides(0, ch))];
  const middle = Math.min((y + bottom) / 2, h - height); // below the curve, which ends in the middle
  const beside = [middle, Math.max(0, middle - height)].flatMap((top) => [
    [right + unit, top],
    [x - width - unit, top],
  ]);
  const flush = Math.max(0, right - width);
  const spots = outline ? [[flush, bottom + unit], [flush, y - height - unit], ...beside] : beside;
  const [markX, markY] = [((mark % columns) + 0.5) * cw, (Math.floor(mark / columns) + 0.5) * ch];
  const isClear = ([left, top]) =>
    mark < 0 ||
    Math.abs(left + width / 2 - markX) >= (width + cw) / 2 + unit ||
    Math.abs(top + height / 2 - markY) >= (height + ch) / 2 + unit;
  const isInside = ([left, top]) => left >= 0 && left + width <= w && top >= 0 && top + height <= h;
  const insideSpots = spots.filter(isInside);
  const [left, top] = insideSpots.find(isClear) ?? insideSpots[0] ?? [flush, middle];
  context.fillStyle = colour;
  context.fillRect(left, top, width, height);
  context.fillStyle = colour === ROLES.query ? "#fff" : "#140a00";
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, left + 5 * unit, top + height / 2 + unit * 0.5);
}

const numberWidths = new Map(); // of numbers written in cells: measuring one takes longer than writing it

function numberWidth(context, text, unit) {
  const key = `${unit} ${text}`;
  if (!numberWidths.has(key)) numberWidths.set(key, context.measureText(text).width);
  return numberWidths.get(key);
}

// Writes numbers into cells above the exposure, if the cells are large enough.
function numberCells(context, w, h, { rows, columns, clipped }, unit) {
  const cw = w / columns,
    ch = h / rows;
  context.font = `600 ${NUMBER_SIZE * unit}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = "#140a00";
  context.strokeStyle = "rgb(255 236 160 / 0.85)"; // a pale outline, because the picture may be dark there
  context.lineWidth = 2.5 * unit;
  context.lineJoin = "round";
  for (const { patch, text } of clipped) {
    if (ch < 1.2 * NUMBER_SIZE * unit || cw < numberWidth(context, text, unit) + 2 * unit) continue;
    const centre = [((patch % columns) + 0.5) * cw, (Math.floor(patch / columns) + 0.5) * ch];
    context.strokeText(text, ...centre);
    context.fillText(text, ...centre);
  }
}

// Draws `canvas`, the canvas of a print (see light.js), with marks. shown: {rows, columns, mark: a patch or −1, isKey:
// whether the marked patch is a key, tag: {patch, text, colour} or null, asking: the patch on which no tag lies, if it
// is not mark, clipped: [{patch, text}] for numberCells, behind: {canvas, to} for drawCurtain, or null}
export function drawPicture(context, w, h, canvas, shown, unit) {
  context.drawImage(canvas, 0, 0, w, h);
  if (shown.clipped?.length) numberCells(context, w, h, shown, unit);
  if (shown.behind) drawCurtain(context, w, h, shown.behind, unit);
  const isTagBehind =
    shown.tag && shown.behind && ((shown.tag.patch % shown.columns) + 0.5) / shown.columns < shown.behind.to;
  if (shown.tag && !isTagBehind) tagCell(context, w, h, shown, unit);
  if (shown.mark >= 0) {
    const cw = w / shown.columns,
      ch = h / shown.rows;
    const x = (shown.mark % shown.columns) * cw,
      y = Math.floor(shown.mark / shown.columns) * ch;
    outlineCell(context, x, y, cw, ch, unit, shown.isKey ? ROLES.key : ROLES.query);
  }
}

// Draws another picture over the left part, up to the movable border at `to`, a share of the width.
function drawCurtain(context, w, h, { canvas, to: boundary }, unit) {
  const x = Math.round(boundary * w);
  if (x > 0) context.drawImage(canvas, 0, 0, (canvas.width * x) / w, canvas.height, 0, 0, x, h);
  context.fillStyle = "rgb(0 0 0 / 0.55)";
  context.fillRect(x - 2 * unit, 0, 4 * unit, h);
  context.fillStyle = "#fff";
  context.fillRect(x - unit, 0, 2 * unit, h);
}

// -------------------------------------------------------------------------------------------- the convolution

// Draws the patches that a 3×3 convolution reads at the marked patch in full colour, the others pale.
export function drawConvolution(context, w, h, photo, shown, unit) {
  context.drawImage(softOf(photo), 0, 0, w, h);
  if (shown.mark < 0) return;
  const { rows, columns, mark } = shown;
  const [cw, ch] = [w / columns, h / rows];
  const area = neighbourhood(rows, columns, Math.floor(mark / columns), mark % columns, 3);
  const [left, top, right, bottom] = [area.left * cw, area.top * ch, (area.right + 1) * cw, (area.bottom + 1) * ch];
  const [width, height] = [right - left, bottom - top];
  const [sx, sy] = [photo.width / w, photo.height / h];
  context.drawImage(photo.clear, left * sx, top * sy, width * sx, height * sy, left, top, width, height);
  context.strokeStyle = ROLES.convolution;
  context.lineWidth = unit;
  context.beginPath();
  for (let x = left + cw; x < right - 1; x += cw) {
    context.moveTo(x, top);
    context.lineTo(x, bottom);
  }
  for (let y = top + ch; y < bottom - 1; y += ch) {
    context.moveTo(left, y);
    context.lineTo(right, y);
  }
  context.stroke();
  for (const [colour, lineWidth] of [
    ["rgb(0 0 0 / 0.5)", 5 * unit],
    [ROLES.convolution, 3 * unit],
  ]) {
    context.strokeStyle = colour;
    context.lineWidth = lineWidth;
    context.strokeRect(left, top, width, height);
  }
  outlineCell(context, (mark % columns) * cw, Math.floor(mark / columns) * ch, cw, ch, unit);
}

// Draws the patches that the convolution reads, enlarged.
export function drawReadPatches(context, w, h, photo, { rows, columns, mark }, unit) {
  context.clearRect(0, 0, w, h);
  if (mark < 0) return;
  const area = neighbourhood(rows, columns, Math.floor(mark / columns), mark % columns, 3);
  const [cw, ch] = [w / 3, h / 3];
  const left = area.left - (mark % columns) + 1, // 0, or more at the picture's edge
    top = area.top - Math.floor(mark / columns) + 1;
  const [readColumns, readRows] = [area.right - area.left + 1, area.bottom - area.top + 1];
  const [sw, sh] = [photo.width / columns, photo.height / rows];
  const source = [area.left * sw, area.top * sh, readColumns * sw, readRows * sh];
  context.drawImage(photo.clear, ...source, left * cw, top * ch, readColumns * cw, readRows * ch);
  context.strokeStyle = ROLES.convolution;
  context.lineWidth = 1.5 * unit;
  for (let c = left; c < left + readColumns; c++)
    for (let r = top; r < top + readRows; r++) context.strokeRect(c * cw, r * ch, cw, ch);
  outlineCell(context, cw, ch, cw, ch, unit);
}

// ---------------------------------------------------------------------------------------------------- the wall

// Returns the size of a thumbnail and the place of the first one in a picture of w × h. Layers go downwards and heads
// to the right, or, where that makes the thumbnails larger, the other way around. layers: the shown layers' indices.
export function wallCells(w, h, layers, heads, rows, columns, unit) {
  const left = 24 * unit,
    top = 18 * unit;
  const gap = Math.max(1, Math.round(2 * unit));
  const aspect = columns / rows;
  const heightOf = (across, down) => Math.min((h - top) / down - gap, ((w - left) / across - gap) / aspect);
  const isTurned = heightOf(layers.length, heads) > heightOf(heads, layers.length);
  const [across, down] = isTurned ? [layers.length, heads] : [heads, layers.length];
  const height = heightOf(across, down);
  const ch = Math.max(2, Math.floor(height)),
    cw = Math.max(2, Math.floor(height * aspect));
  // A grid of few columns is centred.
  const x = Math.round(Math.max(left, (w - across * (cw + gap) + left) / 2));
  return { x, y: Math.round(top), cw, ch, gap, layers, heads, isTurned };
}

// The upper left corner of a head's thumbnail.
function wallCorner({ x, y, cw, ch, gap, layers, isTurned }, layer, head) {
  const place = layers.indexOf(layer);
  const [across, down] = isTurned ? [place, head] : [head, place];
  return [x + across * (cw + gap), y + down * (ch + gap)];
}

// The head and the patch at a point: {layer, head, patch}, or null.
export function wallCellAt({ x: left, y: top, cw, ch, gap, layers, heads, isTurned }, x, y, rows, columns) {
  const [across, down] = [Math.floor((x - left) / (cw + gap)), Math.floor((y - top) / (ch + gap))];
  const [place, head] = isTurned ? [across, down] : [down, across];
  const layer = layers[place];
  if (!(head >= 0 && head < heads) || layer === undefined) return null;
  const cellAt = (point, start, n, size, count) =>
    Math.min(count - 1, Math.floor(((point - start - n * (size + gap)) / size) * count));
  return { layer, head, patch: cellAt(y, top, down, ch, rows) * columns + cellAt(x, left, across, cw, columns) };
}

// heat: a canvas with all thumbnails, one pixel for each patch; missing(layer): whether the layer has not arrived.
export function drawWall(context, w, h, cells, heat, shown, colours, unit) {
  const { rows, columns } = shown;
  context.clearRect(0, 0, w, h);
  context.font = `${12 * unit}px system-ui, sans-serif`;
  context.fillStyle = colours.soft;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const names = [cells.layers, shown.headNumbers.slice(0, cells.heads)];
  const [namesAcross, namesDown] = cells.isTurned ? names : names.reverse();
  const stepAcross = Math.ceil((22 * unit) / (cells.cw + cells.gap));
  for (let n = 0; n < namesAcross.length; n += stepAcross)
    context.fillText(String(namesAcross[n]), cells.x + n * (cells.cw + cells.gap) + cells.cw / 2, cells.y - 9 * unit);
  context.textAlign = "right";
  const stepDown = Math.ceil((13 * unit) / (cells.ch + cells.gap));
  for (let n = 0; n < namesDown.length; n += stepDown)
    context.fillText(String(namesDown[n]), cells.x - 6 * unit, cells.y + n * (cells.ch + cells.gap) + cells.ch / 2);
  context.imageSmoothingEnabled = cells.cw < columns;
  for (const layer of cells.layers) {
    for (let head = 0; head < cells.heads; head++) {
      const [x, y] = wallCorner(cells, layer, head);
      if (shown.missing(layer)) {
        context.strokeStyle = colours.line;
        context.lineWidth = unit;
        context.strokeRect(x + unit / 2, y + unit / 2, cells.cw - unit, cells.ch - unit);
      } else {
        context.drawImage(heat, head * columns, layer * rows, columns, rows, x, y, cells.cw, cells.ch);
      }
    }
  }
  context.imageSmoothingEnabled = true;
  const [x, y] = wallCorner(cells, shown.layer, shown.head);
  context.strokeStyle = colours.accent;
  context.lineWidth = 2.5 * unit;
  context.strokeRect(x - unit, y - unit, cells.cw + 2 * unit, cells.ch + 2 * unit);
}
