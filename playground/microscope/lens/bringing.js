// Brings what is missing before anything can be drawn of a trace: its picture, and the head on view. Until both are
// here the former picture stays.

import { holdsHead } from "../core/core.js";
import { say } from "../drawing/dom.js";
import { receive, receivePicture } from "./given.js";

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
