// What the host gives: packs, which may come in pieces, and images, which take a moment to decode.

import { createAnswers } from "../core/answers.js";
import { mergePack, unpack } from "../core/core.js";
import { say } from "../drawing/dom.js";

const KEPT_BYTES = 150e6; // of packs as they came; decoded they take twice as much
const KEPT_IMAGES = 12;

// Both give the ids that came without bytes and are not here: the server has sent them to a lens that is gone (the page
// was reloaded), so they are to be asked for.
export function takePacks(lens, packs) {
  const missing = [];
  const roles = { main: null, other: null, whole: null };
  packs.forEach((given, place) => {
    const id = given.id ?? `#${place}`;
    const entry = takePack(lens.packs.get(id), given);
    if (!entry) return void missing.push(id);
    lens.packs.delete(id); // and in again at the end: what was not shown for longest goes first
    lens.packs.set(id, Object.assign(entry, { id, title: given.title ?? "", image: given.image ?? 0 }));
    if (given.verdict) entry.verdict = given.verdict;
    if (entry.pack.forwardScale !== null) roles.whole = entry;
    else if (!roles.main && !missing.includes(packs[0].id))
      roles.main = entry; // the second never stands in for the first
    else roles.other = entry;
  });
  dropOldPacks(lens, packs.length);
  Object.assign(lens, { main: roles.main ?? lens.main, other: roles.other, whole: roles.whole });
  return missing;
}

// More layers of a pack that is here join it.
function takePack(entry, given) {
  if (!given.bytes || entry?.bytes === given.bytes) return entry;
  const pack = unpack(given.bytes);
  const same = given.id && entry && entry.pack.tokens === pack.tokens && entry.pack.heads === pack.heads;
  if (same) mergePack(entry.pack, pack);
  else entry = { pack, answers: createAnswers(pack), size: 0 };
  entry.bytes = given.bytes;
  entry.size += given.bytes.byteLength;
  return entry;
}

function dropOldPacks(lens, shown) {
  let held = [...lens.packs.values()].reduce((sum, entry) => sum + entry.size, 0);
  for (const [id, entry] of [...lens.packs].slice(0, -shown)) {
    if (held <= KEPT_BYTES) break;
    lens.packs.delete(id);
    held -= entry.size;
  }
}

// Decoding happens off the main thread; until it is done the former picture stays, because a grey one would flash.
export function takeImages(lens, images) {
  const missing = [];
  lens.images = images.map((given) => {
    const known = given.id && lens.decoded.get(given.id); // perhaps still being decoded
    if (known) return known;
    const { title = "", credit = "", start, bitmap = null } = given;
    const image = { title, credit, start, bitmap, pending: false };
    if (given.bytes) {
      if (given.id) lens.decoded.set(given.id, image);
      for (const id of lens.decoded.keys()) if (lens.decoded.size > KEPT_IMAGES) lens.decoded.delete(id);
      decode(lens, image, given);
    } else if (given.id && !given.bitmap) missing.push(given.id);
    return image;
  });
  return missing;
}

function decode(lens, image, { bytes, mime }) {
  image.pending = true;
  createImageBitmap(new Blob([bytes], { type: mime }))
    .then((bitmap) => (image.bitmap = bitmap))
    .catch(() => say(lens.refs.message, "The image could not be read; its attention still can."))
    .finally(() => {
      image.pending = false;
      lens.photo = lens.otherPhoto = null;
      lens.schedule();
    });
}
