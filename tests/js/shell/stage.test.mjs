// Tests what the stage does when a person chooses something while it waits for traces.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { DEFAULT_VIEW } from "../../../playground/microscope/core/view.js";
import { setView, viewNow } from "../../../playground/microscope/shell/address.js";
import { catalogue, choice } from "../../../playground/microscope/shell/choice.js";
import { Refusal, SERVER_RETRY_MS } from "../../../playground/microscope/shell/http.js";
import { source } from "../../../playground/microscope/shell/httpsource.js";
import { bringTraces, FADE_DELAY, showChoice } from "../../../playground/microscope/shell/stage.js";
import { CATALOGUE, goTo, OWN_ID } from "./browser.mjs";
import "./page.mjs";

goTo("/microscope");
Object.assign(catalogue, CATALOGUE, { real: null }); // without a real model, the stage gives no advice
let refusals = []; // the errors with which the next requests fail
let nextReading = null; // a promise for which the next trace waits
Object.assign(source, {
  async open({ model, sample, mine, first, detail }) {
    const refusal = sample === "meadow" || mine ? refusals.shift() : null;
    if (refusal) throw refusal;
    await nextReading;
    return {
      ...{ id: `${sample ?? mine} ${model} ${first}`, model, detail, opens: {}, private: Boolean(mine) },
      ...{ first: Boolean(mine) && !first, picture: { id: sample ?? mine } },
    };
  },
});

// A stage without a choice. `viewChanges`: for each trace, what a person changes before the trace arrives.
function aStage(viewChanges) {
  setView({});
  const lens = {
    view: { ...DEFAULT_VIEW, layer: 4, query: "7,7" },
    wait() {},
    expect() {},
    async show({ view }) {
      const wantedView = () => (typeof view === "function" ? view(lens.view) : view);
      wantedView(); // asks for the first layer
      lens.view = { ...lens.view, ...viewChanges.shift() };
      const newView = wantedView();
      if (newView) lens.view = { ...DEFAULT_VIEW, layer: 4, query: "7,7", ...newView };
      return true;
    },
  };
  const advice = { hidden: true, replaceChildren() {} };
  return { lens, advice, trace: null, openedView: { ...lens.view }, shownChoice: null };
}

const bringChoice = (stage, words, view = null) => {
  choice.open(words);
  return bringTraces(stage, choice.now, view, new AbortController().signal);
};

test("a link that compares shows both, unless it says what stands beside the picture", async () => {
  const pair = { sample: "flock", model: "bundled", with: "sample:meadow" };
  for (const [view, expectedBeside] of [
    [{}, "compare"],
    [{ layer: "4" }, "compare"],
    [{ beside: "convolution" }, "convolution"],
    [{ beside: "wall" }, "wall"],
  ]) {
    const stage = aStage([{}]);
    await bringChoice(stage, pair, view);
    assert.deepEqual([stage.lens.view.beside, viewNow().beside], [expectedBeside, expectedBeside]);
  }
});

test("the former model's picture fades while another model reads for long, and comes back whole", async () => {
  const stage = { ...aStage([]), stop: new AbortController() };
  const sentences = [];
  Object.assign(stage.lens, { wait: (sentence) => sentences.push(sentence) });
  choice.open({ sample: "flock", model: "bundled" });
  await showChoice(stage);
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    let finishReading;
    nextReading = new Promise((resolve) => (finishReading = resolve));
    choice.open({ sample: "flock", model: "untrained" });
    sentences.length = 0;
    const firstShow = showChoice(stage);
    mock.timers.tick(FADE_DELAY - 1);
    assert.deepEqual(sentences, []);
    mock.timers.tick(1);
    assert.deepEqual(sentences, ["Another model is reading"]);
    finishReading();
    await firstShow;
    assert.equal(sentences.at(-1), null);
    choice.open({ sample: "tabby", model: "untrained" }); // another picture in the same model does not fade
    sentences.length = 0;
    nextReading = new Promise((resolve) => (finishReading = resolve));
    const secondShow = showChoice(stage);
    mock.timers.tick(2 * FADE_DELAY);
    finishReading();
    await secondShow;
    assert.deepEqual(sentences, [null]);
  } finally {
    nextReading = null;
    mock.timers.reset();
  }
});

test("a view that is chosen after the first look at an own photograph stands in the address, and stays", async () => {
  const stage = aStage([{}, { what: "similarity", locked: true, query: "2,3" }]);
  await bringChoice(stage, { mine: OWN_ID, model: "dino" });
  assert.deepEqual([viewNow().what, viewNow().locked, viewNow().query], ["similarity", true, "2,3"]);
  await bringChoice(stage, { mine: OWN_ID, model: "bundled" });
  assert.deepEqual([stage.lens.view.what, stage.lens.view.locked], ["similarity", true]);
});

const BUSY_SENTENCE = "So many pictures are on their way that there is no room for one more: try again.";
const notice = () => document.querySelector(".attention-notice span")?.textContent;
const nextTask = async () => {
  for (let round = 0; round < 20; round++) await new Promise(setImmediate);
};

// Asks for a finer grid on a stage with a photograph. `answers`: the first requests' refusals. `check(stage)` runs
// afterwards and may let time pass.
async function askForFiner(answers, check) {
  const stage = { ...aStage([]), stop: new AbortController() };
  choice.open({ mine: OWN_ID, model: "dino" });
  await showChoice(stage);
  const unfollow = choice.follow((_, options) => showChoice(stage, options));
  mock.timers.enable({ apis: ["setTimeout"] });
  refusals = answers;
  try {
    choice.set({ detail: 2 });
    await nextTask();
    await check(stage);
  } finally {
    mock.timers.reset();
    unfollow();
    refusals = [];
  }
}

for (const status of [0, 408, 502, 503, 504])
  test(`what a busy server refuses with ${status} stays chosen, and is asked for until it comes`, () =>
    askForFiner([new Refusal(status, BUSY_SENTENCE), new Refusal(status, BUSY_SENTENCE)], async (stage) => {
      assert.deepEqual([choice.now.detail, stage.shownChoice.detail, notice()], [2, 1, BUSY_SENTENCE]);
      for (let attempt = 0; attempt < 2; attempt++) {
        mock.timers.tick(SERVER_RETRY_MS);
        await nextTask();
      }
      assert.deepEqual([choice.now.detail, stage.shownChoice.detail, notice()], [2, 2, undefined]);
    }));

test("a choice that is refused for good gives way to what was shown", () =>
  askForFiner([new Refusal(400, "The grid is too fine.")], async (stage) => {
    assert.deepEqual([choice.now.detail, stage.shownChoice.detail, notice()], [1, 1, "The grid is too fine."]);
  }));

test("what stands beside the picture stays while the server is busy", async () => {
  const stage = aStage([{}]);
  refusals = [new Refusal(503, BUSY_SENTENCE)];
  await assert.rejects(bringChoice(stage, { sample: "flock", model: "bundled", with: "sample:meadow" }), {
    status: 503,
  });
  assert.deepEqual(choice.now.beside, { sample: "meadow" });
});

test("a model that lies here under another name is opened by a press", async () => {
  const stage = { ...aStage([{}, {}]), stop: new AbortController() };
  const missingModel = { model: "own/leaves", title: "leaves", here: true };
  refusals = [new Refusal(404, "leaves is a model of this server's own.", { missing: missingModel })];
  choice.open({ sample: "meadow", model: "leaves" });
  await showChoice(stage);
  const openButton = [...document.querySelectorAll(".attention-notice button")].find(
    (item) => item.textContent === "open it",
  );
  openButton.click();
  assert.equal(choice.now.model, "own/leaves");
});
