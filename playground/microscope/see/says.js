// See's sentence and the line under it: chooses keys of words.js from the numbers of a row. No DOM in here.
import { neighbourhood } from "../core/core.js";
import { percent } from "../core/numbers.js";
import { aroundPlace, PART_NAMES } from "./words.js";

const FAR_AWAY = 0.15; // share of the longer side, as in core/moments.js
const WORTH_SAYING = 0.1; // share that a patch gives to itself

// The direction of the brightest patch from the asking one.
export function whereOf(mark, best, rows, columns) {
  if (mark === best) return "itself";
  const [down, across] = [
    Math.abs(Math.floor(mark / columns) - Math.floor(best / columns)),
    Math.abs((mark % columns) - (best % columns)),
  ];
  const distance = Math.max(down, across);
  if (distance <= 1) return "near";
  return distance > FAR_AWAY * Math.max(rows, columns) ? "far" : "aside";
}

// The part of a sample that a patch lies in. parts: [{kind, box: [top, left, bottom, right] in shares}]
export function partAt(parts, patch, rows, columns) {
  const y = (Math.floor(patch / columns) + 0.5) / rows;
  const x = ((patch % columns) + 0.5) / columns;
  return parts.find(({ box: [top, left, bottom, right] }) => y >= top && y < bottom && x >= left && x < right) ?? null;
}

// "the other eye": only where the sample names the place, and it is another part than the asking one.
export function nameOfPlace(language, parts, mark, best, rows, columns) {
  const [from, to] = [partAt(parts, mark, rows, columns), partAt(parts, best, rows, columns)];
  if (!to || from === to) return "";
  return PART_NAMES[language][to.kind][from?.kind === to.kind ? "other" : "one"];
}

// A number and its sign stay in one line.
export const together = (share) => percent(share).replaceAll(" ", "\u00a0");

// row: {mark, best, share, rows, columns, even, off, token: the special one that gets the most or "", most,
// beyond: where it looks beyond its neighbours (beyondNear), or null}
export function sayRow(language, row, parts = []) {
  const { mark, best, rows, columns, off } = row;
  const filled = { share: together(row.share), most: together(row.most), token: row.token };
  if (row.even) return aroundPlace(language, "even", { share: together(row.most) }, "");
  const key = (name) => (off ? `off${name[0].toUpperCase()}${name.slice(1)}` : name);
  const here = aroundPlace(language, "here", {}, "").before;
  if (row.token) return aroundPlace(language, key("placeless"), filled, here);
  const name = nameOfPlace(language, parts, mark, best, rows, columns);
  if (name) return aroundPlace(language, key("named"), filled, name);
  if (row.beyond) {
    const placeName = nameOfPlace(language, parts, mark, row.beyond.patch, rows, columns);
    filled.beyond = together(row.beyond.share);
    return aroundPlace(language, placeName ? "itselfNamed" : "itselfThen", filled, placeName || here);
  }
  return aroundPlace(language, key(whereOf(mark, best, rows, columns)), filled, here);
}

// For a patch that looks mostly at itself: its brightest patch beyond the neighbours, {patch, share}; null if too weak.
export function beyondNear(weights, at, { prefixCount, rows, columns }, mark) {
  const beyond = { patch: -1, share: 0 };
  for (let patch = 0; patch < rows * columns; patch++) {
    const share = weights[at + prefixCount + patch];
    if (share > beyond.share && !["itself", "near"].includes(whereOf(mark, patch, rows, columns)))
      Object.assign(beyond, { patch, share });
  }
  return beyond.share >= WORTH_SAYING * weights[at + prefixCount + mark] ? beyond : null;
}

// The share of a row outside the 3 × 3 neighbourhood, prefix tokens included: a convolution reads none of it.
export function outsideNine(weights, at, { prefixCount, rows, columns }, mark) {
  const near = neighbourhood(rows, columns, Math.floor(mark / columns), mark % columns, 3);
  let inside = 0;
  for (let r = near.top; r <= near.bottom; r++)
    for (let c = near.left; c <= near.right; c++) inside += weights[at + prefixCount + r * columns + c];
  return Math.max(0, 1 - inside);
}
