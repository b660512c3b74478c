import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { container } from "../packs.mjs";
import { draw, mounted } from "./mounting.mjs";

mock.timers.reset();
mock.timers.enable({ apis: ["setTimeout", "setInterval"] });

const lesson = async (name) => (await import(`../../../playground/microscope/lessons/${name}.js`)).default;
const [steps, read] = await Promise.all(["steps", "read"].map(lesson));

const line = (number, text, more = {}) => ({ number, text, mark: "", ...more });
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
const HALVES = [0x3800, 0x3800, 0x3c00, 0]; // 0.5, 0.5, 1, 0
const DATA = container(
  {
    numbers: { batch: 1, tokens: 2, heads: 1 },
    tokens: ["the", "cat"],
    view: { id: "one", step: 1 },
    steps: [
      step("Scores", ["tokens", "tokens"], [2, 2], "a"),
      step("Softmax", ["tokens", "tokens"], [2, 2], "a"),
      step("Out", ["tokens", "width"], [2, 2], "a"),
    ],
  },
  { a: ["float16", [4], HALVES] },
);

function walking() {
  const told = [];
  const within = document.createElement("div");
  within.dataset.walk = "";
  const there = mounted(steps, DATA, { within, setStateValue: (_name, value) => told.push(value) });
  return { ...there, told, now: () => within.__walk.read() };
}

test("buttons, arrow keys and the list go to a step; the page hears of the last one, a moment later", () => {
  const there = walking();
  assert.deepEqual([there.now().step, there.now().name, there.find('[data-go="-1"]').disabled], [1, "Scores", true]);
  there.click(there.find('[data-go="1"]'));
  there.key(there.find("ol"), "ArrowRight");
  assert.deepEqual([there.now().step, there.find('[data-go="1"]').disabled], [3, true]);
  there.click(there.find('[data-step="1"]'));
  assert.deepEqual([there.now().step, there.told], [2, []]);
  mock.timers.tick(300);
  assert.deepEqual(there.told, [2]);
  assert.match(there.find("h3").textContent, /2 Softmax/);
});

test("it plays through the steps without telling the page, and stands still at the end", () => {
  const there = walking();
  there.click(there.find("[data-play]"));
  assert.deepEqual([there.now().step, there.find("[data-play]").textContent], [2, "❚❚ Pause"]);
  mock.timers.tick(2600);
  assert.deepEqual([there.now().step, there.told], [3, []]);
  mock.timers.tick(2600);
  assert.equal(there.find("[data-play]").textContent, "▶ Play");
  mock.timers.tick(300);
  assert.deepEqual(there.told, [3]);
});

test("a cell that is pointed at says who asks whom, and what it gets", () => {
  const there = walking();
  const panel = there.find(".panel");
  there.point(panel, "pointermove", 300, 300);
  assert.equal(there.find(".readout").textContent, "cat asks cat: 0.00");
  there.point(panel, "pointermove", 100, 300);
  assert.equal(there.find(".readout").textContent, "cat asks the: 1.00");
  there.click(there.find('[data-step="2"]'));
  there.point(there.find(".panel"), "pointermove", 300, 100);
  assert.equal(there.find(".readout").textContent, "the, column 1: 0.50");
  draw();
});

test("a formula stands beside the line that it belongs to, and a docstring is a comment", () => {
  const lines = [line(1, '"""What it is."""'), line(2, "x = x + self.ls1(mixture)", { formula: "MSA(LN(x))" })];
  const there = mounted(read, { parts: [{ file: "vit.py", lines }] });
  assert.deepEqual(there.texts(".noted s"), ["2"]);
  assert.match(there.find(".noted em").textContent, /^MSA\(LN\(/);
  assert.match(there.find(".comment").textContent, /What it is/);
});
