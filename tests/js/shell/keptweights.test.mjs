import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { createKeptWeights } from "../../../playground/microscope/shell/siteanswers.js";

const BYTES = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 7919) % 251);
const digest = createHash("sha256").update(BYTES).digest("hex").slice(0, 16);
const FILES = { dino: { file: "dino-1.bin", bytes: BYTES.length, digest } };
const weights = () => createKeptWeights(FILES, (name) => `https://host.test/${name}`);

// The browser's cache storage.
function aStorage() {
  const held = new Map();
  const cache = {
    match: async (url) => held.get(url)?.clone(),
    put: async (url, response) => void held.set(url, response),
    delete: async (url) => held.delete(url),
    keys: async () => [...held.keys()].map((url) => ({ url })),
  };
  globalThis.caches = { open: async () => cache };
  return held;
}

// A host that breaks off after so many bytes, and gives ranges or not.
function aHost({ breaks = Infinity, ranges = true, bytes = BYTES } = {}) {
  const asked = [];
  globalThis.fetch = async (_url, { headers }) => {
    const from = ranges && headers.Range ? Number(/\d+/.exec(headers.Range)[0]) : 0;
    asked.push(headers.Range ?? null);
    let at = from;
    const stream = new ReadableStream({
      pull(controller) {
        if (at - from >= breaks) return controller.error(new TypeError("network error"));
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(at, at + 300_000));
        at += 300_000;
      },
    });
    return new Response(stream, { status: from ? 206 : 200 });
  };
  return asked;
}

test("weights come in pieces, and are not asked for again", async () => {
  aStorage();
  const asked = aHost();
  const heard = [];
  assert.equal(await weights().isKept("dino"), false);
  assert.deepEqual(await weights().read("dino", { tell: (bytes) => heard.push(bytes) }), BYTES);
  assert.deepEqual([heard[0], heard.at(-1)], [0, BYTES.length]);
  assert.equal(await weights().isKept("dino"), true);
  assert.deepEqual(await weights().read("dino"), BYTES);
  assert.deepEqual(asked, [null]);
});

const AFTER_A_BREAK = { "the rest is asked for": true, "all comes again, where a host gives no ranges": false };
for (const [what, ranges] of Object.entries(AFTER_A_BREAK))
  test(`after a break ${what}`, async () => {
    aStorage();
    aHost({ breaks: 3_000_000 });
    await assert.rejects(weights().read("dino"));
    const asked = aHost({ ranges });
    assert.deepEqual(await weights().read("dino"), BYTES);
    assert.deepEqual(asked, [`bytes=${2 ** 21}-`]);
  });

test("what was damaged on its way is dropped, and said", async () => {
  const held = aStorage();
  aHost({ bytes: BYTES.map((byte, i) => (i === 4_000_000 ? byte + 1 : byte)) });
  await assert.rejects(weights().read("dino"), { says: /not what was asked for/ });
  assert.equal(held.size, 0);
  aHost();
  assert.deepEqual(await weights().read("dino"), BYTES);
});

test("a browser that keeps nothing has them for as long as the page", async () => {
  delete globalThis.caches;
  const asked = aHost();
  const here = weights();
  assert.deepEqual(await here.read("dino"), BYTES);
  assert.deepEqual(await here.read("dino"), BYTES);
  assert.deepEqual(asked, [null]);
});

test("one on its way says how far it is, can be left, and what a former version kept goes", async () => {
  const held = aStorage();
  held.set("https://host.test/dino-0.bin?piece=0", new Response("old"));
  aHost();
  const here = weights();
  assert.deepEqual(here.begin("dino"), { bytes: 0, total: BYTES.length, arrived: false, over: false, trouble: null });
  here.end("dino");
  assert.equal(here.state("dino"), null);
  here.begin("dino");
  for (let i = 0; i < 500 && !here.state("dino").over; i++) await new Promise((go) => setTimeout(go, 5));
  assert.deepEqual([here.state("dino").arrived, here.state("dino").bytes], [true, BYTES.length]);
  await here.dropOld();
  assert.ok([...held.keys()].every((url) => url.includes("dino-1.bin")));
});
