// Features of a layer, one vector for each token: their similarity, the colours of their principal components, their
// lengths, and matches between two pictures. They are loaded once for each layer, so moving the cursor sends no
// request. No DOM.
// Features are {tokens, width, from: the number of prefix tokens, raw: the vectors, unit: the vectors scaled to length
// 1, norms: the lengths of the raw vectors}.

import { decodeHalves, dot } from "./core.js";

export function makeFeatures(bits, tokens, width, from) {
  const values = bits instanceof Uint16Array ? decodeHalves(bits) : bits;
  const unit = new Float32Array(values.length);
  const norms = new Float32Array(tokens);
  for (let j = 0; j < tokens; j++) {
    let square = 0;
    for (let x = j * width; x < (j + 1) * width; x++) square += values[x] * values[x];
    norms[j] = Math.sqrt(square);
    const factor = norms[j] > 0 ? 1 / norms[j] : 0;
    for (let x = j * width; x < (j + 1) * width; x++) unit[x] = values[x] * factor;
  }
  return { tokens, width, from, raw: values, unit, norms };
}

// Writes the cosines of one token with every token of `features`. queryFeatures: the features of the picture that
// contains the one token.
export function similarityInto(out, features, token, queryFeatures = features) {
  const { tokens, width, unit } = features;
  for (let j = 0; j < tokens; j++) out[j] = dot(queryFeatures.unit, token * width, unit, j * width, width);
  return out;
}

const ITERATIONS = 60; // maximum of power iterations
const LEAST_ROTATION = 1e-8; // the iteration ends when the direction turns by less than this

// The mean and the first three principal directions of all patches' unit vectors. Several pictures are analysed
// together, so that the same part has the same colour in all. Power iteration avoids the width × width matrix.
export function principalComponents(pictures) {
  const { width } = pictures[0];
  const { mean, patches } = centred(pictures, width);
  const directions = [];
  for (let n = 0; n < 3; n++) {
    let direction = Float64Array.from({ length: width }, (_, x) => Math.sin(1 + x * (n + 1))); // any start but 0
    normalise(direction); // between vectors of length 1, the measure of rotation below is 0 only for equal directions
    for (let i = 0; i < ITERATIONS; i++) {
      const product = covarianceTimes(patches, direction);
      for (const formerDirection of directions) projectOut(product, formerDirection);
      normalise(product);
      const rotation = 1 - Math.abs(inner(product, 0, direction));
      direction = product;
      if (rotation < LEAST_ROTATION) break;
    }
    directions.push(direction);
  }
  const components = { mean, directions, ranges: [] };
  components.ranges = directions.map((direction) => rangeOf(patches, direction));
  return components;
}

// mean: (width,); patches: (count × width), each patch minus the mean
function centred(pictures, width) {
  const count = pictures.reduce((sum, { tokens, from }) => sum + tokens - from, 0);
  const patches = new Float32Array(count * width);
  let offset = 0;
  for (const { unit, from } of pictures) {
    patches.set(unit.subarray(from * width), offset);
    offset += unit.length - from * width;
  }
  const mean = new Float64Array(width);
  for (let p = 0; p < patches.length; p += width) for (let x = 0; x < width; x++) mean[x] += patches[p + x] / count;
  for (let p = 0; p < patches.length; p += width) for (let x = 0; x < width; x++) patches[p + x] -= mean[x];
  return { mean, patches };
}

// Xᵀ(X·direction)
function covarianceTimes(patches, direction) {
  const width = direction.length;
  const product = new Float64Array(width);
  for (let p = 0; p < patches.length; p += width) {
    const projection = inner(patches, p, direction);
    for (let x = 0; x < width; x++) product[x] += projection * patches[p + x];
  }
  return product;
}

function inner(a, start, b) {
  let s0 = 0,
    s1 = 0,
    x = 0;
  for (; x + 1 < b.length; x += 2) {
    s0 += a[start + x] * b[x];
    s1 += a[start + x + 1] * b[x + 1];
  }
  return x < b.length ? s0 + s1 + a[start + x] * b[x] : s0 + s1;
}

function projectOut(vector, direction) {
  let projection = 0;
  for (let x = 0; x < vector.length; x++) projection += vector[x] * direction[x];
  for (let x = 0; x < vector.length; x++) vector[x] -= projection * direction[x];
}

// Scales a vector to length 1. The sign of a direction is arbitrary: the largest entry is made positive, so that
// colours are always the same.
function normalise(vector) {
  let square = 0,
    largest = 0;
  for (const x of vector) {
    square += x * x;
    if (Math.abs(x) > Math.abs(largest)) largest = x;
  }
  const factor = square > 0 ? Math.sign(largest) / Math.sqrt(square) : 0;
  for (let x = 0; x < vector.length; x++) vector[x] *= factor;
}

function projectionOf(unit, start, { mean, directions }, n) {
  let sum = 0;
  for (let x = 0; x < mean.length; x++) sum += (unit[start + x] - mean[x]) * directions[n][x];
  return sum;
}

// The values of a component that are drawn darkest and brightest: its 2nd and 98th percentiles.
function rangeOf(patches, direction) {
  const projections = new Float64Array(patches.length / direction.length);
  for (let j = 0; j < projections.length; j++) projections[j] = inner(patches, j * direction.length, direction);
  projections.sort();
  const low = projections[Math.floor(0.02 * (projections.length - 1))],
    high = projections[Math.ceil(0.98 * (projections.length - 1))];
  return [low, high > low ? high : low + 1];
}

// One pixel for each patch, 0xAABBGGRR: the three components as red, green and blue.
export function componentPixels(features, components) {
  const { tokens, width, from, unit } = features;
  const pixels = new Uint32Array(tokens - from);
  for (let j = from; j < tokens; j++) {
    const rgb = components.ranges.map(([low, high], n) => {
      const share = (projectionOf(unit, j * width, components, n) - low) / (high - low);
      return Math.round(255 * Math.min(1, Math.max(0, share)));
    });
    pixels[j - from] = ((255 << 24) | (rgb[2] << 16) | (rgb[1] << 8) | rgb[0]) >>> 0;
  }
  return pixels;
}
