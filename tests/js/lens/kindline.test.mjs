import assert from "node:assert/strict";
import { test } from "node:test";

import { sceneOf } from "../../../playground/microscope/lens/moment.js";
import { pass } from "./alens.mjs";
import { draw, mounted } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };

async function written(there) {
  await pass(100);
  return there.find("[data-kind]").textContent;
}

test("what kind of row it is, is said of rows of weights alone", async () => {
  const there = await mounted({ pack: GRID, view: { layer: 3 } });
  const shows = async (view) => {
    there.lens.update({ view: { locked: true, ...view } });
    draw();
    return written(there);
  };
  let [view, said] = [null, ""];
  for (let n = 0; n < 4 * 42 && !said; n++) {
    view = { layer: Math.floor(n / 42), head: 1, query: `${Math.floor((n % 42) / 7)},${n % 7}` };
    said = await shows(view);
  }
  assert.notEqual(said, "", "no row is of a kind");
  for (const more of [{ what: "value" }, { direction: "column" }, { what: "norm" }])
    assert.equal(await shows({ ...view, ...more }), "", JSON.stringify(more));
  assert.equal(await shows(view), said);
});

test("what to do stands there until somebody has done it", async () => {
  const there = await mounted({ pack: GRID, view: { layer: 1 }, ui: { height: 700 } });
  await written(there);
  assert.match(there.find("[data-hint]").textContent, /^Put the cursor on a patch/);
  assert.equal(there.words("lock"), "");
  there.point("pointermove", there.part("picture"), 0.1, 0.1);
  await written(there);
  assert.equal(there.find("[data-hint]").textContent, "");
  assert.equal(there.words("lock"), "click to lock");
  const low = await mounted({ pack: GRID, view: { layer: 1 } });
  assert.match(low.words("lock"), /^Put the cursor on a patch/, "where there is no room for the line");
});

// Two equal parts of a plain picture, at 1,1 and 4,5: in head 1 of layer 2 the one asks for the other.
function twoParts(of, layer, head, i) {
  const [token, place] = [Math.floor(i / 4) - 1, i % 4];
  const plain = 0.2 * Math.sin(1 + of + 0.37 * i);
  if (of > 1 || (token !== 8 && token !== 33)) return plain;
  if (of === 1) return place ? plain : 6 + (token === 33 ? 1 : 0);
  return layer === 2 && head === 1 && !place ? 6 : plain;
}

test("the head in which this patch shows more is named, and the button leads there", async () => {
  const pack = { ...GRID, numbers: twoParts };
  const there = await mounted({ pack, view: { layer: 0, head: 0, query: "3,3", locked: true } });
  for (let turn = 0; turn < 60; turn++) await pass(150); // the search goes on between frames
  draw();
  const go = there.find("[data-go]");
  const tried = [];
  for (let patch = 0; patch < 42 && go.hidden; patch++) {
    const query = `${Math.floor(patch / 7)},${patch % 7}`;
    there.lens.update({ view: { layer: 0, head: 0, query, locked: true } });
    draw();
    await written(there);
    tried.push(query);
  }
  assert.equal(go.hidden, false, `none of ${tried.length} patches shows more elsewhere`);
  const [, layer, head] = /^layer (\d), head (\d) shows more here$/.exec(go.textContent);
  const { query } = there.lens.view;
  there.click(go);
  const now = there.lens.view;
  assert.deepEqual([now.layer, now.head, now.query, now.locked], [Number(layer), Number(head), query, true]);
  there.lens.update({ view: { layer: 0, head: 0, query: "3,3" } });
  there.key("b"); // another of the most telling rows
  assert.ok(there.lens.view.locked);
});

test("what was not searched shows no better head", () => {
  const data = { main: { id: "cat" }, search: null };
  assert.equal(sceneOf(data), null);
});
