// The places of a row: connected groups of lit patches, each with the share of the row that it sums to. No DOM.

import { patchDistance } from "./grid.js";
import { neighbourRadius } from "./kinds.js";
import { contours, exposure } from "./light.js";

export const LIT_SHARE = 0.2; // a patch is lit from this share of the exposure on, so that a place is what is seen
const MOST_TOLD = 3; // a sentence tells at most this many places
export const MOSTLY = 0.5; // the told places hold at least this share together
const LARGE_PLACE = 0.5; // share of the picture: what is larger is no place

// Returns [{patches, share, area: of the picture, brightest}], the largest share first. Patches that touch, at corners
// too, are one place. from: the index of the first patch's weight.
export function placesOf(weights, from, { rows, columns }) {
  const isLit = litPatches(weights, from, rows * columns);
  const places = [];
  for (let start = 0; start < isLit.length; start++) {
    if (!isLit[start]) continue;
    isLit[start] = 0;
    const place = { patches: [start], share: 0, area: 0, brightest: start };
    for (const patch of place.patches) {
      place.share += weights[from + patch];
      if (weights[from + patch] > weights[from + place.brightest]) place.brightest = patch;
      const [row, column] = [Math.floor(patch / columns), patch % columns];
      for (let r = Math.max(0, row - 1); r <= Math.min(rows - 1, row + 1); r++)
        for (let c = Math.max(0, column - 1); c <= Math.min(columns - 1, column + 1); c++)
          if (isLit[r * columns + c]) {
            isLit[r * columns + c] = 0;
            place.patches.push(r * columns + c);
          }
    }
    place.area = place.patches.length / isLit.length;
    places.push(place);
  }
  return places.sort((a, b) => b.share - a.share);
}

function litPatches(weights, from, count) {
  const least = LIT_SHARE * exposure(weights, from, from + count);
  const isLit = new Uint8Array(count);
  for (let j = 0; j < count; j++) isLit[j] = weights[from + j] >= least ? 1 : 0;
  return isLit;
}

// The places of a row with names, the largest first: [{patches, share, brightest, own, near, part}]. own: whether the
// asking patch `mark` lies in it; near: whether half of an own place's share is near `mark`. parts: the sample's,
// [{kind, box: [top, left, bottom, right] in shares}]. A place whose brightest patch
// lies in one of them, which has no less than the place, bears its name, `part`, once, and the sum over its box.
export const namedPlaces = (weights, from, grid, mark, parts) =>
  withNames(placesOf(weights, from, grid), weights, from, grid, mark, parts);

function withNames(found, weights, from, grid, mark, parts = []) {
  const others = parts.filter((part) => !isInPart(part, mark, grid));
  const places = found.map((place) => {
    const isOwn = place.patches.includes(mark);
    const isNear = isOwn && 2 * shareNear(place, weights, from, grid, mark) >= place.share;
    return {
      ...place,
      own: isOwn,
      near: isNear,
      ...(isOwn ? { part: null } : named(place, weights, from, grid, others)),
    };
  });
  places.sort((a, b) => b.share - a.share); // a named place has the sum over its box
  return places.filter(({ part }, i) => !part || places.findIndex((place) => place.part === part) === i);
}

// What is told of a row: {kind, places}. "one": a place holds at least half; "own": the asking patch's own place does;
// "several": two or three places do together; "spread": it takes more.
export function toldOf(weights, from, grid, mark, parts = []) {
  const found = placesOf(weights, from, grid);
  const places = withNames(found, weights, from, grid, mark, parts);
  const told = [];
  let total = 0;
  for (const place of places.slice(0, MOST_TOLD)) {
    if (place.area > LARGE_PLACE) break;
    told.push(place);
    total += place.share;
    if (total >= MOSTLY) return { kind: told.length > 1 ? "several" : place.own ? "own" : "one", places: told };
  }
  const lit = found.reduce((sum, { patches }) => sum + patches.length, 0);
  return { kind: "spread", places: places.slice(0, 1), lit };
}

function shareNear({ patches }, weights, from, { rows, columns }, mark) {
  const radius = neighbourRadius(rows, columns);
  const nearPatches = patches.filter((patch) => patchDistance(patch, mark, columns) <= radius);
  return nearPatches.reduce((sum, patch) => sum + weights[from + patch], 0);
}

function named(place, weights, from, grid, parts) {
  for (const part of parts.filter((part) => isInPart(part, place.brightest, grid))) {
    const share = shareOfPart(part, weights, from, grid);
    if (share >= place.share) return { part, share };
  }
  return { part: null };
}

// The part of a sample that a patch lies in, or null.
export const partAt = (parts, patch, grid) => parts.find((part) => isInPart(part, patch, grid)) ?? null;

export function isInPart({ box: [top, left, bottom, right] }, patch, { rows, columns }) {
  const y = (Math.floor(patch / columns) + 0.5) / rows;
  const x = ((patch % columns) + 0.5) / columns;
  return y >= top && y < bottom && x >= left && x < right;
}

// What a row gives to a named part: the sum over all patches in its box.
export function shareOfPart(part, weights, from, grid) {
  let total = 0;
  for (let patch = 0; patch < grid.rows * grid.columns; patch++)
    if (isInPart(part, patch, grid)) total += weights[from + patch];
  return total;
}

// The outer border of a group of patches, as paths of `contours`. Holes have no border: a place full of outlined holes
// could not be seen.
export function outlineOf(patches, { rows, columns }) {
  const chosen = new Uint8Array(rows * columns);
  for (const patch of patches) chosen[patch] = 1;
  return contours(chosen, rows, columns).filter((path) => areaOf(path) > 0);
}

// The area inside a path; below zero around a hole.
const areaOf = (path) =>
  path.reduce((sum, y, i) => {
    if (i % 2) return sum;
    return sum + path[i + 1] * path[(i + 2) % path.length] - path[(i + 3) % path.length] * y;
  }, 0) / 2;
