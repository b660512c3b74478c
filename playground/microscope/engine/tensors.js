// Matrices in the kernels' memory (kernels.c). A matrix, or a part of one, is {at: its first byte's address, rows,
// columns, step: numbers from row to row}. JavaScript allocates; all loops over numbers are in C.

import { ALIGN } from "../core/container.js";

const PAGE_BYTES = 65_536; // the memory grows by pages
const FLOAT = 4; // bytes
const SHORT = 2; // bytes of a float16
const PIXEL = 4; // bytes
const MOST_PAGES = 65_535; // of memory, as in workshop/kernels.py
const WITH_ONE_GAIN = 32; // numbers that share a gain, as in kernels.c

// A part of a matrix: some of its rows and columns.
export const partOfMatrix = ({ at, step }, row, rows, column, columns) => ({
  at: at + FLOAT * (row * step + column),
  rows,
  columns,
  step,
});
export const someRows = (x, row, rows) => partOfMatrix(x, row, rows, 0, x.columns);
export const someColumns = (x, column, columns) => partOfMatrix(x, 0, x.rows, column, columns);

// `compiled`: a WebAssembly.Module of kernels.c
export async function createTensors(compiled) {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: MOST_PAGES });
  /** @type {any} */
  const { exports: kernels } = await WebAssembly.instantiate(compiled, { env: { memory } });
  let top = kernels.__heap_base.value;

  function allocate(bytes) {
    const address = Math.ceil(top / ALIGN) * ALIGN;
    top = address + bytes;
    const missing = top - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
    return address;
  }
  const matrix = (rows, columns) => ({ at: allocate(FLOAT * rows * columns), rows, columns, step: columns });
  const multiply = (x, w, transposed, columns, bias, out) =>
    kernels.product(
      ...[x.at, x.step, w.at, w.step, transposed, bias?.at ?? 0, x.rows, x.columns, columns, out.at, out.step],
    );
  // Converts x to integers, for a product with codes in kernels.c.
  function toIntegers({ at: start, step, rows, columns }) {
    const paddedLength = Math.ceil(columns / WITH_ONE_GAIN) * WITH_ONE_GAIN;
    const [numbers, units] = [allocate(SHORT * rows * paddedLength), allocate(FLOAT * rows)];
    kernels.to_integers(start, step, rows, columns, numbers, units);
    return [numbers, units];
  }
  /** @param {any} x @param {number[]} codes */
  const multiplyCodes = (x, [integers, units], w, bias, out) =>
    kernels.product_of_codes(
      ...[integers, units, w.at, w.gains, bias?.at ?? 0, x.rows, x.columns, w.rows, out.at, out.step],
    );

  // Copies an array of bytes or integers into the memory; returns its address.
  function copyIn(values) {
    const address = allocate(values.byteLength);
    new values.constructor(memory.buffer, address, values.length).set(values);
    return address;
  }

  const numbers = ({ at, rows, columns }) => new Float32Array(memory.buffer, at, rows * columns);

  return {
    get bytes() {
      return memory.buffer.byteLength;
    },
    // mark() and backTo(mark) free all that was allocated in between.
    mark: () => top,
    backTo: (mark) => {
      top = mark;
    },
    matrix,
    // A view of the numbers of a matrix without gaps between rows, until the memory grows.
    numbers,
    read: (x) => numbers(x).slice(),
    // A new matrix of these numbers.
    put(numbers, rows, columns) {
      const x = matrix(rows, columns);
      new Float32Array(memory.buffer, x.at, numbers.length).set(numbers);
      return x;
    },
    // A matrix of int8 codes, (rows, columns), with a gain for each 32 of a row.
    putCodes(codes, gains, rows, columns) {
      return { at: copyIn(codes), rows, columns, step: columns, gains: copyIn(gains) };
    },

    // x (rows, inner), w (columns, inner) → x wᵀ + bias, (rows, columns)
    linear(x, w, bias = null, out = matrix(x.rows, w.rows)) {
      const mark = top;
      if (w.gains) multiplyCodes(x, toIntegers(x), w, bias, out);
      else multiply(x, w, 0, w.rows, bias, out);
      top = mark;
      return out;
    },
    // x (rows, inner), w (inner, columns) → x w, (rows, columns)
    product(x, w, out = matrix(x.rows, w.columns)) {
      multiply(x, w, 1, w.columns, null, out);
      return out;
    },
    norm(x, gain, bias, eps, out = matrix(x.rows, x.columns)) {
      kernels.norm(x.at, gain.at, bias.at, eps, x.rows, x.columns, out.at);
      return out;
    },
    // In place, up to add:
    softmax: (x) => kernels.softmax(x.at, x.rows, x.columns),
    gelu(x) {
      kernels.gelu(x.at, x.rows * x.columns);
      return x;
    },
    add: (x, y) => kernels.add(x.at, y.at, x.rows * x.columns),

    // A matrix times a number, into a new matrix or `out`.
    take(x, times = 1, out = matrix(x.rows, x.columns)) {
      kernels.take(x.at, x.step, times, x.rows, x.columns, out.at, out.step);
      return out;
    },
    // √(a · b) of each row
    rootOfDots(a, b, out = matrix(1, a.rows)) {
      kernels.root_of_dots(a.at, a.step, b.at, b.step, a.rows, a.columns, out.at);
      return out;
    },
    // Bits of the nearest float16 numbers.
    toHalves(numbers) {
      const mark = top;
      const address = copyIn(numbers);
      const out = allocate(SHORT * (numbers.length + 8));
      kernels.halves(address, numbers.length, out);
      top = mark;
      return new Uint16Array(memory.buffer, out, numbers.length).slice();
    },

    // For images.js; `place`: the address of a picture's first byte.
    pixels: (count) => allocate(PIXEL * count),
    putPixels: (pixels) => copyIn(pixels),
    readPixels: (place, count) => new Uint8ClampedArray(memory.buffer, place, PIXEL * count).slice(),
    putMixture: ({ spans, weights, ...sizes }) => ({ spans: copyIn(spans), weights: copyIn(weights), ...sizes }),
    // from, to: {place, line: pixels between two lines, apart: pixels between two pixels of a line}
    mix(lines, { spans, weights, most, count }, from, to) {
      const mixture = [spans, weights, most, count];
      kernels.mix(from.place, from.line, from.apart, ...mixture, lines, to.place, to.line, to.apart);
    },
  };
}
