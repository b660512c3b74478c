import assert from "node:assert/strict";
import { test } from "node:test";

import { passTime } from "./alens.mjs";
import { draw, mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };
const VIEW = { layer: 1, head: 1, query: "3,3", locked: true };

const FEATURES = { ...VIEW, what: "norm", locked: false };

test("features that do not fit the picture's tokens count as a failure, not as still on their way", async () => {
  const microscope = await mountLens({ pack: GRID, view: FEATURES, host: { failed() {} } });
  await passTime(200);
  const { questions } = microscope.source;
  const asked = () => questions.filter(({ text }) => text.startsWith("features")).length;
  assert.equal(asked(), 1);
  questions.find(({ text }) => text.startsWith("features")).answer(new Float32Array(5));
  await passTime();
  draw();
  assert.deepEqual([microscope.words("waiting"), asked()], ["What this needs is not here.", 1]);
});

test("under each head stands how many tokens it listens to, and what it does, once that is known", async () => {
  const microscope = await mountLens({ pack: { ...GRID, heads: 2 }, view: { ...VIEW, head: 0 } });
  microscope.openRow("head");
  const headNotes = () => [...microscope.root.querySelectorAll("[data-head] i")].map((item) => item.textContent);
  const { effective } = microscope.lens.read();
  assert.ok(Math.abs(Number(headNotes()[0]) - effective) < 0.06);
  await passTime(200);
  for (let round = 0; round < 8; round++) {
    for (const question of microscope.source.questions.filter(({ text, done }) => /^names/.test(text) && !done)) {
      question.answer([
        ["looks at itself", "itself", "#123"],
        ["looks left", "left", "#456"],
      ]);
      question.done = true;
    }
    await passTime(200);
    draw();
  }
  assert.match(headNotes().join(), /^itself [\d.]+,left [\d.]+$/);
  microscope.click(microscope.part("switch"));
  assert.match(headNotes()[0], /^[\d.]+$/, "it was measured at the trained scale");
});

test("the number stands beside the patch with the largest weight, unless all are alike", async () => {
  const microscope = await mountLens({ pack: GRID, view: VIEW });
  const writtenText = () =>
    microscope
      .part("picture")
      .getContext("2d")
      .drawn.filter(([name]) => name === "fillText")
      .map(([, text]) => text);
  assert.ok(
    writtenText().some((text) => /%$/.test(text)),
    writtenText().join(),
  );
  microscope.part("picture").getContext("2d").drawn.length = 0;
  microscope.lens.update({ view: { ...VIEW, scale: 0 } });
  draw();
  assert.deepEqual(writtenText(), []);
});

test("where a place is outlined, its share stands for the numbers of its patches", async () => {
  const microscope = await mountLens({ pack: GRID, view: { ...VIEW, ceiling: 0.02 } });
  const namesDrawn = () => {
    const { drawn } = microscope.part("picture").getContext("2d");
    return drawn.splice(0).map(([name]) => name);
  };
  assert.ok(!namesDrawn().includes("strokeText"));
  microscope.lens.update({ view: { ...VIEW, ceiling: 0.02, direction: "column" } });
  draw(20);
  assert.ok(namesDrawn().includes("strokeText"), "a column has no places");
});
