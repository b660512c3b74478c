import assert from "node:assert/strict";
import { test } from "node:test";

import { mounted } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls", "reg0"] };

test("the sentence says who asks, at which scale, in which direction", async () => {
  const there = await mounted({ pack: { ...GRID, dim: 4 }, view: { layer: 1, query: "3,3", locked: true } });
  const said = () => there.words("sentence");
  assert.match(said(), /^This patch gives /);
  there.click(there.part("switch"));
  assert.match(said(), /^Without dividing by √4 in this layer, this patch gives /);
  there.click(there.part("switch"));
  there.input(there.part("dial"), "0");
  assert.match(said(), / 44 tokens alike: /);
  there.click(there.part("switch"));
  there.lens.update({ view: { layer: 1, query: "3,3", direction: "column" } });
  there.key("Escape");
  assert.match(said(), / times as much as the average token/);
  there.lens.update({ view: { layer: 1, query: "cls" } });
  there.key("Escape");
  assert.match(said(), /^CLS gives /);
  there.lens.update({ view: { layer: 1, query: "reg0" } });
  there.key("Escape");
  assert.match(said(), /^register 0 gives /i);
});

test("it says the numbers of the row under the cursor, and another row has others", async () => {
  const there = await mounted({ pack: GRID, view: { layer: 1, head: 1 } });
  const sentences = new Set();
  for (const [row, column] of [
    [3, 3],
    [1, 5],
    [4, 1],
  ]) {
    there.point("pointermove", there.part("picture"), (column + 0.5) / 7, (row + 0.5) / 6);
    const { row: weights } = there.lens.read();
    const far = weights.slice(2).reduce((sum, weight, patch) => {
      const away = Math.max(Math.abs(Math.floor(patch / 7) - row), Math.abs((patch % 7) - column));
      return away > 1 ? sum + weight : sum;
    }, 0);
    const share = Number.parseFloat(there.words("share").replace("<", ""));
    assert.ok(Math.abs(share / 100 - far) < 0.006, `${there.words("share")} ${far}`);
    sentences.add(there.words("sentence"));
  }
  assert.equal(sentences.size, 3);
});

test("below it stand model, layer and head; the size of its type changes in steps", async () => {
  const there = await mounted({ pack: GRID, view: { layer: 1, head: 1 } });
  assert.match(there.words("named"), /small · layer 1, head 1$/);
  const letters = Number(there.root.style.getPropertyValue("--letters"));
  assert.equal(letters % 24, 0);
  assert.ok(letters >= there.words("sentence").length);
});
