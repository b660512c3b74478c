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
import { tokenOf } from "../core/view.js";
import { decodeJpeg, fitCanvas } from "../drawing/canvas.js";
import { drawColourBar } from "../drawing/charts.js";
import { collectRefs } from "../drawing/dom.js";
import { barColours } from "../drawing/light.js";
import { buildCharts } from "./reelcharts.js";
import { onReelFrame, readReel } from "./reelframe.js";
import { bindClock, bindPicture, buildHeadButtons, writeTicks } from "./reelhands.js";

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
