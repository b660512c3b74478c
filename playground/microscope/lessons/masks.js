// A mask: the scores of nine tokens, the same with −∞ where a token must not look, and their softmax.
//
// data: {arrows: "20_0_…", mask: "" | "causal" | "BE"}. Out goes the setting "mask"; it reports the same.

import { ROLES } from "../core/colours.js";
import { reportNumbers } from "../core/guesses.js";
import { maskedOf, readArrows, scoresOf, TOKENS, weightsOf } from "../core/nine.js";
import { markedWords } from "../drawing/listing.js";
import { cellUnder, drawMatrix, LETTERS } from "../drawing/matrix.js";
import { keepDrawing, sheetOf, signedText, spotOf } from "../drawing/stage.js";

const CHIPS = [...LETTERS]
  .map((letter) => `<button data-letter="${letter}" aria-label="hide token ${letter}">${letter}</button>`)
  .join("");
const figureOf = (ref, name, what) =>
  `<figure><figcaption><b>${name}</b> <span>${what}</span></figcaption><canvas data-ref="${ref}"></canvas></figure>`;
const MARKUP = `
  <p class="buttons">Hide <span class="chips">${CHIPS}</span>
    <button data-mask="causal">everything that comes later</button>
    <button data-mask="">nothing</button>
  </p>
  <div class="three">
    ${figureOf("scores", "scores", `QKᵀ/${markedWords("√d_k")}`)}
    ${figureOf("masked", "+ mask", "0 or −∞")}
    ${figureOf("weights", "weights", "softmax of each row")}
  </div>
  <p class="sum" data-ref="sum" aria-live="polite"></p>`;

function createMasks(stage) {
  stage.root.innerHTML = MARKUP;
  const it = Object.seal({
    stage,
    canvases: ["scores", "masked", "weights"].map(stage.find),
    arrows: null, //      see core/nine.js
    mask: "", //          "causal", or the letters of the hidden tokens
    marked: { row: 4, column: -1 }, // the cell under the cursor; column −1: the whole row
    refused: false, //    the last click would have hidden every token
  });
  const choose = (mask) => {
    it.refused = mask.length === TOKENS && mask !== "causal";
    if (!it.refused) {
      it.mask = mask;
      stage.tell("mask", mask);
      reportNumbers("masks", { mask });
    }
    stage.redraw();
  };
  for (const button of stage.root.querySelectorAll("[data-letter]")) {
    button.addEventListener("click", () => {
      const hidden = it.mask === "causal" ? "" : it.mask,
        { letter } = button.dataset;
      choose([...LETTERS].filter((l) => (l === letter ? !hidden.includes(l) : hidden.includes(l))).join(""));
    });
  }
  for (const button of stage.root.querySelectorAll("[data-mask]"))
    button.addEventListener("click", () => choose(button.dataset.mask));
  for (const canvas of it.canvases) {
    const point = (event) => {
      const cell = cellUnder(...spotOf(event, canvas), canvas.clientWidth, TOKENS);
      if (cell) it.marked = cell;
      stage.redraw();
    };
    canvas.addEventListener("pointermove", point);
    canvas.addEventListener("pointerdown", point);
  }
  return {
    take: (data) => {
      it.arrows = readArrows(data.arrows);
      if (stage.heeds("mask", data.mask)) it.mask = data.mask;
      reportNumbers("masks", { mask: it.mask });
    },
    paint: (theme) => paintMasks(it, theme),
    read: () => ({ mask: it.mask, weights: Array.from(weightsOf(maskedOf(scoresOf(it.arrows), it.mask))) }),
  };
}

function paintMasks(it, theme) {
  const { root } = it.stage;
  for (const button of root.querySelectorAll("[data-letter]")) {
    button.setAttribute("aria-pressed", String(it.mask !== "causal" && it.mask.includes(button.dataset.letter)));
  }
  for (const button of root.querySelectorAll("[data-mask]"))
    button.setAttribute("aria-pressed", String(button.dataset.mask === it.mask));
  const scores = scoresOf(it.arrows),
    masked = maskedOf(scores, it.mask),
    weights = weightsOf(masked);
  [scores, masked, weights].forEach((values, place) => {
    const { context, width } = sheetOf(it.canvases[place], it.canvases[place].clientWidth);
    drawMatrix(context, width, TOKENS, { values, reach: place === 2 ? null : 6 }, it.marked, theme, {
      query: ROLES.query,
      key: ROLES.key,
    });
  });
  it.stage.find("sum").innerHTML = it.refused
    ? "One token must stay: a row of nothing but −∞ would be 0 / 0."
    : rowInWords(it, masked, weights);
}

function rowInWords(it, masked, weights) {
  const { row } = it.marked;
  const own = masked.subarray(row * TOKENS, (row + 1) * TOKENS);
  const column = it.marked.column >= 0 ? it.marked.column : Math.max(0, own.indexOf(-Infinity));
  const power = (score) => (score === -Infinity ? "e<sup>−∞</sup>" : `e<sup>${signedText(score, 1)}</sup>`);
  const total = own.reduce((sum, score) => sum + Math.exp(score), 0);
  const weight = weights[row * TOKENS + column];
  const share = weight === 0 ? "0, exactly" : `${(100 * weight).toFixed(1)} %`;
  return (
    `Row ${LETTERS[row]}, column ${LETTERS[column]}: ${power(own[column])} / (${Array.from(own, power).join(" + ")}) ` +
    `= ${own[column] === -Infinity ? "0" : Math.exp(own[column]).toFixed(2)} / ${total.toFixed(2)} = <b>${share}</b>`
  );
}

export default function (component) {
  return keepDrawing(component, createMasks);
}
