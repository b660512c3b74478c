// What has come from the source: traces with those of their layers that are here, and pictures. What was shown longest
// ago goes first.

import { createAnswers } from "../core/answers.js";
import { mergePack, unpack } from "../core/core.js";

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
