// Three scores that can be set, e to their power, and the weights: with and without subtracting the largest score.
//
// data: {says: a sentence with the hole `broken`, broken and whole: what fills it, the first with the hole `sum`, and
// the setting scores, "8_0_-8"}. Out goes that setting. It reports {scores, naive, weights}.

import { ROLES } from "../core/colours.js";
import { reportNumbers } from "../core/guesses.js";
import { isBroken, powersOf } from "../core/nine.js";
import { markedBlocks, markedWords } from "../drawing/listing.js";
import { keepDrawing } from "../drawing/stage.js";
import { barsOf, WEIGHTS } from "./desk.js";

const NAMES = ["A", "B", "C"];
const [LEAST, MOST] = [-100, 1000];
const MARKUP = `<div class="three">${NAMES.map(
  (name) => `<label>Score of ${name} <input type="range" min="${LEAST}" max="${MOST}" data-ref="${name}">
    <output data-ref="now${name}"></output></label>`,
).join("")}</div>
  <div class="desk" data-ref="bars"></div>
  <div class="wide"><table data-ref="table"></table></div>
  <div data-ref="says"></div>`;
const HEAD = ["", "score s", "eˢ", "eˢ ÷ sum", "e^(s − largest)", "÷ sum: the weight"];

export function numberText(x) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return "∞";
  return x < 1 || x >= 1e6 ? String(Number(x.toPrecision(3))) : Math.round(x).toLocaleString("en");
}

function createScores(stage) {
  stage.root.innerHTML = MARKUP;
  let told = null;
  let scores = [0, 0, 0];
  for (const [n, name] of NAMES.entries())
    stage.find(name).addEventListener("input", (event) => {
      scores[n] = Number(event.target.value);
      stage.tell("scores", scores.join("_"));
      stage.redraw();
    });
  return {
    take: (data) => {
      told = data;
      if (stage.heeds("scores", data.scores)) scores = data.scores.split("_").map(within);
    },
    paint: () => paint(stage, scores, told),
    read: () => ({ scores, ...powersOf(scores) }),
  };
}

const within = (text) => Math.min(MOST, Math.max(LEAST, Number(text)));

function paint({ find }, scores, { says, broken, whole }) {
  const { plain, naive, stable, weights } = powersOf(scores);
  const asText = (score) => String(score).replace("-", "−");
  for (const [n, name] of NAMES.entries()) {
    find(name).value = String(scores[n]);
    find(`now${name}`).textContent = asText(scores[n]);
  }
  find("bars").replaceChildren(
    barsOf({ title: "Scores", names: NAMES, values: scores, colour: ROLES.query, text: asText }),
    barsOf({
      title: "Weights",
      names: NAMES,
      values: [...weights],
      colour: WEIGHTS,
      text: numberText,
      most: 1,
    }),
  );
  const lines = NAMES.map((name, n) => {
    const cells = [plain, naive, stable].map((of) => numberText(of[n]));
    return [name, asText(scores[n]), ...cells, `**${numberText(weights[n])}**`];
  });
  const line = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${markedWords(cell)}</${tag}>`).join("")}</tr>`;
  find("table").innerHTML = line(HEAD, "th") + lines.map((cells) => line(cells, "td")).join("");
  const sum = numberText(naive.reduce((a, b) => a + b, 0));
  const which = isBroken(naive) ? broken.replace("{sum}", sum) : whole;
  find("says").innerHTML = markedBlocks(says.replace("{broken}", which));
  reportNumbers("scores", { scores: [...scores], naive: [...naive], weights: [...weights] });
}

export default function (component) {
  return keepDrawing(component, createScores);
}
