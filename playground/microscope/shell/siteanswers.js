// Answers the toolbar's requests in the page itself: for the list of samples, for models and their download, and for a
// person's own pictures, which stay in the browser. Below: weights, and the worker that computes.

import { seeWords } from "../lens/words.js";
import { fetchFile } from "./http.js";
import { ownPictures } from "./own.js";
import { claimedSizeOf, hexOf, idOf, sizeOf, smallPicture, toBitmap } from "./readable.js";
import { createWorkerSource, lateWorker } from "./workersource.js";

const MOST_PIXELS = 120e6; // most pixels of a picture; more would fill a phone's memory
const LEAST_SIDE = 8; // pixels, as in Python (playground/pictures/decoding.py)
const OPENING_TIMEOUT = 20_000; // ms; hostile files may take forever to decode
const HEIC_START = /^ftyp(hei|hev|mif1|msf1)/; // of the bytes from 4 on
const SAMPLES_ALONE = "This page was written without a network, and shows its samples alone.";

const jsonResponse = (body, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
const refuse = (sentence, status = 400) => jsonResponse({ says: sentence }, status);
// word, values: of seeWords, so that the page says it in the reader's language
const refuseFile = (status, word, values) => jsonResponse({ says: seeWords("en", word, values), word, values }, status);

// kept: see createKeptWeights; catalogueFrom(list): makes the catalogue of choice.js from the list of samples;
// arrived(model): called when a model has been downloaded; wall, teach: files of these pages.
export function createPageAnswers({
  models,
  kept: store,
  catalogueFrom,
  arrived: onModelArrived,
  read,
  wall,
  teach,
  without: missingWords = SAMPLES_ALONE,
}) {
  const readJson = (name, options) => read(name, options).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
  const routes = {
    "api/models": async () => {
      const cards = Object.entries(models).map(async ([name, { title, good_for, licence, suits, megabytes }]) => {
        const isLocal = await store.isKept(name);
        return { name, title, good_for, licence, suits, megabytes, here: isLocal };
      });
      return jsonResponse({ open: false, cards: await Promise.all(cards) });
    },
    "api/fetching": async (words, { method }) => {
      const model = words.get("model");
      if (!models[model]) return refuse("This page has no such model.", 404);
      if (method === "DELETE") return jsonResponse([store.end(model)]);
      const progress = method === "POST" ? store.begin(model) : store.state(model);
      if (!progress) return refuse("It is not on its way.", 404);
      if (progress.arrived) onModelArrived(model);
      return jsonResponse(progress);
    },
    "api/moments": async (_, options) => jsonResponse(await readJson(wall, options)),
    "api/teach": async (_, options) => jsonResponse(await readJson(teach, options)),
    "api/pictures": async (_, { method, body, headers }) => {
      if (method === "DELETE") return jsonResponse({});
      if (!Object.keys(models).length) return refuse(missingWords);
      const answer = openHere(body, decodeURIComponent(headers["X-Playground-Name"] ?? "a picture"));
      return Promise.race([
        answer,
        new Promise((resolve) => setTimeout(() => resolve(refuseFile(415, "slowFile")), OPENING_TIMEOUT)),
      ]);
    },
  };

  return (path, options) => {
    const [name, query] = path.split("?");
    if (routes[name]) return routes[name](new URLSearchParams(query), options);
    if (name.split("/")[0] === "api") return Promise.resolve(refuse("This page has no server that could answer.", 404));
    return readJson(name, options).then(async (list) => jsonResponse(await catalogueFrom(list)));
  };
}

async function openHere(blob, name) {
  const isHeic = HEIC_START.test(await blob.slice(4, 12).text());
  const refuseUnreadable = () => refuseFile(415, isHeic ? "heic" : "unreadable");
  const claimedSize = await claimedSizeOf(blob);
  if (!claimedSize) return refuseUnreadable();
  if (Math.min(...claimedSize) < LEAST_SIDE) return refuseFile(415, "wrongSides", { size: claimedSize.join(" × ") });
  const pixels = claimedSize[0] * claimedSize[1];
  if (pixels > MOST_PIXELS) return refuseFile(413, "manyPixels", { count: String(Math.round(pixels / 1e6)) });
  const bitmap = await toBitmap(blob).catch(() => null);
  if (!bitmap) return refuseUnreadable();
  const [width, height] = await sizeOf(blob);
  const thumb = await smallPicture(bitmap);
  bitmap.close();
  return jsonResponse({ id: await idOf(blob), title: name, thumb, width, height });
}

// Caches weights in this browser. File names contain digests, so a cached file never belongs to another version.

const WEIGHTS_CACHE = "attention-playground-weights"; // name in the browser's cache storage
const DAMAGED = "What came is not what was asked for: try again.";

// `addressOf(file)`: a file's address; files: {model: {file, bytes, digest: the first letters of its SHA-256}}
export function createKeptWeights(files, addressOf) {
  const unstoredFiles = new Map(); // file → a Blob, if the browser stores nothing
  const downloads = new Map(); // model → {progress: see begin, controller: stops the download}

  const storage = () => globalThis.caches?.open(WEIGHTS_CACHE).catch(() => null) ?? null;
  const keptFile = async (file) => unstoredFiles.get(file) ?? (await storage())?.match(addressOf(file));

  async function download(model, onProgress, signal) {
    const { file, bytes: total, digest } = files[model];
    onProgress(0);
    const response = await fetchFile(addressOf(file), { signal, cache: "no-store" });
    const bytes = new Uint8Array(total);
    let count = 0;
    const reader = response.body.getReader();
    for (let { done, value: part } = await reader.read(); !done; { done, value: part } = await reader.read()) {
      if (count + part.length <= total) bytes.set(part, count);
      count += part.length;
      onProgress(count);
      signal?.throwIfAborted();
    }
    if (count !== total || !(await matchesDigest(bytes, digest)))
      throw Object.assign(new Error(DAMAGED), { says: DAMAGED });
    const store = await storage();
    const isStored = await store?.put(addressOf(file), new Response(bytes)).then(
      () => true,
      () => false, // the cache is full
    );
    if (!isStored) unstoredFiles.set(file, new Blob([bytes]));
    return bytes;
  }

  return {
    isKept: async (model) => Boolean(await keptFile(files[model].file)),
    // Reads weights from the cache, or downloads them. onProgress(bytes) reports progress.
    /** @param {string} model @param {Options} [options] */
    async read(model, { tell: onProgress = () => {}, signal } = {}) {
      const kept = await keptFile(files[model].file);
      return kept ? new Uint8Array(await kept.arrayBuffer()) : download(model, onProgress, signal);
    },
    // The state of a download, for the whole page: {bytes, total, arrived, over, trouble}
    state: (model) => downloads.get(model)?.progress ?? null,
    begin(model) {
      const current = downloads.get(model);
      if (current && !current.progress.trouble) return current.progress;
      const controller = new AbortController();
      const progress = { bytes: 0, total: files[model].bytes, arrived: false, over: false, trouble: null };
      downloads.set(model, { progress, controller });
      download(model, (bytes) => Object.assign(progress, { bytes }), controller.signal).then(
        () => Object.assign(progress, { arrived: true, over: true }),
        ({ says: sentence }) =>
          Object.assign(progress, { over: true, trouble: sentence ?? "It did not arrive: try again." }),
      );
      return progress;
    },
    end(model) {
      downloads.get(model)?.controller.abort();
      downloads.delete(model);
    },
    // Deletes files of other versions of this page.
    async dropOld() {
      const currentAddresses = Object.values(files).map(({ file }) => addressOf(file));
      const store = await storage();
      for (const { url } of (await store?.keys()) ?? []) if (!currentAddresses.includes(url)) await store.delete(url);
    },
  };
}

// The digest can only be checked on a page with https.
async function matchesDigest(bytes, digest) {
  const hash = await globalThis.crypto?.subtle?.digest("SHA-256", bytes);
  return !hash || hexOf(hash).startsWith(digest);
}

const NO_COMPUTING =
  "This host's policy forbids WebAssembly: samples work, photographs of your own do not. " +
  "To allow them, add 'wasm-unsafe-eval' to script-src.";

// The smallest module with SIMD: (func (result v128) i32.const 0  i8x16.splat  i8x16.popcnt)
const SIMD = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98,
];

// Whether this browser supports the features that worker and kernels need, as all browsers since 2023 do.
export const canCompute = () =>
  Boolean(
    globalThis.WebAssembly?.validate(new Uint8Array([...SIMD, 11])) && globalThis.OffscreenCanvas && globalThis.Worker,
  );

export function computeHere({ worker, kernels, cards, weights }, addressOf, pictureOf) {
  const store = createKeptWeights(weights, addressOf);
  const computing = createWorkerSource({
    worker: lateWorker(() => new Worker(addressOf(worker), { type: "module" })),
    compiled: async () => {
      const code = await (await fetchFile(addressOf(kernels))).arrayBuffer();
      return WebAssembly.compile(code).catch(({ message }) => {
        throw Object.assign(new Error(message), { says: NO_COMPUTING });
      });
    },
    models: cards,
    weightsOf: (name) => store.read(name),
    pictureOf,
  });
  const networks = Object.fromEntries(Object.keys(weights).map((name) => [name, { ...cards[name], ...weights[name] }]));
  return { kept: store, networks, computing };
}

// A person's own picture for workersource.js. `width` and `height` are there if this page opened it, and not a server.
export async function ownPicture(id) {
  await ownPictures.read();
  const { blob, title, width, height } = ownPictures.list.find((item) => item.id === id) ?? {};
  if (blob && width)
    return { id, title, credit: "", hint: "", start: undefined, width, height, file: async () => blob };
  throw Object.assign(new Error(id), { status: 404, says: "This browser does not have that photograph." });
}
