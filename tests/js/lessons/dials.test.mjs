import assert from "node:assert/strict";
import { test } from "node:test";

import { container } from "../packs.mjs";
import { draw, mountDrawing, mountPart } from "./mounting.mjs";

const { default: softmaxbars } = await import("../../../playground/microscope/lessons/softmaxbars.js");
const { positions } = await import("../../../playground/microscope/lessons/positions.js");

const SCORES = [
  [0, 1, 2, 3],
  [0, 2, 4, 16],
];
const DIALS = {
  widths: [4, 64],
  powers: [0, 0.5, 1],
  scores: SCORES,
  rows: 5,
  row: 3,
  dk: 64,
  power: 0.5,
  view_id: "one",
};

test("the dials turn the row at once, and the page hears where they rest", () => {
  const sentSettings = [];
  const drawing = mountPart(softmaxbars, DIALS, { setStateValue: (_name, value) => sentSettings.push(value) });
  const ref = (name) => drawing.find(`[data-ref="${name}"]`);
  assert.deepEqual([ref("widthDial").value, ref("powerDial").value], ["1", "1"]);
  const peakBefore = ref("peak").textContent;
  drawing.click(drawing.find('[data-power="0"]'));
  assert.notEqual(ref("peak").textContent, peakBefore);
  assert.match(ref("peak").textContent, /^> 99\.99 %$/);
  assert.deepEqual(sentSettings, []);
  draw();
  assert.deepEqual(sentSettings, [{ dk: 64, power: 0, row: 3 }]);
  drawing.input(ref("widthDial"), "0");
  draw();
  assert.deepEqual(sentSettings.at(-1), { dk: 4, power: 0, row: 3 });
  drawing.click(ref("again"));
  draw();
  assert.equal(sentSettings.at(-1).row, 4, "another random row");
});

test("a run of the page takes no choice back; another view does", () => {
  const drawing = mountPart(softmaxbars, DIALS, { setStateValue: () => {} });
  const width = () => drawing.find('[data-ref="widthDial"]').value;
  drawing.input(drawing.find('[data-ref="widthDial"]'), "0");
  drawing.again({ ...DIALS });
  assert.equal(width(), "0");
  drawing.again({ ...DIALS, view_id: "two" });
  assert.equal(width(), "1");
});

// The positions of four patches, in two dimensions: the first two are similar, the others are not.
// Numbers are float16 bits.
const [ONE_BITS, MINUS_ONE_BITS] = [0x3c00, 0xbc00];
const PLACES = container(
  { id: "table", grid: [2, 2], width: 2, kind: "learned", place: "0,1" },
  { places: ["float16", [4, 2], [ONE_BITS, 0, ONE_BITS, 0, 0, ONE_BITS, MINUS_ONE_BITS, 0]] },
);

test("the place that is pointed at says which others are alike, by mouse and by keys", () => {
  const drawing = mountDrawing(positions, PLACES);
  assert.equal(drawing.read().at, 1);
  assert.deepEqual(drawing.read().map.map(Math.round), [1, 1, 0, -1]);
  drawing.point(drawing.find('[data-ref="map"]'), "pointermove", 300, 300);
  draw();
  assert.deepEqual([drawing.read().at, drawing.toldSettings.place], [3, "1,1"]);
  assert.deepEqual(drawing.read().map.map(Math.round), [-1, -1, 0, 1]);
  drawing.key(drawing.find('[data-ref="map"]'), "ArrowLeft");
  assert.equal(drawing.read().at, 2);
});
