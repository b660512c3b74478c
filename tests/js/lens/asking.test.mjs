import assert from "node:assert/strict";
import { test } from "node:test";

import { holdsAll, sumOf, wholeLayers } from "../../../playground/microscope/core/core.js";
import { stopAsking } from "../../../playground/microscope/lens/asking.js";
import { mapWaitingWords } from "../../../playground/microscope/lens/explained.js";
import { liveMap } from "../../../playground/microscope/lens/features.js";
import { overlayNow } from "../../../playground/microscope/lens/state.js";
import { packOf } from "../packs.mjs";
import { aLens, aTrace, latestRequest, newRequests, passTime, runFrame } from "./alens.mjs";

const SIX_LAYERS = { layers: 6 };
const packOfLayers = (...layers) => packOf({ ...SIX_LAYERS, held: layers });
const REST_MS = 150;
const RETRY_MS = 5000;

test("the layer on view comes first, then the nearest of the others; the names after all layers", async () => {
  const { lens, source } = aLens({
    pack: { ...SIX_LAYERS, held: [2], some: [1] },
    view: { layer: 2, head: 1 },
    ahead: true,
  });
  runFrame(lens);
  await passTime();
  const order = [];
  for (let i = 0; i < 30; i++) {
    for (const text of newRequests(source)) {
      order.push(text);
      const [kind, , number] = text.split(" ");
      latestRequest(source, text).answer(kind === "layers" ? packOfLayers(Number(number)) : [["a name", "n", "#000"]]);
    }
    await passTime(REST_MS);
  }
  const layers = [2, 1, 3, 0, 4, 5].map((n) => `layers cat ${n}`);
  assert.deepEqual(order, [...layers, ...[2, 1, 3, 0, 4, 5].map((n) => `names cat ${n}`)]);
});

test("one question of a kind at a time: a new one ends the former, and its late answer is not taken", async () => {
  const { lens, source } = aLens({ pack: { ...SIX_LAYERS, held: [0] }, view: { layer: 2 } });
  runFrame(lens);
  await passTime(REST_MS);
  runFrame(lens);
  runFrame(lens, true);
  await passTime(RETRY_MS);
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(newRequests(source), ["layers cat 2"], "nothing is asked twice while it is open, however long");
  const formerRequest = latestRequest(source, "layers");
  lens.choice.view = { ...lens.choice.view, layer: 4 };
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(newRequests(source), ["layers cat 4"]);
  assert.deepEqual([formerRequest.signal.aborted, latestRequest(source, "layers").signal.aborted], [true, false]);
  formerRequest.answer(packOfLayers(2));
  await passTime();
  assert.equal(holdsAll(lens.data.main.pack, 2), false);
  latestRequest(source, "layers").answer(packOfLayers(4));
  await passTime();
  assert.ok(holdsAll(lens.data.main.pack, 4));
});

test("a request that failed is told, and repeated after a while, not before", async () => {
  const { lens, source, failures } = aLens({ pack: { ...SIX_LAYERS, held: [0], some: [0] } });
  runFrame(lens);
  await passTime();
  newRequests(source);
  latestRequest(source, "layers").fail(new Error("no"));
  await passTime();
  assert.deepEqual(failures, ["no"]);
  for (const part of [0.25, 0.25, 0.25]) {
    runFrame(lens);
    await passTime(part * RETRY_MS);
    assert.deepEqual(newRequests(source), []);
  }
  await passTime(0.25 * RETRY_MS); // the lens repeats the question although no frame is drawn
  await passTime(REST_MS);
  assert.deepEqual(newRequests(source), ["layers cat 0"]);
});

test("an answer that can't be read has failed: it is told, and not asked for at once again", async () => {
  const { lens, source, failures } = aLens({ pack: { ...SIX_LAYERS, held: [0], some: [0] } });
  runFrame(lens);
  await passTime();
  newRequests(source);
  latestRequest(source, "layers").answer(new Uint8Array(0));
  await passTime();
  assert.deepEqual(failures, ["The data of this picture is empty."]);
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(newRequests(source), []);
  await passTime(RETRY_MS);
  await passTime(REST_MS);
  assert.deepEqual(newRequests(source), ["layers cat 0"]);
});

test("questions about a former picture are ended, and neither taken nor told as a failure", async () => {
  const { lens, source, failures } = aLens({
    pack: { ...SIX_LAYERS, held: [0] },
    view: { what: "similarity" },
    ahead: true,
  });
  runFrame(lens);
  await passTime(REST_MS);
  stopAsking(lens.data);
  assert.deepEqual(
    source.questions.map(({ signal }) => signal.aborted),
    [true, true],
  );
  latestRequest(source, "layers").answer(packOfLayers(1));
  latestRequest(source, "features").fail(new Error("stopped"));
  await passTime(REST_MS);
  assert.deepEqual([holdsAll(lens.data.main.pack, 1), failures, lens.data.requests.size], [false, [], 0]);
});

test("a layer's values are asked for once; a head's contributions sum to the length of what it writes", async () => {
  const { lens, source } = aLens({ view: { what: "contribution", head: 1 }, offers: ["layers", "values"] });
  runFrame(lens);
  assert.equal(mapWaitingWords(lens), "The values of layer 0 are on their way.");
  await passTime(REST_MS);
  const { tokens, heads, dim } = lens.main.pack;
  const values = new Uint16Array(heads * tokens * dim).fill(0x3c00); // 1 as float16
  latestRequest(source, "values cat 0").answer(values);
  await passTime(REST_MS);
  const parts = [...liveMap(lens).values];
  assert.equal(parts.length, tokens);
  assert.ok(Math.abs(sumOf(parts, 0, tokens) - Math.sqrt(dim)) < 1e-5, parts); // each row sums to 1
  lens.choice.view.head = 2;
  runFrame(lens);
  assert.notDeepEqual([...liveMap(lens).values], parts);
  assert.equal(source.questions.filter(({ text }) => text.startsWith("values")).length, 1);
});

test("a source that offers nothing is asked nothing", async () => {
  for (const way of ["weight", "similarity", "rollout", "relevance"]) {
    const { lens, source } = aLens({
      offers: [],
      ahead: true,
      pack: SIX_LAYERS,
      view: { layer: 3, what: way, pass: "whole", scale: 0.2, locked: true },
    });
    runFrame(lens);
    await passTime(RETRY_MS);
    assert.deepEqual(newRequests(source), [], way);
  }
});

// ---------------------------------------------------------------------------------------------- maps of the source

test("the rollout of a large picture comes for a locked patch, and is shown for no other one", async () => {
  const grid = [38, 38];
  const { lens, source } = aLens({
    pack: { grid, heads: 1, layers: 2, held: [0, 1], norms: false },
    view: { what: "rollout", query: "2,3" },
  });
  const requestsButNames = () => newRequests(source).filter((text) => !text.startsWith("names"));
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(requestsButNames(), [], "nothing is locked");
  lens.choice.view = { ...lens.choice.view, locked: true };
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(requestsButNames(), ["rollout cat 2,3"]);
  latestRequest(source, "rollout").answer(new Uint16Array(grid[0] * grid[1] + 1).fill(0x3800));
  await passTime(REST_MS);
  assert.equal(overlayNow(lens).values[9], 0.5);
  assert.deepEqual(requestsButNames(), [], "it is here");
  lens.choice.view = { ...lens.choice.view, query: "4,4" };
  runFrame(lens);
  assert.equal(overlayNow(lens), null);
  await passTime(REST_MS);
  assert.deepEqual(requestsButNames(), ["rollout cat 4,4"]);
});

// ---------------------------------------------------------------------------------------- whole passes, comparisons

test("a whole pass comes with the layer on view, then with the others; another scale ends the question", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1, 2, 3] }, view: { layer: 1, pass: "whole", scale: 0.1 } });
  const requestsButNames = () => newRequests(source).filter((text) => !text.startsWith("names"));
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(requestsButNames(), ["whole cat 0.1"]);
  lens.choice.view = { ...lens.choice.view, scale: 0.2 };
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(requestsButNames(), ["whole cat 0.2"]);
  assert.deepEqual(
    source.questions.filter(({ text }) => text.startsWith("whole")).map(({ signal }) => signal.aborted),
    [true, false],
  );
  latestRequest(source, "whole").answer(aTrace("cat at 0.2"));
  await passTime();
  assert.deepEqual(requestsButNames(), ["layers cat at 0.2 1"]);
  assert.equal(latestRequest(source, "layers cat at").signal, latestRequest(source, "whole").signal);
  latestRequest(source, "layers cat at").answer(packOf({ held: [1], forward_scale: 0.2 }));
  await passTime();
  assert.deepEqual([lens.data.whole.id, lens.frame.shown.pack === lens.data.whole.pack], ["cat at 0.2", true]);
  lens.choice.view = { ...lens.choice.view, layer: 2 };
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(requestsButNames(), ["layers cat at 0.2 2"], "the layer on view of what is shown");
});

test("a cut is a whole pass at the trained scale; what can't be cut is left out of the view", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1, 2, 3] }, view: { layer: 1, cut: "0,1>1,2" } });
  const choices = [];
  lens.page.choose = (change) => choices.push(change);
  const requestsButNames = () => newRequests(source).filter((text) => !text.startsWith("names"));
  runFrame(lens);
  await passTime(REST_MS);
  assert.deepEqual(requestsButNames(), ["whole cat 0,1>1,2"]);
  latestRequest(source, "whole").answer(aTrace("cut", { cut: ["0,1>1,2"] }));
  await passTime();
  latestRequest(source, "layers cut").answer(packOf({ held: [1], cuts: ["0,1>1,2"] }));
  await passTime();
  runFrame(lens);
  assert.equal(lens.frame.shown.pack, lens.data.whole.pack);
  lens.choice.view = { ...lens.choice.view, cut: "9,9>0,0" };
  runFrame(lens);
  assert.equal(lens.frame.shown.pack, lens.data.main.pack, "another cut is not here yet");
  await passTime(REST_MS);
  latestRequest(source, "whole").fail(Object.assign(new Error("no such patch"), { status: 400 }));
  await passTime();
  assert.deepEqual(choices, [{ cut: "" }]);
});

test("a pass with a part of the compared sample is asked for anew when another sample is compared", async () => {
  const { lens, source } = aLens({ pack: { held: [0, 1] }, view: { layer: 1, cut: "residual@0:0,1" } });
  const compareWith = (sample) => (lens.data.other = { trace: { words: { sample } } });
  compareWith("flock");
  runFrame(lens);
  await passTime(REST_MS);
  latestRequest(source, "whole cat residual@0:0,1 sample:flock").answer(
    aTrace("put", { cut: ["residual@0:0,1"], words: { with: "sample:flock" } }),
  );
  await passTime();
  latestRequest(source, "layers put").answer(packOf({ held: [1] }));
  await passTime();
  runFrame(lens);
  assert.equal(lens.frame.shown.pack, lens.data.whole.pack);
  compareWith("portrait");
  runFrame(lens);
  assert.equal(lens.frame.shown.pack, lens.data.main.pack, "of the other sample nothing is here yet");
});

test("See asks only for the layers with moments, and for all where its layers are looked at", async () => {
  const layersAfterAnswers = async (isLookedAt) => {
    const { lens, source } = aLens({ pack: { ...SIX_LAYERS, held: [5] }, view: { layer: 5 }, ahead: true });
    lens.choice.layersLooked = isLookedAt;
    lens.page.see = { on: true };
    runFrame(lens);
    for (let i = 0; i < 20; i++) {
      await passTime(REST_MS);
      for (const question of source.questions.filter(({ seen, text }) => !seen && text.startsWith("layers"))) {
        question.seen = true;
        question.answer(packOfLayers(Number(question.text.split(" ")[2])));
      }
    }
    return wholeLayers(lens.data.main.pack);
  };
  assert.deepEqual(await layersAfterAnswers(true), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(await layersAfterAnswers(false), [3, 4, 5]);
});
