// Features of a layer, one vector a token: how alike two tokens are, which colours their principal components give, how
// long they are; and two pictures matched by them. They come once for a layer, and then everything follows the cursor.
// No DOM in here.
//
// {tokens, width, from: how many prefix tokens come first, unit: each token's vector at length 1, norms, raw}

import { decodeHalves, largestIndex, neighbourhood } from "./core.js";

// `columns` of the picture's grid: where it is cut into parts.
export function makeFeatures(bits, tokens, width, from, columns = 1) {
  const raw = bits instanceof Uint16Array ? decodeHalves(bits) : bits;
  const unit = new Float32Array(raw.length);
  const norms = new Float32Array(tokens);
  for (let j = 0; j < tokens; j++) {
    let square = 0;
    for (let x = j * width; x < (j + 1) * width; x++) square += raw[x] * raw[x];
    norms[j] = Math.sqrt(square);
    const by = norms[j] > 0 ? 1 / norms[j] : 0;
    for (let x = j * width; x < (j + 1) * width; x++) unit[x] = raw[x] * by;
  }
  return { tokens, width, from, columns, raw, unit, norms };
}

// Fills `out` with the cosine of a token's features and every token's of `features`. The token may be of another
// picture: `asked` holds its features.
export function similarityInto(out, features, token, asked = features) {
  const { tokens, width, unit } = features;
  const at = token * width;
  for (let j = 0, k = 0; j < tokens; j++, k += width) {
    let a = 0,
      b = 0,
      c = 0,
      d = 0,
      x = 0;
    for (; x + 3 < width; x += 4) {
      a += asked.unit[at + x] * unit[k + x];
      b += asked.unit[at + x + 1] * unit[k + x + 1];
      c += asked.unit[at + x + 2] * unit[k + x + 2];
      d += asked.unit[at + x + 3] * unit[k + x + 3];
    }
    for (; x < width; x++) a += asked.unit[at + x] * unit[k + x];
    out[j] = a + b + c + d;
  }
  return out;
}

const ITERATIONS = 60; // at most
const STILL = 1e-8; // less than this turned: the direction is found

// The mean and the first three principal directions of all patches' unit vectors, of one picture or of several
// together, so that the same part has the same colour in both. By power iteration: X is never multiplied out to width ×
// width.
export function principal(pictures) {
  const { width } = pictures[0];
  const { mean, patches } = centred(pictures, width);
  const directions = [];
  for (let n = 0; n < 3; n++) {
    let direction = Float64Array.from({ length: width }, (_, x) => Math.sin(1 + x * (n + 1))); // any start but 0
    normalise(direction); // else the first step already looks as if nothing turned
    for (let i = 0; i < ITERATIONS; i++) {
      const next = timesItself(patches, direction);
      for (const former of directions) takeOut(next, former);
      normalise(next);
      const turned = 1 - Math.abs(inner(next, 0, direction));
      direction = next;
      if (turned < STILL) break;
    }
    directions.push(direction);
  }
  const found = { mean, directions, ranges: [] };
  found.ranges = directions.map((direction) => rangeOf(patches, direction));
  return found;
}

// mean: (width,); patches: (count × width), what each patch has beyond the mean
function centred(pictures, width) {
  const count = pictures.reduce((sum, { tokens, from }) => sum + tokens - from, 0);
  const patches = new Float32Array(count * width);
  let at = 0;
  for (const { unit, from } of pictures) {
    patches.set(unit.subarray(from * width), at);
    at += unit.length - from * width;
  }
  const mean = new Float64Array(width);
  for (let p = 0; p < patches.length; p += width) for (let x = 0; x < width; x++) mean[x] += patches[p + x] / count;
  for (let p = 0; p < patches.length; p += width) for (let x = 0; x < width; x++) patches[p + x] -= mean[x];
  return { mean, patches };
}

// Xᵀ(X·direction)
function timesItself(patches, direction) {
  const width = direction.length;
  const out = new Float64Array(width);
  for (let p = 0; p < patches.length; p += width) {
    const along = inner(patches, p, direction);
    for (let x = 0; x < width; x++) out[x] += along * patches[p + x];
  }
  return out;
}

function inner(a, at, b) {
  let s0 = 0,
    s1 = 0,
    x = 0;
  for (; x + 1 < b.length; x += 2) {
    s0 += a[at + x] * b[x];
    s1 += a[at + x + 1] * b[x + 1];
  }
  return x < b.length ? s0 + s1 + a[at + x] * b[x] : s0 + s1;
}

function takeOut(vector, direction) {
  let along = 0;
  for (let x = 0; x < vector.length; x++) along += vector[x] * direction[x];
  for (let x = 0; x < vector.length; x++) vector[x] -= along * direction[x];
}

// A direction has no sign of its own: its largest entry is made positive, so that colours are the same each time.
function normalise(vector) {
  let square = 0,
    largest = 0;
  for (const x of vector) {
    square += x * x;
    if (Math.abs(x) > Math.abs(largest)) largest = x;
  }
  const by = square > 0 ? Math.sign(largest) / Math.sqrt(square) : 0;
  for (let x = 0; x < vector.length; x++) vector[x] *= by;
}

function along(unit, at, { mean, directions }, n) {
  let sum = 0;
  for (let x = 0; x < mean.length; x++) sum += (unit[at + x] - mean[x]) * directions[n][x];
  return sum;
}

// Where a colour is dark and where it is bright: at the 2nd and the 98th of a hundred patches.
function rangeOf(patches, direction) {
  const values = new Float64Array(patches.length / direction.length);
  for (let j = 0; j < values.length; j++) values[j] = inner(patches, j * direction.length, direction);
  values.sort();
  const low = values[Math.floor(0.02 * (values.length - 1))],
    high = values[Math.ceil(0.98 * (values.length - 1))];
  return [low, high > low ? high : low + 1];
}

// One pixel a patch as canvas wants them, 0xAABBGGRR: the three components as red, green and blue.
export function componentPixels(features, found) {
  const { tokens, width, from, unit } = features;
  const pixels = new Uint32Array(tokens - from);
  for (let j = from; j < tokens; j++) {
    const rgb = found.ranges.map(([low, high], n) => {
      const share = (along(unit, j * width, found, n) - low) / (high - low);
      return Math.round(255 * Math.min(1, Math.max(0, share)));
    });
    pixels[j - from] = ((255 << 24) | (rgb[2] << 16) | (rgb[1] << 8) | rgb[0]) >>> 0;
  }
  return pixels;
}

// Lengths that stand apart. The bound is Tukey's for what is far out: the upper quartile and three times the distance
// between the quartiles. The twin of `bound` in playground/analysis/token_norms.py. No DOM in here.

// Of values[from … to].
export function boundOf(values, from, to) {
  const sorted = Float64Array.from(values.subarray(from, to)).sort();
  const quantile = (q) => {
    const at = q * (sorted.length - 1);
    const below = Math.floor(at);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
  };
  const [low, high] = [quantile(0.25), quantile(0.75)];
  return high + 3 * (high - low);
}

// {bound, count: of those beyond it, domain: the range of the others}
export function withoutOutliers(values, from, to) {
  const bound = boundOf(values, from, to);
  const within = values.subarray(from, to).filter((value) => value <= bound);
  const low = within.reduce((a, b) => Math.min(a, b), Infinity);
  const high = within.reduce((a, b) => Math.max(a, b), -Infinity);
  return {
    bound,
    count: to - from - within.length,
    domain: { low, high: high > low ? high : low + 1, log: false },
  };
}

// Two pictures by their features: which patch is which, and which parts both have. The same lines as in
// playground/matching.py; tests/analysis/test_matching.py compares the two. No DOM in here.

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
// on the sphere, of each patch's 3 × 3. It begins with the one nearest to the mean, and goes on with the one that the
// centres so far resemble least: no chance, so the same pictures have the same parts.
export function partsOf(pictures, k) {
  const { width } = pictures[0];
  const count = pictures.reduce((sum, { tokens, from }) => sum + tokens - from, 0);
  const points = new Float32Array(count * width);
  let at = 0;
  for (const picture of pictures) {
    points.set(around(picture), at);
    at += (picture.tokens - picture.from) * width;
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

// The direction of each patch together with its eight neighbours; there are fewer at an edge.
function around({ unit, from, columns, tokens, width }) {
  const rows = (tokens - from) / columns;
  const out = new Float32Array((tokens - from) * width);
  for (let patch = 0; patch < rows * columns; patch++) {
    const { top, bottom, left, right } = neighbourhood(rows, columns, Math.floor(patch / columns), patch % columns, 3);
    const sum = out.subarray(patch * width, (patch + 1) * width);
    for (let row = top; row <= bottom; row++)
      for (let column = left; column <= right; column++)
        for (let x = 0, at = (from + row * columns + column) * width; x < width; x++) sum[x] += unit[at + x];
    const length = Math.sqrt(sum.reduce((total, x) => total + x * x, 0));
    for (let x = 0; x < width; x++) sum[x] /= Math.max(length, 1e-12);
  }
  return out;
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

// Four sums at a time: one would wait for its own result.
export function alongside(a, aAt, b, bAt, width) {
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
