import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import {
  linkTo,
  readAddress,
  setPage,
  setView,
  wordsNow,
  writeAddress,
} from "../../../playground/microscope/shell/address.js";
import { catalogue, choice } from "../../../playground/microscope/shell/choice.js";
import { CATALOGUE, goTo, OWN_ID } from "./browser.mjs";

Object.assign(catalogue, CATALOGUE);

beforeEach(() => {
  goTo("/microscope");
  setPage({ name: "microscope", path: null, settings: {}, classLink: false });
  setView({});
  choice.open({ sample: "tabby" });
});

const query = () => Object.fromEntries(new URLSearchParams(location.search));

test("the address says the choice, and what in the view differs from the defaults", () => {
  setView({ layer: 8, head: 0, query: "7,5", locked: true, scale: "on" });
  writeAddress();
  assert.deepEqual(query(), { sample: "tabby", model: "dino", layer: "8", query: "7,5", locked: "true" });
  assert.equal(location.pathname, "/microscope");
});

test("a lesson's page has its settings in the address, and no view of the microscope", () => {
  goTo("/by_hand?model=dino&layer=3");
  setPage({ name: "by_hand", path: "/by_hand", settings: { mask: "causal" } });
  setView({ layer: 8 });
  writeAddress();
  assert.deepEqual(query(), { ...choice.words(), mask: "causal" });
});

test("a step makes an entry in the history; what is no step replaces the address that was there", () => {
  writeAddress();
  const lengthBefore = history.length;
  setView({ layer: 4 });
  writeAddress();
  assert.equal(history.length, lengthBefore);
  choice.set({ sample: "meadow" });
  writeAddress({ step: true });
  assert.equal(history.length, lengthBefore + 1);
  writeAddress({ step: true });
  assert.equal(history.length, lengthBefore + 1, "nothing new was to be said");
});

test("an address is read back as it was written", () => {
  choice.set({ mine: OWN_ID, beside: { sample: "meadow" } });
  const view = { layer: "8", scale: "0.5", beside: "compare" };
  setView(view);
  writeAddress();
  const parsedAddress = readAddress();
  assert.deepEqual(parsedAddress, { choice: choice.words(), view, rest: {}, settings: view, story: null });
});

test("who compares and looks at the convolution has a link to just that; `with` alone shows both", () => {
  choice.set({ beside: { sample: "meadow" } });
  setView({ beside: "convolution" });
  assert.equal(wordsNow().beside, "convolution");
  assert.equal(new URL(linkTo({ beside: "convolution" })).searchParams.get("beside"), "convolution");
  assert.equal(new URL(linkTo({ beside: "compare" })).searchParams.get("beside"), "compare");
  choice.set({ beside: null });
  assert.equal("beside" in wordsNow(), false);
});

test("an address is read into the choice, the view, the story and the rest", () => {
  assert.deepEqual(readAddress("?sample=meadow&with=model:x&layer=3&story=1&class=yes&shuffled=no&model="), {
    choice: { sample: "meadow", with: "model:x" },
    view: { layer: "3" },
    rest: { class: "yes", shuffled: "no", model: "" },
    settings: { layer: "3", class: "yes", shuffled: "no" },
    story: "1",
  });
});

test("a link shows what is seen, wherever the address stands, and nothing of a place in the page", () => {
  goTo("/microscope?layer=1#scenes=abc");
  setView({ layer: 1, head: 5, locked: true });
  const url = new URL(linkTo({ layer: 8, head: 0, query: "7,5" }));
  const wordsOfLink = Object.fromEntries(url.searchParams);
  assert.deepEqual(wordsOfLink, { sample: "tabby", model: "dino", layer: "8", query: "7,5" }, "not the view of before");
  assert.equal(url.hash, "");
  assert.equal(location.hash, "#scenes=abc", "the address itself stays");
});
