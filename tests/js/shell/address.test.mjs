import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { linkTo, setPage, setView, wordsNow } from "../../../playground/microscope/shell/address.js";
import { catalogue, choice } from "../../../playground/microscope/shell/choice.js";
import { CATALOGUE, goTo } from "./browser.mjs";

Object.assign(catalogue, CATALOGUE);

beforeEach(() => {
  goTo("/microscope");
  setPage({ name: "microscope", path: null, settings: {}, classLink: false });
  setView({});
  choice.open({ sample: "tabby" });
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

test("a link shows what is seen, wherever the address stands, and nothing of a place in the page", () => {
  goTo("/microscope?layer=1#scenes=abc");
  setView({ layer: 1, head: 5, locked: true });
  const url = new URL(linkTo({ layer: 8, head: 0, query: "7,5" }));
  const wordsOfLink = Object.fromEntries(url.searchParams);
  assert.deepEqual(wordsOfLink, { sample: "tabby", model: "dino", layer: "8", query: "7,5" }, "not the view of before");
  assert.equal(url.hash, "");
  assert.equal(location.hash, "#scenes=abc", "the address itself stays");
});
