import assert from "node:assert/strict";
import { test } from "node:test";

import { passTime } from "./alens.mjs";
import { draw, mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };

async function kindSentence(microscope) {
  await passTime(100);
  return microscope.find(".kindline span").textContent;
}

test("the kind of a row is told only of rows of weights", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 3 } });
  const kindShown = async (view) => {
    microscope.lens.update({ view: { locked: true, ...view } });
    draw();
    return kindSentence(microscope);
  };
  let [view, sentence] = [null, ""];
  for (let n = 0; n < 4 * 42 && !sentence; n++) {
    view = { layer: Math.floor(n / 42), head: 1, query: `${Math.floor((n % 42) / 7)},${n % 7}` };
    sentence = await kindShown(view);
  }
  assert.notEqual(sentence, "", "no row is of a kind");
  for (const overrides of [{ what: "value" }, { direction: "column" }, { what: "norm" }])
    assert.equal(await kindShown({ ...view, ...overrides }), "", JSON.stringify(overrides));
  assert.equal(await kindShown(view), sentence);
});

// A plain picture with two equal patches at 1,1 and 4,5, which attend to each other in head 1 of layer 2.
function twoParts(source, layer, head, i) {
  const [token, place] = [Math.floor(i / 4) - 1, i % 4];
  const background = 0.2 * Math.sin(1 + source + 0.37 * i);
  if (source > 1 || (token !== 8 && token !== 33)) return background;
  if (source === 1) return place ? background : 6 + (token === 33 ? 1 : 0);
  return layer === 2 && head === 1 && !place ? 6 : background;
}

test("the head in which this patch shows more is named, and the button leads there", async () => {
  const pack = { ...GRID, numbers: twoParts };
  const microscope = await mountLens({ pack, view: { layer: 0, head: 0, query: "3,3", locked: true } });
  for (let round = 0; round < 60; round++) await passTime(150); // the search goes on between frames
  draw();
  const goButton = microscope.find(".kindline button");
  const triedPatches = [];
  for (let patch = 0; patch < 42 && goButton.hidden; patch++) {
    const query = `${Math.floor(patch / 7)},${patch % 7}`;
    microscope.lens.update({ view: { layer: 0, head: 0, query, locked: true } });
    draw();
    await kindSentence(microscope);
    triedPatches.push(query);
  }
  assert.equal(goButton.hidden, false, `none of ${triedPatches.length} patches shows more elsewhere`);
  const [, layer, head] = /^layer (\d), head (\d) shows more here$/.exec(goButton.textContent);
  const { query } = microscope.lens.view;
  microscope.click(goButton);
  const viewNow = microscope.lens.view;
  assert.deepEqual(
    [viewNow.layer, viewNow.head, viewNow.query, viewNow.locked],
    [Number(layer), Number(head), query, true],
  );
  microscope.lens.update({ view: { layer: 0, head: 0, query: "3,3" } });
  microscope.key("b"); // goes to another of the best moments
  assert.ok(microscope.lens.view.locked);
});
