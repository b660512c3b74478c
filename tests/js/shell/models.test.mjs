import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { Window } from "happy-dom";

import { cardOfModel, downloadModel, fillModels, showFetching } from "../../../playground/microscope/shell/models.js";

const CARD = { title: "CLIP", good_for: "captions", suits: "photographs", megabytes: 345, licence: "MIT" };
const OURS = { ...CARD, name: "bundled", title: "our small ViT", megabytes: 0, here: true };
const DINO = { ...CARD, name: "dino", title: "DINO", here: true };
const CLIP = { ...CARD, name: "clip", here: false };
const MAE = { ...CARD, name: "mae", title: "<img src=x>", here: false };
const STARTED = { bytes: 0, total: 0, arrived: false, over: false, trouble: null };
const HALFWAY = { ...STARTED, bytes: 3e6, total: 8e6 };
const ARRIVED = { ...HALFWAY, bytes: 8e6, arrived: true, over: true };

const refusalOf = (status, sentence) => Object.assign(new Error(sentence), { status, says: sentence });

// A server with answers by the test: server.answers["GET path"] is a value, an error, or a function of the signal.
function fakeServer() {
  const server = { requests: [], answers: { "GET api/models": { open: true, cards: [CLIP, OURS, DINO] } } };
  server.ask = async (path, { method = "GET", signal } = {}) => {
    const request = `${method} ${path}`;
    server.requests.push(request);
    const preparedAnswer =
      server.answers[request] ?? (method === "DELETE" ? {} : refusalOf(404, `nothing at ${request}`));
    const answer = typeof preparedAnswer === "function" ? await preparedAnswer(signal) : preparedAnswer;
    signal?.throwIfAborted();
    if (answer instanceof Error) throw answer;
    return { json: async () => answer, blob: async () => new Blob([]) };
  };
  return server;
}

function fakeChoice(model) {
  const listeners = new Set();
  const choice = { now: { sample: "meadow", mine: null, model }, changes: [] };
  choice.set = (change) => {
    choice.changes.push(change);
    choice.now = { ...choice.now, ...change };
    for (const listener of listeners) listener(choice.now);
  };
  choice.follow = (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return choice;
}

let window, box, server, choice, closeCount;
const FETCHING = "api/fetching?model=clip";
const done = () => closeCount++;
const fillBox = () => fillModels(box, { choice, ask: server.ask, done });
const button = (name) => box.querySelector(`[data-model="${name}"]`);
const buttonWith = (words, root = box) =>
  [...root.querySelectorAll("button")].find((item) => item.textContent === words && !item.hidden);

// Waits until condition() is true and lets pending work run meanwhile; fails with `problem`.
async function until(condition, problem) {
  for (let i = 0; i < 4000; i++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.fail(`${problem}; requests were ${server.requests.join(", ")}; shown is ${box.textContent}`);
}

beforeEach(() => {
  window = new Window({ url: "http://localhost/" });
  const FakeObserver = class {
    constructor(callback) {
      this.observe = (target) => callback([{ isIntersecting: true, target }]);
      this.unobserve = () => {};
    }
  };
  Object.assign(globalThis, { window, document: window.document, IntersectionObserver: FakeObserver });
  URL.createObjectURL = () => "blob:look";
  box = document.createElement("div");
  document.body.append(box);
  [server, choice, closeCount] = [fakeServer(), fakeChoice("bundled"), 0];
});

// Ends all downloads and removes all elements before the next test.
afterEach(async () => {
  const lineBox = document.createElement("div");
  document.body.append(lineBox);
  const stop = showFetching(lineBox);
  for (const words of ["Cancel", "Close"]) if (!lineBox.firstChild.hidden) buttonWith(words, lineBox)?.click();
  stop();
  document.body.replaceChildren();
});

test("a card says what was assumed of a model, as text", () => {
  const linesOf = (card) => [...cardOfModel(card, null).querySelectorAll("small")].map((item) => item.textContent);
  const assumed = "Assumed: mean 0.5 0.5 0.5. <b>leaves.json</b> beside its file says otherwise.";
  assert.deepEqual(linesOf({ ...CLIP, assumed }), ["for photographs · 345 MB · MIT", assumed]);
  assert.deepEqual(linesOf({ ...CLIP, assumed: "" }), ["for photographs · 345 MB · MIT"]);
});

test("a model is asked for until it is there, and each answer is told", async () => {
  const [toldStates, answers] = [[], [HALFWAY, ARRIVED]];
  server.answers[`POST ${FETCHING}`] = STARTED;
  server.answers[`GET ${FETCHING}`] = () => answers.shift();
  await downloadModel(server.ask, "clip", (item) => toldStates.push(item));
  assert.deepEqual(toldStates, [STARTED, HALFWAY, ARRIVED]);
  assert.deepEqual(server.requests, [`POST ${FETCHING}`, `GET ${FETCHING}`, `GET ${FETCHING}`]);
});

test("a request that the server has dropped is made anew", async () => {
  const answersLeft = [STARTED, ARRIVED];
  server.answers[`POST ${FETCHING}`] = () => answersLeft.shift();
  server.answers[`GET ${FETCHING}`] = refusalOf(404, "It is not being fetched for you.");
  await downloadModel(server.ask, "clip", () => {});
  assert.deepEqual(server.requests, [`POST ${FETCHING}`, `GET ${FETCHING}`, `POST ${FETCHING}`]);
});

test("a missed answer does not end a download, a refusal does", async () => {
  const answers = [refusalOf(0, "The server does not answer."), refusalOf(503, "Too many ask."), ARRIVED];
  server.answers[`POST ${FETCHING}`] = STARTED;
  server.answers[`GET ${FETCHING}`] = () => answers.shift();
  await downloadModel(server.ask, "clip", () => {});
  answers.push(refusalOf(403, "Not here."));
  await assert.rejects(
    downloadModel(server.ask, "clip", () => {}),
    { says: "Not here." },
  );
});

test("the server is told once that a person gives up", async () => {
  const controller = new AbortController();
  server.answers[`POST ${FETCHING}`] = STARTED;
  server.answers[`GET ${FETCHING}`] = HALFWAY;
  const promise = downloadModel(server.ask, "clip", () => controller.abort(), controller.signal);
  await assert.rejects(promise, { name: "AbortError" });
  assert.deepEqual(server.requests, [`POST ${FETCHING}`, `DELETE ${FETCHING}`]);
});

test("a download goes on when the sheet is closed: a line remains, and the model is chosen", async () => {
  let progress = HALFWAY;
  server.answers[`POST ${FETCHING}`] = STARTED;
  server.answers[`GET ${FETCHING}`] = () => progress;
  const lineBox = document.createElement("div");
  document.body.append(lineBox);
  showFetching(lineBox);
  assert.equal(lineBox.firstChild.hidden, true);
  fillBox();
  await until(() => button("clip"), "no card is drawn");
  button("clip").click();
  box.remove();
  await until(() => lineBox.textContent.includes("3 of 8 MB"), "the line says nothing");
  progress = ARRIVED;
  await until(() => choice.changes.length, "it is not chosen");
  assert.deepEqual([lineBox.firstChild.hidden, closeCount], [true, 0]);
  assert.match(lineBox.querySelector("[role=status]").textContent, /CLIP is here/);
});

test("a download does not bring back who chooses another model meanwhile", async () => {
  server.answers[`POST ${FETCHING}`] = STARTED;
  server.answers[`GET ${FETCHING}`] = HALFWAY;
  fillBox();
  await until(() => button("clip"), "no card is drawn");
  button("clip").click();
  button("dino").click();
  await until(() => server.requests.includes(`DELETE ${FETCHING}`), "the server is not told");
  assert.deepEqual(choice.changes, [{ model: "dino", chose: true }]);
});

test("a search waits for the last letter, and an older answer is not drawn over it", async () => {
  let resolveSlow = null;
  server.answers["GET api/models?search=ma"] = () => new Promise((resolve) => (resolveSlow = resolve));
  server.answers["GET api/models?search=mae"] = { open: true, cards: [MAE] };
  fillBox();
  await until(() => button("bundled"), "no card is drawn");
  const search = box.querySelector("input");
  const typeText = (text) => {
    search.value = text;
    search.dispatchEvent(new window.Event("input"));
  };
  for (const text of ["m", "ma"]) typeText(text);
  await until(() => resolveSlow, "it is not searched");
  typeText("mae");
  await until(() => button("mae"), "nothing is found");
  resolveSlow({ open: true, cards: [DINO] });
  await new Promise((resolve) => setTimeout(resolve));
  assert.ok(button("mae") && !button("dino"), box.textContent);
  const searches = server.requests.filter((item) => item.includes("search"));
  assert.deepEqual(searches, ["GET api/models?search=ma", "GET api/models?search=mae"]);
  assert.equal(box.querySelector("[role=status]").textContent, "1 found");
});

test("names from outside are text", async () => {
  server.answers["GET api/models"] = { open: false, cards: [MAE] };
  fillBox();
  await until(() => button("mae"), "no card is drawn");
  assert.equal(box.querySelector("img"), null);
});

test("a server that is silent or refuses is a sentence in the sheet", async () => {
  server.answers["GET api/models"] = refusalOf(0, "");
  fillBox();
  await until(() => /does not answer/.test(box.textContent), "nothing is said");
});

test("the Tab key stops once at the cards, at the chosen one; arrows move within them", async () => {
  choice.now.model = "dino";
  fillBox();
  await until(() => button("dino"), "no card is drawn");
  const tabStops = () => ["bundled", "dino", "clip"].filter((name) => button(name).tabIndex === 0);
  assert.deepEqual(tabStops(), ["dino"]);
  button("dino").focus();
  button("dino").dispatchEvent(new window.KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
  assert.deepEqual([tabStops(), document.activeElement.dataset.model], [["clip"], "clip"]);
  box.querySelector("input").dispatchEvent(new window.KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
  assert.equal(document.activeElement.dataset.model, "bundled");
});
