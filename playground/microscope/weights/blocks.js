// Writes weights for the engine, with the same numbers as playground/models/engine_file.py. Large matrices become int8,
// with a gain for each 32 numbers of a row; or all weights become float32. Gains of LayerScale are multiplied into the
// matrices before them.

import { emptyContainer, toHalves } from "../core/container.js";
import { halfFloats } from "../core/core.js";
import { countOf, reshaped, WrongFile, withGains } from "./safetensors.js";

const FORMAT_OF_WEIGHTS = "attention-playground/weights-1";
const BLOCK_NUMBERS = 32; // numbers of a row that share a gain
const LARGEST_CODE = 127; // a number is about its code, an integer from -127 to 127, × its block's gain
const ROUNDING_NUMBER = 1.5 * 2 ** 23; // adding this to a float rounds the float to an integer, halves to even
const MOST_BYTES = 1.2e9; // bytes: the largest weights that are opened
const CONFIG_FIELDS = // facts of the architecture that the weights don't show
  "activation classes depth eps gated_mlp heads image_size interpolation labels mean mlp_width multi_label " +
  "patch_size pool positions std stretching width";

// The parameters in the engine's shapes, in the order of `names`: matrices (outputs, inputs), tokens (tokens, D).
function engineTensors(state, names, { layer_scale }) {
  const tensors = new Map();
  for (const name of names) {
    if (name.endsWith(".gamma")) continue;
    let x = state.get(name);
    const gains = layer_scale && state.get(gainOf(name));
    if (gains) x = withGains(x, gains);
    if (/(_token|pos_embed|latent)$/.test(name)) x = reshaped(x, ...x.shape.slice(1));
    else if (x.shape.length > 2) x = reshaped(x, x.shape[0], countOf(x) / x.shape[0]);
    tensors.set(name, x);
  }
  return tensors;
}

const SCALED_BY_LAYERSCALE = /^(blocks\.\d+)\.(attn\.proj|mlp\.fc2)\.(weight|bias)$/;

function gainOf(name) {
  const [, block, part] = SCALED_BY_LAYERSCALE.exec(name) ?? [];
  return block && `${block}.${part === "attn.proj" ? "ls1" : "ls2"}.gamma`;
}

// `state`: a Map of name → tensor that fits `config`; `names`: the order in which tensors are written;
// `onProgress(share)` reports progress. Returns a promise of {bytes, header}.
export async function toEngine(state, names, config, { title, numbers = "int8", tell: onProgress = () => {} }) {
  const tensors = engineTensors(state, names, config);
  const isInt8 = numbers === "int8";
  const types = {};
  for (const [name, { shape }] of tensors) {
    if (isInt8 && name.endsWith(".weight") && shape.length === 2) {
      types[name] = ["int8", shape];
      const blocks = Math.ceil(shape[1] / BLOCK_NUMBERS);
      types[`${name}.gain`] = ["float16", [shape[0], blocks]];
      const fineCount = fineRows(name, shape);
      if (!fineCount) continue;
      types[`${name}.fine`] = ["int8", [fineCount, shape[1]]];
      types[`${name}.fine.gain`] = ["float16", [fineCount, blocks]];
    } else types[name] = [isInt8 && name === "pos_embed" ? "float16" : "float32", shape];
  }
  const total = [...tensors.values()].reduce((sum, x) => sum + countOf(x), 0);
  if (total * (isInt8 ? 1 : 4) > MOST_BYTES)
    throw new WrongFile(
      `${title} has ${Math.round(total / 1e6)} million numbers, more than a page has memory for: open it in the app.`,
    );
  const header = headerOf(config, title, isInt8);
  const { bytes, put: append } = emptyContainer(header, types);
  let numbersDone = 0;
  for (const [name, x] of tensors) {
    const values = await x.read();
    if (types[name][0] === "int8") {
      const { codes, gains } = eightBitBlocks(values, ...x.shape);
      append(name, codes);
      append(`${name}.gain`, gains);
      const [rows, columns] = x.shape;
      const fineCount = fineRows(name, x.shape);
      if (fineCount) {
        const residuals = roundingErrors(values, codes, gains, rows, columns).subarray(0, fineCount * columns);
        const fineBlocks = eightBitBlocks(residuals, fineCount, columns);
        append(`${name}.fine`, fineBlocks.codes);
        append(`${name}.fine.gain`, fineBlocks.gains);
      }
    } else append(name, types[name][0] === "float16" ? toHalves(values) : values);
    numbersDone += values.length;
    onProgress(numbersDone / total);
  }
  return { bytes, header };
}

function headerOf(config, title, isInt8) {
  const { cls_token, dist_token, registers, image_size: size, patch_size: patch, layer_scale } = config;
  const tokenNames = [...(cls_token ? ["cls"] : []), ...(dist_token ? ["dist"] : [])];
  const changes = layer_scale ? ["the gains of LayerScale were multiplied into the matrices before them"] : [];
  if (isInt8)
    changes.push(
      `matrices were rounded to 8 bits, with a gain for each ${BLOCK_NUMBERS} numbers, positions to 16 bits`,
    );
  return {
    format: FORMAT_OF_WEIGHTS,
    model: title,
    title,
    config: {
      ...Object.fromEntries(CONFIG_FIELDS.split(" ").map((name) => [name, config[name]])),
      prefix: [...tokenNames, ...Array.from({ length: registers }, (_, i) => `reg${i}`)],
      native_grid: size.map((side) => side / patch),
    },
    changes: changes.join("; ") || "none",
  };
}

// The number of rows with 8 more bits, which hold the rounding errors of the first 8. In the patches' matrix and in the
// first two layers, these are all rows, because their errors go through all layers. In other layers, these are the rows
// of queries and keys, because softmax amplifies errors of scores.
function fineRows(name, [rows]) {
  if (/^(patch_embed\.|blocks\.[01]\.)/.test(name)) return rows;
  return name.endsWith(".attn.qkv.weight") ? (2 * rows) / 3 : 0;
}

function roundingErrors(values, codes, gains, rows, columns) {
  const [residuals, table] = [Float32Array.from(values), halfFloats()];
  const blocks = gains.length / rows;
  for (let i = 0; i < residuals.length; i++) {
    const column = i % columns;
    const row = (i - column) / columns;
    residuals[i] -= codes[i] * table[gains[row * blocks + Math.floor(column / BLOCK_NUMBERS)]];
  }
  return residuals;
}

// From (rows, columns) to {codes: Int8Array, gains: float16 bits, (rows, blocks)}: a number is about its code × the
// gain of its block.
export function eightBitBlocks(numbers, rows, columns) {
  const blocks = Math.ceil(columns / BLOCK_NUMBERS);
  const [codes, exactGains] = [new Int8Array(numbers.length), new Float32Array(rows * blocks)];
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column += BLOCK_NUMBERS) {
      let largest = 0;
      const end = row * columns + Math.min(column + BLOCK_NUMBERS, columns);
      for (let i = row * columns + column; i < end; i++) largest = Math.max(largest, Math.abs(numbers[i]));
      exactGains[row * blocks + column / BLOCK_NUMBERS] = largest / LARGEST_CODE;
    }
  const gains = toHalves(exactGains);
  const table = halfFloats();
  // rounds the gain up, so that no code exceeds LARGEST_CODE
  for (let i = 0; i < gains.length; i++) if (table[gains[i]] < exactGains[i]) gains[i]++;
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const gain = table[gains[row * blocks + Math.floor(column / BLOCK_NUMBERS)]];
      const i = row * columns + column;
      if (gain) codes[i] = Math.fround(Math.fround(numbers[i] / gain) + ROUNDING_NUMBER) - ROUNDING_NUMBER;
    }
  return { codes, gains };
}
