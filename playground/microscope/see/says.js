// Writes See's sentence and the line under the sentence, from the texts in words.js that fit the numbers of a row. No
// DOM.
import { neighbourhood } from "../core/core.js";
import { percent } from "../core/numbers.js";
import { aroundPlace, PART_NAMES, seeWords } from "./words.js";

const FAR_SHARE = 0.15; // distance as a share of the picture's longer side, as in core/moments.js
const LEAST_BEYOND_RATIO = 0.1; // least share of the patch beyond the neighbours, relative to the patch's own share

// How far the brightest patch is from the asking patch: "itself" | "near" | "aside" | "far".
export function whereOf(mark, brightest, rows, columns) {
  if (mark === brightest) return "itself";
  const [rowDistance, columnDistance] = [
    Math.abs(Math.floor(mark / columns) - Math.floor(brightest / columns)),
    Math.abs((mark % columns) - (brightest % columns)),
  ];
  const distance = Math.max(rowDistance, columnDistance);
  if (distance <= 1) return "near";
  return distance > FAR_SHARE * Math.max(rows, columns) ? "far" : "aside";
}

// The part of a sample that a patch lies in. parts: [{kind, box: [top, left, bottom, right] in shares}]
export function partAt(parts, patch, rows, columns) {
  return parts.find((part) => isInPart(part, patch, rows, columns)) ?? null;
}

export function isInPart({ box: [top, left, bottom, right] }, patch, rows, columns) {
  const y = (Math.floor(patch / columns) + 0.5) / rows;
  const x = ((patch % columns) + 0.5) / columns;
  return y >= top && y < bottom && x >= left && x < right;
}

// What a row gives to a named part: the sum over all patches in its box. first: index of the first patch's weight.
export function shareOfPart(part, weights, first, { rows, columns }) {
  let total = 0;
  for (let patch = 0; patch < rows * columns; patch++)
    if (isInPart(part, patch, rows, columns)) total += weights[first + patch];
  return total;
}

// The name of the brightest patch's place, such as "the other eye"; "" if the sample has no name for this place, or if
// the asking patch lies in the same part.
export function nameOfPlace(language, parts, mark, brightest, rows, columns) {
  const [fromPart, toPart] = [partAt(parts, mark, rows, columns), partAt(parts, brightest, rows, columns)];
  if (!toPart || fromPart === toPart) return "";
  return PART_NAMES[language][toPart.kind][fromPart?.kind === toPart.kind ? "other" : "one"];
}

// A percentage with a non-breaking space before its sign.
export const unbrokenPercent = (share) => percent(share).replaceAll(" ", "\u00a0");

// The sentence about a row. row: {mark, best: the patch with the largest share, share: of that patch, shareOf(part):
// the row's sum over a named part, rows, columns, even, off: whether the division by √d_k is off, token: the special
// token with the largest share or "", most: the largest share of all tokens, beyond: see beyondNear, or null}
export function sayRow(language, row, parts = []) {
  const { mark, best: brightest, rows, columns, off: isOff } = row;
  if (row.even) return aroundPlace(language, "even", { share: unbrokenPercent(row.most) }, "");
  const share = shareSaid(row, parts);
  const values = { share: unbrokenPercent(share), most: unbrokenPercent(row.most), token: row.token };
  values.mostly = share > 0.5 ? seeWords(language, "mostly") : "";
  const keyOf = (name) => (isOff ? `off${name[0].toUpperCase()}${name.slice(1)}` : name);
  const hereWord = aroundPlace(language, "here", {}, "").before;
  if (row.token) return aroundPlace(language, keyOf("placeless"), values, hereWord);
  const name = nameOfPlace(language, parts, mark, brightest, rows, columns);
  if (name) return aroundPlace(language, keyOf("named"), values, name);
  if (row.beyond) {
    const placeName = nameOfPlace(language, parts, mark, row.beyond.patch, rows, columns);
    const beyondPart = placeName && partAt(parts, row.beyond.patch, rows, columns);
    values.beyond = unbrokenPercent(beyondPart ? row.shareOf(beyondPart) : row.beyond.share);
    return aroundPlace(language, placeName ? "itselfNamed" : "itselfThen", values, placeName || hereWord);
  }
  return aroundPlace(language, keyOf(whereOf(mark, brightest, rows, columns)), values, hereWord);
}

// The share that the sentence states: of the whole part if it names one, else of the brightest patch.
export function shareSaid({ mark, best: brightest, share, shareOf, token, rows, columns }, parts) {
  const part = token ? null : partAt(parts, brightest, rows, columns);
  return part && part !== partAt(parts, mark, rows, columns) ? shareOf(part) : share;
}

// For a patch that gives most to itself: the brightest patch beyond the neighbours, {patch, share}; null if its share
// is too small.
export function beyondNear(weights, start, { prefixCount, rows, columns }, mark) {
  const largest = { patch: -1, share: 0 };
  for (let patch = 0; patch < rows * columns; patch++) {
    const share = weights[start + prefixCount + patch];
    if (share > largest.share && !["itself", "near"].includes(whereOf(mark, patch, rows, columns)))
      Object.assign(largest, { patch, share });
  }
  return largest.share >= LEAST_BEYOND_RATIO * weights[start + prefixCount + mark] ? largest : null;
}

// The share of a row outside the 3 × 3 neighbourhood, prefix tokens included: a convolution reads none of it.
export function outsideShare(weights, start, { prefixCount, rows, columns }, mark) {
  const neighbours = neighbourhood(rows, columns, Math.floor(mark / columns), mark % columns, 3);
  let nearTotal = 0;
  for (let r = neighbours.top; r <= neighbours.bottom; r++)
    for (let c = neighbours.left; c <= neighbours.right; c++)
      nearTotal += weights[start + prefixCount + r * columns + c];
  return Math.max(0, 1 - nearTotal);
}
