import assert from "node:assert/strict";
import { test } from "node:test";

import "./mounting.mjs";

const WORDS_PART = { kind: "words", text: "What *grows*?", small: false };
const CHOICE_PART = {
  ...{ kind: "choice", setting: "moved", label: "Moved by" },
  options: [
    ["1", "one"],
    ["2", "two"],
  ],
};
const SETTINGS = {
  moved: {
    ...{ default: "1", now: "2", pattern: "" },
    options: [
      ["1", 1],
      ["2", 2],
    ],
  },
};
const SLIDES = [
  { title: "A *row*", minutes: "3 minutes", notes: "Point at the dog.", story: 1, lesson: null },
  {
    ...{ title: "A step", minutes: "2 minutes", notes: "Let them guess.", story: 0 },
    lesson: { settings: SETTINGS, parts: [WORDS_PART, CHOICE_PART] },
  },
];
document.body.innerHTML = `<div id="place"></div><nav><button id="back"></button><span id="count"></span>
  <button id="on"></button><button id="notes"></button></nav><script type="application/json" id="slides"></script>`;
const deck = { slides: SLIDES, story: "<p>living</p>", files: {}, scripts: {} };
document.getElementById("slides").textContent = JSON.stringify(deck);
const sentMessages = [];
const iframePrototype = Object.getPrototypeOf(document.createElement("iframe"));
Object.defineProperty(iframePrototype, "contentWindow", {
  configurable: true,
  get: () => ({ postMessage: (message) => sentMessages.push(message) }),
});
await import("../../../playground/microscope/lessons/slides.js");

const [firstSlide, secondSlide] = document.querySelectorAll(".slide");
const frame = document.querySelector("iframe");
const pressKey = async (key) => {
  document.body.dispatchEvent(Object.assign(new KeyboardEvent("keydown", { bubbles: true }), { key }));
  await turnSlide();
};
async function turnSlide() {
  dispatchEvent(new Event("hashchange"));
  await null;
}
const slideState = () => [firstSlide.hidden, secondSlide.hidden, document.getElementById("count").textContent];

test("the first slide has its scene of the story, and its notes are kept for who asks", async () => {
  assert.deepEqual(slideState(), [false, true, "1 of 2"]);
  assert.equal(firstSlide.querySelector("h2").innerHTML, "A <em>row</em>");
  assert.equal(frame.getAttribute("srcdoc"), "<p>living</p>");
  assert.deepEqual(sentMessages.at(-1), { scene: 1 });
  assert.equal(firstSlide.querySelector(".notes").hidden, true);
  await pressKey("n");
  assert.deepEqual(
    [firstSlide.querySelector(".notes").hidden, firstSlide.querySelector(".notes").textContent],
    [false, SLIDES[0].notes],
  );
  document.getElementById("notes").click();
  assert.equal(firstSlide.querySelector(".notes").hidden, true);
});

test("a lesson's step is played when its slide is reached, and keys and buttons stay within the slides", async () => {
  assert.equal(secondSlide.querySelector(".scene").textContent, "");
  await pressKey("ArrowRight");
  assert.deepEqual(slideState(), [true, false, "2 of 2"]);
  assert.ok(frame.classList.contains("away"));
  assert.match(secondSlide.querySelector(".scene").textContent, /What grows\?/);
  const pressedStates = [...secondSlide.querySelectorAll("button")].map((button) =>
    button.getAttribute("aria-pressed"),
  );
  assert.deepEqual(pressedStates, ["false", "true"]); // the setting comes from the plan, not from the defaults
  await pressKey("PageDown");
  assert.deepEqual(slideState(), [true, false, "2 of 2"]);
  document.getElementById("back").click();
  await turnSlide();
  assert.deepEqual(slideState(), [false, true, "1 of 2"]);
  await pressKey("ArrowLeft");
  assert.deepEqual(slideState(), [false, true, "1 of 2"]);
});
