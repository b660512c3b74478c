// One softmax row as bars, with two dials: d_k, and the power p of the scale 1/d_k^p.
// data: {widths: the choices of d_k, powers: the choices of p, rows: the number of random rows, scores: this row's q·k,
// a list for each d_k, and the settings row, dk, power}. The drawing reports the largest weight.

import { sharedCeiling } from "../core/colours.js";
import { reportNumbers } from "../core/guesses.js";
import { heatCss } from "../core/light.js";
import { softmaxRow } from "../core/nine.js";
import { percent, shortNumber } from "../core/numbers.js";
import { make, setText } from "../drawing/dom.js";
import { lessonDrawing, spotOf } from "../drawing/stage.js";
import { followPointer } from "./patch.js";

const BARS_MARKUP = `
<div class="dials">
  <label><span><b>d<sub>k</sub></b> = <output data-ref="width"></output> <i>numbers in q and in each k</i></span>
    <input type="range" data-ref="widthDial" min="0" step="1" aria-label="d_k"></label>
  <label><span><b>scale</b> = <output data-ref="scale"></output> <i data-ref="scaleName"></i></span>
    <input type="range" data-ref="powerDial" min="0" step="1" aria-label="scale"></label>
  <div class="ends">
    <button data-power="1">1/d<sub>k</sub></button>
    <button data-power="0.5">1/√d<sub>k</sub></button>
    <button data-power="0">no scale</button>
  </div>
</div>
<div class="plot" data-ref="plot" role="img"><div class="bars" data-ref="bars"></div><span class="top"
    data-ref="top"></span><span class="half" data-ref="half"></span></div>
<div class="under"><span data-ref="said"></span><button data-ref="again">another random row</button></div>
<dl>
  <div><dt>scores lie apart by</dt><dd data-ref="deviation"></dd></div>
  <div><dt>entropy</dt><dd data-ref="entropy"></dd></div>
  <div><dt>largest weight</dt><dd data-ref="peak"></dd></div>
  <div><dt>gradient let through</dt><dd data-ref="gradient"></dd></div>
</dl>`;

function createBars(stage) {
  const { refs } = stage;
  const state = { stage, refs, data: null, pointedBar: -1 }; // pointedBar: the bar under the cursor
  const readDials = () => {
    for (const [name, value] of Object.entries(dialValues(state))) stage.tell(name, value);
    stage.redraw();
  };
  refs.widthDial.addEventListener("input", readDials);
  refs.powerDial.addEventListener("input", readDials);
  for (const button of stage.root.querySelectorAll("[data-power]"))
    button.addEventListener("click", () => {
      refs.powerDial.value = state.data.powers.indexOf(Number(button.dataset.power));
      readDials();
    });
  refs.again.addEventListener("click", () => stage.tell("row", (state.data.row + 1) % state.data.rows));
  const pointAt = (bar) => {
    state.pointedBar = bar;
    stage.redraw();
  };
  followPointer(refs.plot, (event) => {
    const count = state.data.scores[0].length;
    const [x] = spotOf(event, refs.bars);
    pointAt(Math.min(count - 1, Math.max(0, Math.floor((x / refs.bars.clientWidth) * count))));
  });
  refs.plot.addEventListener("pointerleave", () => pointAt(-1));
  return {
    take(data) {
      state.data = data;
      refs.widthDial.max = data.widths.length - 1;
      refs.powerDial.max = data.powers.length - 1;
      refs.widthDial.value = data.widths.indexOf(data.dk);
      refs.powerDial.value = data.powers.indexOf(data.power);
      refs.bars.replaceChildren(...data.scores[0].map(() => make("i")));
    },
    paint: () => paintBars(state),
    read: () => rowNow(state),
  };
}

const dialValues = ({ refs, data }) => ({
  dk: data.widths[Number(refs.widthDial.value)],
  power: data.powers[Number(refs.powerDial.value)],
});

function rowNow(state) {
  const { dk, power } = dialValues(state);
  const scores = state.data.scores[state.data.widths.indexOf(dk)];
  return { dk, power, scores, row: state.data.row, ...softmaxRow(scores, dk ** -power) };
}

const SCALE_NAMES = { 0: "no scale", 0.5: "= 1/√dₖ, as in the paper", 1: "= 1/dₖ" };

function paintBars(state) {
  const { refs, pointedBar } = state;
  const { dk, power, scores, ...stats } = rowNow(state);
  const scale = dk ** -power;
  reportNumbers("softmaxbars", { peak: stats.peak });
  const brightest = sharedCeiling(scores.length);
  const ceiling = stats.peak <= 0.25 ? 0.25 : stats.peak <= 0.5 ? 0.5 : 1; // as in the microscope's sorted weights
  setText(refs.top, percent(ceiling));
  setText(refs.half, ceiling === 0.25 ? "12.5 %" : percent(ceiling / 2));
  [...refs.bars.children].forEach((bar, j) => {
    bar.style.height = `${Math.max(0.6, (100 * stats.weights[j]) / ceiling)}%`;
    bar.style.background = heatCss(stats.weights[j] / brightest);
    bar.classList.toggle("pointed", j === pointedBar);
  });
  setText(refs.width, String(dk));
  setText(refs.scale, power === 0 ? "1" : shortScale(scale));
  setText(refs.scaleName, SCALE_NAMES[power] ?? `= 1/dₖ^${power}`);
  for (const button of state.stage.root.querySelectorAll("[data-power]"))
    button.setAttribute("aria-pressed", String(Number(button.dataset.power) === power));
  setText(refs.deviation, stats.deviation.toFixed(2));
  setText(refs.entropy, `${stats.entropy.toFixed(2)} of ${Math.log2(scores.length).toFixed(0)} bits`);
  setText(refs.peak, percent(stats.peak));
  setText(refs.gradient, stats.gradient >= 0.001 ? stats.gradient.toFixed(3) : stats.gradient.toExponential(0));
  const sentence = `The largest of ${scores.length} weights is ${percent(stats.peak)}.`;
  refs.plot.setAttribute("aria-label", sentence);
  setText(refs.said, pointedBar < 0 ? sentence : arithmeticOfBar(pointedBar, scores, scale, stats));
}

const shortScale = (scale) => scale.toPrecision(3).replace(/\.?0+$/, "");

// The arithmetic of the bar under the cursor, in words.
function arithmeticOfBar(j, scores, scale, row) {
  const factorWords = scale === 1 ? "" : ` × ${shortScale(scale)} = ${shortNumber(scores[j] * scale)}`;
  return `key ${j + 1}: q·k = ${shortNumber(scores[j])}${factorWords} → weight ${percent(row.weights[j])}`;
}

export default lessonDrawing(createBars, BARS_MARKUP);
