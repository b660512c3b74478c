// All state that the lens keeps between frames, in four objects: the choices, the data from the source, the content of
// the present frame, and the page around it. They are sealed: adding a property that is not listed here throws
// an error.

import { holds } from "../core/core.js";
import { placeName } from "../core/sentence.js";
import { DEFAULT_VIEW, queryOf, scaleOf, tokenOf } from "../core/view.js";
import { asks, FIRST_WAY, isSigned, sizeWords, WAYS, wayOf } from "../core/ways.js";
import { barColours } from "../drawing/light.js";
import { entryShown, isExplained, liveMap } from "./features.js";

// The lens as its functions take it: the four objects, and short names of what is read most in them.
export function createState(root, refs, host) {
  const [choice, data, frame, page] = [newChoice(), newData(host), newFrame(), newPage(root, refs)];
  return Object.freeze({
    choice,
    data,
    frame,
    page,
    root,
    refs,
    host,
    shown: frame.shown,
    get view() {
      return choice.view;
    },
    get main() {
      return data.main;
    },
    get other() {
      return data.other;
    },
    get whole() {
      return data.whole;
    },
    get see() {
      return page.see;
    },
  });
}

// A person's choices, and the place of the cursor.
const newChoice = () =>
  Object.seal({
    view: { ...DEFAULT_VIEW },
    viewToCome: null, //                    a view given before the first pack arrived
    place: "", //                           picture and model, as in an address
    hover: -1, //                           the token under the cursor, −1: none
    aim: -1, //                             the token at the end of the line (see arithmetic.js), −1: none
    hoverOther: -1, //                      the token under the cursor in the compared picture
    pointer: { target: null, x: 0, y: 0, fresh: false }, // the last pointer event; fresh: no frame has read it yet
    everHovered: false, //                  whether the cursor was ever on a patch; until then a sentence asks for that
    presenting: false, //                   whether the lens fills the screen
    layersWanted: !globalThis.navigator?.connection?.saveData, // whether all layers are fetched ahead
    layersLooked: false, //                 whether a person has played the layers
    dimension: -1, //                       dimension on show in the arithmetic; −1: that of the largest product
    scene: Object.seal({
      at: -1, //                            index of the scene on show
      heading: null, //                     the picture and model of the scene that is being opened
    }),
    opening: Object.seal({
      picture: "", //                       the picture on view, with its model
      given: false, //                      whether an address named the layer, head or patch
      touched: false, //                    whether a person has chosen something, or pointed at it
      moved: false, //                      whether the view was moved to the best moment
      kind: "", //                          what kind of row that is: "far" | "thing" | "nothing"
      wished: false, //                     whether "surprise me" waits for the search
      at: -1, //                            index of the moment shown by "surprise me"; −1: none
    }),
  });

// The data from the source, and the requests.
const newData = (host) =>
  Object.seal({
    host, //                                as lens.js describes: source, onView, link, …
    packs: new Map(), //                    id → entry: {id, trace, picture, pack, answers, size}
    main: null, //                          the entry of the large picture
    other: null, //                         the entry to compare with
    whole: null, //                         the entry of the whole pass with another scale or cuts
    pictures: new Map(), //                 id → {id, title, credit, start, bitmap}, also of former traces
    features: new Map(), //                 "id layer" → the features of a layer, see core/features.js; or its values
    habits: new Map(), //                   id → layer → the average behaviour of its heads, see habitOf
    flows: new Map(), //                    id → the rollout of every token, as float16
    overlay: null, //                       a map from the source: {what, query, id, values}
    labels: new Map(), //                   id of a trace → [[number, name, probability], …]
    correlations: new Map(), //             id and subject → the rank correlation, see explained.js
    moved: { key: "", text: "" }, //        the text about a cut's effect, see scissors.js
    search: null, //                        the search for the best moment: {id, pack, steps, scene, layers, moved}
    scenes: Object.seal({
      list: [], //                          saved views
      kept: null, //                        the text of this list that the host has stored
    }),
    requests: new Map(), //                 kind → {key, open, at, stop}, see asking.js
    fetchController: null, //               AbortController of the picture on its way
  });

// The content of the present frame, and data made once for many frames.
const newFrame = () =>
  Object.seal({
    // ---- derived from choices and data at the beginning of every frame (see below and paint.js)
    shown: Object.seal({
      answers: null, //                     answers of the pack on show: the main pack or the whole pass
      pack: null,
      token: -1, //                         the token whose row or column is shown
      scale: NaN,
      altered: false, //                    whether the scale differs from the trained one
      wholeMissing: false, //               whether a whole pass is needed and has not arrived
      wholeArrived: false,
      what: FIRST_WAY, //                   the way to look at heads, see core/ways.js
      layerMissing: false,
      domain: null, //                      the range of values for colours that all heads share
      mainDomain: null, //                  the range of values for the colours of the large picture
      clipped: 0, //                        number of patches above the exposure
      peak: null, //                        the token with the largest weight
      mark: -1, //                          the patch of `token`; −1: a prefix token
      row: null, //                         the record of the row, see told.js
    }),
    live: { key: "", values: null, pixels: null, from: null }, // the map of features.js
    betterHead: null, //                    {layer, head, query}: a head that shows more of this patch, see headline.js
    kinds: { pack: null, layers: 0, directions: null, meanRows: new Map() }, // see headline.js
    columnsDone: 0, //                      the share of the normalisers that columns need, 0 to 1

    // ---- sizes and colours from the page around the lens (see layout.js)
    pictureWidth: 0, //                     the width of the large picture, in CSS pixels
    pictureHeight: 0,
    ratio: 1, //                            device pixels per CSS pixel
    unit: 1, //                             device pixels per unit of a drawing; the page's type has 14 units
    colours: null, //                       {ink, soft, line, accent, font, convolution}
    ramp: barColours(), //                  256 CSS colours for bars and charts

    // ---- data for drawing, made once and used again
    photo: null, //                         the picture at the size of its canvas, see drawing/light.js
    otherPhoto: null,
    print: null, //                         the drawn heat or light
    otherPrint: null,
    behind: null, //                        the print behind the curtain
    thumbPhoto: null, //                    the picture at the size of a head's thumbnail
    wallHeat: null, //                      one pixel for each patch of every head of every layer
    wallCells: null, //                     the places of the wall's thumbnails, for clicks
    nearness: { key: "", colours: null, row: null, patch: -1, print: null }, // see beside.js
    // see drawPicture
    picture: { rows: 0, columns: 0, mark: -1, isKey: false, tag: null, clipped: [], behind: null },
    // the number beside the patch with the largest weight, or beside the place of this outline
    tag: { patch: -1, text: "", colour: "", outline: null, own: false },
    twin: { rows: 0, columns: 0, mark: -1 }, // see drawConvolution
    bar: null, //                           the colour bar's domain, unit, and whether its end is open
    barKey: "", //                          `bar` as a text; "": draw it again
    sorted: new Float32Array(0), //         the weights, largest first

    // ---- requests of frames
    requested: 0, //                        the requested frame; 0: none
    pointed: false, //                      whether a move of the cursor needs the frame
    dirty: false, //                        whether any other change needs the frame
    prepared: 0, //                         the parts of the first frame that are made, see paint.js
    painted: null, //                       the query of the last painted frame
    samples: new Float64Array(600), //      ms of script in each of the last frames under the cursor
    sampled: 0, //                          number of samples so far
  });

// The elements of the lens, its timers, and functions for its parts.
const newPage = (root, refs) =>
  Object.seal({
    root, //                                the element that holds the lens
    refs, //                                its parts by name, see markup.js
    ui: { height: 600, below: 0, bare: false },
    alive: true, //                         whether the lens is not destroyed yet
    touch: matchMedia("(hover: none)").matches,
    thumbs: [], //                          {button, canvas, number, saidNumber, print} of every head
    shares: [], //                          the elements with the share of each prefix token
    expected: null, //                      the bitmap of a picture whose trace is on its way, see layout.js
    openRow: "", //                         the name of the open row; "": none, see rows.js
    openedBeside: "convolution", //         the second picture for which a row was last opened
    spaceAbove: 0, //                       px of the page above the lens at the last layout

    // ---- elements of a module, under its name
    line: null, //                          see arithmetic.js
    explained: null,
    scissors: null,
    wall: null, //                          see wall.js
    sums: null, //                          see arithmetic.js
    kindline: null,
    share: null, //                         the sheet of Share, see saving.js
    see: null, //                           the face See, or null: see see/see.js

    // ---- timers
    reportTimer: 0,
    speakTimer: 0,
    askTimer: 0,
    searchTimer: 0, //                      of the search for the best moment

    // ---- set by lens.js
    schedule: null, //                      (onlyPointed?) requests a frame
    choose: null, //                        ({key: value}, source?) changes the view
    showView: null, //                      (view) shows another view
    opens: null, //                         () called when the view has moved to the best moment
  });

// Below: derives the drawn pack, the scale, the asking token and the missing data from the choices.

// Whether this way to look shows a map, which is computed from other data than queries and keys.
export const isMap = (way) => (WAYS[way]?.needs ?? "scores") !== "scores";

// Whether the source answers this kind of request ("layers", "features", "rollout", "relevance", "whole", "names"); a
// trace may limit the kinds. Comparing needs a host with several pictures; texts need a model trained on captions.
export const canAsk = (data, kind) =>
  kind === "compare"
    ? Boolean(data.host.compare)
    : (data.main?.trace?.offers ?? data.host.source.offers).includes(kind) &&
      (WAYS[kind]?.explains !== "text" || Boolean(data.main?.trace.text));

// Whether the row of controls with this name is open: see rows.js.
export const isRowOpen = ({ openRow, see }, name) => openRow === name && !see?.on;

const forwardScale = (pack) => (pack.forwardScale === "off" ? 1 : (pack.forwardScale ?? pack.scale));

// The scale (if not the trained one) and the cuts of the whole pass that the view needs.
export const passOf = ({ view, shown }) => ({
  scale: view.pass === "whole" && shown.altered ? view.scale : null,
  cut: view.cut,
});
// Matches a cut that takes values from another sample's pass. sampleOfPut returns this sample as in an address.
const PUT_PATTERN = /(^|;)(residual|mlp|attention|queries|keys|values|head)@/; // as in playground/cuts.py
export const sampleOfPut = ({ view, other }) =>
  PUT_PATTERN.test(view.cut) && other?.trace.words?.sample ? `sample:${other.trace.words.sample}` : "";
const cutOf = (entry) => (entry.trace.cut ?? []).join(";");

// The layers that can be shown: all if the source has more, else those of the pack.
export const layersAtHand = (data) =>
  Array.from({ length: data.main.pack.layers }, (_, layer) => layer).filter(
    (layer) => canAsk(data, "layers") || holds(data.main.pack, layer),
  );

export const labelsOf = (lens) => lens.data.labels.get(entryShown(lens).id) ?? null;

// The explained label, [number, name, probability]: the chosen label, or the likeliest if the map needs one; else null.
export function labelNow(lens) {
  const { view } = lens;
  if (!isExplained(view)) return null;
  const labels = labelsOf(lens);
  if (view.label !== "") return labels?.find(([number]) => String(number) === view.label) ?? null;
  return wayOf(view).explains === "label" ? (labels?.[0] ?? null) : null;
}

// A key for a map of explained.js, made of the map's subject and settings.
export function explanationKey({ view, main, shown }) {
  const way = wayOf(view);
  const settingsText = [way.throughLayers ? "" : view.layer, way.uses.includes("blank") ? view.blank : ""].join("");
  const queryText = asks(view) ? queryOf(shown.token, main.pack) : "";
  return `${view.what} ${way.explains === "text" ? view.text : view.label || queryText} ${settingsText}`;
}

// Fills frame.shown, the same object in every frame, so that nothing is allocated.
export function resolve(lens) {
  const { choice, frame, view, main, whole } = lens;
  const scale = scaleOf(view, main.pack);
  const isAltered = Math.abs(scale - main.pack.scale) > 1e-9;
  const isWholePass = view.pass === "whole" && isAltered;
  const needsPass = isWholePass || Boolean(view.cut);
  const passScale = isWholePass ? scale : main.pack.scale;
  const hasArrived =
    needsPass &&
    whole !== null &&
    Math.abs(forwardScale(whole.pack) - passScale) < 1e-6 &&
    cutOf(whole) === view.cut &&
    (whole.trace.words?.with ?? "") === sampleOfPut(lens);
  const { answers, pack } = hasArrived ? whole : main;
  return Object.assign(frame.shown, {
    answers,
    pack,
    token: choice.hover >= 0 && !view.locked ? choice.hover : tokenOf(view.query, main.pack),
    scale,
    altered: isAltered,
    wholeMissing: needsPass && !hasArrived,
    wholeArrived: hasArrived,
    what: isMap(view.what) ? FIRST_WAY : view.what,
    layerMissing: !holds(pack, view.layer),
  });
}

// The map to draw: computed here, or from the source for the present choices.
export function overlayNow(lens) {
  const { view, main, whole, shown } = lens;
  const { overlay } = lens.data;
  if (!isMap(view.what)) return null;
  const featureMap = liveMap(lens);
  if (featureMap || !overlay || overlay.what !== view.what) return featureMap;
  if ((overlay.query ?? null) !== null && overlay.query !== queryOf(shown.token, main.pack)) return null;
  if (isExplained(view) && overlay.about !== undefined && overlay.about !== explanationKey(lens)) return null;
  if ((overlay.id ?? main.id) !== (shown.wholeArrived ? whole : main).id) return null;
  return overlay;
}

// {most, least}: the patches with the largest and the smallest number, each {patch, value, place}. null where numbers
// have no sign, or while they are on their way.
export function endsOf(lens) {
  const { view, shown } = lens;
  const overlay = isSigned(view) ? overlayNow(lens) : null;
  if (!overlay) return null;
  const { pack } = shown;
  const start = overlay.values.length === pack.patches ? 0 : pack.prefixCount;
  let [highestPatch, lowestPatch] = [0, 0];
  for (let patch = 1; patch < pack.patches; patch++) {
    if (overlay.values[start + patch] > overlay.values[start + highestPatch]) highestPatch = patch;
    if (overlay.values[start + patch] < overlay.values[start + lowestPatch]) lowestPatch = patch;
  }
  const extremeAt = (patch) => ({ patch, value: overlay.values[start + patch], place: placeName(patch, pack.columns) });
  return { most: extremeAt(highestPatch), least: extremeAt(lowestPatch) };
}

// The value with its sign, such as "+2.8 %" or "−0.12 logits".
export const signedWords = (value, unit) => `${value < 0 ? "\u2212" : "+"}${sizeWords(Math.abs(value), unit)}`;

// The average behaviour of each head on the picture on view, as a name. The source measures it, layer by layer.

export function storeNames(data, id, layer, heads) {
  if (!data.habits.has(id)) data.habits.set(id, new Map());
  data.habits.get(id).set(layer, heads);
}

// The layer whose head names are fetched next, starting with the layer on view; −1: all have arrived.
export function missingNames({ data, view, main }) {
  if (!canAsk(data, "names")) return -1;
  const habits = data.habits.get(main.id);
  const layers = Array.from({ length: main.pack.layers }, (_, layer) => layer).filter((layer) => !habits?.has(layer));
  return layers.sort((a, b) => Math.abs(a - view.layer) - Math.abs(b - view.layer))[0] ?? -1;
}

// A head's average behaviour {label, short, colour, told, means, sink: [token, kind] or null}; null if unknown, or if
// the scale is not the trained one, at which the behaviour was measured.
export function habitOf({ data, frame }, layer, head) {
  if (frame.shown.altered) return null;
  const habit = data.habits.get(data.main.id)?.get(layer)?.[data.main.pack.headNumbers[head]];
  if (!habit) return null;
  const [label, short, colour, task = "", meaning = "", sink = null] = habit;
  return { label, short, colour, told: task, means: meaning, sink };
}
