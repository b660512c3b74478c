import assert from "node:assert/strict";
import { test } from "node:test";

import "./mounting.mjs";

const QUESTION = {
  ...{ id: "memory", asks: "What grows?", prose: "", picture: null, truth: "one", says: "It says so." },
  ...{
    guess: {
      kind: "Choice",
      options: [
        ["time", "the time"],
        ["one", "one"],
      ],
    },
    tempting: [],
    afresh: false,
  },
};
const SLIDES = [
  { title: "A *row*", minutes: "3 minutes", task: "Point at the dog.", questions: [], living: "<p>living</p>" },
  { title: "A question", minutes: "2 minutes", task: "Let them guess.", questions: [QUESTION], living: "" },
];
document.body.innerHTML = `<div id="place"></div><nav><button id="back"></button><span id="count"></span>
  <button id="on"></button><button id="notes"></button></nav><script type="application/json" id="slides"></script>`;
document.getElementById("slides").textContent = JSON.stringify(SLIDES);
await import("../../../playground/microscope/lessons/slides.js");

const [first, second] = document.querySelectorAll(".slide");
const press = async (key) => {
  document.body.dispatchEvent(Object.assign(new KeyboardEvent("keydown", { bubbles: true }), { key }));
  await turned();
};
async function turned() {
  dispatchEvent(new Event("hashchange"));
  await null;
}
const shown = () => [first.hidden, second.hidden, document.getElementById("count").textContent];

test("the first slide is shown, with the living microscope in a frame and its task kept for who asks", async () => {
  assert.deepEqual(shown(), [false, true, "1 of 2"]);
  assert.equal(first.querySelector("h2").innerHTML, "A <em>row</em>");
  assert.equal(first.querySelector("iframe").getAttribute("srcdoc"), "<p>living</p>");
  assert.equal(first.querySelector(".task").hidden, true);
  await press("n");
  assert.deepEqual(
    [first.querySelector(".task").hidden, first.querySelector(".task").textContent],
    [false, SLIDES[0].task],
  );
  document.getElementById("notes").click();
  assert.equal(first.querySelector(".task").hidden, true);
});

test("a question is asked when its slide is reached, and keys and buttons stay within the slides", async () => {
  assert.equal(second.querySelector(".guess").textContent, "");
  await press("ArrowRight");
  assert.deepEqual(shown(), [true, false, "2 of 2"]);
  assert.match(second.querySelector(".guess").textContent, /What grows\?/);
  await press("PageDown");
  assert.deepEqual(shown(), [true, false, "2 of 2"]);
  document.getElementById("back").click();
  await turned();
  assert.deepEqual(shown(), [false, true, "1 of 2"]);
  await press("ArrowLeft");
  assert.deepEqual(shown(), [false, true, "1 of 2"]);
});
