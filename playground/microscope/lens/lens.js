// The microscope: two pictures, the heads, the switch and the numbers. Built inside a parent element, it works out what
// it can from queries and keys, and asks its source for the rest. It knows neither Streamlit, nor a server, nor files.
//
//   const lens = createLens(parent, {
//     source:   {                             // whoever has the numbers: a server, the file itself, a worker
//       // the questions that it answers
//       offers: ["layers", "features", "rollout", "relevance", "occlusion", "label", "labels", "patched", "whole",
//         "cuts", "names"],
//       layers(trace, [8] | null, {heads, signal}),  // a pack of these layers (null: of one that shows much) as bytes
//       picture(trace, {signal}),             // an ImageBitmap
//       features(trace, layer, {signal}),     // float16 as bits, (tokens, width)
//       flows(trace, {signal}),               // the same, (tokens, tokens): the rollout of every token
//       rollout(trace, query, {signal}),      // the same, (tokens,)
//       relevance(trace, asked, {signal}),    // the same: what moves {query} or {label}
//       occlusion(trace, asked, {signal}),    // {matrix: what moves when patches are blanked, passes, of, step, steps}
//       labels(trace, {signal}),              // [[number, name, probability], …], the likeliest first
//       label(trace, {layer, label}, {signal}), // float16: how likely each token makes the label after that layer
//       patched(trace, asked, {signal}),      // {matrix: how far each token moves, labels}, see matches.js
//       names(trace, layer, {signal}),        // [[label, short label, colour, told], …] of its heads
//       whole(trace, {scale, cut}, {signal}), // the trace of the whole pass with another scale, or with cuts
//       moved(trace, query, {signal}),        // how far a cut moves a patch's feature: see scissors.js
//       keeps, keepsPictures,                 // bytes of packs, and pictures, that stay: see asking.js
//     },                                      // each gives a promise, which is not waited for once it is aborted
//     view:     {…},                          // see core/view.js for keys and defaults
//     ui:       {height,                      // 600 | "window" | -120: the window less 120 pixels
//                bare},                       // the picture alone
//     onView:   (view) => {},                 // 300 ms after the last choice, never while the cursor moves
//     failed:   (error) => {},                // of a question that the source did not answer
//     allHere:  () => {},                     // every layer that the view may show is here
//     opened:   () => {},                     // an own photograph has moved to its best moment: nobody chose that
//     compare:  () => {},                     // wants something to compare with; without it nothing is compared
//     link:     (view) => "https://…",        // may give a promise; default: this address with the view behind #;
//                                             // null: this page has no address to give
//     scenes:   {read, write, show},          // keeps them as a text; show(address) leads to another picture or model
//     showMe:   () => {},                     // begins a guided tour; without it there is no button for one
//     see:      (lens) => createSee(lens, …), // its other face, see see/see.js; without it there is Lab alone
//   });
//   // A trace: {id, title: the model's, picture: {id, title, credit, hint, start: [y, x] of the patch asked first, 0
//   // to 1}, private: a person's own, verdict: [label, before, after] of each label that a whole pass changes,
//   // offers: what the source answers of it, where that is less, sparing: no layer is asked for before it is wanted}
//   await lens.show({main: trace, other: trace | null, view, place}); // false: something else was shown meanwhile
//   lens.view; lens.update({view, ui}); lens.setOverlay({what, query, values});
//   lens.read(); lens.timings(); lens.refresh(); lens.destroy();
//
// The view that is to be shown may be a function of the view that there is when the traces have come.
// What an update does not name stays. A view that it names starts from the defaults, not from the former view. `place`
// is the picture and the model as in an address: "model=…&sample=…".

import { effectiveNumber, holds, holdsAll } from "../core/core.js";
import { DEFAULT_VIEW, queryOf, sameToken, tidyView, tokenOf, upperLayer } from "../core/view.js";
import { collectRefs, say } from "../drawing/dom.js";
import { aimedPair, bindSums } from "./arithmetic.js";
import { askForMissing, bring, dropOld, stopAsking } from "./asking.js";
import { buildHeads, showChoices } from "./choices.js";
import { bindButtons, bindKeys, bindPointer, openShare, pressOutside, tokenUnder } from "./controls.js";
import { bindCurtain } from "./curtain.js";
import { askForExplained, bindExplained } from "./explained.js";
import { bindFilm } from "./film.js";
import { endGhost, greet } from "./ghost.js";
import { bindKindLine, writeKindSoon } from "./kindline.js";
import { overflowOf, refresh } from "./layout.js";
import { bindLine } from "./lockline.js";
import { MARKUP } from "./markup.js";
import { bindMatches, bindPatching, matchNow } from "./matches.js";
import { bindMoment, lookForMoment, noteOpening } from "./moment.js";
import { paintAim, paintFrame, workOnColumns } from "./paint.js";
import { describe } from "./readouts.js";
import { leavePresenting, pictureCanvas } from "./saving.js";
import { bindScenes, readKept } from "./scenes.js";
import { bindScissors, endPainting } from "./scissors.js";
import { bindShare } from "./share.js";
import { canAsk, overlayNow, resolve } from "./shown.js";
import { createState } from "./state.js";

export function createLens(parent, options = {}) {
  const root = document.createElement("div");
  root.className = "lens";
  root.innerHTML = MARKUP;
  parent.append(root);
  const lens = createState(root, collectRefs(root), options);
  lens.schedule = (pointed) => {
    if (pointed) lens.pointed = true;
    else lens.dirty = true;
    if (!lens.frame && lens.alive) lens.frame = requestAnimationFrame(() => onFrame(lens));
  };
  lens.choose = (change, from) => choose(lens, change, from);
  lens.showView = (view) => {
    update(lens, { view });
    tell(lens);
  };
  lens.opens = ({ greets }) => {
    showChoices(lens);
    lens.schedule();
    lens.host.opened?.();
    if (greets) greet(lens, () => {});
  };
  bindPointer(lens);
  bindCurtain(lens);
  bindKeys(lens);
  bindButtons(lens);
  bindSums(lens);
  bindLine(lens);
  bindScissors(lens);
  bindExplained(lens);
  bindPatching(lens);
  bindFilm(lens);
  bindKindLine(lens);
  bindMoment(lens);
  bindScenes(lens);
  bindShare(lens);
  bindMatches(lens);
  lens.see = options.see?.(lens) ?? null;
  const stopFollowing = followThePage(lens);

  const face = {
    get view() {
      return { ...lens.view };
    },
    show: (next) => showTraces(lens, next),
    update: (next) => update(lens, next),
    setOverlay: (overlay) => {
      lens.overlay = overlay;
      lens.schedule();
    },
    setHost: (host) => {
      Object.assign(lens.host, host);
      if (host.scenes) readKept(lens);
    },
    read: () => read(lens),
    timings: () => Array.from(lens.samples.subarray(0, Math.min(lens.sampled, lens.samples.length))),
    clearTimings: () => (lens.sampled = 0),
    picture: (factor = 1, both = false) => pictureCanvas(lens, factor, both),
    refresh: () => refresh(lens),
    share: () => openShare(lens),
    // Somebody is here for the first time; began() is called when the soft cursor comes.
    greet: (began) => greet(lens, began),
    focus: () => lens.refs.picture.focus(),
    see: lens.see,
    // Another picture is on its way: until then nobody chooses a patch of the old one.
    wait: (sentence) => {
      if (!sentence && !root.classList.contains("waits")) return; // somebody else's message stays
      root.classList.toggle("waits", Boolean(sentence));
      say(lens.refs.message, sentence ?? "");
    },
    destroy: () => {
      lens.alive = false;
      endGhost(lens);
      lens.coming?.abort();
      stopAsking(lens);
      cancelAnimationFrame(lens.frame);
      for (const timer of [lens.telling, lens.speaking, lens.asking, lens.moment.timer]) clearTimeout(timer);
      stopFollowing();
      root.remove();
    },
  };
  root.__lens = face; // for tests and the console
  readKept(lens);
  update(lens, options);
  return face;
}

const LOOK = 400; // ms between two looks at whether all is still within the window

// Sizes and colours follow the window, the fonts and the theme.
function followThePage(lens) {
  const { root, refs } = lens;
  const stop = new AbortController();
  const { signal } = stop;
  const around = () => refs.stage.offsetHeight - lens.pictureHeight;
  let [width, texts] = [0, 0];
  const observer = new ResizeObserver(() => {
    // The lens sets its height itself; but a line that has come must not push another one out of the window.
    if (root.clientWidth !== width || around() > texts + 2) refresh(lens);
    [width, texts] = [root.clientWidth, around()];
  });
  observer.observe(root);
  observer.observe(refs.stage);
  // What comes late above the lens, such as a second line of the toolbar, moves it and tells nobody.
  let seen = "";
  const looking = setInterval(() => {
    const over = lens.main ? overflowOf(lens) : 0;
    const now = `${over} ${root.clientWidth}`; // where there is no room for it, once is enough
    if (over > 2 && now !== seen) refresh(lens);
    seen = now;
  }, LOOK);
  document.fonts?.ready.then(() => refresh(lens));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => refresh(lens), { signal });
  window.addEventListener("resize", () => refresh(lens), { signal });
  document.addEventListener("fullscreenchange", () => leavePresenting(lens), { signal });
  document.addEventListener("pointerdown", (event) => pressOutside(lens, event), { signal, capture: true });
  return () => {
    observer.disconnect();
    clearInterval(looking);
    stop.abort();
  };
}

// ------------------------------------------------------------------------------------------------- what the host gives

async function showTraces(lens, { main, other = null, view = null, place, ui }) {
  const viewToShow = () => (typeof view === "function" ? view(lens.view) : view);
  const wanted = viewToShow() ?? lens.viewToCome ?? lens.view;
  const found = await bring(lens, other ? [main, other] : [main], wanted);
  if (!found || !lens.alive) return false;
  const now = viewToShow();
  const nextFrame = !now && !other && isNextFrame(lens.main, found[0]);
  take(lens, found[0], found[1], nextFrame);
  noteOpening(lens, now);
  if (nextFrame) {
    lens.schedule();
    return true;
  }
  update(lens, { view: now, place, ui });
  requestAnimationFrame(() => refresh(lens)); // its texts are there now, and their heights
  return true;
}

// Of a film, on the same grid: then everything stays where it is, and as large.
const isNextFrame = (before, { trace, pack }) =>
  before?.trace.picture.film &&
  [before.trace.picture.film, before.trace.model, before.pack.rows, before.pack.columns].join() ===
    [trace.picture.film, trace.model, pack.rows, pack.columns].join();

// These entries are shown from now on; the second beside the first.
function take(lens, main, other = null, nextFrame = false) {
  const before = lens.main;
  dropOld(lens, other ? [main, other] : [main]);
  if (other !== lens.other) lens.otherPhoto = null;
  Object.assign(lens, { main, other });
  if (main === before) return;
  endGhost(lens);
  stopAsking(lens);
  const sameFilm = before?.picture.film && before.picture.film === main.picture.film; // another frame of it
  const another = before && before.picture !== main.picture && !sameFilm; // what was locked was a patch of the former
  Object.assign(lens, { whole: null, overlay: null, aim: -1 });
  if (lens.painting?.on) endPainting(lens);
  if (another) lens.view = { ...lens.view, locked: false, cut: "" };
  const same = before && !another;
  if (same && lens.hover >= 0)
    lens.pointer.fresh = true; // the cursor rests on the same place of another grid
  else lens.hover = -1;
  lens.wallHeat = lens.photo = lens.thumbPhoto = lens.patchPhoto = null;
  if (!nextFrame) buildHeads(lens);
  if (same) keepPlace(lens, before.pack);
  else if (before && !lens.view.locked) lens.view = { ...lens.view, query: null }; // it asks where it wants to be asked
}

function update(lens, { place, view, ui, overlay }) {
  if (ui) lens.ui = { ...lens.ui, ...ui };
  if (place !== undefined) {
    lens.place = place;
    lens.scenes.heading = null;
  }
  if (overlay) lens.overlay = overlay;
  if (!lens.main) {
    lens.viewToCome = view ?? lens.viewToCome;
    return;
  }
  view ??= lens.viewToCome;
  lens.viewToCome = null;
  if (view) endGhost(lens);
  const wanted = view ? { ...DEFAULT_VIEW, ...view } : lens.view;
  // Also if this layer is to come.
  if (wanted.layer === null && canAsk(lens, "layers")) wanted.layer = upperLayer(lens.main.pack);
  lens.view = withinReach(lens, tidyView(wanted, lens.main.pack, startOf(lens)));
  showChoices(lens);
  refresh(lens);
}

// The same picture on a finer or coarser grid: the same place is asked.
function keepPlace(lens, before) {
  const { pack } = lens.main;
  if (pack.rows === before.rows && pack.columns === before.columns) return;
  const token = tokenOf(lens.view.query, before);
  lens.view = { ...lens.view, cut: "" }; // it named patches of the other grid
  const there = token >= 0 ? sameToken(token, before, pack) : -1;
  if (there >= 0) lens.view = { ...lens.view, query: queryOf(there, pack) };
  if (lens.hover >= 0) lens.hover = sameToken(lens.hover, before, pack);
  if (lens.view.locked) tell(lens); // the address names the patch
}

// Where this picture wants to be asked first.
const startOf = (lens) => lens.main.picture.start;

// -------------------------------------------------------------------------------------------------------- a choice

function choose(lens, change, from) {
  if (!lens.main) return;
  if (!("query" in change) && !lens.view.locked && lens.hover >= 0)
    change = { ...change, query: queryOf(lens.hover, lens.main.pack) };
  lens.view = withinReach(lens, tidyView({ ...lens.view, ...change }, lens.main.pack, startOf(lens)));
  if (!lens.view.locked) lens.aim = -1;
  showChoices(lens, from);
  if ("beside" in change) refresh(lens);
  lens.schedule();
  tell(lens);
}

function tell(lens) {
  clearTimeout(lens.telling);
  lens.telling = setTimeout(() => lens.host.onView?.({ ...lens.view }), 300);
}

// Where nobody can be asked for a layer that is not here, a step goes to the next one that is.
function withinReach(lens, view) {
  const { pack } = lens.main;
  if (holds(pack, view.layer) || canAsk(lens, "layers")) return view;
  const way = Math.sign(view.layer - lens.view.layer);
  const held = [...pack.stored.keys()].sort((a, b) => Math.abs(a - view.layer) - Math.abs(b - view.layer));
  return { ...view, layer: held.find((layer) => way * (layer - view.layer) >= 0) ?? held[0] };
}

// ------------------------------------------------------------------------------------------------------------ a frame

function onFrame(lens) {
  lens.frame = 0;
  if (!lens.main || !lens.pictureWidth) return;
  const start = performance.now();
  const { pointed, dirty } = lens;
  lens.pointed = lens.dirty = false;
  if (lens.pointer.fresh) {
    lens.pointer.fresh = false;
    const token = tokenUnder(lens);
    const drawn = lens.view.locked ? lens.aim : lens.painted;
    if (!dirty && token === lens.hover && token === drawn) return; // the cursor moved inside one patch
    lens.hover = token;
    lens.aim = lens.view.locked ? token : -1;
  }
  if (pointed && !dirty && lens.painted === resolve(lens).token) {
    paintAim(lens); // the row is the same
    lens.samples[lens.sampled++ % lens.samples.length] = performance.now() - start;
    return;
  }
  const unfinished = workOnColumns(lens);
  paintFrame(lens);
  lens.painted = lens.shown.token;
  if (pointed) lens.samples[lens.sampled++ % lens.samples.length] = performance.now() - start;
  if (unfinished) lens.schedule();
  writeKindSoon(lens);
  askForMissing(lens, pointed && !dirty);
  askForExplained(lens);
  lookForMoment(lens);
  clearTimeout(lens.speaking);
  if (lens.ghost) return; // a screen reader need not follow it
  lens.speaking = setTimeout(() => say(lens.refs.live, describe(lens)), 600);
}

// ------------------------------------------------------------------------------------------- what is shown, in numbers

function read(lens) {
  if (!lens.main) return null;
  const shown = resolve(lens);
  const { view } = lens;
  const { pack, answers } = shown;
  const at = view.head * pack.tokens;
  const row = Array.from(answers.weights.subarray(at, at + pack.tokens));
  const bits = answers.entropies[view.head];
  const { trace } = lens.main;
  return {
    picture: trace.picture.sample ?? trace.picture.id,
    model: trace.model,
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
    peakAt: shown.peak === null ? null : queryOf(shown.peak, pack),
    prefix: Object.fromEntries(pack.prefix.map((name, i) => [name, row[i]])),
    row,
    drawn: Array.from(answers.drawn.subarray(at, at + pack.tokens)),
    map: overlayNow(lens) && Array.from(overlayNow(lens).values),
    domain: shown.mainDomain,
    layersHeld: [...pack.stored.keys()].filter((layer) => holdsAll(pack, layer)).sort((a, b) => a - b),
    match: matchNow(lens),
    aim: lens.aim < 0 ? null : { at: queryOf(lens.aim, pack), ...aimedPair(lens) },
    ready: Boolean(answers.ready[view.head]),
    grid: [pack.rows, pack.columns],
    painted: lens.painted === shown.token && !lens.frame && !lens.dirty && !shown.layerMissing,
  };
}
