// What the story asks of the source beyond the pack. A fact comes later than the scene, which tells without it until
// then. No DOM.

import { rowInto, unpack } from "../core/core.js";
import { patchText } from "../core/grid.js";
import { moveOf, queryNumberOf, seenInTwo } from "../core/inside.js";

const LISTED_PRODUCTS = 3;
// Our small model names this drawing rightly: BEST_SAMPLES of analysis/block.py.
const DRAWING = { sample: "portrait", model: "bundled" };
const DRAWN_LABEL = "animal or face";

// Each fact: what the source must offer, the scenes that tell it, and how to get it.
const ASKED = {
  inside: { offer: "inside", scenes: [5, 9, 10, 11], find: findInside },
  answer: { offer: "cuts", scenes: [12], find: findAnswer },
  sinks: { offer: "names", scenes: [13], find: findSinks },
  ablated: { offer: "cuts", scenes: [14], find: findAblated },
};

// The facts that scene n or the next one tells, by name, and that the source offers.
export const factsAhead = (n, offers) =>
  Object.keys(ASKED).filter((kind) => {
    const { offer, scenes } = ASKED[kind];
    return offers(offer) && (scenes.includes(n) || scenes.includes(n + 1));
  });

// about: {source, trace, pack, layer, head, patch, bitmap: of the photograph, hasLabels: whether the source can tell
// labels}
export const findFact = (kind, about, signal) => ASKED[kind].find(about, { signal });

const headPlaceOf = ({ pack, layer, head, patch }) => ({
  layer,
  head: pack.headNumbers[head],
  query: patchText(patch, pack.columns),
});

async function findInside(about, options) {
  const { source, trace, pack, patch } = about;
  const inside = await source.inside(trace, headPlaceOf(about), options);
  return {
    made: inside.bias === null ? null : { number: inside.number, ...queryNumberOf(inside, LISTED_PRODUCTS) },
    seen: seenInTwo(inside.values, pack.tokens),
    move: moveOf(inside, pack.prefixCount + patch),
  };
}

// The heads with a sink: [{layer, head, token, kind: "nothing", "one thing" or "neither"}], see analysis/sinks.py.
async function findSinks({ source, trace, pack }, options) {
  const found = [];
  for (let layer = 0; layer < pack.layers; layer++)
    for (const [head, habit] of (await source.names(trace, layer, options)).entries()) {
      const [token, kind] = habit[5] ?? [];
      if (kind) found.push({ layer, head, token, kind });
    }
  return found;
}

// How far the patch's feature after the last layer moves if the head writes zeros, or its mean over the tokens.
async function findAblated(about, options) {
  const { source, trace } = about;
  const { layer, head, query } = headPlaceOf(about);
  const movedBy = async (instead) => {
    const cutTrace = await source.whole(trace, { scale: null, cut: `${instead}@${layer}.${head}` }, options);
    return (await source.moved(cutTrace, query, options)).by;
  };
  return { zero: await movedBy("zero"), mean: await movedBy("mean") };
}

// The answer of a model with labels, and its answer if the class token may not hear some patches: of the model and the
// photograph on view if the model has labels, else of our small model on a drawing of its own.
async function findAnswer({ source, trace: shownTrace, pack: shownPack, bitmap: shownBitmap, hasLabels }, options) {
  const labelsOf = async (trace) =>
    new Map((await source.labels(trace, options)).map(([, label, share]) => [label, share]));
  const isOwn = hasLabels && shownPack.prefix.includes("cls") && (await labelsOf(shownTrace)).size > 0;
  const trace = isOwn ? shownTrace : await source.open(DRAWING, options);
  const { layers } = isOwn ? shownPack : unpack(await source.layers(trace, null, options));
  const pack = unpack(await source.layers(trace, [layers - 1], options));
  const shares = await labelsOf(trace);
  const label = isOwn ? [...shares.keys()][0] : DRAWN_LABEL;
  const shareWithout = async (patches) => {
    const cut = `cls>${patches.map((patch) => patchText(patch, pack.columns)).join("+")}`;
    return (await labelsOf(await source.whole(trace, { scale: null, cut }, options))).get(label);
  };
  const { square, share } = mostHeard(pack);
  return {
    isOwn,
    model: trace.title,
    bitmap: isOwn ? shownBitmap : await source.picture(trace, options),
    rows: pack.rows,
    columns: pack.columns,
    label,
    square,
    share,
    before: shares.get(label),
    after: await shareWithout([square]),
    withoutAll: await shareWithout([...Array(pack.patches).keys()]),
    shareWithout,
  };
}

// The patch that the class token hears most in a layer, on average over the heads.
function mostHeard(pack) {
  const layer = pack.header.held[0];
  const mean = new Float32Array(pack.tokens);
  const row = new Float32Array(pack.tokens);
  for (let head = 0; head < pack.heads; head++) {
    rowInto(row, 0, pack, layer, head, pack.prefix.indexOf("cls"), pack.scale);
    for (let token = 0; token < pack.tokens; token++) mean[token] += row[token] / pack.heads;
  }
  const patches = mean.subarray(pack.prefixCount);
  const square = patches.reduce((best, share, patch) => (share > patches[best] ? patch : best), 0);
  return { square, share: patches[square] };
}
