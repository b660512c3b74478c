import assert from "node:assert/strict";
import { test } from "node:test";

import { passTime } from "./alens.mjs";
import { draw, mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };
const LOCKED_VIEW = { layer: 1, head: 1, query: "3,3", locked: true };

test("the host hears of a choice once it has rested, never while the cursor moves", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1 } });
  microscope.point("pointermove", microscope.part("picture"), 0.1, 0.1);
  await passTime(1000);
  assert.equal(microscope.toldViews.length, 0);
  microscope.key("]");
  microscope.key("]");
  await passTime(299);
  assert.equal(microscope.toldViews.length, 0);
  await passTime(1);
  assert.deepEqual(
    microscope.toldViews.map(({ layer }) => layer),
    [3],
  );
});

test("an update leaves what it does not name; a view that it names starts from the defaults", async () => {
  const microscope = await mountLens({ pack: GRID, view: { ...LOCKED_VIEW, ceiling: 0.5 } });
  microscope.lens.update({ ui: { height: 500 } });
  assert.deepEqual([microscope.lens.view.ceiling, microscope.lens.view.locked], [0.5, true]);
  microscope.lens.update({ view: { layer: 2 } });
  assert.deepEqual(
    [microscope.lens.view.ceiling, microscope.lens.view.locked, microscope.lens.view.layer],
    ["auto", false, 2],
  );
});

test("neither a lock nor a cut carries over to another picture", async () => {
  const microscope = await mountLens({ pack: GRID, view: { ...LOCKED_VIEW, cut: "3,3>0,0" } });
  await microscope.show("dog");
  assert.deepEqual([microscope.lens.view.locked, microscope.lens.view.cut], [false, ""]);
});

test("a picture that comes after a newer one was asked for is not shown", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1 } });
  const slowShow = microscope.lens.show({ main: { id: "slow", title: "", picture: { id: "slow" } } });
  await microscope.show("dog");
  assert.equal(await slowShow, false);
  assert.equal(microscope.lens.read().picture, "picture of dog");
});

test("while another picture is on its way the lens says so and waits; its own message stays", async () => {
  const microscope = await mountLens({ pack: GRID });
  microscope.lens.wait("It is on its way.");
  assert.deepEqual(
    [microscope.words("message"), microscope.root.classList.contains("waits")],
    ["It is on its way.", true],
  );
  microscope.lens.wait(null);
  assert.deepEqual([microscope.words("message"), microscope.root.classList.contains("waits")], ["", false]);
  microscope.part("message").textContent = "Link copied.";
  microscope.lens.wait(null);
  assert.equal(microscope.words("message"), "Link copied.");
});

test("a lens that is gone leaves nothing behind and draws nothing", async () => {
  const microscope = await mountLens({ pack: GRID, view: { layer: 1 } });
  microscope.key("]");
  microscope.lens.destroy();
  assert.equal(document.querySelector(".lens"), null);
  await passTime(1000);
  draw();
  assert.equal(microscope.toldViews.length, 0, "the choice was not told any more");
});
