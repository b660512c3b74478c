import assert from "node:assert/strict";
import { test } from "node:test";

import { mounted } from "./mounting.mjs";

const { atlas, board } = await import("../../../playground/microscope/lessons/heads.js");

const perHead = (value) => [0, 1].map((layer) => [0, 1, 2].map((head) => value(layer, head)));
const ATLAS = {
  layers: 2,
  heads: 3,
  measure: "entropy",
  microscope: "./?",
  words: "model=bundled",
  shown: [1, 2],
  reach: 1,
  measures: [
    {
      key: "entropy",
      name: "entropy",
      unit: "bits",
      digits: 2,
      high: 8,
      values: perHead((l, h) => l + h),
      spread: null,
    },
    {
      key: "self",
      name: "itself",
      unit: "%",
      digits: 0,
      high: 90,
      values: perHead((l, h) => 10 * (l + h)),
      spread: perHead(() => 4),
    },
  ],
  habits: perHead((l, h) => ({ short: `s${l}${h}`, long: `looks at ${l}${h}`, told: h === 1 ? "look left" : "" })),
  offsets: perHead(() => [0, 0, 0, 0.2, 0.5, 0.3, 0, 0, 0]),
};
const cell = ({ find }, layer, head) => find(`.cell[data-layer="${layer}"][data-head="${head}"]`);
const colours = ({ parentElement }) => [...parentElement.querySelectorAll(".cell")].map((one) => one.style.background);

test("the card says all about the head that is pointed at, and what it was told", () => {
  const there = mounted(atlas, ATLAS);
  const card = () => there.find(".card");
  assert.equal(there.find(".which").textContent, "Layer 1 · head 2");
  there.point(cell(there, 0, 1), "pointermove", 0, 0);
  there.point(cell(there, 0, 1), "pointerover", 0, 0);
  assert.equal(there.find(".which").textContent, "Layer 0 · head 1");
  assert.equal(there.find(".habit").textContent, "looks at 01");
  assert.equal(there.find(".told").textContent, "this head was told to look left");
  assert.deepEqual(there.texts("dd"), ["1.00 bits", "10 ± 4 %"]);
  assert.match(card().textContent, /brightest: 30 %/);
  assert.ok(there.find(".open").href.endsWith("?model=bundled&layer=0&head=1"));
});

test("another measure has other colours and another scale", () => {
  const there = mounted(atlas, ATLAS);
  const before = colours(there);
  assert.deepEqual(there.texts(".scale p > *"), ["0", "entropy, bits", "8.0"]);
  there.again({ ...ATLAS, measure: "self" });
  assert.notDeepEqual(colours(there), before);
  assert.deepEqual(there.texts(".scale p > *"), ["0 %", "itself", "90 %"]);
  assert.deepEqual(there.texts("dd.chosen"), ["30 ± 4 %"]);
});

test("a click opens the head in the microscope, here or in another tab", () => {
  const gone = [];
  const there = mounted(atlas, ATLAS, { setTriggerValue: (name, { layer, head }) => gone.push([name, layer, head]) });
  there.click(cell(there, 1, 0));
  assert.deepEqual(gone, [["open", 1, 0]]);
  assert.equal(cell(there, 1, 0).getAttribute("href"), "./?model=bundled&layer=1&head=0");
});

test("without Streamlit a click follows the link, and the first touch only shows the card", () => {
  const there = mounted(atlas, { ...ATLAS, microscope: "#" });
  const pressed = (pointerType) => {
    const event = new MouseEvent("click", { bubbles: true, cancelable: true });
    Object.defineProperty(event, "pointerType", { value: pointerType });
    cell(there, 1, 0).dispatchEvent(event);
    return event.defaultPrevented;
  };
  assert.equal(cell(there, 1, 0).getAttribute("href"), "#model=bundled&layer=1&head=0");
  assert.deepEqual([pressed("touch"), pressed("touch"), pressed("mouse")], [true, false, false]);
});

const BOARD = {
  layers: 2,
  heads: 3,
  most: 40,
  off: "",
  view_id: 1,
  effect: perHead((l, h) => l + h / 10),
  strongest: [1, 2],
  picture: "data:,",
  grid: [1, 2],
  rows: [["a cat", 0.9, 0.25]],
  read: "",
  maps: btoa("\u0000\u0000\u00ff\u0080"),
  ceiling: 0.5,
  means: [0, 0.375],
  summary: null,
};

function switches(data = BOARD) {
  const told = [];
  const there = mounted(board, data, { setStateValue: (name, { off }) => told.push([name, off]) });
  return { ...there, told };
}
const reported = () => document.documentElement.__reports.board;

test("a click switches a head off at once, and the page is told; the numbers follow", () => {
  const there = switches();
  assert.match(there.find(".said").textContent, /^Bright heads add much/);
  assert.ok(there.find(".reset").hidden);
  assert.deepEqual(there.texts("figcaption"), ["layer 0", "layer 1"], "nothing has moved: no row of 0 %");
  assert.ok(there.find(".film canvas").hidden, "the picture stands there, not grey");
  there.click(cell(there, 1, 2));
  assert.equal(cell(there, 1, 2).getAttribute("aria-pressed"), "true");
  assert.deepEqual(there.told, [["settings", "1.2"]]);
  assert.ok(there.parentElement.classList.contains("waiting"));
  there.again({ ...BOARD, off: "1.2" });
  assert.ok(!there.parentElement.classList.contains("waiting"));
  assert.deepEqual(reported(), { off: [[1, 2]], heads: 3, strongest: [1, 2] });
  assert.equal(there.find(".said").textContent, "off: layer 1 head 2");
  assert.deepEqual(there.texts(".line:not(.top) > *"), ["a cat", "", "90 %", "25 %"]);
  assert.deepEqual(there.texts("figcaption"), ["layer 0: 0 %", "layer 1: 38 %"]);
  there.click(there.find(".reset"));
  assert.deepEqual(there.told.at(-1), ["settings", ""]);
});

test("an answer to the first of two clicks takes the second back from nobody; another view does", () => {
  const there = switches();
  there.click(cell(there, 1, 2));
  there.click(cell(there, 0, 1));
  assert.deepEqual(there.told.at(-1), ["settings", "0.1 1.2"]);
  there.again({ ...BOARD, off: "1.2" });
  assert.equal(cell(there, 0, 1).getAttribute("aria-pressed"), "true");
  there.again({ ...BOARD, off: "", view_id: 2 });
  assert.equal(cell(there, 0, 1).getAttribute("aria-pressed"), "false");
});

test("the number of a layer switches all its heads, and on again", () => {
  const there = switches({ ...BOARD, off: "1.2 9.9" });
  there.click(there.find("button.side"));
  assert.deepEqual(there.told.at(-1), ["settings", "0.0 0.1 0.2 1.2"]);
  there.click(there.find("button.side"));
  assert.deepEqual(there.told.at(-1), ["settings", "1.2"], "a head that the model does not have is dropped");
});

test("where only some states were played, what is pressed is off alone", () => {
  const there = switches({ ...BOARD, played: ["", "0.1", "1.2", "1.0 1.1 1.2"] });
  there.click(cell(there, 1, 2));
  there.click(cell(there, 0, 1));
  assert.deepEqual(there.told.at(-1), ["settings", "0.1"]);
  there.click(there.parentElement.querySelectorAll("button.side")[1]);
  assert.deepEqual(there.told.at(-1), ["settings", "1.0 1.1 1.2"]);
  there.click(cell(there, 1, 1));
  assert.deepEqual(there.told.at(-1), ["settings", ""], "it is on again, and the others with it");
});

test("where nothing is predicted it says what is read; many heads are counted", () => {
  const there = switches({ ...BOARD, off: "0.0 0.1 0.2 1.2", rows: null, read: "Its class token." });
  assert.match(there.find(".prediction").textContent, /What is read from the picture.*Its class token\.$/);
  assert.equal(there.find(".said").textContent, "off: 4 heads");
});
