import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { decodeHalves, layerOf, rowInto, unpack } from "../../../playground/microscope/core/core.js";
import { createComputer } from "../../../playground/microscope/engine/computer.js";
import { changedLabels, createWorkerSource } from "../../../playground/microscope/shell/workersource.js";
import { container } from "../packs.mjs";
import { MICROSCOPE } from "../support.mjs";

const KERNELS = new WebAssembly.Module(readFileSync(join(MICROSCOPE, "engine", "kernels.wasm")));
const [LAYERS, HEADS, WIDTH, PATCH, MLP_WIDTH] = [4, 2, 8, 4, 16];
const PREFIX = ["cls"];
const LABELS = ["a cat", "a dog", "a boat"];

// A small network with the same numbers in each run.
function weights() {
  let seed = 1;
  const random = () => ((seed = (seed * 16807) % 2147483647) / 2147483647 - 0.5) * 1.6;
  const sections = {};
  const array = (name, ...shape) => {
    const count = shape.reduce((a, b) => a * b, 1);
    sections[name] = ["float32", shape, Array.from({ length: count }, random)];
  };
  array("cls_token", 1, WIDTH);
  array("pos_embed", 1 + 4 * 4, WIDTH);
  const linear = (name, from, to) => {
    array(`${name}.weight`, to, from);
    array(`${name}.bias`, to);
  };
  const norm = (name) => {
    array(`${name}.weight`, WIDTH);
    array(`${name}.bias`, WIDTH);
  };
  linear("patch_embed.proj", 3 * PATCH * PATCH, WIDTH);
  for (let layer = 0; layer < LAYERS; layer++) {
    const name = `blocks.${layer}`;
    norm(`${name}.norm1`);
    linear(`${name}.attn.qkv`, WIDTH, 3 * WIDTH);
    linear(`${name}.attn.proj`, WIDTH, WIDTH);
    norm(`${name}.norm2`);
    linear(`${name}.mlp.fc1`, WIDTH, MLP_WIDTH);
    linear(`${name}.mlp.fc2`, MLP_WIDTH, WIDTH);
  }
  norm("norm");
  linear("head", WIDTH, LABELS.length);
  const config = { depth: LAYERS, heads: HEADS, width: WIDTH, mlp_width: MLP_WIDTH, patch_size: PATCH, prefix: PREFIX };
  const restOfConfig = {
    native_grid: [4, 4],
    mean: [0.5, 0.5, 0.5],
    std: [0.5, 0.5, 0.5],
    eps: 1e-6,
    classes: LABELS.length,
  };
  const usualParts = {
    positions: "learned",
    pool: "token",
    activation: "gelu",
    gated_mlp: false,
    interpolation: "bicubic",
  };
  return container(
    { format: "attention-playground/weights-1", config: { ...config, ...restOfConfig, ...usualParts } },
    sections,
  );
}

const SMALL_MODEL = {
  ...{ title: "Small", patch: PATCH, grid: [4, 4], details: [1, 2], layers: LAYERS, heads: HEADS },
  ...{ head_dim: WIDTH / HEADS, prefix: PREFIX, labels: LABELS, multi_label: false },
};

// Runs a worker in this thread, and records the messages in both directions.
function aWorker(decode) {
  const listeners = [];
  const worker = {
    receivedMessages: [],
    sentMessages: [],
    addEventListener: (_, listener) => listeners.push(listener),
    postMessage(message) {
      worker.receivedMessages.push(message);
      computer.hear(message);
    },
  };
  const computer = createComputer((message) => {
    worker.sentMessages.push(message);
    queueMicrotask(() => listeners.forEach((listener) => listener({ data: message })));
  }, decode);
  return worker;
}

const UNREADABLE_SEED = 40; // the seed of a picture that cannot be decoded
globalThis.createImageBitmap = async ({ seed }) => {
  if (seed === UNREADABLE_SEED) throw new Error("The source image could not be decoded.");
  return { seed, width: 60, height: 40, close() {} };
};
globalThis.OffscreenCanvas = class {
  getContext = () => ({
    canvas: {},
    fillRect() {},
    drawImage: ({ seed }) => Object.assign(this, { seed }),
    getImageData: () => ({ data: Uint8ClampedArray.of(this.seed, 0, 0, 0) }),
  });
};
async function pixelsOf(_t, _picture, readRows, height, width) {
  const [seed] = (await readRows(0, 1)).pixels;
  return Uint8ClampedArray.from({ length: 4 * height * width }, (_, i) => 128 + 120 * Math.sin(i * seed));
}

function aSource({ decode = pixelsOf, ...overrides } = {}) {
  const worker = aWorker(decode);
  const source = createWorkerSource({
    worker,
    compiled: async () => KERNELS,
    models: { small: SMALL_MODEL },
    weightsOf: async () => weights(),
    pictureOf: async ({ sample, mine }) => ({
      ...{ id: sample ?? mine, title: "A picture", credit: "", hint: "", start: [0.5, 0.5], width: 60, height: 40 },
      ...{ file: async () => ({ seed: (sample ?? mine).length }), opens: { small: { layer: 2, head: 1 } } },
    }),
    ...overrides,
  });
  return { source, worker };
}

const words = (overrides = {}) => ({ sample: "tabby", model: "small", ...overrides });
const passCount = ({ receivedMessages: messages }) => messages.filter(({ what: kind }) => kind === "pass").length;
const layerCount = ({ sentMessages: messages }, id) =>
  messages.filter((message) => message.id === id && message.layer !== undefined).length;

test("a layer comes as a pack that the lens reads, and the whole pass runs once", async () => {
  const { source, worker } = aSource();
  const trace = await source.open(words());
  const pack = unpack(await source.layers(trace, [1]));
  assert.deepEqual([pack.layers, pack.heads, pack.tokens, pack.dim], [LAYERS, HEADS, 16, WIDTH / HEADS]);
  assert.deepEqual([...pack.stored.keys()], [1]);
  const row = new Float32Array(pack.tokens);
  rowInto(row, 0, pack, 1, 0, 3, pack.scale);
  assert.ok(Math.abs(row.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-5);
  assert.ok(Math.max(...row) > 0.08, "the row is no even one");
  const secondPack = unpack(await source.layers(trace, [0, 3]));
  assert.deepEqual([...secondPack.stored.keys()], [0, 3]);
  const laterPack = unpack(await source.layers(trace, [1, 3]));
  assert.deepEqual(layerOf(laterPack, 3).q, layerOf(secondPack, 3).q);
  assert.equal(passCount(worker), 1);
});

test("a new picture ends the former pass within a layer, unless somebody waits for it", async () => {
  const { source, worker } = aSource();
  const [firstTrace, secondTrace] = [await source.open(words()), await source.open(words({ sample: "dog" }))];
  await source.layers(firstTrace, [0]);
  await source.layers(secondTrace, [3]);
  assert.ok(layerCount(worker, 1) <= 2, `${layerCount(worker, 1)} layers of the former picture`);
  assert.ok(worker.sentMessages.some(({ id, stopped }) => id === 1 && stopped));
  await source.layers(firstTrace, [3]); // the stopped pass starts again on request
  assert.equal(passCount(worker), 3);

  const secondTry = aSource();
  const promises = [words(), words({ sample: "dog" })].map(async (pictureWords) =>
    secondTry.source.layers(await secondTry.source.open(pictureWords), [3]),
  );
  assert.equal((await Promise.all(promises)).length, 2);
  assert.equal(passCount(secondTry.worker), 2);
});

test("a request that is given up is rejected, and the pass of the next picture begins", async () => {
  const { source, worker } = aSource();
  const controller = new AbortController();
  const promise = source.layers(await source.open(words()), [3], { signal: controller.signal });
  controller.abort();
  await assert.rejects(promise, { name: "AbortError" });
  await source.layers(await source.open(words({ sample: "dog" })), [3]);
  const formerPasses = worker.receivedMessages.filter(
    ({ what: kind, picture }) => kind === "pass" && picture.id.startsWith("tabby"),
  );
  for (const { id } of formerPasses)
    assert.ok(layerCount(worker, id) <= 2, `${layerCount(worker, id)} layers of the former`);
});

test("another scale computes the whole pass, from the same pixels, and says which labels change", async () => {
  let decodeCount = 0;
  const { source } = aSource({ decode: (...args) => ++decodeCount && pixelsOf(...args) });
  const trace = await source.open(words());
  const changedPass = await source.whole(trace, { scale: 3, cut: "" });
  assert.equal(changedPass.scale, 3);
  assert.ok(changedPass.verdict.every(([label, before, after]) => LABELS.includes(label) && before !== after));
  const [trainedPack, scaledPack] = [
    unpack(await source.layers(trace, [3])),
    unpack(await source.layers(changedPass, [3])),
  ];
  assert.equal(scaledPack.forwardScale, 3);
  assert.notDeepEqual(layerOf(trainedPack, 3).q, layerOf(scaledPack, 3).q);
  assert.equal(decodeCount, 1);
});

test("a cut changes the pass, and how far it moves a feature is measured", async () => {
  const { source } = aSource();
  const trace = await source.open(words());
  const cutPass = await source.whole(trace, { scale: null, cut: "1,1>2,2;*>cls@0" });
  const pack = unpack(await source.layers(cutPass, [3]));
  assert.equal(pack.cuts.length, 2);
  const { by } = await source.moved(cutPass, "1,1");
  assert.ok(by > 0.001 && by < 10, String(by));
});

for (const cut of ["9,9>cls", "*>nobody", "1,1", "1,1>2,2@7", "1,1>2,2@0.9", Array(17).fill("1,1>2,2").join(";")])
  test(`an address may say anything: the cut ${cut.slice(0, 20)} is refused with a sentence`, async () => {
    const { source } = aSource();
    const trace = await source.open(words());
    await assert.rejects(source.whole(trace, { scale: null, cut }), { status: 400, says: /no cut/ });
  });

test("a model that is not here, and a scale that is no number, are refused", async () => {
  const { source } = aSource();
  await assert.rejects(source.open(words({ model: "large" })), { status: 400, says: /no model called large/ });
  for (const scale of ["much", "-1", "2e9"]) await assert.rejects(source.open(words({ scale })), { status: 400 });
  assert.equal((await source.open(words({ scale: "off" }))).scale, 1);
  assert.equal((await source.open(words({ scale: "32" }))).scale, 32); // a lesson offers d_k in place of 1/√d_k
});

test("the rollout is the product of (A + I)/2, for a patch and for all", async () => {
  const { source } = aSource();
  const trace = await source.open(words());
  const pack = unpack(await source.layers(trace, [0, 1, 2, 3]));
  const { tokens } = pack;
  let expectedShares = Array.from({ length: tokens }, (_, token) => Number(token === 7));
  for (let layer = LAYERS - 1; layer >= 0; layer--) {
    const nextShares = expectedShares.map((share) => share / 2);
    for (let head = 0; head < HEADS; head++)
      for (let from = 0; from < tokens; from++) {
        const row = new Float32Array(tokens);
        rowInto(row, 0, pack, layer, head, from, pack.scale);
        for (let to = 0; to < tokens; to++) nextShares[to] += (expectedShares[from] * row[to]) / (2 * HEADS);
      }
    expectedShares = nextShares;
  }
  const patchFlows = decodeHalves(await source.rollout(trace, "1,1")); // token 1 + 5 + 1
  const allFlows = decodeHalves(await source.flows(trace));
  expectedShares.forEach((share, token) => {
    assert.ok(Math.abs(patchFlows[token] - share) < 1e-3);
    assert.ok(Math.abs(allFlows[7 * tokens + token] - share) < 1e-3);
  });
});

test("weights that did not come are fetched again when they are asked for again", async () => {
  let attempts = 0;
  const { source } = aSource({
    weightsOf: async () => {
      if (++attempts === 1) throw new Error("no network");
      return weights();
    },
  });
  const trace = await source.open(words());
  await assert.rejects(source.layers(trace, [0]), /no network/);
  assert.ok(await source.layers(trace, [0]));
  assert.equal(attempts, 2);
});

test("labels are told by how much they change, the likeliest where none does", () => {
  const multiLabel = { labels: LABELS, multi_label: true };
  const changes = changedLabels([0, 2, -3], [2, 0.5, -3], multiLabel);
  assert.deepEqual(
    changes.map(([label]) => label),
    ["a cat", "a dog"],
  );
  assert.deepEqual(
    changedLabels([0, 2, -3], [0, 2, -3], multiLabel).map(([label]) => label),
    ["a dog"],
  );
  const [[, before, after]] = changedLabels([0, 2, -3], [2, 0, -3], { labels: LABELS, multi_label: false });
  assert.ok(Math.abs(before - 1 / (1 + Math.exp(2) + Math.exp(-3))) < 1e-9 && after > before);
});
