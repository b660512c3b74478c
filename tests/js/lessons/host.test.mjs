import assert from "node:assert/strict";
import { test } from "node:test";

import { mounted } from "./mounting.mjs";

const { default: playParts } = await import("../../../playground/microscope/lessons/host.js");
const { sourceRead } = await import("../../../playground/microscope/drawing/listing.js");

// A step as the folder without a server plays it; `there.set` is what a control has changed.
function played(parts, settings, options = {}) {
  const state = { settings, defaults: { ...settings }, options, scripts: {}, read: async () => null, fileAt: String };
  const left = new AbortController();
  let step = null;
  state.set = (changes) => {
    Object.assign(settings, changes);
    step.draw();
  };
  const mount = ({ parentElement }) => {
    step = playParts(parentElement, parts, state, left.signal);
    step.draw();
    return () => step.end();
  };
  return { ...mounted(mount, {}), settings, left };
}

const CHOICE = {
  kind: "choice",
  setting: "scale",
  label: "Scale",
  options: [
    ["on", "with *it*"],
    ["off", "without"],
  ],
};
const SAYS = {
  kind: "each",
  by: ["scale"],
  of: { on: { kind: "words", text: "**even**" }, off: { kind: "words", text: "sharp" } },
};

test("a part that changes with a setting follows the button that sets it", () => {
  const there = played([CHOICE, SAYS], { scale: "on" });
  assert.equal(
    there.find(".lesson-words").innerHTML.includes("<b>even</b>"),
    true,
    there.find(".lesson-words").innerHTML,
  );
  const [on, off] = there.parentElement.querySelectorAll("button");
  assert.deepEqual(
    [on, off].map((one) => one.getAttribute("aria-pressed")),
    ["true", "false"],
  );
  there.click(off);
  assert.equal(there.settings.scale, "off");
  assert.equal(there.find(".lesson-words").textContent.trim(), "sharp");
  assert.deepEqual(
    [on, off].map((one) => one.getAttribute("aria-pressed")),
    ["false", "true"],
  );
});

test("a value that was not played becomes the nearest that was", () => {
  const there = played([SAYS], { scale: "twice" });
  assert.equal(there.settings.scale, "on");
});

test("a slider says which of its options is chosen", () => {
  const there = played([{ ...CHOICE, kind: "slider" }], { scale: "off" });
  assert.equal(there.find("output").textContent, "without");
  there.input(there.find("input"), "0");
  assert.equal(there.settings.scale, "on");
  assert.equal(there.find("output").textContent, "with *it*");
});

test("what comes after a question is hidden until it is guessed", () => {
  document.documentElement.dataset.guessed = "";
  const there = played([{ kind: "words", text: "the answer", after: "scale_spread" }], {});
  const place = there.find(".lesson-words");
  assert.equal(place.hidden, true);
  document.documentElement.dataset.guessed = "scale_spread";
  dispatchEvent(new CustomEvent("guess-locked"));
  assert.equal(place.hidden, false);
  document.documentElement.dataset.guessed = "";
});

test("a link of the app leads to the same page of the folder", () => {
  const there = played([{ kind: "words", text: "see [the scale](./scale?step=rows)" }], {});
  assert.match(there.find("a").getAttribute("href"), /^#page=scale&step=rows$/);
});

test("a formula stands beside the lines of code that it is for, and a docstring is no code", () => {
  const lines = [
    { number: 7, text: '    """What for."""', mark: "", formula: "" },
    { number: 8, text: "    x = q @ k.mT", mark: "", formula: "QKᵀ" },
  ];
  const there = mounted(sourceRead, { parts: [{ file: "vit.py", lines }] });
  assert.deepEqual(there.texts("s"), ["7", "8"]);
  assert.deepEqual(there.texts(".noted em"), ["QKᵀ"]);
  assert.equal(there.find(".comment").textContent.trim(), '"""What for."""');
});
