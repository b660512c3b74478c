// Nine tokens on a 3 × 3 grid. Their queries and keys are arrows that can be dragged, typed or moved with the keyboard;
// beside them is the resulting 9 × 9 attention.
// data: {arrows: "20_0_…" (see core/nine.js), start: the arrows that "Start again" restores}.
// The drawing sends and reports the setting "arrows".
import { ROLES } from "../core/colours.js";
import { reportNumbers } from "../core/guesses.js";
import { heatCss } from "../core/light.js";
import {
  clampCoordinate,
  MOST_COORDINATE,
  readArrows,
  scoresOf,
  TOKEN_COUNT,
  weightsOf,
  writeArrows,
} from "../core/nine.js";
import { percent } from "../core/numbers.js";
import { cellUnder, drawMatrix, LETTERS } from "../drawing/matrix.js";
import { lessonDrawing, sheetOf, spotOf, withMinus } from "../drawing/stage.js";
import { followPointer } from "./patch.js";

// The place in `state.arrows` at which an arrow's two numbers begin.
export const indexOf = (token, kind) => 2 * (kind === "q" ? token : TOKEN_COUNT + token);

export const cellSide = (state) => state.grid.clientWidth / 3;
export const middleOf = (token, cell) => [((token % 3) + 0.5) * cell, (Math.floor(token / 3) + 0.5) * cell];

export function tipOf(state, token, kind) {
  const cell = cellSide(state),
    [x, y] = middleOf(token, cell),
    index = indexOf(token, kind);
  const unit = (0.44 * cell) / MOST_COORDINATE;
  return [x + state.arrows[index] * unit, y - state.arrows[index + 1] * unit];
}

export const tipsOf = (state) =>
  Array.from({ length: TOKEN_COUNT }, (_, token) => ({ q: tipOf(state, token, "q"), k: tipOf(state, token, "k") }));

// Paints the tokens with their arrows and the matrix, and writes the arithmetic of one weight. For `state`, see
// createArrows.
export function paintNine(state, theme) {
  const { root } = state.stage;
  const scores = scoresOf(state.arrows),
    weights = weightsOf(scores);
  for (const button of root.querySelectorAll("[data-show]"))
    button.setAttribute("aria-pressed", String(button.dataset.show === state.show));
  paintGrid(state, theme, weights);
  const { context, width } = sheetOf(state.matrix, state.matrix.clientWidth);
  const markedCell = state.hover ?? { row: state.token, column: -1 };
  const values = state.show === "weight" ? weights : scores;
  drawMatrix(context, width, TOKEN_COUNT, { values, reach: values === weights ? null : 6 }, markedCell, theme, {
    query: ROLES.query,
    key: ROLES.key,
  });
  state.stage.find("name").textContent = `Token ${LETTERS[state.token]}`;
  for (const input of root.querySelectorAll("[data-number]")) {
    const place = Number(input.dataset.number);
    const isFocused = input.getRootNode().activeElement === input;
    if (!isFocused) input.value = state.arrows[indexOf(state.token, place < 2 ? "q" : "k") + (place % 2)].toFixed(1);
  }
  writeSum(state, scores, weights);
}

function paintGrid(state, theme, weights) {
  const { context, width } = sheetOf(state.grid, state.grid.clientWidth);
  const cell = width / 3;
  for (let token = 0; token < TOKEN_COUNT; token++) {
    const x = (token % 3) * cell,
      y = Math.floor(token / 3) * cell;
    context.fillStyle = token === state.token ? theme.wash : theme.paper;
    context.fillRect(x, y, cell, cell);
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, cell - 1, cell - 1);
    paintShare(context, x, y, cell, weights[state.token * TOKEN_COUNT + token], theme);
    context.font = `${token === state.token ? 700 : 400} 14px ${theme.font}`;
    context.fillStyle = token === state.token ? theme.ink : theme.soft;
    context.fillText(LETTERS[token], x + 7, y + 18);
  }
  const looks = [
    ["k", ROLES.key, 6, 8],
    ["q", ROLES.query, 2.5, 5],
  ];
  for (let token = 0; token < TOKEN_COUNT; token++)
    for (const [kind, ...look] of looks) {
      const isChosen = state.token === token && state.kind === kind;
      paintArrow(context, middleOf(token, cell), tipOf(state, token, kind), ...look, theme, isChosen);
    }
  const [x, y] = [(state.token % 3) * cell, Math.floor(state.token / 3) * cell];
  context.strokeStyle = ROLES.query;
  context.lineWidth = 2.5;
  context.strokeRect(x + 1.5, y + 1.5, cell - 3, cell - 3);
}

// Paints the weight that the chosen token gives to a cell's token, as a bar at the bottom of the cell.
function paintShare(context, x, y, cell, weight, theme) {
  const left = x + 7,
    top = y + cell - 13,
    barWidth = cell - 52;
  context.fillStyle = theme.line;
  context.fillRect(left, top, barWidth, 6);
  context.fillStyle = theme.dark ? heatCss(0.35 + 0.6 * weight) : heatCss(0.1 + 0.6 * weight);
  context.fillRect(left, top, Math.max(1, barWidth * weight), 6);
  context.fillStyle = theme.ink;
  context.font = `12px ${theme.font}`;
  context.textBaseline = "alphabetic";
  context.textAlign = "right";
  context.fillText(`${(100 * weight).toFixed(weight < 0.0995 ? 1 : 0)} %`, x + cell - 6, top + 7);
  context.textAlign = "left";
}

function paintArrow(context, start, end, colour, lineWidth, tipRadius, theme, isChosen) {
  context.lineCap = "round";
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = lineWidth;
  context.beginPath();
  context.moveTo(...start);
  context.lineTo(...end);
  context.stroke();
  context.beginPath();
  context.arc(...end, tipRadius, 0, 2 * Math.PI);
  context.fill();
  context.lineWidth = isChosen ? 2 : 1;
  context.strokeStyle = isChosen ? theme.ink : theme.paper;
  context.stroke();
}

function writeSum(state, scores, weights) {
  const i = state.token;
  const row = Array.from(weights.subarray(i * TOKEN_COUNT, (i + 1) * TOKEN_COUNT));
  const j = state.hover?.column >= 0 ? state.hover.column : row.indexOf(Math.max(...row));
  const index = i * TOKEN_COUNT + j,
    q = indexOf(i, "q"),
    k = indexOf(j, "k"),
    numberText = (x) => (x < 0 ? `(${withMinus(x, 1)})` : withMinus(x, 1));
  const products = [0, 1]
    .map((part) => `${numberText(state.arrows[q + part])} · ${numberText(state.arrows[k + part])}`)
    .join(" + ");
  state.stage.find("sum").innerHTML =
    `<i class="q">${LETTERS[i]}’s query</i> · <i class="k">${LETTERS[j]}’s key</i> = ${products} ` +
    `= ${withMinus(scores[index] * Math.SQRT2)}; ` +
    `÷ √2 = ${withMinus(scores[index])}; softmax over the row: <b>${percent(weights[index])}</b>`;
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
  const state = Object.seal({
    stage,
    ...stage.refs,
    arrows: null, //      36 numbers, see core/nine.js
    start: "", //         the arrows that "Start again" restores, as text
    token: 0, //          the chosen token: its row is shown; the lesson begins with A
    kind: "q", //         the arrow that the keyboard moves, "q" or "k"
    hover: null, //       the cell of the matrix under the cursor: {row, column}
    held: null, //        the arrow that is being dragged: {token, kind}
    show: "weight", //    whether the matrix shows "weight" or "score"
  });
  bindGrid(state);
  bindMatrix(state);
  bindTyping(state);
  for (const button of stage.root.querySelectorAll("[data-do]"))
    button.addEventListener("click", () => doAction(state, button.dataset.do));
  for (const button of stage.root.querySelectorAll("[data-show]")) {
    button.addEventListener("click", () => {
      state.show = button.dataset.show;
      stage.redraw();
    });
  }
  return {
    take: (data) => {
      state.start = data.start;
      state.arrows = readArrows(data.arrows);
      reportNumbers("arrows", { arrows: writeArrows(state.arrows) });
    },
    paint: (theme) => paintNine(state, theme),
    read: () => ({
      arrows: writeArrows(state.arrows),
      weights: Array.from(weightsOf(scoresOf(state.arrows))),
      token: state.token,
      tips: tipsOf(state),
    }),
  };
}

// ------------------------------------------------------------------------------------------------------------- choices

function setArrow(state, token, kind, x, y) {
  const index = indexOf(token, kind);
  state.arrows[index] = clampCoordinate(x);
  state.arrows[index + 1] = clampCoordinate(y);
  reportChange(state);
}

function reportChange(state) {
  const arrows = writeArrows(state.arrows);
  state.stage.tell("arrows", arrows);
  reportNumbers("arrows", { arrows });
  state.stage.redraw();
}

function doAction(state, action) {
  const { arrows } = state;
  const q = arrows.subarray(0, 2 * TOKEN_COUNT),
    k = arrows.subarray(2 * TOKEN_COUNT);
  if (action === "match") turnLeastKey(state);
  if (action === "self") q.set(k);
  if (action === "flat") q.fill(0);
  if (action === "shake")
    for (let i = 0; i < arrows.length; i++) arrows[i] = clampCoordinate((Math.random() * 2 - 1) * 3);
  if (action === "reset") arrows.set(readArrows(state.start));
  reportChange(state);
}

// Finds the token with the smallest weight in the chosen row. Turns its key into the direction of the chosen token's
// query, and makes the key as long as possible.
function turnLeastKey(state) {
  const start = state.token * TOKEN_COUNT;
  const row = weightsOf(scoresOf(state.arrows)).subarray(start, start + TOKEN_COUNT);
  const leastKey = row.indexOf(Math.min(...row));
  const queryIndex = indexOf(state.token, "q");
  // A query of length 0 has no direction.
  if (!state.arrows[queryIndex] && !state.arrows[queryIndex + 1]) state.arrows[queryIndex] = 2;
  const [x, y] = state.arrows.subarray(queryIndex, queryIndex + 2);
  const stretch = MOST_COORDINATE / Math.max(Math.abs(x), Math.abs(y));
  setArrow(state, leastKey, "k", x * stretch, y * stretch);
  state.hover = { row: state.token, column: leastKey };
}

// ------------------------------------------------------------------------------------------------------------ pointing

function arrowUnder(state, x, y, isTouch) {
  let nearestArrow = null,
    leastDistance = isTouch ? 26 : 15;
  for (let token = 0; token < TOKEN_COUNT; token++) {
    for (const kind of ["q", "k"]) {
      const [tx, ty] = tipOf(state, token, kind);
      const distance = Math.hypot(tx - x, ty - y) - (token === state.token ? 3 : 0);
      if (distance < leastDistance) [nearestArrow, leastDistance] = [{ token, kind }, distance];
    }
  }
  return nearestArrow;
}

function bindGrid(state) {
  const { grid, stage } = state;
  const tokenAt = (x, y) => {
    const cell = cellSide(state);
    return Math.min(2, Math.max(0, Math.floor(y / cell))) * 3 + Math.min(2, Math.max(0, Math.floor(x / cell)));
  };
  grid.addEventListener("pointerdown", (event) => {
    const [x, y] = spotOf(event, grid);
    state.held = arrowUnder(state, x, y, event.pointerType === "touch");
    state.token = state.held ? state.held.token : tokenAt(x, y);
    if (state.held) {
      state.kind = state.held.kind;
      grid.setPointerCapture(event.pointerId);
    }
    state.hover = null;
    stage.redraw();
  });
  grid.addEventListener("pointermove", (event) => {
    const [x, y] = spotOf(event, grid);
    if (state.held) {
      const cell = cellSide(state),
        [mx, my] = middleOf(state.held.token, cell),
        unit = (0.44 * cell) / MOST_COORDINATE;
      setArrow(state, state.held.token, state.held.kind, (x - mx) / unit, (my - y) / unit);
      return;
    }
    grid.style.cursor = arrowUnder(state, x, y, false) ? "grab" : "pointer";
    if (event.pointerType === "mouse") state.token = tokenAt(x, y);
    state.hover = null;
    stage.redraw();
  });
  const release = () => (state.held = null);
  grid.addEventListener("pointerup", release);
  grid.addEventListener("pointercancel", release);
  // A finger on an arrow's tip moves the tip; elsewhere it scrolls the page.
  grid.addEventListener(
    "touchstart",
    (event) => {
      const [x, y] = spotOf(event.touches[0], grid);
      if (arrowUnder(state, x, y, true)) event.preventDefault();
    },
    { passive: false },
  );
  grid.addEventListener("keydown", (event) => onKey(state, event));
}

function onKey(state, event) {
  const letter = LETTERS.indexOf(event.key.toUpperCase());
  const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.length === 1 && letter >= 0) state.token = letter;
  else if (event.key === "q" || event.key === "k") state.kind = event.key;
  else if (direction) {
    const index = indexOf(state.token, state.kind),
      stride = event.shiftKey ? 0.5 : 0.1;
    const coordinates = direction.map((step, n) => state.arrows[index + n] + step * stride);
    setArrow(state, state.token, state.kind, ...coordinates);
  } else return;
  event.preventDefault();
  state.hover = null;
  state.stage.redraw();
}

function bindMatrix(state) {
  followPointer(state.matrix, (event) => {
    const cell = cellUnder(...spotOf(event, state.matrix), state.matrix.clientWidth, TOKEN_COUNT);
    state.hover = cell;
    if (cell) state.token = cell.row;
    state.stage.redraw();
  });
}

function bindTyping(state) {
  for (const input of state.stage.root.querySelectorAll("[data-number]")) {
    Object.assign(input, { min: -MOST_COORDINATE, max: MOST_COORDINATE, step: 0.1 });
    input.addEventListener("input", () => {
      const number = Number(input.value),
        place = Number(input.dataset.number);
      if (input.value === "" || !Number.isFinite(number)) return;
      state.arrows[indexOf(state.token, place < 2 ? "q" : "k") + (place % 2)] = clampCoordinate(number);
      reportChange(state);
    });
    input.addEventListener("change", () => state.stage.redraw());
  }
}

export default lessonDrawing(createArrows, MARKUP);
