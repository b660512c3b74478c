import assert from "node:assert/strict";
import { test } from "node:test";

import { createHttpSource, createPreparedSource } from "../../../playground/microscope/shell/httpsource.js";
import { container } from "../packs.mjs";
import { aServer, json, paths } from "./browser.mjs";

globalThis.createImageBitmap = async (blob) => ({ of: await blob.text() });

const description = (overrides = {}) => ({
  id: "i",
  digest: "d",
  model: "dino",
  picture: { address: "api/p.jpg" },
  ...overrides,
});
const forgottenAnswer = () => json({ says: "The server has forgotten it.", forgotten: "ab" }, 404);
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

test("each part of a trace has an address of its own", async () => {
  const matrix = container({}, { matrix: ["float32", [2], [1, 2]] });
  const server = aServer(({ path }) =>
    /names/.test(path) ? json({ heads: [["a"]] }) : /layers/.test(path) ? new Response("pack") : new Response(matrix),
  );
  const source = aSource();
  const trace = { ...description(), words: { sample: "tabby", model: "dino" } };
  const layers = await source.layers(trace, [8, 9], { heads: [3] });
  assert.equal(new TextDecoder().decode(layers), "pack");
  await source.layers(trace, null);
  assert.deepEqual([...(await source.features(trace, 4))], [1, 2]);
  assert.deepEqual([...(await source.flows(trace))], [1, 2]);
  assert.deepEqual([...(await source.rollout(trace, "3,4"))], [1, 2]);
  assert.deepEqual(await source.names(trace, 0), [["a"]]);
  const expectedRequest = (name, parameters) => [
    `api/trace/d/${name}`,
    { sample: "tabby", model: "dino", ...parameters },
  ];
  assert.deepEqual(server.questions.map(pathAndWords), [
    expectedRequest("layers", { layers: "8,9", heads: "3" }),
    expectedRequest("layers", {}),
    expectedRequest("features", { layer: "4" }),
    expectedRequest("flows", {}),
    expectedRequest("flows", { query: "3,4" }),
    expectedRequest("names", { layer: "0" }),
  ]);
});

test("a sample's usual layers have one short address, early and late, which nginx caches", async () => {
  const answers = { "api/trace": () => json(description({ usual: true, picture: { sample: "tabby", address: "p" } })) };
  const server = aServer((question) => (answers[pathAndWords(question)[0]] ?? (() => new Response("pack")))());
  const source = aSource();
  await source.beginWith({}, () => ({ layer: 6, head: 5 }));
  const trace = await source.open({});
  await source.layers(trace, [6], { heads: [5] });
  await source.layers(trace, [6]);
  await source.layers(trace, [7], { rounded: true });
  await source.layers({ ...trace, usual: false }, [8]);
  assert.deepEqual(server.questions.map(({ path }) => path.split("layers?")[1]).filter(Boolean), [
    "sample=tabby&layers=6&heads=5",
    "sample=tabby&layers=6",
    "sample=tabby&layers=7&rounded=yes",
    "model=dino&layers=8",
  ]);
});

test("a whole pass is a trace of its own, with what it changes", async () => {
  const labels = [["cat", 0.1, 0.9]];
  const server = aServer(({ path }) =>
    json(/verdict/.test(path) ? { labels } : description({ digest: "w", id: "whole" })),
  );
  const trace = { ...description(), words: { sample: "tabby", model: "dino", detail: "2" } };
  const changedTrace = await aSource().whole(trace, { scale: 0.25, cut: "" });
  const words = { sample: "tabby", model: "dino", detail: "2", scale: "0.25" };
  assert.deepEqual([changedTrace.id, changedTrace.verdict, changedTrace.words], ["whole", labels, words]);
  assert.deepEqual(server.questions.map(pathAndWords), [
    ["api/trace", words],
    ["api/trace/w/verdict", words],
  ]);
  server.questions.length = 0;
  await aSource().whole(trace, { scale: null, cut: "7,5>3,2" });
  assert.deepEqual(pathAndWords(server.questions[0])[1], {
    sample: "tabby",
    model: "dino",
    detail: "2",
    cut: "7,5>3,2",
  });
});

test("a photograph that the server has forgotten is brought again, and asked for once more", async () => {
  const answers = [forgottenAnswer(), json(description({ private: true }))];
  const server = aServer(() => answers.shift());
  const sentAgain = [];
  const { signal } = new AbortController();
  const source = aSource({ bringAgain: async (id, options) => sentAgain.push([id, options]) });
  const trace = await source.open({ mine: "ab" }, { signal });
  assert.equal(trace.digest, "d");
  const [[id, { asked: askedAt, ...options }]] = sentAgain;
  assert.deepEqual([id, options], ["ab", { signal }]);
  assert.ok(askedAt <= performance.now(), "when the server was asked");
  assert.deepEqual(paths(server), ["GET api/trace?mine=ab", "GET api/trace?mine=ab"]);
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

test("what failed ahead is asked for again by who needs it, and fails there with its sentence", async () => {
  const server = aServer(() => json({ says: "no" }, 503));
  const source = aSource();
  await assert.rejects(source.beginWith({ sample: "tabby" }, () => ({ layer: 0, head: 0 })));
  await assert.rejects(source.open({ sample: "tabby" }), { says: "no" });
  assert.equal(server.questions.length, 2);
});
