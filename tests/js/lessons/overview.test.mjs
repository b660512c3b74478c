import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { EXERCISES_KEY, keepGuess } from "../../../playground/microscope/core/guesses.js";
import { mountPart } from "./mounting.mjs";

const { overview } = await import("../../../playground/microscope/lessons/exercise.js");

const DATA = {
  boxes: [
    { name: "patches", address: "./patches?", lit: false, group: "before" },
    { name: "MLP", address: "./block?sample=meadow&model=bundled", lit: true, group: "layer" },
    { name: "answer", address: "./block?", lit: false, group: "after" },
  ],
  questions: 43,
  exercises: 12,
};

beforeEach(() => localStorage.clear());

test("what was guessed and done is counted as it happens, and can be forgotten", () => {
  const drawing = mountPart(overview, DATA);
  const countsText = () => drawing.find("p span").textContent;
  assert.deepEqual([countsText(), drawing.find("button").hidden], ["", true]);
  keepGuess(localStorage, "far", { words: "you said 60 %", guess: 60 });
  keepGuess(localStorage, "seen", { words: "", guess: "" }); // the answer was shown without a guess
  dispatchEvent(new CustomEvent("guess-locked"));
  assert.equal(countsText(), "1 of 43 questions guessed; kept in this browser only.");
  keepGuess(localStorage, "even", true, EXERCISES_KEY);
  dispatchEvent(new CustomEvent("guess-locked"));
  assert.equal(countsText(), "1 of 43 questions guessed, 1 of 12 exercises done; kept in this browser only.");
  drawing.click(drawing.find("button"));
  assert.equal(countsText(), "");
  assert.doesNotMatch(mountPart(overview, DATA).find("p").textContent, /guessed/);
});
