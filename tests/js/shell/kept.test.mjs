import assert from "node:assert/strict";
import { test } from "node:test";

import { keepText, keptText } from "../../../playground/microscope/shell/kept.js";

let stored = {};
let isFull = false;

globalThis.localStorage = {
  getItem: (key) => stored[key] ?? null,
  setItem(key, text) {
    if (isFull) throw new Error("QuotaExceededError");
    stored[key] = text;
  },
};

test("a text that a full storage refuses lasts as long as the page, and the older one does not come back", () => {
  keepText("scenes", "older");
  assert.equal(keptText("scenes"), "older");
  isFull = true;
  keepText("scenes", "newer");
  assert.equal(keptText("scenes"), "newer");
  isFull = false;
  keepText("scenes", "newest");
  stored = { [Object.keys(stored)[0]]: "another tab's" };
  assert.equal(keptText("scenes"), "another tab's");
});
