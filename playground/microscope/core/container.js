// Unzips gzip data; data that the host has already unzipped is returned as it is.
export async function unzipped(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Writes arrays as bytes in the format of playground/pack, which openContainer (core.js) reads. No DOM.

export const ALIGN = 16; // bytes
const DTYPES = new Map([
  [Uint16Array, "float16"],
  [Float32Array, "float32"],
  [Uint8Array, "uint8"],
  [Int8Array, "int8"],
]);
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

// Writes the numbers of a figure as .json, .csv or .npz, as playground/figures/files.py does.

// `metadata`: {key: value}; `table`: {about: {model, image}, grid, tokens: names, maps: an object for each map, whose
// keys become columns, such as {layer, head}, values: a Float32Array for each map}.
export function numbersFile(kind, metadata, table) {
  return { json: asJson, csv: asCsv, npz: asNpz }[kind](metadata, table);
}

// Nine digits: enough for float32.
const rounded = (x) => Number(x.toPrecision(9));
const inUtf8 = (text) => new TextEncoder().encode(text);

function asJson(metadata, { about: subject, grid, tokens, maps, values }) {
  const writtenMaps = maps.map((map, i) => ({ ...map, values: Array.from(values[i], rounded) }));
  return inUtf8(`${JSON.stringify({ figure: metadata, tables: [{ ...subject, grid, tokens, maps: writtenMaps }] })}\n`);
}

function asCsv(metadata, { about: subject, tokens, maps, values }) {
  const asField = (value) => (/[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
  const keys = Object.keys(maps[0]);
  const lines = [["model", "image", ...keys, "token", "value"]];
  maps.forEach((map, i) => {
    const firstCells = [subject.model, subject.image, ...keys.map((key) => map[key])];
    tokens.forEach((token, j) => lines.push([...firstCells, token, rounded(values[i][j])]));
  });
  const comments = Object.entries(metadata).map(([key, value]) => `# ${key}: ${value}\n`);
  return inUtf8(comments.join("") + lines.map((line) => `${line.map(asField).join(",")}\n`).join(""));
}

// A NumPy archive with `values` (maps, tokens), `tokens`, `grid`, an array for each key of the maps, `about` and `of`.
function asNpz(metadata, { about: subject, grid, tokens, maps, values }) {
  const allValues = new Float32Array(values.length * tokens.length);
  values.forEach((row, i) => allValues.set(row, i * tokens.length));
  const arrays = {
    about: npyOfTexts([JSON.stringify(metadata)], []),
    values: npy("<f4", [values.length, tokens.length], allValues),
    tokens: npyOfTexts(tokens),
    of: npyOfTexts([JSON.stringify(subject)], []),
    grid: npy("<i8", [2], BigInt64Array.from(grid, BigInt)),
  };
  for (const key of Object.keys(maps[0])) {
    const column = maps.map((map) => map[key]);
    if (column.every(Number.isInteger)) arrays[key] = npy("<i8", [maps.length], BigInt64Array.from(column, BigInt));
    else if (typeof column[0] === "number") arrays[key] = npy("<f8", [maps.length], Float64Array.from(column));
    else arrays[key] = npyOfTexts(column.map(String));
  }
  return zipOf(Object.entries(arrays).map(([name, bytes]) => [`${name}.npy`, bytes]));
}

// A NumPy array of texts: each is padded to the longest text's length, and a letter takes four bytes.
function npyOfTexts(texts, shape = [texts.length]) {
  const codePointLists = texts.map((text) => Array.from(text, (letter) => letter.codePointAt(0)));
  const longest = Math.max(1, ...codePointLists.map(({ length }) => length));
  const codes = new Uint32Array(texts.length * longest);
  codePointLists.forEach((codePoints, i) => codes.set(codePoints, i * longest));
  return npy(`<U${longest}`, shape, codes);
}

function npy(kind, shape, values) {
  const tuple = `(${shape.map((side) => `${side},`).join(" ")})`;
  const description = `{'descr': '${kind}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const length = Math.ceil((10 + description.length + 1) / 64) * 64;
  const header = inUtf8(`${description.padEnd(length - 11)}\n`);
  const bytes = new Uint8Array(length + values.byteLength);
  bytes.set([0x93, ...inUtf8("NUMPY"), 1, 0, header.length & 255, header.length >> 8]);
  bytes.set(header, 10);
  bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), length);
  return bytes;
}

const ZIP = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 };
const FIRST_DATE = 0x0021; // a fixed date, the first of the zip format, so that equal contents give equal files

// A zip archive of uncompressed files.
function zipOf(files) {
  const [parts, directory] = [[], []];
  let offset = 0;
  for (const [name, bytes] of files) {
    const nameBytes = inUtf8(name);
    const commonFields = [20, 0, 0, 0, FIRST_DATE]; // version, flags, method, time, day
    const sizes = [crc32(bytes), bytes.length, bytes.length];
    const localHeader = record([[ZIP.local], commonFields, sizes, [nameBytes.length, 0]], "4 22222 444 22");
    directory.push(
      record(
        [[ZIP.central], [20, ...commonFields], sizes, [nameBytes.length, 0, 0, 0, 0], [0, offset]],
        "4 222222 444 22222 44",
      ),
      nameBytes,
    );
    parts.push(localHeader, nameBytes, bytes);
    offset += localHeader.length + nameBytes.length + bytes.length;
  }
  const directorySize = directory.reduce((sum, { length }) => sum + length, 0);
  const endRecord = record(
    [[ZIP.end], [0, 0, files.length, files.length], [directorySize, offset], [0]],
    "4 2222 44 2",
  );
  return joinedBytes([...parts, ...directory, endRecord]);
}

// The bytes of numbers, least significant first; `sizes` has a digit for each number: 2 or 4 bytes.
function record(numbers, sizes) {
  const widths = Array.from(sizes.replaceAll(" ", ""), Number);
  const bytes = new Uint8Array(widths.reduce((sum, width) => sum + width, 0));
  const view = new DataView(bytes.buffer);
  let offset = 0;
  numbers.flat().forEach((number, i) => {
    if (widths[i] === 2) view.setUint16(offset, number, true);
    else view.setUint32(offset, number, true);
    offset += widths[i];
  });
  return bytes;
}

function joinedBytes(parts) {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

// The checksum of zip and of PNG.
export function crc32(bytes) {
  let checksum = ~0;
  for (const byte of bytes) checksum = CRC_TABLE[(checksum ^ byte) & 255] ^ (checksum >>> 8);
  return ~checksum >>> 0;
}
