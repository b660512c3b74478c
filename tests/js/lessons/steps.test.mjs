import assert from "node:assert/strict";
import { test } from "node:test";

import { container } from "../packs.mjs";
import { draw, mountPart } from "./mounting.mjs";

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

function mountWalk() {
  const sentSteps = [];
  const walkElement = document.createElement("div");
  walkElement.dataset.walk = "";
  const drawing = mountPart(steps, DATA, {
    within: walkElement,
    set: ({ walk }, rest) => sentSteps.push([walk, rest]),
  });
  return { ...drawing, toldSteps: sentSteps, state: () => walkElement.__walk.read() };
}

test("a cell that is pointed at says who asks whom, and what it gets", () => {
  const drawing = mountWalk();
  const panel = drawing.find(".panel");
  drawing.point(panel, "pointermove", 300, 300);
  assert.equal(drawing.find(".readout").textContent, "cat asks cat: 0.00");
  drawing.point(panel, "pointermove", 100, 300);
  assert.equal(drawing.find(".readout").textContent, "cat asks the: 1.00");
  drawing.click(drawing.find('[data-step="2"]'));
  drawing.point(drawing.find(".panel"), "pointermove", 300, 100);
  assert.equal(drawing.find(".readout").textContent, "the, column 1: 0.50");
  draw();
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
  const reports = [];
  const walkElement = document.createElement("div");
  walkElement.dataset.walk = "";
  const drawing = mountPart(steps, walkData(overrides), { within: walkElement, set: (value) => reports.push(value) });
  const sizes = () => [...drawing.parentElement.querySelectorAll("input")].map((input) => Number(input.value));
  const write = (name, text) => {
    const input = drawing.find(`[name="${name}"]`);
    input.value = text;
    input.dispatchEvent(new Event("change"));
  };
  return { ...drawing, toldSettings: reports, sizes, write, state: () => walkElement.__walk.read() };
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
  assert.deepEqual(drawing.toldSettings, [{ example: "own", batch: 64, tokens: 5, dim: 6, chan: 8, heads: 4 }]);
  drawing.again(walkData({ ...drawing.toldSettings[0] }));
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

test("columns that can't be shared out are explained with the nearest that can; then the walk is back", () => {
  const drawing = mountSizes({ example: "own", chan: "7" });
  assert.match(
    drawing.find(".refused").textContent,
    /^7 columns can't be shared out evenly among 2 heads: 1 left over/,
  );
  assert.ok(drawing.find(".walk, [data-walk]").classList.contains("impossible"));
  drawing.again(walkData({ example: "own" }));
  assert.equal(drawing.find(".refused").textContent, "");
  assert.equal(drawing.state().name, "x");
});

test("the numbers that are offered are possible and none is nearer", () => {
  for (const chan of [5, 12, 64, 97])
    for (let heads = 2; heads < 25; heads++) {
      const problem = sizesProblem({ tokens: 4, dim: chan, chan, heads });
      assert.equal(problem === "", chan % heads === 0);
      if (!problem) continue;
      const [, widths, headCounts] = problem.match(/a width of ([\d or]+), or ([\d or]+) heads?\./);
      for (const width of widths.split(" or ")) assert.ok(width % heads === 0 && Math.abs(width - chan) < heads);
      for (const n of headCounts.split(" or ")) assert.equal(chan % n, 0);
    }
});

test("a walk that would take long is refused in a sentence", () => {
  assert.match(sizesProblem({ tokens: 1024, dim: 1536, chan: 1536, heads: 12 }), /at most 2 billion .* fewer tokens/);
  assert.equal(sizesProblem({ tokens: 197, dim: 768, chan: 768, heads: 12 }), "");
});
