// Tests what the toolbar, mounted by Streamlit, reports to the server's script. Each test continues the one before.

import assert from "node:assert/strict";
import { after, mock, test } from "node:test";
import { visit } from "../../../playground/microscope/shell/address.js";
import { choice } from "../../../playground/microscope/shell/choice.js";
import { ownKey, SERVER_RETRY_MS } from "../../../playground/microscope/shell/http.js";
import { ownPictures } from "../../../playground/microscope/shell/own.js";
import { mountToolbar } from "../../../playground/microscope/shell/toolbarmount.js";
import { aDatabase, aServer, CATALOGUE, goTo, json, OWN_ID, paths } from "./browser.mjs";
import { until } from "./page.mjs";

const server = aServer(({ path }) =>
  path.startsWith("api/samples") ? json(CATALOGUE) : json({ id: OWN_ID, title: "cat", thumb: "data:," }),
);
aDatabase();
goTo("/microscope?sample=tabby&layer=3");
const parentElement = document.createElement("div");
document.body.append(parentElement);

const states = [];
const triggers = [];
const takeAll = (list) => list.splice(0).map(([name, { stamp, run, ...fields }]) => ({ name, ...fields }));
const PAGES = ["microscope", "by_hand"].map((name) => ({ name, short: name, title: name, number: null, exports: "" }));
let arrivalCount = 0;
let unmount = null;

async function draw(page, overrides = {}) {
  arrivalCount += formerPage === page ? 0 : 1;
  formerPage = page;
  const data = { page, pages: PAGES, samples: "api/samples/d", titles: { dino: "DINOv2" }, labelled: 0 };
  unmount = mountToolbar({
    data: { ...data, steps: [], version: "1", arrived: arrivalCount, answer: null, ...overrides },
    parentElement,
    setStateValue: (...args) => states.push(args),
    setTriggerValue: (...args) => triggers.push(args),
  });
  await until(() => parentElement.querySelector("button") ?? parentElement.shadowRoot?.querySelector("button"), page);
  await new Promise(setImmediate);
}
let formerPage = null;
after(() => unmount());

test("a server that is away at first is asked again, and the toolbar comes", async () => {
  const answers = server.answers;
  server.answers = () => Promise.reject(new TypeError("Failed to fetch"));
  mock.timers.enable({ apis: ["setTimeout"] });
  const sentence = () => document.querySelector(".attention-notice span")?.textContent;
  try {
    draw("microscope").catch(() => {});
    for (let i = 0; i < 50 && !sentence(); i++) await new Promise(setImmediate);
    assert.equal(sentence(), "The server does not answer; the page tries again.");
    server.answers = answers;
    mock.timers.tick(3000);
  } finally {
    mock.timers.reset();
  }
  await until(() => parentElement.querySelector("button"), "the toolbar");
});

test("on the microscope's page nothing is told to the server's script, whatever is chosen", async () => {
  await draw("microscope");
  choice.set({ sample: "meadow" });
  choice.set({ model: "dino", chose: true });
  choice.set({ detail: 2, beside: { sample: "flock" } });
  assert.deepEqual([takeAll(states), takeAll(triggers)], [[], []]);
});

test("on a lesson's page each choice is told, with the key and the microscope's view", async () => {
  goTo("/by_hand");
  await draw("by_hand");
  assert.deepEqual(takeAll(states), [], "coming here chooses nothing");
  choice.open({ sample: "flock" });
  const wordsOfChoice = { sample: "flock", model: "bundled", detail: "2" };
  const view = { layer: "3" };
  assert.deepEqual(takeAll(states), [{ name: "choice", choice: wordsOfChoice, settings: null, view, key: ownKey() }]);
  choice.open({ sample: "meadow" }, { quietly: true });
  assert.deepEqual(takeAll(states), [], "what the server knows already is not told");
});

test("a toolbar that is drawn again tells each choice once", async () => {
  await draw("by_hand");
  await draw("by_hand");
  choice.open({ sample: "tabby" });
  assert.equal(takeAll(states).length, 1);
});

test("leaving the page is told once, with the key", () => {
  visit.leave("microscope");
  const words = { sample: "tabby", model: "dino" };
  const target = { page: "microscope", words: { ...words, layer: "3" }, choice: words, view: { layer: "3" } };
  assert.deepEqual(takeAll(triggers), [{ name: "go", ...target, key: ownKey() }]);
});

test("a new server's script, which has read the address alone, is told the choice", async () => {
  await draw("by_hand", { run: "first" });
  assert.deepEqual(takeAll(states), []);
  await draw("by_hand", { run: "second" });
  assert.deepEqual(
    states.map(([, { choice: words, run }]) => [words, run]),
    [[choice.words(), "second"]],
  );
  takeAll(states);
  await draw("by_hand", { run: "second" });
  assert.deepEqual(takeAll(states), []);
  await draw("by_hand");
  takeAll(states);
});

test("a script that lacks the key is told the choice once more", async () => {
  const answer = { needs: "key" };
  await draw("by_hand", { answer });
  assert.equal(takeAll(states).length, 1);
  await draw("by_hand", { answer });
  assert.deepEqual(takeAll(states), [], "the same answer is heeded once");
});

test("a photograph that a lesson's script has forgotten is brought again, then told", async () => {
  await ownPictures.open(new File(["bytes"], "cat.jpg"));
  takeAll(states);
  const countBefore = server.questions.length;
  await draw("by_hand", { answer: { forgotten: OWN_ID } });
  await until(() => states.length, "the choice is told");
  assert.deepEqual(paths({ questions: server.questions.slice(countBefore) }), ["POST api/pictures"]);
  assert.equal(takeAll(states)[0].choice.mine, OWN_ID);
});

test("a photograph for which the server is too busy stays chosen, and is brought a little later", async () => {
  await draw("by_hand", { answer: null }); // so that the next answer counts as a new one
  const answers = server.answers;
  server.answers = () => json({ says: "Too many people are here." }, 503);
  const notice = () => document.querySelector(".attention-notice span")?.textContent;
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    draw("by_hand", { answer: { forgotten: OWN_ID } }).catch(() => {});
    for (let round = 0; round < 50; round++) await new Promise(setImmediate);
    assert.deepEqual([notice(), choice.now.mine, takeAll(states)], ["Too many people are here.", OWN_ID, []]);
    server.answers = answers;
    mock.timers.tick(SERVER_RETRY_MS);
  } finally {
    mock.timers.reset();
  }
  await until(() => states.length, "the choice is told");
  assert.equal(takeAll(states)[0].choice.mine, OWN_ID);
});

test("a photograph that nobody has any more gives way to a sample, and a sentence says so", async () => {
  await draw("by_hand", { answer: { forgotten: "fedcba9876543210" } });
  await until(() => choice.now.sample, "a sample");
  assert.equal(choice.now.sample, "tabby");
  const notice = document.querySelector(".attention-notice span").textContent;
  assert.equal(notice, "Your photograph is not in this browser any more.");
  takeAll(states);
});

test("what the script shows instead is chosen, without telling it back", async () => {
  await draw("by_hand", { answer: { instead: { sample: "meadow", model: "bundled" } } });
  assert.deepEqual([choice.now.sample, choice.now.model], ["meadow", "bundled"]);
  assert.deepEqual(takeAll(states), []);
});

test("a toolbar that is taken away tells nothing any more", () => {
  unmount();
  choice.open({ sample: "flock" });
  assert.deepEqual(takeAll(states), []);
  unmount = () => {};
});
