// Maps of features under the cursor: similarity, colours of the principal components, lengths; contributions, and the
// rollout. The features or values of a layer, or the rollout of all tokens, are fetched once: moving the cursor sends
// no requests.

import { decodeHalves, halfFloats, partsInto, rowInto } from "../core/core.js";
import { componentPixels, makeFeatures, principalComponents, similarityInto } from "../core/features.js";
import { sameLayer } from "../core/view.js";
import { wayOf } from "../core/ways.js";
import { softOf } from "../drawing/light.js";

export const MOST_FLOWS = 1400; // tokens, as in serving/routes_traces.py; above it, only a locked patch has a rollout
const KEPT_FEATURES = 8; // the most layers whose features are in memory
const KEPT_FLOWS = 2; // the most pictures whose rollouts are in memory
export const isExplained = (view) => wayOf(view).needs === "network"; // whether explained.js shows the map
const COLOUR_OPACITY = 0.78; // opacity of the colours above the photograph

// -------------------------------------------------------------------------------------------------- received data

export function storeMatrix({ data, frame }, { what: need, entry: { id, pack }, layer, values }) {
  if (values.length % pack.tokens) throw new Error(`${values.length} numbers of ${pack.tokens} tokens`);
  if (need === "flows") keepInMap(data.flows, id, values, KEPT_FLOWS);
  else if (need === "values") keepInMap(data.features, `${id} values ${layer}`, decodeHalves(values), KEPT_FEATURES);
  else {
    const features = makeFeatures(values, pack.tokens, values.length / pack.tokens, pack.prefixCount);
    keepInMap(data.features, `${id} ${layer}`, { ...features, model: pack.header.model, colours: null }, KEPT_FEATURES);
  }
  frame.live.key = "";
}

// Adds an entry; above the maximum, the oldest are dropped.
export function keepInMap(map, key, value, maximum) {
  map.delete(key);
  map.set(key, value);
  for (const oldestKey of map.keys()) if (map.size > maximum) map.delete(oldestKey);
}

export const entryShown = ({ data, frame }) => (frame.shown.wholeArrived ? data.whole : data.main);
const featuresOf = (data, entry, layer) => data.features.get(`${entry.id} ${layer}`) ?? null;

// The compared picture's features at the layer on view; null if nothing is compared, or until they have arrived.
function otherFeatures({ data, view, other, main }) {
  if (view.beside !== "compare" || !other) return null;
  return featuresOf(data, other, sameLayer(view.layer, main.pack, other.pack));
}

const areComparable = (features, otherFeatures) =>
  features && otherFeatures && features.model === otherFeatures.model && features.width === otherFeatures.width;

// The next data to request for the map on view, {what, entry, layer}; null if nothing is missing.
export function missingMatrix(lens) {
  const { data, view, main, other } = lens;
  const entry = entryShown(lens);
  const { needs } = wayOf(view);
  if (needs === "flows") {
    if (entry.pack.tokens > MOST_FLOWS || data.flows.has(entry.id)) return null;
    return { what: "flows", entry, layer: 0 };
  }
  if (needs === "values" && !data.features.has(`${entry.id} values ${view.layer}`))
    return { what: "values", entry, layer: view.layer };
  if (needs !== "features") return null;
  if (!featuresOf(data, entry, view.layer)) return { what: "features", entry, layer: view.layer };
  if (view.beside !== "compare" || !other || otherFeatures(lens)) return null;
  return { what: "features", entry: other, layer: sameLayer(view.layer, main.pack, other.pack) };
}

// ------------------------------------------------------------------------------------------------- the map on view

// The map on view, {values: of all tokens, pixels: colours or null, from: "other" if the query is a patch of the
// compared picture}; null until the data have arrived.
export function liveMap(lens) {
  const { choice, data, view, shown } = lens;
  const { live } = lens.frame;
  if (isExplained(view)) return null; // the source computes these maps
  const entry = entryShown(lens);
  const { needs, resembles } = wayOf(view);
  const matrix =
    needs === "flows"
      ? data.flows.get(entry.id)
      : featuresOf(data, entry, needs === "values" ? `values ${view.layer}` : view.layer);
  if (!matrix) return null;
  const comparedFeatures = needs === "features" ? otherFeatures(lens) : null;
  const isFromOther = resembles && !view.locked && choice.hoverOther >= 0 && areComparable(matrix, comparedFeatures);
  const token = isFromOther ? choice.hoverOther : shown.token;
  const headKey = needs === "values" ? `${view.head} ${shown.scale}` : "";
  const key = `${view.what} ${entry.id} ${view.layer} ${token} ${isFromOther} ${Boolean(comparedFeatures)} ${headKey}`;
  if (live.key === key) return live;
  const { tokens } = entry.pack;
  if (live.values?.length !== tokens) live.values = new Float32Array(tokens);
  live.pixels = null;
  const sharedFeatures = areComparable(matrix, comparedFeatures) ? comparedFeatures : null;
  MAP_MAKERS[view.what](live, {
    matrix,
    asked: token,
    from: isFromOther ? comparedFeatures : matrix,
    together: sharedFeatures,
    ...{ view, shown },
  });
  return Object.assign(live, { key, from: isFromOther ? "other" : null });
}

// Each function computes one map into `map`. matrix: the features or values of the layer, or all rollouts; asked:
// the query's token; from: the features of the query's picture; together: the compared picture's features if both
// pictures share components, else null.
const similarityMap = (map, { matrix, asked, from }) => similarityInto(map.values, matrix, asked, from);
const MAP_MAKERS = {
  similarity: similarityMap,
  norm: (map, { matrix }) => map.values.set(matrix.norms),
  contribution(map, { matrix, asked, view: { layer, head }, shown: { pack, scale } }) {
    const weights = new Float32Array(pack.tokens);
    rowInto(weights, 0, pack, layer, head, asked, scale);
    partsInto(map.values, weights, matrix, pack, head);
  },
  rollout: (map, { matrix, asked }) => flowInto(map.values, matrix, asked),
  components: (map, inputs) => {
    similarityMap(map, inputs);
    map.pixels = componentColours(inputs.matrix, inputs.together);
  },
};

function flowInto(values, halves, token) {
  const numbers = halfFloats();
  for (let j = 0, index = token * values.length; j < values.length; j++) values[j] = numbers[halves[index + j]];
}

// Compared pictures share principal components, so similar patches have the same colour in both.
function componentColours(features, comparedFeatures) {
  if (features.colours?.beside !== comparedFeatures) {
    const components = principalComponents(comparedFeatures ? [features, comparedFeatures] : [features]);
    features.colours = { beside: comparedFeatures, pixels: componentPixels(features, components) };
    if (comparedFeatures)
      comparedFeatures.colours = { beside: features, pixels: componentPixels(comparedFeatures, components) };
  }
  return features.colours.pixels;
}

// The compared picture's map for the way to look; null if there is none. Its query may be a patch of either picture.
export function otherMap(lens) {
  const { choice, data, view, shown } = lens;
  const features = featuresOf(data, entryShown(lens), view.layer),
    comparedFeatures = otherFeatures(lens);
  if (wayOf(view).needs !== "features" || !comparedFeatures) return null;
  const otherPatch = view.locked ? -1 : choice.hoverOther; // the query if it lies in the compared picture, else −1
  return COMPARED_MAP_MAKERS[view.what]?.(features, comparedFeatures, shown, otherPatch) ?? null;
}

const COMPARED_MAP_MAKERS = {
  norm: (_mine, comparedFeatures) => ({ values: comparedFeatures.norms, pixels: null, asked: -1 }),
  components(features, comparedFeatures) {
    const isShared = areComparable(features, comparedFeatures);
    return {
      values: comparedFeatures.norms,
      pixels: componentColours(comparedFeatures, isShared ? features : null),
      asked: -1,
      shared: isShared,
    };
  },
  similarity(features, comparedFeatures, { token }, otherPatch) {
    if (!areComparable(features, comparedFeatures)) return null;
    const values = new Float32Array(comparedFeatures.tokens);
    if (otherPatch >= 0) similarityInto(values, comparedFeatures, otherPatch, comparedFeatures);
    else similarityInto(values, comparedFeatures, token, features);
    return { values, pixels: null, asked: otherPatch };
  },
};

// Prints one flat colour for each patch over a faint photograph. Unchanged `pixels` are not printed again.
export function printComponents(print, pixels, { rows, columns }) {
  const { context, photo } = print;
  if (print.holds === pixels) return;
  const miniature = new OffscreenCanvas(columns, rows);
  const imageData = new ImageData(new Uint8ClampedArray(pixels.buffer), columns, rows);
  miniature.getContext("2d").putImageData(imageData, 0, 0);
  context.drawImage(softOf(photo), 0, 0);
  context.globalAlpha = COLOUR_OPACITY;
  context.imageSmoothingEnabled = false;
  context.drawImage(miniature, 0, 0, photo.width, photo.height);
  context.globalAlpha = 1;
  print.holds = pixels;
}
