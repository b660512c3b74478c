import assert from "node:assert/strict";
import { test } from "node:test";

import { mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls", "reg0"] };

test("the sentence says who asks, at which scale, in which direction", async () => {
  const microscope = await mountLens({ pack: { ...GRID, dim: 4 }, view: { layer: 1, query: "3,3", locked: true } });
  const sentenceNow = () => microscope.words("sentence");
  assert.match(sentenceNow(), / of its attention |^It /);
  microscope.click(microscope.part("switch"));
  assert.match(sentenceNow(), /^Without dividing by √4 in this layer: /);
  microscope.click(microscope.part("switch"));
  microscope.input(microscope.part("dial"), "0");
  assert.match(sentenceNow(), /: It looks everywhere alike: /);
  microscope.click(microscope.part("switch"));
  microscope.lens.update({ view: { layer: 1, query: "3,3", direction: "column" } });
  microscope.key("Escape");
  assert.match(sentenceNow(), / times as much as the average token/);
  microscope.lens.update({ view: { layer: 1, query: "cls" } });
  microscope.key("Escape");
  assert.match(sentenceNow(), /^CLS: /);
  microscope.lens.update({ view: { layer: 1, query: "reg0" } });
  microscope.key("Escape");
  assert.match(sentenceNow(), /^register 0: /i);
});

test("the sentence says the numbers of the row under the cursor, and another row has others", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1, head: 1 } });
  const sentences = new Set();
  for (const [row, column] of [
    [3, 3],
    [1, 5],
    [4, 1],
  ]) {
    microscope.point("pointermove", microscope.part("picture"), (column + 0.5) / 7, (row + 0.5) / 6);
    const { row: weights } = microscope.lens.read();
    const farShare = weights.reduce((sum, weight, token) => {
      const distance = Math.max(Math.abs(Math.floor((token - 2) / 7) - row), Math.abs(((token - 2) % 7) - column));
      return token < 2 || distance > 1 ? sum + weight : sum;
    }, 0);
    const sentence = microscope.words("sentence");
    const share = Number(/([\d.]+) % of its attention lies outside its 3×3/.exec(sentence)[1]);
    assert.ok(Math.abs(share / 100 - farShare) < 0.006, `${sentence} ${farShare}`);
    sentences.add(sentence);
  }
  assert.equal(sentences.size, 3);
});
