// Networks that run in this browser, in a worker: a source that asks it, and their weights.
import { ownPictures } from "./own.js";
import { createWorkerSource } from "./workersource.js";

// The weights of networks, kept by this browser. They come in pieces, each kept as soon as it is whole: a break loses
// little, and the rest is asked for as a range, where the host gives ranges. Names of files hold a digest of what is in
// them: what is kept under a name is never another version's.

const WEIGHTS = "attention-playground-weights"; // of the browser's cache storage
const PIECE = 2 ** 21; // bytes
const DAMAGED = "What came is not what was asked for: try again.";

// `addressOf(file)` is where a file lies; files: {model: {file, bytes, digest: the first letters of its SHA-256}}
export function createKeptWeights(files, addressOf) {
  const held = new Map(); // file → its pieces, where the browser keeps nothing
  const coming = new Map(); // model → {done: a promise, told: Set of listeners, stop, bytes}

  const storage = () => globalThis.caches?.open(WEIGHTS).catch(() => null) ?? null;
  const keyOf = (file, piece) => `${addressOf(file)}?piece=${piece}`;
  const markOf = (file) => `${addressOf(file)}?whole`; // there where all of it is, and was looked at
  const whole = new Set(); // files of which this page knows that

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
      const response = await fetch(addressOf(file), how);
      if (!response.ok) throw Object.assign(new Error(`${response.status}`), { says: "It did not arrive: try again." });
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
    async isKept(model) {
      const { file } = files[model];
      if (!whole.has(file) && (await (await storage())?.match(markOf(file)))) whole.add(file);
      return whole.has(file);
    },
    // Brings them, or reads what is kept. tell(bytes) hears how far they are.
    read: (model, { tell = () => {}, signal } = {}) => bring(model, tell, signal),
    // One on its way, for the whole page: {bytes, total, arrived, over, trouble}
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
    // What another version of this page has left.
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

// Whether this browser has what the worker and the kernels are made of: all since 2023 have.
export const canCompute = () =>
  Boolean(
    globalThis.WebAssembly?.validate(new Uint8Array([...SIMD, 11])) && globalThis.OffscreenCanvas && globalThis.Worker,
  );

// It comes when there is something to compute; one that is lost is begun anew.
function lateWorker(address) {
  const listeners = [];
  let worker = null;
  return {
    addEventListener: (_, listener) => listeners.push(listener),
    postMessage(message, moved) {
      if (!worker) {
        worker = new Worker(address, { type: "module" });
        for (const listener of listeners) worker.addEventListener("message", listener);
        worker.addEventListener("error", () => {
          worker.terminate();
          worker = null;
          for (const listener of listeners) listener({ data: { lost: true } });
        });
      }
      worker.postMessage(message, moved);
    },
  };
}

// told: {worker, kernels, cards: {model: …}, weights: {model: {file, bytes, digest, …}}}, names of files;
// `addressOf(name)` says where one lies; `pictureOf`: see workersource.js.
export function computeHere({ worker, kernels, cards, weights }, addressOf, pictureOf) {
  const kept = createKeptWeights(weights, addressOf);
  const computing = createWorkerSource({
    worker: lateWorker(addressOf(worker)),
    compiled: async () => WebAssembly.compile(await (await fetch(addressOf(kernels))).arrayBuffer()),
    models: cards,
    weightsOf: (name) => kept.read(name),
    pictureOf,
  });
  const networks = Object.fromEntries(Object.keys(weights).map((name) => [name, { ...cards[name], ...weights[name] }]));
  return { kept, networks, computing };
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

// As it was when the picture was opened here; one that a server has opened is decoded once more.
async function sizeOf({ blob, width, height }) {
  if (width) return { width, height };
  const bitmap = await createImageBitmap(blob, { imageOrientation: "from-image" });
  const size = { width: bitmap.width, height: bitmap.height };
  bitmap.close();
  return size;
}
