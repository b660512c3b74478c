// The time-lapse of a training run: the attention of one patch at every moment of the run, and charts of the run. A
// clock sets the moment of all. Rows of attention are computed in the browser, from queries and keys.
// data: what `packed_layer` of playground/lessons/timelapse.py packs, and in a folder without a server `played`: the
// layers in the packs, as texts. Layers from earlier messages are kept.
import { sharedCeiling } from "../core/colours.js";
import { mergePack, openContainer, unpack } from "../core/core.js";
import { patchFrom, patchText } from "../core/grid.js";
import { tokenOf } from "../core/view.js";
import { drawColourBar } from "../drawing/charts.js";
import { collectRefs, decodeJpeg, fitCanvas, make } from "../drawing/dom.js";
import { barColours } from "../drawing/light.js";
import { lessonDrawing } from "../drawing/stage.js";
import { followPatches } from "./patch.js";
import { buildCharts, onReelFrame, readReel } from "./reelcharts.js";

// The controls of the time-lapse: the clock, the layers, the heads and the picture. `reel`: see createReelState.

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
    const momentChange = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!momentChange) return;
    event.preventDefault();
    reel.goTo(Math.round(reel.now) + momentChange);
  });
}

function bindPicture(reel) {
  const now = () => {
    const { rows, columns } = reel.shape;
    return { at: patchFrom(reel.view.patch, rows, columns), grid: [rows, columns] };
  };
  followPatches(reel.refs.picture, now, (patch) => reel.choose({ patch: patchText(patch, reel.shape.columns) }));
}

// Writes as many step numbers under the slider as fit.
function writeTicks(reel) {
  const { refs, moments } = reel;
  const labelStep = Math.ceil((moments.length * 52) / Math.max(200, reel.width - 220));
  const marks = moments.map((step, i) => {
    const text = (moments.length - 1 - i) % labelStep === 0 ? step.toLocaleString("en") : "";
    const style = `left: ${(100 * i) / Math.max(1, moments.length - 1)}%`;
    return make("button", { tabIndex: -1, style, onclick: () => reel.goTo(i) }, text);
  });
  refs.ticks.replaceChildren(...marks);
}

// Creates the heads' buttons, once for each shape, because a new button would lose the keyboard's focus.
function buildHeadButtons(reel) {
  const { refs, shape, view } = reel;
  const key = `${shape.layers} ${shape.heads} ${shape.rows} ${shape.columns}`;
  if (reel.buttonsKey !== key) {
    reel.buttonsKey = key;
    const layerButton = (layer) => make("button", { onclick: () => reel.choose({ layer }) }, layer);
    refs.layers.replaceChildren(
      make("span", "", "layer"),
      ...Array.from({ length: shape.layers }, (_, n) => layerButton(n)),
    );
    reel.thumbs = Array.from({ length: shape.heads }, (_, head) => {
      const [name, canvas] = [`head ${head}`, make("canvas")];
      const fields = { onclick: () => reel.choose({ head }), "aria-label": name };
      return { button: make("button", fields, canvas, make("span", "", name)), canvas, print: null };
    });
    refs.heads.replaceChildren(...reel.thumbs.map(({ button }) => button));
    reel.rows = new Float32Array(shape.heads * shape.tokens);
    reel.nextRow = new Float32Array(shape.tokens);
  }
  for (const [layer, button] of [...refs.layers.querySelectorAll("button")].entries()) {
    button.setAttribute("aria-pressed", String(layer === view.layer));
    button.disabled = !isPlayed(reel, layer);
  }
  reel.thumbs.forEach(({ button }, head) => button.setAttribute("aria-pressed", String(head === view.head)));
}

const RAMP = barColours();
const FIRST_PATCH = [0.6, 0.45]; // shares of height and width: the cat's forehead

const REEL_MARKUP = `
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
    <div class="foot"><canvas data-ref="colourBar"></canvas><p class="soft" data-ref="hint">point to look</p></div>
    <p class="says" data-ref="says"></p>
    <div class="layers" data-ref="layers" role="group" aria-label="Layer"></div>
    <div class="heads" data-ref="heads" role="group" aria-label="Head"></div>
  </div>
  <div class="charts" data-ref="charts"></div>
</div>
`;

export default lessonDrawing(createReel);

function createReel(stage) {
  const root = make("div", { className: "reel", innerHTML: REEL_MARKUP });
  stage.root.append(root);
  const reel = createReelState(root, stage);
  reel.schedule = () => {
    if (!reel.frameRequest && reel.alive) reel.frameRequest = requestAnimationFrame((time) => onReelFrame(reel, time));
  };
  reel.choose = (changes) => {
    if ("layer" in changes && !isPlayed(reel, changes.layer)) return;
    Object.assign(reel.view, changes);
    if ("layer" in changes || "head" in changes) {
      rebuild(reel);
    }
    tellView(reel, Object.keys(changes));
    reel.schedule();
  };
  reel.goTo = (moment) => {
    Object.assign(reel, { now: Math.min(reel.moments.length - 1, Math.max(0, moment)), target: null });
    reel.choose({ moment: Math.round(reel.now) });
  };
  bindClock(reel);
  bindPicture(reel);
  return {
    take: (data) => updateReel(reel, openReel(data)),
    paint() {
      reel.width = root.clientWidth;
      rebuild(reel);
    },
    read: () => readReel(reel),
    end() {
      reel.alive = false;
      cancelAnimationFrame(reel.frameRequest);
      root.remove();
    },
  };
}

const isPlayed = ({ played }, layer) => !played || played.includes(String(layer));

// Reports these settings; the moment is reported as its step, as in the address.
function tellView({ stage, settings, view, moments }, names) {
  const texts = { ...view, moment: String(moments[view.moment]) };
  for (const name of names.filter((setting) => settings.includes(setting))) stage.tell(name, texts[name]);
}

const rowsOf = (values, columns) =>
  Array.from({ length: values.length / columns }, (_, i) => values.subarray(i * columns, (i + 1) * columns));

function openReel(data) {
  const { header, section } = openContainer(data);
  return {
    ...header,
    packs: header.moments.map((step, n) => ({ step, bytes: section(`pack${n}`) })),
    curve: rowsOf(section("curve"), 1 + header.losses.length),
    entropy: section("entropy"),
    mass: section("mass"),
    image: section("image"),
  };
}

function createReelState(root, stage) {
  return {
    root,
    stage,
    refs: collectRefs(root),
    alive: true,
    moments: [],
    settings: [], //      the settings that the page knows
    played: null, //      the layers in the packs of a folder, as texts
    packs: new Map(), //  step → pack
    shape: null, //       the sizes that all packs share
    bitmap: null,
    view: { moment: 0, layer: 0, head: 0, patch: null },
    now: 0, //            the position on the clock, in moments; not a whole number while the clock plays
    target: null, //      the moment at which playing ends; null: the clock does not play
    width: 0,
    photo: null,
    thumbs: [], //        {button, canvas, print} of every head
    charts: null, //      see reelcharts.js
    calm: matchMedia("(prefers-reduced-motion: reduce)").matches,
    frameRequest: 0,
    frameCount: 0,
    paintedToken: false, // the asking token of the last frame; false: a layer was missing
  };
}

function updateReel(reel, data) {
  const { packs, image, patch, layer, head, moment, ...run } = data;
  Object.assign(reel, run);
  const asked = { patch, layer, head, moment };
  reel.settings = Object.keys(asked).filter((name) => asked[name] !== undefined);
  for (const { step, bytes } of packs) {
    const pack = unpack(bytes);
    const formerPack = reel.packs.get(step);
    reel.packs.set(step, formerPack ? mergePack(formerPack, pack) : pack);
  }
  if (!reel.bitmap)
    decodeJpeg(image).then((bitmap) => {
      Object.assign(reel, { bitmap, photo: null });
      reel.schedule();
    });
  reel.shape = reel.packs.values().next().value;
  for (const name of reel.settings) if (name !== "moment") reel.view[name] = asked[name];
  if (reel.target === null) {
    const index = reel.moments.indexOf(Number(moment || Number.NaN));
    reel.now = index < 0 ? reel.moments.length - 1 : index;
  }
  reel.now = Math.min(reel.now, reel.moments.length - 1);
  reel.view.moment = Math.round(reel.now);
  fitView(reel);
  rebuild(reel);
}

function fitView(reel) {
  const { view, shape } = reel;
  if (!shape) return;
  view.layer = Math.min(shape.layers - 1, Math.max(0, view.layer));
  view.head = Math.min(shape.heads - 1, Math.max(0, view.head));
  if (tokenOf(view.patch, shape) < 0)
    view.patch = FIRST_PATCH.map((share, axis) => Math.floor(share * [shape.rows, shape.columns][axis])).join(",");
}

// Draws everything except the picture and the clock again, after a change of size, theme, data, layer or head.
function rebuild(reel) {
  if (!reel.shape || !reel.width || !reel.alive) return;
  const { refs, root, shape, moments } = reel;
  const style = getComputedStyle(root);
  reel.colours = { soft: getComputedStyle(refs.hint).color, font: style.fontFamily };
  reel.ratio = Math.min(3, window.devicePixelRatio || 1);
  reel.photo = null;
  root.style.setProperty("--aspect", String(shape.columns / shape.rows));
  root.dataset.size = reel.width >= 1000 ? "wide" : reel.width >= 700 ? "middle" : "narrow";
  Object.assign(refs.slider, { max: String(Math.max(1, moments.length - 1)) });
  writeTicks(reel);
  buildHeadButtons(reel);
  for (const canvas of [refs.picture, refs.colourBar])
    fitCanvas(canvas, canvas.clientWidth, canvas.clientHeight, reel.ratio);
  reel.domain = { low: 0, high: sharedCeiling(shape.tokens), unit: "percent", open: true };
  drawColourBar(refs.colourBar, RAMP, reel.domain, reel.ratio, reel.colours);
  if (moments.length) buildCharts(reel);
  reel.schedule();
}
