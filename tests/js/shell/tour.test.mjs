import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { openFace, setPage, setView } from "../../../playground/microscope/shell/address.js";
import { catalogue, choice } from "../../../playground/microscope/shell/choice.js";
import { followTour, goToStep } from "../../../playground/microscope/shell/tour.js";
import { CATALOGUE, goTo } from "./browser.mjs";
import { page, pressKey } from "./page.mjs";

Object.assign(catalogue, CATALOGUE);

let navigations = [];
const navigation = {
  go: (words) => navigations.push(words),
  back: (formerPlace, finished) => navigations.push(["back", formerPlace, finished]),
};
const card = () => document.querySelector(".tour-card");
const textOf = (name) => card().querySelector(name).textContent;
const button = (name) => card().querySelector(`[data-go="${name}"]`);
const showStep = (n, name = "microscope") => {
  setPage({ tour: n && String(n), name });
  followTour(document.body, navigation);
};

beforeEach(() => {
  navigations = [];
  goTo("/microscope");
  sessionStorage.clear();
  choice.open({ sample: "tabby" });
  setView({});
  setPage({ tour: null, name: "microscope" });
  openFace().set("lab");
});
afterEach(() => showStep(null)); // removes the card and stops the card's timer

test("a step's card says where one is, what is seen, and the one thing to do", () => {
  showStep(4);
  assert.deepEqual([".tour-count", ".tour-title", ".tour-text span", ".tour-task", '[data-go="next"]'].map(textOf), [
    "4 / 4",
    "Many heads",
    "Each layer and head looks in its own way. These open some that stand out.",
    "Try one. Then open your own photo.",
    "Finish",
  ]);
  assert.equal(card().dataset.step, "4");
  assert.equal(document.querySelectorAll(".tour-card").length, 1);
});

test("the card leads on and back, with the words of each step", () => {
  showStep(2);
  button("next").click();
  button("back").click();
  assert.deepEqual(navigations, [{ locked: "true", tour: "3" }, { tour: "1" }]);
});

test("arrows and a presenter's remote control lead on and back; at the first step no further back", () => {
  showStep(2);
  for (const key of ["ArrowRight", "PageDown", "ArrowLeft", "PageUp"]) {
    const event = pressKey(card(), key);
    assert.equal(event.defaultPrevented, true);
  }
  assert.deepEqual(
    navigations.map((words) => words.tour),
    ["3", "3", "1", "1"],
  );
  pressKey(card(), "x");
  showStep(1);
  pressKey(card(), "ArrowLeft");
  assert.equal(navigations.length, 4);
});

test("who ends the tour gets back what they had before it, also after a reload", () => {
  setView({ layer: 5 });
  choice.set({ sample: "meadow" });
  goToStep(1, navigation);
  const formerPlace = {
    page: "microscope",
    words: { model: "bundled", sample: "meadow", detail: "2", layer: "5" },
    face: "lab",
  };
  showStep(1);
  choice.set({ sample: "tabby" });
  goToStep(2, navigation);
  showStep(2);
  button("end").click();
  assert.deepEqual(navigations.at(-1), ["back", formerPlace, false]);
  assert.equal(card(), null);
  goToStep(0, navigation);
  assert.deepEqual(navigations.at(-1), ["back", null, false], "it is told once");
});

test("a link that says nothing but a step goes to that step's view", () => {
  goTo("/microscope?tour=2");
  showStep(2);
  assert.deepEqual(navigations, [{ locked: "true", tour: "2" }]);
  navigations = [];
  goTo("/microscope?sample=tabby&tour=2");
  showStep(2);
  assert.deepEqual(navigations, [], "one that says more is shown as it is");
});

test("the focus stays on a card by whose button one steps, and is taken from no other element", () => {
  showStep(1);
  const otherField = document.createElement("input");
  document.body.append(otherField);
  otherField.focus();
  showStep(2); // as after Back or Forward
  assert.equal(document.activeElement, otherField);
  button("next").click();
  showStep(3);
  assert.equal(document.activeElement, button("next"));
  otherField.remove();
});

test("what a step speaks of is outlined, in shadow roots too", () => {
  const host = document.createElement("div");
  document.body.append(host);
  const lens = document.createElement("div");
  lens.className = "lens";
  lens.innerHTML = '<b class="see-moments"></b>';
  host.attachShadow({ mode: "open" }).append(lens);
  lens.firstChild.getBoundingClientRect = () => new page.DOMRect(10, 20, 30, 40);
  showStep(4);
  const outline = document.querySelector(".tour-ring");
  assert.deepEqual([outline.hidden, outline.style.left, outline.style.height], [false, "10px", "40px"]);
  showStep(2);
  assert.equal(outline.hidden, true, "nothing to point at");
  host.remove();
});
