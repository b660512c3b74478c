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
