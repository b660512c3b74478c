import assert from "node:assert/strict";
import { test } from "node:test";

import { container } from "../packs.mjs";
import { draw, mountDrawing } from "./mounting.mjs";

const { default: steps } = await import("../../../playground/microscope/lessons/steps.js");

const { sizesProblem } = await import("../../../playground/microscope/lessons/walknumbers.js");

const line = (number, text, overrides = {}) => ({ number, text, mark: "", ...overrides });
const step = (name, axes, shape, section) => ({
  name,
  says: `What ${name} is.`,
  formula: "x",
  axes,
  shape,
  reckoning: "tokens times heads",
  file: "vit.py",
  lines: [line(7, "x = y")],
  joined: false,
  low: 0,
  high: 1,
  end: 1,
  groups: [{ name: "A", role: "weight", section, panels: 1, rows: 2, columns: 2 }],
});
const WEIGHT_BITS = [0x3800, 0x3800, 0x3c00, 0]; // 0.5, 0.5, 1, 0
const DATA = container(
  {
    numbers: { batch: 1, tokens: 2, heads: 1 },
    tokens: ["the", "cat"],
    id: "a layer",
    walk: 1,
    steps: [
      step("Scores", ["tokens", "tokens"], [2, 2], "a"),
      step("Softmax", ["tokens", "tokens"], [2, 2], "a"),
      step("Out", ["tokens", "width"], [2, 2], "a"),
    ],
  },
  { a: ["float16", [4], WEIGHT_BITS] },
);

test("a cell that is pointed at says who asks whom, and what it gets", () => {
  const drawing = mountDrawing(steps, DATA);
  const panel = drawing.find(".panel");
  drawing.point(panel, "pointermove", 300, 300);
  assert.equal(drawing.find(".readout").textContent, "cat asks cat: 0.00");
  drawing.point(panel, "pointermove", 100, 300);
  assert.equal(drawing.find(".readout").textContent, "cat asks the: 1.00");
  drawing.click(drawing.find('[data-step="2"]'));
  draw();
  drawing.point(drawing.find(".panel"), "pointermove", 300, 100);
  assert.equal(drawing.find(".readout").textContent, "the, column 1: 0.50");
});

const SIZES = { batch: "1", tokens: "4", dim: "8", chan: "8", heads: "2" };
const WALK_OF_NUMBERS = {
  fields: Object.keys(SIZES).map((name) => [name, name, 64]),
  sizes: { sentence: { batch: 3, tokens: 5, dim: 6, chan: 8, heads: 4 } },
  vit: [
    {
      ...step("x", ["batch", "tokens", "width"]),
      says: "The scale is {scale}.",
      groups: [{ name: "x", role: "plain" }],
    },
  ],
  teaching: [{ ...step("x", ["batch", "tokens", "dim"]), groups: [{ name: "x", role: "plain" }] }],
  walk: 1,
};
const walkData = (overrides) => container({ ...WALK_OF_NUMBERS, ...SIZES, ...overrides }, {});

function mountSizes(overrides) {
  const drawing = mountDrawing(steps, walkData(overrides));
  const sizes = () => [...drawing.parentElement.querySelectorAll("input")].map((input) => Number(input.value));
  const write = (name, text) => {
    const input = drawing.find(`[name="${name}"]`);
    input.value = text;
    input.dispatchEvent(new Event("change"));
  };
  const again = (data) => [drawing.again(data), draw()];
  return { ...drawing, again, sizes, write, state: drawing.read };
}

test("an example has its own sizes; a reader who changes one gets all five as their own", () => {
  const drawing = mountSizes({ example: "sentence" });
  assert.deepEqual(
    [drawing.sizes(), drawing.state().shape],
    [
      [3, 5, 6, 8, 4],
      [3, 5, 6],
    ],
  );
  drawing.write("batch", "200");
  assert.deepEqual(drawing.toldSettings, { example: "own", batch: 64, tokens: 5, dim: 6, chan: 8, heads: 4 });
  drawing.again(walkData({ ...drawing.toldSettings }));
  assert.deepEqual(
    [drawing.sizes(), drawing.state().shape],
    [
      [64, 5, 6, 8, 4],
      [64, 5, 6],
    ],
  );
});

test("impossible sizes in an address become possible ones", () => {
  assert.deepEqual(mountSizes({ example: "own", batch: "9999", tokens: "0" }).sizes(), [64, 1, 8, 8, 2]);
});

test("columns that can't be shared out are explained with some that can; then the walk is back", () => {
  const drawing = mountSizes({ example: "own", chan: "7" });
  assert.match(
    drawing.find(".refused").textContent,
    /^7 columns can't be shared out evenly among 2 heads: 1 left over. Take a width of 8./,
  );
  assert.ok(drawing.find("[data-drawing]").classList.contains("impossible"));
  drawing.again(walkData({ example: "own" }));
  assert.equal(drawing.find(".refused").textContent, "");
  assert.equal(drawing.state().name, "x");
});

test("a walk that would take long is refused in a sentence", () => {
  assert.match(sizesProblem({ tokens: 1024, dim: 1536, chan: 1536, heads: 12 }), /at most 2 billion .* fewer tokens/);
  assert.equal(sizesProblem({ tokens: 197, dim: 768, chan: 768, heads: 12 }), "");
});
