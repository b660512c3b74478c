import assert from "node:assert/strict";
import { test } from "node:test";

import { pass } from "./alens.mjs";
import { draw, mounted } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };
const VIEW = { layer: 1, head: 1, query: "3,3", locked: true };

test("a layer that is on its way is said to be, and drawn when it has come", async () => {
  const there = await mounted({ pack: { ...GRID, held: [1] }, view: VIEW });
  there.key("]");
  assert.equal(there.words("waiting"), "Layer 2 is on its way.");
  assert.equal(there.part("waiting").hidden, false);
  there.key("[");
  assert.ok(there.part("waiting").hidden);
});

test("under each head stands how many tokens it listens to; behind More what it does, once that is known", async () => {
  const there = await mounted({ pack: { ...GRID, heads: 2 }, view: { ...VIEW, head: 0 } });
  const numbers = () => [...there.root.querySelectorAll("[data-head] i")].map((one) => one.textContent);
  const { effective } = there.lens.read();
  assert.ok(Math.abs(Number(numbers()[0]) - effective) < 0.06);
  await pass(200);
  for (let turn = 0; turn < 8; turn++) {
    for (const question of there.source.questions.filter(({ text, done }) => /^names/.test(text) && !done)) {
      question.answer([
        ["looks at itself", "itself", "#123"],
        ["looks left", "left", "#456"],
      ]);
      question.done = true;
    }
    await pass(200);
    draw();
  }
  assert.deepEqual(numbers(), ["itself", "left"]);
  there.click(there.part("more"));
  assert.match(numbers()[0], /^itself [\d.]+$/);
  there.click(there.part("switch"));
  assert.match(numbers()[0], /^[\d.]+$/, "it was measured at the trained scale");
});

test("a column waits for the sums of all rows, and then is there", async () => {
  const there = await mounted({ pack: GRID, view: { ...VIEW, direction: "column" } });
  draw(20);
  const { ready, row } = there.lens.read();
  assert.ok(ready);
  assert.ok(Math.abs(Number(there.words("big")) - row.reduce((sum, weight) => sum + weight, 0)) < 0.06);
});

test("the number stands beside the patch with the largest weight, unless all are alike", async () => {
  const there = await mounted({ pack: GRID, view: VIEW });
  const written = () =>
    there
      .part("picture")
      .getContext("2d")
      .drawn.filter(([name]) => name === "fillText")
      .map(([, text]) => text);
  assert.ok(
    written().some((text) => /%$/.test(text)),
    written().join(),
  );
  there.part("picture").getContext("2d").drawn.length = 0;
  there.lens.update({ view: { ...VIEW, scale: 0 } });
  draw();
  assert.deepEqual(written(), []);
});

test("the bar is drawn again where its domain changes, and hidden where colours have no number", async () => {
  const there = await mounted({ pack: GRID, view: VIEW });
  const { drawn } = there.part("colourBar").getContext("2d");
  const before = drawn.length;
  assert.ok(before > 0);
  there.key("s");
  assert.ok(drawn.length > before);
  there.lens.update({ view: { ...VIEW, what: "components" } });
  draw();
  assert.equal(there.part("colourBar").style.visibility, "hidden");
});
