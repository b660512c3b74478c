import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { mounted } from "./mounting.mjs";

const { exercise } = await import("../../../playground/microscope/lessons/exercise.js");

const DATA = {
  id: "even",
  question: "Make it **even**.",
  hint: "All alike.",
  answer: "By zero.",
  done: false,
  why: "",
};
const shown = ({ find }) => ["hint", "why", "ask", "answer"].filter((part) => !find(`.${part}`).hidden).join(" ");

beforeEach(() => localStorage.clear());

test("a hint stands there, the answer when it is asked for", () => {
  const there = mounted(exercise, DATA);
  assert.deepEqual([there.find("i").textContent, shown(there)], ["○", "hint ask"]);
  there.click(there.find("button"));
  assert.equal(shown(there), "hint answer");
});

test("what is tempting and wrong is said; what is done is done, opens itself, and stays so in this browser", () => {
  const there = mounted(exercise, DATA);
  there.again({ ...DATA, why: "Two of them." });
  assert.deepEqual([shown(there), there.find("details").open], ["hint why ask", true]);
  there.again({ ...DATA, done: true });
  assert.deepEqual([there.find("i").textContent, shown(there)], ["✓", "answer"]);
  assert.match(there.find("summary").textContent, /Make it even\. Done\.$/);
  const later = mounted(exercise, DATA);
  assert.deepEqual([later.find("i").textContent, shown(later)], ["✓", "answer"]);
});

test("where the page cannot tell there is nothing to be done", () => {
  assert.equal(mounted(exercise, { ...DATA, done: null }).find("i").textContent, "?");
  assert.equal(shown(mounted(exercise, { ...DATA, id: "other", hint: "" })), "answer");
});

test("what asks something and has no hint keeps its answer back until it is asked for", () => {
  const asks = { ...DATA, id: "bare", hint: "", done: true, answers: [["many", ""]] };
  const there = mounted(exercise, asks);
  assert.deepEqual([shown(there), there.find(".offers").hidden], ["ask", false]);
  there.click(there.find(".offers button"));
  assert.deepEqual([there.find("i").textContent, shown(there)], ["✓", "answer"]);
});

test("what also asks something is done when that was answered, not when the page is set", () => {
  const asks = {
    ...DATA,
    answers: [
      ["one", "There is another."],
      ["many", ""],
    ],
  };
  const there = mounted(exercise, asks);
  there.again({ ...asks, done: true });
  const { find } = there;
  assert.deepEqual([find("i").textContent, shown(there), find(".offers").hidden], ["○", "hint ask", false]);
  assert.deepEqual(there.texts(".offers button"), ["one", "many"]);
  there.click(find(".offers button"));
  assert.deepEqual([find("i").textContent, shown(there)], ["○", "hint why ask"]);
  assert.match(find(".why").textContent, /^Not so\. There is another\.$/);
  there.click(there.parentElement.querySelectorAll(".offers button")[1]);
  assert.deepEqual([find("i").textContent, shown(there), find(".offers").hidden], ["✓", "answer", true]);
  assert.equal(mounted(exercise, asks).find("i").textContent, "✓", "this browser keeps it");
});
