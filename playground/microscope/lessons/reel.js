// The time-lapse of a training run: the attention of one patch at every moment of the run, and charts of the run, all
// on one clock. Rows are computed from queries and keys, as in the microscope: any patch, at any moment, without asking
// the server.
//
//   const reel = createReel(parent, {onView: (view) => {}, ask: (request) => {}});
//   reel.update({run, moments, planned, losses, curve, chance, aim, told, habits, kinds, entropy, mass, packs,
//                image, view, growing});
//     run       a name; another one starts afresh       moments   the steps of M moments
//     planned   how many there will be                  curve     (points, 1 + losses): the step, then each loss
//     habits    [{label, colour}] of the legend
//     kinds     [M][layers][heads] names of habits      entropy, mass  (M, layers, heads)
//     packs     [{step, bytes}], of some layers; those of a step are merged
//     begins    [[step, words]] where something begins in the run: lines in the charts
//     chance    what an even row has in `mass`; 0: not known
//     aim       what the chart of `mass` is called; "" for the patch's own object
//     told      [[layer, head, words]] of the heads that were told where to look
//     growing   true while the run goes on: a new moment is then played as it comes
// `ask` is called with {run, layer} for a layer that has not been sent.
import { sharedCeiling } from "../core/colours.js";
import { mergePack, unpack } from "../core/core.js";
import { patchAfterKey, patchAt, patchFrom, patchText } from "../core/grid.js";
import { tokenOf } from "../core/view.js";
import { drawColourBar } from "../drawing/charts.js";
import { collectRefs, decodeJpeg, fitCanvas } from "../drawing/dom.js";
import { barColours } from "../drawing/light.js";
import { buildCharts, onReelFrame, placeOf, readReel } from "./reelcharts.js";

// What a person can take hold of in the time-lapse: the clock, the layers, the heads and the picture. `reel` is the
// state of reel.js.

export function bindClock(reel) {
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

export function bindPicture(reel) {
  const { picture } = reel.refs;
  const under = (event) => {
    const box = picture.getBoundingClientRect(),
      { rows, columns } = reel.shape;
    const x = (event.clientX - box.left) / box.width,
      y = (event.clientY - box.top) / box.height;
    return patchText(patchAt(x, y, rows, columns), columns);
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
    if (!reel.shape) return;
    const { rows, columns } = reel.shape;
    const next = patchAfterKey(event.key, patchFrom(reel.view.patch, rows, columns), rows, columns);
    if (next < 0) return;
    event.preventDefault();
    reel.choose({ patch: patchText(next, columns) });
  });
}

// The steps under the slider, as many as have room.
export function writeTicks(reel) {
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
  refs.ticks.replaceChildren(...marks, ...beginMarks(reel));
}

// Where something begins in the run: see beginLines in reelcharts.js.
function beginMarks({ begins, moments, planned }) {
  return begins
    .filter(([step]) => step > 0 && step <= moments[moments.length - 1])
    .map(([step, words]) => {
      const mark = document.createElement("i");
      mark.title = `from step ${step.toLocaleString("en")} on: ${words}`;
      mark.style.left = `${(100 * placeOf(step, moments, planned)) / Math.max(1, planned - 1)}%`;
      return mark;
    });
}

// Made once per shape, because a button that is made again loses the keyboard's focus.
export function buildHeadButtons(reel) {
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
      return { button, canvas, print: null };
    });
    refs.heads.replaceChildren(...reel.thumbs.map(({ button }) => button));
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

const FIRST_PATCH = [0.6, 0.45]; // how far down and right: the cat's forehead

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
    <div class="picture"><canvas data-ref="picture" tabindex="0"
        aria-label="Attention of the chosen patch. Arrow keys move it."></canvas><p class="waiting" data-ref="waiting"
        hidden></p></div>
    <div class="foot"><canvas data-ref="colourBar"></canvas><p class="soft"
        data-ref="hint">point to look, click to keep</p></div>
    <p class="says" data-ref="says"></p>
    <p class="told" data-ref="told" hidden></p>
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
  const reel = createReelState(root, host);
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
  root.__reel = face; // for tests and the console
  return face;
}

function createReelState(root, host) {
  return Object.seal({
    root,
    host,
    refs: collectRefs(root),
    alive: true,
    // what came in, see the top of this file
    run: null,
    moments: [],
    planned: 0,
    losses: [],
    begins: [],
    curve: null,
    chance: 0,
    aim: "",
    told: [],
    habits: [],
    kinds: null,
    entropy: null,
    mass: null,
    growing: false,
    packs: new Map(), //  step → pack
    shape: null, //       any of them, for what they all have in common
    bitmap: null,
    // what is chosen
    view: { moment: 0, layer: 0, head: 0, patch: null },
    hover: null, //       the patch under the cursor, which goes before
    now: 0, //            the place on the clock, in moments; between two while it plays
    target: null, //      where it plays to; null: it stands still
    before: undefined, // when the last frame was, while it plays
    // what is drawn from
    ramp: barColours(),
    domain: null,
    colours: null,
    width: 0,
    ratio: 1,
    photo: null,
    print: null,
    thumbPhoto: null,
    heat: null,
    rows: null, //        (heads × tokens,) the weights of the patch that asks
    ahead: null, //       (tokens,) those of the next moment
    thumbs: [], //        {button, heat} of every head
    buttonsKey: "", //    the shape that the buttons were made for
    charts: null, //      see reelcharts.js
    calm: matchMedia("(prefers-reduced-motion: reduce)").matches,
    // frames, and what waits
    frame: 0,
    frames: 0,
    painted: false, //    the token of the last frame; false: a layer was missing
    asked: "", //         the last question
    telling: 0,
    schedule: null, //    asks for a frame
    choose: null, //      changes the view
    goTo: null, //        puts the clock to a moment
  });
}

// ------------------------------------------------------------------------------------------------- what the host gives

function updateReel(reel, next) {
  const fresh = next.run !== reel.run;
  if (fresh) Object.assign(reel, { packs: new Map(), bitmap: null, asked: "", hover: null, target: null });
  const wasAtEnd = !fresh && (reel.target ?? Math.round(reel.now)) >= reel.moments.length - 1;
  const { run, moments, planned, losses, curve, habits, kinds, entropy, mass, growing, packs, image, view } = next;
  const { begins = [], chance = 0, aim = "", told = [] } = next;
  Object.assign(reel, { begins, chance, aim, told });
  Object.assign(reel, {
    run,
    moments,
    planned,
    losses,
    curve,
    habits,
    kinds,
    entropy,
    mass,
    growing: Boolean(growing),
  });
  for (const { step, bytes } of packs) {
    const pack = unpack(bytes);
    const known = reel.packs.get(step);
    reel.packs.set(step, known ? mergePack(known, pack) : pack);
  }
  if (image) takeImage(reel, image);
  const any = reel.packs.values().next().value;
  if (any) reel.shape = any;
  if (view) reel.view = { ...reel.view, ...view };
  if (view && "moment" in view) {
    reel.now = Math.max(0, reel.moments.indexOf(view.moment));
    reel.view.moment = reel.now;
  } else if (wasAtEnd && reel.growing) reel.target = reel.moments.length - 1; // from the newest moment on to the next
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
  decodeJpeg(image).then((bitmap) => {
    Object.assign(reel, { bitmap, photo: null });
    reel.schedule();
  });
}

const viewNow = ({ view, moments }) => ({ ...view, moment: moments[view.moment] });

// After a change of size, theme, data, layer or head: everything but the picture and the clock.
function rebuild(reel) {
  if (!reel.shape || !reel.width || !reel.alive) return;
  const { refs, root, shape, moments } = reel;
  const style = getComputedStyle(root);
  reel.colours = { soft: getComputedStyle(refs.hint).color, font: style.fontFamily };
  reel.ratio = Math.min(3, window.devicePixelRatio || 1);
  reel.photo = null;
  root.style.setProperty("--aspect", String(shape.columns / shape.rows));
  root.dataset.size = reel.width >= 1000 ? "wide" : reel.width >= 700 ? "middle" : "narrow";
  Object.assign(refs.slider, { max: String(Math.max(1, reel.planned - 1)) });
  writeTicks(reel);
  buildHeadButtons(reel);
  for (const canvas of [refs.picture, refs.colourBar])
    fitCanvas(canvas, canvas.clientWidth, canvas.clientHeight, reel.ratio);
  reel.domain = { low: 0, high: sharedCeiling(shape.tokens), log: false, unit: "percent", open: true };
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
