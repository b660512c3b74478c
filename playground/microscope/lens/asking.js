// Requests data that the browser cannot compute from the queries and keys of a pack: more layers, features, flows,
// names of heads, whole passes with another scale. At most one request of each kind runs; requests that are no longer
// needed are cancelled.
import { createAnswers } from "../core/answers.js";
import { decodeHalves, holdsAll, holdsHead, mergePack, unpack } from "../core/core.js";
import { LEAST_SINK_SHARE } from "../core/kinds.js";
import { isLate } from "../core/moments.js";
import { opensAtMoment, sameLayer } from "../core/view.js";
import { WAYS, wayOf } from "../core/ways.js";
import { setText } from "../drawing/dom.js";
import { missingLayers } from "./curtain.js";
import { entryShown, missingMatrix, storeMatrix } from "./features.js";
import { searchAll } from "./moment.js";
import { canAsk, isRowOpen, missingNames, overlayNow, passOf, resolve, sampleOfPut, storeNames } from "./state.js";

// The cache of pictures and traces. A trace holds the layers received so far. Entries that were shown longest ago are
// evicted.

// The bounds of the cache. A source may set others: `keeps` and `keepsPictures`, see lens.js.
const KEPT_BYTES = 150e6; // bytes of received packs; decoded packs take twice as much
const KEPT_PICTURES = 12;

// Returns the entry of a trace. The first layers create the entry, later layers are merged into it.
export function receive(data, trace, bytes) {
  const pack = unpack(bytes);
  const entry = data.packs.get(trace.id) ?? { id: trace.id, trace, pack, answers: createAnswers(pack), size: 0 };
  if (entry.pack !== pack) mergePack(entry.pack, pack);
  entry.size += bytes.byteLength;
  data.packs.set(trace.id, entry);
  return entry;
}

// Deletes the entries shown longest ago until all fit into the bound of bytes.
// The entries in `shown` stay.
export function dropOld(data, shown) {
  for (const entry of shown) {
    data.packs.delete(entry.id);
    data.packs.set(entry.id, entry);
  }
  let totalBytes = [...data.packs.values()].reduce((sum, entry) => sum + entry.size, 0);
  for (const [id, entry] of data.packs) {
    if (totalBytes <= (data.host.source.keeps ?? KEPT_BYTES) || shown.includes(entry)) break;
    data.packs.delete(id);
    totalBytes -= entry.size;
  }
}

// Returns a promise of the picture, {id, title, credit, start, bitmap}, which is decoded only once. Rejects if the
// picture can't be read.
export async function receivePicture(data, trace, signal) {
  const { id } = trace.picture;
  let picture = data.pictures.get(id);
  if (!picture) {
    const bitmap = await data.host.source.picture(trace, { signal });
    picture = data.pictures.get(id) ?? { ...trace.picture, bitmap }; // another call may have stored one
  }
  data.pictures.delete(id);
  data.pictures.set(id, picture);
  for (const [id, { bitmap }] of data.pictures) {
    if (data.pictures.size <= (data.host.source.keepsPictures ?? KEPT_PICTURES)) break;
    data.pictures.delete(id);
    if (![data.main, data.other].some((entry) => entry?.picture?.bitmap === bitmap)) bitmap?.close?.();
  }
  return picture;
}

const REQUEST_DELAY = 150; // ms before a request: the dial may still be moving
const RETRY_DELAY = 5000; // ms until a failed request is repeated

// Requests missing data after a delay. Each new choice restarts the delay; a move of the cursor does not. If the layer
// on view is missing, the request is sent at once.
export function askForMissing(lens, onlyPointed) {
  const { data, page } = lens;
  if (onlyPointed && page.askTimer) return;
  clearTimeout(page.askTimer);
  const delay = data.main && holdsAll(data.main.pack, lens.choice.view.layer) ? REQUEST_DELAY : 0;
  page.askTimer = setTimeout(() => {
    page.askTimer = 0;
    if (page.alive) askNow(lens);
  }, delay);
}

function askNow(lens) {
  const { data, page, view, main, other } = lens;
  if (!main) return;
  // Recomputes `shown`, because data that have just arrived may make a request unnecessary.
  const shown = resolve(lens);
  const request = wantedLayer(lens);
  const matrix = missingMatrix(lens);
  if (request) askForLayer(lens, ...request);
  if (matrix) askForMatrix(lens, matrix);
  else if (wayOf(view).needs === "flows" && view.locked && !overlayNow(lens)) askForLocked(lens, view.what);
  if (shown.wholeMissing && canAsk(data, "whole")) askForWhole(lens);
  if (view.beside === "compare" && !other && data.host.compare) data.host.compare();
  if (request) return;
  const showsNames = ["head", "scale"].some((name) => isRowOpen(page, name)) || page.see?.drawer === "numbers";
  if (showsNames || !page.see || shown.row?.most >= LEAST_SINK_SHARE) askForNames(lens, main);
}

// Sends one request. If the lens still shows the same trace, `accept` gets the answer, and a frame is drawn unless
// `accept` returns false. A new request of the same kind cancels the former one.
export function askOnce(lens, kind, key, sendRequest, accept) {
  const { data, page } = lens;
  const formerRequest = data.requests.get(kind);
  if (formerRequest?.key === key && (formerRequest.open || performance.now() - formerRequest.at < RETRY_DELAY)) return;
  formerRequest?.stop.abort();
  const request = { key, open: true, at: performance.now(), stop: new AbortController() };
  data.requests.set(kind, request);
  sendRequest({ signal: request.stop.signal })
    .then((answer) => {
      if (!page.alive || request.stop.signal.aborted) return;
      const result = accept(answer); // if `accept` throws, the request counts as failed
      data.requests.delete(kind);
      if (result !== false) page.schedule();
      askNow(lens); // the next request does not wait for a frame
    })
    .catch((error) => {
      if (!page.alive || request.stop.signal.aborted) return;
      Object.assign(request, { open: false, at: performance.now() });
      data.host.failed?.(error);
      page.schedule();
      setTimeout(() => page.alive && page.schedule(), RETRY_DELAY);
    });
}

// Cancels all requests, because another picture is shown.
export function stopAsking(data) {
  for (const { stop } of data.requests.values()) stop.abort();
  data.requests.clear();
}

// The next layer to fetch: [entry, layer], or null. The layers on view come first, then those of the moments, of the
// wall and of Play.
function wantedLayer(lens) {
  const { choice, data, page, view, main, whole, other, shown } = lens;
  if (!canAsk(data, "layers")) return null;
  const layers = [[main, view.layer]];
  if (shown.wholeArrived) layers.push([whole, view.layer]);
  if (other && view.beside === "compare") layers.push([other, sameLayer(view.layer, main.pack, other.pack)]);
  const sentenceEntry = shown.wholeArrived ? whole : main;
  const { sparing, private: isPrivate } = main.trace ?? {};
  const isMissing = ([entry, layer]) => layer >= 0 && layer < entry.pack.layers && !holdsAll(entry.pack, layer);
  const showsMoments = Boolean(page.see) && view.beside !== "wall";
  const isSearched = showsMoments || (sparing && opensAtMoment(main.trace)); // moments come from the later layers
  const needsLateOnly = isSearched && !choice.layersLooked && (sparing || !isPrivate);
  const optionalLayers = missingLayers(lens, isSearched && sparing && !navigator.connection?.saveData)
    .filter((layer) => !needsLateOnly || isLate(layer, main.pack))
    .map((layer) => [sentenceEntry, layer]);
  return layers.find(isMissing) ?? optionalLayers[0] ?? null;
}

// Whether all layers that the view may show have arrived.
export const isComplete = (lens) => !wantedLayer(lens);

function askForLayer(lens, { trace, id }, layer) {
  const { choice, data } = lens;
  const sendRequest = (options) => data.host.source.layers(trace, [layer], options);
  askOnce(lens, "layers", `${id} ${layer}`, sendRequest, (bytes) => {
    dropOldExcept(data, receive(data, trace, bytes));
    if (id === data.other?.id || layer === choice.view.layer || choice.view.beside === "wall") return true;
    return isComplete(lens); // nothing shows this layer yet
  });
}

function askForMatrix(lens, { what: need, entry, layer }) {
  const { data } = lens;
  const { source } = data.host;
  const requestKind = Object.values(WAYS).find(({ needs }) => needs === need)?.offer ?? need;
  if (!canAsk(data, requestKind)) return;
  const sendRequest = (options) =>
    need === "flows" ? source.flows(entry.trace, options) : source[need](entry.trace, layer, options);
  askOnce(lens, need, `${entry.id} ${layer}`, sendRequest, (values) =>
    storeMatrix(lens, { what: need, entry, layer, values }),
  );
}

// Requests a map of the locked patch through all layers.
function askForLocked(lens, kind) {
  const { data, view } = lens;
  if (!canAsk(data, kind)) return;
  const { trace } = entryShown(lens);
  const { query } = view;
  const sendRequest = (options) => data.host.source[kind](trace, query, options);
  askOnce(lens, kind, `${trace.id} ${query}`, sendRequest, (values) => {
    data.overlay = { what: kind, query, id: trace.id, values: decodeHalves(values) };
  });
}

function askForWhole(lens) {
  const { data, view, main } = lens;
  const source = sampleOfPut(lens);
  const passSettings = { ...passOf(lens), ...(source && { from: source }) };
  const sendRequest = async (options) => {
    const trace = await data.host.source.whole(main.trace, passSettings, options).catch((error) => {
      // a link may name a cut that this model can't make
      if (error.status === 400 && passSettings.cut) lens.page.choose({ cut: "" });
      throw error;
    });
    return { trace, bytes: await data.host.source.layers(trace, [view.layer], options) };
  };
  askOnce(
    lens,
    "whole",
    `${main.id} ${passSettings.scale} ${passSettings.cut} ${source}`,
    sendRequest,
    ({ trace, bytes }) => {
      data.whole = receive(data, trace, bytes);
      dropOldExcept(data, data.whole);
    },
  );
}

// Drops old whole passes, because the dial may ask for a hundred of them for one picture.
const dropOldExcept = (data, entry) => dropOld(data, [data.main, data.other, data.whole, entry].filter(Boolean));

function askForNames(lens, { trace, id }) {
  const { data } = lens;
  const layer = missingNames(lens);
  if (layer < 0) return;
  const sendRequest = (options) => data.host.source.names(trace, layer, options);
  askOnce(lens, "names", `${id} ${layer}`, sendRequest, (heads) => storeNames(data, id, layer, heads));
}

// Below: fetches a trace's picture and the head on view. The former picture stays until both have arrived.

// Fetches for the picture that is shown next: the result of `work(signal)`, or null if a newer call has ended it.
// Throws if the source refuses.
async function fetchAlone(data, work) {
  data.fetchController?.abort();
  data.fetchController = new AbortController();
  const { signal } = data.fetchController;
  try {
    const result = await work(signal);
    return signal.aborted ? null : result;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

export const fetchEntries = (lens, traces, view) =>
  fetchAlone(lens.data, (signal) => Promise.all(traces.map((trace) => bringOne(lens, trace, view, signal))));

// Fetches a person's own picture with all layers in which the best moment is searched, because the picture opens in
// that moment: {entry, scene}.
export const bringBest = ({ data, page }, trace) =>
  fetchAlone(data, async (signal) => {
    const held = data.packs.get(trace.id)?.pack;
    const lateLayers = Array.from({ length: trace.layers }, (_, n) => n).slice(Math.floor(trace.layers / 2));
    const wanted = lateLayers.filter((layer) => !held || !holdsAll(held, layer));
    const [picture, bytes] = await Promise.all([
      receivePicture(data, trace, signal).catch((error) => withoutPicture(page, trace, error, signal)),
      wanted.length ? data.host.source.layers(trace, wanted, { signal }) : null,
    ]);
    if (bytes) receive(data, trace, bytes);
    const entry = Object.assign(data.packs.get(trace.id), { trace, picture });
    const scene = signal.aborted ? null : await searchAll(data, entry, signal);
    return scene && { entry, scene };
  });

async function bringOne({ data, page }, trace, view, signal) {
  const [entry, picture] = await Promise.all([
    headOnView(data, trace, view, signal),
    receivePicture(data, trace, signal).catch((error) => withoutPicture(page, trace, error, signal)),
  ]);
  return Object.assign(entry, { trace, picture });
}

// Returns the entry with the head that the view names. If the view has no layer, or one that this network lacks, the
// source chooses the layer.
async function headOnView(data, trace, view, signal) {
  const { source } = data.host;
  const { layer, head } = wantedHead(view);
  const entry = data.packs.get(trace.id);
  if (entry && (layer === null || layer >= entry.pack.layers || holdsHead(entry.pack, layer, head))) return entry;
  const bytes = await source
    .layers(trace, layer === null ? null : [layer], { heads: [head], signal })
    .catch((error) => {
      if (signal.aborted || error.status !== 400) throw error;
      return source.layers(trace, null, { signal });
    });
  return receive(data, trace, bytes);
}

// {layer, head} of a view; `layer` is null if the source is to choose.
const wantedHead = ({ layer, head }) => ({ layer: numberIn(layer), head: numberIn(head) ?? 0 });

// The number that a text from an address contains; null for any other text.
const numberIn = (text) => (/^\d{1,3}$/.test(String(text ?? "")) ? Number(text) : null);

function withoutPicture(page, trace, error, signal) {
  if (signal.aborted) throw error;
  setText(page.refs.message, "The image could not be read; its attention still can.");
  return { ...trace.picture, bitmap: null };
}
