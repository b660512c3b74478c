// Makes a model's input of a picture: see images.py.

// Resizes as Pillow does, to the bit: a browser's own resizing changes rows of attention by half. kernels.c resizes
// along rows, then columns, in fixed point, and rounds to bytes.

const SHARPNESS = -0.5; // a in Keys' filter, as in Pillow, and in torch with antialiasing
const FRACTION_BITS = 22;
const CHANNELS = 4;

function cubic(x) {
  const [a, distance] = [SHARPNESS, Math.abs(x)];
  if (distance < 1) return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
  return distance < 2 ? (((distance - 5) * distance + 8) * distance - 4) * a : 0;
}

// For each of `to` pixels, the source pixels to mix: {first, weights}.
export function contributions(from, to) {
  const scale = from / to;
  const stretch = Math.max(scale, 1);
  const support = 2 * stretch;
  return Array.from({ length: to }, (_, place) => {
    const centre = (place + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const last = Math.min(from, Math.trunc(centre + support + 0.5));
    const weights = Array.from({ length: last - first }, (_, i) => cubic((first + i - centre + 0.5) * (1 / stretch)));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return { first, weights: weights.map((weight) => weight / total) };
  });
}

// As `shrinkage` in images.py. In a picture of more than KEPT_PIXELS, squares of this side count as one pixel.
const KEPT_PIXELS = 2 ** 25;
export const shrinkage = (width, height) => Math.ceil(Math.sqrt((width * height) / KEPT_PIXELS));

// From weights of squares, `step` pixels wide, to weights of their pixels.
function perPixel(mixtures, step, from) {
  if (step === 1) return mixtures;
  return mixtures.map(({ first, weights }) => {
    const shares = weights.map((weight, i) => {
      const count = Math.min(step, from - (first + i) * step); // the last square may be smaller
      return new Array(count).fill(weight / count);
    });
    return { first: first * step, weights: shares.flat() };
  });
}

// The mixtures in fixed point, as `mix` in kernels.c takes them.
function inFixedPoint(from, to, step) {
  const mixtures = perPixel(contributions(Math.ceil(from / step), to), step, from);
  const longest = Math.max(...mixtures.map(({ weights }) => weights.length));
  const [spans, fixed] = [new Int32Array(2 * to), new Int32Array(longest * to)];
  mixtures.forEach(({ first, weights }, place) => {
    spans.set([first, weights.length], 2 * place);
    weights.forEach((weight, i) => {
      fixed[place * longest + i] = Math.trunc(weight * 2 ** FRACTION_BITS + (weight < 0 ? -0.5 : 0.5));
    });
  });
  return { spans, weights: fixed, most: longest, count: to };
}

// Resizes (height, width) to (toHeight, toWidth) in the kernels' memory (t: tensors.js). band(bytes) takes the next
// rows from the top, 4 bytes a pixel, the last ignored. Then end() returns all bytes.
export function createResizer(t, width, height, toWidth, toHeight) {
  const mark = t.mark();
  const step = shrinkage(width, height);
  const rowMixture = t.putMixture(inFixedPoint(width, toWidth, step));
  const narrowAt = t.pixels(height * toWidth);
  let row = 0;
  return {
    band(pixels) {
      const rows = pixels.length / (width * CHANNELS);
      const mark = t.mark();
      const place = t.putPixels(pixels);
      const to = { place: narrowAt + row * toWidth * CHANNELS, line: toWidth, apart: 1 };
      t.mix(rows, rowMixture, { place, line: width, apart: 1 }, to);
      t.backTo(mark);
      row += rows;
    },
    end() {
      if (row !== height) throw new Error(`${row} of ${height} rows of this picture have come.`);
      const columnMixture = t.putMixture(inFixedPoint(height, toHeight, step));
      const place = t.pixels(toHeight * toWidth);
      const columns = { line: 1, apart: toWidth };
      t.mix(toWidth, columnMixture, { place: narrowAt, ...columns }, { place, ...columns });
      t.backTo(mark);
      return t.readPixels(place, toHeight * toWidth);
    },
  };
}

// (H, W, 4) bytes of the displayed picture → (3, H, W) floats, normalised by `mean` and `std`.
export function modelInput(pixels, { mean, std }) {
  const count = pixels.length / 4;
  const out = new Float32Array(3 * count);
  for (let c = 0; c < 3; c++) {
    for (let i = 0; i < count; i++) out[c * count + i] = (pixels[4 * i + c] / 255 - mean[c]) / std[c];
  }
  return out;
}

const BAND_ROWS = 128;

// The picture in this size as (H, W, 4) bytes, the last of each pixel unused; t: tensors.js. readRows(y, count,
// used: a buffer of former rows) promises rows of its pixels: {pixels, order}, see shell/readable.js.
export async function resizedPicture(t, picture, readRows, height, width) {
  const mark = t.mark();
  const resizer = createResizer(t, picture.width, picture.height, width, height);
  let [isBlueFirst, used] = [false, undefined];
  try {
    for (let y = 0; y < picture.height; y += BAND_ROWS) {
      const { pixels, order } = await readRows(y, Math.min(BAND_ROWS, picture.height - y), used);
      isBlueFirst = order.startsWith("BGR");
      resizer.band(pixels);
      used = pixels.buffer;
    }
    const pixels = resizer.end();
    if (isBlueFirst) for (let i = 0; i < pixels.length; i += 4) [pixels[i], pixels[i + 2]] = [pixels[i + 2], pixels[i]];
    return pixels;
  } finally {
    t.backTo(mark); // also of a stopped job
  }
}

// Interpolates learned positions (N, D) from one grid to another, like an image; prefix positions stay.
export function resizedPositions(positions, width, grid, [rows, columns]) {
  const prefix = positions.length - grid[0] * grid[1] * width;
  // (rows, old columns, D)
  const withRows = resized(positions.subarray(prefix), 1, grid[0], grid[1] * width, rows);
  const patches = resized(withRows, rows, grid[1], width, columns); // (rows, columns, D)
  const all = new Float32Array(prefix + patches.length);
  all.set(positions.subarray(0, prefix));
  all.set(patches, prefix);
  return all;
}

// (outer, from, width) → (outer, to, width)
function resized(values, outer, from, width, to) {
  if (from === to) return values;
  const out = new Float32Array(outer * to * width);
  contributions(from, to).forEach(({ first, weights }, place) => {
    for (let o = 0; o < outer; o++) {
      const start = (o * to + place) * width;
      for (let i = 0; i < weights.length; i++) {
        const source = (o * from + first + i) * width;
        const weight = weights[i];
        for (let x = 0; x < width; x++) out[start + x] += weight * values[source + x];
      }
    }
  });
  return out;
}
