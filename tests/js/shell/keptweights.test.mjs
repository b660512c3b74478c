import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { createKeptWeights } from "../../../playground/microscope/shell/siteanswers.js";

const BYTES = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 7919) % 251);
const digest = createHash("sha256").update(BYTES).digest("hex").slice(0, 16);
const FILES = { dino: { file: "dino-1.bin", bytes: BYTES.length, digest } };
const openStore = () => createKeptWeights(FILES, (name) => `https://host.test/${name}`);

// Replaces the browser's cache storage; returns what it stores, a Map from addresses to responses.
function aStorage() {
  const stored = new Map();
  const cache = {
    match: async (url) => stored.get(url)?.clone(),
    put: async (url, response) => void stored.set(url, response),
    delete: async (url) => stored.delete(url),
    keys: async () => [...stored.keys()].map((url) => ({ url })),
  };
  globalThis.caches = { open: async () => cache };
  return stored;
}

// A host that breaks off after `breaks` bytes.
function aHost({ breaks = Infinity, bytes = BYTES } = {}) {
  const requests = [];
  globalThis.fetch = async (url) => {
    requests.push(url);
    let position = 0;
    const stream = new ReadableStream({
      pull(controller) {
        if (position >= breaks) return controller.error(new TypeError("network error"));
        if (position >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(position, position + 300_000));
        position += 300_000;
      },
    });
    return new Response(stream);
  };
  return requests;
}

test("after a break nothing is kept, and all comes again", async () => {
  const stored = aStorage();
  aHost({ breaks: 3_000_000 });
  await assert.rejects(openStore().read("dino"));
  assert.equal(stored.size, 0);
  aHost();
  assert.deepEqual(await openStore().read("dino"), BYTES);
});

test("weights that were damaged on their way are dropped, and the error says so", async () => {
  const stored = aStorage();
  aHost({ bytes: BYTES.map((byte, i) => (i === 4_000_000 ? byte + 1 : byte)) });
  await assert.rejects(openStore().read("dino"), { says: /not what was asked for/ });
  assert.equal(stored.size, 0);
  aHost();
  assert.deepEqual(await openStore().read("dino"), BYTES);
});

test("a download says how far it is and can be ended, and a former version is dropped", async () => {
  const stored = aStorage();
  stored.set("https://host.test/dino-0.bin", new Response("old"));
  aHost();
  const keptWeights = openStore();
  assert.deepEqual(keptWeights.begin("dino"), {
    bytes: 0,
    total: BYTES.length,
    arrived: false,
    over: false,
    trouble: null,
  });
  keptWeights.end("dino");
  assert.equal(keptWeights.state("dino"), null);
  keptWeights.begin("dino");
  for (let i = 0; i < 500 && !keptWeights.state("dino").over; i++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([keptWeights.state("dino").arrived, keptWeights.state("dino").bytes], [true, BYTES.length]);
  await keptWeights.dropOld();
  assert.ok([...stored.keys()].every((url) => url.includes("dino-1.bin")));
});
