import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import "./browser.mjs";
import { forgetNotice, notify } from "../../../playground/microscope/shell/notice.js";

mock.timers.enable({ apis: ["setTimeout"] });
const STAYS_MS = 8000;

const box = () => document.querySelector(".attention-notice");
const shownText = () => (box()?.hidden === false ? box().querySelector("span").textContent : null);
const buttons = () => [...box().querySelectorAll("button")];

beforeEach(() => forgetNotice());

test("a sentence is told to a screen reader, as text and not as part of the page", () => {
  notify("<img src=x onerror=alert(1)> can't be read");
  assert.equal(box().getAttribute("role"), "status");
  assert.equal(shownText(), "<img src=x onerror=alert(1)> can't be read");
  assert.equal(box().querySelector("img"), null);
});

test("a notice goes by itself when its time is over, not before", () => {
  notify("one");
  mock.timers.tick(STAYS_MS - 1);
  assert.equal(shownText(), "one");
  mock.timers.tick(1);
  assert.equal(shownText(), null);
});

test("a notice that offers an action stays until the action is taken or the notice closed", () => {
  let actCount = 0;
  const action = { label: "fetch it", act: () => actCount++ };
  notify("a model is missing", { action });
  mock.timers.tick(10 * STAYS_MS);
  assert.equal(shownText(), "a model is missing");
  assert.deepEqual(
    buttons().map((button) => [button.textContent, button.getAttribute("aria-label")]),
    [
      ["fetch it", "fetch it"],
      ["×", "Close"],
    ],
  );
  buttons()[0].click();
  assert.deepEqual([actCount, shownText()], [1, null]);
  notify("again", { action });
  buttons()[1].click();
  assert.deepEqual([actCount, shownText()], [1, null]);
});
