// The table of all heads: each layer and head is a coloured cell, a link into the microscope, and a card has all
// numbers of the head under the cursor. data: `atlas_data` of playground/lessons/heads.py.

import { reportNumbers } from "../core/guesses.js";
import { heatAt, heatCss } from "../core/light.js";
import { percent } from "../core/numbers.js";
import { make } from "../drawing/dom.js";
import { createHeadGrid, paintCell } from "../drawing/matrix.js";
import { lessonDrawing } from "../drawing/stage.js";

const CARD = `
  <p class="which"></p>
  <p class="habit"></p>
  <p class="told" hidden></p>
  <figure>
    <canvas width="7" height="7" role="img" aria-label="What each place around the query gets, on average"></canvas>
    <figcaption>what the places around the query get, on average; brightest: <b></b></figcaption></figure>
  <dl></dl>
  <a class="open">Open in the microscope</a>`;

function createAtlas({ root, redraw }) {
  const state = { data: null, grid: null, cardHead: null }; // grid: see drawing/matrix.js; cardHead: [layer, head]
  return {
    take(data) {
      if (hasOtherShape(state.data, data))
        Object.assign(state, { data, cardHead: null, grid: buildAtlas(root, state, data) });
      state.data = data;
      redraw();
    },
    paint() {
      paintAtlas(root, state);
      describeHead(root, state, ...(state.cardHead ?? state.data.shown));
    },
  };
}

export const atlas = lessonDrawing(createAtlas);

const hasOtherShape = (former, data) => former?.layers !== data.layers || former.heads !== data.heads;

function buildAtlas(root, state, { layers, heads }) {
  root.innerHTML = `<div class="sides"><div><div class="field"></div><div class="scale">
    <canvas width="256" height="1"></canvas><p><span>0</span><b></b><span></span></p>
    </div></div><aside class="card">${CARD}</aside></div>`;
  const showFirst = (layer, head, event) => {
    const [shownLayer, shownHead] = state.cardHead ?? [];
    if (event.pointerType !== "touch" || (shownLayer === layer && shownHead === head)) return;
    event.preventDefault(); // the second touch follows the link
    describeHead(root, state, layer, head);
  };
  const bar = root.querySelector(".scale canvas").getContext("2d");
  for (let i = 0; i < 256; i++) {
    bar.fillStyle = heatCss(i / 255);
    bar.fillRect(i, 0, 1, 1);
  }
  return createHeadGrid(root.querySelector(".field"), {
    layers,
    heads,
    tag: "a",
    onPoint: (layer, head) => describeHead(root, state, layer, head),
    onClick: showFirst,
  });
}

const valueText = (measure, x) => `${x.toFixed(measure.digits)}${measure.unit === "%" ? " %" : ""}`;
const linkOf = ({ microscope, words }, layer, head) => `${microscope}${words}&layer=${layer}&head=${head}`;

function paintAtlas(root, state) {
  const { data, grid } = state;
  const measure = data.measures.find((m) => m.key === data.measure);
  for (let layer = 0; layer < data.layers; layer++) {
    for (let head = 0; head < data.heads; head++) {
      const cell = grid.at(layer, head),
        habit = data.habits[layer][head],
        value = measure.values[layer][head];
      paintCell(cell, value / measure.high, habit.told ? `${habit.short} · told` : habit.short);
      cell.href = linkOf(data, layer, head);
      const taskWords = habit.told ? `, told to ${habit.told}` : "";
      const description = `${habit.long}${taskWords}, ${measure.name} ${valueText(measure, value)}`;
      cell.setAttribute("aria-label", `layer ${layer}, head ${head}: ${description}. Open in the microscope`);
    }
  }
  const [low, name, high] = root.querySelectorAll(".scale p > *");
  low.textContent = measure.unit === "%" ? "0 %" : "0";
  name.textContent = measure.unit === "%" ? measure.name : `${measure.name}, ${measure.unit}`;
  const highText = measure.unit === "%" ? `${measure.high.toFixed(0)} %` : measure.high.toFixed(1);
  high.textContent = `${measure.over ? "≥ " : ""}${highText}`;
  root.dataset.measure = data.measure;
}

function describeHead(root, state, layer, head) {
  const { data, grid } = state;
  if (layer >= data.layers || head >= data.heads) [layer, head] = data.shown;
  if (state.cardHead) grid.at(...state.cardHead)?.classList.remove("at-hand");
  state.cardHead = [layer, head];
  grid.at(layer, head).classList.add("at-hand");
  root.querySelector(".which").textContent = `Layer ${layer} · head ${head}`;
  root.querySelector(".habit").textContent = data.habits[layer][head].long;
  const task = data.habits[layer][head].told;
  root.querySelector(".told").textContent = task ? `this head was told to ${task}` : "";
  root.querySelector(".told").hidden = !task;
  root.querySelector(".open").href = linkOf(data, layer, head);
  const rows = data.measures.map((measure) => {
    const text = `${measure.values[layer][head].toFixed(measure.digits)} ${measure.unit}`;
    const className = measure.key === data.measure ? "chosen" : "";
    return [make("dt", className, measure.name), make("dd", className, text)];
  });
  root.querySelector(".card dl").replaceChildren(...rows.flat());
  drawOffsets(root, data.offsets[layer][head], data.reach);
}

// Draws the shares of attention by offset from the query. The middle, which is the query itself, does not count for the
// colours, because it often has by far the largest share.
function drawOffsets(root, shares, radius) {
  const side = 2 * radius + 1,
    centre = radius * side + radius;
  const largest = Math.max(...shares.filter((_, i) => i !== centre), 1e-9);
  const canvas = root.querySelector(".card canvas");
  const context = canvas.getContext("2d");
  shares.forEach((share, i) => {
    context.fillStyle = i === centre ? "#0072b2" : heatCss(share / largest);
    context.fillRect(i % side, Math.floor(i / side), 1, 1);
  });
  root.querySelector(".card figcaption b").textContent = `${(100 * largest).toFixed(largest < 0.1 ? 1 : 0)} %`;
}

// A board of switches for heads: a click on a head switches it off, a click on a layer's number switches off all heads
// of the layer. Beside the board is the change of the prediction, below it the change of the tokens in each layer.
// data: `board_data` of playground/lessons/heads.py.
// The board sends the setting "off", and reports {off: [[layer, head], …], heads, strongest} to the exercises.

function createBoard(stage) {
  const { root } = stage;
  // off: [layer, head] of each switch that is off, also before the new numbers arrive; filmKey: the layers and the grid
  // for which the row of small pictures was made
  const state = { stage, data: null, grid: null, filmKey: "", off: [] };
  return {
    take(data) {
      if (hasOtherShape(state.data, data)) state.grid = buildBoard(root, state, data);
      Object.assign(state, { data, off: readOff(data) });
      root.classList.remove("waiting");
      reportNumbers("board", { off: state.off, heads: data.heads, strongest: data.strongest });
    },
    paint() {
      paintBoard(root, state);
      if (root.classList.contains("waiting")) return; // the numbers follow
      paintPredictions(root, state.data, state.off.length > 0);
      paintFilm(root, state, state.data, state.off.length > 0);
    },
  };
}

export const board = lessonDrawing(createBoard);

// Reads the heads that are off; ignores heads that this model does not have.
function readOff({ off, layers, heads }) {
  const spots = off ? off.split(" ").map((spot) => spot.split(".").map(Number)) : [];
  return spots.filter(([layer, head]) => layer < layers && head < heads);
}

const spotsText = (spots, maximum) =>
  [...spots]
    .sort(([a, b], [c, d]) => a - c || b - d)
    .slice(0, maximum)
    .map((spot) => spot.join("."))
    .join(" ");

function buildBoard(root, state, { layers, heads }) {
  state.filmKey = "";
  root.innerHTML = `<div class="sides"><div class="switches"><div class="field"></div><p class="said"></p>
    <button class="reset">switch all on</button></div><div class="prediction"></div></div><div class="film"></div>`;
  root.querySelector(".reset").addEventListener("click", () => switchOff(state, []));
  const rowOf = (layer) => Array.from({ length: heads }, (_, head) => [layer, head]);
  return createHeadGrid(root.querySelector(".field"), {
    layers,
    heads,
    tag: "button",
    onClick: (layer, head) => toggle(state, [[layer, head]]),
    onLayer: (layer) => toggle(state, rowOf(layer)),
  });
}

const includesSpot = (spots, [layer, head]) => spots.some(([l, h]) => l === layer && h === head);

// Switches these heads off or, if all of them are off, on.
function toggle(state, spots) {
  const { played, most } = state.data;
  const areOff = spots.every((spot) => includesSpot(state.off, spot));
  const spotsKept = state.off.filter((spot) => !includesSpot(spots, spot));
  const spotsOff = areOff ? spotsKept : [...spotsKept, ...spots];
  const isPlayed = !played || played.includes(spotsText(spotsOff, most));
  switchOff(state, isPlayed ? spotsOff : areOff ? [] : spots);
}

function switchOff(state, spotsOff) {
  state.off = spotsOff;
  state.stage.root.classList.add("waiting");
  state.stage.redraw();
  state.stage.tell("off", spotsText(spotsOff, state.data.most));
}

function paintBoard(root, { data, grid, off }) {
  for (let layer = 0; layer < data.layers; layer++) {
    for (let head = 0; head < data.heads; head++) {
      const cell = grid.at(layer, head),
        isOff = includesSpot(off, [layer, head]),
        effect = data.effect[layer][head];
      paintCell(cell, effect / 3, isOff ? "off" : "");
      cell.setAttribute("aria-pressed", String(isOff));
      cell.title = `layer ${layer}, head ${head}: adds ${effect.toFixed(2)} × what a head of its layer does on average`;
      cell.setAttribute("aria-label", `${cell.title}. ${isOff ? "Switch it on" : "Switch it off"}`);
    }
    const isWholeLayer = off.filter(([l]) => l === layer).length === data.heads;
    grid.sides[layer].setAttribute("aria-pressed", String(isWholeLayer));
    grid.sides[layer].title = `switch all heads of layer ${layer} ${isWholeLayer ? "on" : "off"}`;
  }
  const names = off.map(([layer, head]) => `layer ${layer} head ${head}`);
  const headNames = names.length > 3 ? `${names.length} heads` : names.join(", ");
  root.querySelector(".said").textContent = off.length
    ? `off: ${headNames}`
    : "Bright heads add much. Click one: it is switched off.";
  root.querySelector(".reset").hidden = !off.length;
  root.dataset.off = spotsText(off);
}

function paintPredictions(root, data, anyOff) {
  const place = root.querySelector(".prediction");
  const title = make("h3", "", data.rows ? "What it predicts" : "What is read from the picture");
  if (!data.rows) return place.replaceChildren(title, make("p", "", data.read));
  const lineOf = (className, name, bar, before, after) =>
    make("div", className, name, bar, make("span", "", before), make("b", "", anyOff && after));
  const lines = data.rows.map(([label, before, after]) => {
    const bar = make("span", { className: "bar", style: `--before: ${before}; --after: ${after}` });
    const name = make("span", { className: "label", title: label }, label);
    return lineOf("line", name, bar, percent(before), percent(after));
  });
  place.replaceChildren(title, lineOf("line top", make("span"), make("span"), "before", "after"), ...lines);
}

// Paints a small picture for each layer: the change of every patch's token.
function paintFilm(root, state, data, anyOff) {
  const film = root.querySelector(".film");
  const [rows, columns] = data.grid;
  const key = `${data.picture.length} ${rows} ${columns} ${data.layers}`;
  if (state.filmKey !== key) {
    state.filmKey = key;
    const frames = Array.from({ length: data.layers }, (_, layer) => {
      const image = make("img", { src: data.picture, alt: "" });
      const canvas = make("canvas", { width: columns, height: rows });
      const box = make("div", { style: `aspect-ratio: ${columns} / ${rows}` }, image, canvas);
      return make("figure", { "data-layer": layer }, box, make("figcaption"));
    });
    film.replaceChildren(make("h3", "", "What the tokens lose, layer by layer"), make("p", "key"), ...frames);
  }
  const ceilingWords = `${Math.round(100 * data.ceiling)} % or more`;
  film.querySelector(".key").textContent = anyOff
    ? `how far each patch's token has moved, relative to its length: black nothing, yellow ${ceilingWords}`
    : "Switch a head off: these show how far each patch's token moves after each layer.";
  const bytes = Uint8Array.from(atob(data.maps), (c) => c.charCodeAt(0));
  [...film.querySelectorAll("figure")].forEach((frame, layer) => {
    frame.querySelector("img").src = data.picture;
    const canvas = frame.querySelector("canvas");
    canvas.hidden = !anyOff;
    paintMap(canvas, bytes.subarray(layer * rows * columns, (layer + 1) * rows * columns));
    const summary = data.summary ? `, ${data.summary.name} ${percent(data.summary.values[layer])}` : "";
    const meanWords = anyOff
      ? `: ${percent(data.means[layer])}${summary}; by the mean ${percent(data.averaged[layer])}`
      : "";
    frame.querySelector("figcaption").textContent = `layer ${layer}${meanWords}`;
    frame.classList.toggle("untouched", anyOff && data.means[layer] === 0);
  });
}

function paintMap(canvas, bytes) {
  const context = canvas.getContext("2d"),
    image = context.createImageData(canvas.width, canvas.height);
  bytes.forEach((byte, i) => image.data.set([...heatAt(byte / 255), 165 + byte * 0.3], 4 * i));
  context.putImageData(image, 0, 0);
}
