import assert from "node:assert/strict";
import { test } from "node:test";

import { createStrip } from "../../../playground/microscope/shell/strip.js";
import { aHost, aPlace, pressKey } from "./page.mjs";

const OWN_PICTURES = [
  { id: "a", title: "first.jpg", src: "data:,a" },
  { id: "b", title: "second.jpg", src: "data:,b" },
];

function aStrip(overrides) {
  const host = aHost(overrides);
  const strip = createStrip(host);
  aPlace().append(strip.element);
  host.choice.follow(strip.draw);
  host.ownPictures.follow(strip.draw);
  strip.draw();
  const buttons = () => [...strip.element.querySelectorAll("[data-sample]")];
  return { host, strip, buttons, keys: () => buttons().map((button) => button.dataset.sample) };
}
const pressedAmong = (buttons) => buttons.filter((button) => button.getAttribute("aria-pressed") === "true");
const tabStopsAmong = (buttons) => buttons.filter((button) => button.tabIndex === 0);
const focusedKey = (strip) => strip.element.getRootNode().activeElement?.dataset.sample;

test("exactly the chosen picture is marked, and it is the Tab key's one stop", () => {
  const { host, buttons } = aStrip({ own: OWN_PICTURES });
  for (const picture of [
    { sample: "meadow", mine: null },
    { sample: null, mine: "a" },
    { sample: "flock", mine: null },
  ]) {
    host.choice.set(picture);
    const key = picture.mine ? `mine:${picture.mine}` : picture.sample;
    assert.deepEqual(
      pressedAmong(buttons()).map((button) => button.dataset.sample),
      [key],
    );
    assert.deepEqual(
      tabStopsAmong(buttons()).map((button) => button.dataset.sample),
      [key],
    );
  }
});

test("the arrow keys move the focus, Home and End go to the ends, and nothing is chosen by it", () => {
  const { host, strip, buttons } = aStrip({ own: OWN_PICTURES });
  buttons()[2].focus();
  const focusedKeys = ["ArrowRight", "ArrowLeft", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowLeft"].map((key) => {
    pressKey(strip.element.getRootNode().activeElement, key);
    return focusedKey(strip);
  });
  assert.deepEqual(focusedKeys, ["meadow", "tabby", "mine:a", "flock", "flock", "mine:b", "mine:b"]);
  assert.equal(host.choice.now.sample, "tabby");
  assert.deepEqual(
    tabStopsAmong(buttons()).map((button) => button.dataset.sample),
    ["mine:b"],
  );
});

test("names from outside are text", async () => {
  const name = "<img src=x onerror=alert(1)>.jpg";
  const { host, strip } = aStrip();
  await host.ownPictures.open({ name });
  assert.equal(strip.element.querySelector(".own").textContent, `yours: ${name}`);
  assert.equal(strip.element.querySelector(".own").children.length, 0);
});
