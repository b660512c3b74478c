// Shows a mask: the scores of nine tokens, the same scores with −∞ where a token is hidden, and their softmax.
// data: {arrows: "20_0_…" (see core/nine.js), mask: "", "causal" or hidden tokens such as "BE"}. The drawing sends and
// reports the setting "mask".

import { ROLES } from "../core/colours.js";
import { onReport, reportNumbers, reportsHere } from "../core/guesses.js";
import { heatCss } from "../core/light.js";
import { maskScores, readArrows, receivedOf, scoresOf, TOKEN_COUNT, weightsOf } from "../core/nine.js";
import { percent } from "../core/numbers.js";
import { markedWords } from "../drawing/listing.js";
import { cellUnder, drawMatrix, LETTERS } from "../drawing/matrix.js";
import { lessonDrawing, sheetOf, spotOf, withMinus } from "../drawing/stage.js";
import { followPointer } from "./patch.js";

const CHIPS = [...LETTERS]
  .map((letter) => `<button data-letter="${letter}" aria-label="hide token ${letter}">${letter}</button>`)
  .join("");
const figureOf = (ref, name, text) =>
  `<figure><figcaption><b>${name}</b> <span data-ref="${ref}-text">${text}</span></figcaption>` +
  `<canvas data-ref="${ref}"></canvas></figure>`;
const MASKS_MARKUP = `
  <p class="buttons">Hide <span class="chips">${CHIPS}</span>
    <button data-mask="causal">everything that comes later</button>
    <button data-mask="">nothing</button>
  </p>
  <p class="buttons"><button data-ref="times">Multiply instead: score + hidden · (−∞)</button></p>
  <div class="three">
    ${figureOf("scores", "scores", `QKᵀ/${markedWords("√d_k")}`)}
    ${figureOf("masked", "+ mask", "0 or −∞")}
    ${figureOf("weights", "weights", "softmax of each row")}
  </div>
  <p class="sum" data-ref="sum" aria-live="polite"></p>`;

function createMasks(stage) {
  const state = Object.seal({
    stage,
    canvases: ["scores", "masked", "weights"].map(stage.find),
    arrows: null, //      see core/nine.js
    mask: "", //          "causal", or the letters of the hidden tokens
    markedCell: { row: 4, column: -1 }, // the cell under the cursor; column −1: the whole row
    multiplies: false, // whether hidden, 1 or 0, is multiplied by −∞, and the product added
    refused: false, //    whether the last click was refused, because it would have hidden every token
  });
  const choose = (mask) => {
    state.refused = mask.length === TOKEN_COUNT && mask !== "causal";
    if (!state.refused) {
      state.mask = mask;
      stage.tell("mask", mask);
      reportNumbers("masks", { mask });
    }
    stage.redraw();
  };
  for (const button of stage.root.querySelectorAll("[data-letter]")) {
    button.addEventListener("click", () => {
      const hiddenLetters = state.mask === "causal" ? "" : state.mask,
        { letter } = button.dataset;
      choose(
        [...LETTERS].filter((l) => (l === letter ? !hiddenLetters.includes(l) : hiddenLetters.includes(l))).join(""),
      );
    });
  }
  for (const button of stage.root.querySelectorAll("[data-mask]"))
    button.addEventListener("click", () => choose(button.dataset.mask));
  stage.find("times").addEventListener("click", () => {
    state.multiplies = !state.multiplies;
    stage.redraw();
  });
  for (const canvas of state.canvases) {
    const point = (event) => {
      const cell = cellUnder(...spotOf(event, canvas), canvas.clientWidth, TOKEN_COUNT);
      if (cell) state.markedCell = cell;
      stage.redraw();
    };
    followPointer(canvas, point);
  }
  return {
    take: (data) => {
      state.arrows = readArrows(data.arrows);
      state.mask = data.mask;
      reportNumbers("masks", { mask: state.mask });
    },
    paint: (theme) => paintMasks(state, theme),
    read: () => ({ mask: state.mask, weights: Array.from(weightsOf(maskedNow(state))) }),
  };
}

const maskedNow = ({ arrows, mask, multiplies }) => maskScores(scoresOf(arrows), mask, multiplies);

function paintMasks(state, theme) {
  const { root } = state.stage;
  for (const button of root.querySelectorAll("[data-letter]")) {
    button.setAttribute("aria-pressed", String(state.mask !== "causal" && state.mask.includes(button.dataset.letter)));
  }
  for (const button of root.querySelectorAll("[data-mask]"))
    button.setAttribute("aria-pressed", String(button.dataset.mask === state.mask));
  state.stage.find("times").setAttribute("aria-pressed", String(state.multiplies));
  state.stage.find("masked-text").textContent = state.multiplies ? "0 · (−∞) or −∞" : "0 or −∞";
  const scores = scoresOf(state.arrows),
    maskedScores = maskedNow(state),
    weights = weightsOf(maskedScores);
  [scores, maskedScores, weights].forEach((values, index) => {
    const { context, width } = sheetOf(state.canvases[index], state.canvases[index].clientWidth);
    drawMatrix(context, width, TOKEN_COUNT, { values, reach: index === 2 ? null : 6 }, state.markedCell, theme, {
      query: ROLES.query,
      key: ROLES.key,
    });
  });
  state.stage.find("sum").innerHTML = state.refused
    ? "One token must stay: a row of nothing but −∞ would be 0 / 0."
    : rowInWords(state, maskedScores, weights);
}

function rowInWords(state, maskedScores, weights) {
  const { row } = state.markedCell;
  const scores = maskedScores.subarray(row * TOKEN_COUNT, (row + 1) * TOKEN_COUNT);
  const column = state.markedCell.column >= 0 ? state.markedCell.column : Math.max(0, scores.indexOf(-Infinity));
  if (scores.some(Number.isNaN))
    return "Where nothing is hidden, 0 · (−∞) is <b>NaN</b>, not a number; so is any sum with it, and the whole row.";
  const powers = Array.from(scores, (score) =>
    score === -Infinity ? "e<sup>−∞</sup>" : `e<sup>${withMinus(score, 1)}</sup>`,
  );
  const exponential = scores[column] === -Infinity ? "0" : Math.exp(scores[column]).toFixed(2);
  const total = scores.reduce((sum, score) => sum + Math.exp(score), 0);
  const weight = weights[row * TOKEN_COUNT + column];
  const share = weight === 0 ? "0, exactly" : percent(weight);
  return (
    `Row ${LETTERS[row]}, column ${LETTERS[column]}: ${powers[column]} / (${powers.join(" + ")}) ` +
    `= ${exponential} / ${total.toFixed(2)} = <b>${share}</b>`
  );
}

export const masks = lessonDrawing(createMasks, MASKS_MARKUP);

// Shows the number that each of nine tokens receives (its row of weights times the values), as a table and as a layer
// of neurons.
// data: {arrows: "20_0_…", values: [nine numbers], letters: [nine], nearly: the number above which a value counts as
// large}. The drawing follows the arrows while they are dragged, and reports the received numbers.

const CANVAS_HEIGHT = 300; // px: height of the drawing
const LABEL_WIDTH = 86; // px: letters and numbers beside the neurons
const RECEIVED_MARKUP = `<div class="wide"><table></table></div>
  <figure><figcaption><b>Tokens as neurons: what each gives, what each receives</b></figcaption>
  <canvas data-ref="neurons" role="img" aria-label="Nine tokens at the left give, nine at the right receive; a line for
each of 81 weights, the thicker the larger"></canvas></figure>`;

const rowHtml = (name, cells) =>
  `<tr><th scope="row">${name}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;

function createReceived({ root, find, redraw }) {
  const controller = new AbortController();
  let latestData = null;
  const arrowsNow = () => readArrows(reportsHere().arrows?.arrows ?? latestData.arrows);
  const report = () =>
    latestData &&
    reportNumbers("received", { received: Array.from(receivedOf(arrowsNow(), latestData.values)), ...latestData });
  onReport(({ detail }) => {
    if (detail !== "arrows" || !latestData) return;
    report();
    redraw();
  }, controller.signal);
  return {
    take: (data) => {
      latestData = data;
      report();
      redraw();
    },
    paint: (theme) => {
      const { letters, values } = latestData;
      const receivedTexts = Array.from(receivedOf(arrowsNow(), values), (number) => number.toFixed(1));
      const cells = receivedTexts.map((number) => `<b>${number}</b>`);
      root.querySelector("table").innerHTML =
        rowHtml("token", letters) + rowHtml("value, given", values) + rowHtml("received", cells);
      paintNeurons(find("neurons"), arrowsNow(), { letters, values, received: receivedTexts }, theme);
    },
    read: () => Array.from(receivedOf(arrowsNow(), latestData.values)),
    end: () => controller.abort(),
  };
}

function paintNeurons(canvas, arrows, { letters, values, received }, theme) {
  const { context, width, height } = sheetOf(canvas, CANVAS_HEIGHT);
  const weights = weightsOf(scoresOf(arrows));
  const y = (token) => ((token + 0.5) * height) / TOKEN_COUNT;
  const [left, right] = [LABEL_WIDTH, width - LABEL_WIDTH];
  const pairs = Array.from(weights, (weight, index) => ({
    weight,
    query: Math.floor(index / TOKEN_COUNT),
    key: index % TOKEN_COUNT,
  }));
  for (const { weight, query, key } of pairs.sort((a, b) => a.weight - b.weight)) {
    context.beginPath();
    context.moveTo(left, y(key));
    context.lineTo(right, y(query));
    context.globalAlpha = Math.min(1, 0.05 + 1.6 * weight);
    context.lineWidth = 0.5 + 8 * weight;
    context.strokeStyle = heatCss(0.5);
    context.stroke();
  }
  context.globalAlpha = 1;
  context.font = `14px ${theme.font}`;
  context.textBaseline = "middle";
  const paintNeuron = (x, token, number, align, offset) => {
    context.fillStyle = ROLES.value;
    context.beginPath();
    context.arc(x, y(token), 9, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = theme.ink;
    context.textAlign = align;
    context.fillText(`${letters[token]}  ${number}`, x + offset, y(token));
  };
  for (let token = 0; token < TOKEN_COUNT; token++) {
    paintNeuron(left, token, values[token], "right", -16);
    paintNeuron(right, token, received[token], "left", 16);
  }
  context.textAlign = "left";
}

export const received = lessonDrawing(createReceived, RECEIVED_MARKUP);
