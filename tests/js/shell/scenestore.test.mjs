import assert from "node:assert/strict";
import { test } from "node:test";

import { keepScenes, keptScenes } from "../../../playground/microscope/shell/own.js";

let stored = {};
let full = false;

globalThis.localStorage = {
  getItem: (key) => stored[key] ?? null,
  setItem(key, text) {
    if (full) throw new Error("QuotaExceededError");
    stored[key] = text;
  },
};

test("what a full storage does not take lasts as long as the page, and the older list does not come back", () => {
  keepScenes("older");
  assert.equal(keptScenes(), "older");
  full = true;
  keepScenes("newer");
  assert.equal(keptScenes(), "newer");
  full = false;
  keepScenes("newest");
  stored = { [Object.keys(stored)[0]]: "another tab's" };
  assert.equal(keptScenes(), "another tab's");
});
