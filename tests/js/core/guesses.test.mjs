import assert from "node:assert/strict";
import { test } from "node:test";

import {
  EXERCISES_KEY,
  errorWords,
  forgetGuesses,
  keepGuess,
  overlapOf,
  readGuesses,
} from "../../../playground/microscope/core/guesses.js";

const assertClose = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

test("the overlap is what an even coat of paint and the row have in common", () => {
  const row = [0.5, 0.3, 0.1, 0.1];
  assertClose(overlapOf([0], row), 0.5);
  assertClose(overlapOf([0, 1], row), 0.5 + 0.3);
  assertClose(overlapOf([0, 1, 2, 3], row), 0.25 + 0.25 + 0.1 + 0.1);
  assertClose(overlapOf([], row), 0);
  assertClose(overlapOf([0, 1], [5, 3, 1, 1]), 0.8); // a row is scaled to sum to one
});

test("a guessed number is told how near it came", () => {
  const percent = { low: 0, high: 100, step: 1, log: false };
  const powers = { low: 10, high: 4000, step: 1, log: true };
  assert.equal(errorWords(64, 64, percent), "exactly");
  assert.equal(errorWords(40, 64, percent), "1.6 times too low");
  assert.equal(errorWords(60, 50, percent), "10 too high");
  assert.equal(errorWords(0, 3, percent), "3.0 too low");
  assert.equal(errorWords(1, 437, { ...percent, high: 1000 }), "440 times too low");
  assert.equal(errorWords(0, 147456, { ...percent, high: 1e6, step: 1000 }), "147,000 too low");
  assert.equal(errorWords(64, 63.8, percent), "as near as the scale allows");
  assert.equal(errorWords(200, 196, powers), "4.0 too high"); // the reader types counts, so 196 is a possible guess
  assert.equal(errorWords(190, 196, powers), "6.0 too low");
  const shares = { low: 0.01, high: 40, step: 0.01, log: true };
  assert.equal(errorWords(2, 1.96, shares), "as near as the scale allows"); // the slider cannot reach 1.96
});

test("guesses are kept in the storage, whatever else is in it, and can be forgotten", () => {
  const entries = new Map([["attention-playground:guesses", "not JSON"]]);
  const storage = {
    getItem: (key) => entries.get(key) ?? null,
    setItem: (key, value) => entries.set(key, value),
    removeItem: (key) => entries.delete(key),
  };
  assert.deepEqual(readGuesses(storage), {});
  keepGuess(storage, "a", { words: "right" });
  keepGuess(storage, "b", { words: "not so" });
  assert.deepEqual(readGuesses(storage), { a: { words: "right" }, b: { words: "not so" } });
  keepGuess(storage, "c", true, EXERCISES_KEY);
  assert.deepEqual(readGuesses(storage, EXERCISES_KEY), { c: true });
  forgetGuesses(storage);
  assert.deepEqual([readGuesses(storage), readGuesses(storage, EXERCISES_KEY)], [{}, {}]);
  const brokenStorage = {
    getItem: () => {
      throw new Error("denied");
    },
    setItem: () => {
      throw new Error("denied");
    },
    removeItem: () => {},
  };
  keepGuess(brokenStorage, "a", {});
  assert.deepEqual(readGuesses(brokenStorage), {});
});
