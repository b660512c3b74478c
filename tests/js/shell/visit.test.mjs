// Tests one visit from its beginning: each test continues where the one before ended.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pageNow, ready, shownTrace, viewNow, visit } from "../../../playground/microscope/shell/address.js";
import { choice } from "../../../playground/microscope/shell/choice.js";
import { aDatabase, aServer, CATALOGUE, goTo, json, paths } from "./browser.mjs";
import { until } from "./page.mjs";

const SAMPLES_PATH = "api/samples/digest";
const server = aServer(() => json({ says: "busy" }, 503));
aDatabase();
goTo("/microscope?sample=meadow&model=bundled&detail=2&layer=3&story=2");

let arrivalCount = 1;
const arrive = (page, isNew = true) =>
  visit.arrive({ page, samples: SAMPLES_PATH, arrived: isNew ? ++arrivalCount : arrivalCount });
const query = () => Object.fromEntries(new URLSearchParams(location.search));

const choices = [];
choice.follow((now, options) => choices.push({ sample: now.sample, ...options }));
const views = [];
visit.follow(() => views.push({ ...viewNow() }));
const takeAll = (list) => list.splice(0);

test("the visit begins when the samples are here, and with what the address says", async () => {
  let isReady = false;
  ready().then(() => (isReady = true));
  await assert.rejects(arrive("microscope"), { status: 503 });
  assert.equal(isReady, false);
  server.answers = () => json(CATALOGUE);
  const lengthBefore = history.length;
  await arrive("microscope");
  await ready();
  assert.deepEqual([choice.now.sample, choice.now.model, choice.now.detail], ["meadow", "bundled", 2]);
  assert.deepEqual(takeAll(choices), [{ sample: "meadow", view: { layer: "3" }, quietly: true }]);
  assert.deepEqual([viewNow(), pageNow().story, pageNow().name], [{ layer: "3" }, "2", "microscope"]);
  assert.equal(history.length, lengthBefore, "nobody has chosen anything yet");
});

test("the toolbar that is drawn again begins nothing anew", async () => {
  await arrive("microscope", false);
  await arrive("microscope");
  assert.deepEqual(
    paths(server),
    [`GET ${SAMPLES_PATH}`, `GET ${SAMPLES_PATH}`],
    "the one that failed and the one that came",
  );
  assert.deepEqual(takeAll(choices), []);
});

test("a choice is a step in the address", () => {
  const lengthBefore = history.length;
  choice.set({ sample: "tabby" });
  assert.deepEqual([query().sample, query().model, history.length], ["tabby", "dino", lengthBefore + 1]);
  takeAll(choices);
});

test("a choice that the address names already is no step", () => {
  const lengthBefore = history.length;
  choice.set({ sample: "flock" }, { quietly: true });
  assert.equal(history.length, lengthBefore);
  choice.set({ sample: "tabby" }, { quietly: true });
  takeAll(choices);
});

test("Back leads to the choice and the view of before", async () => {
  takeAll(views);
  history.back();
  await until(() => choices.length, "Back is heard");
  assert.deepEqual(takeAll(choices), [{ sample: "meadow", view: { layer: "3" }, quietly: true }]);
  assert.deepEqual([query().sample, query().layer], ["meadow", "3"]);
  history.forward();
  await until(() => choices.length, "Forward is heard");
  assert.equal(takeAll(choices)[0].sample, "tabby");
  assert.deepEqual(takeAll(views), [], "the stage shows a choice with its view");
});

test("Back to another view of the same choice is told to the stage", async () => {
  const words = "sample=tabby&model=dino";
  history.pushState(null, "", `/microscope?${words}&layer=9&head=1`);
  history.pushState(null, "", `/microscope?${words}&layer=5`);
  history.back();
  await until(() => views.length, "the stage is told");
  assert.deepEqual([takeAll(views), takeAll(choices)], [[{ layer: "9", head: "1" }], []]);
});

test("a lesson's page keeps the choice and the view, and the browser writes its address", async () => {
  goTo("/by_hand?model=dino&shuffled=yes");
  await arrive("by_hand");
  assert.equal(choice.now.sample, "tabby");
  assert.deepEqual([viewNow(), pageNow().name], [{ layer: "9", head: "1" }, "by_hand"]);
  choice.set({ sample: "flock" });
  assert.deepEqual(query(), { sample: "flock", model: "bundled", detail: "2", shuffled: "yes" });
  takeAll(choices);
  takeAll(views);
});

test("who comes back to the microscope finds the choice and the view, in the address too", async () => {
  goTo("/microscope");
  await arrive("microscope");
  const words = { sample: "flock", model: "bundled", detail: "2", layer: "9", head: "1" };
  assert.deepEqual(query(), words);
  assert.deepEqual([takeAll(choices), takeAll(views).length], [[], 1]);
});

test("a link within the app to a picture shows it", async () => {
  goTo("/microscope?sample=meadow&head=4");
  await arrive("microscope");
  assert.deepEqual([choice.now.sample, viewNow()], ["meadow", { layer: "9", head: "4" }]);
  assert.equal(takeAll(choices)[0].quietly, true);
});

test("a scene goes to its picture and view in one step", () => {
  const lengthBefore = history.length;
  visit.go("sample=tabby&model=dino&layer=6&story=3");
  assert.deepEqual([choice.now.sample, viewNow(), pageNow().story], ["tabby", { layer: "6" }, "3"]);
  assert.deepEqual(query(), { sample: "tabby", model: "dino", layer: "6", face: "see", story: "3" });
  assert.equal(history.length, lengthBefore + 1);
  assert.deepEqual(takeAll(choices)[0].view, { layer: "6" });
  takeAll(views);
  visit.go("sample=tabby&model=dino&layer=2", { step: false });
  assert.deepEqual([query().layer, query().story, history.length], ["2", undefined, lengthBefore + 1]);
  assert.deepEqual(
    [takeAll(views), takeAll(choices)],
    [[{ layer: "2" }], []],
    "only the view: the stage alone is told",
  );
});

test("a scene without a picture stays on this one, in its model", () => {
  visit.go("model=large&layer=1");
  assert.deepEqual([choice.now.sample, choice.now.model, viewNow()], ["tabby", "large", { layer: "1" }]);
  visit.go("layer=0");
  assert.deepEqual([choice.now.sample, choice.now.model, viewNow()], ["tabby", "large", { layer: "0" }]);
  takeAll(choices);
  takeAll(views);
});

test("who leaves for another page takes the choice along; the view only to the microscope", () => {
  const targets = [];
  visit.open = (...target) => targets.push(target);
  const words = { sample: "tabby", model: "large" };
  visit.leave("by_hand");
  visit.leave("microscope");
  visit.leave("teach", { model: "x" });
  assert.deepEqual(targets, [
    ["by_hand", words],
    ["microscope", { ...words, layer: "0" }],
    ["teach", { model: "x" }],
  ]);
});

test("who leaves for the story finds its view alone", async () => {
  visit.leave("microscope", { sample: "meadow" }, { onlyWords: true });
  goTo("/microscope?sample=meadow&head=2");
  await arrive("microscope");
  assert.deepEqual([choice.now.sample, viewNow()], ["meadow", { head: "2" }], "the view of before is gone");
  goTo("/microscope?layer=4");
  await arrive("microscope");
  assert.deepEqual([choice.now.sample, viewNow()], ["meadow", { head: "2", layer: "4" }], "once");
});

test("a class link is one until its address no longer says so", async () => {
  goTo("/microscope?sample=tabby&class=yes");
  await arrive("microscope");
  assert.equal(pageNow().classLink, true);
  assert.equal(query().class, "yes");
});

test("the trace on the stage is told to whoever shows its grids", () => {
  const traces = [];
  const listener = (trace) => traces.push(trace);
  shownTrace.listeners.add(listener);
  shownTrace.set("trace");
  assert.deepEqual([traces, shownTrace.now], [["trace"], "trace"]);
});
