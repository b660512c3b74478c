// Pictures on canvas: the heat over the dimmed image, what a convolution reads, the wall of all heads. Every function
// draws into a rectangle in device pixels, so that the screen and an exported file are drawn by the same lines.

import { paintInto, ROLES } from "../core/colours.js";
import { neighbourhood } from "../core/core.js";

export function makeCanvas(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width));
  canvas.height = Math.max(1, Math.round(height));
  return canvas;
}

export const decodeJpeg = (bytes) => createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));

// Gives a canvas on the page the pixels of the screen. True when its size changed, which also wipes it.
export function fitCanvas(canvas, width, height, ratio) {
  const w = Math.max(1, Math.round(width * ratio)),
    h = Math.max(1, Math.round(height * ratio));
  if (canvas.width === w && canvas.height === h) return false;
  canvas.width = w;
  canvas.height = h;
  return true;
}

// ------------------------------------------------------------------------------------------------------ the image

// The image in four brightnesses, made once per size: as it is, dimmed for the heat, darker, and almost black.
export function makeBackdrops(image, width, height) {
  const clear = makeCanvas(width, height);
  const context = clear.getContext("2d");
  context.imageSmoothingQuality = "high";
  if (image) context.drawImage(image, 0, 0, clear.width, clear.height);
  else {
    context.fillStyle = "#3a3a3f";
    context.fillRect(0, 0, clear.width, clear.height);
  }
  return {
    image,
    width: clear.width,
    height: clear.height,
    clear,
    dim: shade(clear, 0.5, 0.46),
    dusk: shade(clear, 0.45, 0.68),
    dark: shade(clear, 0.35, 0.82),
  };
}

function shade(source, grey, black) {
  const canvas = makeCanvas(source.width, source.height);
  const context = canvas.getContext("2d");
  context.drawImage(source, 0, 0);
  // Less colour, so that only the heat has strong colours. (Safari has no `filter` on canvas.)
  context.globalCompositeOperation = "saturation";
  context.fillStyle = `rgb(128 128 128 / ${grey})`;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.globalCompositeOperation = "source-over";
  context.fillStyle = `rgb(9 7 16 / ${black})`;
  context.fillRect(0, 0, canvas.width, canvas.height);
  return canvas;
}

// ------------------------------------------------------------------------------------------------------- the heat

// One pixel per patch; the canvas that shows it enlarges it.
export function makeHeat(rows, columns, canvas = makeCanvas(columns, rows)) {
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const data = context.createImageData(columns, rows);
  return { canvas, context, data, pixels: new Uint32Array(data.data.buffer), rows, columns };
}

export function fillHeat(heat, values, at, palette, domain) {
  paintInto(heat.pixels, 0, heat.columns, values, at, heat.rows, heat.columns, palette, domain);
  heat.context.putImageData(heat.data, 0, 0);
}

export function clearHeat(heat) {
  heat.pixels.fill(0);
  heat.context.putImageData(heat.data, 0, 0);
}

// Outlines the cell that asks (in a column: the cell that is asked about), in white on black, which shows on any
// picture.
export function outlineCell(context, x, y, w, h, unit) {
  context.lineJoin = "miter";
  context.strokeStyle = "#000";
  context.lineWidth = 4.5 * unit;
  context.strokeRect(x, y, w, h);
  context.strokeStyle = "#fff";
  context.lineWidth = 2 * unit;
  context.strokeRect(x, y, w, h);
}

function drawGrid(context, w, h, rows, columns, unit) {
  context.beginPath();
  for (let c = 1; c < columns; c++) {
    const x = Math.round((c * w) / columns);
    context.moveTo(x, 0);
    context.lineTo(x, h);
  }
  for (let r = 1; r < rows; r++) {
    const y = Math.round((r * h) / rows);
    context.moveTo(0, y);
    context.lineTo(w, y);
  }
  context.strokeStyle = "rgb(255 255 255 / 0.28)";
  context.lineWidth = Math.max(1, Math.round(unit * 0.75));
  context.stroke();
}

// Outlines a cell and writes its weight beside it.
function tagCell(context, w, h, rows, columns, patch, text, colour, unit) {
  const cw = w / columns,
    ch = h / rows;
  const x = (patch % columns) * cw,
    y = Math.floor(patch / columns) * ch;
  context.strokeStyle = colour;
  context.lineWidth = 2 * unit;
  context.strokeRect(x, y, cw, ch);
  context.font = `600 ${12 * unit}px system-ui, sans-serif`;
  const width = context.measureText(text).width + 10 * unit,
    height = 19 * unit;
  const left = x + cw + width + 2 * unit > w ? x - width - unit : x + cw + unit;
  const top = Math.min(h - height, Math.max(0, y + ch / 2 - height / 2));
  context.fillStyle = colour;
  context.fillRect(left, top, width, height);
  context.fillStyle = colour === ROLES.query ? "#fff" : "#140a00";
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, left + 5 * unit, top + height / 2 + unit * 0.5);
}

// shown: {rows, columns, smooth, grid, mark: patch or −1, tag: {patch, text, colour} or null}
export function drawPicture(context, w, h, backdrops, heat, shown, unit) {
  context.globalAlpha = 1;
  context.drawImage(backdrops.dim, 0, 0, w, h);
  if (heat) {
    context.imageSmoothingEnabled = shown.smooth;
    context.imageSmoothingQuality = "high";
    context.drawImage(heat.canvas, 0, 0, w, h);
    context.imageSmoothingEnabled = true;
  }
  if (shown.grid) drawGrid(context, w, h, shown.rows, shown.columns, unit);
  if (shown.tag)
    tagCell(context, w, h, shown.rows, shown.columns, shown.tag.patch, shown.tag.text, shown.tag.colour, unit);
  if (shown.mark >= 0) {
    const cw = w / shown.columns,
      ch = h / shown.rows;
    outlineCell(context, (shown.mark % shown.columns) * cw, Math.floor(shown.mark / shown.columns) * ch, cw, ch, unit);
  }
}

// -------------------------------------------------------------------------------------------- the convolution

// The cells that a k×k convolution reads at the same patch, and, darker, the cells that `depth` such layers reach.
export function drawConvolution(context, w, h, backdrops, shown, unit) {
  context.drawImage(backdrops.dark, 0, 0, w, h);
  if (shown.mark < 0) return;
  const { rows, columns, k, depth } = shown;
  const cw = w / columns,
    ch = h / rows;
  const row = Math.floor(shown.mark / columns),
    column = shown.mark % columns;
  const lift = (layer, canvas) => {
    const area = neighbourhood(rows, columns, row, column, k, layer);
    const x = area.left * cw,
      y = area.top * ch;
    const width = (area.right - area.left + 1) * cw,
      height = (area.bottom - area.top + 1) * ch;
    const sx = backdrops.width / w,
      sy = backdrops.height / h;
    context.drawImage(canvas, x * sx, y * sy, width * sx, height * sy, x, y, width, height);
    return { x, y, width, height };
  };
  context.strokeStyle = ROLES.convolution;
  if (depth > 1) {
    const field = lift(depth, backdrops.dusk);
    context.lineWidth = 1.25 * unit;
    context.setLineDash([4 * unit, 4 * unit]);
    context.strokeRect(field.x + unit, field.y + unit, field.width - 2 * unit, field.height - 2 * unit);
    context.setLineDash([]);
  }
  const read = lift(1, backdrops.clear);
  if (shown.grid) drawGrid(context, w, h, rows, columns, unit);
  context.lineWidth = 2.5 * unit;
  context.strokeRect(read.x, read.y, read.width, read.height);
  context.lineWidth = unit;
  context.beginPath();
  for (let x = read.x + cw; x < read.x + read.width - 1; x += cw) {
    context.moveTo(x, read.y);
    context.lineTo(x, read.y + read.height);
  }
  for (let y = read.y + ch; y < read.y + read.height - 1; y += ch) {
    context.moveTo(read.x, y);
    context.lineTo(read.x + read.width, y);
  }
  context.stroke();
  outlineCell(context, column * cw, row * ch, cw, ch, unit);
}

// ---------------------------------------------------------------------------------------------------- the wall

// Where the thumbnails lie in a picture of w × h: layers downwards, heads to the right. layers: the numbers of those
// shown.
export function wallCells(w, h, layers, heads, rows, columns, unit) {
  const left = 24 * unit,
    top = 18 * unit;
  const gap = Math.max(1, Math.round(2 * unit));
  const aspect = columns / rows;
  const height = Math.min((h - top) / layers.length - gap, ((w - left) / heads - gap) / aspect);
  const ch = Math.max(2, Math.floor(height)),
    cw = Math.max(2, Math.floor(height * aspect));
  // Few heads stand in the middle.
  const x = Math.round(Math.max(left, (w - heads * (cw + gap) + left) / 2));
  return { x, y: Math.round(top), cw, ch, gap, layers, heads };
}

export function wallCellAt(cells, x, y) {
  const head = Math.floor((x - cells.x) / (cells.cw + cells.gap));
  const layer = cells.layers[Math.floor((y - cells.y) / (cells.ch + cells.gap))];
  return head >= 0 && head < cells.heads && layer !== undefined ? { layer, head } : null;
}

// heat: a canvas with all thumbnails at one pixel per patch. missing(layer): this layer has not been sent.
export function drawWall(context, w, h, cells, heat, shown, colours, unit) {
  const { rows, columns } = shown;
  context.clearRect(0, 0, w, h);
  context.font = `${11 * unit}px system-ui, sans-serif`;
  context.fillStyle = colours.soft;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const every = Math.ceil((22 * unit) / (cells.cw + cells.gap));
  for (let head = 0; head < cells.heads; head += every) {
    context.fillText(
      String(shown.headNumbers[head]),
      cells.x + head * (cells.cw + cells.gap) + cells.cw / 2,
      cells.y - 9 * unit,
    );
  }
  context.textAlign = "right";
  context.imageSmoothingEnabled = shown.smooth || cells.cw < columns;
  const rowsBetween = Math.ceil((13 * unit) / (cells.ch + cells.gap));
  for (const [place, layer] of cells.layers.entries()) {
    const y = cells.y + place * (cells.ch + cells.gap);
    if (place % rowsBetween === 0) context.fillText(String(layer), cells.x - 6 * unit, y + cells.ch / 2);
    for (let head = 0; head < cells.heads; head++) {
      const x = cells.x + head * (cells.cw + cells.gap);
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
  const x = cells.x + shown.head * (cells.cw + cells.gap),
    y = cells.y + cells.layers.indexOf(shown.layer) * (cells.ch + cells.gap);
  context.strokeStyle = colours.accent;
  context.lineWidth = 2.5 * unit;
  context.strokeRect(x - unit, y - unit, cells.cw + 2 * unit, cells.ch + 2 * unit);
}
