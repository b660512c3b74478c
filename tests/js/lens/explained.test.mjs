import assert from "node:assert/strict";
import { test } from "node:test";

import { trustWords, WAYS } from "../../../playground/microscope/core/ways.js";
import { FORETOLD } from "../../../playground/microscope/core/waytable.js";
import { explainedWaitingWords } from "../../../playground/microscope/lens/explained.js";
import { overlayNow } from "../../../playground/microscope/lens/state.js";
import { aLens, latestRequest, newRequests, passTime, runFrame } from "./alens.mjs";

const REST_MS = 150;
const LABELS = [
  [2, "a cat", 0.9],
  [0, "a dog", 0.1],
];

// A lens with labels. `mapRequests()`: the texts of the new requests that ask for maps.
async function lensWithLabels(view, labels = LABELS) {
  const labelledLens = aLens({ pack: { held: [0, 1, 2, 3] }, view: { layer: 1, ...view } });
  runFrame(labelledLens.lens);
  await passTime(REST_MS);
  latestRequest(labelledLens.source, "labels").answer(labels);
  await passTime(REST_MS);
  const { tokens } = labelledLens.lens.data.main.pack;
  const mapRequests = () => newRequests(labelledLens.source).filter((text) => !/^(names|labels)/.test(text));
  return { ...labelledLens, count: mapRequests, halves: (bits) => new Uint16Array(tokens).fill(bits) };
}

test("relevance is asked for of a locked patch alone, and is drawn for that patch alone", async () => {
  const { lens, source, count, halves } = await lensWithLabels({ what: "relevance" });
  assert.deepEqual(count(), [], "it costs a pass forward and one back");
  assert.match(explainedWaitingWords(lens), /Click a patch/);
  lens.choice.view = { ...lens.choice.view, locked: true, query: "0,1" };
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(count(), ["relevance cat 0,1"]);
  latestRequest(source, "relevance").answer(halves(0x3c00));
  await passTime();
  assert.ok(overlayNow(lens).values.every((value) => value === 1));
  lens.choice.view = { ...lens.choice.view, query: "1,1" };
  runFrame(lens);
  assert.equal(overlayNow(lens), null);
});

test("an occlusion comes step by step, and its check of relevance is told beside relevance", async () => {
  const { lens, source, count, halves } = await lensWithLabels({ what: "occlusion", locked: true, query: "0,1" });
  const occlusion = { matrix: halves(0x3800), passes: 24, of: 48, steps: 2, side: 4 };
  assert.deepEqual(count(), ["occlusion cat 0,1 mean 0"]);
  latestRequest(source, "occlusion").answer(occlusion);
  await passTime(REST_MS);
  assert.equal(overlayNow(lens).passes, 24, "a coarse map is shown while the next comes");
  assert.deepEqual(count(), ["occlusion cat 0,1 mean 1"]);
  latestRequest(source, "occlusion").answer({ ...occlusion, passes: 48, foretells: 0.875, random: -0.125, blocks: 25 });
  await passTime(REST_MS);
  assert.deepEqual(count(), [], "that was the last");
  const [measurement] = lens.data.correlations.values();
  assert.equal(
    trustWords(WAYS.relevance, "any", measurement),
    "Relevance foretells what blanking moves with a rank correlation of 0.88 (25 blocks, by the mean colour; a " +
      "random map −0.13, a constant one 0.00).",
  );
  lens.choice.view = { ...lens.choice.view, blank: "noise" };
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(count(), ["occlusion cat 0,1 noise 0"]);
});

test("a map that was not checked here has the table’s number for its model, and a random map’s", () => {
  const twoDecimals = (number) => number.toFixed(2).replace("-", "−");
  const { relevance, rollout, random, pictures } = FORETOLD.bundled;
  assert.ok(pictures >= 100, "as many pictures as the sentence says");
  for (const [name, number] of Object.entries({ relevance, rollout })) {
    const words = trustWords(WAYS[name], "bundled");
    assert.ok(
      words.includes(`mean of ${pictures} photographs: ${twoDecimals(number)} (a random map ${twoDecimals(random)}, a`),
      words,
    );
  }
  assert.match(trustWords(WAYS.relevance, "own/leaves"), /was not measured in this model/);
  assert.equal(trustWords(WAYS.weight, "bundled"), "", "a weight is no such claim");
});

test("a typed text is asked about where the model learned from captions, and in each layer anew", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1, 2, 3] }, view: { layer: 1, what: "text" } });
  const requests = () => newRequests(source).filter((words) => /^(text|labels)/.test(words));
  const halves = () => new Uint16Array(lens.data.main.pack.tokens).fill(0x3800);
  runFrame(lens);
  await passTime(REST_MS);
  lens.choice.view = { ...lens.choice.view, text: "a cat" };
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(requests(), [], "this model knows no texts");
  lens.data.main = { ...lens.data.main, trace: { ...lens.data.main.trace, text: true } };
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(requests(), ["text cat 1 a cat"], "and of labels nobody asks");
  latestRequest(source, "text").answer(halves());
  await passTime(REST_MS);
  assert.equal(overlayNow(lens).values[3], 0.5);
  lens.choice.view = { ...lens.choice.view, layer: 3 };
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(requests(), ["text cat 3 a cat"]);
});
