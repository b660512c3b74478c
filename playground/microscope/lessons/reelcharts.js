// Draws the charts of a training run. All have the clock's time axis, so that a moment has the same position in each.
// They are SVG, so that their colours follow the theme; playing moves only the mark of the present moment.
import { effectiveNumber, entropyBits, holds, largestIndex, rowInto } from "../core/core.js";
import { percent } from "../core/numbers.js";
import { queryOf, tokenOf } from "../core/view.js";
import { axis, pathOf } from "../drawing/axes.js";
import { make, setText, setVisible } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";

// The index of the habit whose label begins `kind`: "fixed offset: left" begins with "fixed offset".
const habitIndex = (habits, kind) => habits.findIndex(({ label }) => kind.startsWith(label));
// A colour for each loss. No colour has a meaning elsewhere, and colour-blind people can tell the colours apart. The
// legend names the losses in this order.
const LOSS_COLOURS = ["#7a6fc9", "#999933", "#aa4499", "#44aa99", "#cc6677", "#8c8c8c"];
// pixels around a chart's plot
const LEFT = 34,
  RIGHT = 8,
  TOP = 6,
  BOTTOM = 17;

// The position of a step on the clock: moments have equal distances; steps between two moments have logarithmic ones.
function placeOf(step, moments) {
  const lastIndex = moments.length - 1;
  let i = 0;
  while (i < lastIndex && moments[i + 1] <= step) i++;
  if (i === lastIndex) return lastIndex;
  const [low, high] = [moments[i], moments[i + 1]];
  return i + (low > 0 ? Math.log(step / low) / Math.log(high / low) : (step - low) / (high - low));
}

export function buildCharts(reel) {
  const { refs } = reel;
  if (!reel.charts) {
    reel.charts = [lossChart, entropyChart, massChart, habitChart].map((drawChart) => ({
      build: drawChart,
      ...makeFigure(reel),
    }));
    refs.charts.replaceChildren(...reel.charts.map(({ figure }) => figure));
  }
  for (const chart of reel.charts) {
    chart.w = chart.svg.clientWidth;
    chart.h = chart.svg.clientHeight;
    chart.x = (place) => LEFT + (place / Math.max(1, reel.moments.length - 1)) * (chart.w - LEFT - RIGHT);
    chart.svg.setAttribute("viewBox", `0 0 ${chart.w} ${chart.h}`);
    chart.plot.innerHTML = timeAxis(reel, chart) + chart.build(reel, chart) + beginLines(reel, chart);
    chart.mark.setAttribute("y1", TOP - 4);
    chart.mark.setAttribute("y2", chart.h - BOTTOM);
  }
  moveMark(reel);
}

export function moveMark(reel) {
  for (const { mark, x } of reel.charts ?? []) mark.setAttribute("transform", `translate(${x(reel.now).toFixed(1)} 0)`);
}

// Writes the chosen head's values at this moment.
export function writeCharts(reel, moment) {
  const { charts, view, moments, kinds } = reel;
  if (!charts) return;
  const headWords = `layer ${view.layer}, head ${view.head}`;
  const [entropy, mass] = ["entropy", "mass"].map((name) => valueAt(reel, name, moment, view.layer, view.head));
  const values = [
    ["Losses", ""],
    ["Entropy of the heads", `${entropy.toFixed(1)} bits`],
    ["On the patch's own object", `${Math.round(100 * mass)} %`],
    ["Habits", kinds[moment][view.layer][view.head]],
  ];
  charts.forEach(({ title, value, owner }, i) => {
    setText(title, values[i][0]);
    setText(value, values[i][1]);
    setText(owner, i ? headWords : "each as a share of its first value");
  });
  writeLosses(reel, moments[moment]);
  writeLegend(reel, moment);
}

const valueAt = (reel, name, moment, layer, head) =>
  reel[name][(moment * reel.shape.layers + layer) * reel.shape.heads + head];

function makeFigure(reel) {
  const figure = make("figure");
  figure.innerHTML = `<figcaption><b></b> <span class="soft"></span><output></output></figcaption>
    <svg role="img"><g></g><line class="mark" x1="0" x2="0"/></svg><p class="legend"></p>`;
  const find = (name) => /** @type {any} */ (figure.querySelector(name));
  const svg = find("svg");
  const moveClock = (event) => {
    const chart = reel.charts.find((candidate) => candidate.svg === svg),
      box = svg.getBoundingClientRect();
    const place = ((event.clientX - box.left - LEFT) / (chart.w - LEFT - RIGHT)) * (reel.moments.length - 1);
    reel.goTo(Math.round(place));
  };
  svg.addEventListener("pointerdown", (event) => {
    const row = event.target.dataset?.row;
    if (row) reel.choose({ layer: Number(row.split(" ")[0]), head: Number(row.split(" ")[1]) });
    moveClock(event);
    if (event.pointerType === "mouse") svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => event.buttons === 1 && moveClock(event));
  const [title, owner, value] = ["b", "span", "output"].map(find);
  const [plot, mark, legend] = ["g", ".mark", ".legend"].map(find);
  return { figure, svg, title, owner, value, plot, mark, legend };
}

// The parts of a chart as SVG. `anchor`: the part of the text that lies at x.
const tickAt = (x, y, anchor, text) => `<text class="tick" x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`;
const lineAt = (name, x1, x2, y1, y2, title = "") =>
  `<line class="${name}" x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}">${title}</line>`;

// The axis of steps, with as many numbers as fit.
function timeAxis(reel, { x, h }) {
  const { moments } = reel;
  const tickStep = Math.max(1, Math.ceil(moments.length / 5));
  const tickOf = (step, i) => {
    const line = lineAt("grid", x(i), x(i), h - BOTTOM, h - BOTTOM + 3);
    if ((moments.length - 1 - i) % tickStep) return line;
    const [left, anchor] = i === moments.length - 1 ? [x(i) + 4, "end"] : [x(i), "middle"];
    return line + tickAt(left, h - 4, anchor, step.toLocaleString("en"));
  };
  return moments.map(tickOf).join("");
}

// Labelled lines at the steps of `begins`; events at one step share a line.
function beginLines({ begins, moments }, { x, h }) {
  const wordsByStep = new Map();
  for (const [step, words] of begins) wordsByStep.set(step, [...(wordsByStep.get(step) ?? []), words]);
  return [...wordsByStep]
    .filter(([step]) => step > 0 && step <= moments.at(-1))
    .map(([step, words]) => {
      const place = x(placeOf(step, moments));
      const title = `<title>from step ${step.toLocaleString("en")} on: ${words.join(", ")}</title>`;
      return lineAt("begins", place, place, TOP, h - BOTTOM, title);
    })
    .join("");
}

// Returns {y, rules}: y(value) is the value's height, `rules` the axis at the left.
function valueAxis({ w, h }, high, ticks, tickText) {
  const { at } = axis(0, high, h - BOTTOM, TOP);
  const y = (value) => at(Math.min(high, value));
  const tickOf = (tick) =>
    lineAt("grid", LEFT, w - RIGHT, y(tick), y(tick)) + tickAt(LEFT - 5, y(tick) + 4, "end", tickText(tick));
  return { y, rules: ticks.map(tickOf).join("") };
}

// The points of one loss: [step, share of its first value]. Zeros before the loss is first used are left out.
export function lossPoints(curve, column) {
  const firstRow = curve.findIndex((row) => row[column] > 0);
  return firstRow < 0 ? [] : curve.slice(firstRow).map((row) => [row[0], row[column] / curve[firstRow][column]]);
}

// A line for each loss. All start at 100 %, the loss of an untrained model.
function lossChart(reel, chart) {
  const { curve, losses, moments } = reel;
  const { y, rules } = valueAxis(chart, 1.25, [0, 0.5, 1], (share) => `${100 * share} %`);
  const lines = losses.map((_, i) => {
    const points = lossPoints(curve, 1 + i).map(([step, share]) => [chart.x(placeOf(step, moments)), y(share)]);
    return `<path class="loss" stroke="${LOSS_COLOURS[i % LOSS_COLOURS.length]}" d="${pathOf(points)}"/>`;
  });
  return rules + levelLine(chart, y(1)) + lines.join("");
}

const levelLine = ({ w }, height) => lineAt("even", LEFT, w - RIGHT, height, height);

// One line for every head. Lines of the chosen layer are darker, and the line of the chosen head is thick.
function headLines(reel, chart, name, y) {
  const { shape, view, moments } = reel;
  const lines = ["", "", ""]; // what is drawn later lies above
  for (let layer = 0; layer < shape.layers; layer++) {
    for (let head = 0; head < shape.heads; head++) {
      const d = pathOf(moments.map((_, i) => [chart.x(i), y(valueAt(reel, name, i, layer, head))]));
      const emphasis = layer === view.layer ? (head === view.head ? 2 : 1) : 0;
      lines[emphasis] += `<path class="${["other", "sister", "chosen"][emphasis]}" d="${d}"/>`;
    }
  }
  return lines.join("");
}

function entropyChart(reel, chart) {
  const mostBits = Math.log2(reel.shape.tokens);
  const ticks = [0, 2, 4, 6, 8].filter((bits) => bits < mostBits - 0.7);
  const { y, rules } = valueAxis(chart, mostBits * 1.02, ticks, String);
  const even = levelLine(chart, y(mostBits)) + tickAt(LEFT - 5, y(mostBits) + 5, "end", "even");
  return rules + even + headLines(reel, chart, "entropy", y);
}

function massChart(reel, chart) {
  const { y, rules } = valueAxis(chart, 1, [0, 0.5, 1], (share) => `${100 * share} %`);
  const level = y(reel.chance);
  const even = levelLine(chart, level) + tickAt(chart.w - RIGHT, level - 3, "end", "even");
  return rules + even + headLines(reel, chart, "mass", y);
}

// Draws a row for every head, the first layer on top, with a field for every moment in the colour of the head's habit.
function habitChart(reel, chart) {
  const { shape, view, kinds, habits } = reel;
  const { layers, heads } = shape;
  const gap = 3,
    rowHeight = (chart.h - BOTTOM - TOP - gap * (layers - 1)) / (layers * heads),
    fieldHeight = Math.max(1, rowHeight - (rowHeight > 4 ? 1 : 0.3));
  const rowTop = (layer, head) => TOP + layer * (heads * rowHeight + gap) + head * rowHeight;
  const bandWidth = chart.x(1) - chart.x(0);
  const fieldOf = (kind, i, layer, head) => {
    const left = Math.max(LEFT, chart.x(i) - bandWidth / 2);
    const width = Math.max(0, Math.min(chart.w - RIGHT, chart.x(i) + bandWidth / 2) - left) + 0.3;
    const colour = habits[habitIndex(habits, kind)]?.colour ?? "none";
    return `<rect x="${left}" y="${rowTop(layer, head)}" width="${width}" height="${fieldHeight}" fill="${colour}"
      data-row="${layer} ${head}"><title>layer ${layer}, head ${head}: ${kind}</title></rect>`;
  };
  const fields = kinds.flatMap((moment, i) =>
    moment.flatMap((row, layer) => row.map((kind, head) => fieldOf(kind, i, layer, head))),
  );
  const names = Array.from({ length: layers }, (_, layer) =>
    tickAt(LEFT - 5, rowTop(layer, heads / 2) + 4, "end", layer === 0 ? "layer 0" : layer),
  );
  const frame = `<rect class="frame" x="${LEFT - 1}" y="${rowTop(view.layer, view.head) - 1}"
    width="${chart.w - LEFT - RIGHT + 2}" height="${rowHeight + 1}"/>`;
  return [...fields, ...names, frame].join("");
}

// Writes the number of heads with each habit at this moment.
function writeLegend(reel, moment) {
  const chart = reel.charts[3];
  const { habits } = reel;
  const counts = habits.map(() => 0);
  for (const kind of reel.kinds[moment].flat()) counts[habitIndex(habits, kind)]++;
  fillLegend(
    chart,
    habits.flatMap(({ label, colour }, i) => (counts[i] ? [[colour, `${counts[i]} ${label}`]] : [])),
  );
}

// Writes the losses at this step.
function writeLosses(reel, step) {
  const { curve, losses } = reel;
  fillLegend(
    reel.charts[0],
    losses.flatMap((name, i) => {
      const share = lossPoints(curve, 1 + i).findLast(([rowStep]) => rowStep <= step);
      return share ? [[LOSS_COLOURS[i % LOSS_COLOURS.length], `${name} ${Math.round(100 * share[1])} %`]] : [];
    }),
  );
}

const fillLegend = ({ legend }, entries) =>
  legend.replaceChildren(
    ...entries.map(([colour, words]) => make("span", "", make("i", { style: `background: ${colour}` }), words)),
  );

// One frame of the time-lapse: the picture between two moments, the mark in the charts, the words. `reel` is the state
// of reel.js.

const SECONDS_PER_MOMENT = 0.8; // seconds from one moment to the next

export function onReelFrame(reel, time) {
  reel.frameRequest = 0;
  if (!reel.shape || !reel.width || !reel.moments.length) return;
  if (reel.target !== null) advance(reel, time);
  else reel.lastTime = undefined;
  paintReel(reel);
  reel.frameCount++;
  if (reel.target !== null) reel.schedule();
}

// Advances the clock at an even pace, or faster if the training run is many moments ahead of the clock.
function advance(reel, time) {
  const seconds = Math.min(100, time - (reel.lastTime ?? time)) / 1000;
  reel.lastTime = time;
  reel.now = Math.min(reel.target, reel.now + seconds / SECONDS_PER_MOMENT);
  if (reel.now >= reel.target) reel.goTo(reel.target);
}

// How far the picture has faded to the next moment, 0 to 1. Each moment first stands still for a while.
function blendOf(reel) {
  const lastIndex = reel.moments.length - 1;
  const index = Math.min(lastIndex, Math.floor(reel.now)),
    fraction = reel.now - index;
  const t = Math.min(1, Math.max(0, (fraction - 0.35) / 0.5));
  const share = reel.calm ? Math.round(fraction) : t * t * (3 - 2 * t);
  return { from: index, to: Math.min(lastIndex, index + 1), share };
}

function paintReel(reel) {
  const { refs, view, moments, shape } = reel;
  const { from, to, share } = blendOf(reel);
  const nearestMoment = share < 0.5 ? from : to;
  const token = tokenOf(view.patch, shape);
  refs.slider.value = String(reel.now);
  refs.slider.setAttribute("aria-valuetext", `step ${moments[nearestMoment]}`);
  setText(refs.step, `step ${moments[nearestMoment].toLocaleString("en")}`);
  setText(refs.playSign, reel.target === null ? "▶" : "❚❚");
  refs.play.setAttribute("aria-label", reel.target === null ? "Play" : "Pause");
  moveMark(reel);
  writeCharts(reel, nearestMoment);
  const isMissing = fillRows(reel, from, to, share, token);
  setVisible(refs.waiting, isMissing);
  reel.paintedToken = !isMissing && token;
  if (isMissing) return setText(refs.waiting, `Layer ${view.layer} is on its way.`);
  const start = view.head * shape.tokens + shape.prefixCount;
  const { rows, columns } = shape;
  if (!reel.photo || reel.photo.width !== refs.picture.width) preparePhotos(reel);
  printHeat(reel.print, reel.rows, start, rows, columns, reel.domain);
  const picture = { rows, columns, grid: false, mark: token - shape.prefixCount, tag: null };
  const { width, height } = refs.picture;
  drawPicture(refs.picture.getContext("2d"), width, height, reel.print.canvas, picture, reel.ratio);
  for (const [head, thumb] of reel.thumbs.entries()) {
    if (thumb.print?.photo !== reel.thumbPhoto) thumb.print = makePrint(reel.thumbPhoto, thumb.canvas);
    printHeat(thumb.print, reel.rows, head * shape.tokens + shape.prefixCount, rows, columns, reel.domain);
  }
  writeWords(reel, token);
}

function preparePhotos(reel) {
  const { picture } = reel.refs;
  reel.photo = makePhoto(reel.bitmap, picture.width, picture.height);
  reel.print = makePrint(reel.photo);
  const { clientWidth, clientHeight } = reel.thumbs[0].canvas;
  reel.thumbPhoto = makePhoto(reel.bitmap, (clientWidth || 1) * reel.ratio, (clientHeight || 1) * reel.ratio);
}

// Fills `reel.rows` with a mixture of the moments `from` and `to`. Returns true while one of the two packs is missing.
function fillRows(reel, from, to, share, token) {
  const { rows, nextRow, shape, view, moments } = reel;
  const pack = reel.packs.get(moments[from]),
    nextPack = reel.packs.get(moments[to]);
  if (!pack || !nextPack || !holds(pack, view.layer) || !holds(nextPack, view.layer)) return true;
  for (let head = 0; head < shape.heads; head++) {
    const start = head * shape.tokens;
    rowInto(rows, start, pack, view.layer, head, token, pack.scale);
    if (share === 0) continue;
    rowInto(nextRow, 0, nextPack, view.layer, head, token, nextPack.scale);
    for (let j = 0; j < shape.tokens; j++) rows[start + j] += share * (nextRow[j] - rows[start + j]);
  }
  return false;
}

function writeWords(reel, token) {
  const { refs, view, shape, rows } = reel;
  const start = view.head * shape.tokens;
  const effectiveCount = effectiveNumber(entropyBits(rows, start, shape.tokens));
  const peak = largestIndex(rows, start, start + shape.tokens);
  const countWords = `${effectiveCount.toFixed(effectiveCount < 10 ? 1 : 0)} of ${shape.tokens} tokens`;
  const largestWords = `the largest weight is ${percent(rows[peak])}`;
  setText(refs.says, `Patch ${queryOf(token, shape)} listens to about ${countWords}; ${largestWords}.`);
}

export function readReel(reel) {
  const { view, shape, moments, rows } = reel;
  if (!shape || !rows) return null;
  const start = view.head * shape.tokens;
  return {
    step: moments[view.moment],
    now: reel.now,
    moments: [...moments],
    layer: view.layer,
    head: view.head,
    patch: view.patch,
    row: Array.from(rows.subarray(start, start + shape.tokens)),
    playing: reel.target !== null,
    painted: reel.paintedToken !== false && !reel.frameRequest,
    frames: reel.frameCount,
    grid: [shape.rows, shape.columns],
    words: reel.refs.says.textContent,
  };
}
