// See as a whole, mounted in a lens.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createSee } from "../../../playground/microscope/see/see.js";
import { aTrace, passTime } from "../lens/alens.mjs";
import { draw, mountLens } from "../lens/mounted.mjs";

const see = (lens) => createSee(lens, { face: "see", language: () => "en", turned() {} });
const mountSee = (options = {}) => mountLens({ pack: { grid: [6, 7] }, view: { layer: 1 }, host: { see }, ...options });

for (const name of ["why", "heads", "numbers"])
  test(`Escape closes the drawer ${name}, and nobody else hears it`, async () => {
    const microscope = await mountSee();
    microscope.click(microscope.find(`[data-door="${name}"]`));
    assert.equal(microscope.root.dataset.drawer, name);
    const event = microscope.key("Escape");
    assert.deepEqual([microscope.root.dataset.drawer, event.defaultPrevented], ["", true]);
  });

const openSheets = ({ part }) => ["sending", "saving"].filter((name) => !part(`${name}Sheet`).hidden).join();

test("a sheet that shows the former picture closes when another one is on its way, and when it comes", async () => {
  const microscope = await mountSee();
  microscope.lens.share();
  assert.equal(openSheets(microscope), "sending");
  microscope.lens.wait("Your photograph is on its way");
  assert.equal(openSheets(microscope), "");
  microscope.lens.wait(null);
  microscope.lens.share();
  await microscope.show("dog");
  assert.equal(openSheets(microscope), "");
});

test("moments of the former picture are gone as soon as the first, coarse look at the next one is here", async () => {
  const microscope = await mountSee();
  const buttons = () => microscope.find(".see-moments").children.length;
  for (let round = 0; round < 200 && !buttons(); round++) {
    await passTime(200);
    draw();
  }
  assert.ok(buttons(), "the moments of the first picture");
  await microscope.show("dog", { main: aTrace("dog", { model: "small", words: { first: "yes" } }) });
  assert.equal(buttons(), 0);
});
