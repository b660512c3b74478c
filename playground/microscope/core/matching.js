// Two pictures by their features: which patch is which, and which parts both have. The same lines as in
// playground/matching.py; tests/analysis/test_matching.py compares the two. No DOM in here.

import { largestIndex } from "./core.js";
import { similarityInto } from "./features.js";

export const PARTS_CUT = 6; // that pictures are cut into, as in Trace.parts
const ROUNDS = 50; // of k-means, at most

// Two pictures' features, as makeFeatures gives them → Int32Array: for each patch of the first the patch of the second
// that resembles it most, if it is mutual: that patch, too, resembles none more. Else −1.
export function matchesOf(one, other) {
  const count = one.tokens - one.from,
    others = other.tokens - other.from;
  const there = new Int32Array(count),
    back = new Int32Array(others);
  const most = new Float32Array(count).fill(-Infinity),
    mostBack = new Float32Array(others).fill(-Infinity);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < others; j++) {
      const alike = alongside(
        one.unit,
        (one.from + i) * one.width,
        other.unit,
        (other.from + j) * one.width,
        one.width,
      );
      if (alike > most[i]) {
        most[i] = alike;
        there[i] = j;
      }
      if (alike > mostBack[j]) {
        mostBack[j] = alike;
        back[j] = i;
      }
    }
  }
  return there.map((j, i) => (back[j] === i ? j : -1));
}

// The same for one token of the first picture: {there: the token of the second that resembles it most, alike: their
// cosine, mutual}.
export function nearestTo(one, token, other) {
  const there = mostAlike(one, token, other);
  const alike = alongside(one.unit, token * one.width, other.unit, there * one.width, one.width);
  return { there, alike, mutual: mostAlike(other, there, one) === token };
}

// The token of the second, or −1.
export function matchOf(one, token, other) {
  const { there, mutual } = nearestTo(one, token, other);
  return mutual ? there : -1;
}

function mostAlike(one, token, other) {
  const row = similarityInto(new Float32Array(other.tokens), other, token, one);
  return largestIndex(row, other.from, other.tokens);
}

// The number of each patch's part, 0 the largest, of one picture or of several together: [Int32Array of each]. k-means
// on the sphere. It begins with the patch nearest to the mean, and goes on with the one that the centres so far
// resemble least: no chance, so the same pictures have the same parts.
export function partsOf(pictures, k) {
  const { width } = pictures[0];
  const count = pictures.reduce((sum, { tokens, from }) => sum + tokens - from, 0);
  const points = new Float32Array(count * width);
  let at = 0;
  for (const { unit, from } of pictures) {
    points.set(unit.subarray(from * width), at);
    at += unit.length - from * width;
  }
  const centres = firstCentres(points, width, Math.min(k, count));
  let of = nearest(points, centres, width).of;
  for (let round = 0; round < ROUNDS; round++) {
    moveInto(centres, points, of, width);
    const next = nearest(points, centres, width).of;
    const still = next.every((part, i) => part === of[i]);
    of = next;
    if (still) break;
  }
  const named = largestFirst(of, centres.length);
  let from = 0;
  return pictures.map((picture) => {
    const its = named.subarray(from, from + picture.tokens - picture.from);
    from += its.length;
    return its;
  });
}

function firstCentres(points, width, k) {
  const mean = new Float64Array(width);
  for (let p = 0; p < points.length; p += width) for (let x = 0; x < width; x++) mean[x] += points[p + x];
  const first = nearest(points, [mean], width).alike.reduce((best, alike, i, all) => (alike > all[best] ? i : best), 0);
  const centres = [Float64Array.from(points.subarray(first * width, (first + 1) * width))];
  while (centres.length < k) {
    const { alike } = nearest(points, centres, width);
    const least = alike.reduce((best, value, i) => (value < alike[best] ? i : best), 0);
    centres.push(Float64Array.from(points.subarray(least * width, (least + 1) * width)));
  }
  return centres;
}

// For each point its nearest centre, and how alike they are.
function nearest(points, centres, width) {
  const of = new Int32Array(points.length / width);
  const alike = new Float64Array(of.length).fill(-Infinity);
  for (let i = 0; i < of.length; i++) {
    for (let part = 0; part < centres.length; part++) {
      const value = alongside(points, i * width, centres[part], 0, width);
      if (value > alike[i]) {
        alike[i] = value;
        of[i] = part;
      }
    }
  }
  return { of, alike };
}

// Each centre moves to the mean direction of its points; one without points stays.
function moveInto(centres, points, of, width) {
  const sums = centres.map(() => new Float64Array(width));
  for (let i = 0; i < of.length; i++) for (let x = 0; x < width; x++) sums[of[i]][x] += points[i * width + x];
  for (const [part, sum] of sums.entries()) {
    const length = Math.sqrt(sum.reduce((total, x) => total + x * x, 0));
    if (length > 0) centres[part] = sum.map((x) => x / length);
  }
}

function largestFirst(of, k) {
  const sizes = new Int32Array(k);
  for (const part of of) sizes[part]++;
  const order = Array.from(sizes, (_, part) => part).sort((a, b) => sizes[b] - sizes[a] || a - b);
  const place = new Int32Array(k);
  order.forEach((part, n) => {
    place[part] = n;
  });
  return of.map((part) => place[part]);
}

function alongside(a, aAt, b, bAt, width) {
  let s0 = 0,
    s1 = 0,
    s2 = 0,
    s3 = 0,
    x = 0;
  for (; x + 3 < width; x += 4) {
    s0 += a[aAt + x] * b[bAt + x];
    s1 += a[aAt + x + 1] * b[bAt + x + 1];
    s2 += a[aAt + x + 2] * b[bAt + x + 2];
    s3 += a[aAt + x + 3] * b[bAt + x + 3];
  }
  for (; x < width; x++) s0 += a[aAt + x] * b[bAt + x];
  return s0 + s1 + s2 + s3;
}
