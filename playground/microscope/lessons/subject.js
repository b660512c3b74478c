// Computes the parts of a lesson about a visitor's photograph, without Python. The field `own` of a part
// (playground/lessons/parts.py) says which of the sample's words, numbers, data and pictures are replaced.
// The photograph is {id, words: of its address, pack: its trace with all layers, bytes: the pack as bytes, bitmap: its
// pixels, at most 1024 to a side, gridFor([rows, columns] for a square picture): the photograph's grid, plain: the
// unchanged pass, runPass({scale, cut}): a promise of a changed pass}. A pass is {pack, features(): a promise of the
// tokens after each layer, as float16 bits, answer(): a promise of [label, probability] of all labels}.

import { toContainer } from "../core/container.js";
import { FORMAT, rowInto } from "../core/core.js";
import { colourDistancesOf, habitOf, habitWords, headMeasures } from "../core/habits.js";
import { meanColours } from "../core/kinds.js";
import { BENEATH_SATURATION, BENEATH_TONES, fadedPixels, toneOf } from "../core/light.js";
import {
  agreeingHead,
  extremeHead,
  farRow,
  MEASURES,
  measureOf,
  middleOf,
  movedTokens,
  placeShares,
  quantile,
  sharpnessOf,
  wordsOf,
} from "../core/measures.js";
import { percent } from "../core/numbers.js";
import { heatInto } from "../drawing/light.js";

const DRAWN_SIDE = 640; // pixels of a picture in a drawing
const THUMB_SIDE = 200; // pixels of the picture on the board of switches
const PATCHES_AROUND = 2; // patches on each side of the query
const ENLARGED_SIDE = 480; // pixels
const COLOURS_SIDE = 224; // pixels of a square picture whose patches have mean colours
const COLOURS_SCALE = 20; //    1/temperature: as in playground/analysis/by_hand.py
const BLACK_PART = 1e-6; // added to red, green and blue, because black has no direction

// The question about the photograph: the sample's fields that `own` names are replaced.
export async function questionOf({ question, own: ownMeasures, ...fields }, subject) {
  return { ...question, ...(await fieldsFor(ownMeasures, question, subject)), ...fields, context: subject.id };
}

// The picture part and its caption, made from the photograph.
export const pictureOf = async ({ own: ownMeasures, ...picture }, subject) => {
  const { caption = picture.caption, data } = await fieldsFor(ownMeasures, picture, subject);
  return { ...picture, data, caption, words: caption };
};

// A part of words, a table or an exercise: the sample's fields that `own` names are replaced.
export async function partOf({ own: ownMeasures, ...part }, subject) {
  return { ...part, ...(await fieldsFor(ownMeasures, part, subject)) };
}

// Returns {field: value}: the photograph's values for the fields in `ownMeasures`.
async function fieldsFor(ownMeasures, sampleFields, subject) {
  const fields = {};
  for (const [fieldName, recipe] of Object.entries(ownMeasures)) {
    if ("text" in recipe) fields[fieldName] = wordsOf(recipe, subject.pack);
    else if ("measure" in recipe) fields[fieldName] = measureOf(recipe, subject.pack);
    else fields[fieldName] = await FIELDS[recipe.made](recipe, subject, sampleFields[fieldName]);
  }
  return fields;
}

// A promise of {data, layout}: computed by CHARTS[recipe.made], or else the sample's chart with y measured on the
// photograph.
export async function chartOf({ data, layout }, recipe, subject) {
  if (recipe.made) return CHARTS[recipe.made](recipe, subject, { data, layout });
  const valuesOf = (trace, measure) => (measure ? { ...trace, y: measureOf(measure, subject.pack) } : trace);
  return { data: data.map((trace, n) => valuesOf(trace, recipe[n])), layout };
}

// A promise of a drawing's data, as bytes or an object. `data` is the sample's. Equal recipes share one promise.
export function dataOf(recipe, subject, data) {
  return onceFor(subject, JSON.stringify(recipe), () => DRAWINGS[recipe.made](recipe, subject, data));
}

function onceFor(subject, key, compute) {
  subject.made ??= new Map();
  if (!subject.made.has(key)) {
    const value = compute();
    subject.made.set(key, value);
    value.catch?.(() => subject.made.delete(key)); // the next request tries again
  }
  return subject.made.get(key);
}

const passAtScale = (subject, scale) =>
  onceFor(subject, `scale ${scale}`, () => subject.runPass({ scale: String(scale) }));

// The numbers of each head on the photograph, [layer][head], as core/habits.js measures them.
const headsOf = (subject) =>
  onceFor(subject, "heads", () => {
    const { pack, bitmap } = subject;
    const [height, width] = pack.header.size;
    const { data } = contextWith(bitmap, width, height).getImageData(0, 0, width, height);
    const colourDistances = colourDistancesOf(meanColours(data, width, height, pack.rows, pack.columns));
    return mapHeads(pack, (layer, head) => headMeasures(pack, colourDistances, layer, head));
  });

const mapHeads = ({ layers, heads }, value) =>
  Array.from({ length: layers }, (_, layer) => Array.from({ length: heads }, (_, head) => value(layer, head)));

// The effect of switching off heads, such as "3.0 4.2", by zeros or by their means (`to`): {change: of the tokens in
// each layer, see movedTokens, rows: [[label, before, after]] of the likeliest labels}.
async function effectOfCut(subject, spotsOff, to = "zero") {
  const { plain, pack } = subject;
  const cut = spotsOff
    .split(" ")
    .map((spot) => `${to}@${spot}`)
    .join(";");
  const cutPass = spotsOff ? await subject.runPass({ cut }) : plain;
  const [fullFeatures, cutFeatures] = await Promise.all([plain.features(), cutPass.features()]);
  const changes = fullFeatures.map((halves, layer) => movedTokens(halves, cutFeatures[layer], pack));
  const [fullAnswer, cutAnswer] = await Promise.all([plain.answer(), cutPass.answer()]);
  const likeliest = (answer, count) => [...answer.keys()].sort((a, b) => answer[b][1] - answer[a][1]).slice(0, count);
  const indices = [...new Set([...likeliest(fullAnswer, LABELS_BEFORE_CUT), ...likeliest(cutAnswer, 2)])].sort(
    (a, b) => fullAnswer[b][1] - fullAnswer[a][1],
  );
  return { change: changes, rows: indices.map((i) => [...fullAnswer[i], cutAnswer[i][1]]) };
}

const meanOfPatches = (changes, { prefixCount, patches }) =>
  changes.slice(prefixCount).reduce((sum, share) => sum + share, 0) / patches;

const DRAWINGS = {
  async atlas({ habits }, subject, data) {
    const heads = headsOf(subject);
    const { pack, words } = subject;
    const high = { entropy: Math.log2(pack.tokens), distance: MEASURES.even_distance(pack) };
    const valuesOf = (key, factor) =>
      heads.map((layer) => layer.map((head) => factor * head[NUMBER_NAMES[key] ?? key]));
    const measures = data.measures.map((measure) => {
      const values = valuesOf(measure.key, measure.unit === "%" ? 100 : 1);
      return { ...measure, values, spread: null, high: high[measure.key] ?? measure.high };
    });
    const namedHabit = (head, { told: cue }) => ({ ...habitWords(head, habits), told: cue });
    return {
      ...{ ...data, words, measures, offsets: heads.map((layer) => layer.map(({ offsets }) => offsets)) },
      habits: heads.map((layer, l) => layer.map((head, h) => namedHabit(head, data.habits[l][h]))),
    };
  },

  async board({ off: spotsOff }, subject, data) {
    const { change, rows } = await effectOfCut(subject, spotsOff);
    const averaged = await effectOfCut(subject, spotsOff, "mean");
    const patches = change.map((changes) => changes.slice(subject.pack.prefixCount));
    const sorted = Float64Array.from(patches.flat()).sort();
    const ceiling = spotsOff ? roundShare(quantile(sorted, 0.98)) : 1;
    const bytes = Uint8Array.from(patches.flat(), (share) => Math.min(255, Math.floor((255 * share) / ceiling)));
    const { pack, bitmap } = subject;
    const [layer, head] = ["layer", "head"].map((axis) => extremeHead(pack, { which: "most", what: axis }));
    return {
      ...{
        ...data,
        rows: rows.length ? rows : null,
        ceiling,
        maps: base64Of(bytes),
        grid: [pack.rows, pack.columns],
        strongest: [layer, head],
      },
      ...{ effect: headsOf(subject).map((layerHeads) => layerHeads.map(({ effect }) => effect)) },
      summary: pack.prefix[0] === "cls" ? { name: "CLS", values: change.map(([cls]) => cls) } : null,
      means: change.map((changes) => meanOfPatches(changes, pack)),
      averaged: averaged.change.map((changes) => meanOfPatches(changes, pack)),
      picture: urlOf(await jpegOf(bitmap, THUMB_SIDE)),
    };
  },

  async layer({ layer, desk }, { id, pack, bytes, bitmap }) {
    const image = await jpegOf(bitmap, DRAWN_SIDE);
    const header = { id: `${id} ${layer}`, layer, patch: middleOf(pack), desk };
    return toContainer(header, { pack: [bytes, [bytes.length]], image: [image, [image.length]] });
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
      ...{
        format: FORMAT,
        scale: COLOURS_SCALE,
        layers: 1,
        heads: 1,
        head_dim: 3,
        tokens,
        prefix: [],
        grid,
        held: [0],
      },
      ...{ size: [height, width], id: `${id} ${patch}`, temperatures },
    };
    const shape = [1, 1, tokens, 3];
    return toContainer(header, { q: [unitVectors, shape], k: [unitVectors, shape], image: [image, [image.length]] });
  },
};

// Scales each patch's colour (patches × 3) to length one.
export function unitColours(colours) {
  const unitVectors = colours.map((part) => part + BLACK_PART);
  for (let start = 0; start < unitVectors.length; start += 3) {
    const length = Math.hypot(unitVectors[start], unitVectors[start + 1], unitVectors[start + 2]);
    for (let i = start; i < start + 3; i++) unitVectors[i] /= length;
  }
  return unitVectors;
}

const NUMBER_NAMES = { self: "to_self", class: "to_class", registers: "to_registers" };
const LABELS_BEFORE_CUT = 5; // how many of the likeliest labels before the cut are listed

// The end of a colour scale, a round number: 5, 10, 20, 50, 100 … per cent.
const roundShare = (share) => [0.05, 0.1, 0.2, 0.5, 1].find((round) => share <= 1.2 * round) ?? 2;

const CHARTS = {
  // Each head's mean distance over its layer, a trace for each habit. `scatter` of lessons/heads.py draws the same.
  async by_depth({ habits, hover, patch }, subject, { data, layout }) {
    const { pack } = subject;
    const heads = headsOf(subject);
    const evenDistance = MEASURES.even_distance(pack);
    const xOf = (layer, head) => layer + ((head - (pack.heads - 1) / 2) * 0.5) / pack.heads;
    const entries = heads.flatMap((row, layer) =>
      row.map((numbers, head) => ({ layer, head, x: xOf(layer, head), y: numbers.distance, numbers })),
    );
    const hoverText = ({ layer, head, y, numbers }) =>
      fillBlanks(hover, {
        ...{ layer, head, habit: habitWords(numbers, habits).long },
        ...{ away: y.toFixed(1), pixels: (y * patch).toFixed(0) },
      });
    const traces = habits.map(({ label, colour, symbol }, n) => {
      const points = entries.filter(({ numbers }) => habitOf(numbers) === n);
      const [x, y] = [points.map((point) => point.x), points.map((point) => point.y)];
      const marker = { size: 11, symbol, color: colour, line: { width: 1.5 } };
      const text = points.map(hoverText);
      return { type: "scatter", mode: "markers", name: label, text, hoverinfo: "text", x, y, marker };
    });
    const [evenTrace, kernelTrace] = data.slice(-2);
    const lines = [{ ...evenTrace, y: [evenDistance, evenDistance] }, kernelTrace];
    const yaxis = { ...layout.yaxis, range: [0, 1.1 * Math.max(evenDistance, ...entries.map(({ y }) => y))] };
    return { data: [...traces.filter(({ x }) => x.length), ...lines], layout: { ...layout, yaxis } };
  },

  // Entropy, largest weight or spread of scores of each head, with the model's scale and with the chosen one.
  async sharpness({ quantity, scale, whole: isWholePass, hover, digits, title }, subject, { data, layout }) {
    const [tieTrace, modelTrace, chosenTrace] = data;
    const { pack } = subject;
    const changedPack = isWholePass ? (await passAtScale(subject, scale)).pack : pack;
    const [modelHeads, chosenHeads] = [sharpnessOf(pack, pack.scale), sharpnessOf(changedPack, scale)];
    const values = [modelHeads, chosenHeads].map((heads) => heads.map((numbers) => numbers[quantity]));
    const text = modelHeads.map(({ layer, head }, n) =>
      fillBlanks(hover, { layer, head, on: values[0][n].toFixed(digits), off: values[1][n].toFixed(digits) }),
    );
    const traces = [
      { ...tieTrace, y: values[0].flatMap((value, n) => [value, values[1][n], null]) },
      { ...modelTrace, y: values[0], text },
      { ...chosenTrace, y: values[1], text },
    ];
    const titleText = fillBlanks(title, { most: Math.log2(pack.tokens).toFixed(1) });
    return { data: traces, layout: { ...layout, title: { ...layout.title, text: titleText } } };
  },
};

const fillBlanks = (text, values) => text.replace(/\{(\w+)\}/g, (match, name) => values[name] ?? match);

const FIELDS = {
  // The photograph with the row to guess; beside it, enlarged, the query's patch and the patches around it.
  async far_row({ words }, { pack, bitmap }, photo) {
    const { rows, columns } = pack;
    const mark = middleOf(pack);
    const heat = Array.from(farRow(pack), (weight) => Number(weight.toFixed(6)));
    const secondPicture = { words, ...(await enlargedPatch(bitmap, pack, mark)) };
    const image = urlOf(await jpegOf(bitmap, DRAWN_SIDE));
    return { ...photo, image, grid: [rows, columns], aspect: columns / rows, mark, heat, beside: secondPicture };
  },

  // The sentences for the number of heads with a locked row and, if there is one, for what its place carries.
  async by_count(
    { none: noneWords, one: oneWords, several: severalWords, little: littleWords, same: sameWords },
    { pack },
  ) {
    const count = MEASURES.locked_heads(pack);
    if (!count) return wordsOf(noneWords, pack);
    const sinkWords = MEASURES.carried(pack) < 1 ? littleWords : sameWords;
    return `${wordsOf(count > 1 ? severalWords : oneWords, pack)} ${wordsOf(sinkWords, pack)}`;
  },
  // What moves without the head with the sharpest or the evenest rows, by zeros and by its mean.
  async without_heads({ words }, subject) {
    const { pack } = subject;
    const values = {};
    for (const which of ["sharpest", "evenest"]) {
      const [layer, head, entropy] = ["layer", "head", "entropy"].map((what) => extremeHead(pack, { which, what }));
      Object.assign(values, { [`${which}_layer`]: layer, [`${which}_head`]: head });
      values[`${which}_entropy`] = entropy.toFixed(1);
      for (const to of ["zero", "mean"]) {
        const { change } = await effectOfCut(subject, `${layer}.${head}`, to);
        values[`${which}_${to}`] = percent(meanOfPatches(change.at(-1), pack));
      }
    }
    return fillBlanks(words, values);
  },
  async megaphone({ loud: threshold, has: loudWords, none: quietWords }, { pack }) {
    return wordsOf(MEASURES.key_length(pack) > threshold ? loudWords : quietWords, pack);
  },
  // The reasons against tempting guesses. An even row's weight here replaces that of the sample, the text `even`.
  async even_tempting({ even: sampleShare }, { pack }, tempting) {
    const share = MEASURES.even_share(pack);
    const withShare = ([range, words]) => [range, words.replace(sampleShare, percent(share))];
    const [lowest, [, words], highest] = tempting.map(withShare);
    return [lowest, [[0, 100 * share + 1], words], highest];
  },
  async agreeing_heads(_, subject) {
    const heads = headsOf(subject);
    const { prefixCount, prefix } = subject.pack;
    const registers = prefix.filter((name) => name.startsWith("reg")).length;
    const topHeads = [...placeShares(subject.pack)].sort((a, b) => b.share - a.share).slice(0, 5);
    return topHeads.map(({ layer, head, mean, toOne }) => {
      const share = (from, to) => mean.subarray(from, to).reduce((sum, weight) => sum + weight, 0);
      const shares = [toOne, share(0, prefixCount - registers), share(prefixCount - registers, prefixCount)];
      const { entropy, effect } = heads[layer][head];
      return [`layer ${layer}, head ${head}`, ...shares.map(percent), `${entropy.toFixed(1)} bits`, effect.toFixed(2)];
    });
  },
  // Two pictures: the mean rows of the head whose rows agree most and of the head whose rows agree least.
  async agreed_rows({ words, least: leastWords, brightest: floor }, { pack, bitmap }, photo) {
    const { rows, columns, prefixCount } = pack;
    const [mostRow, leastRow] = ["most", "least"].map((which) => agreeingHead(pack, which).mean.slice(prefixCount));
    const lowerPicture = litPicture(bitmap, pack, leastRow, { most: Math.max(floor, ...leastRow) });
    const lowerImage = urlOf(await bytesOfCanvas(lowerPicture));
    const secondPicture = { image: lowerImage, words: wordsOf(leastWords, pack), aspect: columns / rows };
    const image = urlOf(await jpegOf(bitmap, DRAWN_SIDE));
    const heat = Array.from(mostRow, (share) => Number(share.toFixed(6)));
    return {
      ...photo,
      image,
      grid: [rows, columns],
      aspect: columns / rows,
      heat,
      words: wordsOf(words, pack),
      beside: secondPicture,
    };
  },

  // For the question about the widest heads: the lines, the axis, and a tempting guess that this picture contradicts.
  async widest(_, { pack }, lines) {
    const y = widestOf(pack);
    const [dashed, series] = lines.series;
    return { ...lines, series: [dashed, { ...series, y }], high: HEADROOM * Math.max(...y) };
  },
  async widest_guess(_, { pack }, guess) {
    return { ...guess, high: Number((HEADROOM * Math.max(...widestOf(pack))).toFixed(1)) };
  },
  async widest_tempting(_, { pack }, options) {
    const maximum = HEADROOM * Math.max(...widestOf(pack));
    const [, words] = options.at(-1);
    return [...options.slice(0, -1), [[maximum / 1.1, Number(maximum.toFixed(1))], words]];
  },

  // The photograph under the heat of its middle patch's row, that patch outlined. `lit` in
  // playground/lessons/pictures.py draws the same.
  async lit({ row, ...options }, { pack, bitmap }) {
    const values = ROWS[row](pack, options);
    return urlOf(await bytesOfCanvas(litPicture(bitmap, pack, values, { mark: middleOf(pack) })));
  },
};

// A canvas: each patch of the photograph under the heat of its value. most: the brightest value; mark: a patch.
function litPicture(bitmap, { rows, columns }, values, { most: largest = Math.max(...values), mark = null }) {
  const scale = Math.min(1, DRAWN_SIDE / Math.max(bitmap.width, bitmap.height));
  const [width, height] = [bitmap.width, bitmap.height].map((pixels) => Math.max(1, Math.round(scale * pixels)));
  const context = contextWith(bitmap, width, height);
  const image = context.getImageData(0, 0, width, height);
  const { data } = image;
  const ground = {
    tones: Uint8Array.from({ length: width * height }, (_, p) => toneOf(data[4 * p], data[4 * p + 1], data[4 * p + 2])),
    beneath: fadedPixels(data, BENEATH_TONES, BENEATH_SATURATION),
  };
  const patchOf = (pixel) =>
    Math.floor((Math.floor(pixel / width) * rows) / height) * columns + Math.floor(((pixel % width) * columns) / width);
  const lit = Float32Array.from({ length: width * height }, (_, pixel) => values[patchOf(pixel)]);
  const domain = { low: 0, high: largest, log: false };
  heatInto(new Uint32Array(data.buffer), 0, width, lit, 0, height, width, ground, domain);
  context.putImageData(image, 0, 0);
  if (mark !== null) {
    const [left, top] = [(mark % columns) * (width / columns), Math.floor(mark / columns) * (height / rows)];
    context.strokeStyle = "white";
    context.lineWidth = 3;
    context.strokeRect(left, top, width / columns, height / rows);
  }
  return context.canvas;
}

const HEADROOM = 1.25; // the end of the axis, as a multiple of the widest head's spread
function widestOf(pack) {
  const { layers, heads } = pack;
  const spreads = sharpnessOf(pack, pack.scale).map(({ deviation }) => deviation);
  return Array.from({ length: layers }, (_, n) => Math.max(...spreads.slice(n * heads, (n + 1) * heads)));
}

// Functions that return a row of weights, (patches,), for the middle patch, by the names that lessons use.
export const ROWS = {
  kernel: ({ rows, columns }) => {
    const [y, x] = [Math.floor(rows / 2), Math.floor(columns / 2)];
    const isNear = (patch) => Math.max(Math.abs(Math.floor(patch / columns) - y), Math.abs((patch % columns) - x)) < 2;
    return Float32Array.from({ length: rows * columns }, (_, patch) => Number(isNear(patch)));
  },
  even: ({ patches }) => new Float32Array(patches).fill(1),
  head: (pack, { layer, head }) => {
    const row = new Float32Array(pack.tokens);
    rowInto(row, 0, pack, layer, head, pack.prefixCount + middleOf(pack), pack.scale);
    return row.subarray(pack.prefixCount);
  },
};

// A patch, outlined, and the patches around it, enlarged: {image, aspect}.
async function enlargedPatch(bitmap, { rows, columns }, patch) {
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
  for (const [colour, lineWidth] of [
    ["black", 6],
    ["white", 2],
  ]) {
    context.strokeStyle = colour;
    context.lineWidth = lineWidth;
    context.strokeRect(x, y, ENLARGED_SIDE / cells, height / cells);
  }
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
