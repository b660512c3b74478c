import assert from "node:assert/strict";
import { test } from "node:test";

import { container } from "../packs.mjs";
import { mountDrawing } from "./mounting.mjs";

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
