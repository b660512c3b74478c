// Shows two pictures for the patch under the cursor: its weights, and weight × ‖W_O v‖, the length of what each token
// adds. A mixing desk below them shows the largest weights. data: what `layer` of subject.js makes. Sends "look"; once
// a person has chosen a patch, it reports `tops`: the patch with the largest number in each of the two pictures.

import { ROLES } from "../core/colours.js";
import { largestIndex, layerOf, openContainer, rowInto, sumOf, unpack } from "../core/core.js";
import { reportNumbers } from "../core/guesses.js";
import { exposure } from "../core/light.js";
import { isBroken, powersOf } from "../core/nine.js";
import { percent } from "../core/numbers.js";
import { MADE_OF_WEIGHTS } from "../core/ways.js";
import { make } from "../drawing/dom.js";
import { markedBlocks, markedWords } from "../drawing/listing.js";
import { lessonDrawing } from "../drawing/stage.js";
import { bringBitmap, paintLit, patchUnder } from "./patch.js";

const figureOf = (title, name) => `<figure><figcaption><b>${title}</b></figcaption>
  <canvas data-ref="${name}" role="img" aria-label="${name} over the picture"></canvas>
  <p class="soft"></p></figure>`;
const CARRIED_MARKUP = `<label class="head">Head <input type="range" min="0" data-ref="head">
    <output data-ref="headNow"></output></label>
  <div class="pair">${figureOf("The weight", "weight")}
  ${figureOf("What arrives: weight × ‖W<sub>O</sub> v‖", "arrives")}</div>
  <p class="verdict" data-ref="verdict" aria-live="polite"></p>
  <div class="desk" data-ref="desk"></div><p class="soft" data-ref="deskSays"></p>`;

function createCarried(stage) {
  const state = Object.seal({
    stage,
    canvases: ["weight", "arrives"].map(stage.find),
    id: null, //       identifies the layer and the picture
    header: null,
    pack: null,
    bitmap: null,
    lit: [{}, {}], //  of the two pictures, see paintLit
    rows: [], //       two arrays (tokens,): the query's weights, and the contributions as shares of their sum
    head: 0,
    patch: 0, //       the chosen patch
    hover: -1, //      the patch under the cursor, which has priority
    chosen: false, //  whether a person chose a patch
    drawnNumbers: null, // the last drawn numbers
  });
  stage.find("head").addEventListener("input", (event) => choose(state, { head: Number(event.target.value) }));
  for (const canvas of state.canvases) {
    const patchOf = (event) => patchUnder(event, canvas, [state.pack.rows, state.pack.columns]);
    canvas.addEventListener("pointermove", (event) => {
      state.hover = patchOf(event);
      stage.redraw();
    });
    canvas.addEventListener("pointerleave", () => {
      state.hover = -1;
      stage.redraw();
    });
    canvas.addEventListener("click", (event) => choose(state, { patch: patchOf(event), chosen: true }));
  }
  return {
    take: (data) => takeMixture(state, data),
    paint: () => state.bitmap && paintMixture(state),
    read: () => state.drawnNumbers,
  };
}

function takeMixture(state, data) {
  const { header, section } = openContainer(data);
  const { find } = state.stage;
  let laidOut; // a promise: the picture gives the drawing its height
  if (state.id !== header.id) {
    const pack = unpack(section("pack"));
    Object.assign(state, { id: header.id, header, pack, bitmap: null, patch: header.patch });
    state.rows = [new Float32Array(pack.tokens), new Float32Array(pack.tokens)];
    find("head").max = String(pack.heads - 1);
    laidOut = bringBitmap(state, section("image"));
  }
  if (!header.look) return laidOut;
  const [, head, row, column] = header.look.split(".").map(Number);
  const { rows, columns, heads } = state.pack;
  state.head = Math.min(heads - 1, head);
  state.patch = Math.min(rows - 1, row) * columns + Math.min(columns - 1, column);
  state.chosen = true;
  return laidOut;
}

function choose(state, change) {
  Object.assign(state, change);
  const { columns } = state.pack;
  const viewNumbers = [state.header.layer, state.head, Math.floor(state.patch / columns), state.patch % columns];
  state.stage.tell("look", viewNumbers.join("."));
  state.stage.redraw();
}

function paintMixture(state) {
  const { pack, head, header, rows } = state;
  const { find } = state.stage;
  const [weights, contributions] = rows;
  const prefixCount = pack.prefixCount;
  const patch = state.hover >= 0 ? state.hover : state.patch;
  const { norms } = layerOf(pack, header.layer);
  rowInto(weights, 0, pack, header.layer, head, prefixCount + patch, pack.scale);
  MADE_OF_WEIGHTS.value(contributions, 0, weights, pack.tokens, norms, head * pack.tokens, 1);
  const total = sumOf(contributions, 0, pack.tokens); // as shares, so that both pictures have the same colours
  for (let token = 0; token < pack.tokens; token++) contributions[token] /= total || 1;
  const tops = rows.map((shares) => largestIndex(shares, prefixCount, pack.tokens) - prefixCount);
  const domain = { low: 0, high: Math.max(...rows.map((row) => exposure(row, prefixCount, pack.tokens))) };
  for (const [i, shares] of rows.entries()) paintPanel(state, i, shares, patch, tops[i], domain);
  find("head").value = String(head);
  find("headNow").textContent = String(head);
  const [heaviest, largest] = tops.map((top) => placeOf(pack, top));
  find("verdict").textContent =
    tops[0] === tops[1]
      ? `Patch ${placeOf(pack, patch)}: the most-weighted patch is also the one that contributes most.`
      : `Patch ${placeOf(pack, patch)}: the most-weighted patch is ${heaviest}, but ${largest} contributes most.`;
  const valueNorms = norms.subarray(head * pack.tokens, (head + 1) * pack.tokens);
  const desk = drawDesk(find("desk"), weights, valueNorms, pack);
  const [row, column] = [Math.floor(patch / pack.columns), patch % pack.columns];
  const holes = { tokens: pack.tokens.toLocaleString("en"), channels: desk.length, row, column, head };
  const numbers = { ...holes, layer: header.layer };
  find("deskSays").innerHTML = markedWords(header.desk.replace(/\{(\w+)\}/g, (_, name) => numbers[name]));
  state.drawnNumbers = {
    layer: header.layer,
    head,
    patch,
    tops,
    desk,
    weights: [...weights],
    arriving: [...contributions],
  };
  if (state.chosen) reportNumbers("carried", { tops });
}

const placeOf = (pack, patch) => `(${Math.floor(patch / pack.columns)}, ${patch % pack.columns})`;

function paintPanel(state, i, shares, patch, topPatch, domain) {
  const { pack, bitmap } = state,
    canvas = state.canvases[i];
  const { rows, columns, prefixCount } = pack;
  const text = percent(shares[prefixCount + topPatch]);
  const tag = { patch: topPatch, text, colour: i ? "#009E73" : "#D55E00" };
  const size = pack.header.size ?? [rows, columns];
  paintLit(state.lit[i], canvas, bitmap, size, shares, prefixCount, domain, { rows, columns, mark: patch, tag });
  const prefixShare = sumOf(shares, 0, pack.prefixCount);
  const prefixNote = pack.prefixCount ? ` · class token and registers: ${percent(prefixShare)}` : "";
  canvas.nextElementSibling.textContent = `most: ${placeOf(pack, topPatch)}, ${text}${prefixNote}`;
}

export const carried = lessonDrawing(createCarried, CARRIED_MARKUP);

// Builds bars with a name below and a number above, as HTML elements: for the mixing desk of a row's largest weights,
// and for the three scores and weights at the end of this file.

const CHANNEL_COUNT = 8;
export const WEIGHT_COLOUR = "#B63679"; // of weights in charts

// Draws the mixing desk into `place`. Returns [{name, weight, loud: ‖W_O v‖, heard: weight × loud}].
export function drawDesk(place, weights, valueNorms, pack) {
  const largestTokens = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, CHANNEL_COUNT);
  const desk = largestTokens.map((token) => ({
    name: nameOf(token, pack),
    weight: weights[token],
    loud: valueNorms[token],
    heard: weights[token] * valueNorms[token],
  }));
  const names = desk.map(({ name }) => name);
  const bars = (title, key, colour, text) =>
    barsOf({ title, names, values: desk.map((channel) => channel[key]), colour, text });
  place.replaceChildren(
    bars("Fader: the weight", "weight", WEIGHT_COLOUR, percent),
    bars("How loud it is: ‖W<sub>O</sub> v‖", "loud", ROLES.value, (x) => x.toFixed(2)),
    bars("Heard: their product", "heard", ROLES.query, (x) => x.toFixed(2)),
  );
  return desk;
}

function nameOf(token, { prefix, prefixCount, columns }) {
  const patch = token - prefixCount;
  return patch < 0 ? prefix[token] : `${Math.floor(patch / columns)},${patch % columns}`;
}

// Returns a figure of bars. most: the value of a bar of full height. Bars of negative values point down from zero.
export function barsOf({ title, names, values, colour, text, most: maximum = Math.max(...values, 0) }) {
  const minimum = Math.min(0, ...values.filter(Number.isFinite));
  const range = maximum - minimum || 1;
  const share = (value) => `${(100 * value) / range}%`;
  const channels = values.map((value, n) => {
    const height = Number.isFinite(value) ? value : 0;
    const [size, foot] = [share(Math.abs(height)), share(Math.min(0, height) - minimum)];
    const bar = make("i", { style: `background: ${colour}; height: ${size}; bottom: ${foot}` });
    const number = make("b", { style: `bottom: ${share(Math.max(0, height) - minimum)}` }, text(value));
    const column = make("div", { style: `--zero: ${share(-minimum)}` }, bar, number);
    return make("div", "", column, make("span", "", names[n]));
  });
  const caption = make("figcaption", { innerHTML: `<b>${title}</b>` });
  return make("figure", "", caption, make("div", "bars", ...channels));
}

// Shows three scores with dials, e to the power of each, and the weights, with and without subtracting the largest
// score. data: {says: a sentence with the hole {broken}; broken and whole: the two texts for this hole, the first with
// the hole {sum}; scores: the setting, "8_0_-8"}. The drawing sends the setting, and reports {scores, naive, weights}.

const NAMES = ["A", "B", "C"];
const [LEAST_SCORE, MOST_SCORE] = [-100, 1000];
const SCORES_MARKUP = `<div class="three">${NAMES.map(
  (name) => `<label>Score of ${name} <input type="range" min="${LEAST_SCORE}" max="${MOST_SCORE}" data-ref="${name}">
    <output data-ref="now${name}"></output></label>`,
).join("")}</div>
  <div class="desk" data-ref="bars"></div>
  <div class="wide"><table data-ref="table"></table></div>
  <div data-ref="says"></div>`;
const TABLE_HEAD = ["", "score s", "eˢ", "eˢ ÷ sum", "e^(s − largest)", "÷ sum: the weight"];

export function numberText(x) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return "∞";
  return x < 1 || x >= 1e6 ? String(Number(x.toPrecision(3))) : Math.round(x).toLocaleString("en");
}

function createScores(stage) {
  let latestData = null;
  let scores = [0, 0, 0];
  for (const [n, name] of NAMES.entries())
    stage.find(name).addEventListener("input", (event) => {
      scores[n] = Number(event.target.value);
      stage.tell("scores", scores.join("_"));
      stage.redraw();
    });
  return {
    take: (data) => {
      latestData = data;
      scores = data.scores.split("_").map(readScore);
    },
    paint: () => paintScores(stage, scores, latestData),
    read: () => ({ scores, ...powersOf(scores) }),
  };
}

const readScore = (scoreText) => Math.min(MOST_SCORE, Math.max(LEAST_SCORE, Number(scoreText)));

function paintScores({ find }, scores, { says: template, broken: brokenWords, whole: wholeWords }) {
  const { plain: exponentials, naive: naiveShares, stable, weights } = powersOf(scores);
  const asText = (score) => String(score).replace("-", "−");
  for (const [n, name] of NAMES.entries()) {
    find(name).value = String(scores[n]);
    find(`now${name}`).textContent = asText(scores[n]);
  }
  find("bars").replaceChildren(
    barsOf({ title: "Scores", names: NAMES, values: scores, colour: ROLES.query, text: asText }),
    barsOf({ title: "Weights", names: NAMES, values: [...weights], colour: WEIGHT_COLOUR, text: numberText, most: 1 }),
  );
  const tableRows = NAMES.map((name, n) => {
    const cells = [exponentials, naiveShares, stable].map((numbers) => numberText(numbers[n]));
    return [name, asText(scores[n]), ...cells, `**${numberText(weights[n])}**`];
  });
  const rowHtml = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${markedWords(cell)}</${tag}>`).join("")}</tr>`;
  find("table").innerHTML = rowHtml(TABLE_HEAD, "th") + tableRows.map((cells) => rowHtml(cells, "td")).join("");
  const sum = numberText(naiveShares.reduce((a, b) => a + b, 0));
  const verdict = isBroken(naiveShares) ? brokenWords.replace("{sum}", sum) : wholeWords;
  find("says").innerHTML = markedBlocks(template.replace("{broken}", verdict));
  reportNumbers("scores", { scores: [...scores], naive: [...naiveShares], weights: [...weights] });
}

export const scores = lessonDrawing(createScores, SCORES_MARKUP);
