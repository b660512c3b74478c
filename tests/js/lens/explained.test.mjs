import assert from "node:assert/strict";
import { test } from "node:test";

import { outlierBound, withoutOutliers } from "../../../playground/microscope/core/features.js";
import { trustWords, unitOf, WAYS } from "../../../playground/microscope/core/ways.js";
import { FORETOLD } from "../../../playground/microscope/core/waytable.js";
import { explainedWaitingWords } from "../../../playground/microscope/lens/explained.js";
import { captionOf } from "../../../playground/microscope/lens/readouts.js";
import { fileName } from "../../../playground/microscope/lens/saving.js";
import { endsOf, labelNow, overlayNow, signedWords } from "../../../playground/microscope/lens/state.js";
import { aLens, asked, frame, open, pass } from "./alens.mjs";

const REST = 150;
const LABELS = [
  [2, "a cat", 0.9],
  [0, "a dog", 0.1],
];

// A lens with labels.
async function lensWithLabels(view, labels = LABELS) {
  const labelledLens = aLens({ pack: { held: [0, 1, 2, 3] }, view: { layer: 1, ...view } });
  frame(labelledLens.lens);
  await pass(REST);
  open(labelledLens.source, "labels").answer(labels);
  await pass(REST);
  const { tokens } = labelledLens.lens.data.main.pack;
  const count = () => asked(labelledLens.source).filter((text) => !/^(names|labels)/.test(text));
  return { ...labelledLens, count, halves: (bits) => new Uint16Array(tokens).fill(bits) };
}

test("relevance is asked for of a locked patch alone, and is drawn for that patch alone", async () => {
  const { lens, source, count, halves } = await lensWithLabels({ what: "relevance" });
  assert.deepEqual(count(), [], "it costs a pass forward and one back");
  assert.match(explainedWaitingWords(lens.choice, lens.data, lens.frame), /Click a patch/);
  lens.choice.view = { ...lens.choice.view, locked: true, query: "0,1" };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["relevance cat 0,1"]);
  open(source, "relevance").answer(halves(0x3c00));
  await pass();
  assert.ok(overlayNow(lens.choice, lens.data, lens.frame).values.every((value) => value === 1));
  lens.choice.view = { ...lens.choice.view, query: "1,1" };
  frame(lens);
  assert.equal(overlayNow(lens.choice, lens.data, lens.frame), null);
});

test("a label needs no locked patch, and another label is asked for anew", async () => {
  const { lens, source, count, halves } = await lensWithLabels({ what: "relevance", label: "0" });
  assert.deepEqual(count(), ["relevance cat 0"]);
  open(source, "relevance").answer(halves(0x3c00));
  await pass();
  assert.ok(overlayNow(lens.choice, lens.data, lens.frame));
  assert.deepEqual(labelNow(lens.choice, lens.data, lens.frame), LABELS[1]);
  lens.choice.view = { ...lens.choice.view, label: "2" };
  frame(lens);
  await pass(REST);
  assert.equal(overlayNow(lens.choice, lens.data, lens.frame), null);
  assert.deepEqual(count(), ["relevance cat 2"]);
});

const HALF = 0x3800,
  MINUS_QUARTER = 0xb400;

// An answer with 0.5 for the first patch, −0.25 for the second, and 0 for all others.
function bothSigns({ pack }) {
  const halves = new Uint16Array(pack.tokens);
  halves[pack.prefixCount] = HALF;
  halves[pack.prefixCount + 1] = MINUS_QUARTER;
  return halves;
}

test("what explains a label speaks of both sides, around zero, and nothing of it names a patch that asks", async () => {
  for (const [way, largest, least] of [
    ["relevance", "+50 %", "−25 %"],
    ["occlusion", "+0.50 logits", "−0.25 logits"],
  ]) {
    const { lens, source } = await lensWithLabels({ what: way, label: "0", locked: true, query: "1,1" });
    const answer = bothSigns(lens.data.main);
    const occlusion = { matrix: answer, passes: 9, of: 9, steps: 1, how: "blanked in blocks of 2 × 2" };
    open(source, way).answer(way === "relevance" ? answer : occlusion);
    await pass(REST);
    frame(lens);
    lens.data.main.picture = { title: "a cat's picture" };
    lens.frame.print = { holds: "heat" };
    const { most: highest, least: lowest } = endsOf(lens.choice, lens.data, lens.frame);
    assert.deepEqual(
      [signedWords(highest.value, unitOf(lens.choice.view)), signedWords(lowest.value, unitOf(lens.choice.view))],
      [largest, least],
    );
    assert.deepEqual([highest.place, lowest.place], ["row 0, column 0", "row 0, column 1"]);
    assert.equal(fileName(lens.choice, lens.frame, "png"), `attention-${way}-label0.png`);
    const caption = captionOf(lens.choice, lens.data, lens.frame);
    assert.doesNotMatch(caption, /row 1, column 1|head/, caption);
    assert.ok(caption.includes(`“a dog” · for it up to ${largest} at row 0, column 0`), caption);
    assert.ok(caption.includes(`against it up to ${least} at row 0, column 1`), caption);
  }
});

test("of a patch the caption and the file's name say which", async () => {
  const { lens } = await lensWithLabels({ what: "relevance", locked: true, query: "1,1" });
  lens.data.main.picture = { title: "a cat's picture" };
  lens.frame.print = { holds: "heat" };
  assert.equal(endsOf(lens.choice, lens.data, lens.frame), null);
  assert.equal(fileName(lens.choice, lens.frame, "png"), "attention-relevance-1-1.png");
  assert.match(captionOf(lens.choice, lens.data, lens.frame), /row 1, column 1/);
});

test("an occlusion comes step by step until all are there, and what it measured stands beside relevance", async () => {
  const { lens, source, count, halves } = await lensWithLabels({ what: "occlusion", locked: true, query: "0,1" });
  const occlusion = { matrix: halves(0x3800), passes: 24, of: 48, steps: 2, side: 4 };
  assert.deepEqual(count(), ["occlusion cat 0,1 mean 0"]);
  open(source, "occlusion").answer(occlusion);
  await pass(REST);
  assert.equal(overlayNow(lens.choice, lens.data, lens.frame).passes, 24, "a coarse map is shown while the next comes");
  assert.deepEqual(count(), ["occlusion cat 0,1 mean 1"]);
  open(source, "occlusion").answer({ ...occlusion, passes: 48, foretells: 0.875, random: -0.125, blocks: 25 });
  await pass(REST);
  assert.deepEqual(count(), [], "that was the last");
  const [measured] = lens.data.correlations.values();
  assert.equal(
    trustWords(WAYS.relevance, "any", measured),
    "Relevance foretells what blanking moves with a rank correlation of 0.88 (25 blocks, by the mean colour; a " +
      "random map −0.13, a constant one 0.00).",
  );
  lens.choice.view = { ...lens.choice.view, blank: "noise" };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["occlusion cat 0,1 noise 0"]);
});

test("what was not measured here bears the table’s number of this model, and what maps that know nothing get", () => {
  const twoDecimals = (number) => number.toFixed(2).replace("-", "−");
  const { relevance, rollout, random, pictures } = FORETOLD.bundled;
  assert.ok(pictures >= 10, "as many pictures as the sentence says");
  for (const [name, number] of Object.entries({ relevance, rollout })) {
    const words = trustWords(WAYS[name], "bundled");
    assert.ok(
      words.includes(
        `mean of ${pictures} drawn scenes: ${twoDecimals(number)} (a random map ${twoDecimals(random)}, a`,
      ),
      words,
    );
  }
  assert.match(trustWords(WAYS.relevance, "own/leaves"), /was not measured in this model/);
  assert.equal(trustWords(WAYS.weight, "bundled"), "", "a weight is no such claim");
});

test("the logit lens is of the likeliest label where none is chosen, and of each layer", async () => {
  const { lens, source, count, halves } = await lensWithLabels({ what: "label" });
  assert.deepEqual(count(), ["label cat 1 2"]);
  open(source, "label").answer(halves(0x3800));
  await pass(REST);
  assert.ok(overlayNow(lens.choice, lens.data, lens.frame));
  lens.choice.view = { ...lens.choice.view, layer: 3 };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["label cat 3 2"]);
});

test("a text is read where the model learned from captions, once it was typed, and in each layer anew", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1, 2, 3] }, view: { layer: 1, what: "text" } });
  const count = () => asked(source).filter((words) => /^(text|labels)/.test(words));
  const halves = () => new Uint16Array(lens.data.main.pack.tokens).fill(0x3800);
  frame(lens);
  await pass(REST);
  lens.choice.view = { ...lens.choice.view, text: "a cat" };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), [], "this model knows no texts");
  lens.data.main = { ...lens.data.main, trace: { ...lens.data.main.trace, text: true } };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["text cat 1 a cat"], "and of labels nobody asks");
  open(source, "text").answer(halves());
  await pass(REST);
  assert.equal(overlayNow(lens.choice, lens.data, lens.frame).values[3], 0.5);
  lens.choice.view = { ...lens.choice.view, layer: 3 };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["text cat 3 a cat"]);
});

test("a model without labels says so", async () => {
  const { lens, count } = await lensWithLabels({ what: "label" }, []);
  assert.deepEqual(count(), []);
  assert.match(explainedWaitingWords(lens.choice, lens.data, lens.frame), /no labels/);
});

test("lengths that stand apart are counted and left out: the numbers of tests/figures/test_light.py", () => {
  const values = Float32Array.from([99, 99, 10, 11, 12, 13, 14, 15, 16, 100]); // begins with two prefix tokens
  assert.equal(outlierBound(values, 2, 10), 25.75);
  const { count, domain } = withoutOutliers(values, 2, 10);
  assert.equal(count, 1);
  assert.deepEqual(domain, { low: 10, high: 16, log: false });
});
