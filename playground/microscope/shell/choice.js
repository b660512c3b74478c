// What a person looks at: the picture, the model, the grid, and what is compared with it. One object for the whole
// document; the address, the strip, the toolbar and the stage show it, so that they cannot disagree. No DOM in here.
//
// {sample, mine: a sample's name or the id of a picture of one's own, model, detail: how many times finer than usual,
//  beside: null | {sample} | {mine} | {model}, chose: the model was chosen by the person, not by the app}

import { catalogue, firstSample, sampleNamed } from "./catalogue.js";

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

const isOwn = (id) => /^[0-9a-f]{16}$/.test(id ?? "");

// Nothing is compared with itself.
function besideFrom(text, opened) {
  const [, kind, name] = /^(sample|mine|model):(.+)$/.exec(text ?? "") ?? [];
  if (!kind || name === opened[kind]) return null;
  if ((kind === "sample" && !sampleNamed(name)) || (kind === "mine" && !isOwn(name))) return null;
  return { [kind]: name };
}
