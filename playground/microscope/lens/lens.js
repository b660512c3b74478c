// The microscope: two pictures, the heads, the switch and the numbers. The lens computes rows from queries and keys,
// and requests all other data from its source. It knows neither Streamlit, nor a server, nor files.
//
//   const lens = createLens(parent, {
//     source:   {offers, …},                  // who has the numbers, see below; `signal` aborts a request
//     ui:       {height,                      // pixels, of a guest; else it has the window's height
//                below, bare,                 // px that the page needs below; whether only the picture is shown
//                guest},                      // in somebody's page: has its height, takes keys with the focus alone
//     onView:   (view) => {},                 // 300 ms after the last choice, never while the cursor moves
//     onQuery:  (query) => {},                // each time another token's row is on show, also while the cursor moves
//     failed:   (error) => {},                // a request to the source failed
//     opened:   () => {},                     // the lens, not a person, has moved to the best moment
//     compare:  () => {},                     // asks for a second picture; without it nothing is compared
//     link:     (view) => "https://…",        // may give a promise; default: this address with the view behind #;
//                                             // null: this page has no address to give
//     scenes:   {read, write, show},          // stores scenes as a text; show(address) opens another picture
//     figures:  () => {},                     // opens the sheet with figures for papers; null: there is none
//     see:      (lens) => createSee(lens, …), // makes See and Lab, see see/see.js; null: the picture alone
//   });
//   await lens.show({main: trace, other: trace | null, view, place, best}); // false: another one is shown
//
// A source (shell/httpsource.js, shell/workersource.js) names in `offers` what it answers: "layers" (the bytes of a
// pack), "features", "values", "flows" and "rollout" (float16 as bits), "relevance", "occlusion", "label", "labels",
// "names" of heads, "whole" passes with changes, "moved", "inside", "ran". `keeps` and `keepsPictures` bound what
// asking.js keeps.
//
// `view` may be a function: show() calls it with the view on show once the traces have arrived. An update changes only
// the fields that it names. A view given to show() or update() starts from the defaults, not from the former view.
// `place` is the picture and the model as in an address: "model=…&sample=…".

import { effectiveNumber, holds, wholeLayers } from "../core/core.js";
import { openingOf } from "../core/moments.js";
import { DEFAULT_VIEW, opensAtMoment, queryOf, sameToken, tidyView, upperLayer } from "../core/view.js";
import { wayOf } from "../core/ways.js";
import { collectRefs, explainWords, make, setText } from "../drawing/dom.js";
import { aimedPair, bindLine, bindSums } from "./arithmetic.js";
import { askForMissing, bringBest, dropOld, fetchEntries, isComplete, stopAsking } from "./asking.js";
import {
  bindButtons,
  bindKeys,
  bindPointer,
  buildHeads,
  closeSheets,
  openShare,
  pressOutside,
  showChoices,
  tokenUnder,
} from "./controls.js";
import { bindCurtain } from "./curtain.js";
import { askForExplained, bindExplained } from "./explained.js";
import { bindKindLine, writeKindSoon } from "./headline.js";
import { endExpecting, expectPicture, fitCurve, overflowOf, placeLens, refresh } from "./layout.js";
import { MARKUP } from "./markup.js";
import { bestView, bindMoment, lookForMoment, noteBest, noteOpening, tokenOnGrid } from "./moment.js";
import { paintAim, paintFrame, prepareFirst, workOnColumns } from "./paint.js";
import { sentenceForReaders, writeMarkupTexts } from "./readouts.js";
import { bindRows, openChosenRow } from "./rows.js";
import { bindShare, leavePresenting, pictureCanvas, togglePresenting } from "./saving.js";
import { bindScenes, readSavedScenes } from "./scenes.js";
import { bindScissors } from "./scissors.js";
import { canAsk, createState, overlayNow, resolve } from "./state.js";
import { bindWall } from "./wall.js";

export function createLens(parent, options = {}) {
  const root = make("div", { className: "lens", innerHTML: MARKUP });
  root.style.visibility = "hidden"; // hidden until laid out, so that nothing jumps
  parent.append(root);
  const lens = createState(root, collectRefs(root), options);
  const { choice, data, frame, page } = lens;
  page.schedule = (onlyPointed) => {
    if (onlyPointed) frame.pointed = true;
    else frame.dirty = true;
    if (!frame.requested && page.alive) frame.requested = requestAnimationFrame(() => onFrame(lens));
  };
  page.choose = (change, source) => choose(lens, change, source);
  page.showView = (view) => {
    update(lens, { view });
    reportView(lens);
  };
  page.opens = () => {
    showChoices(lens);
    page.see?.hold(true);
    page.schedule();
    data.host.opened?.();
  };
  bindPointer(lens);
  bindCurtain(lens);
  bindButtons(lens);
  bindSums(lens);
  bindLine(lens);
  bindScissors(lens);
  bindExplained(page);
  bindKindLine(lens);
  bindMoment(lens);
  bindScenes(lens);
  bindShare(lens);
  bindRows(lens);
  bindWall(lens);
  page.ui = { ...page.ui, ...options.ui };
  page.see = options.see?.(lens) ?? null;
  if (page.see) placeLens(lens);
  writeMarkupTexts(page);
  const stopFollowing = followThePage(lens);

  const handle = {
    get view() {
      return { ...choice.view };
    },
    show: (traces) => showTraces(lens, traces),
    update: (settings) => update(lens, settings),
    read: () => readNumbers(lens, () => isComplete(lens)),
    timings: () => Array.from(frame.samples.subarray(0, Math.min(frame.sampled, frame.samples.length))),
    clearTimings: () => (frame.sampled = 0),
    picture: () => pictureCanvas(lens),
    refresh: () => refresh(lens),
    share: () => openShare(lens),
    present: () => togglePresenting(lens),
    see: page.see,
    // The photograph whose trace is on its way, or null; see layout.js.
    expect: (bitmap) => expectPicture(lens, bitmap),
    // While another picture is coming, no patch of the present picture can be chosen.
    wait: (sentence) => {
      if (!sentence && !root.classList.contains("waits")) return; // keeps the message of another part
      root.classList.toggle("waits", Boolean(sentence));
      if (sentence) closeSheets(page); // they show the former picture
      setText(page.refs.message, sentence ?? "");
    },
    destroy: () => {
      page.alive = false;
      data.fetchController?.abort();
      stopAsking(data);
      cancelAnimationFrame(frame.requested);
      for (const timer of [page.reportTimer, page.speakTimer, page.askTimer, page.searchTimer]) clearTimeout(timer);
      stopFollowing();
      root.remove();
    },
  };
  root.__lens = handle; // for tests and the console
  readSavedScenes(lens);
  update(lens, options);
  return handle;
}

const FIT_CHECK_INTERVAL = 400; // ms between two checks whether the lens still fits the window
// Updates sizes and colours when the window, the fonts or the theme change. Returns a function that stops this.
function followThePage(lens) {
  const { page, root, refs } = lens;
  const controller = new AbortController();
  const { signal } = controller;
  let [formerWidth, formerHeight] = [0, 0];
  const observer = new ResizeObserver(() => {
    // A line of text that appears late must not push other text out of the window.
    if (root.clientWidth !== formerWidth || refs.end.offsetHeight > formerHeight) refresh(lens);
    else if (fitCurve(lens.frame, refs) && lens.frame.painted !== null) paintAim(lens);
    [formerWidth, formerHeight] = [root.clientWidth, refs.end.offsetHeight];
  });
  observer.observe(root);
  observer.observe(refs.end);
  observer.observe(refs.curve); // texts above it may take a part of its height
  // Late content above the lens, such as the toolbar's second line, moves the lens without an event: hence a timer.
  let lastMeasurement = "";
  const fitCheckTimer = setInterval(() => {
    const overflow = lens.data.main ? overflowOf(lens) : 0;
    const measurement = `${overflow} ${root.clientWidth}`; // unchanged after a refresh: another refresh can't help
    if (overflow > 2 && measurement !== lastMeasurement) refresh(lens);
    lastMeasurement = measurement;
  }, FIT_CHECK_INTERVAL);
  document.fonts?.ready.then(() => refresh(lens));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => refresh(lens), { signal });
  window.addEventListener("resize", () => refresh(lens), { signal });
  bindKeys(lens, signal);
  explainWords(root, signal);
  document.addEventListener("fullscreenchange", () => leavePresenting(lens), { signal });
  document.addEventListener("pointerdown", (event) => pressOutside(page, event), { signal, capture: true });
  return () => {
    observer.disconnect();
    clearInterval(fitCheckTimer);
    controller.abort();
  };
}

async function showTraces(lens, { main, other = null, view = null, place, ui, best: wantsBest = false }) {
  const { choice, page } = lens;
  const viewToShow = () => (typeof view === "function" ? view(choice.view) : view);
  const viewToAsk = viewToShow() ?? choice.viewToCome ?? choice.view;
  if (wantsBest) return showBest(lens, { main, view: viewToShow, place });
  const entries = await fetchEntries(lens, other ? [main, other] : [main], viewToAsk);
  if (!entries || !page.alive) return false;
  const shownView = viewToShow();
  takeTraces(lens, entries[0], entries[1]);
  noteOpening(lens, shownView);
  update(lens, { view: shownView, place, ui });
  // the photograph stays alone until its best moment has been found
  if (!main.private && opensAtMoment(main) && !choice.opening.given && !choice.opening.moved) page.see?.hold(false);
  requestAnimationFrame(() => refresh(lens)); // the texts now have their heights
  return true;
}

// Opens a person's own picture in its best moment, before any other of its rows is drawn.
async function showBest(lens, { main, view, place }) {
  const { choice, page } = lens;
  const bestMoment = await bringBest(lens, main);
  if (!bestMoment || !page.alive) return false;
  const { entry, scene } = bestMoment;
  takeTraces(lens, entry);
  noteOpening(lens, null);
  const baseView = { ...DEFAULT_VIEW, ...(view() ?? choice.view) };
  const isPlainRow = baseView.direction === "row" && wayOf(baseView).rows;
  // where nothing stands out on a coarse grid, the photograph stays alone until the finer one has been searched
  const isCoarse = Boolean(main.words?.first);
  const best = openingOf(scene, isCoarse);
  const isFound = isPlainRow && !(isCoarse && best.kind === "nothing");
  update(lens, { view: { ...baseView, ...(isFound && bestView(best, scene.pack)) }, place });
  if (isFound) noteBest(lens, best);
  else if (isPlainRow) page.see?.hold(false);
  requestAnimationFrame(() => refresh(lens));
  return true;
}

// Puts these entries on show, the second one beside the first.
function takeTraces(lens, main, other = null) {
  const { choice, data, frame, page } = lens;
  const formerMain = data.main;
  endExpecting(page);
  dropOld(data, other ? [main, other] : [main]);
  if (other !== data.other) frame.otherPhoto = null;
  Object.assign(data, { main, other });
  if (main === formerMain) return;
  stopAsking(data);
  const isAnotherPicture = formerMain && formerMain.picture !== main.picture; // unlocks the patch
  Object.assign(data, { whole: null, overlay: null });
  choice.aim = -1;
  if (isAnotherPicture) {
    closeSheets(page);
    choice.view = { ...choice.view, locked: false, cut: "" };
  }
  const isSamePicture = formerMain && !isAnotherPicture;
  if (isSamePicture && choice.hover >= 0)
    choice.pointer.fresh = true; // the resting cursor now points at another grid
  else choice.hover = -1;
  frame.wallHeat = frame.photo = frame.thumbPhoto = null;
  buildHeads(lens);
  if (isSamePicture) keepPlace(lens, formerMain.pack);
  // query null: the new picture opens at its own start patch
  else if (formerMain && !choice.view.locked) choice.view = { ...choice.view, query: null };
}

/** @param {any} lens @param {{ place?: string, view?: any, ui?: any, hovers?: boolean }} changes */
function update(lens, { place, view, ui, hovers }) {
  const { choice, data, page } = lens;
  if (ui) page.ui = { ...page.ui, ...ui };
  if (place !== undefined) {
    choice.place = place;
    choice.scene.heading = null;
  }
  if (!data.main) {
    choice.viewToCome = view ?? choice.viewToCome;
    return;
  }
  view ??= choice.viewToCome;
  choice.viewToCome = null;
  if (hovers === false) choice.hover = -1; // a resting cursor does not count as pointing
  const nextView = view ? { ...DEFAULT_VIEW, ...view } : choice.view;
  // The layer is chosen even before it has arrived.
  if (nextView.layer === null && canAsk(data, "layers")) nextView.layer = upperLayer(data.main.pack);
  choice.view = withHeldLayer(lens, tidyView(nextView, data.main.pack, startOf(data)));
  showChoices(lens);
  refresh(lens);
  openChosenRow(lens);
}

// For the same picture on another grid: moves the query to the patch at the same place.
function keepPlace(lens, formerPack) {
  const { choice, data } = lens;
  const { pack } = data.main;
  if (pack.rows === formerPack.rows && pack.columns === formerPack.columns) return;
  const newToken = tokenOnGrid(choice, pack, formerPack);
  choice.view = { ...choice.view, cut: "" }; // a cut names patches of the former grid
  if (newToken >= 0) choice.view = { ...choice.view, query: queryOf(newToken, pack) };
  if (choice.hover >= 0) choice.hover = sameToken(choice.hover, formerPack, pack);
  if (choice.view.locked) reportView(lens); // the address names the patch
}

// The patch that this picture suggests as the first query.
const startOf = (data) => data.main.picture.start;

function choose(lens, change, source) {
  const { choice, data, page } = lens;
  if (!data.main) return;
  if (!("query" in change) && !choice.view.locked && choice.hover >= 0)
    change = { ...change, query: queryOf(choice.hover, data.main.pack) };
  choice.view = withHeldLayer(lens, tidyView({ ...choice.view, ...change }, data.main.pack, startOf(data)));
  if (!choice.view.locked) choice.aim = -1;
  showChoices(lens, source);
  if ("beside" in change) {
    refresh(lens);
    openChosenRow(lens);
  }
  page.schedule();
  reportView(lens);
}

function reportView({ choice, data, page }) {
  clearTimeout(page.reportTimer);
  page.reportTimer = setTimeout(() => data.host.onView?.({ ...choice.view }), 300);
}

// If the source has only some layers, a step leads to the next layer that the source has; without a network no pass is
// changed, whatever an address says.
function withHeldLayer({ choice, data }, view) {
  const { pack, trace } = data.main;
  if (trace?.offers && !canAsk(data, "whole")) view = { ...view, pass: "layer", cut: "" };
  if (holds(pack, view.layer) || canAsk(data, "layers")) return view;
  const direction = Math.sign(view.layer - choice.view.layer);
  const layers = [...pack.stored.keys()].sort((a, b) => Math.abs(a - view.layer) - Math.abs(b - view.layer));
  return { ...view, layer: layers.find((layer) => direction * (layer - view.layer) >= 0) ?? layers[0] };
}

// ------------------------------------------------------------------------------------------------------------ a frame

function onFrame(lens) {
  const { choice, data, frame, page } = lens;
  frame.requested = 0;
  if (!data.main || !frame.pictureWidth || page.expected) return;
  const startTime = performance.now();
  const { pointed: onlyPointed, dirty } = frame;
  frame.pointed = frame.dirty = false;
  if (choice.pointer.fresh) {
    choice.pointer.fresh = false;
    const token = tokenUnder(lens);
    const paintedToken = choice.view.locked ? choice.aim : frame.painted;
    if (!dirty && token === choice.hover && token === paintedToken) return; // the cursor moved inside one patch
    choice.hover = token;
    choice.aim = choice.view.locked ? token : -1;
  }
  if (onlyPointed && !dirty && frame.painted === resolve(lens).token) {
    paintAim(lens); // only the line is painted, because the row is the same
    frame.samples[frame.sampled++ % frame.samples.length] = performance.now() - startTime;
    return;
  }
  if (prepareFirst(lens)) return page.schedule();
  const hasMoreColumns = workOnColumns(lens);
  paintFrame(lens);
  if (frame.painted !== frame.shown.token) data.host.onQuery?.(queryOf(frame.shown.token, data.main.pack));
  frame.painted = frame.shown.token;
  if (onlyPointed) frame.samples[frame.sampled++ % frame.samples.length] = performance.now() - startTime;
  if (hasMoreColumns) page.schedule();
  if (!page.see?.on) writeKindSoon(lens);
  askForMissing(lens, onlyPointed && !dirty);
  askForExplained(lens);
  lookForMoment(lens);
  clearTimeout(page.speakTimer);
  const speak = () => setText(page.refs.live, page.see?.on ? page.see.spokenText() : sentenceForReaders(lens));
  page.speakTimer = setTimeout(speak, 600);
}

// -------------------------------------------------------------------------------------------------- the row in numbers

function readNumbers(lens, isComplete) {
  const { choice, data, frame } = lens;
  if (!data.main) return null;
  const shown = resolve(lens);
  const { view } = choice;
  const { pack, answers } = shown;
  const start = view.head * pack.tokens;
  const row = Array.from(answers.weights.subarray(start, start + pack.tokens));
  const bits = answers.entropies[view.head];
  const { trace } = data.main;
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
    drawn: Array.from(answers.values.subarray(start, start + pack.tokens)),
    map: overlayNow(lens) && Array.from(overlayNow(lens).values),
    domain: shown.mainDomain,
    layersHeld: wholeLayers(pack),
    aim: choice.aim < 0 ? null : { at: queryOf(choice.aim, pack), ...aimedPair(lens) },
    ready: Boolean(answers.ready[view.head]),
    grid: [pack.rows, pack.columns],
    painted: frame.painted === shown.token && !frame.requested && !frame.dirty && !shown.layerMissing,
    waits: isComplete() ? "" : "layers",
  };
}
