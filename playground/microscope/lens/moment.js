// Searches the best moment of the picture on view, which is the most telling row. The search runs between frames, once
// the layers have arrived. A person's own photograph opens in its best moment, unless the person has touched the
// picture; the key b shows further moments.

import { holdsAll, holdsHead, largestIndex, rowOf } from "../core/core.js";
import { patchDistance, patchText } from "../core/grid.js";
import { directionsOf, keysOf } from "../core/kinds.js";
import { openingOf, searchMoments, surprisesOf, tellingLayers } from "../core/moments.js";
import { opensAtMoment, queryOf, sameToken, tokenOf, upperLayer } from "../core/view.js";
import { FIRST_WAY, wayOf } from "../core/ways.js";
import { setText } from "../drawing/dom.js";
import { canAsk, layersAtHand } from "./state.js";

const QUIET_BEFORE_SEARCH = 120; // ms without a frame before the search starts or resumes
const SEARCH_SLICE = 6; // ms of one slice of the search
const OPENING_SLICE = 48; // ms, while a picture waits for its opening: after each slice browsers pause for 4 ms
const NOTHING_STRIKING = "No patch stands out here: this is where the class token looks.";
const NO_SURPRISE = "Nothing stands out here.";
const LEAST_POINTING_MOVE = 4; // CSS pixels; a smaller move does not count as pointing

/** @param {Lens} lens */
export function bindMoment({ choice, page, choice: { opening }, page: { choose } }) {
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
export function noteOpening({ choice: { opening }, main, refs }, view) {
  const picture = `${main.picture.id} ${main.trace.model}`;
  const isNamed = ["layer", "head", "query"].some((key) => (view?.[key] ?? null) !== null);
  if (picture !== opening.picture) {
    Object.assign(opening, { picture, given: isNamed, touched: false, at: -1, wished: false, moved: false, kind: "" });
    setText(refs.message, ""); // the former picture's message
  } else if (isNamed) opening.given = true;
}

// After each frame: continues the search if no frame was drawn for a while.
export function lookForMoment(lens) {
  const { page } = lens;
  clearTimeout(page.searchTimer);
  if (unfinishedSearch(lens)) page.searchTimer = setTimeout(() => continueSearch(lens), QUIET_BEFORE_SEARCH);
}

// The unfinished search of the entry on view, if any.
function unfinishedSearch({ choice, data, main }) {
  if (!main || main.trace.words?.first) return null; // the trace is of a coarse grid; a finer one will follow
  const { id } = main;
  const { pack } = main;
  const layers = tellingLayers(pack);
  const hasAllLayers = layers.length === pack.layers - Math.floor(pack.layers / 2);
  const isEnough = hasAllLayers || (layers.length && (choice.opening.wished || !canAsk(data, "layers")));
  if (!isEnough) return null;
  let { search } = data;
  if (search?.id !== id || search.pack !== pack || search.layers < layers.length)
    search = data.search = { id, pack, steps: null, scene: null, layers: layers.length, moved: false };
  return search.scene && search.moved ? null : search;
}

function continueSearch(lens) {
  const { choice, page } = lens;
  const search = page.alive ? unfinishedSearch(lens) : null;
  if (!search) return;
  const deadline = performance.now() + SEARCH_SLICE;
  search.steps ??= searchMoments(search.pack, keysForSearch(search.pack));
  while (!search.scene) {
    const { done, value } = search.steps.next();
    if (done) search.scene = value;
    else if (performance.now() > deadline) {
      page.searchTimer = setTimeout(() => continueSearch(lens), 0);
      return;
    }
  }
  search.moved = true;
  if (choice.opening.wished) surprise(lens);
  else moveToBest(lens, search.scene);
  page.schedule(); // the line under the picture may now name another head
}

// The vectors by which patches are compared: the keys of a late layer.
export function keysForSearch(pack) {
  const lateLayer = upperLayer(pack);
  return keysOf(pack, holdsAll(pack, lateLayer) ? lateLayer : tellingLayers(pack).at(-1));
}

export const sceneOf = ({ search, main }) => (search?.id === main.id ? search.scene : null);

// Shows a picture in its best moment, only if nothing was chosen before.
function moveToBest(lens, scene) {
  const { choice, view, main } = lens;
  const { opening } = choice;
  const isPlainRow = view.direction === "row" && wayOf(view).rows && !view.locked;
  if (!opensAtMoment(main.trace) || opening.touched || opening.given || opening.moved || !isPlainRow) return;
  const best = openingOf(scene);
  choice.view = { ...view, what: FIRST_WAY, ...bestView(best, scene.pack) };
  choice.hover = -1; // a resting cursor does not count as pointing
  noteBest(lens, best);
}

// The view of the row at which a picture opens, from openingOf.
export const bestView = ({ layer, head, token }, pack) => ({
  layer,
  head,
  ...(token !== null && { query: queryOf(token, pack) }),
});

// Notes that the picture shows the row at which it opens.
export function noteBest({ page, choice: { opening } }, { kind, token }) {
  Object.assign(opening, { moved: true, kind });
  if (kind === "nothing") setText(page.refs.message, token === null ? "" : NOTHING_STRIKING);
  page.opens();
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
  const formerRow = rowOf(formerPack, layer, head, formerToken);
  const formerTokens = Array.from({ length: pack.tokens }, (_, token) => sameToken(token, pack, formerPack));
  const likeness = (patch) => {
    const row = rowOf(pack, layer, head, pack.prefixCount + patch);
    const length = Math.sqrt(row.reduce((square, weight) => square + weight * weight, 0));
    return row.reduce((sum, weight, token) => sum + weight * formerRow[formerTokens[token]], 0) / length;
  };
  const middle = sameToken(formerToken, formerPack, pack) - pack.prefixCount;
  const isAround = (_, patch) => patchDistance(patch, middle, pack.columns) <= 1;
  const patches = Array.from({ length: pack.patches }, (_, patch) => patch).filter(isAround);
  return patches[largestIndex(patches.map(likeness))];
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

// Shows the next of the most telling rows of all heads; after the last comes the first.
/** @param {Lens} lens */
export function surprise({ choice, data, page, choice: { opening }, main, refs }) {
  const scene = sceneOf(data);
  const surprises = scene ? surprisesOf(scene) : [];
  if (!surprises.length) {
    opening.wished = !scene;
    if (scene) return setText(refs.message, NO_SURPRISE);
    if (canAsk(data, "layers")) choice.layersLooked = true;
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
