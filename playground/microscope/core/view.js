// The view: all that a person has chosen; the type View in records.d.ts says what each field means. No DOM.
// playground/figures/drawing/view.py holds the same table for the server and the figures; tests/figures/test_view.py
// compares them.
import { patchAt, patchText } from "./grid.js";
import { FIRST_WAY, WAYS } from "./ways.js";

/** @type {Readonly<View>} */
export const DEFAULT_VIEW = Object.freeze({
  layer: null,
  head: 0,
  query: null,
  locked: false,
  scale: "on",
  pass: "layer",
  cut: "",
  label: "",
  text: "",
  blank: "mean",
  what: FIRST_WAY,
  direction: "row",
  ceiling: "auto",
  beside: "convolution",
  curtain: 0,
});

// Keys of the view with a few allowed values.
export const CHOICES = Object.freeze({
  pass: ["layer", "whole"],
  what: Object.keys(WAYS),
  blank: ["mean", "noise", "neighbours"],
  direction: ["row", "column"],
  beside: ["convolution", "wall", "compare", "filter"],
});

export const MOST_SCALE = 8; // the dial's end: with tiny scores, a row collapses only at a scale above 1
export const MOST_DIAL = 1.25;

const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

// "7,5" → the token's index; a prefix token's name → its index; any other text, or a place off the grid → −1.
/** @param {Pack} pack */
export function tokenOf(query, pack) {
  const prefixIndex = pack.prefix.indexOf(query);
  if (prefixIndex >= 0) return prefixIndex;
  const match = /^(\d+),(\d+)$/.exec(query ?? "");
  if (!match) return -1;
  const row = Number(match[1]),
    column = Number(match[2]);
  if (row >= pack.rows || column >= pack.columns) return -1;
  return pack.prefixCount + row * pack.columns + column;
}

/** @param {Pack} pack */
export function queryOf(token, pack) {
  if (token < pack.prefixCount) return pack.prefix[token];
  return patchText(token - pack.prefixCount, pack.columns);
}

// Whether a picture opens at its best moment: a person's own, and a prepared one for which nobody chose a start.
export const opensAtMoment = ({ private: isPrivate, prepared, picture }) => isPrivate || (prepared && !picture?.start);

// The first query as text: the patch at a point [y, x], in shares of height and width.
/** @param {Pack} pack */
export function startQuery(pack, [y, x] = [0.5, 0.5]) {
  return patchText(patchAt(x, y, pack.rows, pack.columns), pack.columns);
}

// The token at the same place in another picture, whose grid may have another size or shape; −1 for a prefix token that
// the other pack lacks.
/** @param {Pack} pack @param {Pack} otherPack */
export function sameToken(token, pack, otherPack) {
  if (token < pack.prefixCount) return otherPack.prefix.indexOf(pack.prefix[token]);
  const patch = token - pack.prefixCount;
  const row = Math.floor(patch / pack.columns),
    column = patch % pack.columns;
  const newRow = Math.min(otherPack.rows - 1, Math.floor(((row + 0.5) / pack.rows) * otherPack.rows));
  const newColumn = Math.min(otherPack.columns - 1, Math.floor(((column + 0.5) / pack.columns) * otherPack.columns));
  return otherPack.prefixCount + newRow * otherPack.columns + newColumn;
}

// The layer at the same relative depth in another network: layer 8 of 12 is compared with layer 16 of 24.
/** @param {Pack} pack @param {Pack} otherPack */
export const sameLayer = (layer, pack, otherPack) =>
  pack.layers === otherPack.layers
    ? layer
    : Math.round((layer / Math.max(1, pack.layers - 1)) * (otherPack.layers - 1));

// The layer in which heads mostly look at objects, as upper_layer in pack/.
/** @param {Pack} pack */
export const upperLayer = (pack) => Math.floor((2 * pack.layers) / 3);

// Makes a view from a link, a file or a former picture fit this pack. Unknown keys are dropped.
/** @param {View} view @param {Pack} pack */
export function tidyView(view, pack, startPoint) {
  /** @type {any} what the link holds, until it is checked */
  const newView = { ...DEFAULT_VIEW };
  for (const key of Object.keys(DEFAULT_VIEW)) if (view?.[key] !== undefined) newView[key] = view[key];
  for (const [key, allowed] of Object.entries(CHOICES)) {
    if (!allowed.includes(newView[key])) newView[key] = DEFAULT_VIEW[key];
  }
  newView.locked = newView.locked === true || newView.locked === "true";
  if (newView.scale !== "on" && newView.scale !== "off") {
    const scale = newView.scale === null || newView.scale === "" ? NaN : Number(newView.scale);
    newView.scale = Number.isFinite(scale) ? clamp(scale, 0, MOST_SCALE) : "on";
  }
  if (!/^[0-9a-z,<>@.:+*;]{3,1000}$/.test(newView.cut)) newView.cut = "";
  newView.label = /^\d{1,5}$/.test(newView.label) ? String(newView.label) : "";
  newView.text = /^[A-Za-z0-9][A-Za-z0-9 ,.'-]{0,59}$/.test(newView.text) ? String(newView.text) : "";
  newView.curtain = clamp(Number(newView.curtain) || 0, 0, 1);
  if (newView.ceiling !== "auto")
    newView.ceiling = Number(newView.ceiling) > 0 ? Math.min(1, Number(newView.ceiling)) : "auto";
  if (!pack) return newView;
  const layer = newView.layer === null || newView.layer === "" ? NaN : Math.round(Number(newView.layer));
  const startLayer = upperLayer(pack);
  const nearestLayer =
    [...pack.stored.keys()].sort((a, b) => Math.abs(a - startLayer) - Math.abs(b - startLayer))[0] ?? 0;
  newView.layer = Number.isFinite(layer) ? clamp(layer, 0, pack.layers - 1) : nearestLayer;
  newView.head = clamp(Math.round(Number(newView.head)) || 0, 0, pack.heads - 1);
  if (tokenOf(newView.query, pack) < 0) Object.assign(newView, { query: startQuery(pack, startPoint), locked: false });
  return newView;
}

/** @param {View} view @param {Pack} pack */
export const scaleOf = (view, pack) => (view.scale === "on" ? pack.scale : view.scale === "off" ? 1 : view.scale);

// The scale at the dial's position t: 0 (every row uniform) at 0, 1/√d_k at 0.5, 1 (no scale) at 1, and MOST_SCALE at
// MOST_DIAL. Up to 0.5 equal steps add, beyond 0.5 they multiply, because from 0.125 to 1 the ratio matters.
export function dialToScale(t, trainedScale) {
  if (t > 1) return MOST_SCALE ** ((t - 1) / (MOST_DIAL - 1));
  return t <= 0.5 ? trainedScale * 2 * t : trainedScale ** (2 - 2 * t);
}

export function scaleToDial(scale, trainedScale) {
  if (scale <= trainedScale) return scale / trainedScale / 2;
  if (scale > 1) return 1 + ((MOST_DIAL - 1) * Math.log(scale)) / Math.log(MOST_SCALE);
  return trainedScale >= 1 ? 1 : 1 - Math.log(scale) / Math.log(trainedScale) / 2;
}

// The view as parameters, only where it differs from the defaults, so that links stay short:
// "layer=8&head=3&query=7%2C5".
/** @param {View} view */
export function viewToQuery(view) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(DEFAULT_VIEW)) {
    if (view[key] !== undefined && view[key] !== value) query.set(key, String(view[key]));
  }
  return query.toString();
}

export function viewFromQuery(text) {
  const view = {};
  for (const [key, value] of new URLSearchParams(text.replace(/^[?#]/, ""))) {
    if (key in DEFAULT_VIEW) view[key] = value;
  }
  return view;
}

// Below: scenes, that is saved views in order. Each has a name, and an address with the picture, the model and the
// view.

const MOST_SCENES = 60;
export const LONGEST_NAME = 60; // letters
const LONGEST_ADDRESS = 500;

// `place`: the picture and the model, as words of an address.
/** @param {View} view */
export const sceneAddress = (place, view) => [place, viewToQuery(view)].filter(Boolean).join("&");

// {place, view} of an address.
export function readSceneAddress(address) {
  const place = new URLSearchParams(address);
  for (const key of Object.keys(DEFAULT_VIEW)) place.delete(key);
  return { place: place.toString(), view: viewFromQuery(address) };
}

// A list from a browser's storage or from a link, which may hold anything; entries that are no scenes are left out.
export function readScenes(text) {
  let scenes = null;
  try {
    scenes = JSON.parse(text);
  } catch {
    // no JSON
  }
  if (!Array.isArray(scenes)) return [];
  return scenes
    .filter((scene) => typeof scene?.address === "string" && scene.address.length <= LONGEST_ADDRESS)
    .map(({ name, address }) => ({ name: typeof name === "string" ? name.slice(0, LONGEST_NAME) : "", address }))
    .slice(0, MOST_SCENES);
}

export const writeScenes = (list) => JSON.stringify(list.map(({ name, address }) => ({ name, address })));

// The list with one of its scenes moved up (−1) or down (1).
export function moveScene(list, from, steps) {
  const to = Math.min(list.length - 1, Math.max(0, from + steps));
  return list.toSpliced(from, 1).toSpliced(to, 0, list[from]);
}
