// From what is chosen to what is to be shown: which pack answers, at which scale, for which token, and what is missing yet.

import { holds } from "../core/core.js";
import { queryOf, scaleOf, tokenOf } from "../core/view.js";

// Maps that the browser cannot make from q and k alone; the host is asked for them.
export const isMap = (what) => what === "similarity" || what === "rollout";

export const depthOf = (view) => (view.depth === "follow" ? view.layer + 1 : view.depth);

export const forwardScale = (pack) => (pack.forwardScale === "off" ? 1 : pack.forwardScale);

// The layers that can be shown: all of them where there is a host to ask, else those that were given.
export const layersAtHand = (lens) =>
  Array.from({ length: lens.main.pack.layers }, (_, layer) => layer).filter(
    (layer) => lens.asks("layers") || holds(lens.main.pack, layer),
  );

// Written into one object that lives as long as the lens: this runs at every frame.
export function resolve(lens) {
  const { view, main, whole } = lens;
  const scale = scaleOf(view, main.pack);
  const altered = Math.abs(scale - main.pack.scale) > 1e-9;
  const wanted = view.pass === "whole" && altered;
  const arrived = wanted && whole !== null && Math.abs(forwardScale(whole.pack) - scale) < 1e-6;
  const entry = arrived ? whole : main;
  return Object.assign(lens.shown, {
    answers: entry.answers,
    pack: entry.pack,
    token: lens.hover >= 0 ? lens.hover : tokenOf(view.query, main.pack),
    scale,
    altered,
    wholeMissing: wanted && !arrived,
    wholeArrived: arrived,
    what: isMap(view.what) ? "weight" : view.what,
    layerMissing: !holds(entry.pack, view.layer),
  });
}

// With which scale the network ran whose features and layers are shown.
export const passScale = (lens) => (lens.shown.wholeArrived ? lens.shown.scale : "on");

// The map that the host made, if it belongs to what is asked now.
export function overlayNow(lens) {
  const { overlay, view, main } = lens;
  if (!isMap(view.what) || !overlay || overlay.what !== view.what) return null;
  if ((overlay.query ?? null) !== null && overlay.query !== queryOf(lens.shown.token, main.pack)) return null;
  if ((overlay.layer ?? null) !== null && overlay.layer !== view.layer) return null;
  if ((overlay.scale ?? "on") !== passScale(lens)) return null;
  return overlay;
}
