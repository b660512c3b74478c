import assert from "node:assert/strict";
import { test } from "node:test";

import { besideAsModel, fillCompare } from "../../../playground/microscope/shell/toolbarparts.js";
import { aHost, aPlace } from "./page.mjs";

const OWN_PICTURES = [
  { id: "a", title: "first.jpg", src: "data:,a" },
  { id: "b", title: "second.jpg", src: "data:,b" },
];

function aSheet(overrides) {
  const host = aHost({ own: OWN_PICTURES, ...overrides });
  const box = aPlace();
  const counts = { done: 0, models: 0 };
  fillCompare(box, { ...host, fillWithModels: () => counts.models++, done: () => counts.done++ });
  const pressButton = (words) => [...box.querySelectorAll("button")].find((item) => item.textContent === words).click();
  const offeredKeys = () => [...box.querySelectorAll("[data-beside]")].map((item) => item.dataset.beside);
  return { host, box, counts, pressButton, offeredKeys };
}

test("own pictures are offered first, then the samples, without the one that is shown", () => {
  assert.deepEqual(aSheet().offeredKeys(), ["mine:b", "mine:a", "meadow", "flock"]);
  assert.deepEqual(aSheet({ now: { sample: null, mine: "a" } }).offeredKeys(), ["mine:b", "tabby", "meadow", "flock"]);
});

test("a picture that is pressed stands beside, and the sheet is done", () => {
  const { host, box, counts } = aSheet();
  box.querySelector('[data-beside="mine:a"]').click();
  assert.deepEqual(host.choice.now.beside, { mine: "a" });
  box.querySelector('[data-beside="flock"]').click();
  assert.deepEqual(host.choice.now.beside, { sample: "flock" });
  assert.equal(counts.done, 2);
  assert.equal(host.choice.now.sample, "tabby");
});

test("the button Nothing ends the comparison, and is offered only while there is one", () => {
  assert.doesNotMatch(aSheet().box.textContent, /Nothing/);
  const { host, pressButton, box } = aSheet({ now: { beside: { sample: "flock" } } });
  assert.match(box.textContent, /Compared with Flock/);
  assert.equal(box.querySelector('[data-beside="flock"]').getAttribute("aria-pressed"), "true");
  pressButton("Nothing: end the comparison");
  assert.equal(host.choice.now.beside, null);
});

test("a model chosen there stands beside and does not become the picture's", () => {
  const { choice } = aHost();
  const modelChoice = besideAsModel(choice);
  modelChoice.set({ model: "small", chose: true });
  assert.deepEqual([choice.now.model, choice.now.beside], ["dino", { model: "small" }]);
  assert.equal(modelChoice.now.model, "small");
  modelChoice.set({ model: "dino", chose: true }); // the model with which the picture was opened
  assert.equal(choice.now.beside, null);
});
