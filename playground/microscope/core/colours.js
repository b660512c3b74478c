// Turns numbers into colours, by rules that keep two pictures comparable. No DOM.

export const ROLES = { query: "#0072B2", key: "#D55E00", value: "#009E73", convolution: "#E7298A" };

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

// Colours values[offset … offset + rows × columns] into a rectangle of a pixel array that is `stride` pixels wide.
export function paintInto(pixels, pixelOffset, stride, values, offset, rows, columns, palette, domain) {
  const { low, high } = domain;
  const factor = 255 / (high - low || 1);
  for (let r = 0; r < rows; r++) {
    let pixel = pixelOffset + r * stride,
      index = offset + r * columns;
    for (let c = 0; c < columns; c++, pixel++, index++) {
      const level = (values[index] - low) * factor;
      pixels[pixel] = palette[level <= 0 || level !== level ? 0 : level >= 255 ? 255 : (level + 0.5) | 0];
    }
  }
}

// The colour domain of one map, made from this map's values, so that each head has full contrast.
export function ownDomain(values, from, to, signed) {
  let low = Infinity,
    high = -Infinity;
  for (let j = from; j < to; j++) {
    if (values[j] < low) low = values[j];
    if (values[j] > high) high = values[j];
  }
  if (!(high > -Infinity)) return { low: 0, high: 1 };
  if (signed) return { low, high: high > low ? high : low + 1 };
  return { low: 0, high: high > 0 ? high : 1 };
}
