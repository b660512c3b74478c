import assert from "node:assert/strict";
import { test } from "node:test";

import { createHttpSource, createPreparedSource } from "../../../playground/microscope/shell/httpsource.js";
import { container } from "../packs.mjs";
import { aServer, json } from "./browser.mjs";

globalThis.createImageBitmap = async (blob) => ({ of: await blob.text() });

const description = (overrides = {}) => ({
  id: "i",
  digest: "d",
  model: "dino",
  picture: { address: "api/p.jpg" },
  ...overrides,
});
const aSource = (host = {}) => createHttpSource({ bringAgain: async () => false, ...host });
const pathAndWords = ({ path }) => {
  const { pathname, searchParams } = new URL(path, "https://x/");
  return [pathname.slice(1), Object.fromEntries(searchParams)];
};

test("a sample's description is asked for once, and keeps the words of its address", async () => {
  const server = aServer(() => json(description({ model: "timm/dino" })));
  const source = aSource();
  const trace = await source.open({ sample: "tabby", model: "dino" });
  assert.deepEqual(trace.words, { sample: "tabby", model: "timm/dino" });
  assert.equal(await source.open({ sample: "tabby", model: "dino" }), trace);
  assert.throws(() => (trace.model = "other"), TypeError);
  await source.open({ sample: "tabby", model: "dino", detail: "2" });
  assert.deepEqual(server.questions.map(pathAndWords), [
    ["api/trace", { sample: "tabby", model: "dino" }],
    ["api/trace", { sample: "tabby", model: "dino", detail: "2" }],
  ]);
});

test("a description that is a person's own, or that failed, is asked for each time", async () => {
  const answers = [
    json({ says: "no" }, 503),
    json(description({ private: true })),
    json(description({ private: true })),
  ];
  const server = aServer(() => answers.shift());
  const source = aSource();
  await assert.rejects(source.open({ mine: "ab" }), { status: 503 });
  await source.open({ mine: "ab" });
  await source.open({ mine: "ab" });
  assert.equal(server.questions.length, 3);
});

test("the rollout of a large picture is asked for of one patch, and names of one layer", async () => {
  const matrix = container({}, { matrix: ["float32", [2], [1, 2]] });
  const server = aServer(({ path }) => (/names/.test(path) ? json({ heads: [["a"]] }) : new Response(matrix)));
  const trace = { ...description(), words: { sample: "tabby" } };
  assert.deepEqual([...(await aSource().rollout(trace, "3,4"))], [1, 2]);
  assert.deepEqual(await aSource().names(trace, 0), [["a"]]);
  assert.deepEqual(server.questions.map(pathAndWords), [
    ["api/trace/d/flows", { sample: "tabby", query: "3,4" }],
    ["api/trace/d/names", { sample: "tabby", layer: "0" }],
  ]);
});

test("a sample's usual layers have one short address, which nginx caches", async () => {
  const answers = { "api/trace": () => json(description({ usual: true, picture: { sample: "tabby", address: "p" } })) };
  const server = aServer((question) => (answers[pathAndWords(question)[0]] ?? (() => new Response("pack")))());
  const source = aSource();
  const trace = await source.open({});
  await source.layers(trace, [6], { heads: [5] });
  await source.layers(trace, [6]);
  await source.layers({ ...trace, usual: false }, [8]);
  assert.deepEqual(server.questions.map(({ path }) => path.split("layers?")[1]).filter(Boolean), [
    "sample=tabby&layers=6&heads=5",
    "sample=tabby&layers=6",
    "model=dino&layers=8",
  ]);
});

test("a model that the page has not is refused by its name", async () => {
  const source = createPreparedSource({
    computing: {},
    models: {},
    preparedOf: () => null,
    knows: (model) => model === "dino",
  });
  await assert.rejects(source.open({ model: "leaves" }), { status: 404, message: /has no model called leaves/ });
  await assert.rejects(source.open({ model: "dino" }), { message: /was written without the network/ });
});
