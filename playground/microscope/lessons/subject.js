// What the browser computes of the picture and model on view. In each place of a lesson's part whose value depends on a
// trace stands a recipe (`Made` of playground/lessons/questions.py): {made: the name of a function, and its arguments}.

import { toContainer } from "../core/container.js";
import { FORMAT, mergePack, rowInto, unpack } from "../core/core.js";
import { gridFor, patchAt } from "../core/grid.js";
import { LITTLE, meanColours } from "../core/kinds.js";
import {
  agreeingHead,
  byShare,
  farRow,
  filledWords,
  MEASURES,
  meanRow,
  measureHeads,
  widestOf,
} from "../core/measures.js";
import { percent } from "../core/numbers.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";

const DRAWN_SIDE = 640; // pixels of a picture in a drawing
const PATCHES_AROUND = 2; // patches on each side of the query
const ENLARGED_SIDE = 480; // pixels
const COLOURS_SIDE = 224; // pixels of a square picture whose patches have mean colours
const COLOURS_SCALE = 20; // 1/temperature
const BLACK_PART = 1e-6; // added to red, green and blue, because black has no direction
const HEADROOM = 1.25; // the end of the axis, as a multiple of the widest head's spread

// A promise of the subject for a picture in a model: {query: the patch that asks at first, report(scale, isWholePass):
// a promise of all heads' numbers, …}. source: as the lens's; words: of an address with the two.
export async function makeSubject(source, words) {
  const trace = await source.open(words);
  const bitmap = await source.picture(trace);
  const [y, x] = trace.picture.start ?? [0.5, 0.5];
  const results = new Map();
  const once = (key, compute) => {
    if (!results.has(key)) {
      results.set(key, compute());
      results.get(key).catch(() => results.delete(key)); // the next part tries again
    }
    return results.get(key);
  };
  const query = patchAt(x, y, ...trace.grid);
  const bytesOf = (layer) => once(`bytes ${layer}`, () => source.layers(trace, [layer]));
  const packOf = (layer) => once(`pack ${layer}`, async () => unpack(await bytesOf(layer)));
  async function measure(scale, isWholePass) {
    const measured = isWholePass ? await source.open({ ...words, scale: String(scale) }) : trace;
    if ((trace.offers ?? source.offers)?.includes("heads")) return source.heads(measured, scale);
    const pack = isWholePass ? unpack(await source.layers(measured, [0])) : await packOf(0);
    const others = Array.from({ length: pack.layers - 1 }, (_, n) => source.layers(measured, [n + 1]));
    for (const bytes of await Promise.all(others)) mergePack(pack, unpack(bytes));
    return measureHeads(pack, scale ?? pack.scale, query);
  }
  return {
    id: trace.id,
    bitmap,
    bytesOf,
    packOf,
    query,
    grid: trace.grid,
    gridFor: (square) => gridFor([bitmap.width, bitmap.height], square),
    other: (sample) => once(`sample ${sample}`, () => makeSubject(source, { model: trace.model, sample })),
    report: (scale, isWholePass = false) => once(`${scale} ${isWholePass}`, () => measure(scale, isWholePass)),
  };
}

export const hasRecipe = (value) =>
  typeof value === "object" && value !== null && ("made" in value || Object.values(value).some(hasRecipe));

// A promise of the value with all recipes in it replaced, those among a recipe's arguments first.
export async function filled(value, subject) {
  if (!hasRecipe(value)) return value;
  if (Array.isArray(value)) return Promise.all(value.map((item) => filled(item, subject)));
  const entries = Object.entries(value).map(async ([name, item]) => [name, await filled(item, subject)]);
  const { made: name, ...given } = Object.fromEntries(await Promise.all(entries));
  return name ? (MAKERS[name] ?? MEASURES[name])(given, subject) : given;
}

const MAKERS = {
  words: filledWords,

  // The picture under the heat of a row of the middle patch, that patch outlined: {url, size}. row: "kernel", a 3 × 3
  // kernel's; "even"; or "head", of a head. sample: instead of the picture on view.
  async lit({ row, sample, layer, head }, subject) {
    const { bitmap, packOf, grid } = sample ? await subject.other(sample) : subject;
    const [rows, columns] = grid;
    const [y, x] = [rows >> 1, columns >> 1];
    const isNear = (patch) => Math.abs(Math.floor(patch / columns) - y) < 2 && Math.abs((patch % columns) - x) < 2;
    const isLit = (patch) => Number(row === "even" || isNear(patch));
    const values = Float32Array.from({ length: rows * columns }, (_, patch) => isLit(patch));
    if (row === "head") {
      const pack = await packOf(layer);
      const weights = new Float32Array(pack.tokens);
      rowInto(weights, 0, pack, layer, head, pack.prefixCount + y * columns + x, pack.scale);
      values.set(weights.subarray(pack.prefixCount));
    }
    const canvas = litPicture(bitmap, grid, values, Math.max(...values));
    const [width, height] = [canvas.width / columns, canvas.height / rows];
    outline(canvas.getContext("2d"), x * width, y * height, width, height);
    return { url: urlOf(await bytesOfCanvas(canvas)), size: [canvas.width, canvas.height] };
  },

  async layer({ layer, desk }, { id, bytesOf, bitmap, query }) {
    const [pack, image] = await Promise.all([bytesOf(layer), jpegOf(bitmap, DRAWN_SIDE)]);
    const header = { id: `${id} ${layer}`, layer, patch: query, desk };
    return toContainer(header, { pack: [pack, [pack.length]], image: [image, [image.length]] });
  },

  // Another picture that asks the one on view, both with their queries and keys in a layer.
  async crossed({ layer, head, sample }, subject) {
    const asking = await subject.other(sample);
    const arrays = {};
    for (const [name, { bytesOf, bitmap }] of Object.entries({ asking, asked: subject })) {
      const [pack, image] = await Promise.all([bytesOf(layer), jpegOf(bitmap, DRAWN_SIDE)]);
      Object.assign(arrays, { [name]: [image, [image.length]], [`${name}_pack`]: [pack, [pack.length]] });
    }
    return toContainer({ id: `${asking.id} ${subject.id} ${layer} ${head}`, layer, head }, arrays);
  },

  // The picture, cut into whole windows of patches.
  async windows({ side, window }, { id, bitmap, gridFor }) {
    const grid = gridFor([side, side]).map((count) => window * Math.max(1, Math.round(count / window)));
    const image = await jpegOf(bitmap, DRAWN_SIDE);
    const header = { id: `${id} ${side}`, grid, window, size: [bitmap.height, bitmap.width] };
    return toContainer(header, { image: [image, [image.length]] });
  },

  // A trace with one layer and one head: each patch's query and key is its mean colour, as a vector of length one.
  async colours({ patch, temperatures }, { id, bitmap, gridFor }) {
    const side = Math.max(1, Math.floor(COLOURS_SIDE / patch));
    const grid = gridFor([side, side]);
    const [height, width] = grid.map((count) => count * patch);
    const { data } = contextWith(bitmap, width, height).getImageData(0, 0, width, height);
    const unitVectors = unitColours(meanColours(data, width, height, ...grid));
    const image = await jpegOf(bitmap, 2 * Math.max(width, height));
    const tokens = unitVectors.length / 3;
    const header = {
      format: FORMAT,
      scale: COLOURS_SCALE,
      layers: 1,
      heads: 1,
      head_dim: 3,
      tokens,
      prefix: [],
      grid,
      held: [0],
      size: [height, width],
      id: `${id} ${patch}`,
      temperatures,
    };
    const shape = [1, 1, tokens, 3];
    return toContainer(header, { q: [unitVectors, shape], k: [unitVectors, shape], image: [image, [image.length]] });
  },
  async distances_chart({ figure, kernel }, { grid, report }) {
    const { all } = await report();
    const farthest = Array.from({ length: all.at(-1).layer + 1 }, (_, layer) => ((layer + 1) * (kernel - 1) + 1) >> 1);
    const y = [all.map(({ distance }) => distance), farthest.map((radius) => Math.min(Math.max(...grid), radius))];
    return { ...figure, data: figure.data.map((trace, n) => ({ ...trace, y: y[n] })) };
  },

  // Entropy, largest weight or spread of scores of each head, with the model's scale and with the chosen one.
  async sharpness({ figure, quantity, scale, whole: isWholePass, hover, digits }, { report }) {
    const [{ all: modelHeads, tokens }, { all: chosenHeads }] = await Promise.all([
      report(),
      report(scale, isWholePass),
    ]);
    const values = [modelHeads, chosenHeads].map((numbers) => numbers.map((head) => head[quantity]));
    const text = modelHeads.map(({ layer, head }, n) => {
      const [on, off] = values.map((ofHeads) => ofHeads[n].toFixed(digits));
      return filledWords({ text: hover, layer, head, on, off });
    });
    const [ties, model, chosen] = figure.data;
    const { title } = figure.layout;
    const titleText = filledWords({ text: title.text, most: Math.log2(tokens).toFixed(1) });
    return {
      data: [
        { ...ties, y: values[0].flatMap((value, n) => [value, values[1][n], null]) },
        { ...model, y: values[0], text },
        { ...chosen, y: values[1], text },
      ],
      layout: { ...figure.layout, title: { ...title, text: titleText } },
    };
  },

  // The picture with the row to guess; beside it, enlarged, the query's patch and the patches around it.
  async far_row({ caption, ...given }, subject) {
    const { grid, bitmap, query } = subject;
    const beside = { words: caption, ...(await enlargedPatch(bitmap, grid, query)) };
    const heat = roundedHeat(await farRow(given, subject));
    return { ...(await photoOf(subject)), mark: query, heat, paints: true, height: 400, beside };
  },

  // Two pictures: the mean rows of the head whose rows agree most and of the head whose rows agree least.
  async agreed_rows({ words, least: leastWords, brightest: floor }, subject) {
    const { grid, bitmap, report, packOf } = subject;
    const [mostRow, leastRow] = await Promise.all(
      ["most", "least"].map(async (which) => {
        const { layer, head } = agreeingHead(await report(), which);
        const pack = await packOf(layer);
        return meanRow(pack, layer, head).subarray(pack.prefixCount);
      }),
    );
    const image = urlOf(await bytesOfCanvas(litPicture(bitmap, grid, leastRow, Math.max(floor, ...leastRow))));
    const beside = { image, words: leastWords, aspect: grid[1] / grid[0] };
    return { ...(await photoOf(subject)), heat: roundedHeat(mostRow), lines: true, words, beside };
  },

  // For the question about the widest heads: the lines, the axis, and a tempting guess that this picture contradicts.
  async widest({ lines }, subject) {
    const y = await widestOf(subject);
    const [dashed, series] = lines.series;
    return { ...lines, series: [dashed, { ...series, y }], high: HEADROOM * Math.max(...y) };
  },
  async widest_end({ times = 1 }, subject) {
    return Number((times * HEADROOM * Math.max(...(await widestOf(subject)))).toFixed(1));
  },

  // The sentences for the number of heads with a locked row and, if there is one, for what its place carries.
  async by_count({ none, one, several, little, same, plain }, subject) {
    const count = await MEASURES.locked_heads({}, subject);
    if (!count) return none;
    const report = await subject.report();
    const { layer, head } = agreeingHead(report, "most");
    const sink = report.sinks?.find((other) => other.layer === layer && other.head === head);
    const kind = sink?.kind ?? ((await MEASURES.carried({}, subject)) < LITTLE ? "nothing" : "");
    return `${count > 1 ? several : one} ${{ nothing: little, "one thing": same }[kind] ?? plain}`;
  },
  // How many heads have a sink, and of which kind; `unknown` where Python has not measured them.
  async all_sinks({ text, unknown }, { report }) {
    const { sinks, all } = await report();
    if (!sinks) return unknown;
    const count = (kind) => sinks.filter((sink) => sink.kind === kind).length;
    const kinds = { nothing: count("nothing"), one: count("one thing"), neither: count("neither") };
    return filledWords({ text, all: all.length, sinks: sinks.length, ...kinds });
  },
  megaphone: async ({ loud, has, none }, subject) => ((await MEASURES.key_length({}, subject)) > loud ? has : none),
  async agreeing_heads(_, { report }) {
    return byShare(await report())
      .slice(0, 5)
      .map(({ layer, head, entropy, ...shares }) => [
        ...[`layer ${layer}, head ${head}`, percent(shares.to_one), percent(shares.to_class)],
        ...[percent(shares.to_registers), `${entropy.toFixed(1)} bits`],
      ]);
  },
};

const roundedHeat = (row) => Array.from(row, (weight) => Number(weight.toFixed(6)));

async function photoOf({ bitmap, grid }) {
  const image = urlOf(await jpegOf(bitmap, DRAWN_SIDE));
  return { kind: "Photo", image, grid, aspect: grid[1] / grid[0], height: 380 };
}

// Scales each patch's colour (patches × 3) to length one.
export function unitColours(colours) {
  const unitVectors = colours.map((part) => part + BLACK_PART);
  for (let start = 0; start < unitVectors.length; start += 3) {
    const length = Math.hypot(unitVectors[start], unitVectors[start + 1], unitVectors[start + 2]);
    for (let i = start; i < start + 3; i++) unitVectors[i] /= length;
  }
  return unitVectors;
}

// A canvas: each patch of the photograph under the heat of its value. largest: the brightest value.
function litPicture(bitmap, [rows, columns], values, largest) {
  const scale = Math.min(1, DRAWN_SIDE / Math.max(bitmap.width, bitmap.height));
  const [width, height] = [bitmap.width, bitmap.height].map((pixels) => Math.max(1, Math.round(scale * pixels)));
  /** @type {any} */
  const canvas = new OffscreenCanvas(width, height);
  const print = makePrint(makePhoto(bitmap, width, height), canvas);
  return printHeat(print, values, 0, rows, columns, { low: 0, high: largest });
}

function outline(context, ...box) {
  for (const [colour, lineWidth] of [
    ["black", 6],
    ["white", 2],
  ]) {
    Object.assign(context, { strokeStyle: colour, lineWidth });
    context.strokeRect(...box);
  }
}

// A patch, outlined, and the patches around it, enlarged: {image, aspect}.
async function enlargedPatch(bitmap, [rows, columns], patch) {
  const cells = 2 * PATCHES_AROUND + 1;
  const [h, w] = [bitmap.height / rows, bitmap.width / columns];
  const windowStart = (cell, count) =>
    Math.min(Math.max(cell, PATCHES_AROUND), Math.max(PATCHES_AROUND, count - 1 - PATCHES_AROUND)) - PATCHES_AROUND;
  const [row, column] = [Math.floor(patch / columns), patch % columns];
  const [top, left] = [windowStart(row, rows), windowStart(column, columns)];
  const height = Math.round((ENLARGED_SIDE * h) / w);
  const canvas = new OffscreenCanvas(ENLARGED_SIDE, height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, left * w, top * h, cells * w, cells * h, 0, 0, ENLARGED_SIDE, height);
  const [y, x] = [((row - top) * height) / cells, ((column - left) * ENLARGED_SIDE) / cells];
  outline(context, x, y, ENLARGED_SIDE / cells, height / cells);
  return { image: urlOf(await bytesOfCanvas(canvas)), aspect: ENLARGED_SIDE / height };
}

function contextWith(bitmap, width, height) {
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, width, height);
  return context;
}

// The picture as a JPEG file whose longer side has at most `side` pixels.
function jpegOf(bitmap, side) {
  const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
  const [width, height] = [bitmap.width, bitmap.height].map((pixels) => Math.max(1, Math.round(scale * pixels)));
  return bytesOfCanvas(contextWith(bitmap, width, height).canvas);
}

async function bytesOfCanvas(canvas) {
  const blob = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 });
  return new Uint8Array(await blob.arrayBuffer());
}

const urlOf = (jpeg) => `data:image/jpeg;base64,${base64Of(jpeg)}`;

function base64Of(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}
