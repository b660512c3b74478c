// Reads a file of weights in the format safetensors. The header is checked before any data is read, as in
// playground/models/weights_file.py, because a file may come from anybody and be false. Tensors are read one by one, so
// that a file is never in memory as a whole.
// A tensor that is not read yet is {shape, read: returns a promise of its numbers, a Float32Array}; the functions at
// the end transform such tensors.

import { decodeHalves } from "../core/core.js";

const LONGEST_HEADER = 4 * 2 ** 20; // bytes; the header of a ViT-g has 100,000
const MOST_TENSORS = 10_000;
const MOST_DIMENSIONS = 8;
const LENGTH_BYTES = 8; // number of bytes, at the file's start, that hold the header's length
const BYTES_OF = { F64: 8, F32: 4, F16: 2, BF16: 2, I64: 8, I32: 4, I16: 2, I8: 1, U8: 1, BOOL: 1 }; // bytes
const VIEWS_OF = { F64: Float64Array, F32: Float32Array, F16: Uint16Array, BF16: Uint16Array, I64: BigInt64Array };
const SMALL_VIEWS = { I32: Int32Array, I16: Int16Array, I8: Int8Array, U8: Uint8Array, BOOL: Uint8Array };

// An error whose message is a sentence about a file, for the reader.
export class WrongFile extends Error {}

// A value from a file, shortened for a sentence.
export const shortened = (value) => JSON.stringify(value)?.slice(0, 60) ?? String(value);

// `file`: a File or Blob. Returns {metadata: {name: text}, tensors: Map of name → tensor}.
export async function openSafetensors(file, name = file.name) {
  const bytesBetween = async (from, to) => file.slice(from, to).arrayBuffer();
  try {
    const firstBytes = new Uint8Array(await bytesBetween(0, LENGTH_BYTES));
    if (isPickled(firstBytes)) throw new WrongFile(pickledFile(name));
    if (firstBytes.length < LENGTH_BYTES) throw new Error("it is shorter than the header of one");
    const length = Number(new DataView(firstBytes.buffer).getBigUint64(0, true));
    if (length > LONGEST_HEADER) throw new Error("it does not begin with the header of one");
    const start = LENGTH_BYTES + length;
    if (start > file.size) throw new Error("it is cut off in its header");
    const header = JSON.parse(
      new TextDecoder("utf-8", { fatal: true }).decode(await bytesBetween(LENGTH_BYTES, start)),
    );
    const { metadata, entries } = checkHeader(header, file.size - start);
    const readerOf = (entry) => async () =>
      numbersOf(entry, await bytesBetween(start + entry.from, start + entry.to), name);
    return {
      metadata,
      tensors: new Map(entries.map((entry) => [entry.name, { shape: entry.shape, read: readerOf(entry) }])),
    };
  } catch (error) {
    throw unreadable(name, error);
  }
}

export const pickledFile = (name) =>
  `${name} is a file that torch has pickled, not safetensors. On your own machine playground.load and the command ` +
  "line read it; a page does not.";
// Whether these first bytes are those of a zip file or of a pickle
const isPickled = ([a, b]) => (a === 0x50 && b === 0x4b) || (a === 0x80 && b === 0x02);

// The error about a file that can't be read. NotFoundError and NotReadableError mean that the file is gone or changed.
function unreadable(name, error) {
  if (error instanceof WrongFile) return error;
  if (error?.name?.startsWith("Not")) return new WrongFile(`${name} can't be read: it is gone, or was changed.`);
  return new WrongFile(`${name} is not a readable safetensors file (${error.message}); save it again in that format.`);
}

// Checks a parsed header; returns {metadata, entries: [{name, dtype, shape, from, to}]}. size: bytes of the data.
// Tensors must be adjacent without gaps, so that no byte belongs to two of them.
function checkHeader(header, size) {
  if (header === null || typeof header !== "object" || Array.isArray(header)) throw new Error("its header is no list");
  const { __metadata__: metadata = {}, ...tensorHeaders } = header;
  const names = Object.keys(tensorHeaders);
  if (names.length > MOST_TENSORS) throw new Error(`it claims ${names.length.toLocaleString("en")} tensors`);
  if (!Object.values(metadata ?? {}).every((text) => typeof text === "string"))
    throw new Error("its metadata are no texts");
  const entries = names
    .map((name) => entryOf(name, tensorHeaders[name]))
    .sort((a, b) => a.from - b.from || a.to - b.to);
  let formerEnd = 0;
  for (const { name, from, to } of entries) {
    if (from !== formerEnd) throw new Error(`${name.slice(0, 60)} does not begin where the tensor before it ends`);
    formerEnd = to;
  }
  if (formerEnd !== size)
    throw new Error(`it has ${size.toLocaleString("en")} bytes of data, and claims ${formerEnd.toLocaleString("en")}`);
  return { metadata: metadata ?? {}, entries };
}

function entryOf(name, entry) {
  const { dtype, shape, data_offsets: offsets } = entry ?? {};
  const shortName = name.slice(0, 60);
  if (!Object.hasOwn(BYTES_OF, dtype)) throw new Error(`${shortName} holds numbers of the kind ${shortened(dtype)}`);
  const isCount = (n) => Number.isSafeInteger(n) && n >= 0;
  if (!Array.isArray(shape) || shape.length > MOST_DIMENSIONS || !shape.every(isCount))
    throw new Error(`${shortName} is of the shape ${shortened(shape)}`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount) || offsets[1] < offsets[0])
    throw new Error(`${shortName} lies at ${shortened(offsets)}`);
  const [from, to] = offsets;
  const bytes = shape.reduce((product, n) => product * n, BYTES_OF[dtype]);
  if (bytes !== to - from) throw new Error(`${shortName} has ${to - from} bytes for the shape ${shortened(shape)}`);
  return { name, dtype, shape, from, to };
}

function numbersOf({ name, dtype }, buffer, file) {
  const numbers = decodeNumbers(dtype, buffer);
  for (let i = 0; i < numbers.length; i++)
    if (!Number.isFinite(numbers[i]))
      throw new WrongFile(`${file} holds numbers that are none (NaN or infinite) in ${name.slice(0, 60)}.`);
  return numbers;
}

function decodeNumbers(dtype, buffer) {
  const values = new (VIEWS_OF[dtype] ?? SMALL_VIEWS[dtype])(buffer);
  if (dtype === "F32") return values;
  if (dtype === "F16") return decodeHalves(values);
  if (dtype !== "BF16") return Float32Array.from(values, Number);
  const floatBits = new Uint32Array(values.length); // the upper half of a float32
  for (let i = 0; i < values.length; i++) floatBits[i] = values[i] << 16;
  return new Float32Array(floatBits.buffer);
}

// ------------------------------------------------------------------------------------- tensors that are not read yet

export const countOf = ({ shape }) => shape.reduce((product, n) => product * n, 1);
export const zeros = (...shape) => ({ shape, read: async () => new Float32Array(countOf({ shape })) });
export const reshaped = (x, ...shape) => ({ shape, read: x.read });
export const times = (x, factor) => ({ shape: x.shape, read: async () => (await x.read()).map((n) => factor * n) });

// Joins tensors along the first dimension.
export const joined = (...parts) => ({
  shape: [parts.reduce((rows, { shape }) => rows + shape[0], 0), ...parts[0].shape.slice(1)],
  async read() {
    const numbers = new Float32Array(countOf(this));
    let offset = 0;
    for (const part of parts) {
      numbers.set(await part.read(), offset);
      offset += countOf(part);
    }
    return numbers;
  },
});

// Splits a tensor into three equal parts along the first dimension.
export const thirdsOf = (x) => {
  const shape = [x.shape[0] / 3, ...x.shape.slice(1)];
  const count = countOf({ shape });
  return [0, 1, 2].map((i) => ({ shape, read: async () => (await x.read()).slice(i * count, (i + 1) * count) }));
};

// The positions `from` to `to` of a tensor (1, N, D), as a tensor (1, to − from, D).
export const somePositions = (x, from, to = x.shape[1]) => {
  const [, , width] = x.shape;
  return { shape: [1, to - from, width], read: async () => (await x.read()).slice(from * width, to * width) };
};

export const added = (a, b) => ({
  shape: a.shape,
  async read() {
    const [first, second] = [await a.read(), await b.read()];
    return first.map((n, i) => n + second[i]);
  },
});

// Multiplies each row of a tensor (rows, …) by its gain.
export const withGains = (x, gains) => ({
  shape: x.shape,
  async read() {
    const [numbers, gainNumbers] = [await x.read(), await gains.read()];
    const perRow = numbers.length / gainNumbers.length;
    return numbers.map((n, i) => gainNumbers[Math.floor(i / perRow)] * n);
  },
});
