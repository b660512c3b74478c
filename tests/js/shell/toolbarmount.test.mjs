// Tests how the bar comes. Each test continues the one before.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { pageNow } from "../../../playground/microscope/shell/address.js";
import { SERVER_RETRY_MS } from "../../../playground/microscope/shell/http.js";
import { mountToolbar } from "../../../playground/microscope/shell/toolbarmount.js";
import { aDatabase, aServer, CATALOGUE, goTo, json } from "./browser.mjs";
import { until } from "./page.mjs";

const PAGES = ["microscope", "by_hand"].map((name) => ({ name, short: name, title: name, number: null }));
const PAGE_DATA = { pages: PAGES, samples: "api/samples/d", titles: { dino: "DINOv2" }, labelled: 0, version: "1" };
const server = aServer(() => Promise.reject(new TypeError("Failed to fetch")));
aDatabase();
goTo("/microscope?sample=tabby&layer=3");
const script = document.createElement("script");
script.dataset.toolbar = JSON.stringify(PAGE_DATA);
const root = document.createElement("div");
document.body.append(script, root);
const showBar = mountToolbar(root, {});

test("a server that is away at first is asked again, and the bar comes", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const sentence = () => document.querySelector(".attention-notice span")?.textContent;
  try {
    showBar({ page: "microscope", arrived: 0 });
    for (let i = 0; i < 50 && !sentence(); i++) await new Promise(setImmediate);
    assert.equal(sentence(), "The server does not answer; the page tries again.");
    server.answers = () => json(CATALOGUE);
    mock.timers.tick(SERVER_RETRY_MS);
  } finally {
    mock.timers.reset();
  }
  await until(() => root.querySelector("button"), "the bar");
});

test("the bar of another page is the same bar", async () => {
  const bar = root.firstElementChild;
  goTo("/by_hand?sample=tabby");
  await showBar({ page: "by_hand", arrived: 1 });
  assert.equal(root.firstElementChild, bar);
  assert.equal(pageNow().name, "by_hand");
});
