import assert from "node:assert/strict";
import { test } from "node:test";

import { mountPart } from "../lessons/mounting.mjs";

const { explainWords } = await import("../../../playground/microscope/drawing/dom.js");

// A page with an explained word, a plain word, and the card.
function page() {
  const controller = new AbortController();
  const mount = mountPart(({ parentElement }) => {
    parentElement.innerHTML =
      '<button class="word" data-explains="Spread over all."><i>all</i></button><button class="plain">7</button>';
    explainWords(parentElement, controller.signal);
  }, {});
  const [word, plain, card] = [".word", ".plain", ".explained"].map(mount.find);
  const dispatch = (element, eventName, pointerType) =>
    element.dispatchEvent(Object.assign(new MouseEvent(eventName, { bubbles: true }), { pointerType }));
  return { word, plain, card, dispatch, ...mount };
}

test("a finger opens what a word means, and a press elsewhere closes it", () => {
  const { word, plain, card, dispatch } = page();
  assert.equal(card.hidden, true);
  dispatch(word.firstChild, "click", "touch");
  assert.equal(card.hidden, false);
  assert.equal(card.textContent, "Spread over all.");
  dispatch(plain, "click", "touch");
  assert.equal(card.hidden, true);
});
