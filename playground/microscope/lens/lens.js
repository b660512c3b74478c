// The instrument: built inside a parent element from packs, images and a view, it answers everything it can by itself and
// asks its host for the rest. It knows neither Streamlit nor files.
//
//   const lens = createLens(parent, {
//     packs:   [{bytes, title, image, id}],       // first: the main one; second: to compare with; one whose header has a
//                                                 // forward_scale: the whole pass with another scale. `bytes` may be left
//                                                 // out for an id that was given before; more layers of an id are merged.
//     images:  [{bytes, mime, title, id, start} | {bitmap, title}],  // start: [y, x] of the patch asked first, from 0 to 1
//     view:    {…},                               // see view.js for keys and defaults
//     ui:      {height: 600 | "window" | -120 (the window less 120 pixels), uploaded: false, asks: ["similarity", "rollout", "whole", "layers", "compare"]},
//     onView:  (view) => {},                      // 300 ms after the last lock or choice, never on hovers
//     ask:     (request) => {},                   // {what: "similarity" | "rollout", layer, query, scale: of the whole pass}
//                                                 // {what: "whole", scale} | {what: "layers", layers, pack}
//                                                 // {what: "packs", ids} | {what: "compare"}
//     link:    (view) => "https://…",             // may give a promise; default: this page's address with the view behind #;
//                                                 // null: this page has no address to give
//   });
// An update leaves alone what it does not name; a view that it names starts from the defaults, not from the former view.
//   lens.view; lens.update({packs, images, view, ui}); lens.setOverlay({what, query, layer, values, title});
//   lens.read(); lens.timings(); lens.refresh(); lens.destroy();

import { createAnswers } from "../core/answers.js";
import { heatPixels } from "../core/colours.js";
import { effectiveNumber, holds, mergePack, unpack } from "../core/core.js";
import {
  DEFAULT_VIEW,
  queryOf,
  sameLayer,
  sameToken,
  scaleOf,
  scaleToDial,
  tidyView,
  tokenOf,
  viewToQuery,
} from "../core/view.js";
import { bindButtons, bindKeys, bindPointer, buildHeads, pictureCanvas, showChoices, tokenUnder } from "./controls.js";
import { layOut, readTheme } from "./layout.js";
import { collectRefs, MARKUP, say } from "./markup.js";
import { cellReader, paintFrame, workOnColumns } from "./paint.js";
import { describe } from "./readouts.js";
import { isMap, overlayNow, passScale, resolve } from "./shown.js";

const KEPT_BYTES = 150e6; // of packs as they came; decoded they take twice as much
const KEPT_IMAGES = 12;

export function createLens(parent, options = {}) {
  const root = document.createElement("div");
  root.className = "lens";
  root.innerHTML = MARKUP;
  parent.append(root);
  const lens = {
    root,
    refs: collectRefs(root),
    view: { ...DEFAULT_VIEW },
    ui: { height: 600, uploaded: false, asks: null },
    packs: new Map(),
    main: null,
    other: null,
    whole: null,
    images: [],
    kept: new Map(),
    overlay: null,
    hover: -1,
    pointer: { target: null, x: 0, y: 0, fresh: false },
    shown: {},
    thumbs: [],
    shares: [],
    picture: {},
    twin: {},
    tag: {},
    nineDomain: { low: 0, high: 0.25, log: false },
    columnsDone: 0,
    touch: matchMedia("(hover: none)").matches,
    thumbPalette: heatPixels(0.97),
    solidPalette: heatPixels(1),
    barKey: "",
    presenting: false,
    asked: new Map(),
    samples: new Float64Array(600),
    sampled: 0,
    frame: 0,
    alive: true,
    host: options,
  };
  lens.cellAt = cellReader(lens);

  lens.asks = (what) =>
    Boolean(lens.host.ask) && (lens.ui.asks ?? ["similarity", "rollout", "whole", "layers"]).includes(what);
  lens.dial = () => scaleToDial(scaleOf(lens.view, lens.main.pack), lens.main.pack.scale);
  lens.schedule = (pointed) => {
    if (pointed) lens.pointed = true;
    else lens.dirty = true;
    if (!lens.frame && lens.alive) lens.frame = requestAnimationFrame(() => onFrame(lens));
  };
  lens.choose = (change, from) => {
    if (!lens.main) return;
    if (!("query" in change) && !lens.view.locked && lens.hover >= 0)
      change = { ...change, query: queryOf(lens.hover, lens.main.pack) };
    lens.view = withinReach(lens, tidyView({ ...lens.view, ...change }, lens.main.pack, startOf(lens)));
    showChoices(lens, from);
    lens.schedule();
    clearTimeout(lens.telling);
    lens.telling = setTimeout(() => lens.host.onView?.({ ...lens.view }), 300);
  };
  lens.leave = () => {
    lens.pointer.fresh = false;
    if (lens.hover >= 0 && !lens.view.locked) lens.view.query = queryOf(lens.hover, lens.main.pack);
    lens.hover = -1;
    lens.schedule();
  };
  lens.copyLink = () => copyLink(lens);
  lens.present = () => present(lens);

  bindPointer(lens);
  bindKeys(lens);
  bindButtons(lens);
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (root.clientWidth !== width) refresh(lens); // its height is its own doing
    width = root.clientWidth;
  });
  observer.observe(root);
  document.fonts?.ready.then(() => refresh(lens));
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const onScheme = () => refresh(lens);
  const onFullscreen = () => leavePresenting(lens);
  scheme.addEventListener("change", onScheme);
  window.addEventListener("resize", onScheme);
  document.addEventListener("fullscreenchange", onFullscreen);

  const face = {
    get view() {
      return { ...lens.view };
    },
    update: (next) => update(lens, next),
    setOverlay: (overlay) => {
      lens.overlay = overlay;
      lens.schedule();
    },
    setHost: (host) => Object.assign(lens.host, host),
    read: () => read(lens),
    timings: () => Array.from(lens.samples.subarray(0, Math.min(lens.sampled, lens.samples.length))),
    clearTimings: () => (lens.sampled = 0),
    picture: (factor = 1, both = false) => pictureCanvas(lens, factor, both),
    refresh: () => refresh(lens),
    destroy: () => {
      lens.alive = false;
      cancelAnimationFrame(lens.frame);
      clearTimeout(lens.telling);
      clearTimeout(lens.speaking);
      observer.disconnect();
      scheme.removeEventListener("change", onScheme);
      window.removeEventListener("resize", onScheme);
      document.removeEventListener("fullscreenchange", onFullscreen);
      root.remove();
    },
  };
  root.__lens = face; // for tests and for those who look around in the console
  update(lens, options);
  return face;
}

// -------------------------------------------------------------------------------------------------- what the host gives

function update(lens, { packs, images, view, ui, overlay }) {
  if (ui) lens.ui = { ...lens.ui, ...ui };
  const before = lens.main,
    start = startOf(lens),
    picture = lens.images[before?.image];
  const missing = [...(images ? takeImages(lens, images) : []), ...(packs ? takePacks(lens, packs) : [])];
  if (missing.length) ask(lens, { what: "packs", ids: missing });
  if (lens.main !== before) lens.overlay = null; // it belonged to another picture
  if (overlay) lens.overlay = overlay;
  if (!lens.main) return;
  if (lens.main !== before) {
    lens.hover = -1;
    lens.asked.clear();
    lens.atlas = lens.heat = null;
    buildHeads(lens);
  }
  const { rows, columns } = lens.main.pack,
    token = before ? tokenOf(lens.view.query, before.pack) : -1;
  if (
    token >= 0 &&
    lens.images[lens.main.image] === picture &&
    (rows !== before.pack.rows || columns !== before.pack.columns)
  ) {
    const there = sameToken(token, before.pack, lens.main.pack); // a finer grid: the same place of the picture
    if (there >= 0) lens.view = { ...lens.view, query: queryOf(there, lens.main.pack) };
  }
  const former = images && !lens.view.locked && startOf(lens) !== start ? { ...lens.view, query: null } : lens.view;
  lens.view = withinReach(lens, tidyView(view ? { ...DEFAULT_VIEW, ...view } : former, lens.main.pack, startOf(lens)));
  showChoices(lens);
  refresh(lens);
}

// Where the picture shown wants to be asked first; the list is the same one as long as it is the same picture.
const startOf = (lens) => lens.images[lens.main?.image]?.start;

// A file that holds a few layers and has nobody to ask for more steps from one that it holds to the next.
function withinReach(lens, view) {
  const { pack } = lens.main;
  if (holds(pack, view.layer) || lens.asks("layers")) return view;
  const way = Math.sign(view.layer - lens.view.layer);
  const held = [...pack.stored.keys()].sort((a, b) => Math.abs(a - view.layer) - Math.abs(b - view.layer));
  return { ...view, layer: held.find((layer) => way * (layer - view.layer) >= 0) ?? held[0] };
}

// Gives the ids that it should have had already and has not: a new lens on a page whose server has sent them to the old one.
function takePacks(lens, packs) {
  const missing = [];
  const roles = { main: null, other: null, whole: null };
  packs.forEach((given, place) => {
    const id = given.id ?? `#${place}`;
    let entry = lens.packs.get(id);
    if (given.bytes && entry?.bytes !== given.bytes) {
      const pack = unpack(given.bytes);
      const same = given.id && entry && entry.pack.tokens === pack.tokens && entry.pack.heads === pack.heads;
      if (same) mergePack(entry.pack, pack);
      else entry = { pack, answers: createAnswers(pack), size: 0 };
      entry.bytes = given.bytes;
      entry.size += given.bytes.byteLength;
    }
    if (!entry) return void missing.push(id);
    lens.packs.delete(id); // to the end of the queue: the least recently shown goes first
    lens.packs.set(id, Object.assign(entry, { id, title: given.title ?? "", image: given.image ?? 0 }));
    if (entry.pack.forwardScale !== null) roles.whole = entry;
    else if (!roles.main && !missing.includes(packs[0].id))
      roles.main = entry; // nobody steps in for a missing first one
    else roles.other = entry;
  });
  let held = [...lens.packs.values()].reduce((sum, entry) => sum + entry.size, 0);
  for (const [id, entry] of [...lens.packs].slice(0, -packs.length)) {
    if (held <= KEPT_BYTES) break;
    lens.packs.delete(id);
    held -= entry.size;
  }
  Object.assign(lens, { main: roles.main ?? lens.main, other: roles.other, whole: roles.whole });
  return missing;
}

// Decoding an image takes a few milliseconds off the main thread; until then the former picture stays, instead of a grey
// one that flashes. Gives the missing ids.
function takeImages(lens, images) {
  const missing = [];
  lens.images = images.map((given) => {
    const known = given.id && lens.kept.get(given.id); // perhaps still being decoded
    if (known) return known;
    const image = { title: given.title ?? "", start: given.start, bitmap: given.bitmap ?? null };
    if (given.bytes) {
      if (given.id) lens.kept.set(given.id, image);
      for (const id of lens.kept.keys()) if (lens.kept.size > KEPT_IMAGES) lens.kept.delete(id);
      image.pending = true;
      createImageBitmap(new Blob([given.bytes], { type: given.mime }))
        .then((bitmap) => (image.bitmap = bitmap))
        .catch(() => say(lens.refs.message, "The image could not be read; its attention still can."))
        .finally(() => {
          image.pending = false;
          lens.backdrops = lens.otherBackdrops = null;
          lens.schedule();
        });
    } else if (given.id && !given.bitmap) missing.push(given.id);
    return image;
  });
  return missing;
}

function refresh(lens) {
  if (!lens.main || !lens.alive || !lens.root.clientWidth) return;
  layOut(lens);
  readTheme(lens);
  lens.barKey = lens.kernelKey = "";
  lens.schedule();
}

// ------------------------------------------------------------------------------------------------------------ a frame

function onFrame(lens) {
  lens.frame = 0;
  if (!lens.main || !lens.pictureWidth || lens.images.some((image) => image.pending)) return;
  const start = performance.now();
  const { pointed, dirty } = lens;
  lens.pointed = lens.dirty = false;
  if (lens.pointer.fresh) {
    lens.pointer.fresh = false;
    const token = tokenUnder(lens);
    // The cursor moved inside the same patch: nothing to say that has not been said.
    if (!dirty && token === lens.hover && token === lens.painted) return;
    lens.hover = token;
  }
  const unfinished = workOnColumns(lens);
  paintFrame(lens);
  lens.painted = lens.shown.token;
  if (pointed) lens.samples[lens.sampled++ % lens.samples.length] = performance.now() - start;
  if (unfinished) lens.schedule();
  askForMissing(lens);
  clearTimeout(lens.speaking);
  lens.speaking = setTimeout(() => say(lens.refs.live, describe(lens)), 600);
}

// --------------------------------------------------------------------------------------------------- asking the host

function ask(lens, request) {
  if (!lens.host.ask) return;
  const text = JSON.stringify(request);
  const last = lens.asked.get(request.what);
  // Not the same question at every frame; but again after a while, should the first have been lost.
  if (last?.text === text && performance.now() - last.at < 20000) return;
  lens.asked.set(request.what, { text, at: performance.now() });
  lens.host.ask(request);
}

function askForMissing(lens) {
  const { view, shown, other } = lens;
  clearTimeout(lens.asking);
  // The dial may still be turning: wait until it rests.
  lens.asking = setTimeout(() => {
    if (isMap(view.what) && view.locked && lens.hover < 0 && !overlayNow(lens))
      ask(lens, { what: view.what, layer: view.layer, query: view.query, scale: passScale(lens) });
    else if (shown.wholeMissing) ask(lens, { what: "whole", scale: view.scale });
    else if (view.beside === "compare" && !other && lens.asks("compare")) ask(lens, { what: "compare" });
    else if (lens.asks("layers")) askForLayers(lens);
  }, 150);
}

// First what is shown lacks, then the neighbours of the layer shown, ahead of time. One question at a time: the next one
// follows when its answer has been painted.
function askForLayers(lens) {
  const { view, shown, main, whole, other } = lens;
  const wanted = [[main, view.layer]];
  if (shown.wholeArrived) wanted.push([whole, view.layer]);
  if (other && view.beside === "compare") wanted.push([other, sameLayer(view.layer, main.pack, other.pack)]);
  wanted.push([main, view.layer + 1], [main, view.layer - 1]);
  const found = wanted.find(([entry, layer]) => layer >= 0 && layer < entry.pack.layers && !holds(entry.pack, layer));
  if (found) ask(lens, { what: "layers", layers: [found[1]], pack: found[0].id });
}

// ----------------------------------------------------------------------------------------------- links, presenting

async function copyLink(lens) {
  const { view, refs, host } = lens;
  const own = () => `${location.href.split("#")[0]}#${viewToQuery(view)}`;
  const url = (await host.link?.({ ...view })) || own();
  let copied = true;
  try {
    await navigator.clipboard.writeText(url);
  } catch {
    copied = copyOldWay(lens, url);
  }
  const about = lens.ui.uploaded ? " Your own image does not travel in it." : "";
  say(refs.message, copied ? `Link copied.${about}` : url);
  setTimeout(() => say(refs.message, ""), copied ? 4000 : 20000);
}

// Pages without HTTPS have no clipboard interface.
function copyOldWay(lens, text) {
  const area = document.createElement("textarea");
  area.value = text;
  lens.root.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

async function present(lens) {
  const { root, refs } = lens;
  if (lens.presenting) {
    if (document.fullscreenElement) await document.exitFullscreen();
    leavePresenting(lens);
    return;
  }
  lens.presenting = true;
  root.classList.add("presenting");
  say(refs.present, "Leave");
  // Inside a frame that forbids it, the whole frame will do.
  await root.requestFullscreen?.().catch(() => {});
  refresh(lens);
  refs.picture.focus();
}

function leavePresenting(lens) {
  if (!lens.presenting || lens.root.getRootNode().fullscreenElement || document.fullscreenElement) return;
  lens.presenting = false;
  lens.root.classList.remove("presenting");
  say(lens.refs.present, "Present");
  refresh(lens);
}

// ------------------------------------------------------------------------------------------------ for tests, in numbers

function read(lens) {
  if (!lens.main) return null;
  const shown = resolve(lens);
  const { view } = lens;
  const { pack, answers } = shown;
  const at = view.head * pack.tokens;
  const row = Array.from(answers.weights.subarray(at, at + pack.tokens));
  const bits = answers.entropies[view.head];
  return {
    layer: view.layer,
    head: pack.headNumbers[view.head],
    query: queryOf(shown.token, pack),
    locked: view.locked,
    scale: shown.scale,
    direction: view.direction,
    what: view.what,
    pass: shown.wholeArrived ? "whole" : "layer",
    entropy: bits,
    effective: effectiveNumber(bits),
    peak: Math.max(...row),
    peakAt: shown.peak === undefined ? null : queryOf(shown.peak, pack),
    prefix: Object.fromEntries(pack.prefix.map((name, i) => [name, row[i]])),
    row,
    drawn: Array.from(answers.drawn.subarray(at, at + pack.tokens)),
    map: overlayNow(lens) && Array.from(overlayNow(lens).values),
    domain: shown.mainDomain,
    ready: Boolean(answers.ready[view.head]),
    grid: [pack.rows, pack.columns],
    painted: lens.painted === shown.token && !lens.frame && !lens.dirty && !shown.layerMissing,
  };
}
