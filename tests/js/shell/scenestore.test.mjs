import assert from "node:assert/strict";
import { test } from "node:test";

import { keepScenes, keptScenes } from "../../../playground/microscope/shell/own.js";

let stored = {};
let isFull = false;

globalThis.localStorage = {
  getItem: (key) => stored[key] ?? null,
  setItem(key, text) {
    if (isFull) throw new Error("QuotaExceededError");
    stored[key] = text;
  },
};

test("a list that a full storage refuses lasts as long as the page, and the older one does not come back", () => {
  keepScenes("older");
  assert.equal(keptScenes(), "older");
  isFull = true;
  keepScenes("newer");
  assert.equal(keptScenes(), "newer");
  isFull = false;
  keepScenes("newest");
  stored = { [Object.keys(stored)[0]]: "another tab's" };
  assert.equal(keptScenes(), "another tab's");
});
