import assert from "node:assert/strict";
import { test } from "node:test";

import { container } from "../packs.mjs";
import { draw, ELEMENT_WIDTH, mountDrawing, waitForPhotograph } from "./mounting.mjs";

const { default: friends } = await import("../../../playground/microscope/lessons/friends.js");

const [ROWS, COLUMNS] = [2, 3];
const TOKENS = ROWS * COLUMNS;
const COLOURS = [
  [1, 0, 0],
  [0.8, 0.6, 0],
  [0, 1, 0],
  [0, 0.6, 0.8],
  [0, 0, 1],
  [0.6, 0, 0.8],
];
const data = (overrides = {}) =>
  container(
    {
      ...{ format: "attention-playground/1", model: "colours", scale: 1, layers: 1, heads: 1, head_dim: 3 },
      ...{ tokens: TOKENS, prefix: [], grid: [ROWS, COLUMNS], held: [0], size: [200, 300], id: "meadow" },
      ...{ temperature: 0.5, temperatures: [0.1, 0.5, 1], hidden: "", at: "0,0", ...overrides },
    },
    {
      q: ["float32", [1, 1, TOKENS, 3], COLOURS.flat()],
      k: ["float32", [1, 1, TOKENS, 3], COLOURS.flat()],
      value_norms: ["float32", [1, 1, TOKENS], Array(TOKENS).fill(1)],
      image: ["uint8", [2], [0, 0]],
    },
  );

// The expected row: a softmax over the visible patches.
function rowOf(query, temperature, hidden = []) {
  const powers = COLOURS.map((colour, j) =>
    hidden.includes(j) ? 0 : Math.exp(colour.reduce((sum, x, c) => sum + x * COLOURS[query][c], 0) / temperature),
  );
  const powerSum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / powerSum);
}

function assertRow(row, expected) {
  for (const [j, weight] of expected.entries())
    assert.ok(Math.abs(row[j] - weight) < 1e-6, `${j}: ${row}; ${expected}`);
}

test("a patch attends by colour, at the temperature of the dial", async () => {
  const drawing = mountDrawing(friends, data());
  await waitForPhotograph();
  assertRow(drawing.read().row, rowOf(0, 0.5));
  drawing.input(drawing.find('[data-ref="temperature"]'), "0");
  draw();
  assert.deepEqual([drawing.read().temperature, drawing.toldSettings.temperature], [0.1, "0.1"]);
  assertRow(drawing.read().row, rowOf(0, 0.1));
  assert.equal(drawing.find('[data-ref="degrees"]').textContent, "0.1");
});

test("a hidden patch gets exactly nothing; it is kept in the address, and read from there", async () => {
  const drawing = mountDrawing(friends, data());
  await waitForPhotograph();
  const picture = drawing.find('[data-ref="picture"]');
  drawing.click(drawing.find('[data-tool="hide"]'));
  const cell = [ELEMENT_WIDTH / COLUMNS, ELEMENT_WIDTH / ROWS];
  drawing.point(picture, "pointerdown", 1.5 * cell[0], 0.5 * cell[1]);
  drawing.point(picture, "pointermove", 2.5 * cell[0], 0.5 * cell[1]); // the drag goes on to the next cell
  drawing.point(picture, "pointerup", 0, 0);
  drawing.point(picture, "pointerleave", 0, 0);
  draw();
  const { row, hidden } = drawing.read();
  assert.deepEqual([hidden, row[1], row[2]], [2, 0, 0]);
  assertRow(row, rowOf(0, 0.5, [1, 2]));
  assert.match(drawing.find('[data-ref="sum"]').textContent, /of 4 patches; the 2 hidden ones get 0$/);
  const otherDrawing = mountDrawing(friends, data({ id: "again", hidden: drawing.toldSettings.hidden }));
  assert.deepEqual([otherDrawing.read().hidden, otherDrawing.read().row[1]], [2, 0]);
  drawing.click(drawing.find('[data-tool="clear"]'));
  draw();
  assert.deepEqual([drawing.read().hidden, drawing.toldSettings.hidden], [0, ""]);
});

test("one patch stays, whatever is hidden", () => {
  const drawing = mountDrawing(friends, data());
  const picture = drawing.find('[data-ref="picture"]');
  for (let n = 0; n < TOKENS; n++) {
    drawing.key(picture, "h");
    drawing.key(picture, n % COLUMNS === COLUMNS - 1 ? "ArrowDown" : "ArrowRight");
    if (n % COLUMNS === COLUMNS - 1) for (let back = 1; back < COLUMNS; back++) drawing.key(picture, "ArrowLeft");
  }
  const { row, hidden } = drawing.read();
  assert.equal(hidden, TOKENS - 1);
  assert.deepEqual(Math.max(...row), 1);
});

test("the patch under the pointer asks, and stays chosen when the pointer leaves", () => {
  const drawing = mountDrawing(friends, data());
  const picture = drawing.find('[data-ref="picture"]');
  drawing.point(picture, "pointermove", ELEMENT_WIDTH - 1, ELEMENT_WIDTH - 1);
  draw();
  assert.equal(drawing.read().at, 5);
  assertRow(drawing.read().row, rowOf(5, 0.5));
  drawing.point(picture, "pointerleave", 0, 0);
  draw();
  assert.deepEqual([drawing.read().at, drawing.toldSettings.at], [5, "1,2"]);
});
