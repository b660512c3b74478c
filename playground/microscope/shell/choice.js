// A person's choice: the picture, the model, the grid, and the comparison. There is one object for the whole document,
// so that the address, the row of pictures, the toolbar and the stage cannot disagree. No DOM.
// {sample, mine: a sample's name or the id of an own picture, model, detail: how many times finer the grid is than
// usual, beside: null | {sample} | {mine} | {model}, chose: whether the person, not the app, chose the model}
import { DEFAULT_VIEW, opensAtMoment } from "../core/view.js";
import { askJson } from "./http.js";

// The server's samples and the models that open them; the same for everybody, fetched once.

export const catalogue = {
  samples: [], // [{name, title, hint, kind, credit, start, thumb, picture, opens: {model, detail, layer, head}}]
  own: { model: "bundled", detail: 1 }, // the model and detail that open a person's own picture
  // the model for photographs: {model, title, here, may_fetch, megabytes, with_photographs: whether the samples'
  // photographs are downloaded with the model}
  real: null,
  ours: [], // names of the models that ship with the playground
};

let loading = null;

export function loadCatalogue(address) {
  loading ??= askJson(address)
    .then((models) => Object.assign(catalogue, models))
    .catch((error) => {
      loading = null;
      throw error;
    });
  return loading;
}

// A choice of a saved trace: its id among the person's own pictures, and what stands for its model, which is not here.
export const FILE_MODEL = ".trace";
export const isTraceFile = (id) => Boolean(id?.startsWith("t"));

export const sampleNamed = (name) => catalogue.samples.find((sample) => sample.name === name);

// The first picture: a drawing if `model` is one of the playground's own models, else the first sample.
export const firstSample = (model) =>
  (catalogue.ours.includes(model) ? catalogue.samples.find(({ kind }) => kind === "drawing") : null) ??
  catalogue.samples[0];

const NO_CHOICE = Object.freeze({ sample: null, mine: null, model: null, detail: 1, beside: null, chose: false });

let current = NO_CHOICE;
const listeners = new Set();

export const choice = {
  get now() {
    return current;
  },
  // options: for the listeners, {quietly: whether the address already has this choice}
  set: (changes, options = {}) => setCurrent(choiceAfter(current, changes), options),
  // Sets the choice that an address names; missing parameters get their usual values.
  open: (words, options = {}) => setCurrent(choiceFrom(words), options),
  // Restores a former choice exactly.
  restore: (formerChoice, options = {}) => setCurrent(formerChoice, options),
  follow(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  words: (choice = current) => wordsOf(choice),
};

function setCurrent(nextChoice, options) {
  const formerChoice = current;
  if (JSON.stringify(nextChoice) === JSON.stringify(formerChoice)) return;
  current = Object.freeze(nextChoice);
  for (const listener of listeners) listener(current, options);
}

// The default opening of a picture: {model, detail}.
export function usualOpening({ sample, mine: ownId }) {
  if (isTraceFile(ownId)) return { model: FILE_MODEL, detail: 1 };
  const opening = ownId ? catalogue.own : sampleNamed(sample)?.opens;
  return { model: opening?.model ?? catalogue.own.model, detail: opening?.detail ?? 1 };
}

// The default grid of a picture in this model.
const usualDetail = (picture, model) => (usualOpening(picture).model === model ? usualOpening(picture).detail : 1);

export function choiceAfter(formerChoice, changes) {
  let nextChoice = { ...formerChoice, ...changes };
  const isNewPicture = "sample" in changes || "mine" in changes;
  if (isNewPicture) {
    const picture = { sample: changes.sample ?? null, mine: changes.mine ?? null };
    nextChoice = { ...nextChoice, ...picture, ...openingFor(formerChoice, picture) };
    if ("detail" in changes) nextChoice.detail = changes.detail;
  } else if ("model" in changes) {
    const isOfFile = isTraceFile(nextChoice.mine); // a file has one model: another one opens a sample
    if (isOfFile) Object.assign(nextChoice, { sample: firstSample(changes.model).name, mine: null });
    if (!("detail" in changes)) nextChoice.detail = usualDetail(nextChoice, nextChoice.model);
  }
  if (!("beside" in changes)) nextChoice.beside = besideOf(formerChoice, nextChoice);
  return nextChoice;
}

// The model and detail for a new picture. A model that the person chose stays; otherwise the picture's usual model
// opens. A detail that the person chose stays only if the model stays.
function openingFor(formerChoice, picture) {
  const isOfFile = isTraceFile(picture.mine) || formerChoice.model === FILE_MODEL;
  const model =
    formerChoice.chose && formerChoice.model && !isOfFile ? formerChoice.model : usualOpening(picture).model;
  const choseDetail = formerChoice.model && formerChoice.detail !== usualDetail(formerChoice, formerChoice.model);
  const keepsDetail = model === formerChoice.model && choseDetail;
  return { model, detail: keepsDetail ? formerChoice.detail : usualDetail(picture, model) };
}

// The comparison after a new choice. Two compared models remain when the picture changes, two compared pictures when
// the model changes. If the compared picture or model is chosen, the former choice becomes the compared one.
function besideOf(formerChoice, nextChoice) {
  const { beside } = formerChoice;
  if (!beside) return null;
  if (beside.model && isTraceFile(nextChoice.mine)) return null;
  if (beside.model) return beside.model === nextChoice.model ? { model: formerChoice.model } : beside;
  const newBeside = isSamePicture(beside, nextChoice) ? pictureOf(formerChoice) : beside;
  return isSamePicture(newBeside, nextChoice) ? null : newBeside;
}

const isSamePicture = (a, b) => (a.mine ?? null) === (b.mine ?? null) && (a.sample ?? null) === (b.sample ?? null);
const pictureOf = ({ sample, mine }) => (mine ? { mine } : { sample });

// ------------------------------------------------------------------------------------------------------- in an address

export function wordsOf({ sample, mine, model, detail, beside }) {
  /** @type {Record<string, string>} */
  const words = { model, ...(mine ? { mine } : { sample }) };
  if (detail > 1) words.detail = String(detail);
  if (beside) {
    const [[kind, name]] = Object.entries(beside);
    words.with = `${kind}:${name}`;
  }
  return words;
}

// Reads a choice from an address, which may be hostile: unknown values are dropped. The server checks the model's name.
export function choiceFrom(words) {
  const ownId = isOwn(words.mine) ? words.mine : null;
  const sample = ownId ? null : (sampleNamed(words.sample) ?? firstSample(words.model))?.name;
  const picture = { sample, mine: ownId };
  const opening = usualOpening(picture);
  const isOfFile = isTraceFile(ownId) || words.model === FILE_MODEL;
  const model = isOfFile ? opening.model : words.model || opening.model;
  const givenDetail = /^[1-4]$/.test(words.detail ?? "") ? Number(words.detail) : null;
  const detail = givenDetail ?? (words.model ? 1 : opening.detail);
  const mainChoice = { ...NO_CHOICE, ...picture, model, detail, chose: model !== opening.model };
  return { ...mainChoice, beside: besideFrom(words.with, mainChoice) };
}

export const isOwn = (id) => /^t?[0-9a-f]{16}$/.test(id ?? "");

// The comparison that an address names; null if it names the main picture or model itself.
function besideFrom(text, mainChoice) {
  const [, kind, name] = /^(sample|mine|model):(.+)$/.exec(text ?? "") ?? [];
  if (!kind || name === mainChoice[kind] || (kind === "model" && isTraceFile(mainChoice.mine))) return null;
  if ((kind === "sample" && !sampleNamed(name)) || (kind === "mine" && !isOwn(name))) return null;
  return { [kind]: name };
}

// Below: the traces that the microscope shows for a choice, and the view of them. No DOM.

// The parameters of the two traces for the source: {main, other}.
export function wordsOfTraces({ sample, mine, model, detail, beside }) {
  const picture = mine ? { mine } : { sample };
  const traceWords = (pictureWords, name, traceDetail) => ({
    ...pictureWords,
    model: name === FILE_MODEL ? usualOpening(pictureWords).model : name,
    ...(traceDetail > 1 ? { detail: String(traceDetail) } : {}),
  });
  const main = traceWords(picture, model, detail);
  if (!beside) return { main, other: null };
  if (beside.model) return { main, other: traceWords(picture, beside.model, beside.model === model ? detail : 1) };
  return { main, other: traceWords(beside.mine ? { mine: beside.mine } : { sample: beside.sample }, model, detail) };
}

// The part of the view that stays when `trace` replaces `formerTrace`, which may be null; the result is null if only
// the grid changes. A locked patch stays only for the same picture; layer and head stay only in the same model, and
// only if the new trace does not name its own.
export function viewFor(trace, formerTrace, view) {
  const isNewPicture = formerTrace?.picture.id !== trace.picture.id;
  const isSamePictureModel = formerTrace?.model === trace.model;
  if (!isNewPicture && isSamePictureModel) return null;
  const nextView = { ...view };
  const opensByItself = Object.keys(trace.opens ?? {}).length > 0 || (isNewPicture && opensAtMoment(trace));
  if (opensByItself || !isSamePictureModel) for (const key of ["layer", "head"]) delete nextView[key];
  if (isNewPicture) for (const key of ["locked", "query", "cut"]) delete nextView[key];
  return nextView;
}

// The view with beside: "compare" if something is compared, and with another value otherwise.
export const viewWithBeside = (view, isComparing) => ({
  ...view,
  beside: isComparing ? "compare" : view.beside === "compare" ? DEFAULT_VIEW.beside : view.beside,
});

// The advice beside the picture, if the app chose the model or another model would suit better: {says, model, label: of
// the button that chooses this model}. Else null.
export function adviceFor(trace, kind, { chose }, formerTrace, realModel) {
  if (trace.model === FILE_MODEL) return null;
  const wasOther = formerTrace && ![trace.model, FILE_MODEL].includes(formerTrace.model);
  const kindWords = kind === "drawing" ? "a drawing" : "a photograph";
  if (!chose && wasOther)
    return {
      says: `${kindWords}: shown in ${trace.title}`,
      model: formerTrace.model,
      label: `use ${formerTrace.title}${formerTrace.model === realModel?.model ? downloadNote(realModel) : ""}`,
    };
  if (trace.model === "bundled" && kind !== "drawing" && realModel)
    return {
      says: "This small model knows drawings best.",
      model: realModel.model,
      label: `See it with ${realModel.title}${downloadNote(realModel)}`,
    };
  if (realModel && !realModel.here && realModel.may_fetch && trace.model !== realModel.model)
    return {
      says: "DINOv2 makes this work on photographs:",
      model: realModel.model,
      label: `fetch ${realModel.title}${downloadNote(realModel)}`,
    };
  return null;
}

// The size of the model's download in words; "" if the model is on this machine.
const downloadNote = ({ here: isLocal, megabytes }) => (isLocal || !megabytes ? "" : ` (${megabytes} MB, once)`);
