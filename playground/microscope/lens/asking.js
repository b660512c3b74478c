// What the browser cannot work out from the queries and keys that it holds is asked of the source: more layers,
// features, flows, the names of heads, the whole pass with another scale. One question of a kind at a time; what nobody
// looks at any more is not waited for.
import { createAnswers } from "../core/answers.js";
import { decodeHalves, holdsAll, holdsHead, mergePack, unpack } from "../core/core.js";
import { sameLayer } from "../core/view.js";
import { WAYS, wayOf } from "../core/ways.js";
import { say } from "../drawing/dom.js";
import { missingMatrix, takeMatrix } from "./features.js";
import { missingLayers, paintFilmSoon } from "./film.js";
import { canAsk, missingNames, overlayNow, passOf, resolve, takeNames } from "./shown.js";

// What has come from the source: traces with those of their layers that are here, and pictures. What was shown longest
// ago goes first.

// Unless the source wants less to be kept, see lens.js:
const KEPT_BYTES = 150e6; // of packs as they came; decoded they take twice as much
const KEPT_PICTURES = 12;

// The entry of a trace, made by the first layers that come; more of them join it.
export function receive(lens, trace, bytes) {
  const pack = unpack(bytes);
  const entry = lens.packs.get(trace.id) ?? { id: trace.id, trace, pack, answers: createAnswers(pack), size: 0 };
  if (entry.pack !== pack) mergePack(entry.pack, pack);
  entry.size += bytes.byteLength;
  lens.packs.set(trace.id, entry);
  return entry;
}

// Called with what is shown now: it is used last, and stays.
export function dropOld(lens, shown) {
  const { film } = shown[0].trace.picture;
  if (film) for (const [id, { trace }] of lens.packs) if (trace.picture.film === film) lens.packs.delete(id);
  for (const entry of shown) {
    lens.packs.delete(entry.id);
    lens.packs.set(entry.id, entry);
  }
  let held = [...lens.packs.values()].reduce((sum, entry) => sum + entry.size, 0);
  for (const [id, entry] of lens.packs) {
    if (held <= (lens.host.source.keeps ?? KEPT_BYTES) || shown.includes(entry)) break;
    lens.packs.delete(id);
    held -= entry.size;
  }
}

// {id, title, credit, start, bitmap}: decoded once. Without a bitmap the picture could not be read.
export async function receivePicture(lens, trace, signal) {
  const { id } = trace.picture;
  let picture = lens.pictures.get(id);
  if (!picture) {
    const bitmap = await lens.host.source.picture(trace, { signal });
    picture = lens.pictures.get(id) ?? { ...trace.picture, bitmap }; // two traces of it are compared: one picture
  }
  lens.pictures.delete(id);
  lens.pictures.set(id, picture);
  for (const [old, { bitmap }] of lens.pictures) {
    if (lens.pictures.size <= (lens.host.source.keepsPictures ?? KEPT_PICTURES)) break;
    lens.pictures.delete(old);
    if (![lens.main, lens.other].some((entry) => entry?.picture?.bitmap === bitmap)) bitmap?.close?.();
  }
  return picture;
}

const REST = 150; // ms: the dial may still be turning
const ASKED_AGAIN = 5000; // ms after which what failed is asked again

// A choice puts it off, for the next one may follow; a move of the cursor does not, for it may go on for long. The
// layer on view comes at once.
export function askForMissing(lens, pointed) {
  if (pointed && lens.asking) return;
  clearTimeout(lens.asking);
  const wait = lens.main && holdsAll(lens.main.pack, lens.view.layer) ? REST : 0;
  lens.asking = setTimeout(() => {
    lens.asking = 0;
    if (lens.alive) askNow(lens);
  }, wait);
}

function askNow(lens) {
  const { view, main, other } = lens;
  if (!main) return;
  const shown = resolve(lens); // what has just come is not missing any more, though no frame has been drawn since
  const found = wantedLayer(lens);
  const matrix = missingMatrix(lens);
  if (found) askForLayer(lens, ...found);
  if (matrix) askForMatrix(lens, matrix);
  else if (wayOf(view).needs === "flows" && view.locked && !overlayNow(lens)) askForLocked(lens, view.what);
  if (shown.wholeMissing && canAsk(lens, "whole")) askForWhole(lens);
  if (view.beside === "compare" && !other && lens.host.compare) lens.host.compare();
  if (found) return;
  lens.host.allHere?.();
  askForNames(lens, main);
}

// Asks once; when the answer has come, `take` is called if the lens still shows the trace, and a frame is drawn unless
// it gives false. A new question of the same kind ends the former one.
export function askOnce(lens, kind, key, question, take) {
  const last = lens.asked.get(kind);
  if (last?.key === key && (last.open || performance.now() - last.at < ASKED_AGAIN)) return;
  last?.stop.abort();
  const asked = { key, open: true, at: performance.now(), stop: new AbortController() };
  lens.asked.set(kind, asked);
  question({ signal: asked.stop.signal })
    .then((answer) => {
      if (!lens.alive || asked.stop.signal.aborted) return;
      const seen = take(answer); // what can't be read has failed, too
      lens.asked.delete(kind);
      if (seen !== false) lens.schedule();
      askNow(lens); // the next question does not wait for a frame
    })
    .catch((error) => {
      if (!lens.alive || asked.stop.signal.aborted) return;
      Object.assign(asked, { open: false, at: performance.now() });
      lens.host.failed?.(error);
      lens.schedule();
      setTimeout(() => lens.alive && lens.schedule(), ASKED_AGAIN);
    });
}

// What was asked for another picture is not wanted any more.
export function stopAsking(lens) {
  for (const { stop } of lens.asked.values()) stop.abort();
  lens.asked.clear();
}

// First the layers that are to be shown, then the neighbours of the layer shown, ahead of time, and what the wall and
// the film have yet to show: [entry, layer], or null.
function wantedLayer(lens) {
  const { view, shown, main, whole, other } = lens;
  if (!canAsk(lens, "layers")) return null;
  const wanted = [[main, view.layer]];
  if (shown.wholeArrived) wanted.push([whole, view.layer]);
  if (other && view.beside === "compare") wanted.push([other, sameLayer(view.layer, main.pack, other.pack)]);
  if (!main.trace?.sparing) wanted.push([main, view.layer + 1], [main, view.layer - 1]);
  const there = ([entry, layer]) => layer >= 0 && layer < entry.pack.layers && !holdsAll(entry.pack, layer);
  const more = missingLayers(lens).map((layer) => [shown.wholeArrived ? whole : main, layer]);
  return wanted.find(there) ?? more[0] ?? null;
}

function askForLayer(lens, { trace, id }, layer) {
  const question = (how) => lens.host.source.layers(trace, [layer], how);
  askOnce(lens, "layers", `${id} ${layer}`, question, (bytes) => {
    keepNew(lens, receive(lens, trace, bytes));
    if (id === lens.other?.id || layer === lens.view.layer || lens.view.beside === "wall") return true;
    paintFilmSoon(lens); // which alone shows it
    return !wantedLayer(lens);
  });
}

function askForMatrix(lens, { what, entry, layer }) {
  const { source } = lens.host;
  const offered = Object.values(WAYS).find(({ needs }) => needs === what)?.offer ?? what;
  if (!canAsk(lens, offered)) return;
  const question = (how) => (what === "flows" ? source.flows(entry.trace, how) : source[what](entry.trace, layer, how));
  askOnce(lens, what, `${entry.id} ${layer}`, question, (values) => takeMatrix(lens, { what, entry, layer, values }));
}

// A map of one patch through all layers.
function askForLocked(lens, what) {
  if (!canAsk(lens, what)) return;
  const { view, shown, main, whole } = lens;
  const { trace } = shown.wholeArrived ? whole : main;
  const { query } = view;
  const question = (how) => lens.host.source[what](trace, query, how);
  askOnce(lens, what, `${trace.id} ${query}`, question, (values) => {
    lens.overlay = { what, query, id: trace.id, values: decodeHalves(values) };
  });
}

function askForWhole(lens) {
  const { view, main } = lens;
  const wanted = passOf(lens);
  const question = async (how) => {
    const trace = await lens.host.source.whole(main.trace, wanted, how).catch((error) => {
      if (error.status === 400 && wanted.cut) lens.choose({ cut: "" }); // a link may say anything
      throw error;
    });
    return { trace, bytes: await lens.host.source.layers(trace, [view.layer], how) };
  };
  askOnce(lens, "whole", `${main.id} ${wanted.scale} ${wanted.cut}`, question, ({ trace, bytes }) => {
    lens.whole = receive(lens, trace, bytes);
    keepNew(lens, lens.whole);
  });
}

// The dial may ask for a hundred whole passes without another picture being shown.
const keepNew = (lens, entry) => dropOld(lens, [lens.main, lens.other, lens.whole, entry].filter(Boolean));

function askForNames(lens, { trace, id }) {
  const layer = missingNames(lens);
  if (layer < 0) return;
  const question = (how) => lens.host.source.names(trace, layer, how);
  askOnce(lens, "names", `${id} ${layer}`, question, (heads) => takeNames(lens, id, layer, heads));
}

// Brings what is missing before anything can be drawn of a trace: its picture, and the head on view. Until both are
// here the former picture stays.

// The entries of these traces, or null if something else was asked for meanwhile. A source that refuses raises.
export async function bring(lens, traces, view) {
  lens.coming?.abort();
  lens.coming = new AbortController();
  const { signal } = lens.coming;
  try {
    const found = await Promise.all(traces.map((trace) => bringOne(lens, trace, view, signal)));
    return signal.aborted ? null : found;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

async function bringOne(lens, trace, view, signal) {
  const [entry, picture] = await Promise.all([
    headOnView(lens, trace, view, signal),
    receivePicture(lens, trace, signal).catch((error) => withoutPicture(lens, trace, error, signal)),
  ]);
  return Object.assign(entry, { trace, picture });
}

// A view without a layer leaves the choice to the source; a view of another network may name a layer that this one has
// not.
async function headOnView(lens, trace, view, signal) {
  const { source } = lens.host;
  const { layer, head } = headWanted(view);
  const known = lens.packs.get(trace.id);
  if (known && (layer === null || layer >= known.pack.layers || holdsHead(known.pack, layer, head))) return known;
  const bytes = await source
    .layers(trace, layer === null ? null : [layer], { heads: [head], signal })
    .catch((error) => {
      if (signal.aborted || error.status !== 400) throw error;
      return source.layers(trace, null, { signal });
    });
  return receive(lens, trace, bytes);
}

// {layer: null where the source chooses, head}
export const headWanted = ({ layer, head }) => ({ layer: numberIn(layer), head: numberIn(head) ?? 0 });

// An address may say anything.
const numberIn = (word) => (/^\d{1,3}$/.test(String(word ?? "")) ? Number(word) : null);

function withoutPicture(lens, trace, error, signal) {
  if (signal.aborted) throw error;
  say(lens.refs.message, "The image could not be read; its attention still can.");
  return { ...trace.picture, bitmap: null };
}
