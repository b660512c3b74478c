// The numbers of the microscope. No DOM in here: a page, an exported file, a notebook and Node's tests all use it.
//
// What it works on is a pack: queries and keys of one forward pass, never the N×N matrix. Attention of query i is
//     row_i = softmax(scale · q_i · k_j over all tokens j)
// and costs tokens × head_dim multiplications, so that a whole layer follows the cursor, at any scale.

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
  const out = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = table[bits[i]];
  return out;
}

const VIEWS = { float16: Uint16Array, float32: Float32Array, uint8: Uint8Array, int8: Int8Array };

// A container is `u32 header length | JSON header | sections`, each starting at a multiple of 16 bytes. A section is
// given as a view on the same memory; float16 as raw bits, which the caller decodes when it needs them.
export function openContainer(bytes) {
  // Bytes from a socket may start at any offset of their message; typed arrays need an aligned one.
  const aligned = bytes.byteOffset % 16 === 0 ? bytes : bytes.slice();
  if (aligned.length < 4) throw new Error("The data of this picture is empty.");
  const length = new DataView(aligned.buffer, aligned.byteOffset, 4).getUint32(0, true);
  if (4 + length > aligned.length) throw new Error("The data of this picture is cut off in its header.");
  const header = JSON.parse(new TextDecoder().decode(aligned.subarray(4, 4 + length)));
  const section = (name) => {
    const at = header.sections?.[name];
    if (!at) return null;
    const View = VIEWS[at.dtype];
    if (!View) throw new Error(`Section ${name} holds ${at.dtype}, which is not known here.`);
    const count = at.shape.reduce((a, b) => a * b, 1);
    const start = 4 + length + at.offset;
    if (start + count * View.BYTES_PER_ELEMENT > aligned.length) throw new Error(`Section ${name} is cut off.`);
    return new View(aligned.buffer, aligned.byteOffset + start, count);
  };
  return { header, section };
}

// Functions that decode a layer's q or k to float32; they are stored in 16 bits, in 8, or plain.
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

// codes: (heads, tokens, dim); low and step of each dimension: (heads, dim). As eight_bits in pack/ wrote them.
export function decodeBytes(codes, low, step, tokens, dim) {
  const out = new Float32Array(codes.length);
  for (let at = 0; at < codes.length; at += dim) {
    const row = Math.floor(at / (tokens * dim)) * dim;
    for (let x = 0; x < dim; x++) out[at + x] = low[row + x] + step[row + x] * codes[at + x];
  }
  return out;
}

// Opens a pack. A layer is decoded on first use, so that the first picture need not wait for all. A pack may hold only
// some heads of a layer: the head on show comes first.
export function unpack(bytes) {
  const { header, section } = openContainer(bytes);
  if (header.format !== FORMAT) throw new Error(`This is a ${header.format} file, not ${FORMAT}.`);
  const { heads, tokens, head_dim: dim, held, some_heads: some = null } = header;
  const size = (some?.length ?? heads) * tokens * dim;
  const raw = { q: section("q"), k: section("k") };
  const valueNorms = section("value_norms");
  if (!raw.q || !raw.k || raw.q.length !== held.length * size || raw.k.length !== raw.q.length) {
    throw new Error("The queries and keys in this file do not have the shape that its header says.");
  }
  const decoded = decoderOf(header, section);
  const stored = new Map(
    held.map((layer, place) => {
      const part = (name) => {
        const values = decoded(raw[name].subarray(place * size, (place + 1) * size), name, place);
        return some ? inPlace(values, some, heads, tokens * dim) : values;
      };
      const count = size / dim;
      const norms = valueNorms ? valueNorms.subarray(place * count, (place + 1) * count) : null;
      const placed = () => (norms && some ? inPlace(norms, some, heads, tokens) : norms);
      return [layer, { decode: () => ({ q: part("q"), k: part("k"), norms: placed() }), ready: null, some }];
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
    headNumbers: header.head_numbers ?? Array.from({ length: heads }, (_, head) => head), // of a file that holds a few
    forwardScale: header.forward_scale ?? null,
    assumed: header.assumed ?? "", // options of the model as given to `load`
    cuts: readCuts(header.cuts ?? [], { prefix: header.prefix, columns: header.grid[1] }),
  };
}

// The values of some heads in the places that they have among all.
function inPlace(values, some, heads, size) {
  const all = new Float32Array(heads * size);
  some.forEach((head, i) => all.set(values.subarray(i * size, (i + 1) * size), head * size));
  return all;
}

// q, k: (heads, tokens, dim); norms: (heads, tokens) or null. Null when the pack does not hold this layer.
export function layerOf(pack, layer) {
  const entry = pack.stored.get(layer);
  if (!entry) return null;
  if (!entry.ready) entry.ready = entry.decode();
  return entry.ready;
}

// Whether the pack holds any head of a layer, one head, or all heads.
export const holds = (pack, layer) => pack.stored.has(layer);
export const holdsHead = (pack, layer, head) =>
  holds(pack, layer) && (pack.stored.get(layer).some?.includes(head) ?? true);
export const holdsAll = (pack, layer) => holds(pack, layer) && !pack.stored.get(layer).some;

// The layers of which all heads are here.
export const wholeLayers = (pack) =>
  Array.from({ length: pack.layers }, (_, layer) => layer).filter((layer) => holdsAll(pack, layer));

// Layers that arrive later join the pack that is already on the screen; a whole layer replaces some heads of it.
export function mergePack(pack, other) {
  for (const [layer, entry] of other.stored) if (!holdsAll(pack, layer)) pack.stored.set(layer, entry);
  return pack;
}

// ------------------------------------------------------------------------------------------------------ attention

// a[aAt …] · b[bAt …] over `dim` numbers. With one sum, every addition would wait for the one before; four run in
// parallel.
function dot(a, aAt, b, bAt, dim) {
  let s0 = 0,
    s1 = 0,
    s2 = 0,
    s3 = 0,
    x = 0;
  for (; x + 3 < dim; x += 4) {
    s0 += a[aAt + x] * b[bAt + x];
    s1 += a[aAt + x + 1] * b[bAt + x + 1];
    s2 += a[aAt + x + 2] * b[bAt + x + 2];
    s3 += a[aAt + x + 3] * b[bAt + x + 3];
  }
  for (; x < dim; x++) s0 += a[aAt + x] * b[bAt + x];
  return s0 + s1 + s2 + s3;
}

// scale · q_i · k_j for all j, written to out[at …]. Returns the largest.
export function scoresInto(out, at, pack, layer, head, token, scale) {
  const { q, k } = layerOf(pack, layer);
  const { tokens, dim } = pack;
  const first = head * tokens * dim; // offset of this head's first query and key
  let largest = -Infinity;
  for (let j = 0; j < tokens; j++) {
    const score = dot(q, first + token * dim, k, first + j * dim, dim) * scale;
    out[at + j] = score;
    if (score > largest) largest = score;
  }
  return largest;
}

// The softmax of out[at … at + count], in place. Returns its entropy in bits, from the same sums: H = ln Z − Σ p·(s −
// max), which needs one logarithm instead of one per weight.
export function softmaxInPlace(out, at, count, largest) {
  let total = 0,
    moment = 0;
  for (let j = at; j < at + count; j++) {
    const below = out[j] - largest;
    const e = Math.exp(below);
    out[j] = e;
    total += e;
    if (e > 0) moment += e * below;
  }
  const norm = 1 / total;
  for (let j = at; j < at + count; j++) out[j] *= norm;
  return Math.max(0, (Math.log(total) - moment * norm) / Math.LN2);
}

// Token i's row: whom it listens to. Sums to 1. Returns the entropy in bits.
export function rowInto(out, at, pack, layer, head, token, scale) {
  const largest = scoresInto(out, at, pack, layer, head, token, scale);
  return softmaxInPlace(out, at, pack.tokens, silence(out, at, pack, layer, head, token, largest));
}

// Several tokens' rows: each key that is read serves four of them, in less than half the time.
export function rowsInto(out, pack, layer, head, asking, scale) {
  const { q, k } = layerOf(pack, layer);
  const { tokens, dim } = pack;
  const first = head * tokens * dim;
  for (let n = 0; n < asking.length; n += 4) {
    const four = [0, 1, 2, 3].map((i) => asking[Math.min(n + i, asking.length - 1)]); // the last one fills up
    const [a, b, c, d] = four.map((token) => q.subarray(first + token * dim, first + (token + 1) * dim));
    const count = Math.min(4, asking.length - n);
    for (let j = 0; j < tokens; j++) {
      let s0 = 0,
        s1 = 0,
        s2 = 0,
        s3 = 0;
      for (let x = 0, at = first + j * dim; x < dim; x++, at++) {
        const key = k[at];
        s0 += a[x] * key;
        s1 += b[x] * key;
        s2 += c[x] * key;
        s3 += d[x] * key;
      }
      const at = n * tokens + j;
      out[at] = s0 * scale;
      if (count > 1) out[at + tokens] = s1 * scale;
      if (count > 2) out[at + 2 * tokens] = s2 * scale;
      if (count > 3) out[at + 3 * tokens] = s3 * scale;
    }
    for (let i = 0; i < count; i++) {
      const at = (n + i) * tokens;
      let largest = -Infinity;
      for (let j = at; j < at + tokens; j++) if (out[j] > largest) largest = out[j];
      softmaxInPlace(out, at, tokens, silence(out, at, pack, layer, head, four[i], largest));
    }
  }
  return out;
}

// ln Σ_j exp(scale · q_i · k_j) for the queries from … to: what a column needs to know of every row.
export function normalisersInto(out, at, pack, layer, head, scale, from, to, scratch) {
  for (let i = from; i < to; i++) {
    const score = scoresInto(scratch, 0, pack, layer, head, i, scale);
    const largest = silence(scratch, 0, pack, layer, head, i, score);
    let total = 0;
    for (let j = 0; j < pack.tokens; j++) total += Math.exp(scratch[j] - largest);
    out[at + i] = largest + Math.log(total);
  }
}

// scale · q_i · k_j for all i.
export function columnScoresInto(out, at, pack, layer, head, token, scale) {
  const { q, k } = layerOf(pack, layer);
  const { tokens, dim } = pack;
  const first = head * tokens * dim;
  for (let i = 0; i < tokens; i++) out[at + i] = dot(q, first + i * dim, k, first + token * dim, dim) * scale;
}

// Token j's column: who listens to it. out_i = row_i[j], from all rows' normalisers. Returns their sum, 1 on average.
export function columnInto(out, at, pack, layer, head, token, scale, normalisers, from) {
  columnScoresInto(out, at, pack, layer, head, token, scale);
  let total = 0;
  for (let i = 0; i < pack.tokens; i++) {
    const cut = pack.cuts?.length && isCut(pack, layer, head, i, token);
    const weight = cut ? 0 : Math.exp(out[at + i] - normalisers[from + i]);
    out[at + i] = weight;
    total += weight;
  }
  return total;
}

// weight × ‖W_O v‖: a large weight on a short value vector carries little.
export function weighInto(out, at, weights, norms, normsAt, count) {
  for (let j = 0; j < count; j++) out[at + j] = weights[at + j] * norms[normsAt + j];
}

// ------------------------------------------------------------------------------------------------ numbers of a row

export const effectiveNumber = (bits) => 2 ** bits;

export function entropyBits(row, at, count) {
  let bits = 0;
  for (let j = at; j < at + count; j++) if (row[j] > 0) bits -= row[j] * Math.log2(row[j]);
  return bits;
}

export function largestIndex(values, from, to) {
  let best = from;
  for (let j = from + 1; j < to; j++) if (values[j] > values[best]) best = j;
  return best;
}

export function sumOf(values, from, to) {
  let total = 0;
  for (let j = from; j < to; j++) total += values[j];
  return total;
}

// The row from its largest weight to its smallest.
export function sortInto(out, row, at, count) {
  for (let j = 0; j < count; j++) out[j] = -row[at + j];
  out.subarray(0, count).sort();
  for (let j = 0; j < count; j++) out[j] = -out[j];
}

// --------------------------------------------------------------------------------------------------- convolution

// The cells that `depth` stacked k×k convolutions reach from one cell: depth·(k−1)/2 to each side, cut at the borders.
export function neighbourhood(rows, columns, row, column, k, depth = 1) {
  const reach = (depth * (k - 1)) / 2;
  const top = Math.max(0, row - reach),
    bottom = Math.min(rows - 1, row + reach);
  const left = Math.max(0, column - reach),
    right = Math.min(columns - 1, column + reach);
  return { top, left, bottom, right, count: (bottom - top + 1) * (right - left + 1) };
}

// A fixed k×k kernel as the example of a convolution: the binomial blur, for k = 3 it is 1 2 1 / 2 4 2 / 1 2 1 over 16.
export function kernelWeights(k) {
  const line = [1];
  for (let n = 1; n < k; n++) for (let i = n; i >= 0; i--) line[i] = (line[i] ?? 0) + (line[i - 1] ?? 0);
  const total = 4 ** (k - 1);
  return Float32Array.from({ length: k * k }, (_, i) => (line[Math.floor(i / k)] * line[i % k]) / total);
}

// Cuts: who did not hear whom in the pass that a pack is of. The twin of playground/cuts.py, whose texts it reads:
// "7,5>3,2", "*>cls@4.1", "*>3x3". Here a text has been read by Python before. No DOM in here.

export const MOST_CUTS = 16; // as in playground/cuts.py

const ALL = "*";
const KERNEL = /^([357])x\1$/;

// What each text says, in token numbers: {hearers, unheard, layers, heads: a Set, or null for all, kernel, kept, to:
// what ablated heads give, "zero" or "mean"}.
export function readCuts(texts, { prefix, columns }) {
  const token = (word) => {
    const [row, column] = word.split(",").map(Number);
    return column === undefined ? prefix.indexOf(word) : prefix.length + row * columns + column;
  };
  const some = (text, numberOf) => (text === undefined || text === ALL ? null : new Set(text.split("+").map(numberOf)));
  return texts.map((text) => {
    const [edge, place] = text.split("@");
    const [who, whom = ALL] = edge.split(">");
    const to = edge === who ? who : "";
    const [first, ...more] = whom.split("+");
    const kernel = Number(KERNEL.exec(first)?.[1] ?? 0);
    const [layers, heads] = place?.split(".") ?? [];
    return {
      hearers: to ? null : some(who, token),
      unheard: kernel ? null : some(whom, token),
      kernel,
      kept: new Set(kernel ? more.map(token) : []),
      layers: some(layers, Number),
      heads: some(heads, Number),
      to,
    };
  });
}

// Whether `query` did not hear `key` in this layer and head. Everybody hears themselves.
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

// With a kernel, patches hear their neighbourhood; of the prefix, which has no place, only what `kept` names.
function isFar({ prefixCount, columns }, { kernel, kept }, query, key) {
  if (query < prefixCount || kept.has(key)) return false;
  if (key < prefixCount) return true;
  const [a, b] = [query - prefixCount, key - prefixCount];
  const rows = Math.abs(Math.floor(a / columns) - Math.floor(b / columns));
  return Math.max(rows, Math.abs((a % columns) - (b % columns))) > kernel >> 1;
}

// Sets cut scores to −∞. Returns the largest remaining score.
export function silence(scores, at, pack, layer, head, query, largest) {
  if (!pack.cuts?.length) return largest;
  let left = -Infinity;
  let any = false;
  for (let key = 0; key < pack.tokens; key++) {
    if (isCut(pack, layer, head, query, key)) {
      scores[at + key] = -Infinity;
      any = true;
    } else if (scores[at + key] > left) left = scores[at + key];
  }
  return any ? left : largest;
}

// Ablates heads in the mixture of a layer, (N, D), in place: they give nothing, or their mean over the tokens.
export function ablate(mixed, { cuts, tokens, headNumbers }, layer) {
  const width = mixed.length / tokens;
  const head = (column) => Math.floor((column * headNumbers.length) / width);
  for (const { to, layers, heads } of cuts) {
    if (!to || !(layers?.has(layer) ?? true)) continue;
    for (let column = 0; column < width; column++) {
      if (!(heads?.has(head(column)) ?? true)) continue;
      let sum = 0;
      if (to === "mean") for (let at = column; at < mixed.length; at += width) sum += mixed[at];
      for (let at = column; at < mixed.length; at += width) mixed[at] = sum / tokens;
    }
  }
}
