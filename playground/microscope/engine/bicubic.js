// Resizing as Pillow does it, to the bit: bicubic, widened where a picture gets smaller. A browser's own resizing
// gives other pixels, and rows of attention that are wrong by half. First along rows, then along columns; each pass
// works with 22 bits of fixed point and is rounded to bytes.

const SUPPORT = 2; // pixels to each side
const SHARPNESS = -0.5; // Keys' a, as in Pillow and in torch's antialiased interpolation
const BITS = 22;

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

const inFixedPoint = ({ first, weights }) => ({
  first,
  weights: Int32Array.from(weights, (weight) => Math.trunc(weight * 2 ** BITS + (weight < 0 ? -0.5 : 0.5))),
});

// Resizes from (height, width) to (toHeight, toWidth). Rows come from the top, in as many bands as one likes, so that a
// large picture is never here as a whole: band(rows, channels), then end(), which gives (toHeight, toWidth, 3) bytes.
export function createResizer(width, height, toWidth, toHeight) {
  const along = contributions(width, toWidth).map(inFixedPoint);
  const narrow = new Uint8ClampedArray(height * toWidth * 3);
  let row = 0;
  return {
    // `pixels`: bytes of whole rows, with 3 channels or 4, of which the last is not looked at.
    band(pixels, channels) {
      const rows = pixels.length / (width * channels);
      for (let y = 0; y < rows; y++, row++) {
        const from = y * width * channels;
        let at = row * toWidth * 3;
        for (let x = 0; x < toWidth; x++, at += 3) {
          if (width === toWidth) copy(narrow, at, pixels, from + x * channels);
          else mix(narrow, at, along[x], pixels, from, channels);
        }
      }
    },
    end() {
      if (row !== height) throw new Error(`${row} of ${height} rows of this picture have come.`);
      if (height === toHeight) return narrow;
      const out = new Uint8ClampedArray(toHeight * toWidth * 3);
      contributions(height, toHeight)
        .map(inFixedPoint)
        .forEach((down, y) => {
          for (let x = 0; x < toWidth; x++) mix(out, (y * toWidth + x) * 3, down, narrow, x * 3, toWidth * 3);
        });
      return out;
    },
  };
}

function copy(out, at, pixels, from) {
  for (let c = 0; c < 3; c++) out[at + c] = pixels[from + c];
}

// A mixture of pixels that lie `step` bytes apart.
function mix(out, at, { first, weights }, pixels, from, step) {
  let red = 1 << (BITS - 1); // one half
  let green = red;
  let blue = red;
  let source = from + first * step;
  for (let i = 0; i < weights.length; i++, source += step) {
    const weight = weights[i];
    red += weight * pixels[source];
    green += weight * pixels[source + 1];
    blue += weight * pixels[source + 2];
  }
  out[at] = red >> BITS;
  out[at + 1] = green >> BITS;
  out[at + 2] = blue >> BITS;
}
