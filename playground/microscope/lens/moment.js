// Searches the best moment of the picture on view, which is the most telling row. The search runs between frames, once
// the layers have arrived. A person's own photograph opens in its best moment, unless the person has touched the
// picture; the key b shows further moments.

import { holdsAll, holdsHead, neighbourhood, rowInto } from "../core/core.js";
import { patchText } from "../core/grid.js";
import { directionsOf, keysOf } from "../core/kinds.js";
import { openingOf, searchMoments, surprisesOf, tellingLayers } from "../core/moments.js";
import { opensAtMoment, queryOf, sameToken, tokenOf, upperLayer } from "../core/view.js";
import { FIRST_WAY, wayOf } from "../core/ways.js";
import { make, setText } from "../drawing/dom.js";
import { canAsk, entryToDraw, isMap, layersAtHand } from "./state.js";

const QUIET_BEFORE_SEARCH = 120; // ms without a frame before the search starts or resumes
const SEARCH_SLICE = 6; // ms of one slice of the search
const OPENING_SLICE = 48; // ms, while a picture waits for its opening: after each slice browsers pause for 4 ms
const NOTHING_STRIKING = "No patch stands out here: this is where the class token looks.";
const NO_SURPRISE = "Nothing stands out here.";
const LEAST_POINTING_MOVE = 4; // CSS pixels; a smaller move does not count as pointing (see also RESTING_MOVE)

export function bindMoment(choice, page) {
  const { opening } = choice,
    { choose } = page;
  page.choose = (change, source) => {
    opening.touched = choice.everHovered = true;
    choose(change, source);
  };
  const onPoint = () => {
    opening.touched = true;
    if (opening.kind === "nothing") setText(page.refs.message, "");
  };
  let origin = null;
  page.refs.picture.addEventListener("pointermove", (event) => {
    origin ??= event;
    if (Math.hypot(event.clientX - origin.clientX, event.clientY - origin.clientY) > LEAST_POINTING_MOVE) onPoint();
  });
  page.refs.picture.addEventListener("pointerdown", onPoint);
}

// Records how a picture opens. `view`: the view that was given with the picture.
export function noteOpening({ opening }, { main }, { refs }, view) {
  const picture = `${main.picture.id} ${main.trace.model}`;
  const isNamed = ["layer", "head", "query"].some((key) => (view?.[key] ?? null) !== null);
  if (picture !== opening.picture) {
    Object.assign(opening, { picture, given: isNamed, touched: false, at: -1, wished: false, moved: false, kind: "" });
    setText(refs.message, ""); // the former picture's message
  } else if (isNamed) opening.given = true;
}

// After each frame: continues the search if no frame was drawn for a while.
export function lookForMoment(choice, data, page) {
  clearTimeout(page.searchTimer);
  if (unfinishedSearch(choice, data))
    page.searchTimer = setTimeout(() => continueSearch(choice, data, page), QUIET_BEFORE_SEARCH);
}

// The unfinished search of the entry on view, if any.
function unfinishedSearch(choice, data) {
  const { main } = data;
  if (!main || main.trace.words?.first) return null; // the trace is of a coarse grid; a finer one will follow
  const { id } = main;
  const { pack } = entryToDraw(main);
  const layers = tellingLayers(pack);
  const hasAllLayers = layers.length === pack.layers - Math.floor(pack.layers / 2);
  if (!hasAllLayers && !(choice.opening.wished && layers.length)) return null;
  let { search } = data;
  if (search?.id !== id || ![pack, main.pack].includes(search.pack) || search.layers < layers.length)
    search = data.search = { id, pack, steps: null, scene: null, layers: layers.length, moved: false };
  return search.scene && search.moved ? null : search;
}

function continueSearch(choice, data, page) {
  const search = page.alive ? unfinishedSearch(choice, data) : null;
  if (!search) return;
  const deadline = performance.now() + SEARCH_SLICE;
  search.steps ??= searchMoments(search.pack, keysForSearch(search.pack));
  while (!search.scene) {
    const { done, value } = search.steps.next();
    if (done) search.scene = value;
    else if (performance.now() > deadline) {
      page.searchTimer = setTimeout(() => continueSearch(choice, data, page), 0);
      return;
    }
  }
  search.moved = true;
  if (choice.opening.wished) surprise(choice, data, page);
  else moveToBest(choice, data, page, search.scene);
  page.schedule(); // the line under the picture may now name another head
}

// The vectors by which patches are compared: the keys of a late layer.
export function keysForSearch(pack) {
  const lateLayer = upperLayer(pack);
  return keysOf(pack, holdsAll(pack, lateLayer) ? lateLayer : tellingLayers(pack).at(-1));
}

export const sceneOf = ({ search, main }) => (search?.id === main.id ? search.scene : null);

// Shows a picture in its best moment, only if nothing was chosen before.
function moveToBest(choice, data, page, scene) {
  const { main } = data;
  const { opening, view } = choice;
  const isPlainRow = view.direction === "row" && wayOf(view).rows && !view.locked;
  if (!opensAtMoment(main.trace) || opening.touched || opening.given || opening.moved || !isPlainRow) return;
  const best = openingOf(scene);
  choice.view = { ...view, what: FIRST_WAY, ...bestView(best, scene.pack) };
  choice.hover = -1; // a resting cursor does not count as pointing
  noteBest(choice, page, best);
}

// The view of the row at which a picture opens, from openingOf.
export const bestView = ({ layer, head, token }, pack) => ({
  ...{ layer, head },
  ...(token !== null && { query: queryOf(token, pack) }),
});

// Notes that the picture shows the row at which it opens; the soft cursor then points at it once.
export function noteBest({ opening }, page, { kind, token }) {
  Object.assign(opening, { moved: true, kind });
  if (kind === "nothing") setText(page.refs.message, token === null ? "" : NOTHING_STRIKING);
  page.opens({ greets: !opening.greeted });
  opening.greeted = true;
}

// The query's token on another grid; -1 for none.
export function tokenOnGrid(choice, pack, formerPack) {
  const formerToken = tokenOf(choice.view.query, formerPack);
  if (formerToken < 0) return -1;
  const patch = finerPatch(choice, pack, formerPack);
  return patch === null ? sameToken(formerToken, formerPack, pack) : pack.prefixCount + patch;
}

// The query after a change to a finer grid, where several patches lie in the place of one: of the patches at and around
// the former query, the one whose row is most like the former row. null if the picture does not show its opening.
function finerPatch({ opening, view }, pack, formerPack) {
  const { layer, head } = view;
  const formerToken = tokenOf(view.query, formerPack);
  const hasHead = holdsHead(formerPack, layer, head) && holdsHead(pack, layer, head);
  const isOpening = opening.moved && !opening.touched;
  if (!isOpening || !wayOf(view).rows || formerToken < formerPack.prefixCount || !hasHead) return null;
  const rowOf = (entry, token) => {
    const row = new Float32Array(entry.tokens);
    rowInto(row, 0, entry, layer, head, token, entry.scale);
    return row;
  };
  const formerRow = rowOf(formerPack, formerToken);
  const formerTokens = Array.from({ length: pack.tokens }, (_, token) => sameToken(token, pack, formerPack));
  const likeness = (patch) => {
    const row = rowOf(pack, pack.prefixCount + patch);
    const length = Math.sqrt(row.reduce((square, weight) => square + weight * weight, 0));
    return row.reduce((sum, weight, token) => sum + weight * formerRow[formerTokens[token]], 0) / length;
  };
  const candidates = neighboursOf(sameToken(formerToken, formerPack, pack) - pack.prefixCount, pack).map((patch) => ({
    patch,
    alike: likeness(patch),
  }));
  return candidates.reduce((best, candidate) => (candidate.alike > best.alike ? candidate : best)).patch;
}

// A patch and its neighbours.
function neighboursOf(patch, { rows, columns }) {
  const { top, left, bottom, right } = neighbourhood(rows, columns, Math.floor(patch / columns), patch % columns, 3);
  const patches = [];
  for (let r = top; r <= bottom; r++) for (let c = left; c <= right; c++) patches.push(r * columns + c);
  return patches;
}

// Searches, without waiting for idle frames, until the row is known at which the picture opens; idle frames look for
// what is missing then. null if the picture is no longer wanted.
export async function searchAll(data, entry, signal) {
  const { id, pack } = entry;
  const steps = searchMoments(pack, keysForSearch(pack));
  let deadline = performance.now() + OPENING_SLICE;
  for (let step = steps.next(); ; step = steps.next()) {
    if (signal.aborted) return null;
    if (step.value) {
      const scene = step.done ? step.value : null;
      data.search = { id, pack, steps, scene, layers: tellingLayers(pack).length, moved: true };
      return step.value;
    }
    if (performance.now() < deadline) continue;
    await new Promise((resolve) => setTimeout(resolve));
    deadline = performance.now() + OPENING_SLICE;
  }
}

// For the soft cursor: the patches with the most telling rows of this head, the best one last; null if unknown.
export function tellingPatches({ view }, data) {
  const moment = sceneOf(data)?.moments.find(({ layer, head }) => layer === view.layer && head === view.head);
  const patches = moment?.patches.filter((_, i) => moment.tells[i] > 0).reverse();
  return patches?.length ? patches : null;
}

// Shows the next of the most telling rows of all heads; after the last comes the first.
export function surprise(choice, data, page) {
  const { opening } = choice,
    { main } = data,
    { refs } = page;
  const scene = sceneOf(data);
  const surprises = scene ? surprisesOf(scene) : [];
  if (!surprises.length) {
    opening.wished = !scene;
    if (scene) return setText(refs.message, NO_SURPRISE);
    if (canAsk(data, "layers")) choice.filmWanted = true;
    else if (!layersAtHand(data).some((layer) => tellingLayers(main.pack).includes(layer))) return;
    return page.schedule();
  }
  opening.wished = false;
  opening.at = (opening.at + 1) % surprises.length;
  const { layer, head, patch } = surprises[opening.at];
  choice.hover = -1;
  const way = wayOf(choice.view).rows ? choice.view.what : FIRST_WAY; // the map of parts shows no row
  page.choose({ what: way, layer, head, query: patchText(patch, main.pack.columns), locked: true });
}

export const searchDirections = (pack) => directionsOf(keysForSearch(pack));

// For a first visit: a drawn "soft" cursor glides to three patches, and the sentence changes with it. Then the visitor
// is invited to point. Any action of the visitor ends this. The host decides whether this is a first visit.

const CURSOR_DELAY = 350; // ms before the soft cursor appears
const GLIDE_MS = 800; // ms from one patch to the next
const STAY_MS = 850; // ms on a patch: long enough to read the number
const EDGE_MARGIN = 0.12; // margin that the soft cursor avoids, as a share of the picture
const BOW_SHARE = 0.14; // sideways swing of a glide as a share of its length
export const STOP_COUNT = 3;
export const WALK_MS = CURSOR_DELAY + STOP_COUNT * (GLIDE_MS + STAY_MS); // ms of the whole path

// Returns three patches that show what attention is: the patch outside the neighbourhood of `startPatch` with the
// largest weight, a patch with hardly any weight, and `startPatch` itself, where the cursor stays. `row`: the weights
// of `startPatch`.
export function threePatches(row, from, rows, columns, startPatch) {
  const nearArea = neighbourhood(rows, columns, Math.floor(startPatch / columns), startPatch % columns, 3);
  let largest = -1,
    smallest = -1;
  const rowMargin = Math.ceil(EDGE_MARGIN * rows),
    columnMargin = Math.ceil(EDGE_MARGIN * columns);
  for (let r = rowMargin; r < rows - rowMargin; r++) {
    for (let c = columnMargin; c < columns - columnMargin; c++) {
      if (r >= nearArea.top && r <= nearArea.bottom && c >= nearArea.left && c <= nearArea.right) continue;
      const patch = r * columns + c;
      if (largest < 0 || row[from + patch] > row[from + largest]) largest = patch;
      if (smallest < 0 || row[from + patch] < row[from + smallest]) smallest = patch;
    }
  }
  return largest < 0 ? [] : [largest, smallest, startPatch];
}

const smoothStep = (t) => t * t * t * (t * (6 * t - 15) + 10); // rises from 0 to 1, level at both ends

// The soft cursor's position {x, y, rests} after `ms` on its path over `places` [{x, y}], from the first one. Each
// glide is slightly curved, like a hand's.
export function walkAt(ms, places) {
  const elapsed = Math.max(0, Math.min(WALK_MS, ms) - CURSOR_DELAY);
  const leg = Math.min(places.length - 2, Math.floor(elapsed / (GLIDE_MS + STAY_MS)));
  const t = Math.min(1, (elapsed - leg * (GLIDE_MS + STAY_MS)) / GLIDE_MS);
  const fromPlace = places[leg],
    toPlace = places[leg + 1];
  const progress = smoothStep(t),
    bow = BOW_SHARE * Math.sin(Math.PI * progress) * (leg % 2 ? 1 : -1);
  const dx = toPlace.x - fromPlace.x,
    dy = toPlace.y - fromPlace.y;
  return { x: fromPlace.x + progress * dx - bow * dy, y: fromPlace.y + progress * dy + bow * dx, rests: t === 1 };
}

const PICTURE_ALONE_MS = 900; // ms in which only the picture is shown
const YOUR_TURN_MS = 2600; // ms for which "your turn" stays
const RESTING_MOVE = 4; // CSS pixels: a browser reports a resting mouse as moved when something appears under it

const GHOST_HTML = `
  <i class="glow"></i>
  <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 2l5.2 17.5 3.4-6.6 7.2-1.9z"/></svg>
  <b>your turn</b>`;

// Greets a visitor; onBegin is called when the soft cursor appears. There is no greeting for people who want no motion,
// nor in See, which shows moments by itself. Returns whether the cursor is going to appear.
export function greet(lens, onBegin) {
  const { page } = lens;
  if (page.ghost || page.see?.on || matchMedia("(prefers-reduced-motion: reduce)").matches) return false;
  const controller = new AbortController();
  page.ghost = { box: null, stop: controller, timer: setTimeout(() => beginWalk(lens, onBegin), PICTURE_ALONE_MS) };
  endWithAnyMovement(lens.choice, page, controller.signal);
  return true;
}

function endWithAnyMovement(choice, page, signal) {
  const options = { signal, capture: true, passive: true };
  const endWalk = () => endGhost(choice, page);
  let origin = null;
  const onMove = (event) => {
    origin ??= event;
    if (Math.hypot(event.clientX - origin.clientX, event.clientY - origin.clientY) > RESTING_MOVE) endWalk();
  };
  window.addEventListener("pointermove", onMove, options);
  for (const name of ["pointerdown", "keydown", "wheel", "touchstart"]) window.addEventListener(name, endWalk, options);
  document.addEventListener("visibilitychange", endWalk, options);
}

function beginWalk({ choice, data, frame: { shown }, page }, onBegin) {
  const { view } = choice,
    { refs } = page;
  const { pack, answers } = shown;
  const isPlainRow = view.direction === "row" && !view.locked && !isMap(view.what) && !choice.presenting;
  if (!isPlainRow || document.hidden || shown.layerMissing || !answers?.ready[view.head] || shown.mark < 0)
    return endGhost(choice, page);
  const start = view.head * pack.tokens + pack.prefixCount;
  const patches =
    tellingPatches(choice, data) ?? threePatches(answers.weights, start, pack.rows, pack.columns, shown.mark);
  if (!patches.length) return endGhost(choice, page);
  onBegin();
  const box = make("div", { className: "ghost", innerHTML: GHOST_HTML });
  refs.pictureBox.append(box);
  page.ghost.box = box;
  const placeOf = (patch) => ({
    x: ((patch % pack.columns) + 0.5) / pack.columns,
    y: (Math.floor(patch / pack.columns) + 0.5) / pack.rows,
  });
  walk(choice, page, [{ x: 0.62, y: 0.98 }, ...patches.map(placeOf)]);
}

function walk(choice, page, places) {
  const { ghost, refs } = page;
  const startTime = performance.now();
  let hasArrived = false, // whether the soft cursor has reached a patch; until then the row stays
    hasRested = false;
  const step = (time) => {
    if (page.ghost !== ghost || !page.alive) return;
    const { x, y, rests } = walkAt(time - startTime, places);
    const { left, top, width, height } = refs.picture.getBoundingClientRect();
    ghost.box.style.transform = `translate(${x * width}px, ${y * height}px)`;
    ghost.box.classList.toggle("leftwards", x > 0.75); // the words beside the cursor stay inside the picture
    ghost.box.classList.toggle("upwards", y > 0.8);
    hasArrived ||= rests;
    if (hasArrived && (!rests || !hasRested)) {
      Object.assign(choice.pointer, { target: refs.picture, x: left + x * width, y: top + y * height, fresh: true });
      page.schedule(true); // draws the frame as after a real move of the cursor
    }
    ghost.box.classList.toggle("rests", rests);
    hasRested = rests;
    if (time - startTime < WALK_MS) return requestAnimationFrame(step);
    ghost.box.classList.add("turn");
    ghost.timer = setTimeout(() => endGhost(choice, page), YOUR_TURN_MS);
  };
  requestAnimationFrame(step);
}

// Removes the soft cursor and restores the former query.
export function endGhost(choice, page) {
  const { ghost } = page;
  if (!ghost) return;
  page.ghost = null;
  clearTimeout(ghost.timer);
  ghost.stop.abort();
  if (!ghost.box) return;
  ghost.box.classList.add("leaves");
  setTimeout(() => ghost.box.remove(), 400);
  choice.pointer.fresh = false;
  choice.hover = -1;
  page.schedule();
}
