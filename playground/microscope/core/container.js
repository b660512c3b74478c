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

// `arrays`: {name: [values, shape]}; 16-bit integers are float16.
export function toContainer(header, arrays) {
  const sections = {};
  let length = 0;
  for (const [name, [values, shape]] of Object.entries(arrays)) {
    sections[name] = { offset: length, dtype: DTYPES.get(values.constructor), shape };
    length += Math.ceil(values.byteLength / ALIGN) * ALIGN;
  }
  const { container, start } = underHeader({ ...header, sections }, length);
  for (const [name, [{ buffer, byteOffset, byteLength }]] of Object.entries(arrays))
    container.set(new Uint8Array(buffer, byteOffset, byteLength), start + sections[name].offset);
  return container;
}

// A container's bytes with more entries in its header.
export function withHeader(bytes, additions) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const { container, start } = underHeader({ ...header, ...additions }, bytes.length - 4 - length);
  container.set(bytes.subarray(4 + length), start);
  return container;
}

// A container with this header, and where its arrays start.
function underHeader(header, length) {
  const headerBytes = new TextEncoder().encode(JSON.stringify(header));
  const start = Math.ceil((4 + headerBytes.length) / ALIGN) * ALIGN;
  const container = new Uint8Array(start + length);
  new DataView(container.buffer).setUint32(0, start - 4, true);
  container.fill(32, 4, start); // spaces
  container.set(headerBytes, 4);
  return { container, start };
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
