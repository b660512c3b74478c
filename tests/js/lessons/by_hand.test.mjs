import assert from "node:assert/strict";
import { test } from "node:test";
import { reportNumbers, reportsHere } from "../../../playground/microscope/core/guesses.js";
import { MOST_LONG, readArrows, scoresOf, weightsOf, writeArrows } from "../../../playground/microscope/core/nine.js";
import { draw, drawn } from "./mounting.mjs";

const { default: arrows } = await import("../../../playground/microscope/lessons/arrows.js");
const { masks, received } = await import("../../../playground/microscope/lessons/nine.js");

const START = writeArrows(Float64Array.from({ length: 36 }, (_, i) => Math.round(10 * Math.sin(i)) / 10));
const DATA = { arrows: START, start: START, still: false };
const row = ({ weights, token }) => weights.slice(9 * token, 9 * token + 9);

test("a dragged tip changes its arrow, the matrix follows, and the page hears of it", () => {
  const there = drawn(arrows, DATA);
  const grid = there.find('[data-ref="grid"]');
  const [x, y] = there.read().tips[0].k;
  there.point(grid, "pointerdown", x, y);
  there.point(grid, "pointermove", x - 30, y + 20);
  there.point(grid, "pointerup", x - 30, y + 20);
  draw();
  const after = there.read();
  assert.notEqual(after.arrows, START);
  assert.equal(there.told.arrows, after.arrows);
  const changed = readArrows(after.arrows).map((number, i) => number - readArrows(START)[i]);
  assert.deepEqual(
    [...changed.keys()].filter((i) => Math.abs(changed[i]) > 0.01),
    [18, 19],
    "the key of A alone",
  );
  assert.deepEqual(after.weights, Array.from(weightsOf(scoresOf(readArrows(after.arrows)))));
});

test("letters choose a token, Q and K its arrow, the arrow keys move the tip, and numbers can be typed", () => {
  const there = drawn(arrows, DATA);
  const grid = there.find('[data-ref="grid"]');
  for (const key of ["c", "k", "ArrowRight"]) there.key(grid, key);
  const expected = readArrows(START);
  expected[22] += 0.1;
  assert.deepEqual([there.read().token, there.read().arrows], [2, writeArrows(expected)]);
  there.input(there.find('[data-number="1"]'), "-3.5");
  expected[5] = -3.5;
  assert.equal(there.read().arrows, writeArrows(expected));
  there.input(there.find('[data-number="1"]'), "99");
  assert.equal(readArrows(there.read().arrows)[5], MOST_LONG);
});

test("the buttons do what they say", () => {
  const there = drawn(arrows, DATA);
  const press = (what) => there.click(there.find(`[data-do="${what}"]`));
  press("match");
  assert.ok(
    Math.max(...row(there.read())) > Math.max(...row({ weights: weightsOf(scoresOf(readArrows(START))), token: 4 })),
  );
  press("flat");
  for (const weight of there.read().weights) assert.ok(Math.abs(weight - 1 / 9) < 1e-9);
  press("self");
  const all = readArrows(there.read().arrows);
  assert.deepEqual(all.slice(0, 18), all.slice(18));
  press("reset");
  assert.equal(there.read().arrows, START);
});

test("arrows that the page gives are taken, those that it only heard are not taken back", () => {
  const there = drawn(arrows, DATA);
  there.click(there.find('[data-do="flat"]'));
  const flat = there.read().arrows;
  there.again({ ...DATA, still: true });
  assert.deepEqual([there.read().arrows, there.read().still], [flat, true]);
});

test("a hidden token gets exactly nothing, causal hides what comes later, and one token must stay", () => {
  const there = drawn(masks, { arrows: START, mask: "" });
  const column = (letter) => there.read().weights.filter((_, at) => at % 9 === "ABCDEFGHI".indexOf(letter));
  there.click(there.find('[data-letter="B"]'));
  draw();
  assert.deepEqual([there.read().mask, there.told.mask, column("B")], ["B", "B", new Array(9).fill(0)]);
  assert.match(there.find('[data-ref="sum"]').innerHTML, /column B: .*<b>0, exactly<\/b>$/);
  there.click(there.find('[data-mask="causal"]'));
  there.read().weights.forEach((weight, at) => assert.equal(weight > 0, at % 9 <= Math.floor(at / 9)));
  for (const letter of "ABCDEFGHI") there.click(there.find(`[data-letter="${letter}"]`));
  draw();
  assert.equal(there.read().mask, "ABCDEFGH");
  assert.match(there.find('[data-ref="sum"]').textContent, /^One token must stay/);
});

test("each token receives its row of weights times the values", () => {
  const flat = writeArrows(new Float64Array(36));
  const data = { arrows: flat, values: [9, 0, 0, 0, 0, 0, 0, 0, 9], letters: [..."ABCDEFGHI"], nearly: 8 };
  reportNumbers("arrows", { arrows: flat });
  const there = drawn(received, data);
  assert.deepEqual(there.texts("td b"), new Array(9).fill("2.0"));
  assert.deepEqual(reportsHere().received.received, new Array(9).fill(2));
});

test("what is received follows the arrows while they are dragged", () => {
  const flat = writeArrows(new Float64Array(36));
  drawn(arrows, DATA);
  const there = drawn(received, { arrows: START, values: [...Array(9).keys()], letters: [..."ABCDEFGHI"], nearly: 7 });
  const before = there.read();
  reportNumbers("arrows", { arrows: flat });
  draw();
  assert.deepEqual(there.read(), new Array(9).fill(4));
  assert.notDeepEqual(before, there.read());
});
