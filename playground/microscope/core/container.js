// Unzips gzip data; data that the host has already unzipped is returned as it is.
export async function unzipped(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Writes arrays as bytes in the format of playground/pack, which openContainer (core.js) reads. No DOM.

export const ALIGN = 16; // bytes
/** @type {[any, string][]} */
const DTYPE_NAMES = [
  [Uint16Array, "float16"],
  [Float32Array, "float32"],
  [Uint8Array, "uint8"],
  [Int8Array, "int8"],
];
const DTYPES = new Map(DTYPE_NAMES);
const DTYPE_BYTES = new Map([...DTYPES].map(([{ BYTES_PER_ELEMENT }, kind]) => [kind, BYTES_PER_ELEMENT]));

// `arrays`: {name: [values, shape]}; 16-bit integers are float16.
export function toContainer(header, arrays) {
  const types = {};
  for (const [name, [values, shape]] of Object.entries(arrays)) types[name] = [DTYPES.get(values.constructor), shape];
  const { bytes, put } = emptyContainer(header, types);
  for (const [name, [values]] of Object.entries(arrays)) put(name, values);
  return bytes;
}

// A container whose arrays are added one by one: {bytes, put(name, values)}. `types`: {name: [dtype, shape]}.
export function emptyContainer(header, types) {
  const sections = {};
  let offset = 0;
  for (const [name, [dtype, shape]] of Object.entries(types)) {
    sections[name] = { offset, dtype, shape };
    const count = shape.reduce((product, n) => product * n, 1);
    offset += Math.ceil((count * DTYPE_BYTES.get(dtype)) / ALIGN) * ALIGN;
  }
  const headerBytes = new TextEncoder().encode(JSON.stringify({ ...header, sections }));
  const length = Math.ceil((4 + headerBytes.length) / ALIGN) * ALIGN - 4;
  const container = new Uint8Array(4 + length + offset);
  new DataView(container.buffer).setUint32(0, length, true);
  container.fill(32, 4, 4 + length); // spaces
  container.set(headerBytes, 4);
  const put = (name, { buffer, byteOffset, byteLength }) =>
    container.set(new Uint8Array(buffer, byteOffset, byteLength), 4 + length + sections[name].offset);
  return { bytes: container, put };
}

// A container's bytes with more entries in its header.
export function withHeader(bytes, additions) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const headerBytes = new TextEncoder().encode(JSON.stringify({ ...header, ...additions }));
  const paddedLength = Math.ceil((4 + headerBytes.length) / ALIGN) * ALIGN - 4;
  const container = new Uint8Array(paddedLength + bytes.length - length);
  new DataView(container.buffer).setUint32(0, paddedLength, true);
  container.fill(32, 4, 4 + paddedLength);
  container.set(headerBytes, 4);
  container.set(bytes.subarray(4 + length), 4 + paddedLength);
  return container;
}

// The bits of the nearest float16 numbers, ties to even; numbers that are too large become the largest float16 number.
export function toHalves(values) {
  const halves = new Uint16Array(values.length);
  const bits = new Uint32Array(Float32Array.from(values).buffer);
  for (let i = 0; i < bits.length; i++) halves[i] = halfOf(bits[i]);
  return halves;
}

const BIAS = 127 - 15; // difference of the two formats' exponents
const LARGEST_HALF = 0x7bff;

function halfOf(bits) {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  const exponent = (magnitude >>> 23) - BIAS;
  if (exponent >= 31) return sign | LARGEST_HALF;
  // below 2^-14, neighbouring float16 numbers differ by 2^-24
  const shift = exponent > 0 ? 13 : 14 - exponent;
  if (shift > 24) return sign;
  const mantissa = exponent > 0 ? magnitude - (BIAS << 23) : (magnitude & 0x7fffff) | 0x800000;
  const half = mantissa >>> shift;
  const remainder = mantissa & ((1 << shift) - 1);
  const halfway = 1 << (shift - 1);
  const carry = remainder > halfway || (remainder === halfway && half & 1) ? 1 : 0;
  return sign | Math.min(half + carry, LARGEST_HALF);
}

// From values (tokens, dim) to {codes, low, step}. In each dimension, 255 even steps lead from the smallest to the
// largest value, as in eight_bits of playground/pack.
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
