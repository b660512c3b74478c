// The Vision Transformer in the browser: playground/vit.py in JavaScript, with the same names in the same order, to be
// read beside it. It has what the models of the folder have: learned positions, a class token that is read out, GELU.
// Products, softmax, norm and GELU are in kernels.c; this file says what is multiplied with what.
//
// attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V
//
// Comments give shapes: N tokens (the prefix tokens first, then the patches, row by row), D width, h heads, d = D / h;
// one image at a time. Parameters have the names of vit.py.
// LayerScale's gains are already in the matrices before them (models/engine_file.py).

import { ablate, decodeHalves, openContainer, silence } from "../core/core.js";
import { resizedPositions } from "./images.js";
import { someColumns, someRows } from "./tensors.js";

// The most queries with scores in memory at one time: more than 16 × 16 patches and prefix
export const MOST_QUERIES = 320;

// A pass calls at(point, x) at the points that vit.py names and uses the result: another matrix, or x itself with other
// numbers. Heads lie side by side: (N, D). At "attention.heard", `at` returns null if nothing is cut, or a
// function (t, scores, first, head) that sets the cut scores to −∞: a mask of N × N would be too large.
const untouched = (_, x) => x;
const POINTS =
  "attention.queries attention.keys attention.values attention.heard attention.heads attention residual.middle " +
  "mlp.hidden mlp residual";

// One head's attention: out = softmax(q kᵀ · scale) v.
function attention(t, q, k, v, scale, silenceScores, out) {
  const scaled = t.take(q, scale); // (N, d)
  for (let first = 0; first < q.rows; first += MOST_QUERIES) {
    const mark = t.mark();
    const queries = someRows(scaled, first, Math.min(MOST_QUERIES, q.rows - first));
    const scores = t.linear(queries, k); // (MOST_QUERIES, N): how well each query matches each key
    silenceScores?.(scores, first);
    t.softmax(scores); // every row sums to one
    t.product(scores, v, someRows(out, first, queries.rows)); // their mixed values
    t.backTo(mark); // the next scores reuse the memory
  }
}

export class VisionTransformer {
  // t: see tensors.js; bytes: a file that engine_file.py wrote.
  constructor(t, bytes) {
    const { header, section } = openContainer(bytes);
    if (header.format !== "attention-playground/weights-1") throw new Error("These are no weights for this engine.");
    this.t = t;
    this.header = header;
    this.config = header.config;
    this.scale = (this.config.width / this.config.heads) ** -0.5; // 1/√d_k
    this.w = readWeights(t, header, section);
    this.grams = readGrams(t, header, section);
    this.end = t.mark(); // the end of the weights
    this.placed = null; // {grid, learned}: the positions of the last picture
  }

  // From (3, H, W) floats to (patches, D): multiplies each patch's pixels by the same matrix.
  patchEmbed(image, [rows, columns], out) {
    const { patch_size: P } = this.config;
    const [width, plane] = [columns * P, rows * columns * P * P];
    const numbers = new Float32Array(rows * columns * 3 * P * P);
    let offset = 0;
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++)
        for (let channel = 0; channel < 3; channel++)
          for (let y = 0; y < P; y++, offset += P) {
            const start = channel * plane + (row * P + y) * width + column * P;
            numbers.set(image.subarray(start, start + P), offset);
          }
    this.linear(this.t.put(numbers, rows * columns, 3 * P * P), "patch_embed.proj", out);
  }

  // Multi-head self-attention: h small attentions side by side, each with queries, keys and values of its own.
  attn(x, layer, scale, at) {
    const { t, config } = this;
    const name = `blocks.${layer}.attn`;
    const { width: D, heads } = config;
    const d = D / heads;
    const qkv = this.linear(x, `${name}.qkv`); // (N, 3 · D)
    const qkvParts = ["queries", "keys", "values"].map((name, i) =>
      at(`attention.${name}`, someColumns(qkv, i * D, D)),
    );
    const silenceHead = at("attention.heard", null);
    const N = x.rows;
    const mixtures = t.matrix(N, D); // the heads' outputs, side by side
    const matrixOf = (columns) => t.matrix(heads * N, columns);
    const outputs = { q: matrixOf(d), k: matrixOf(d), norms: matrixOf(1) }; // (h, N, d), (h, N)
    for (let head = 0; head < heads; head++) {
      const mark = t.mark();
      const [q, k, v] = qkvParts.map((matrix) => someColumns(matrix, head * d, d)); // (N, d) each
      const headRows = (matrix) => someRows(matrix, head * N, N);
      const silent = silenceHead && ((scores, first) => silenceHead(t, scores, first, head));
      const mixture = someColumns(mixtures, head * d, d); // (N, d)
      attention(t, q, k, v, scale, silent, mixture);
      t.take(q, 1, headRows(outputs.q));
      t.take(k, 1, headRows(outputs.k));
      this.valueNorms(v, layer, head, headRows(outputs.norms));
      t.backTo(mark);
    }
    return [this.linear(at("attention.heads", mixtures), `${name}.proj`), outputs];
  }

  // The same small network applied to each token separately: to mlp_width numbers, GELU, and back to D.
  mlp(x, name, at) {
    const hidden = this.t.gelu(this.linear(x, `${name}.fc1`)); // (N, mlp_width)
    return this.linear(at("mlp.hidden", hidden), `${name}.fc2`); // (N, D)
  }

  // One layer: attention mixes the tokens, the MLP changes each one. Both are added to the tokens (the residual).
  block(x, layer, scale, at) {
    const { t } = this;
    const mark = t.mark();
    const [mixture, outputs] = this.attn(this.norm(x, `blocks.${layer}.norm1`), layer, scale, at);
    const put = (changed) => changed !== x && t.take(changed, 1, x);
    t.add(x, at("attention", mixture));
    put(at("residual.middle", x));
    t.add(x, at("mlp", this.mlp(this.norm(x, `blocks.${layer}.norm2`), `blocks.${layer}.mlp`, at)));
    put(at("residual", x));
    const parts = Object.entries({ ...outputs, features: x }).map(([part, matrix]) => [part, t.read(matrix)]);
    t.backTo(mark);
    return Object.fromEntries(parts);
  }

  // Yields each layer: {layer, q, k: (h, N, d), norms: (h, N) lengths ‖W_O v‖, features: (N, D), the
  // tokens after the layer}. Returns the logits.
  *layers(image, grid, { scale = this.scale, at = untouched } = {}) {
    const x = this.embed(image, grid, at);
    for (let layer = 0; layer < this.config.depth; layer++) {
      const inLayer = (point, tensor) => at(`layers.${layer}.${point}`, tensor);
      yield { layer, ...this.block(x, layer, scale, inLayer) };
    }
    return this.classify(x);
  }

  // The names of a pass's points, in order, such as "layers.6.attention.values".
  points() {
    const layers = Array.from({ length: this.config.depth }, (_, layer) => layer);
    return ["embedding", ...layers.flatMap((layer) => POINTS.split(" ").map((point) => `layers.${layer}.${point}`))];
  }

  // Turns pixels into tokens, with positions added.
  embed(image, grid, at = untouched) {
    const { t } = this;
    const [prefixCount, patches] = [this.config.prefix.length, grid[0] * grid[1]];
    t.backTo(this.end);
    const x = t.matrix(prefixCount + patches, this.config.width); // (N, D)
    const mark = t.mark();
    this.patchEmbed(image, grid, someRows(x, prefixCount, patches));
    const { cls_token: cls, reg_token: registers } = this.w;
    t.take(cls, 1, someRows(x, 0, 1));
    if (registers) t.take(registers, 1, someRows(x, 1, registers.rows));
    t.add(x, this.positions(grid));
    t.backTo(mark);
    return at("embedding", x);
  }

  // The learned positions for any grid, (N, D).
  positions(grid) {
    const { native_grid: native, width } = this.config;
    if (`${grid}` === `${native}`) return this.w.pos_embed;
    if (`${grid}` !== this.placed?.grid) {
      const positions = resizedPositions(this.t.read(this.w.pos_embed), width, native, grid);
      this.placed = { grid: `${grid}`, learned: positions }; // for later passes
    }
    return this.t.put(this.placed.learned, this.placed.learned.length / width, width);
  }

  // The logits; null for a model without a classifier.
  classify(x) {
    if (!this.config.classes) return null;
    const classToken = this.norm(someRows(x, 0, 1), "norm"); // (1, D)
    return this.t.read(this.linear(classToken, "head")); // (classes,)
  }

  linear(x, name, out) {
    return this.t.linear(x, this.w[`${name}.weight`], this.w[`${name}.bias`], out);
  }
  norm(x, name, out) {
    return this.t.norm(x, this.w[`${name}.weight`], this.w[`${name}.bias`], this.config.eps, out);
  }

  // ‖W_O v‖ of each token in one head, as in playground/vit_parts.py: ‖W v‖² = vᵀ(WᵀW)v, without (N, D) per head
  valueNorms(v, layer, head, out) {
    const { t } = this;
    const gram = someRows(this.grams[layer], head * v.columns, v.columns); // (d, d)
    t.rootOfDots(t.linear(v, gram), v, out); // (N,)
  }
}

// ------------------------------------------------------------------------------------------------------- the weights

const BLOCK = 32; // numbers of a row that share a gain

// The file's arrays, put into the kernels' memory, by name: matrices of int8 codes with their gains, or floats.
function readWeights(t, header, section) {
  const floats = (name) => (header.sections[name].dtype === "float16" ? decodeHalves(section(name)) : section(name));
  const weights = {};
  for (const [name, { dtype, shape }] of Object.entries(header.sections)) {
    const [rows, columns] = shape.length > 1 ? shape : [1, ...shape];
    if (dtype === "int8") weights[name] = t.putCodes(section(name), floats(`${name}.gain`), rows, columns);
    else if (!name.endsWith(".gain")) weights[name] = t.put(floats(name), rows, columns);
  }
  return weights;
}

// The numbers of a (rows, columns) matrix of the file, transposed.
function transposed(name, { sections }, section) {
  const [rows, columns] = sections[name].shape;
  const codes = section(name);
  const gains = sections[name].dtype === "int8" ? decodeHalves(section(`${name}.gain`)) : null;
  const blocksPerRow = Math.ceil(columns / BLOCK);
  const out = new Float32Array(codes.length);
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) {
      const gain = gains ? gains[r * blocksPerRow + Math.floor(c / BLOCK)] : 1;
      out[c * rows + r] = codes[r * columns + c] * gain;
    }
  return out;
}

// For each layer, WᵀW of each head's part W of W_O, one below the other: (h · d, d).
function readGrams(t, header, section) {
  const { depth, heads, width } = header.config;
  const d = width / heads;
  return Array.from({ length: depth }, (_, layer) => {
    const gram = t.matrix(width, d);
    const mark = t.mark();
    const out = t.put(transposed(`blocks.${layer}.attn.proj.weight`, header, section), width, width);
    for (let head = 0; head < heads; head++) {
      const headRows = someRows(out, head * d, d); // (d, D)
      t.linear(headRows, headRows, null, someRows(gram, head * d, d));
    }
    t.backTo(mark);
    return gram;
  });
}

// ----------------------------------------------------------------------------------------------------------- the cuts

// The function `at` that applies the cuts of core/core.js in a pass.
export function cutting({ t, config: { prefix, heads } }, [rows, columns], cuts) {
  if (!cuts.length) return untouched;
  const tokens = prefix.length + rows * columns;
  const headNumbers = Array.from({ length: heads }, (_, head) => head);
  const pass = { cuts, tokens, columns, prefixCount: prefix.length, headNumbers };
  return (point, x) => {
    const layer = Number(point.split(".")[1]);
    if (point.endsWith(".attention.heads")) ablate(t.numbers(x), pass, layer);
    if (!point.endsWith(".attention.heard")) return x;
    return (t, scores, firstQuery, head) => {
      const numbers = t.numbers(scores);
      for (let i = 0; i < scores.rows; i++) silence(numbers, i * tokens, pass, layer, head, firstQuery + i, 0);
    };
  };
}
