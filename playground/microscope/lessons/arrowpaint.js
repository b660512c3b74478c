// The nine tokens with their arrows, the matrix that they make, and its arithmetic in words. `it` is the state of
// arrows.js.

import { ROLES } from "../core/colours.js";
import { MOST, scoresOf, TOKENS, weightsOf } from "../core/nine.js";
import { drawMatrix, LETTERS, magmaCss } from "../drawing/matrix.js";
import { sheetOf, signedText } from "../drawing/stage.js";

// Where an arrow's first number stands among the 36.
export const indexOf = (token, which) => 2 * (which === "q" ? token : TOKENS + token);

export const cellOf = (it) => it.grid.clientWidth / 3;
export const middleOf = (token, cell) => [((token % 3) + 0.5) * cell, (Math.floor(token / 3) + 0.5) * cell];

export function tipOf(it, token, which) {
  const cell = cellOf(it),
    [x, y] = middleOf(token, cell),
    at = indexOf(token, which);
  const step = (0.44 * cell) / MOST;
  return [x + it.arrows[at] * step, y - it.arrows[at + 1] * step];
}

export const tipsOf = (it) =>
  Array.from({ length: TOKENS }, (_, token) => ({ q: tipOf(it, token, "q"), k: tipOf(it, token, "k") }));

export function paintNine(it, theme) {
  const { root } = it.stage;
  const scores = scoresOf(it.arrows),
    weights = weightsOf(scores);
  for (const button of root.querySelectorAll("[data-show]"))
    button.setAttribute("aria-pressed", String(button.dataset.show === it.show));
  paintGrid(it, theme, weights);
  const { context, width } = sheetOf(it.matrix, it.matrix.clientWidth);
  const marked = it.hover ?? { row: it.token, column: -1 };
  const values = it.show === "weight" ? weights : scores;
  drawMatrix(context, width, TOKENS, { values, reach: values === weights ? null : 6 }, marked, theme, {
    query: ROLES.query,
    key: ROLES.key,
  });
  it.stage.find("name").textContent = `Token ${LETTERS[it.token]}`;
  for (const input of root.querySelectorAll("[data-number]")) {
    const place = Number(input.dataset.number);
    const focused = input.getRootNode().activeElement === input;
    if (!focused) input.value = it.arrows[indexOf(it.token, place < 2 ? "q" : "k") + (place % 2)].toFixed(1);
  }
  writeSum(it, scores, weights);
}

function paintGrid(it, theme, weights) {
  const { context, width } = sheetOf(it.grid, it.grid.clientWidth);
  const cell = width / 3;
  for (let token = 0; token < TOKENS; token++) {
    const x = (token % 3) * cell,
      y = Math.floor(token / 3) * cell;
    context.fillStyle = token === it.token ? theme.wash : theme.paper;
    context.fillRect(x, y, cell, cell);
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, cell - 1, cell - 1);
    paintShare(context, x, y, cell, weights[it.token * TOKENS + token], theme);
    context.font = `${token === it.token ? 700 : 400} 14px ${theme.font}`;
    context.fillStyle = token === it.token ? theme.ink : theme.soft;
    context.fillText(LETTERS[token], x + 7, y + 18);
  }
  for (let token = 0; token < TOKENS; token++) {
    const middle = middleOf(token, cell);
    paintArrow(context, middle, tipOf(it, token, "k"), ROLES.key, 6, 8, theme, it.token === token && it.which === "k");
    paintArrow(
      context,
      middle,
      tipOf(it, token, "q"),
      ROLES.query,
      2.5,
      5,
      theme,
      it.token === token && it.which === "q",
    );
  }
  const [x, y] = [(it.token % 3) * cell, Math.floor(it.token / 3) * cell];
  context.strokeStyle = ROLES.query;
  context.lineWidth = 2.5;
  context.strokeRect(x + 1.5, y + 1.5, cell - 3, cell - 3);
}

// The weight that the chosen token gives to this one, as a bar at the bottom of its cell.
function paintShare(context, x, y, cell, weight, theme) {
  const left = x + 7,
    top = y + cell - 13,
    room = cell - 52;
  context.fillStyle = theme.line;
  context.fillRect(left, top, room, 6);
  context.fillStyle = theme.dark ? magmaCss(0.35 + 0.6 * weight) : magmaCss(0.1 + 0.6 * weight);
  context.fillRect(left, top, Math.max(1, room * weight), 6);
  context.fillStyle = theme.ink;
  context.font = `12px ${theme.font}`;
  context.textBaseline = "alphabetic";
  context.textAlign = "right";
  context.fillText(`${(100 * weight).toFixed(weight < 0.0995 ? 1 : 0)} %`, x + cell - 6, top + 7);
  context.textAlign = "left";
}

function paintArrow(context, from, to, colour, line, tip, theme, chosen) {
  context.lineCap = "round";
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = line;
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
  context.beginPath();
  context.arc(...to, tip, 0, 2 * Math.PI);
  context.fill();
  context.lineWidth = chosen ? 2 : 1;
  context.strokeStyle = chosen ? theme.ink : theme.paper;
  context.stroke();
}

function writeSum(it, scores, weights) {
  const i = it.token;
  const row = Array.from(weights.subarray(i * TOKENS, (i + 1) * TOKENS));
  const j = it.hover?.column >= 0 ? it.hover.column : row.indexOf(Math.max(...row));
  const at = i * TOKENS + j,
    q = indexOf(i, "q"),
    k = indexOf(j, "k"),
    number = (x) => (x < 0 ? `(${signedText(x, 1)})` : signedText(x, 1));
  const products = [0, 1].map((part) => `${number(it.arrows[q + part])} · ${number(it.arrows[k + part])}`).join(" + ");
  it.stage.find("sum").innerHTML =
    `<i class="q">${LETTERS[i]}’s query</i> · <i class="k">${LETTERS[j]}’s key</i> = ${products} ` +
    `= ${signedText(scores[at] * Math.SQRT2)}; ` +
    `÷ √2 = ${signedText(scores[at])}; softmax over the row: <b>${(100 * weights[at]).toFixed(1)} %</b>`;
}
