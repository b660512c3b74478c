// Turns numbers into colours, by rules that keep two pictures comparable. No DOM.

export const ROLES = { query: "#0072B2", key: "#D55E00", value: "#009E73", convolution: "#E7298A" };

// Colours of the parts of a picture (partsOf in features.js), the largest part first. They differ from the colours of
// queries, keys and values, and colour-blind people can tell them apart (Paul Tol's muted palette).
export const PART_COLOURS = ["#332288", "#88CCEE", "#DDCC77", "#CC6677", "#999933", "#882255"];

// Rounds x to 1, 2 or 5 times a power of ten.
export function niceNumber(x) {
  if (!(x > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(x));
  const mantissa = x / power;
  return (mantissa < Math.SQRT2 ? 1 : mantissa < 3.1623 ? 2 : mantissa < 7.0711 ? 5 : 10) * power;
}

// The shared exposure: twenty times an even row's weight, rounded. It depends only on the number of tokens, so that
// colours compare across heads, layers, queries, scales and images of one resolution.
export const sharedCeiling = (tokens) => Math.min(1, niceNumber(20 / tokens));

// A value's place on the colour map, 0 … 255. A domain is {low, high, log}.
export function colourIndex(value, domain) {
  const { low, high, log } = domain;
  const position = log ? Math.log(Math.max(value, 1e-30) / low) / Math.log(high / low) : (value - low) / (high - low);
  return position <= 0 || position !== position ? 0 : position >= 1 ? 255 : Math.round(position * 255);
}

// Colours values[offset … offset + rows × columns] into a rectangle of a pixel array that is `stride` pixels wide.
export function paintInto(pixels, pixelOffset, stride, values, offset, rows, columns, palette, domain) {
  const { low, high, log } = domain;
  const factor = log ? 255 / Math.log(high / low) : 255 / (high - low || 1);
  for (let r = 0; r < rows; r++) {
    let pixel = pixelOffset + r * stride,
      index = offset + r * columns;
    for (let c = 0; c < columns; c++, pixel++, index++) {
      const level = log ? Math.log(Math.max(values[index], 1e-30) / low) * factor : (values[index] - low) * factor;
      pixels[pixel] = palette[level <= 0 || level !== level ? 0 : level >= 255 ? 255 : (level + 0.5) | 0];
    }
  }
}

// The colour domain of one map, made from this map's values, so that each head has full contrast.
export function ownDomain(values, from, to, log, signed) {
  let low = Infinity,
    high = -Infinity;
  for (let j = from; j < to; j++) {
    if (values[j] < low) low = values[j];
    if (values[j] > high) high = values[j];
  }
  if (!(high > -Infinity)) return { low: 0, high: 1, log: false };
  if (signed) return { low, high: high > low ? high : low + 1, log: false };
  high = high > 0 ? high : 1;
  return log ? { low: high / 1000, high, log: true } : { low: 0, high, log: false };
}

// Magma, the colour map of matplotlib 2.0 (Nathaniel J. Smith and Stéfan van der Walt, released as CC0): 256 published
// colours from black to pale yellow, perceptually uniform and safe for the colour-blind. They are listed, not
// approximated: a pixel on the page and a pixel in a matplotlib figure are the same three bytes.

const MAGMA_HEX =
  "00000401000501010601010802010902020b02020d03030f03031204041405041606051806051a07061c08071e090720" +
  "0a08220b09240c09260d0a290e0b2b100b2d110c2f120d31130d34140e36150e38160f3b180f3d19103f1a10421c1044" +
  "1d11471e114920114b21114e22115024125325125527125829115a2a115c2c115f2d11612f1163311165331067341069" +
  "36106b38106c390f6e3b0f703d0f713f0f72400f74420f75440f764510774710784910784a10794c117a4e117b4f127b" +
  "51127c52137c54137d56147d57157e59157e5a167e5c167f5d177f5f187f601880621980641a80651a80671b80681c81" +
  "6a1c816b1d816d1d816e1e81701f81721f817320817521817621817822817922827b23827c23827e2482802582812581" +
  "8326818426818627818827818928818b29818c29818e2a81902a81912b81932b80942c80962c80982d80992d809b2e7f" +
  "9c2e7f9e2f7fa02f7fa1307ea3307ea5317ea6317da8327daa337dab337cad347cae347bb0357bb2357bb3367ab5367a" +
  "b73779b83779ba3878bc3978bd3977bf3a77c03a76c23b75c43c75c53c74c73d73c83e73ca3e72cc3f71cd4071cf4070" +
  "d0416fd2426fd3436ed5446dd6456cd8456cd9466bdb476adc4869de4968df4a68e04c67e24d66e34e65e44f64e55064" +
  "e75263e85362e95462ea5661eb5760ec5860ed5a5fee5b5eef5d5ef05f5ef1605df2625df2645cf3655cf4675cf4695c" +
  "f56b5cf66c5cf66e5cf7705cf7725cf8745cf8765cf9785df9795df97b5dfa7d5efa7f5efa815ffb835ffb8560fb8761" +
  "fc8961fc8a62fc8c63fc8e64fc9065fd9266fd9467fd9668fd9869fd9a6afd9b6bfe9d6cfe9f6dfea16efea36ffea571" +
  "fea772fea973feaa74feac76feae77feb078feb27afeb47bfeb67cfeb77efeb97ffebb81febd82febf84fec185fec287" +
  "fec488fec68afec88cfeca8dfecc8ffecd90fecf92fed194fed395fed597fed799fed89afdda9cfddc9efddea0fde0a1" +
  "fde2a3fde3a5fde5a7fde7a9fde9aafdebacfcecaefceeb0fcf0b2fcf2b4fcf4b6fcf6b8fcf7b9fcf9bbfcfbbdfcfdbf";

export const MAGMA = Uint8Array.from({ length: 768 }, (_, i) => parseInt(MAGMA_HEX.slice(2 * i, 2 * i + 2), 16));
