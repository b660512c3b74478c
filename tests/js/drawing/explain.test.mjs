import assert from "node:assert/strict";
import { test } from "node:test";

import { draw, mounted } from "../lessons/mounting.mjs";

const { explainWords } = await import("../../../playground/microscope/drawing/dom.js");

// A page with a word that is explained, one that is not, and the card.
function page() {
  const left = new AbortController();
  const there = mounted(({ parentElement }) => {
    parentElement.innerHTML =
      '<button class="word" data-explains="Spread over all."><i>all</i></button><button class="plain">7</button>';
    explainWords(parentElement, left.signal);
  }, {});
  const [word, plain, card] = [".word", ".plain", ".explained"].map(there.find);
  const tell = (element, made, pointerType) =>
    element.dispatchEvent(Object.assign(new MouseEvent(made, { bubbles: true }), { pointerType }));
  return { word, plain, card, tell, ...there };
}

test("a finger opens what a word means, and a press elsewhere closes it", () => {
  const { word, plain, card, tell } = page();
  assert.equal(card.hidden, true);
  tell(word.firstChild, "click", "touch");
  assert.equal(card.hidden, false);
  assert.equal(card.textContent, "Spread over all.");
  tell(plain, "click", "touch");
  assert.equal(card.hidden, true);
});

test("a mouse that rests opens it, and its press, which does something else, closes it", () => {
  const { word, card, tell } = page();
  tell(word, "pointerover", "mouse");
  assert.equal(card.hidden, true);
  draw();
  assert.equal(card.hidden, false);
  tell(word, "click", "mouse");
  assert.equal(card.hidden, true);
});

test("Escape closes it, and a word whose meaning is empty opens nothing", () => {
  const { word, card, key, tell } = page();
  tell(word, "click", "touch");
  key(word, "Escape");
  assert.equal(card.hidden, true);
  word.dataset.explains = "";
  tell(word, "click", "touch");
  assert.equal(card.hidden, true);
});
