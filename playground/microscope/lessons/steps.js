// A walk through one attention layer, step by step. The data hold the numbers of all steps, so that no step needs a
// request: those of a picture's layer as `steps_to_bytes` of playground/lessons/walk.py packs them; for random tokens
// the steps' words and the sizes (`packed_random_walk` of shapes.py), from which walknumbers.js computes. Sends "walk",
// the step counted from 1, and the sizes.

import { decodeHalves, openContainer } from "../core/core.js";
import { heatAt } from "../core/light.js";
import { fillHeat, make, makeHeat } from "../drawing/dom.js";
import { codeHtml, formulaHtml, markedWords } from "../drawing/listing.js";
import { between, lessonDrawing, paletteOf } from "../drawing/stage.js";
import { followPointer } from "./patch.js";
import { sizesProblem, walkOfNumbers } from "./walknumbers.js";

// Draws the numbers of one step as colours: a group for each tensor, with a panel for each head. createWalk makes
// `walk`.

const TINTS = { query: [0, 114, 178], key: [213, 94, 0], value: [0, 158, 115], plain: [122, 81, 190] };

export function drawStep(walk, step) {
  const heat = walk.root.querySelector(".heat");
  walk.width = heat.clientWidth;
  const total = step.shape[step.shape.length - 1];
  const isSquare = step.axes[step.axes.length - 1] === "tokens";
  const { panels, rows, columns } = step.groups[0];
  const columnsShown = step.joined ? panels * columns : columns;
  heat.className = `heat ${isSquare ? "square" : ""} ${step.joined ? "joined" : "apart"}`;
  const operators = step.name === "Skip" ? ["", "+", "="] : [];
  const rowsHtml = `<b>${countWords(rows, walk.numbers.tokens)}</b> tokens${isSquare ? " ask" : ""}`;
  const verticalAxis = `<span class="axis tokens down">${rowsHtml}</span>`;
  const lastAxis = step.axes[step.axes.length - 1];
  const headsHtml = step.axes.includes("heads")
    ? ` <span class="axis heads">in <b>${countWords(panels, walk.numbers.heads)}</b> heads</span>`
    : "";
  const columnNoun = isSquare ? "tokens are asked" : formulaHtml(lastAxis);
  const columnsHtml = `<b>${countWords(columnsShown, total)}</b> ${columnNoun}`;
  const horizontalAxis = `<span class="across"><span class="axis ${lastAxis}">${columnsHtml}</span>${headsHtml}</span>`;
  heat.innerHTML =
    verticalAxis +
    step.groups
      .map(
        (group, g) =>
          `<div class="group" data-group="${g}">${nameHtml(group, operators[g])}<div class="panels"></div></div>`,
      )
      .join("") +
    horizontalAxis;
  walk.drawnGroups = step.groups.map((group, g) =>
    drawGroup(walk, step, group, heat.querySelector(`[data-group="${g}"] .panels`), isSquare),
  );
  const bar = walk.root.querySelector(".bar");
  const ramp = Float32Array.from({ length: 64 }, (_, i) =>
    isWeight(step) ? (i / 63) * step.end : (i / 31.5 - 1) * step.end,
  );
  paint(bar, ramp, 0, 1, 64, step.groups[0].role, step.end, walk.isDark);
  const batchWords = walk.numbers.batch > 1 ? `the first of ${walk.numbers.batch} · ` : "";
  walk.root.querySelector(".range").textContent =
    `${batchWords}numbers from ${numberText(step.low)} to ${numberText(step.high)}`;
  walk.root.querySelector(".end").textContent = `${isWeight(step) ? "0 …" : "±"} ${numberText(step.end)}`;
  requestAnimationFrame(() => heat.classList.add("settled")); // animates the gaps between heads
}

const isWeight = (step) => step.groups[0].role === "weight";
const countWords = (shown, total) => (shown < total ? `${shown} of ${total}` : `${total}`);

function nameHtml({ name, role }, operator) {
  const isNamed = operator || ["x", "Q", "K", "V", "A V"].includes(name);
  return `<span class="name ${role}">${operator ? `<em>${operator}</em>` : ""}${isNamed ? name : ""}</span>`;
}

function drawGroup(walk, step, group, place, isSquare) {
  const values = walk.values(group.section);
  const size = group.rows * group.columns;
  if (isSquare) place.style.setProperty("--side", `${squareSide(place, group.panels)}px`);
  const panelElements = Array.from({ length: group.panels }, (_, head) => {
    const canvas = make("canvas", { width: group.columns, height: group.rows });
    paint(canvas, values, head * size, group.rows, group.columns, group.role, step.end, walk.isDark);
    const panel = make("div", { className: "panel", "data-head": head }, canvas, make("u"), make("s"));
    place.append(panel);
    return panel;
  });
  return { group, values, panels: panelElements };
}

// The largest side at which `count` equal squares fit into the place.
function squareSide(place, count) {
  const box = place.getBoundingClientRect(); // clientWidth rounds up: the last square of a row would not fit
  const width = Math.floor(box.width),
    height = Math.floor(box.height),
    gap = 6;
  let largest = 0;
  for (let columnCount = 1; columnCount <= count; columnCount++) {
    const rowCount = Math.ceil(count / columnCount);
    largest = Math.max(
      largest,
      Math.min((width - gap * (columnCount - 1)) / columnCount, (height - gap * (rowCount - 1)) / rowCount),
    );
  }
  return Math.floor(largest);
}

// ----------------------------------------------------------------------------------------------------------- colours

// Weights have the heat's colours. Other numbers have the role's colour above zero, grey below zero, the paper's colour
// at zero.
function paletteFor(role, isDark) {
  if (role === "weight") return paletteOf((t) => heatAt((t + 1) / 2));
  const [below, zero] = isDark ? [214, 30] : [62, 247];
  const above = isDark ? between(TINTS[role], [255, 255, 255], 0.2) : TINTS[role];
  return paletteOf((t) => between([zero, zero, zero], t < 0 ? [below, below, below] : above, Math.abs(t)));
}

function paint(canvas, values, offset, rows, columns, role, limit, isDark) {
  const domain = { low: role === "weight" ? 0 : -limit, high: limit };
  fillHeat(makeHeat(rows, columns, canvas), values, offset, paletteFor(role, isDark), domain);
}

export const numberText = (x) => {
  const text = Math.abs(x) >= 100 ? x.toFixed(0) : Math.abs(x) >= 0.1 || x === 0 ? x.toFixed(2) : x.toPrecision(2);
  return text.replace("-", "−");
};

const AXIS_NAMES = /\b(batch|tokens|width|dim|chan|heads|d_k)\b/g;

const MARKUP = `
  <div class="sizes"></div><div class="controls"><button data-go="-1" aria-label="one step back">‹</button
    ><button data-go="1" aria-label="one step on">›</button><ol></ol></div>
  <p class="refused" role="status"></p>
  <div class="now"><div class="words"><h3></h3><p class="says"></p><p class="formula"></p><p class="shape"></p>
    <p class="reckoning"></p></div>
    <figure><div class="heat"></div><figcaption>
      <span class="readout"></span><span class="range"></span>
      <canvas class="bar" width="64" height="1"></canvas><span class="end"></span>
    </figcaption></figure></div>
  <div class="code"></div>`;

export default lessonDrawing(createWalk, MARKUP);

function createWalk(stage) {
  const { root } = stage;
  const walk = Object.seal({
    root,
    stage,
    subjectText: null, // a text for the layer and picture, or for the sizes of random tokens, on show
    numbers: null, //     {axis: its length}
    tokens: null, //      the tokens' names
    steps: null, //       see the top of this file
    values: null, //      (name of a section) => the section's numbers
    step: 0, //           the step on show
    drawnGroups: null, // [{group, values, panels}] of this step
    pointedCell: null, // the cell under the cursor
    width: 0, //          the width of the drawn numbers; 0: they are to be drawn
    isDark: false, //     whether they are drawn for a dark page
  });
  root.tabIndex = 0;
  root.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (!button || !walk.steps) return;
    goToWalkStep(walk, button.dataset.step ? Number(button.dataset.step) : walk.step + Number(button.dataset.go));
  });
  root.addEventListener("keydown", (event) => {
    const stepChange = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.target.closest?.("input")) return;
    if (!stepChange || !walk.steps) return;
    goToWalkStep(walk, walk.step + stepChange);
    event.preventDefault();
  });
  const heat = root.querySelector(".heat");
  followPointer(heat, (event) => pointAtCell(walk, event));
  heat.addEventListener("pointerleave", () => unpoint(walk));
  return {
    take: (data) => takeWalk(walk, data),
    paint({ dark }) {
      if (!walk.steps || (heat.clientWidth === walk.width && dark === walk.isDark)) return;
      walk.isDark = dark;
      drawWalk(walk);
    },
    read: () => (walk.steps && walk.width ? readWalk(walk) : null), // impossible sizes have no steps
  };
}

function takeWalk(walk, data) {
  const { header, section } = openContainer(data);
  const sizes = header.steps ? null : /** @type {any} */ (sizesOf(header));
  showSizes(walk.root.querySelector(".sizes"), header, sizes, walk.stage.tell);
  const problem = sizes ? sizesProblem(sizes) : "";
  walk.root.classList.toggle("impossible", problem !== "");
  walk.root.querySelector(".refused").textContent = problem;
  const subjectText = header.steps ? header.id : JSON.stringify(sizes);
  if (subjectText === walk.subjectText && walk.step === header.walk - 1) return;
  walk.step = header.walk - 1;
  walk.subjectText = problem ? null : subjectText;
  if (problem) return;
  const values = (name) => decodeHalves(section(name));
  const { numbers, tokens, steps } = header;
  Object.assign(walk, header.steps ? { numbers, tokens, steps, values } : walkOfNumbers(sizes, header));
  const list = walk.root.querySelector("ol");
  list.innerHTML = walk.steps
    .map(
      (step, i) =>
        `<li><button data-step="${i}"><b>${markedWords(step.name)}</b><span>${axesHtml(step)}</span></button></li>`,
    )
    .join("");
  walk.width = 0;
}

// ------------------------------------------------------------------------------------------------- going through steps

function goToWalkStep(walk, step) {
  walk.step = Math.min(walk.steps.length - 1, Math.max(0, step));
  walk.width = 0;
  walk.stage.redraw();
  walk.stage.tell("walk", walk.step + 1);
}

const axesHtml = (step) => step.shape.map((n, i) => `<i class="axis ${step.axes[i]}">${n}</i>`).join("×");

const axisHtml = (walk, name) =>
  `<span class="axis ${name}"><b>${walk.numbers[name]}</b><i>${formulaHtml(name)}</i></span>`;

function drawWalk(walk) {
  const { root, steps } = walk;
  const step = steps[walk.step];
  const setHtml = (place, html) => (root.querySelector(place).innerHTML = html);
  root.querySelectorAll("ol button").forEach((button, i) => {
    button.setAttribute("aria-current", i === walk.step ? "step" : "false");
    if (i === walk.step) scrollIntoSight(button);
  });
  root.querySelector('[data-go="-1"]').disabled = walk.step === 0;
  root.querySelector('[data-go="1"]').disabled = walk.step === steps.length - 1;
  setHtml("h3", `<span>${walk.step + 1}</span> ${formulaHtml(step.name)}`);
  setHtml(".says", markedWords(step.says.replace(/\{(\w+)\}/g, (_, name) => walk.numbers[name])));
  setHtml(".formula", formulaHtml(step.formula));
  setHtml(".shape", step.axes.map((name) => axisHtml(walk, name)).join('<span class="by">×</span>'));
  setHtml(
    ".reckoning",
    step.reckoning.replace(AXIS_NAMES, (name) => `<b class="axis ${name}" title="${name}">${walk.numbers[name]}</b>`),
  );
  setHtml(
    ".code",
    `<p>${step.file}</p>` +
      step.lines
        .map(({ number, text, mark }) => `<pre><s>${number}</s><code>${codeHtml(text, mark)}</code></pre>`)
        .join(""),
  );
  drawStep(walk, step);
  unpoint(walk);
}

// Scrolls only the list of steps: scrollIntoView would move the page, too.
function scrollIntoSight(button) {
  const list = button.closest("ol"),
    item = button.parentElement;
  if (item.offsetLeft < list.scrollLeft || item.offsetLeft + item.offsetWidth > list.scrollLeft + list.clientWidth)
    list.scrollLeft = item.offsetLeft - 20;
}

// --------------------------------------------------------------------------------------------------------- the cursor

function pointAtCell(walk, event) {
  const panel = event.target.closest?.(".panel");
  if (!panel) return unpoint(walk);
  const box = panel.getBoundingClientRect();
  const entry = walk.drawnGroups[Number(panel.closest(".group").dataset.group)];
  const { group } = entry,
    head = Number(panel.dataset.head);
  const row = Math.min(group.rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * group.rows)));
  const column = Math.min(
    group.columns - 1,
    Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * group.columns)),
  );
  for (const { panels } of walk.drawnGroups) for (const sameHead of panels) markCell(sameHead, group, row, column);
  const value = entry.values[(head * group.rows + row) * group.columns + column];
  walk.root.querySelector(".readout").textContent = cellSentence(walk, group, head, row, column, value);
  walk.pointedCell = { group: group.name, head, row, column, value };
}

function markCell(panel, { rows, columns }, row, column) {
  const [band, cell] = [panel.querySelector("u"), panel.querySelector("s")];
  const rowStyle = `top:${(100 * row) / rows}%;height:${100 / rows}%;display:block`;
  band.style.cssText = rowStyle;
  cell.style.cssText = `${rowStyle};left:${(100 * column) / columns}%;width:${100 / columns}%`;
}

function cellSentence(walk, group, head, row, column, value) {
  const step = walk.steps[walk.step];
  const headWords = group.panels > 1 ? `head ${head}: ` : "";
  const tokenName = (i) => walk.tokens[i];
  if (step.axes[step.axes.length - 1] === "tokens")
    return `${headWords}${tokenName(row)} asks ${tokenName(column)}: ${numberText(value)}`;
  const place = step.joined ? head * group.columns + column : column;
  return `${headWords}${tokenName(row)}, column ${place}: ${numberText(value)}`;
}

function unpoint(walk) {
  walk.pointedCell = null;
  walk.root.querySelector(".readout").textContent = matchMedia("(hover: none)").matches
    ? "Touch a cell"
    : "Point at a cell";
  for (const line of walk.root.querySelectorAll(".panel u, .panel s")) line.style.display = "none";
}

// The state of the walk, for tests.
function readWalk(walk) {
  const step = walk.steps[walk.step];
  const groups = walk.drawnGroups.map(({ group, values }) => ({
    ...group,
    values: Array.from(values.subarray(0, 2000)),
  }));
  return { step: walk.step + 1, name: step.name, shape: step.shape, groups: groups, pointed: walk.pointedCell };
}

// Shows fields for the sizes of random tokens and of their layer. The sizes come from a textbook's example until the
// reader changes a field.

// Returns {name: size} of the fields. header: {example: the chosen example, sizes: {example: {batch, …}}, fields:
// [[name, label, most], …], and by name the size of each field, for a reader's own example}
export function sizesOf(header) {
  const sizes = header.sizes[header.example] ?? header;
  return Object.fromEntries(header.fields.map(([name, , maximum]) => [name, clamped(sizes[name], maximum)]));
}

const clamped = (text, maximum) => Math.min(maximum, Math.max(1, Math.round(Number(text)) || 1));

// Without `sizes` the fields are hidden.
export function showSizes(place, { fields = [] }, sizes, tell) {
  place.hidden = !sizes;
  if (!sizes) return;
  if (!place.childElementCount) place.append(...fields.map(fieldOf));
  const focusedInput = place.getRootNode().activeElement;
  for (const [name, , maximum] of fields) {
    const input = place.querySelector(`[name="${name}"]`);
    if (input !== focusedInput) input.value = sizes[name];
    input.onchange = () => {
      input.value = clamped(input.value, maximum);
      tell("example", "own");
      for (const [name] of fields) tell(name, Number(place.querySelector(`[name="${name}"]`).value));
    };
  }
}

function fieldOf([name, label, maximum]) {
  const input = make("input", { type: "number", name, min: 1, max: maximum, step: 1 });
  return make("label", "", make("span", `axis ${name}`, label), input);
}
