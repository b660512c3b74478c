// What the choices mean for the picture: which pack answers, at which scale, for which token, and what is still
// missing.
import { entropyBits, holds } from "../core/core.js";
import { placeName } from "../core/sentence.js";
import { queryOf, scaleOf, tokenOf } from "../core/view.js";
import { asks, explainsLabel, FIRST_WAY, sizeWords, WAYS, wayOf } from "../core/ways.js";
import { isExplained, liveMap } from "./features.js";

// Maps that are not made of queries and keys: the source is asked for what they need.
export const isMap = (what) => WAYS[what]?.ofHeads === false;

// Whether the source answers such questions: "layers", "features", "rollout", "relevance", "whole", "names"; of this
// trace, where it says so there. Only a host with more than one picture can compare, and only a model that learned from
// captions knows texts.
export const canAsk = (data, what) =>
  what === "compare"
    ? Boolean(data.host.compare)
    : (data.main?.trace?.offers ?? data.host.source.offers).includes(what) &&
      (WAYS[what]?.explains !== "text" || Boolean(data.main?.trace.text));

export const depthOf = (view) => (view.depth === "follow" ? view.layer + 1 : view.depth);

const forwardScale = (pack) => (pack.forwardScale === "off" ? 1 : (pack.forwardScale ?? pack.scale));

// Of the whole pass that the view wants: its scale, where that is not the trained one, and its cuts.
export const passOf = ({ view }, { shown }) => ({
  scale: view.pass === "whole" && shown.altered ? view.scale : null,
  cut: view.cut,
});
const cutOf = (entry) => (entry.trace.cut ?? []).join(";");

// The layers that can be shown: all of them where the source has more, else those that were given.
export const layersAtHand = (data) =>
  Array.from({ length: data.main.pack.layers }, (_, layer) => layer).filter(
    (layer) => canAsk(data, "layers") || holds(data.main.pack, layer),
  );

// What of an entry is drawn, and searched: its layers, and of those that are not here their roundings.
export const drawnOf = (entry) => entry.drawn ?? entry;

// Whether what only is drawn, or searched, comes in eight bits: the eye cannot tell, and it is half as much.
export const isRounded = (choice, { host }) => Boolean(host.source.rounds) && !choice.exact;

export const entryShown = (data, frame) => (frame.shown.wholeArrived ? data.whole : data.main);
export const labelsOf = (data, frame) => data.labels.get(entryShown(data, frame).id) ?? null;

// The label that is explained: the one that is chosen, or the likeliest where one is needed: [number, name,
// probability], or null.
export function labelNow({ view }, data, frame) {
  if (!isExplained(view)) return null;
  const labels = labelsOf(data, frame);
  if (view.label !== "") return labels?.find(([number]) => String(number) === view.label) ?? null;
  return wayOf(view).explains === "label" ? (labels?.[0] ?? null) : null;
}

// What a map of explained.js is about, and how it was made.
export function explainedBy({ view }, { main }, { shown }) {
  const way = wayOf(view);
  const about = [way.throughLayers ? "" : view.layer, way.uses.includes("blank") ? view.blank : ""].join("");
  const patch = asks(view) ? queryOf(shown.token, main.pack) : "";
  return `${view.what} ${way.explains === "text" ? view.text : view.label || patch} ${about}`;
}

// Written into one object that lives as long as the lens, because this runs at every frame.
export function resolve(choice, data, frame) {
  const { main, whole } = data;
  const { view } = choice;
  const scale = scaleOf(view, main.pack);
  const altered = Math.abs(scale - main.pack.scale) > 1e-9;
  const through = view.pass === "whole" && altered;
  const wanted = through || Boolean(view.cut);
  const asked = through ? scale : main.pack.scale;
  const arrived =
    wanted && whole !== null && Math.abs(forwardScale(whole.pack) - asked) < 1e-6 && cutOf(whole) === view.cut;
  const entry = arrived ? whole : main;
  const rough = !holds(entry.pack, view.layer) && holds(drawnOf(entry).pack, view.layer);
  const { answers, pack } = rough ? drawnOf(entry) : entry;
  return Object.assign(frame.shown, {
    answers,
    pack,
    drawn: isRounded(choice, data) ? drawnOf(entry) : entry,
    rough,
    token: choice.hover >= 0 && !view.locked ? choice.hover : tokenOf(view.query, main.pack),
    scale,
    altered,
    wholeMissing: wanted && !arrived,
    wholeArrived: arrived,
    what: isMap(view.what) ? FIRST_WAY : view.what,
    layerMissing: !holds(pack, view.layer),
  });
}

// The map that is drawn: made here of what has arrived, or by the source for the present choices.
export function overlayNow(choice, data, frame) {
  const { view } = choice,
    { overlay, main, whole } = data,
    { shown } = frame;
  if (!isMap(view.what)) return null;
  const live = liveMap(choice, data, frame);
  if (live || !overlay || overlay.what !== view.what) return live;
  if ((overlay.query ?? null) !== null && overlay.query !== queryOf(shown.token, main.pack)) return null;
  if (isExplained(view) && overlay.about !== undefined && overlay.about !== explainedBy(choice, data, frame))
    return null;
  if ((overlay.id ?? main.id) !== (shown.wholeArrived ? whole : main).id) return null;
  return overlay;
}

// What speaks most for a label and most against it, of the map on view.

// {most, least}: {patch, value} each; null where no label is explained or its map is not here.
export function endsOf(choice, data, frame) {
  const { view } = choice,
    { shown } = frame;
  const overlay = explainsLabel(view) ? overlayNow(choice, data, frame) : null;
  if (!overlay) return null;
  const { pack } = shown;
  const from = overlay.values.length === pack.patches ? 0 : pack.prefixCount;
  let [most, least] = [0, 0];
  for (let patch = 1; patch < pack.patches; patch++) {
    if (overlay.values[from + patch] > overlay.values[from + most]) most = patch;
    if (overlay.values[from + patch] < overlay.values[from + least]) least = patch;
  }
  const at = (patch) => ({ patch, value: overlay.values[from + patch], place: placeName(patch, pack.columns) });
  return { most: at(most), least: at(least) };
}

// "+2.8 %" or "−0.12 logits"
export const signedWords = (value, unit) => `${value < 0 ? "\u2212" : "+"}${sizeWords(Math.abs(value), unit)}`;

// "Mean of heads": the row that the picture, its sentence and its numbers show is the mean of all heads of the layer.
// For the time of a drawing it lies in the place of the chosen head's row.

export function isMean({ heads, view }, { shown }) {
  if (heads !== "mean" || isMap(view.what) || wayOf(view).raw) return false;
  return Boolean(shown.answers) && shown.answers.ready.every(Boolean);
}

// Gives what puts the head's own row back.
export function layMean(choice, frame) {
  if (!isMean(choice, frame)) return () => {};
  const { head } = choice.view;
  const { answers, pack } = frame.shown;
  const { heads, tokens } = pack;
  const at = head * tokens;
  const arrays = [...new Set([answers.weights, answers.drawn])];
  const kept = arrays.map((values) => values.slice(at, at + tokens));
  const { [head]: bits } = answers.entropies,
    { [head]: total } = answers.totals;
  for (const values of arrays) {
    const mean = new Float32Array(tokens);
    for (let h = 0; h < heads; h++) for (let j = 0; j < tokens; j++) mean[j] += values[h * tokens + j] / heads;
    values.set(mean, at);
  }
  answers.entropies[head] = entropyBits(answers.weights, at, at + tokens);
  answers.totals[head] = answers.totals.reduce((sum, each) => sum + each, 0) / heads;
  return () => {
    arrays.forEach((values, n) => values.set(kept[n], at));
    answers.entropies[head] = bits;
    answers.totals[head] = total;
  };
}

// What each head does on average over the picture on view, by name: the source measures it, layer by layer.

export function takeNames(data, id, layer, heads) {
  if (!data.habits.has(id)) data.habits.set(id, new Map());
  data.habits.get(id).set(layer, heads);
}

// The layer whose names are to be asked for next, the one on view first; −1: all are here.
export function missingNames({ view }, data) {
  const { main } = data;
  if (!canAsk(data, "names")) return -1;
  const known = data.habits.get(main.id);
  const layers = Array.from({ length: main.pack.layers }, (_, layer) => layer).filter((layer) => !known?.has(layer));
  return layers.sort((a, b) => Math.abs(a - view.layer) - Math.abs(b - view.layer))[0] ?? -1;
}

// {label, short, colour, told, means}, or null where it is not known. It was measured at the trained scale.
export function habitOf(data, frame, layer, head) {
  if (frame.shown.altered) return null;
  const found = data.habits.get(data.main.id)?.get(layer)?.[data.main.pack.headNumbers[head]];
  if (!found) return null;
  const [label, short, colour, told = "", means = ""] = found;
  return { label, short, colour, told, means };
}
