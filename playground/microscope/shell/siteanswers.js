// Answers the toolbar's requests in the page itself: the list of samples, models and their download, and a person's own
// pictures, which stay in the browser. Below: weights, and the worker that computes.

import { sharing } from "../engine/faster/threads.js";
import { visit } from "./address.js";
import { catalogue, choice, sampleNamed } from "./choice.js";
import { addressOf, answerHere, ask, fetchFile } from "./http.js";
import { askNearer, createPreparedSource } from "./httpsource.js";
import { notify } from "./notice.js";
import { ownPictures } from "./own.js";
import { createModelDoor, ownModelsWithin } from "./ownmodels.js";
import { toBitmap } from "./readable.js";
import { createWorkerSource, lateWorker } from "./workersource.js";

const SMALL_SIDE = 96; // pixels of a small picture: two to a point
const MOST_PIXELS = 120e6; // of a picture; more would fill the memory of a phone
const LEAST_SIDE = 8; // pixels, as in Python (playground/pictures/decoding.py)
const SIDES = "A picture's sides may be from 8 to 20,000 pixels"; // Python's own sentence
const LARGER = "crop or resize it.";
const OPENING_TIME = 20_000; // ms; a file may be made so that decoding it never ends
const UNREADABLE =
  "This browser can't open that file as a picture. JPEG, PNG, WebP, AVIF and GIF work everywhere; HEIC and TIFF only " +
  "in some browsers.";

const SLOW_FILE = "This browser takes too long to open that file.";
const SAMPLES_ALONE = "This page was written without a network, and shows its samples alone.";

const answered = (body, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
const sorry = (says, status = 400) => answered({ says }, status);

// `models`: as httpsource.js has them, each with {good_for, licence, suits} for its card; `kept`: see below;
// `catalogueFrom(found)` completes the list of samples; `arrived(model)` is told when one is here; `without` is
// said where there is none; `wall` is the file of the wall of moments.
export function createPageAnswers({ models, kept, catalogueFrom, arrived, read, wall, without = SAMPLES_ALONE }) {
  const readJson = (name, asked) => read(name, asked).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
  const routes = {
    "api/models": async () => {
      const cards = Object.entries(models).map(
        async ([name, { title, good_for, licence, suits, megabytes, assumed }]) => {
          const here = await kept.isKept(name);
          return { name, title, good_for, licence, suits, megabytes, assumed, here, quick: false };
        },
      );
      return answered({ open: false, cards: await Promise.all(cards) });
    },
    "api/fetching": async (words, { method }) => {
      const model = words.get("model");
      if (!models[model]) return sorry("This page has no such model.", 404);
      if (method === "DELETE") return answered([kept.end(model)]);
      const told = method === "POST" ? kept.begin(model) : kept.state(model);
      if (!told) return sorry("It is not on its way.", 404);
      if (told.arrived) arrived(model);
      return answered(told);
    },
    "api/moments": async (_, asked) => answered(await readJson(wall, asked)),
    "api/pictures": async (_, { method, body, headers }) => {
      if (method === "DELETE") return answered({});
      if (!Object.keys(models).length) return sorry(without);
      const opened = openHere(body, decodeURIComponent(headers["X-Playground-Name"] ?? "a picture"));
      return Promise.race([opened, new Promise((go) => setTimeout(() => go(sorry(SLOW_FILE, 415)), OPENING_TIME))]);
    },
  };

  return (path, asked) => {
    const [name, query] = path.split("?");
    if (routes[name]) return routes[name](new URLSearchParams(query), asked);
    if (name.split("/")[0] === "api") return Promise.resolve(sorry("This page has no server that could answer.", 404));
    return readJson(name, asked).then(async (found) => answered(await catalogueFrom(found)));
  };
}

async function openHere(blob, name) {
  const claimed = await sizeClaimed(blob);
  if (!claimed) return sorry(UNREADABLE, 415);
  if (Math.min(...claimed) < LEAST_SIDE)
    return sorry(`${SIDES}, and this one is ${claimed.join(" × ")}: ${LARGER}`, 415);
  const pixels = claimed[0] * claimed[1];
  if (pixels > MOST_PIXELS)
    return sorry(`The picture has ${Math.round(pixels / 1e6)} million pixels: make it smaller first.`, 413);
  const bitmap = await toBitmap(blob).catch(() => null);
  if (!bitmap) return sorry(UNREADABLE, 415);
  const { width, height } = bitmap;
  const thumb = await smallPicture(bitmap);
  bitmap.close();
  return answered({ id: await idOf(blob), title: name, thumb, width, height });
}

// [width, height] from the picture's header, read before decoding because a small file may claim more pixels than
// memory holds; null if it has no such header.
async function sizeClaimed(blob) {
  const image = new Image();
  const src = URL.createObjectURL(blob.slice(0, blob.size, "image/jpeg")); // told by its bytes
  const size = new Promise((found) => {
    image.onload = () => found(image.naturalWidth ? [image.naturalWidth, image.naturalHeight] : null);
    image.onerror = () => found(null);
  });
  image.src = src;
  return size.finally(() => URL.revokeObjectURL(src));
}

// An id that is the same for the same file.
async function idOf(blob) {
  const digest = await globalThis.crypto?.subtle?.digest("SHA-256", await blob.arrayBuffer());
  return hexOf(digest ?? crypto.getRandomValues(new Uint8Array(8)).buffer).slice(0, 16);
}

async function smallPicture(bitmap) {
  const side = Math.min(bitmap.width, bitmap.height);
  const canvas = new OffscreenCanvas(SMALL_SIDE, SMALL_SIDE);
  const context = canvas.getContext("2d");
  context.fillStyle = "white";
  context.fillRect(0, 0, SMALL_SIDE, SMALL_SIDE);
  const [left, top] = [(bitmap.width - side) / 2, (bitmap.height - side) / 2];
  context.drawImage(bitmap, left, top, side, side, 0, 0, SMALL_SIDE, SMALL_SIDE);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/jpeg", quality: 0.8 })).arrayBuffer());
  return `data:image/jpeg;base64,${btoa(String.fromCharCode(...bytes))}`;
}

// If the operator wants it, a person's own photographs are computed by their browser and not sent. Features that need
// Python ask the person first.

const ENGINE = "api/engine";
const WOULD_TRAVEL = "This is computed by the server: your photograph would travel to it.";
const COMPUTED_HERE = ["open", "layers", "picture", "features", "flows", "rollout", "whole", "moved", "names"];

// `models`: names of those that this browser can run.
export function computeOwnHere(models) {
  const mayGo = new Set(); // photographs that may travel
  let coming = null;
  const begun = () => {
    coming ??= begin();
    coming.catch(() => {
      coming = null; // the next request tries again
    });
    return coming;
  };

  async function begin() {
    const told = await (await ask(ENGINE)).json();
    const here = computeHere(told, addressOf, ({ mine, sample }) => (mine ? ownPicture(mine) : samplePicture(sample)));
    const { kept, networks, computing } = here;
    const own = here.ownModels((model) => choice.set({ model, chose: true }));
    const source = createPreparedSource({ computing, models: networks, isKept: kept.isKept, preparedOf: () => null });
    const arrived = (model) => {
      catalogue.own = { model, detail: 1 };
    };
    const answers = createPageAnswers({ models: networks, kept, arrived });
    const small = Object.keys(networks).find((name) => !networks[name].asked);
    if (small && !(await kept.isKept(catalogue.own.model))) catalogue.own = { model: small, detail: 1 };
    brought = own.kept;
    return { source, answers, own };
  }
  let brought = new Map(); // models that this person has opened from files
  visit.models = createModelDoor(async () => (await begun()).own, choice);

  const isOurs = (path, { method, travels }) =>
    (path === "api/pictures" && method === "POST" && !travels) ||
    (path.startsWith("api/fetching?") && models.includes(new URLSearchParams(path.split("?")[1]).get("model")));
  answerHere((path, asked) => (isOurs(path, asked) ? begun().then(({ answers }) => answers(path, asked)) : null));

  const late =
    (name) =>
    async (...asked) =>
      (await begun()).source[name](...asked);
  const has = (what) => brought.has(what.model) || (Boolean((what.words ?? what).mine) && models.includes(what.model));
  askNearer({ has, ...Object.fromEntries(COMPUTED_HERE.map((name) => [name, late(name)])), beginWith: async () => {} });

  ownPictures.mayTravel = async (id) => {
    if (!mayGo.has(id) && (await asksWhetherItMay())) mayGo.add(id);
    return mayGo.has(id);
  };
}

// A sample, for a model that a person has opened from files.
async function samplePicture(name) {
  const { title, credit, hint, start, picture } = sampleNamed(name);
  const blob = await (await fetch(addressOf(picture))).blob();
  const bitmap = await createImageBitmap(blob);
  const { width, height } = bitmap;
  bitmap.close();
  return { id: name, title, credit, hint, start, width, height, opens: {}, file: async () => blob };
}

const asksWhetherItMay = () =>
  new Promise((go) => {
    const action = { label: "Send it", act: () => go(true) };
    notify(WOULD_TRAVEL, { action, closed: () => go(false) });
  });

// Networks in this browser: their weights, and a source that uses a worker.

// Caches weights in this browser. They are downloaded in pieces that are stored one by one, so that an interruption
// loses little: the rest is requested as a range if the host supports that. File names contain digests, so a cached
// file is never of another version.

const WEIGHTS = "attention-playground-weights"; // of the browser's cache storage
const PIECE = 2 ** 21; // bytes
const DAMAGED = "What came is not what was asked for: try again.";

// `addressOf(file)` is where a file lies; files: {model: {file, bytes, digest: the first letters of its SHA-256}}
export function createKeptWeights(files, addressOf) {
  const held = new Map(); // file → its pieces, where the browser keeps nothing
  const coming = new Map(); // model → {done: a promise, told: Set of listeners, stop, bytes}

  const storage = () => globalThis.caches?.open(WEIGHTS).catch(() => null) ?? null;
  const keyOf = (file, piece) => `${addressOf(file)}?piece=${piece}`;
  const markOf = (file) => `${addressOf(file)}?whole`; // in the cache if the file is complete and verified
  const whole = new Set(); // files that this page has verified
  const brought = new Map(); // model → a Blob that a person has opened

  async function piecesOf(file) {
    const store = await storage();
    if (!store) return held.get(file) ?? [];
    const pieces = [];
    for (;;) {
      const found = await store.match(keyOf(file, pieces.length));
      if (!found) return pieces;
      pieces.push(new Uint8Array(await found.arrayBuffer()));
    }
  }

  async function keep(file, number, bytes) {
    const store = await storage();
    const kept = await store?.put(keyOf(file, number), new Response(bytes)).then(
      () => true,
      () => false, // no room
    );
    if (kept) return;
    held.set(file, [...(held.get(file) ?? []).slice(0, number), bytes]);
  }

  async function drop(file) {
    held.delete(file);
    whole.delete(file);
    const store = await storage();
    for (const { url } of (await store?.keys()) ?? [])
      if (url.startsWith(`${addressOf(file)}?`)) await store.delete(url);
  }

  const sizeOf = (pieces) => pieces.reduce((sum, { length }) => sum + length, 0);

  async function bring(model, tell, signal) {
    const { file, bytes: total, digest } = files[model];
    const pieces = await piecesOf(file);
    let bytes = sizeOf(pieces);
    tell(bytes);
    if (bytes < total) {
      const how = { signal, headers: bytes ? { Range: `bytes=${bytes}-` } : {}, cache: "no-store" };
      const response = await fetchFile(addressOf(file), how);
      if (response.status !== 206) bytes = pieces.length = 0; // this host gives whole files only
      for await (const piece of inPieces(response.body)) {
        await keep(file, pieces.length, piece);
        pieces.push(piece);
        bytes += piece.length;
        tell(bytes);
        signal?.throwIfAborted();
      }
    }
    const all = new Uint8Array(total);
    let at = 0;
    const right = bytes === total && pieces.every((piece) => [all.set(piece, at), (at += piece.length)]);
    if (right && (await isWhole(all, digest))) {
      whole.add(file);
      if (!held.has(file)) await (await storage())?.put(markOf(file), new Response("")).catch(() => {});
      return all;
    }
    await drop(file);
    throw Object.assign(new Error(DAMAGED), { says: DAMAGED });
  }

  return {
    // Holds weights that a person has opened; null releases them.
    hold: (model, blob) => (blob ? brought.set(model, blob) : brought.delete(model)),
    async isKept(model) {
      if (brought.has(model)) return true;
      const { file } = files[model];
      if (!whole.has(file) && (await (await storage())?.match(markOf(file)))) whole.add(file);
      return whole.has(file);
    },
    // Reads weights from the cache, or downloads them. tell(bytes) reports progress.
    read: async (model, { tell = () => {}, signal } = {}) =>
      brought.has(model) ? new Uint8Array(await brought.get(model).arrayBuffer()) : bring(model, tell, signal),
    // The state of a download, for the whole page: {bytes, total, arrived, over, trouble}
    state: (model) => coming.get(model)?.told ?? null,
    begin(model) {
      const now = coming.get(model);
      if (now && !now.told.trouble) return now.told;
      const stop = new AbortController();
      const told = { bytes: 0, total: files[model].bytes, arrived: false, over: false, trouble: null };
      coming.set(model, { told, stop });
      bring(model, (bytes) => Object.assign(told, { bytes }), stop.signal).then(
        () => Object.assign(told, { arrived: true, over: true }),
        ({ says }) => Object.assign(told, { over: true, trouble: says ?? "It did not arrive: try again." }),
      );
      return told;
    },
    end(model) {
      coming.get(model)?.stop.abort();
      coming.delete(model);
    },
    // Deletes files of other versions of this page.
    async dropOld() {
      const named = Object.values(files).map(({ file }) => addressOf(file));
      const store = await storage();
      for (const { url } of (await store?.keys()) ?? [])
        if (!named.includes(url.split("?")[0])) await store.delete(url);
    },
  };
}

async function* inPieces(stream) {
  const reader = stream.getReader();
  let room = new Uint8Array(PIECE);
  let filled = 0;
  for (;;) {
    const { done, value } = await reader.read();
    for (let from = 0; !done && from < value.length; ) {
      const part = value.subarray(from, from + PIECE - filled);
      room.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled < PIECE) continue;
      yield room;
      [room, filled] = [new Uint8Array(PIECE), 0];
    }
    if (done) break;
  }
  if (filled) yield room.slice(0, filled);
}

// A page without https has no digests.
async function isWhole(bytes, digest) {
  const found = await globalThis.crypto?.subtle?.digest("SHA-256", bytes);
  return !found || hexOf(found).startsWith(digest);
}

export const hexOf = (buffer) =>
  Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");

// The smallest module with SIMD: (func (result v128) i32.const 0  i8x16.splat  i8x16.popcnt)
const SIMD = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98,
];

// Whether this browser supports the features that worker and kernels need; all since 2023 do.
export const canCompute = () =>
  Boolean(
    globalThis.WebAssembly?.validate(new Uint8Array([...SIMD, 11])) && globalThis.OffscreenCanvas && globalThis.Worker,
  );

// told: {worker, opener: of models, kernels, cards: {model: …}, weights: {model: {file, bytes, digest, …}}}, names of
// files; `addressOf(name)` says where one lies; `pictureOf`: see workersource.js.
export function computeHere({ worker, opener, kernels, cards, weights }, addressOf, pictureOf) {
  const kept = createKeptWeights(weights, addressOf);
  const shared = Boolean(globalThis.crossOriginIsolated);
  const computing = createWorkerSource({
    worker: lateWorker(() => new Worker(addressOf(worker), { type: "module" })),
    compiled: async () => {
      const bytes = new Uint8Array(await (await fetchFile(addressOf(kernels))).arrayBuffer());
      return WebAssembly.compile(shared ? sharing(bytes) : bytes);
    },
    shared,
    models: cards,
    weightsOf: (name) => kept.read(name),
    pictureOf,
  });
  const networks = Object.fromEntries(Object.keys(weights).map((name) => [name, { ...cards[name], ...weights[name] }]));
  const ownModels = ownModelsWithin({ opener: addressOf(opener), cards, networks, kept, computing });
  return { kept, networks, computing, ownModels };
}

// A person's own picture, as workersource.js wants it.
export async function ownPicture(id) {
  await ownPictures.read();
  const own = ownPictures.list.find((one) => one.id === id);
  if (!own?.blob)
    throw Object.assign(new Error(id), { status: 404, says: "This browser does not have that photograph." });
  const words = { title: own.title, credit: "", hint: "", start: undefined };
  return { id, ...words, ...(await sizeOf(own)), file: async () => own.blob };
}

// The picture's size, stored when it was opened here; a picture that was opened by a server is decoded again.
async function sizeOf({ blob, width, height }) {
  if (width) return { width, height };
  const bitmap = await toBitmap(blob);
  const size = { width: bitmap.width, height: bitmap.height };
  bitmap.close();
  return size;
}
