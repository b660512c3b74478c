// What a person looks at: the picture, the model, the grid, and what is compared with it. One object for the whole
// document; the address, the strip, the toolbar and the stage show it, so that they cannot disagree. No DOM in here.
//
// {sample, mine: a sample's name or the id of a picture of one's own, model, detail: how many times finer than usual,
//  beside: null | {sample} | {mine} | {model}, chose: the model was chosen by the person, not by the app}
import { DEFAULT_VIEW } from "../core/view.js";
import { ask } from "./http.js";

// The samples of this server and how they open; the same for everybody, fetched once.

export const catalogue = {
  samples: [], // [{name, title, hint, kind, credit, start, thumb, picture, opens: {model, detail, layer, head}}]
  own: { model: "bundled", detail: 1 }, // how a person's own picture opens
  real: null, // {model, title, here, may_fetch, megabytes, with_photographs: they come with it}: the model that knows
  //             photographs
  ours: [], // names of the models that come with the playground
};

let loading = null;

export function loadCatalogue(address) {
  loading ??= ask(address)
    .then((response) => response.json())
    .then((found) => Object.assign(catalogue, found))
    .catch((error) => {
      loading = null;
      throw error;
    });
  return loading;
}

export const sampleNamed = (name) => catalogue.samples.find((sample) => sample.name === name);

// The picture that comes first: a photograph where there is a model for it; who names one of our models gets a drawing.
export const firstSample = (model) =>
  (catalogue.ours.includes(model) ? catalogue.samples.find(({ kind }) => kind === "drawing") : null) ??
  catalogue.samples[0];

const NOTHING = Object.freeze({ sample: null, mine: null, model: null, detail: 1, beside: null, chose: false });

let now = NOTHING;
const listeners = new Set();

export const choice = {
  get now() {
    return now;
  },
  // `how`: passed on to the listeners: {quietly: the address says it already}
  set: (change, how = {}) => put(changed(now, change), how),
  // As an address says it; what it leaves open is as the picture opens.
  open: (words, how = {}) => put(openedBy(words), how),
  // Exactly as it was before.
  restore: (former, how = {}) => put(former, how),
  follow(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  words: (of = now) => wordsOf(of),
};

function put(next, how) {
  const former = now;
  if (JSON.stringify(next) === JSON.stringify(former)) return;
  now = Object.freeze(next);
  for (const listener of listeners) listener(now, how);
}

// How a picture opens where nothing was chosen: {model, detail}.
export function usual({ sample, mine }) {
  const opens = mine ? catalogue.own : sampleNamed(sample)?.opens;
  return { model: opens?.model ?? catalogue.own.model, detail: opens?.detail ?? 1 };
}

// The grid that a picture has first in this model.
const usualDetail = (picture, model) => (usual(picture).model === model ? usual(picture).detail : 1);

export function changed(before, change) {
  let next = { ...before, ...change };
  const another = "sample" in change || "mine" in change;
  if (another) {
    const picture = { sample: change.sample ?? null, mine: change.mine ?? null };
    next = { ...next, ...picture, ...wishFor(before, picture) };
    if ("detail" in change) next.detail = change.detail;
  } else if ("model" in change && !("detail" in change)) next.detail = usualDetail(next, next.model);
  if (!("beside" in change)) next.beside = besideOf(before, next);
  return next;
}

// Another picture comes in the model that suits it, unless the person chose one; as finely as they chose.
function wishFor(before, picture) {
  const model = before.chose && before.model ? before.model : usual(picture).model;
  const refined = before.model && before.detail !== usualDetail(before, before.model);
  return { model, detail: model === before.model && refined ? before.detail : usualDetail(picture, model) };
}

// What is compared with a new choice. Two models are compared on the new picture, two pictures in the new model. If the
// choice is what stood beside, the two change places.
function besideOf(before, next) {
  const { beside } = before;
  if (!beside) return null;
  if (beside.model) return beside.model === next.model ? { model: before.model } : beside;
  const swapped = isSame(beside, next) ? pictureOf(before) : beside;
  return isSame(swapped, next) ? null : swapped;
}

const isSame = (a, b) => (a.mine ?? null) === (b.mine ?? null) && (a.sample ?? null) === (b.sample ?? null);
const pictureOf = ({ sample, mine }) => (mine ? { mine } : { sample });

// ------------------------------------------------------------------------------------------------------- in an address

export function wordsOf({ sample, mine, model, detail, beside }) {
  const words = { model, ...(mine ? { mine } : { sample }) };
  if (detail > 1) words.detail = String(detail);
  if (beside) {
    const [[kind, name]] = Object.entries(beside);
    words.with = `${kind}:${name}`;
  }
  return words;
}

// Addresses are hostile: what is not known is left open. A model is looked up by the server.
export function openedBy(words) {
  const mine = isOwn(words.mine) ? words.mine : null;
  const sample = mine ? null : (sampleNamed(words.sample) ?? firstSample(words.model))?.name;
  const picture = { sample, mine };
  const suits = usual(picture);
  const model = words.model || suits.model;
  const finer = /^[1-4]$/.test(words.detail ?? "") ? Number(words.detail) : null;
  const detail = finer ?? (words.model ? 1 : suits.detail);
  const opened = { ...NOTHING, ...picture, model, detail, chose: model !== suits.model };
  return { ...opened, beside: besideFrom(words.with, opened) };
}

// [key, word] of each that is left open so.
export function leftOpen(words, opened) {
  const said = wordsOf(opened);
  const isNone = { detail: words.detail === "1", sample: Boolean(opened.mine) }; // of the usual grid nothing is said
  return Object.entries(words).filter(([key, word]) => key !== "model" && !isNone[key] && said[key] !== word);
}

export const isOwn = (id) => /^[0-9a-f]{16}$/.test(id ?? "");

// Nothing is compared with itself.
function besideFrom(text, opened) {
  const [, kind, name] = /^(sample|mine|model):(.+)$/.exec(text ?? "") ?? [];
  if (!kind || name === opened[kind]) return null;
  if ((kind === "sample" && !sampleNamed(name)) || (kind === "mine" && !isOwn(name))) return null;
  return { [kind]: name };
}

// What a choice means for the microscope: which traces it shows, and in which view. No DOM in here.

// {main, other} as words of an address: what is asked of the source.
export function tracesOf({ sample, mine, model, detail, beside }) {
  const picture = mine ? { mine } : { sample };
  const wish = (of, name, finer) => ({ ...of, model: name, ...(finer > 1 ? { detail: String(finer) } : {}) });
  const main = wish(picture, model, detail);
  if (!beside) return { main, other: null };
  if (beside.model) return { main, other: wish(picture, beside.model, beside.model === model ? detail : 1) };
  return { main, other: wish(beside.mine ? { mine: beside.mine } : { sample: beside.sample }, model, detail) };
}

// What of the view that a person has chosen stays when `trace` comes after `before`, which may be null: null where
// nothing changes but the grid. A layer and a head that show much on one picture say nothing about another; and a patch
// that was locked is not there.
export function viewFor(trace, before, view) {
  const another = before?.picture.id !== trace.picture.id;
  const sameModel = before?.model === trace.model;
  if (!another && sameModel) return null;
  const kept = { ...view };
  const opensByItself = Object.keys(trace.opens ?? {}).length > 0 || (another && trace.private);
  if (opensByItself || !sameModel) for (const key of ["layer", "head"]) delete kept[key];
  if (another) for (const key of ["locked", "query", "cut"]) delete kept[key];
  return kept;
}

// What is compared stands beside the picture as soon as it is chosen, and no longer than it is.
export const besideFor = (view, compares) => ({
  ...view,
  beside: compares ? "compare" : view.beside === "compare" ? DEFAULT_VIEW.beside : view.beside,
});

// What the app says beside the picture where it chose the model, or where another one would suit: {says, model, label},
// or null.
export function adviceFor(trace, kind, { chose }, before, real) {
  if (trace.own) return null; // who has brought a model of their own knows what they want
  const wasOther = before && before.model !== trace.model;
  const thing = kind === "drawing" ? "a drawing" : "a photograph";
  if (!chose && wasOther)
    return {
      says: `${thing}: shown in ${trace.title}`,
      model: before.model,
      label: `use ${before.title}${before.model === real?.model ? once(real) : ""}`,
    };
  if (trace.model === "bundled" && kind !== "drawing" && real)
    return {
      says: "This small model knows drawings best.",
      model: real.model,
      label: `See it with ${real.title}${once(real)}`,
    };
  if (real && !real.here && real.may_fetch && trace.model !== real.model)
    return {
      says: "DINOv2 makes this work on photographs:",
      model: real.model,
      label: `fetch ${real.title}${once(real)}`,
    };
  return null;
}

// What fetching it costs, where it is not here.
const once = ({ here, megabytes }) => (here || !megabytes ? "" : ` (${megabytes} MB, once)`);
