// A photograph on which a guess is made: patches are painted, or a number of them is laid over it as a grid. The truth
// is drawn on the same patches. See guesscharts.js for what goes in and comes out.

import { MAGMA } from "../core/magma.js";
import { lowered } from "./words.js";

const PICTURES_APART = 16; // pixels between pictures
const WORDS_BELOW = 26; // below them

// Where the picture lies: as large as the place allows.
export function fitted(aspect, width, height, top = 0) {
  const high = Math.min(height - top, width / aspect);
  return { left: 0, top, wide: high * aspect, high };
}

const cellOf = (box, [rows, columns], patch) => [
  box.left + ((patch % columns) * box.wide) / columns,
  box.top + (Math.floor(patch / columns) * box.high) / rows,
  box.wide / columns,
  box.high / rows,
];

const patchRect = (cell, kind, more = "") => {
  const [x, y, wide, high] = cell.map((n) => n.toFixed(2));
  return `<rect x="${x}" y="${y}" width="${wide}" height="${high}" class="${kind}" ${more}/>`;
};

const gridLines = (box, rows, columns, kind) => {
  let path = "";
  for (let r = 0; r <= rows; r++) path += `M${box.left} ${box.top + (r * box.high) / rows}h${box.wide}`;
  for (let c = 0; c <= columns; c++) path += `M${box.left + (c * box.wide) / columns} ${box.top}v${box.high}`;
  return `<path d="${path}" class="${kind}"/>`;
};

const glow = (box, grid, row) => {
  const most = Math.max(...row) || 1;
  return row
    .map((weight, patch) => {
      const at = 3 * Math.round((255 * weight) / most),
        strength = 0.12 + 0.78 * (weight / most);
      const fill = `rgb(${MAGMA[at]} ${MAGMA[at + 1]} ${MAGMA[at + 2]} / ${strength.toFixed(3)})`;
      return patchRect(cellOf(box, grid, patch), "glow", `fill="${fill}"`);
    })
    .join("");
};

// Whether the photograph and the picture beside it are larger together than the photograph alone.
function hasRoom({ aspect, beside }, now) {
  if (!beside || !now.roomy) return false;
  const both = fitted(aspect + beside.aspect, now.width - PICTURES_APART, now.height - WORDS_BELOW),
    alone = fitted(aspect, now.width, now.height);
  return both.wide * both.high > alone.wide * alone.high;
}

export function photograph(chart, now) {
  const [rows, columns] = chart.grid,
    aspect = chart.aspect,
    two = now.open && chart.heat && now.guess instanceof Set && now.guess.size > 0,
    other = two || !hasRoom(chart, now) ? null : chart.beside,
    below = other || chart.words ? WORDS_BELOW : 0,
    share = other ? aspect / (aspect + other.aspect) : two ? 0.5 : 1;
  const box = fitted(aspect, two || other ? share * (now.width - PICTURES_APART) : now.width, now.height - below);
  const image = (at, grey) =>
    `<image href="${chart.image}" x="${at.left}" y="${at.top}" width="${at.wide}" height="${at.high}"
      preserveAspectRatio="none" class="${grey ? "grey" : ""}"/>`;
  const outline = (at) =>
    chart.mark === null || chart.mark === undefined
      ? ""
      : patchRect(cellOf(at, chart.grid, chart.mark), "halo") + patchRect(cellOf(at, chart.grid, chart.mark), "mark");
  let svg = image(box, chart.heat && (now.open || chart.paints));
  const words = (text, left) => `<text x="${left}" y="${box.top + box.high + 17}">${lowered(text)}</text>`;
  if (chart.words) svg += words(chart.words, box.left);
  if (other) {
    const left = box.wide + PICTURES_APART;
    svg += `<image href="${other.image}" x="${left}" y="${box.top}" width="${box.high * other.aspect}"
      height="${box.high}" preserveAspectRatio="none"/>${words(other.words, left)}`;
  }
  if (now.guess instanceof Set) {
    for (const patch of now.guess) svg += patchRect(cellOf(box, chart.grid, patch), "painted");
  } else if (typeof now.guess === "number" && chart.counts) {
    const across = Math.max(1, Math.round(Math.sqrt(now.guess * aspect)));
    svg += gridLines(box, Math.max(1, Math.round(now.guess / across)), across, "grid own-grid");
  }
  if (chart.lines || (chart.counts && now.open)) svg += gridLines(box, rows, columns, "grid");
  if (now.open && chart.heat) {
    const there = two ? { ...box, left: box.wide + PICTURES_APART } : box;
    if (two) svg += image(there, true);
    svg += glow(there, chart.grid, chart.heat) + outline(there);
  }
  svg += outline(box);
  if (now.cursor !== null && now.cursor !== undefined) svg += patchRect(cellOf(box, chart.grid, now.cursor), "cursor");
  const patchAt = (px, py) => {
    const row = Math.floor(((py - box.top) / box.high) * rows),
      column = Math.floor(((px - box.left) / box.wide) * columns);
    return row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column : null;
  };
  return {
    svg,
    patchAt,
    valueAt: () => null,
    wide: two ? 2 * box.wide + PICTURES_APART : other ? box.wide + PICTURES_APART + box.high * other.aspect : box.wide,
    tall: box.top + box.high + below,
  };
}

// Pictures side by side, in two rows where they are many, and below each other where two are all and the window is a
// phone's. Each has a covered and an open form.
export function pictures(chart, now) {
  const shown = now.open ? chart.open : chart.covered,
    piled = shown.length === 2 && !now.roomy,
    lines = shown.length > 3 || piled ? 2 : 1,
    across = Math.ceil(shown.length / lines),
    each = (now.width - PICTURES_APART * (across - 1)) / across,
    tall = piled ? each / chart.aspect + WORDS_BELOW : now.height / lines;
  let svg = "",
    wide = 0,
    end = 0;
  shown.forEach((image, i) => {
    const box = fitted(chart.aspect, each, tall - WORDS_BELOW),
      left = (i % across) * (Math.min(each, box.wide) + PICTURES_APART),
      top = Math.floor(i / across) * tall;
    svg += `<image href="${image}" x="${left}" y="${top}" width="${box.wide}" height="${box.high}"
      preserveAspectRatio="none"/>`;
    svg += `<text x="${left}" y="${top + box.high + 17}">${lowered(chart.captions[i])}</text>`;
    wide = Math.max(wide, left + box.wide);
    end = Math.max(end, top + box.high + WORDS_BELOW);
  });
  return { svg, valueAt: () => null, wide, tall: end };
}
