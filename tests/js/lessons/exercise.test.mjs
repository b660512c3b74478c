import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { mountPart } from "./mounting.mjs";

const { exercise } = await import("../../../playground/microscope/lessons/exercise.js");

const DATA = {
  id: "even",
  asks: "Make it **even**.",
  hint: "All alike.",
  answer: "By zero.",
  done: { keys: ["alike"] },
  tempting: [[{ keys: ["two"] }, "Two of them."]],
  answers: [],
  settings: { keys: "" },
};
const SET = { keys: "alike" };
const shownParts = ({ find }) => ["hint", "why", "ask", "answer"].filter((part) => !find(`.${part}`).hidden).join(" ");

beforeEach(() => localStorage.clear());

test("a hint stands there, the answer when it is asked for", () => {
  const drawing = mountPart(exercise, DATA);
  assert.deepEqual([drawing.find("i").textContent, shownParts(drawing)], ["○", "hint ask"]);
  drawing.click(drawing.find("button"));
  assert.equal(shownParts(drawing), "hint answer");
});

test("a tempting mistake is explained; a done exercise shows its answer, and stays done in this browser", () => {
  const drawing = mountPart(exercise, DATA);
  drawing.again({ ...DATA, settings: { keys: "two" } });
  assert.deepEqual([shownParts(drawing), drawing.find("details").open], ["hint why ask", true]);
  drawing.again({ ...DATA, settings: SET });
  assert.deepEqual([drawing.find("i").textContent, shownParts(drawing)], ["✓", "answer"]);
  assert.match(drawing.find("summary").textContent, /Make it even\. Done\.$/);
  const secondVisit = mountPart(exercise, DATA);
  assert.deepEqual([secondVisit.find("i").textContent, shownParts(secondVisit)], ["✓", "answer"]);
});

test("an exercise with a question and no hint keeps its answer back until the question is answered", () => {
  const exerciseData = { ...DATA, id: "bare", hint: "", settings: SET, answers: [["many", ""]] };
  const drawing = mountPart(exercise, exerciseData);
  assert.deepEqual([shownParts(drawing), drawing.find(".offers").hidden], ["ask", false]);
  drawing.click(drawing.find(".offers button"));
  assert.deepEqual([drawing.find("i").textContent, shownParts(drawing)], ["✓", "answer"]);
});

test("an exercise with a question is done when the question is answered, not when the page is set", () => {
  const exerciseData = {
    ...DATA,
    answers: [
      ["one", "There is another."],
      ["many", ""],
    ],
  };
  const drawing = mountPart(exercise, exerciseData);
  drawing.again({ ...exerciseData, settings: SET });
  const { find } = drawing;
  assert.deepEqual([find("i").textContent, shownParts(drawing), find(".offers").hidden], ["○", "hint ask", false]);
  assert.deepEqual(drawing.texts(".offers button"), ["one", "many"]);
  drawing.click(find(".offers button"));
  assert.deepEqual([find("i").textContent, shownParts(drawing)], ["○", "hint why ask"]);
  assert.match(find(".why").textContent, /^Not so\. There is another\.$/);
  drawing.click(drawing.parentElement.querySelectorAll(".offers button")[1]);
  assert.deepEqual([find("i").textContent, shownParts(drawing), find(".offers").hidden], ["✓", "answer", true]);
  assert.equal(mountPart(exercise, exerciseData).find("i").textContent, "✓", "this browser keeps it");
});
