// A person's choice: the picture, the model, the grid, and what it is compared with. It is one object for the whole
// document, which address, strip, toolbar and stage all show, so that they cannot disagree. No DOM in here.
//
// {sample, mine: a sample's name or the id of a picture of one's own, model, detail: how many times finer than usual,
//  beside: null | {sample} | {mine} | {model}, chose: the model was chosen by the person, not by the app}
import { DEFAULT_VIEW } from "../core/view.js";
import { ask } from "./http.js";

// The server's samples and how each opens; the same for everybody, fetched once.

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
    .then((loaded) => Object.assign(catalogue, loaded))
    .catch((error) => {
      loading = null;
      throw error;
    });
  return loading;
}

export const sampleNamed = (name) => catalogue.samples.find((sample) => sample.name === name);

// The first picture: a photograph if there is a model for it; a drawing where one of our own models is asked for.
export const firstSample = (model) =>
  (catalogue.ours.includes(model) ? catalogue.samples.find(({ kind }) => kind === "drawing") : null) ??
  catalogue.samples[0];

const NOTHING = Object.freeze({ sample: null, mine: null, model: null, detail: 1, beside: null, chose: false });

let current = NOTHING;
const listeners = new Set();

export const choice = {
  get now() {
    return current;
  },
  // `how`: passed on to the listeners: {quietly: the address says it already}
  set: (change, how = {}) => put(changed(current, change), how),
  // Sets the choice of an address; what that leaves out opens as usual.
  open: (words, how = {}) => put(openedBy(words), how),
  // Restores a former choice exactly.
  restore: (former, how = {}) => put(former, how),
  follow(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  words: (chosen = current) => wordsOf(chosen),
};

function put(next, how) {
  const former = current;
  if (JSON.stringify(next) === JSON.stringify(former)) return;
  current = Object.freeze(next);
  for (const listener of listeners) listener(current, how);
}

// How a picture opens by default: {model, detail}.
export function usual({ sample, mine }) {
  const opens = mine ? catalogue.own : sampleNamed(sample)?.opens;
  return { model: opens?.model ?? catalogue.own.model, detail: opens?.detail ?? 1 };
}

// The default grid of a picture in this model.
const usualDetail = (picture, model) => (usual(picture).model === model ? usual(picture).detail : 1);

export function changed(former, change) {
  let next = { ...former, ...change };
  const another = "sample" in change || "mine" in change;
  if (another) {
    const picture = { sample: change.sample ?? null, mine: change.mine ?? null };
    next = { ...next, ...picture, ...wishFor(former, picture) };
    if ("detail" in change) next.detail = change.detail;
  } else if ("model" in change && !("detail" in change)) next.detail = usualDetail(next, next.model);
  if (!("beside" in change)) next.beside = besideOf(former, next);
  return next;
}

// A new picture opens in the model that suits it, unless the person chose one, and at the detail that they chose.
function wishFor(former, picture) {
  const model = former.chose && former.model ? former.model : usual(picture).model;
  const refined = former.model && former.detail !== usualDetail(former, former.model);
  return { model, detail: model === former.model && refined ? former.detail : usualDetail(picture, model) };
}

// The comparison after a new choice: two models are compared on the new picture, two pictures in the new model.
// Choosing what was compared swaps both.
function besideOf(former, next) {
  const { beside } = former;
  if (!beside) return null;
  if (beside.model) return beside.model === next.model ? { model: former.model } : beside;
  const swapped = isSame(beside, next) ? pictureOf(former) : beside;
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

// Addresses are hostile: unknown words are dropped. The server checks the model's name.
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

// [key, word] of each dropped word.
export function leftOpen(words, opened) {
  const usualWords = wordsOf(opened);
  const isNone = { detail: words.detail === "1", sample: Boolean(opened.mine) }; // the usual grid is left out
  return Object.entries(words).filter(([key, word]) => key !== "model" && !isNone[key] && usualWords[key] !== word);
}

export const isOwn = (id) => /^[0-9a-f]{16}$/.test(id ?? "");

// Nothing is compared with itself.
function besideFrom(text, opened) {
  const [, kind, name] = /^(sample|mine|model):(.+)$/.exec(text ?? "") ?? [];
  if (!kind || name === opened[kind]) return null;
  if ((kind === "sample" && !sampleNamed(name)) || (kind === "mine" && !isOwn(name))) return null;
  return { [kind]: name };
}

// The traces that the microscope shows for a choice, and their view. No DOM in here.

// {main, other} as words of an address: what is asked of the source.
export function tracesOf({ sample, mine, model, detail, beside }) {
  const picture = mine ? { mine } : { sample };
  const wish = (where, name, finer) => ({ ...where, model: name, ...(finer > 1 ? { detail: String(finer) } : {}) });
  const main = wish(picture, model, detail);
  if (!beside) return { main, other: null };
  if (beside.model) return { main, other: wish(picture, beside.model, beside.model === model ? detail : 1) };
  return { main, other: wish(beside.mine ? { mine: beside.mine } : { sample: beside.sample }, model, detail) };
}

// The part of the view that stays when `trace` replaces `former`, which may be null; null if only the grid changes.
// Layer and head were chosen for the former picture, and a locked patch belongs to it, so they don't stay.
export function viewFor(trace, former, view) {
  const another = former?.picture.id !== trace.picture.id;
  const sameModel = former?.model === trace.model;
  if (!another && sameModel) return null;
  const next = { ...view };
  const opensByItself = Object.keys(trace.opens ?? {}).length > 0 || (another && trace.private);
  if (opensByItself || !sameModel) for (const key of ["layer", "head"]) delete next[key];
  if (another) for (const key of ["locked", "query", "cut"]) delete next[key];
  return next;
}

// Comparing opens and closes the second picture.
export const besideFor = (view, compares) => ({
  ...view,
  beside: compares ? "compare" : view.beside === "compare" ? DEFAULT_VIEW.beside : view.beside,
});

// Advice beside the picture if the app chose the model, or if another model would suit better: {says, model, label}, or
// null.
export function adviceFor(trace, kind, { chose }, former, real) {
  if (trace.own) return null; // a person with a model of their own gets no advice
  const wasOther = former && former.model !== trace.model;
  const kindWords = kind === "drawing" ? "a drawing" : "a photograph";
  if (!chose && wasOther)
    return {
      says: `${kindWords}: shown in ${trace.title}`,
      model: former.model,
      label: `use ${former.title}${former.model === real?.model ? once(real) : ""}`,
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

// The size of its download, if it is not here.
const once = ({ here, megabytes }) => (here || !megabytes ? "" : ` (${megabytes} MB, once)`);
