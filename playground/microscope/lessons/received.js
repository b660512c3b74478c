// What each of nine tokens receives: its row of weights times the values, as a table and as a layer of neurons.
//
// data: {arrows: "20_0_…", values: [nine numbers], letters: [nine], nearly: how much is much}. It follows the drawing
// of the arrows while they are dragged, and reports what is received.

import { ROLES } from "../core/colours.js";
import { onReport, reportNumbers, reportsHere } from "../core/guesses.js";
import { readArrows, receivedOf, scoresOf, TOKENS, weightsOf } from "../core/nine.js";
import { magmaCss } from "../drawing/matrix.js";
import { keepDrawing, sheetOf } from "../drawing/stage.js";

const HIGH = 300; // px
const SIDE = 86; // px: letters and numbers beside the neurons
const RECEIVED = `<table></table>
  <figure><figcaption><b>Tokens as neurons: what each gives, what each receives</b></figcaption>
  <canvas data-ref="neurons" role="img" aria-label="Nine tokens at the left give, nine at the right receive; a line for
each of 81 weights, the thicker the larger"></canvas></figure>`;

const line = (name, cells) =>
  `<tr><th scope="row">${name}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;

function createReceived({ root, find, redraw }) {
  root.innerHTML = RECEIVED;
  const end = new AbortController();
  let told = null;
  const arrowsNow = () => readArrows(reportsHere().arrows?.arrows ?? told.arrows);
  const report = () =>
    told && reportNumbers("received", { received: Array.from(receivedOf(arrowsNow(), told.values)), ...told });
  onReport(({ detail }) => {
    if (detail !== "arrows" || !told) return;
    report();
    redraw();
  }, end.signal);
  return {
    take: (data) => {
      told = data;
      report();
      redraw();
    },
    paint: (theme) => {
      const { letters, values } = told;
      const received = Array.from(receivedOf(arrowsNow(), values), (number) => number.toFixed(1));
      const taken = received.map((number) => `<b>${number}</b>`);
      root.querySelector("table").innerHTML =
        line("token", letters) + line("value, given", values) + line("received", taken);
      paintNeurons(find("neurons"), arrowsNow(), { letters, values, received }, theme);
    },
    read: () => Array.from(receivedOf(arrowsNow(), told.values)),
    end: () => end.abort(),
  };
}

function paintNeurons(canvas, arrows, { letters, values, received }, theme) {
  const { context, width, height } = sheetOf(canvas, HIGH);
  const weights = weightsOf(scoresOf(arrows));
  const y = (token) => ((token + 0.5) * height) / TOKENS;
  const [left, right] = [SIDE, width - SIDE];
  const all = Array.from(weights, (weight, at) => ({ weight, asks: Math.floor(at / TOKENS), asked: at % TOKENS }));
  for (const { weight, asks, asked } of all.sort((a, b) => a.weight - b.weight)) {
    context.beginPath();
    context.moveTo(left, y(asked));
    context.lineTo(right, y(asks));
    context.globalAlpha = Math.min(1, 0.05 + 1.6 * weight);
    context.lineWidth = 0.5 + 8 * weight;
    context.strokeStyle = magmaCss(0.5);
    context.stroke();
  }
  context.globalAlpha = 1;
  context.font = `14px ${theme.font}`;
  context.textBaseline = "middle";
  for (let token = 0; token < TOKENS; token++) {
    for (const [x, text, align, by] of [
      [left, `${letters[token]}  ${values[token]}`, "right", -16],
      [right, `${letters[token]}  ${received[token]}`, "left", 16],
    ]) {
      context.fillStyle = ROLES.value;
      context.beginPath();
      context.arc(x, y(token), 9, 0, 2 * Math.PI);
      context.fill();
      context.fillStyle = theme.ink;
      context.textAlign = align;
      context.fillText(text, x + by, y(token));
    }
  }
  context.textAlign = "left";
}

export default function (component) {
  return keepDrawing(component, createReceived);
}
