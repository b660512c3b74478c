// What the choices mean for the picture: which pack answers, at which scale, for which token, and what is still
// missing.

import { holds } from "../core/core.js";
import { queryOf, scaleOf, tokenOf } from "../core/view.js";
import { asks, FIRST_WAY, WAYS, wayOf } from "../core/ways.js";
import { isExplained, liveMap } from "./features.js";

// Maps that are not made of queries and keys: the source is asked for what they need.
export const isMap = (what) => WAYS[what]?.ofHeads === false;

// Whether the source answers such questions: "layers", "features", "rollout", "relevance", "whole", "names"; of this
// trace, where it says so there. Only a host with more than one picture can compare, and only a model that learned from
// captions knows texts.
export const canAsk = (lens, what) =>
  what === "compare"
    ? Boolean(lens.host.compare)
    : (lens.main?.trace?.offers ?? lens.host.source.offers).includes(what) &&
      (WAYS[what]?.explains !== "text" || Boolean(lens.main?.trace.text));

export const depthOf = (view) => (view.depth === "follow" ? view.layer + 1 : view.depth);

const forwardScale = (pack) => (pack.forwardScale === "off" ? 1 : (pack.forwardScale ?? pack.scale));

// Of the whole pass that the view wants: its scale, where that is not the trained one, and its cuts.
export const passOf = ({ view, shown }) => ({
  scale: view.pass === "whole" && shown.altered ? view.scale : null,
  cut: view.cut,
});
const cutOf = (entry) => (entry.trace.cut ?? []).join(";");

// The layers that can be shown: all of them where the source has more, else those that were given.
export const layersAtHand = (lens) =>
  Array.from({ length: lens.main.pack.layers }, (_, layer) => layer).filter(
    (layer) => canAsk(lens, "layers") || holds(lens.main.pack, layer),
  );

export const entryShown = (lens) => (lens.shown.wholeArrived ? lens.whole : lens.main);
export const labelsOf = (lens) => lens.explained?.labels.get(entryShown(lens).id) ?? null;

// The label that is explained: the one that is chosen, or the likeliest where one is needed: [number, name,
// probability], or null.
export function labelNow(lens) {
  const { view } = lens;
  if (!isExplained(view)) return null;
  const labels = labelsOf(lens);
  if (view.label !== "") return labels?.find(([number]) => String(number) === view.label) ?? null;
  return wayOf(view).explains === "label" ? (labels?.[0] ?? null) : null;
}

// What a map of explained.js is about, and how it was made.
export function explainedBy({ view, shown, main }) {
  const way = wayOf(view);
  const about = [way.throughLayers ? "" : view.layer, way.uses.includes("blank") ? view.blank : ""].join("");
  const patch = asks(view) ? queryOf(shown.token, main.pack) : "";
  return `${view.what} ${way.explains === "text" ? view.text : view.label || patch} ${about}`;
}

// Written into one object that lives as long as the lens, because this runs at every frame.
export function resolve(lens) {
  const { view, main, whole } = lens;
  const scale = scaleOf(view, main.pack);
  const altered = Math.abs(scale - main.pack.scale) > 1e-9;
  const through = view.pass === "whole" && altered;
  const wanted = through || Boolean(view.cut);
  const asked = through ? scale : main.pack.scale;
  const arrived =
    wanted && whole !== null && Math.abs(forwardScale(whole.pack) - asked) < 1e-6 && cutOf(whole) === view.cut;
  const entry = arrived ? whole : main;
  return Object.assign(lens.shown, {
    answers: entry.answers,
    pack: entry.pack,
    token: lens.hover >= 0 && !view.locked ? lens.hover : tokenOf(view.query, main.pack),
    scale,
    altered,
    wholeMissing: wanted && !arrived,
    wholeArrived: arrived,
    what: isMap(view.what) ? FIRST_WAY : view.what,
    layerMissing: !holds(entry.pack, view.layer),
  });
}

// The map that is drawn: made here of what has arrived, or by the source for the present choices.
export function overlayNow(lens) {
  const { overlay, view, main, whole, shown } = lens;
  if (!isMap(view.what)) return null;
  const live = liveMap(lens);
  if (live || !overlay || overlay.what !== view.what) return live;
  if ((overlay.query ?? null) !== null && overlay.query !== queryOf(shown.token, main.pack)) return null;
  if (isExplained(view) && overlay.about !== undefined && overlay.about !== explainedBy(lens)) return null;
  if ((overlay.id ?? main.id) !== (shown.wholeArrived ? whole : main).id) return null;
  return overlay;
}
