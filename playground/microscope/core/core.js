// The arithmetic of the microscope. No DOM: pages, exported files, notebooks and Node's tests all use this file.
// A pack has the queries and keys of one forward pass, never the N×N matrix. The attention of query i is
//     row_i = softmax(scale · q_i · k_j over all tokens j)
// One row costs tokens × head_dim multiplications, so few that a whole layer follows the cursor, at any scale.

import { patchDistance } from "./grid.js";

export const FORMAT = "attention-playground/1";

// ---------------------------------------------------------------------------------------------------- reading bytes

let halfTable = null;

// All 65,536 float16 numbers, decoded once: looking one up is ten times faster than decoding it.
export function halfFloats() {
  if (halfTable) return halfTable;
  halfTable = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) halfTable[bits] = fraction ? NaN : sign * Infinity;
    else if (exponent === 0) halfTable[bits] = sign * fraction * 2 ** -24;
    else halfTable[bits] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return halfTable;
}

export function decodeHalves(bits) {
  const table = halfFloats();
  const floats = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) floats[i] = table[bits[i]];
  return floats;
}

const VIEWS = { float16: Uint16Array, float32: Float32Array, uint8: Uint8Array, int8: Int8Array };

// Opens a container, which is `u32 header length | JSON header | sections`, each section at a multiple of 16 bytes.
// section(name) is a view of the same memory; float16 numbers are raw bits, which the caller decodes when they are
// needed.
export function openContainer(bytes) {
  // Bytes from a socket may start at any offset of their buffer; typed arrays need an aligned one.
  const alignedBytes = bytes.byteOffset % 16 === 0 ? bytes : bytes.slice();
  if (alignedBytes.length < 4) throw new Error("The data of this picture is empty.");
  const length = new DataView(alignedBytes.buffer, alignedBytes.byteOffset, 4).getUint32(0, true);
  if (4 + length > alignedBytes.length) throw new Error("The data of this picture is cut off in its header.");
  const header = JSON.parse(new TextDecoder().decode(alignedBytes.subarray(4, 4 + length)));
  const section = (name) => {
    const entry = header.sections?.[name];
    if (!entry) return null;
    const View = VIEWS[entry.dtype];
    if (!View) throw new Error(`Section ${name} holds ${entry.dtype}, which is not known here.`);
    const count = entry.shape.reduce((a, b) => a * b, 1);
    const start = 4 + length + entry.offset;
    if (start + count * View.BYTES_PER_ELEMENT > alignedBytes.length) throw new Error(`Section ${name} is cut off.`);
    return new View(alignedBytes.buffer, alignedBytes.byteOffset + start, count);
  };
  return { header, section };
}

// A function that decodes a layer's q or k, stored in 16 bits, 8 bits or as float32, to float32.
function decoderOf(header, section) {
  const { tokens, head_dim: dim } = header;
  const heads = header.some_heads?.length ?? header.heads;
  const kind = header.sections.q.dtype;
  if (kind === "float16") return decodeHalves;
  if (kind !== "uint8") return (values) => values;
  return (codes, name, place) => {
    const part = (values) => values.subarray(place * heads * dim, (place + 1) * heads * dim);
    return decodeBytes(codes, part(section(`${name}_low`)), part(section(`${name}_step`)), tokens, dim);
  };
}

// codes: (heads, tokens, dim); low and step of each dimension: (heads, dim), as eight_bits in pack/ writes them.
export function decodeBytes(codes, low, step, tokens, dim) {
  const values = new Float32Array(codes.length);
  for (let offset = 0; offset < codes.length; offset += dim) {
    const row = Math.floor(offset / (tokens * dim)) * dim;
    for (let x = 0; x < dim; x++) values[offset + x] = low[row + x] + step[row + x] * codes[offset + x];
  }
  return values;
}

// Opens a pack. A layer is decoded on first use, so that the first picture does not wait for all layers. A pack may
// hold only some heads of a layer, because the head on show is loaded before the others.
export function unpack(bytes) {
  const { header, section } = openContainer(bytes);
  if (header.format !== FORMAT) throw new Error(`This is a ${header.format} file, not ${FORMAT}.`);
  const { heads, tokens, head_dim: dim, held: heldLayers, some_heads: someHeads = null } = header;
  const size = (someHeads?.length ?? heads) * tokens * dim;
  const sections = { q: section("q"), k: section("k") };
  const valueNorms = section("value_norms");
  if (
    !sections.q ||
    !sections.k ||
    sections.q.length !== heldLayers.length * size ||
    sections.k.length !== sections.q.length
  ) {
    throw new Error("The queries and keys in this file do not have the shape that its header says.");
  }
  const decodeArray = decoderOf(header, section);
  const stored = new Map(
    heldLayers.map((layer, place) => {
      const part = (name) => {
        const values = decodeArray(sections[name].subarray(place * size, (place + 1) * size), name, place);
        return someHeads ? placeHeads(values, someHeads, heads, tokens * dim) : values;
      };
      const count = size / dim;
      const norms = valueNorms ? valueNorms.subarray(place * count, (place + 1) * count) : null;
      const placedNorms = () => (norms && someHeads ? placeHeads(norms, someHeads, heads, tokens) : norms);
      return [
        layer,
        { decode: () => ({ q: part("q"), k: part("k"), norms: placedNorms() }), ready: null, some: someHeads },
      ];
    }),
  );
  return {
    header,
    heads,
    tokens,
    dim,
    stored,
    layers: header.layers,
    prefix: header.prefix,
    prefixCount: header.prefix.length,
    rows: header.grid[0],
    columns: header.grid[1],
    patches: header.grid[0] * header.grid[1],
    scale: header.scale,
    // the heads' numbers in the model, because a file may contain only some of the model's heads
    headNumbers: header.head_numbers ?? Array.from({ length: heads }, (_, head) => head),
    forwardScale: header.forward_scale ?? null,
    assumed: header.assumed ?? "", // the options that `playground.load` assumed
    cuts: readCuts(header.cuts ?? [], { prefix: header.prefix, columns: header.grid[1] }),
  };
}

// Puts the values of some heads in their places among all heads; the other places are 0.
function placeHeads(values, someHeads, heads, size) {
  const allValues = new Float32Array(heads * size);
  someHeads.forEach((head, i) => allValues.set(values.subarray(i * size, (i + 1) * size), head * size));
  return allValues;
}

// A layer's {q, k: (heads, tokens, dim), norms: (heads, tokens) or null}; null if the pack does not have this layer.
/** @param {Pack} pack */
export function layerOf(pack, layer) {
  const entry = pack.stored.get(layer);
  if (!entry) return null;
  if (!entry.ready) entry.ready = entry.decode();
  return entry.ready;
}

// Whether the pack holds any head of a layer, one head, or all heads.
/** @param {Pack} pack */
export const holds = (pack, layer) => pack.stored.has(layer);
/** @param {Pack} pack */
export const holdsHead = (pack, layer, head) =>
  holds(pack, layer) && (pack.stored.get(layer).some?.includes(head) ?? true);
/** @param {Pack} pack */
export const holdsAll = (pack, layer) => holds(pack, layer) && !pack.stored.get(layer).some;

// The layers with all heads.
/** @param {Pack} pack */
export const wholeLayers = (pack) =>
  Array.from({ length: pack.layers }, (_, layer) => layer).filter((layer) => holdsAll(pack, layer));

// Adds layers that arrived later to a pack. A layer with all heads replaces a layer with some heads.
/** @param {Pack} pack @param {Pack} laterPack */
export function mergePack(pack, laterPack) {
  for (const [layer, entry] of laterPack.stored) if (!holdsAll(pack, layer)) pack.stored.set(layer, entry);
  return pack;
}

// ------------------------------------------------------------------------------------------------------ attention

// The dot product of `dim` numbers of a and b. Four sums run in parallel, because in a single sum every addition would
// wait for the one before. Both are Float32Arrays wherever it is called: with other types a browser computes slower.
export function dot(a, aStart, b, bStart, dim) {
  let s0 = 0,
    s1 = 0,
    s2 = 0,
    s3 = 0,
    x = 0;
  for (; x + 3 < dim; x += 4) {
    s0 += a[aStart + x] * b[bStart + x];
    s1 += a[aStart + x + 1] * b[bStart + x + 1];
    s2 += a[aStart + x + 2] * b[bStart + x + 2];
    s3 += a[aStart + x + 3] * b[bStart + x + 3];
  }
  for (; x < dim; x++) s0 += a[aStart + x] * b[bStart + x];
  return s0 + s1 + s2 + s3;
}

// Writes scale · q_i · k_j for all j to out[offset …]. Returns the largest score.
/** @param {Pack} pack */
export function scoresInto(out, offset, pack, layer, head, token, scale) {
  const { q, k } = layerOf(pack, layer);
  const { tokens, dim } = pack;
  const start = head * tokens * dim; // offset of this head's first query and key
  let largest = -Infinity;
  for (let j = 0; j < tokens; j++) {
    const score = dot(q, start + token * dim, k, start + j * dim, dim) * scale;
    out[offset + j] = score;
    if (score > largest) largest = score;
  }
  return largest;
}

// Applies softmax to out[offset … offset + count] in place. Returns the entropy in bits from the same sums: H = ln Z −
// Σ p·(s − max), which needs one logarithm instead of one for each weight.
export function softmaxInPlace(out, offset, count, largest) {
  let total = 0,
    weightedSum = 0;
  for (let j = offset; j < offset + count; j++) {
    const difference = out[j] - largest;
    const e = Math.exp(difference);
    out[j] = e;
    total += e;
    if (e > 0) weightedSum += e * difference;
  }
  const inverse = 1 / total;
  for (let j = offset; j < offset + count; j++) out[j] *= inverse;
  return Math.max(0, (Math.log(total) - weightedSum * inverse) / Math.LN2);
}

// Writes token i's row: its attention to each token, which sums to 1. Returns the entropy in bits.
/** @param {Pack} pack */
export function rowInto(out, offset, pack, layer, head, token, scale) {
  const largest = scoresInto(out, offset, pack, layer, head, token, scale);
  return softmaxInPlace(out, offset, pack.tokens, silence(out, offset, pack, layer, head, token, largest));
}

// The row of a token of one pack over the tokens of another, at the other's scale: cross-attention.
/** @param {Pack} asking @param {Pack} asked */
export function crossRow(asking, asked, layer, head, token) {
  const [{ q }, { k }] = [layerOf(asking, layer), layerOf(asked, layer)];
  const { dim, tokens, scale } = asked;
  const start = (head * asking.tokens + token) * dim;
  const row = Float32Array.from({ length: tokens }, (_, j) => dot(q, start, k, (head * tokens + j) * dim, dim) * scale);
  softmaxInPlace(row, 0, tokens, Math.max(...row));
  return row;
}

// Token i's row as a new array.
/** @param {Pack} pack */
export function rowOf(pack, layer, head, token, scale = pack.scale) {
  const row = new Float32Array(pack.tokens);
  rowInto(row, 0, pack, layer, head, token, scale);
  return row;
}

// Writes several tokens' rows. Each key is read once for four rows: this takes less than half the time of four single
// rows.
/** @param {Pack} pack */
export function rowsInto(out, pack, layer, head, queries, scale) {
  const { q, k } = layerOf(pack, layer);
  const { tokens, dim } = pack;
  const start = head * tokens * dim;
  for (let n = 0; n < queries.length; n += 4) {
    // if fewer than four queries are left, the last one is repeated
    const fourTokens = [0, 1, 2, 3].map((i) => queries[Math.min(n + i, queries.length - 1)]);
    const [a, b, c, d] = fourTokens.map((token) => q.subarray(start + token * dim, start + (token + 1) * dim));
    const count = Math.min(4, queries.length - n);
    for (let j = 0; j < tokens; j++) {
      let s0 = 0,
        s1 = 0,
        s2 = 0,
        s3 = 0;
      for (let x = 0, keyOffset = start + j * dim; x < dim; x++, keyOffset++) {
        const key = k[keyOffset];
        s0 += a[x] * key;
        s1 += b[x] * key;
        s2 += c[x] * key;
        s3 += d[x] * key;
      }
      const offset = n * tokens + j;
      out[offset] = s0 * scale;
      if (count > 1) out[offset + tokens] = s1 * scale;
      if (count > 2) out[offset + 2 * tokens] = s2 * scale;
      if (count > 3) out[offset + 3 * tokens] = s3 * scale;
    }
    for (let i = 0; i < count; i++) {
      const offset = (n + i) * tokens;
      let largest = -Infinity;
      for (let j = offset; j < offset + tokens; j++) if (out[j] > largest) largest = out[j];
      softmaxInPlace(out, offset, tokens, silence(out, offset, pack, layer, head, fourTokens[i], largest));
    }
  }
  return out;
}

// Writes ln Σ_j exp(scale · q_i · k_j) for the queries i from `from` to `to`: the normalisers that a column needs.
/** @param {Pack} pack */
export function normalisersInto(out, offset, pack, layer, head, scale, from, to, scratch) {
  for (let i = from; i < to; i++) {
    const largestScore = scoresInto(scratch, 0, pack, layer, head, i, scale);
    const largest = silence(scratch, 0, pack, layer, head, i, largestScore);
    let total = 0;
    for (let j = 0; j < pack.tokens; j++) total += Math.exp(scratch[j] - largest);
    out[offset + i] = largest + Math.log(total);
  }
}

// Writes scale · q_i · k_j for all i.
/** @param {Pack} pack */
export function columnScoresInto(out, offset, pack, layer, head, token, scale) {
  const { q, k } = layerOf(pack, layer);
  const { tokens, dim } = pack;
  const start = head * tokens * dim;
  for (let i = 0; i < tokens; i++) out[offset + i] = dot(q, start + i * dim, k, start + token * dim, dim) * scale;
}

// Writes token j's column, the attention of each token to it: out_i = row_i[j], from all rows' normalisers. Returns the
// column's sum, which is 1 on average.
/** @param {Pack} pack */
export function columnInto(out, offset, pack, layer, head, token, scale, normalisers, normalisersStart) {
  columnScoresInto(out, offset, pack, layer, head, token, scale);
  let total = 0;
  for (let i = 0; i < pack.tokens; i++) {
    const isRemoved = pack.cuts?.length && isCut(pack, layer, head, i, token);
    const weight = isRemoved ? 0 : Math.exp(out[offset + i] - normalisers[normalisersStart + i]);
    out[offset + i] = weight;
    total += weight;
  }
  return total;
}

// Writes weight × value along what the head writes: signed parts, which sum to its length. values: (heads, tokens, dim)
// after W_O, see playground/analysis/sinks.py.
export function partsInto(out, weights, values, { tokens, dim }, head) {
  const start = head * tokens * dim;
  const written = new Float32Array(dim);
  for (let j = 0; j < tokens; j++) for (let x = 0; x < dim; x++) written[x] += weights[j] * values[start + j * dim + x];
  const length = Math.max(Math.hypot(...written), 1e-30);
  for (let j = 0; j < tokens; j++) out[j] = (weights[j] * dot(values, start + j * dim, written, 0, dim)) / length;
}

// ------------------------------------------------------------------------------------------------ numbers of a row

export const effectiveNumber = (bits) => 2 ** bits;

export function entropyBits(row, offset, count) {
  let bits = 0;
  for (let j = offset; j < offset + count; j++) if (row[j] > 0) bits -= row[j] * Math.log2(row[j]);
  return bits;
}

export function largestIndex(values, from = 0, to = values.length) {
  let best = from;
  for (let j = from + 1; j < to; j++) if (values[j] > values[best]) best = j;
  return best;
}

export function sumOf(values, from, to) {
  let total = 0;
  for (let j = from; j < to; j++) total += values[j];
  return total;
}

// The row sorted from its largest weight to its smallest.
export function sortInto(out, row, offset, count) {
  for (let j = 0; j < count; j++) out[j] = -row[offset + j];
  out.subarray(0, count).sort();
  for (let j = 0; j < count; j++) out[j] = -out[j];
}

// --------------------------------------------------------------------------------------------------- convolution

// The cells that a k×k convolution reads around one cell, cut at the borders.
export function neighbourhood(rows, columns, row, column, k) {
  const radius = (k - 1) / 2;
  const top = Math.max(0, row - radius),
    bottom = Math.min(rows - 1, row + radius);
  const left = Math.max(0, column - radius),
    right = Math.min(columns - 1, column + radius);
  return { top, left, bottom, right, count: (bottom - top + 1) * (right - left + 1) };
}

// The sum of the values of that neighbourhood; values[from] belongs to the first cell.
export function sumAround(values, from, rows, columns, patch, k) {
  const { top, left, bottom, right } = neighbourhood(rows, columns, Math.floor(patch / columns), patch % columns, k);
  let total = 0;
  for (let r = top; r <= bottom; r++) for (let c = left; c <= right; c++) total += values[from + r * columns + c];
  return total;
}

// The weights of a k×k binomial blur, the example of a convolution. For k = 3 its rows are 1 2 1, 2 4 2 and 1 2 1, each
// divided by 16.
export const KERNEL_WEIGHTS = Float32Array.of(1, 2, 1, 2, 4, 2, 1, 2, 1).map((weight) => weight / 16);

// Cuts: which queries could not attend to which keys in the pack's forward pass. playground/cuts.py does the same in
// Python, and has already checked texts such as "7,5>3,2", "*>cls@4.1", "*>3x3". No DOM.

export const MOST_CUTS = 16; // as in playground/cuts.py

const ALL = "*";
const KERNEL = /^([357])x\1$/;

// Parses cuts. Each becomes {hearers: queries, unheard: keys, layers, heads: Sets of numbers, or null for all, kernel:
// k of a cut to k×k neighbourhoods, else 0, kept: the tokens that such a cut spares, to: the output of ablated heads,
// "zero" or "mean"}.
export function readCuts(texts, { prefix, columns }) {
  const tokenOf = (word) => {
    const [row, column] = word.split(",").map(Number);
    return column === undefined ? prefix.indexOf(word) : prefix.length + row * columns + column;
  };
  const setOf = (text, numberOf) =>
    text === undefined || text === ALL ? null : new Set(text.split("+").map(numberOf));
  return texts.map((text) => {
    const [edgeText, placeText] = text.split("@");
    const [queryText, keyText = ALL] = edgeText.split(">");
    const replacement = edgeText === queryText ? queryText : "";
    const [firstKey, ...exceptions] = keyText.split("+");
    const kernel = Number(KERNEL.exec(firstKey)?.[1] ?? 0);
    const [layers, heads] = placeText?.split(".") ?? [];
    return {
      hearers: replacement ? null : setOf(queryText, tokenOf),
      unheard: kernel ? null : setOf(keyText, tokenOf),
      kernel,
      kept: new Set(kernel ? exceptions.map(tokenOf) : []),
      layers: setOf(layers, Number),
      heads: setOf(heads, Number),
      to: replacement,
    };
  });
}

// Whether `query` could not attend to `key` in this layer and head. A token always attends to itself.
/** @param {Tokens} pack */
export function isCut(pack, layer, head, query, key) {
  if (query === key) return false;
  const number = pack.headNumbers[head];
  return pack.cuts.some(
    (cut) =>
      !cut.to &&
      (cut.layers?.has(layer) ?? true) &&
      (cut.heads?.has(number) ?? true) &&
      (cut.hearers?.has(query) ?? true) &&
      (cut.kernel ? isFar(pack, cut, query, key) : (cut.unheard?.has(key) ?? true)),
  );
}

// Whether a cut to a k×k neighbourhood removes this edge: patches then attend only to their neighbourhood and to the
// prefix tokens in `kept`.
function isFar({ prefixCount, columns }, { kernel, kept: exemptTokens }, query, key) {
  if (query < prefixCount || exemptTokens.has(key)) return false;
  if (key < prefixCount) return true;
  return patchDistance(query - prefixCount, key - prefixCount, columns) > kernel >> 1;
}

// Sets cut scores to −∞. Returns the largest remaining score.
/** @param {Tokens} pack */
export function silence(scores, offset, pack, layer, head, query, largest) {
  if (!pack.cuts?.length) return largest;
  let largestHeard = -Infinity;
  let hasCut = false;
  for (let key = 0; key < pack.tokens; key++) {
    if (isCut(pack, layer, head, query, key)) {
      scores[offset + key] = -Infinity;
      hasCut = true;
    } else if (scores[offset + key] > largestHeard) largestHeard = scores[offset + key];
  }
  return hasCut ? largestHeard : largest;
}

// Ablates heads in the mixtures of a layer, (N, D), in place: their output is zero, or its mean over the tokens.
export function ablate(mixtures, { cuts, tokens, headNumbers }, layer) {
  const width = mixtures.length / tokens;
  const headOf = (column) => Math.floor((column * headNumbers.length) / width);
  for (const { to: replacement, layers, heads } of cuts) {
    if (!replacement || !(layers?.has(layer) ?? true)) continue;
    for (let column = 0; column < width; column++) {
      if (!(heads?.has(headOf(column)) ?? true)) continue;
      let sum = 0;
      if (replacement === "mean")
        for (let index = column; index < mixtures.length; index += width) sum += mixtures[index];
      for (let index = column; index < mixtures.length; index += width) mixtures[index] = sum / tokens;
    }
  }
}
