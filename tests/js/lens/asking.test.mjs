import assert from "node:assert/strict";
import { test } from "node:test";

import { holdsAll, wholeLayers } from "../../../playground/microscope/core/core.js";
import { aimedPair } from "../../../playground/microscope/lens/arithmetic.js";
import { askForMissing, receive, stopAsking } from "../../../playground/microscope/lens/asking.js";
import { overlayNow, resolve } from "../../../playground/microscope/lens/state.js";
import { packOf } from "../packs.mjs";
import { aLens, asked, aTrace, frame, open, pass } from "./alens.mjs";

const SIX = { layers: 6 };
const layer = (...layers) => packOf({ ...SIX, held: layers });
const REST = 150;
const AGAIN = 5000;

test("the layer on view comes first, then its neighbours, then the film's; the names after all layers", async () => {
  const { lens, source } = aLens({ pack: { ...SIX, held: [2], some: [1] }, view: { layer: 2, head: 1 }, film: true });
  frame(lens);
  await pass();
  const order = [];
  for (let i = 0; i < 30; i++) {
    for (const text of asked(source)) {
      order.push(text);
      const [kind, , number] = text.split(" ");
      open(source, text).answer(kind === "layers" ? layer(Number(number)) : [["a name", "n", "#000"]]);
    }
    await pass(REST);
  }
  const layers = [2, 3, 1, 0, 4, 5].map((n) => `layers cat ${n}`);
  assert.deepEqual(order, [...layers, ...[2, 1, 3, 0, 4, 5].map((n) => `names cat ${n}`)]);
});

test("without a film or a wall only the layer on view and its neighbours come", async () => {
  const { lens, source } = aLens({ pack: { ...SIX, held: [5] }, view: { layer: 5 } });
  frame(lens);
  await pass(REST);
  assert.deepEqual(asked(source), ["layers cat 4"], "there is no layer above the last one");
  open(source, "layers").answer(layer(4));
  await pass(REST);
  assert.deepEqual(asked(source), ["names cat 5"]);
  lens.choice.view = { ...lens.choice.view, beside: "wall" };
  frame(lens);
  await pass(REST);
  assert.deepEqual(asked(source), ["layers cat 3"], "the wall wants the nearest first");
});

test("after an answer the next question comes at once", async () => {
  const { lens, source } = aLens({ pack: { ...SIX, held: [0], some: [0] } });
  frame(lens);
  await pass(0);
  assert.deepEqual(asked(source), ["layers cat 0"]);
  open(source, "layers").answer(layer(0));
  await pass();
  await pass(0);
  assert.deepEqual(asked(source), ["layers cat 1"]);
});

test("a layer that the film alone shows costs no frame, but for the last one; then the host hears of it", async () => {
  let calls = 0;
  const { lens, source } = aLens({
    pack: { layers: 3, held: [0] },
    film: true,
    host: { allHere: () => calls++ },
  });
  frame(lens);
  await pass(REST);
  let frames = 0;
  lens.page.schedule = () => frames++;
  open(source, "layers cat 1").answer(packOf({ layers: 3, held: [1] }));
  await pass();
  assert.deepEqual([frames, calls], [0, 0]);
  open(source, "layers cat 2").answer(packOf({ layers: 3, held: [2] }));
  await pass();
  assert.deepEqual([frames, calls], [1, 1]);
});

test("what came is not asked for again before the next frame", async () => {
  const { lens, source } = aLens({ pack: { ...SIX, held: [0, 1] }, view: { layer: 0, scale: "off", pass: "whole" } });
  frame(lens);
  await pass(REST);
  open(source, "whole").answer({ ...aTrace("off"), cut: [] });
  await pass();
  asked(source);
  lens.page.schedule = () => {}; // no further frame is drawn
  open(source, "layers off").answer(packOf({ ...SIX, held: [0], forward_scale: 1 }));
  await pass();
  const repeatedRequests = asked(source).filter((text) => text.startsWith("whole"));
  assert.deepEqual(repeatedRequests, []);
});

test("the layer on view is asked for at once; what is ahead of time waits until the dial rests", async () => {
  const { lens, source } = aLens({ pack: { ...SIX, held: [0] }, view: { layer: 0 } });
  frame(lens);
  await pass(REST - 1);
  assert.deepEqual(asked(source), []);
  frame(lens); // a choice restarts the wait for the cursor to rest
  await pass(REST - 1);
  assert.deepEqual(asked(source), []);
  frame(lens, true); // `pointed`: the cursor moved, which does not restart the wait
  await pass(1);
  assert.deepEqual(asked(source), ["layers cat 1"]);
});

test("one question of a kind at a time: a new one ends the former, and its late answer is not taken", async () => {
  const { lens, source } = aLens({ pack: { ...SIX, held: [0] }, view: { layer: 2 } });
  frame(lens);
  await pass(REST);
  frame(lens);
  frame(lens, true);
  await pass(AGAIN);
  frame(lens);
  await pass(REST);
  assert.deepEqual(asked(source), ["layers cat 2"], "nothing is asked twice while it is open, however long");
  const formerRequest = open(source, "layers");
  lens.choice.view = { ...lens.choice.view, layer: 4 };
  frame(lens);
  await pass(REST);
  assert.deepEqual(asked(source), ["layers cat 4"]);
  assert.deepEqual([formerRequest.signal.aborted, open(source, "layers").signal.aborted], [true, false]);
  formerRequest.answer(layer(2));
  await pass();
  assert.equal(holdsAll(lens.data.main.pack, 2), false);
  open(source, "layers").answer(layer(4));
  await pass();
  assert.ok(holdsAll(lens.data.main.pack, 4));
});

test("questions of two kinds stand side by side", async () => {
  const { lens, source } = aLens({ pack: { ...SIX, held: [0] }, view: { layer: 0, what: "similarity" } });
  frame(lens);
  await pass(REST);
  assert.deepEqual(asked(source), ["layers cat 1", "features cat 0"]);
  assert.deepEqual(
    source.questions.map(({ signal }) => signal.aborted),
    [false, false],
  );
});

test("what failed is told and asked again after a while, not before", async () => {
  const { lens, source, failures } = aLens({ pack: { ...SIX, held: [0], some: [0] } });
  frame(lens);
  await pass();
  asked(source);
  open(source, "layers").fail(new Error("no"));
  await pass();
  assert.deepEqual(failures, ["no"]);
  for (const part of [0.25, 0.25, 0.25]) {
    frame(lens);
    await pass(part * AGAIN);
    assert.deepEqual(asked(source), []);
  }
  await pass(0.25 * AGAIN); // the lens repeats the question although no frame is drawn
  await pass(REST);
  assert.deepEqual(asked(source), ["layers cat 0"]);
});

test("an answer that can't be read has failed: it is told, and not asked for at once again", async () => {
  const { lens, source, failures } = aLens({ pack: { ...SIX, held: [0], some: [0] } });
  frame(lens);
  await pass();
  asked(source);
  open(source, "layers").answer(new Uint8Array(0));
  await pass();
  assert.deepEqual(failures, ["The data of this picture is empty."]);
  frame(lens);
  await pass(REST);
  assert.deepEqual(asked(source), []);
  await pass(AGAIN);
  await pass(REST);
  assert.deepEqual(asked(source), ["layers cat 0"]);
});

test("another question of the kind does not wait for what failed", async () => {
  const { lens, source } = aLens({ pack: { ...SIX, held: [0] }, view: { layer: 2 } });
  frame(lens);
  await pass(REST);
  open(source, "layers").fail(new Error("no"));
  await pass();
  lens.choice.view = { ...lens.choice.view, layer: 3 };
  frame(lens);
  await pass(REST);
  assert.deepEqual(asked(source), ["layers cat 2", "layers cat 3"]);
});

test("what was asked for another picture is ended, and neither taken nor told as a failure", async () => {
  const { lens, source, failures } = aLens({ pack: { ...SIX, held: [0] }, view: { what: "similarity" } });
  frame(lens);
  await pass(REST);
  stopAsking(lens.data);
  assert.deepEqual(
    source.questions.map(({ signal }) => signal.aborted),
    [true, true],
  );
  open(source, "layers").answer(layer(1));
  open(source, "features").fail(new Error("stopped"));
  await pass(REST);
  assert.deepEqual([holdsAll(lens.data.main.pack, 1), failures, lens.data.requests.size], [false, [], 0]);
});

test("a lens that is gone asks nothing and takes nothing", async () => {
  const { lens, source, failures } = aLens({ pack: { ...SIX, held: [0] }, view: { layer: 2 } });
  frame(lens);
  await pass(REST);
  lens.page.alive = false;
  open(source, "layers").answer(layer(2));
  await pass(REST);
  frame(lens);
  await pass(REST);
  assert.deepEqual([asked(source), holdsAll(lens.data.main.pack, 2), failures], [["layers cat 2"], false, []]);
});

test("a source that offers nothing is asked nothing", async () => {
  for (const way of ["weight", "similarity", "rollout", "relevance"]) {
    const { lens, source } = aLens({
      offers: [],
      film: true,
      pack: SIX,
      view: { layer: 3, what: way, pass: "whole", scale: 0.2, locked: true },
    });
    frame(lens);
    await pass(AGAIN);
    assert.deepEqual(asked(source), [], way);
  }
});

// ---------------------------------------------------------------------------------------------- maps of the source

const TOKENS = 7; // the default of packOf

test("features are asked for once a layer, of the layer on view", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1, 2, 3] }, view: { layer: 1, what: "norm" } });
  const count = () => asked(source).filter((text) => !text.startsWith("names"));
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["features cat 1"]);
  open(source, "features").answer(new Float32Array(TOKENS * 2).fill(1));
  await pass(REST);
  assert.deepEqual(count(), []);
  assert.equal(overlayNow(lens.choice, lens.data, lens.frame).values.length, TOKENS);
  lens.choice.view = { ...lens.choice.view, what: "similarity" };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), [], "another map of the same features");
  lens.choice.view = { ...lens.choice.view, layer: 2 };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["features cat 2"]);
});

test("features of another shape than the picture's are not taken", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1] }, view: { what: "norm" } });
  frame(lens);
  await pass(REST);
  open(source, "features").answer(new Float32Array(TOKENS * 2 + 1));
  await pass();
  assert.equal(lens.data.features.size, 0);
});

test("the features of the compared picture follow, at the same height", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1, 2, 3] }, view: { layer: 3, what: "norm", beside: "compare" } });
  lens.data.other = receive(lens.data, aTrace("dog"), packOf({ layers: 8, held: [6, 7] }));
  frame(lens);
  await pass(REST);
  open(source, "features").answer(new Float32Array(TOKENS * 2).fill(1));
  await pass(REST);
  const features = asked(source).filter((text) => text.startsWith("features"));
  assert.deepEqual(features, ["features cat 3", "features dog 7"]);
});

test("the rollout of a small picture comes for all patches at once, locked or not", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1, 2, 3] }, view: { what: "rollout" } });
  const count = () => asked(source).filter((text) => !text.startsWith("names"));
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["flows cat"]);
  open(source, "flows").answer(new Uint16Array(TOKENS * TOKENS).fill(0x3c00));
  await pass(REST);
  lens.choice.view = { ...lens.choice.view, locked: true, query: "1,2" };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), []);
  assert.deepEqual([...overlayNow(lens.choice, lens.data, lens.frame).values], new Array(TOKENS).fill(1));
});

test("the rollout of a large picture comes for a locked patch, and is shown for no other one", async () => {
  const grid = [38, 38];
  const { lens, source } = aLens({
    pack: { grid, heads: 1, layers: 2, held: [0, 1], norms: false },
    view: { what: "rollout", query: "2,3" },
  });
  const count = () => asked(source).filter((text) => !text.startsWith("names"));
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), [], "nothing is locked");
  lens.choice.view = { ...lens.choice.view, locked: true };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["rollout cat 2,3"]);
  open(source, "rollout").answer(new Uint16Array(grid[0] * grid[1] + 1).fill(0x3800));
  await pass(REST);
  assert.equal(overlayNow(lens.choice, lens.data, lens.frame).values[9], 0.5);
  assert.deepEqual(count(), [], "it is here");
  lens.choice.view = { ...lens.choice.view, query: "4,4" };
  frame(lens);
  assert.equal(overlayNow(lens.choice, lens.data, lens.frame), null);
  await pass(REST);
  assert.deepEqual(count(), ["rollout cat 4,4"]);
});

// ---------------------------------------------------------------------------------------- whole passes, comparisons

test("a whole pass comes with the layer on view, then with the others; another scale ends the question", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1, 2, 3] }, view: { layer: 1, pass: "whole", scale: 0.1 } });
  const count = () => asked(source).filter((text) => !text.startsWith("names"));
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["whole cat 0.1"]);
  lens.choice.view = { ...lens.choice.view, scale: 0.2 };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["whole cat 0.2"]);
  assert.deepEqual(
    source.questions.filter(({ text }) => text.startsWith("whole")).map(({ signal }) => signal.aborted),
    [true, false],
  );
  open(source, "whole").answer(aTrace("cat at 0.2"));
  await pass();
  assert.deepEqual(count(), ["layers cat at 0.2 1"]);
  assert.equal(open(source, "layers cat at").signal, open(source, "whole").signal);
  open(source, "layers cat at").answer(packOf({ held: [1], forward_scale: 0.2 }));
  await pass();
  assert.deepEqual([lens.data.whole.id, lens.frame.shown.pack === lens.data.whole.pack], ["cat at 0.2", true]);
  lens.choice.view = { ...lens.choice.view, layer: 2 };
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["layers cat at 0.2 2"], "the layer on view of what is shown");
});

test("a cut is a whole pass at the trained scale; what can't be cut is left out of the view", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1, 2, 3] }, view: { layer: 1, cut: "0,1>1,2" } });
  const choices = [];
  lens.page.choose = (change) => choices.push(change);
  const count = () => asked(source).filter((text) => !text.startsWith("names"));
  frame(lens);
  await pass(REST);
  assert.deepEqual(count(), ["whole cat 0,1>1,2"]);
  open(source, "whole").answer(aTrace("cut", { cut: ["0,1>1,2"] }));
  await pass();
  open(source, "layers cut").answer(packOf({ held: [1], cuts: ["0,1>1,2"] }));
  await pass();
  frame(lens);
  assert.equal(lens.frame.shown.pack, lens.data.whole.pack);
  lens.choice.view = { ...lens.choice.view, cut: "9,9>0,0" };
  frame(lens);
  assert.equal(lens.frame.shown.pack, lens.data.main.pack, "another cut is not here yet");
  await pass(REST);
  open(source, "whole").fail(Object.assign(new Error("no such patch"), { status: 400 }));
  await pass();
  assert.deepEqual(choices, [{ cut: "" }]);
});

test("what is put into a pass is of the compared sample, and comes anew where that is another one", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1] }, view: { layer: 1, cut: "residual@0:0,1" } });
  const compareWith = (sample) => (lens.data.other = { trace: { words: { sample } } });
  compareWith("flock");
  frame(lens);
  await pass(REST);
  open(source, "whole cat residual@0:0,1 sample:flock").answer(
    aTrace("put", { cut: ["residual@0:0,1"], words: { with: "sample:flock" } }),
  );
  await pass();
  open(source, "layers put").answer(packOf({ held: [1] }));
  await pass();
  frame(lens);
  assert.equal(lens.frame.shown.pack, lens.data.whole.pack);
  compareWith("portrait");
  frame(lens);
  assert.equal(lens.frame.shown.pack, lens.data.main.pack, "of the other sample nothing is here yet");
});

test("nothing is asked of a whole pass at the trained scale", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1] }, view: { pass: "whole", scale: "on" } });
  frame(lens);
  await pass(REST);
  assert.deepEqual(asked(source), ["names cat 0"]);
});

test("a hundred whole passes do not pile up", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1] }, view: { pass: "whole" } });
  for (let n = 1; n <= 10; n++) {
    lens.choice.view = { ...lens.choice.view, scale: n / 100 };
    frame(lens);
    await pass(REST);
    open(source, "whole").answer(aTrace(`cat at ${n / 100}`));
    await pass();
    open(source, `layers cat at ${n / 100}`).answer(packOf({ held: [0], forward_scale: n / 100 }));
    await pass();
    lens.data.whole.size = 30e6;
  }
  assert.deepEqual([...lens.data.packs.keys()].slice(-2), ["cat", "cat at 0.1"], "what is shown stays");
  assert.ok(lens.data.packs.size <= 7, [...lens.data.packs.keys()].join(", "));
});

test("a comparison wants its layer before the neighbours; without one the host is asked for it", async () => {
  let compareCount = 0;
  const { lens, source } = aLens({
    pack: { held: [2] },
    view: { layer: 2, beside: "compare" },
    host: { compare: () => compareCount++ },
  });
  resolve(lens.choice, lens.data, lens.frame);
  askForMissing(lens, false);
  await pass(REST);
  assert.equal(compareCount, 1);
  asked(source);
  lens.data.other = receive(lens.data, aTrace("dog"), packOf({ layers: 10, held: [0] }));
  frame(lens);
  await pass(REST);
  assert.deepEqual(asked(source), ["layers dog 6"], "layer 2 of 4 is at the height of layer 6 of 10");
  assert.equal(compareCount, 1);
});

const rounding = (options) => {
  const lensInSee = aLens(options);
  lensInSee.source.rounds = true;
  lensInSee.lens.page.see = { on: false };
  return lensInSee;
};
const eighths = (...layers) => packOf({ ...SIX, held: layers, eighths: true });

test("of a source that rounds, the layer on view comes whole and what only is drawn in eight bits", async () => {
  const { lens, source } = rounding({
    pack: { ...SIX, held: [2], some: [1] },
    view: { layer: 2, head: 1 },
    film: true,
  });
  frame(lens);
  await pass();
  const order = [];
  for (let i = 0; i < 30; i++) {
    for (const question of source.questions.filter(({ seen }) => !seen)) {
      question.seen = true;
      const [kind, , number] = question.text.split(" ");
      if (kind === "layers") order.push(`${number}${question.rounded ? " rounded" : ""}`);
      const bytes = question.rounded ? eighths(Number(number)) : layer(Number(number));
      question.answer(kind === "layers" ? bytes : [["a name", "n", "#000"]]);
    }
    await pass(REST);
  }
  assert.deepEqual(order, ["2", "3 rounded", "1 rounded", "0 rounded", "4 rounded", "5 rounded"]);
  const { pack, rounded } = lens.data.main;
  assert.deepEqual(wholeLayers(pack), [2]);
  assert.deepEqual(wholeLayers(rounded.pack), [0, 1, 2, 3, 4, 5]);
});

test("a rounded layer is drawn at once, told by nobody, and gives way to the whole one", async () => {
  const { lens, source } = rounding({ pack: { ...SIX, held: [2] }, view: { layer: 2 } });
  frame(lens);
  await pass(REST);
  open(source, "layers cat 3").answer(eighths(3));
  await pass(REST);
  lens.choice.view = { ...lens.choice.view, layer: 3 };
  frame(lens);
  const { shown } = lens.frame;
  assert.deepEqual([shown.rough, shown.layerMissing, shown.pack], [true, false, lens.data.main.rounded.pack]);
  assert.equal(aimedPair({ aim: 0, view: lens.choice.view }, lens.frame), null);
  await pass(REST);
  const question = open(source, "layers cat 3");
  assert.equal(question.rounded, undefined);
  question.answer(layer(3));
  await pass();
  frame(lens);
  assert.deepEqual([shown.rough, shown.pack], [false, lens.data.main.pack]);
  assert.equal(lens.data.main.rounded.pack.stored.get(3), lens.data.main.pack.stored.get(3));
});

test("where numbers of all layers are told none comes rounded; See asks for those with moments alone", async () => {
  const answered = async ({ lens, source }, needsExact, on) => {
    lens.choice.exact = needsExact;
    lens.page.see = { on };
    frame(lens);
    for (let i = 0; i < 20; i++) {
      await pass(REST);
      for (const question of source.questions.filter(({ seen, text }) => !seen && text.startsWith("layers"))) {
        question.seen = true;
        const number = Number(question.text.split(" ")[2]);
        question.answer(question.rounded ? eighths(number) : layer(number));
      }
    }
    const { pack, rounded } = lens.data.main;
    return [wholeLayers(pack), rounded ? wholeLayers(rounded.pack) : null];
  };
  const newLens = () => rounding({ pack: { ...SIX, held: [5] }, view: { layer: 5 }, film: true });
  assert.deepEqual(await answered(newLens(), true, false), [[0, 1, 2, 3, 4, 5], null]);
  assert.deepEqual(await answered(newLens(), false, true), [[5], [3, 4, 5]]);
});

test("See asks for the names of heads where its numbers are on view, and not before", async () => {
  const { lens, source } = aLens({ pack: { ...SIX, held: [0, 1] } });
  lens.page.see = { on: true, drawer: "" };
  frame(lens);
  await pass(REST);
  assert.deepEqual(asked(source), []);
  lens.page.see.drawer = "numbers";
  frame(lens);
  await pass(REST);
  assert.deepEqual(asked(source), ["names cat 0"]);
});
