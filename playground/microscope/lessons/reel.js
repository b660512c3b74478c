// The time-lapse of a training run: the attention of one patch at every moment of the run, and the run's charts beside it,
// all on one clock. What it shows it works out from queries and keys, as the microscope does, so that the cursor chooses the
// patch at any moment and playing asks nobody.
//
//   const reel = createReel(parent, {onView: (view) => {}, ask: (request) => {}});
//   reel.update({run, moments, planned, losses, curve, kinds, entropy, mass, packs, image, view, growing});
//     run       a name; another one starts afresh       moments   the steps of M moments
//     planned   how many there will be                  curve     (points, 1 + losses): the step, then each loss
//     kinds     [M][layers][heads] names of habits      entropy, mass  (M, layers, heads)
//     packs     [{step, bytes}], of some layers; those of a step are merged
//     growing   true while the run goes on: a new moment is then played as it comes
// `ask` is called with {run, layer} for a layer that has not been sent.

import { cssColours, heatPixels, niceNumber } from "../core/colours.js";
import { effectiveNumber, entropyBits, holds, largestIndex, mergePack, rowInto, unpack } from "../core/core.js";
import { queryOf, tokenOf } from "../core/view.js";
import { drawColourBar, percent, UNDER } from "../drawing/charts.js";
import { collectRefs, say, show } from "../drawing/dom.js";
import { drawPicture, fillHeat, fitCanvas, makeBackdrops, makeHeat } from "../drawing/draw.js";
import { buildCharts, moveMark, writeCharts } from "./reelcharts.js";

const SECONDS = 0.8; // from one moment to the next
const FIRST_PATCH = [0.6, 0.45]; // how far down and right, where nobody has chosen one: the cat's forehead

const REEL = `
<div class="clock">
  <button class="play" data-ref="play" aria-label="Play"><span data-ref="playSign">▶</span></button>
  <div class="time">
    <input type="range" min="0" step="any" data-ref="slider" aria-label="Moment of the training">
    <div class="ticks" data-ref="ticks"></div>
  </div>
  <output data-ref="step"></output>
</div>
<div class="body">
  <div class="seen">
    <div class="picture"><canvas data-ref="picture" tabindex="0" aria-label="Attention of the chosen patch. Arrow keys move it."></canvas><p class="waiting" data-ref="waiting" hidden></p></div>
    <div class="foot"><canvas data-ref="colourBar"></canvas><p class="soft" data-ref="hint">hover asks, click keeps</p></div>
    <p class="says" data-ref="says"></p>
    <div class="layers" data-ref="layers" role="group" aria-label="Layer"></div>
    <div class="heads" data-ref="heads" role="group" aria-label="Head"></div>
  </div>
  <div class="charts" data-ref="charts"></div>
</div>
<div class="live" aria-live="polite" data-ref="live"></div>
`;

export function createReel(parent, host) {
  const root = document.createElement("div");
  root.className = "reel";
  root.innerHTML = REEL;
  parent.append(root);
  const reel = {
    root,
    host,
    refs: collectRefs(root),
    run: null,
    moments: [],
    packs: new Map(),
    bitmap: null,
    hover: null,
    thumbs: [],
    now: 0,
    target: null,
    view: { moment: 0, layer: 0, head: 0, patch: null },
    palette: heatPixels(0.85),
    solid: heatPixels(1),
    calm: matchMedia("(prefers-reduced-motion: reduce)").matches,
    asked: "",
    frames: 0,
    alive: true,
  };
  reel.ramp = cssColours(reel.palette, UNDER);
  reel.schedule = () => {
    if (!reel.frame && reel.alive) reel.frame = requestAnimationFrame((time) => onReelFrame(reel, time));
  };
  reel.choose = (change) => {
    Object.assign(reel.view, change);
    if ("layer" in change || "head" in change) rebuild(reel);
    clearTimeout(reel.telling);
    reel.telling = setTimeout(() => reel.host.onView?.(viewNow(reel)), 300);
    reel.schedule();
  };
  reel.goTo = (now) => {
    Object.assign(reel, { now: Math.min(reel.moments.length - 1, Math.max(0, now)), target: null });
    reel.choose({ moment: Math.round(reel.now) });
  };
  bindClock(reel);
  bindPicture(reel);
  const observer = new ResizeObserver(() => {
    if (root.clientWidth === reel.width) return;
    reel.width = root.clientWidth;
    rebuild(reel);
  });
  observer.observe(root);
  const face = {
    update: (next) => updateReel(reel, next),
    setHost: (next) => (reel.host = next),
    refresh: () => rebuild(reel),
    read: () => readReel(reel),
    destroy: () => {
      reel.alive = false;
      cancelAnimationFrame(reel.frame);
      clearTimeout(reel.telling);
      observer.disconnect();
      root.remove();
    },
  };
  root.__reel = face; // for tests and for those who look around in the console
  return face;
}

// -------------------------------------------------------------------------------------------------- what the host gives

function updateReel(reel, next) {
  const fresh = next.run !== reel.run;
  if (fresh) Object.assign(reel, { packs: new Map(), bitmap: null, asked: "", hover: null, target: null });
  const wasAtEnd = !fresh && (reel.target ?? Math.round(reel.now)) >= reel.moments.length - 1;
  const { packs, image, view, ...facts } = next;
  Object.assign(reel, facts);
  for (const { step, bytes } of packs) {
    const pack = unpack(bytes);
    const known = reel.packs.get(step);
    reel.packs.set(step, known ? mergePack(known, pack) : pack);
  }
  if (image) takeImage(reel, image);
  const any = reel.packs.values().next().value;
  if (any) reel.shape = any;
  if (view) {
    reel.view = { ...reel.view, ...view };
    reel.now = Math.max(0, reel.moments.indexOf(view.moment));
    reel.view.moment = reel.now;
  } else if (wasAtEnd && reel.growing) reel.target = reel.moments.length - 1; // who looks at the newest goes on to the next
  fitView(reel);
  rebuild(reel);
}

function fitView(reel) {
  const { view, shape } = reel;
  if (!shape) return;
  view.layer = Math.min(shape.layers - 1, Math.max(0, view.layer));
  view.head = Math.min(shape.heads - 1, Math.max(0, view.head));
  if (tokenOf(view.patch, shape) < 0)
    view.patch = FIRST_PATCH.map((part, axis) => Math.floor(part * [shape.rows, shape.columns][axis])).join(",");
}

function takeImage(reel, image) {
  createImageBitmap(new Blob([image], { type: "image/jpeg" })).then((bitmap) => {
    Object.assign(reel, { bitmap, backdrops: null });
    reel.schedule();
  });
}

const viewNow = ({ view, moments }) => ({ ...view, moment: moments[view.moment] });

// After whatever changes the size, the theme, the data or the head: everything but the clock's hand.
function rebuild(reel) {
  if (!reel.shape || !reel.width || !reel.alive) return;
  const { refs, root, shape, moments } = reel;
  const style = getComputedStyle(root);
  reel.colours = { soft: getComputedStyle(refs.hint).color, font: style.fontFamily };
  reel.ratio = Math.min(3, window.devicePixelRatio || 1);
  reel.backdrops = null;
  root.style.setProperty("--aspect", String(shape.columns / shape.rows));
  root.dataset.size = reel.width >= 1000 ? "wide" : reel.width >= 700 ? "middle" : "narrow";
  Object.assign(refs.slider, { max: String(Math.max(1, reel.planned - 1)) });
  writeTicks(reel);
  buildHeadButtons(reel);
  for (const canvas of [refs.picture, refs.colourBar])
    fitCanvas(canvas, canvas.clientWidth, canvas.clientHeight, reel.ratio);
  // Ten times an even row's weight, at all moments: the fog is to be seen, and so is what rises out of it.
  reel.domain = { low: 0, high: Math.min(1, niceNumber(10 / shape.tokens)), log: false, unit: "percent", open: true };
  drawColourBar(
    refs.colourBar.getContext("2d"),
    refs.colourBar.width,
    refs.colourBar.height,
    reel.ramp,
    reel.domain,
    reel.ratio,
    reel.colours,
  );
  if (moments.length) buildCharts(reel);
  reel.schedule();
}

// Under the slider the steps, as many as have room.
function writeTicks(reel) {
  const { refs, moments, planned } = reel;
  const every = Math.ceil((planned * 52) / Math.max(200, reel.width - 220));
  const marks = moments.map((step, i) => {
    const mark = document.createElement("button");
    Object.assign(mark, {
      textContent: (moments.length - 1 - i) % every === 0 ? step.toLocaleString("en") : "",
      tabIndex: -1,
    });
    mark.style.left = `${(100 * i) / Math.max(1, planned - 1)}%`;
    mark.addEventListener("click", () => reel.goTo(i));
    return mark;
  });
  refs.ticks.replaceChildren(...marks);
}

// Made once per shape: buttons that are made anew lose the keyboard's focus.
function buildHeadButtons(reel) {
  const { refs, shape, view } = reel;
  const key = `${shape.layers} ${shape.heads} ${shape.rows} ${shape.columns}`;
  if (reel.buttonsKey !== key) {
    reel.buttonsKey = key;
    const words = document.createElement("span");
    words.textContent = "layer";
    refs.layers.replaceChildren(
      words,
      ...Array.from({ length: shape.layers }, (_, layer) => choiceButton(String(layer), () => reel.choose({ layer }))),
    );
    reel.thumbs = Array.from({ length: shape.heads }, (_, head) => {
      const button = choiceButton("", () => reel.choose({ head }));
      const canvas = document.createElement("canvas"),
        label = document.createElement("span");
      button.setAttribute("aria-label", `head ${head}`);
      label.textContent = `head ${head}`;
      button.append(canvas, label);
      return { button, heat: makeHeat(shape.rows, shape.columns, canvas) };
    });
    refs.heads.replaceChildren(...reel.thumbs.map(({ button }) => button));
    reel.heat = makeHeat(shape.rows, shape.columns);
    reel.rows = new Float32Array(shape.heads * shape.tokens);
    reel.ahead = new Float32Array(shape.tokens);
  }
  [...refs.layers.querySelectorAll("button")].forEach((button, layer) =>
    button.setAttribute("aria-pressed", String(layer === view.layer)),
  );
  reel.thumbs.forEach(({ button }, head) => button.setAttribute("aria-pressed", String(head === view.head)));
}

function choiceButton(text, act) {
  const button = document.createElement("button");
  button.textContent = text;
  button.addEventListener("click", act);
  return button;
}

// ------------------------------------------------------------------------------------------------------------ hands

function bindClock(reel) {
  const { refs } = reel;
  refs.play.addEventListener("click", () => {
    if (reel.target !== null) return reel.goTo(Math.round(reel.now));
    if (reel.now >= reel.moments.length - 1) reel.now = 0;
    reel.target = reel.moments.length - 1;
    reel.schedule();
  });
  refs.slider.addEventListener("input", () => {
    Object.assign(reel, { now: Math.min(reel.moments.length - 1, Number(refs.slider.value)), target: null });
    reel.schedule();
  });
  refs.slider.addEventListener("change", () => reel.goTo(Math.round(reel.now)));
  refs.slider.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!way) return;
    event.preventDefault();
    reel.goTo(Math.round(reel.now) + way);
  });
}

function bindPicture(reel) {
  const { picture } = reel.refs;
  const under = (event) => {
    const box = picture.getBoundingClientRect(),
      { rows, columns } = reel.shape;
    const row = Math.floor(((event.clientY - box.top) / box.height) * rows),
      column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    return `${Math.min(rows - 1, Math.max(0, row))},${Math.min(columns - 1, Math.max(0, column))}`;
  };
  const hover = (patch) => {
    if (reel.hover === patch) return;
    reel.hover = patch;
    reel.schedule();
  };
  picture.addEventListener("pointermove", (event) => reel.shape && hover(under(event)));
  picture.addEventListener("pointerleave", () => hover(null));
  picture.addEventListener("click", (event) => reel.shape && reel.choose({ patch: under(event) }));
  picture.addEventListener("keydown", (event) => {
    const way = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!way || !reel.shape) return;
    event.preventDefault();
    const [row, column] = reel.view.patch.split(",").map(Number),
      { rows, columns } = reel.shape;
    reel.choose({
      patch: `${Math.min(rows - 1, Math.max(0, row + way[0]))},${Math.min(columns - 1, Math.max(0, column + way[1]))}`,
    });
  });
}

// ------------------------------------------------------------------------------------------------------------ a frame

function onReelFrame(reel, time) {
  reel.frame = 0;
  if (!reel.shape || !reel.width || !reel.moments.length) return;
  if (reel.target !== null) run(reel, time);
  else reel.before = undefined;
  paintReel(reel);
  reel.frames++;
  if (reel.target !== null) reel.schedule();
}

// Even pace; who follows a run that gets ahead hurries after it.
function run(reel, time) {
  const passed = Math.min(100, time - (reel.before ?? time)) / 1000;
  reel.before = time;
  const pace = Math.max(1, reel.growing ? reel.target - reel.now : 1) / SECONDS;
  reel.now = Math.min(reel.target, reel.now + passed * pace);
  if (reel.now >= reel.target) reel.goTo(reel.target);
}

// Each moment stands still for a while before the next one shines through it.
function blendOf(reel) {
  const last = reel.moments.length - 1;
  const from = Math.min(last, Math.floor(reel.now)),
    rest = reel.now - from;
  const t = Math.min(1, Math.max(0, (rest - 0.35) / 0.5));
  const share = reel.calm ? Math.round(rest) : t * t * (3 - 2 * t);
  return { from, to: Math.min(last, from + 1), share };
}

function paintReel(reel) {
  const { refs, view, moments, shape } = reel;
  const { from, to, share } = blendOf(reel);
  const nearest = share < 0.5 ? from : to;
  const token = tokenOf(reel.hover ?? view.patch, shape);
  refs.slider.value = String(reel.now);
  refs.slider.setAttribute("aria-valuetext", `step ${moments[nearest]}`);
  say(refs.step, `step ${moments[nearest].toLocaleString("en")}`);
  say(refs.playSign, reel.target === null || reel.growing ? "▶" : "❚❚");
  refs.play.setAttribute("aria-label", reel.target === null ? "Play" : "Pause");
  moveMark(reel);
  writeCharts(reel, nearest);
  const missing = fillRows(reel, from, to, share, token);
  show(refs.waiting, missing);
  reel.painted = !missing && token;
  if (missing) return askForLayer(reel);
  const at = view.head * shape.tokens + shape.prefixCount;
  fillHeat(reel.heat, reel.rows, at, reel.palette, reel.domain);
  if (!reel.backdrops || reel.backdrops.width !== refs.picture.width)
    reel.backdrops = makeBackdrops(reel.bitmap, refs.picture.width, refs.picture.height);
  const picture = {
    rows: shape.rows,
    columns: shape.columns,
    smooth: false,
    grid: false,
    mark: token - shape.prefixCount,
    tag: null,
  };
  drawPicture(
    refs.picture.getContext("2d"),
    refs.picture.width,
    refs.picture.height,
    reel.backdrops,
    reel.heat,
    picture,
    reel.ratio,
  );
  for (const [head, { heat }] of reel.thumbs.entries())
    fillHeat(heat, reel.rows, head * shape.tokens + shape.prefixCount, reel.solid, reel.domain);
  writeWords(reel, token);
}

// The rows of every head of the layer, between two moments; true while one of the two has not come.
function fillRows(reel, from, to, share, token) {
  const { rows, ahead, shape, view, moments } = reel;
  const now = reel.packs.get(moments[from]),
    then = reel.packs.get(moments[to]);
  if (!now || !then || !holds(now, view.layer) || !holds(then, view.layer)) return true;
  for (let head = 0; head < shape.heads; head++) {
    const at = head * shape.tokens;
    rowInto(rows, at, now, view.layer, head, token, now.scale);
    if (share === 0) continue;
    rowInto(ahead, 0, then, view.layer, head, token, then.scale);
    for (let j = 0; j < shape.tokens; j++) rows[at + j] += share * (ahead[j] - rows[at + j]);
  }
  return false;
}

function askForLayer(reel) {
  const text = `${reel.run} ${reel.view.layer} ${reel.moments.length}`;
  say(reel.refs.waiting, `Layer ${reel.view.layer} is on its way.`);
  if (reel.asked === text) return;
  reel.asked = text;
  reel.host.ask?.({ run: reel.run, layer: reel.view.layer });
}

function writeWords(reel, token) {
  const { refs, view, shape, rows } = reel;
  const at = view.head * shape.tokens;
  const number = effectiveNumber(entropyBits(rows, at, shape.tokens));
  const peak = largestIndex(rows, at, at + shape.tokens);
  say(
    refs.says,
    `Patch ${queryOf(token, shape)} listens to about ${number.toFixed(number < 10 ? 1 : 0)} of ${shape.tokens} tokens; the largest weight is ${percent(rows[peak])}.`,
  );
}

function readReel(reel) {
  const { view, shape, moments, rows } = reel;
  if (!shape || !rows) return null;
  const at = view.head * shape.tokens;
  return {
    run: reel.run,
    step: moments[view.moment],
    now: reel.now,
    moments: [...moments],
    layer: view.layer,
    head: view.head,
    patch: reel.hover ?? view.patch,
    row: Array.from(rows.subarray(at, at + shape.tokens)),
    playing: reel.target !== null,
    painted: reel.painted !== false && !reel.frame,
    frames: reel.frames,
    grid: [shape.rows, shape.columns],
    growing: Boolean(reel.growing),
    words: reel.refs.says.textContent,
  };
}
