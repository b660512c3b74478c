// Networks that run in this browser, in a worker: a source that asks it, and their weights.

import { createKeptWeights } from "./keptweights.js";
import { ownPictures } from "./own.js";
import { createWorkerSource } from "./workersource.js";

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
