// Bicubic resizing as Pillow does it, to the bit: a browser's own makes rows of attention wrong by half. First along
// rows, then along columns, each in fixed point and rounded to bytes; kernels.c does it.

const SUPPORT = 2; // pixels to each side
const SHARPNESS = -0.5; // Keys' a, as in Pillow and in torch's antialiased interpolation
const BITS = 22;
const CHANNELS = 4;

function cubic(x) {
  const a = SHARPNESS;
  const far = Math.abs(x);
  if (far < 1) return ((a + 2) * far - (a + 3)) * far * far + 1;
  return far < 2 ? (((far - 5) * far + 8) * far - 4) * a : 0;
}

// For each of `to` pixels: {first, weights} of those of `from` pixels that it is a mixture of.
export function contributions(from, to) {
  const scale = from / to;
  const wide = Math.max(scale, 1);
  const support = SUPPORT * wide;
  return Array.from({ length: to }, (_, place) => {
    const centre = (place + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const last = Math.min(from, Math.trunc(centre + support + 0.5));
    const weights = Array.from({ length: last - first }, (_, i) => cubic((first + i - centre + 0.5) * (1 / wide)));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return { first, weights: weights.map((weight) => weight / total) };
  });
}

// The same for `mix` in kernels.c, in fixed point.
function inFixedPoint(from, to) {
  const all = contributions(from, to);
  const most = Math.max(...all.map(({ weights }) => weights.length));
  const [spans, fixed] = [new Int32Array(2 * to), new Int32Array(most * to)];
  all.forEach(({ first, weights }, place) => {
    spans.set([first, weights.length], 2 * place);
    weights.forEach((weight, i) => {
      fixed[place * most + i] = Math.trunc(weight * 2 ** BITS + (weight < 0 ? -0.5 : 0.5));
    });
  });
  return { spans, weights: fixed, most, count: to };
}

// Resizes (height, width) to (toHeight, toWidth), in the kernels' memory (`t`: tensors.js). Rows come from the top:
// band(bytes, 4 a pixel, of which the last is not looked at) for some at a time, then end() gives all bytes.
export function createResizer(t, width, height, toWidth, toHeight) {
  const before = t.mark();
  const along = t.putMixture(inFixedPoint(width, toWidth));
  const narrow = t.pixels(height * toWidth);
  let row = 0;
  return {
    band(pixels) {
      const rows = pixels.length / (width * CHANNELS);
      const mark = t.mark();
      const place = t.putPixels(pixels);
      const to = { place: narrow + row * toWidth * CHANNELS, line: toWidth, apart: 1 };
      t.mix(rows, along, { place, line: width, apart: 1 }, to);
      t.backTo(mark);
      row += rows;
    },
    end() {
      if (row !== height) throw new Error(`${row} of ${height} rows of this picture have come.`);
      const down = t.putMixture(inFixedPoint(height, toHeight));
      const place = t.pixels(toHeight * toWidth);
      const columns = { line: 1, apart: toWidth };
      t.mix(toWidth, down, { place: narrow, ...columns }, { place, ...columns });
      t.backTo(before);
      return t.readPixels(place, toHeight * toWidth);
    },
  };
}
