// A lesson's question as a class gets it.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.mjs";

const { lessonForClass } = await import("../../../playground/microscope/shell/lessonclass.js");

const QUESTION = {
  ...{ id: "scale_row", asks: "It takes ▢ of all.", context: "meadow bundled", prose: "", tempting: [] },
  guess: { kind: "Number", low: 0, high: 100, step: 1, log: false, unit: " %" },
  ...{ truth: 61.7, says: "So. [Heads](./heads?step=row) has more.", picture: { kind: "Bars" } },
};

test("phones get what is asked and how it is guessed, and the answer apart from it", () => {
  const { scene, question, told } = lessonForClass(QUESTION, "Scale");
  assert.deepEqual(scene, { name: "scale_row", title: "Scale" });
  assert.deepEqual(question, { of: "meadow bundled", asks: "It takes ___ of all.", guess: QUESTION.guess });
  assert.deepEqual(told, { truth: 62, after: "So. Heads has more." }, "the truth is a guess that a phone could make");
});

test("the answer of a choice is its key", () => {
  const guess = { kind: "Choice", options: [["a", "A"]] };
  assert.equal(lessonForClass({ ...QUESTION, guess, truth: "a" }, "").told.truth, "a");
});

test("where a lesson asks to paint a row, a phone presses its largest place", () => {
  const heat = [0.1, 0, 0, 0.3, 0, 0, 0, 0.4, 0, 0, 0.1, 0.15]; // two places, and the asking patch's own
  const picture = { kind: "Photo", image: "data:,", grid: [3, 4], aspect: 4 / 3, mark: 0, heat };
  const asks = "Paint where the outlined patch will look.";
  const { question, told } = lessonForClass(
    { ...QUESTION, asks, guess: { kind: "Painting" }, picture, truth: null },
    "",
  );
  assert.deepEqual(question, {
    of: "meadow bundled",
    asks: "Press where the outlined patch will look.",
    guess: { kind: "Place", rows: 3, columns: 4, mark: 0, aspect: 4 / 3 },
  });
  assert.equal(told.truth, 7);
  assert.equal(told.grades.ranks, "0..1...1..11");
  assert.deepEqual(
    told.grades.shares.map((share) => share.toFixed(2)),
    ["0.10", "0.95"],
  );
  assert.equal(told.heat, "400b000f0046");
});
