// From numbers to colours, by rules that keep two pictures comparable. No DOM in here.

export const ROLES = { query: "#0072B2", key: "#D55E00", value: "#009E73", convolution: "#E7298A" };

// Of parts, the largest first: none is the colour of a role, and all differ for the colour-blind (Paul Tol's muted).
export const PART_COLOURS = ["#332288", "#88CCEE", "#DDCC77", "#CC6677", "#999933", "#882255"];

// The 1-2-5 number nearest to x.
export function niceNumber(x) {
  if (!(x > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(x));
  const rest = x / power;
  return (rest < Math.SQRT2 ? 1 : rest < 3.1623 ? 2 : rest < 7.0711 ? 5 : 10) * power;
}

// Where the shared colours end: twenty times the weight of a uniform row, made round. It depends on the number of
// tokens alone, so that colours can be compared across all heads, layers, queries, scales and images of one resolution.
export const sharedCeiling = (tokens) => Math.min(1, niceNumber(20 / tokens));

// A value's place on the colour map, 0 … 255. A domain is {low, high, log}.
export function colourIndex(value, domain) {
  const { low, high, log } = domain;
  const t = log ? Math.log(Math.max(value, 1e-30) / low) / Math.log(high / low) : (value - low) / (high - low);
  return t <= 0 || t !== t ? 0 : t >= 1 ? 255 : Math.round(t * 255);
}

// Colours values[at … at + rows × columns] into a rectangle of a pixel array that is `stride` pixels wide.
export function paintInto(pixels, to, stride, values, at, rows, columns, palette, domain) {
  const { low, high, log } = domain;
  const span = log ? 255 / Math.log(high / low) : 255 / (high - low || 1);
  for (let r = 0; r < rows; r++) {
    let p = to + r * stride,
      v = at + r * columns;
    for (let c = 0; c < columns; c++, p++, v++) {
      const x = log ? Math.log(Math.max(values[v], 1e-30) / low) * span : (values[v] - low) * span;
      pixels[p] = palette[x <= 0 || x !== x ? 0 : x >= 255 ? 255 : (x + 0.5) | 0];
    }
  }
}

// The domain of one map alone, for per-head contrast.
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
