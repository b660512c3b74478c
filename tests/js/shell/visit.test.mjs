// One visit from its beginning: the tests follow one another as a person's steps do.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pageNow, ready, shownTrace, viewNow, visit } from "../../../playground/microscope/shell/address.js";
import { choice } from "../../../playground/microscope/shell/choice.js";
import { aDatabase, aServer, CATALOGUE, goTo, json, paths } from "./browser.mjs";
import { until } from "./page.mjs";

const SAMPLES = "api/samples/digest";
const server = aServer(() => json({ says: "busy" }, 503));
aDatabase();
goTo("/microscope?sample=meadow&model=bundled&detail=2&layer=3&tour=2");

let arrived = 1;
const arrive = (page, again = true) => visit.arrive({ page, samples: SAMPLES, arrived: again ? ++arrived : arrived });
const query = () => Object.fromEntries(new URLSearchParams(location.search));

const heard = [];
choice.follow((now, how) => heard.push({ sample: now.sample, ...how }));
const told = [];
visit.follow(() => told.push({ ...viewNow() }));
const since = (list) => list.splice(0);

test("the visit begins when the samples are here, and with what the address says", async () => {
  let isReady = false;
  ready().then(() => (isReady = true));
  await assert.rejects(arrive("microscope"), { status: 503 });
  assert.equal(isReady, false);
  server.answers = () => json(CATALOGUE);
  const before = history.length;
  await arrive("microscope");
  await ready();
  assert.deepEqual([choice.now.sample, choice.now.model, choice.now.detail], ["meadow", "bundled", 2]);
  assert.deepEqual(since(heard), [{ sample: "meadow", view: { layer: "3" }, quietly: true }]);
  assert.deepEqual([viewNow(), pageNow().tour, pageNow().name], [{ layer: "3" }, "2", "microscope"]);
  assert.equal(history.length, before, "nobody has chosen anything yet");
});

test("the toolbar that is drawn again begins nothing anew", async () => {
  await arrive("microscope", false);
  await arrive("microscope");
  assert.deepEqual(paths(server), [`GET ${SAMPLES}`, `GET ${SAMPLES}`], "the one that failed and the one that came");
  assert.deepEqual(since(heard), []);
});

test("a choice is a step in the address", () => {
  const before = history.length;
  choice.set({ sample: "tabby" });
  assert.deepEqual([query().sample, query().model, history.length], ["tabby", "dino", before + 1]);
  since(heard);
});

test("what the address says already is no step", () => {
  const before = history.length;
  choice.set({ sample: "flock" }, { quietly: true });
  assert.equal(history.length, before);
  choice.set({ sample: "tabby" }, { quietly: true });
  since(heard);
});

test("Back leads to the choice and the view of before", async () => {
  since(told);
  history.back();
  await until(() => heard.length, "Back is heard");
  assert.deepEqual(since(heard), [{ sample: "meadow", view: { layer: "3" }, quietly: true }]);
  assert.deepEqual([query().sample, query().layer], ["meadow", "3"]);
  history.forward();
  await until(() => heard.length, "Forward is heard");
  assert.equal(since(heard)[0].sample, "tabby");
  assert.deepEqual(since(told), [], "the stage shows a choice with its view");
});

test("Back to another view of the same choice is told to the stage", async () => {
  const words = "sample=tabby&model=dino";
  history.pushState(null, "", `/microscope?${words}&layer=9&head=1`);
  history.pushState(null, "", `/microscope?${words}&layer=5`);
  history.back();
  await until(() => told.length, "the stage is told");
  assert.deepEqual([since(told), since(heard)], [[{ layer: "9", head: "1" }], []]);
});

test("a lesson's page keeps the choice and the view, and the browser writes its address", async () => {
  goTo("/by_hand?model=dino&shuffled=yes");
  await arrive("by_hand");
  assert.equal(choice.now.sample, "tabby");
  assert.deepEqual([viewNow(), pageNow().name], [{ layer: "9", head: "1" }, "by_hand"]);
  choice.set({ sample: "flock" });
  assert.deepEqual(query(), { sample: "flock", model: "bundled", detail: "2", shuffled: "yes" });
  since(heard);
  since(told);
});

test("who comes back to the microscope finds the choice and the view, in the address too", async () => {
  goTo("/microscope");
  await arrive("microscope");
  const words = { sample: "flock", model: "bundled", detail: "2", layer: "9", head: "1" };
  assert.deepEqual(query(), words);
  assert.deepEqual([since(heard), since(told).length], [[], 1]);
});

test("a link within the app to a picture shows it", async () => {
  goTo("/microscope?sample=meadow&head=4");
  await arrive("microscope");
  assert.deepEqual([choice.now.sample, viewNow()], ["meadow", { layer: "9", head: "4" }]);
  assert.equal(since(heard)[0].quietly, true);
});

test("a step of the tour or a scene goes to its picture and view in one step", () => {
  const before = history.length;
  visit.go("sample=tabby&model=dino&layer=6&tour=3");
  assert.deepEqual([choice.now.sample, viewNow(), pageNow().tour], ["tabby", { layer: "6" }, "3"]);
  assert.deepEqual(query(), { sample: "tabby", model: "dino", layer: "6", face: "see", tour: "3" });
  assert.equal(history.length, before + 1);
  assert.deepEqual(since(heard)[0].view, { layer: "6" });
  since(told);
  visit.go("sample=tabby&model=dino&layer=2", { step: false });
  assert.deepEqual([query().layer, query().tour, history.length], ["2", undefined, before + 1]);
  assert.deepEqual([since(told), since(heard)], [[{ layer: "2" }], []], "only the view: the stage alone is told");
});

test("a scene without a picture stays on this one, in its model", () => {
  visit.go("model=large&layer=1");
  assert.deepEqual([choice.now.sample, choice.now.model, viewNow()], ["tabby", "large", { layer: "1" }]);
  visit.go("layer=0");
  assert.deepEqual([choice.now.sample, choice.now.model, viewNow()], ["tabby", "large", { layer: "0" }]);
  since(heard);
  since(told);
});

test("who leaves for another page takes the choice along; the view only to the microscope", () => {
  const went = [];
  visit.tell = (go) => went.push(go);
  const words = { sample: "tabby", model: "large" };
  const common = { choice: words, view: { layer: "0" } };
  visit.leave("by_hand");
  visit.leave("microscope");
  visit.leave("teach", { model: "x" });
  assert.deepEqual(went, [
    { page: "by_hand", words, ...common },
    { page: "microscope", words: { ...words, layer: "0" }, ...common },
    { page: "teach", words: { model: "x" }, ...common },
  ]);
});

test("who leaves for what a step or a scene shows finds that alone", async () => {
  visit.leave("microscope", { sample: "meadow" }, { wholly: true });
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
  const seen = [];
  const listener = (trace) => seen.push(trace);
  shownTrace.listeners.add(listener);
  shownTrace.set("trace");
  assert.deepEqual([seen, shownTrace.now], [["trace"], "trace"]);
});
