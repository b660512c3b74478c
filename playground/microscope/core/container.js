// Arrays as bytes, as playground/pack writes them and openContainer (core.js) reads them. No DOM in here.

export const ALIGN = 16; // bytes
const KINDS = new Map([
  [Uint16Array, "float16"],
  [Float32Array, "float32"],
  [Uint8Array, "uint8"],
  [Int8Array, "int8"],
]);
const SIZES = new Map([...KINDS].map(([{ BYTES_PER_ELEMENT }, kind]) => [kind, BYTES_PER_ELEMENT]));

// `arrays`: {name: [values, shape]}; sixteen bits are float16.
export function toContainer(header, arrays) {
  const kinds = {};
  for (const [name, [values, shape]] of Object.entries(arrays)) kinds[name] = [KINDS.get(values.constructor), shape];
  const { bytes, put } = emptyContainer(header, kinds);
  for (const [name, [values]] of Object.entries(arrays)) put(name, values);
  return bytes;
}

// One whose arrays come later, one by one: {bytes, put(name, values)}. `kinds`: {name: [dtype, shape]}.
export function emptyContainer(header, kinds) {
  const sections = {};
  let offset = 0;
  for (const [name, [dtype, shape]] of Object.entries(kinds)) {
    sections[name] = { offset, dtype, shape };
    const count = shape.reduce((product, n) => product * n, 1);
    offset += Math.ceil((count * SIZES.get(dtype)) / ALIGN) * ALIGN;
  }
  const text = new TextEncoder().encode(JSON.stringify({ ...header, sections }));
  const length = Math.ceil((4 + text.length) / ALIGN) * ALIGN - 4;
  const out = new Uint8Array(4 + length + offset);
  new DataView(out.buffer).setUint32(0, length, true);
  out.fill(32, 4, 4 + length); // spaces
  out.set(text, 4);
  const put = (name, { buffer, byteOffset, byteLength }) =>
    out.set(new Uint8Array(buffer, byteOffset, byteLength), 4 + length + sections[name].offset);
  return { bytes: out, put };
}

// A container's bytes with more entries in its header.
export function withHeader(bytes, more) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const text = new TextEncoder().encode(JSON.stringify({ ...header, ...more }));
  const padded = Math.ceil((4 + text.length) / ALIGN) * ALIGN - 4;
  const out = new Uint8Array(padded + bytes.length - length);
  new DataView(out.buffer).setUint32(0, padded, true);
  out.fill(32, 4, 4 + padded);
  out.set(text, 4);
  out.set(bytes.subarray(4 + length), 4 + padded);
  return out;
}

// Bits of the nearest float16 numbers, of two as near the even one; what is too large becomes the largest.
export function toHalves(values) {
  const out = new Uint16Array(values.length);
  const bits = new Uint32Array(Float32Array.from(values).buffer);
  for (let i = 0; i < bits.length; i++) out[i] = halfOf(bits[i]);
  return out;
}

const BIAS = 127 - 15; // between the exponents of both kinds
const LARGEST = 0x7bff;

function halfOf(bits) {
  const sign = (bits >>> 16) & 0x8000;
  const size = bits & 0x7fffffff;
  const exponent = (size >>> 23) - BIAS;
  if (exponent >= 31) return sign | LARGEST;
  // below 2^-14 the steps are even: of 2^-24
  const shift = exponent > 0 ? 13 : 14 - exponent;
  if (shift > 24) return sign;
  const whole = exponent > 0 ? size - (BIAS << 23) : (size & 0x7fffff) | 0x800000;
  const half = whole >>> shift;
  const rest = whole & ((1 << shift) - 1);
  const middle = 1 << (shift - 1);
  const up = rest > middle || (rest === middle && half & 1) ? 1 : 0;
  return sign | Math.min(half + up, LARGEST);
}

// values: (tokens, dim) → {codes, low, step}: each dimension from its smallest to its largest in 255 even steps, as
// eight_bits in pack/ does it.
export function toBytes(values, dim) {
  const [low, step] = [new Float32Array(dim).fill(Number.POSITIVE_INFINITY), new Float32Array(dim)];
  const high = new Float32Array(dim).fill(Number.NEGATIVE_INFINITY);
  for (let i = 0; i < values.length; i++) {
    low[i % dim] = Math.min(low[i % dim], values[i]);
    high[i % dim] = Math.max(high[i % dim], values[i]);
  }
  for (let x = 0; x < dim; x++) step[x] = (high[x] - low[x]) / 255 || 1;
  const codes = Uint8Array.from(values, (value, i) => Math.round((value - low[i % dim]) / step[i % dim]));
  return { codes, low, step };
}
