// Nine tokens on a 3 × 3 grid. Their queries and keys are arrows that can be dragged, typed or moved with the keyboard;
// beside them is the 9 × 9 attention that follows.
//
// data: {arrows: "20_0_…", start: the arrows of "Start again", still: they can't be moved yet}. Out goes the setting
// "arrows"; it reports the same.
import { ROLES } from "../core/colours.js";
import { reportNumbers } from "../core/guesses.js";
import { inReach, MOST_LONG, readArrows, scoresOf, TOKENS, weightsOf, writeArrows } from "../core/nine.js";
import { percent } from "../core/numbers.js";
import { cellUnder, drawMatrix, LETTERS, magmaCss } from "../drawing/matrix.js";
import { keepDrawing, sheetOf, signedText, spotOf } from "../drawing/stage.js";

// The nine tokens with their arrows, the matrix that they make, and its arithmetic in words. `it` is the state of
// arrows.js.

// Where an arrow's first number stands among the 36.
export const indexOf = (token, which) => 2 * (which === "q" ? token : TOKENS + token);

export const cellOf = (it) => it.grid.clientWidth / 3;
export const middleOf = (token, cell) => [((token % 3) + 0.5) * cell, (Math.floor(token / 3) + 0.5) * cell];

export function tipOf(it, token, which) {
  const cell = cellOf(it),
    [x, y] = middleOf(token, cell),
    at = indexOf(token, which);
  const step = (0.44 * cell) / MOST_LONG;
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
    `÷ √2 = ${signedText(scores[at])}; softmax over the row: <b>${percent(weights[at])}</b>`;
}

const MARKUP = `
  <div class="pair">
    <figure>
      <figcaption><b>Nine tokens</b> <span><i class="q">query</i> <i class="k">key</i> drag the tips</span></figcaption>
      <canvas data-ref="grid" tabindex="0" role="application"
          aria-label="Nine tokens, A to I. Letters choose a token, Q or K its arrow, the arrow keys move the tip."
      ></canvas>
      <p class="typed"><b data-ref="name"></b>
        <label class="q">query <input type="number" data-number="0" aria-label="query, across"><input type="number"
            data-number="1" aria-label="query, up"></label>
        <label class="k">key <input type="number" data-number="2" aria-label="key, across"><input type="number"
            data-number="3" aria-label="key, up"></label>
      </p>
      <p class="buttons">
        <button class="loud" data-do="match">Make one key match</button>
        <button data-do="self">Queries = keys</button>
        <button data-do="flat">Queries = 0</button>
        <button data-do="shake">Random arrows</button>
        <button data-do="reset">Start again</button>
      </p>
    </figure>
    <figure>
      <figcaption><b>Attention, 9 × 9</b> <span class="tabs">
        <button data-show="weight">weights</button>
        <button data-show="score">scores</button>
      </span></figcaption>
      <canvas data-ref="matrix" aria-label="Attention weights: rows ask, columns are asked"></canvas>
      <p class="sum" data-ref="sum" aria-live="polite"></p>
    </figure>
  </div>`;

function createArrows(stage) {
  stage.root.innerHTML = MARKUP;
  const it = Object.seal({
    stage,
    grid: stage.find("grid"),
    matrix: stage.find("matrix"),
    arrows: null, //      36 numbers, see core/nine.js
    start: "", //         the arrows that "Start again" brings back, as text
    token: 4, //          the chosen token: its row is shown
    which: "q", //        its arrow that the keyboard moves, "q" or "k"
    hover: null, //       the cell of the matrix under the cursor: {row, column}
    held: null, //        the arrow that is being dragged: {token, which}
    show: "weight", //    or "score"
  });
  bindGrid(it);
  bindMatrix(it);
  bindTyping(it);
  for (const button of stage.root.querySelectorAll("[data-do]"))
    button.addEventListener("click", () => press(it, button.dataset.do));
  for (const button of stage.root.querySelectorAll("[data-show]")) {
    button.addEventListener("click", () => {
      it.show = button.dataset.show;
      stage.redraw();
    });
  }
  return {
    take: (data) => {
      stage.root.inert = data.still;
      it.start = data.start;
      if (!it.arrows || stage.heeds("arrows", data.arrows)) it.arrows = readArrows(data.arrows);
      reportNumbers("arrows", { arrows: writeArrows(it.arrows) });
    },
    paint: (theme) => paintNine(it, theme),
    read: () => ({
      arrows: writeArrows(it.arrows),
      weights: Array.from(weightsOf(scoresOf(it.arrows))),
      token: it.token,
      tips: tipsOf(it),
      still: stage.root.inert,
    }),
  };
}

// ------------------------------------------------------------------------------------------------------ what is chosen

function setArrow(it, token, which, x, y) {
  const at = indexOf(token, which);
  it.arrows[at] = inReach(x);
  it.arrows[at + 1] = inReach(y);
  changed(it);
}

function changed(it) {
  const arrows = writeArrows(it.arrows);
  it.stage.tell("arrows", arrows);
  reportNumbers("arrows", { arrows });
  it.stage.redraw();
}

function press(it, action) {
  const { arrows } = it;
  const q = arrows.subarray(0, 2 * TOKENS),
    k = arrows.subarray(2 * TOKENS);
  if (action === "match") matchOne(it);
  if (action === "self") q.set(k);
  if (action === "flat") q.fill(0);
  if (action === "shake") for (let i = 0; i < arrows.length; i++) arrows[i] = inReach((Math.random() * 2 - 1) * 3);
  if (action === "reset") arrows.set(readArrows(it.start));
  changed(it);
}

// The token with the smallest weight gets a key in the direction of the chosen token's query, as long as possible.
function matchOne(it) {
  const from = it.token * TOKENS;
  const row = weightsOf(scoresOf(it.arrows)).subarray(from, from + TOKENS);
  const least = row.indexOf(Math.min(...row));
  const at = indexOf(it.token, "q");
  if (!it.arrows[at] && !it.arrows[at + 1]) it.arrows[at] = 2; // a query of no length asks for nothing
  const [x, y] = it.arrows.subarray(at, at + 2);
  const longest = MOST_LONG / Math.max(Math.abs(x), Math.abs(y));
  setArrow(it, least, "k", x * longest, y * longest);
  it.hover = { row: it.token, column: least };
}

// ------------------------------------------------------------------------------------------------------------ pointing

function grabbed(it, x, y, touch) {
  let best = null,
    nearest = touch ? 26 : 15;
  for (let token = 0; token < TOKENS; token++) {
    for (const which of ["q", "k"]) {
      const [tx, ty] = tipOf(it, token, which);
      const distance = Math.hypot(tx - x, ty - y) - (token === it.token ? 3 : 0);
      if (distance < nearest) [best, nearest] = [{ token, which }, distance];
    }
  }
  return best;
}

function bindGrid(it) {
  const { grid, stage } = it;
  const tokenAt = (x, y) => {
    const cell = cellOf(it);
    return Math.min(2, Math.max(0, Math.floor(y / cell))) * 3 + Math.min(2, Math.max(0, Math.floor(x / cell)));
  };
  grid.addEventListener("pointerdown", (event) => {
    const [x, y] = spotOf(event, grid);
    it.held = grabbed(it, x, y, event.pointerType === "touch");
    it.token = it.held ? it.held.token : tokenAt(x, y);
    if (it.held) {
      it.which = it.held.which;
      grid.setPointerCapture(event.pointerId);
    }
    it.hover = null;
    stage.redraw();
  });
  grid.addEventListener("pointermove", (event) => {
    const [x, y] = spotOf(event, grid);
    if (it.held) {
      const cell = cellOf(it),
        [mx, my] = middleOf(it.held.token, cell),
        step = (0.44 * cell) / MOST_LONG;
      setArrow(it, it.held.token, it.held.which, (x - mx) / step, (my - y) / step);
      return;
    }
    grid.style.cursor = grabbed(it, x, y, false) ? "grab" : "pointer";
    if (event.pointerType === "mouse") it.token = tokenAt(x, y);
    it.hover = null;
    stage.redraw();
  });
  const release = () => (it.held = null);
  grid.addEventListener("pointerup", release);
  grid.addEventListener("pointercancel", release);
  // A finger on a tip moves the tip; anywhere else it scrolls the page.
  grid.addEventListener(
    "touchstart",
    (event) => {
      const [x, y] = spotOf(event.touches[0], grid);
      if (grabbed(it, x, y, true)) event.preventDefault();
    },
    { passive: false },
  );
  grid.addEventListener("keydown", (event) => onKey(it, event));
}

function onKey(it, event) {
  const letter = LETTERS.indexOf(event.key.toUpperCase());
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.length === 1 && letter >= 0) it.token = letter;
  else if (event.key === "q" || event.key === "k") it.which = event.key;
  else if (steps) {
    const at = indexOf(it.token, it.which),
      stride = event.shiftKey ? 0.5 : 0.1;
    setArrow(it, it.token, it.which, it.arrows[at] + steps[0] * stride, it.arrows[at + 1] + steps[1] * stride);
  } else return;
  event.preventDefault();
  it.hover = null;
  it.stage.redraw();
}

function bindMatrix(it) {
  const point = (event) => {
    const cell = cellUnder(...spotOf(event, it.matrix), it.matrix.clientWidth, TOKENS);
    it.hover = cell;
    if (cell) it.token = cell.row;
    it.stage.redraw();
  };
  it.matrix.addEventListener("pointermove", point);
  it.matrix.addEventListener("pointerdown", point);
}

function bindTyping(it) {
  for (const input of it.stage.root.querySelectorAll("[data-number]")) {
    Object.assign(input, { min: -MOST_LONG, max: MOST_LONG, step: 0.1 });
    input.addEventListener("input", () => {
      const number = Number(input.value),
        place = Number(input.dataset.number);
      if (input.value === "" || !Number.isFinite(number)) return;
      it.arrows[indexOf(it.token, place < 2 ? "q" : "k") + (place % 2)] = inReach(number);
      changed(it);
    });
    input.addEventListener("change", () => it.stage.redraw());
  }
}

export default function (component) {
  return keepDrawing(component, createArrows);
}
