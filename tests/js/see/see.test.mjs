// See as a whole, mounted in a lens.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createSee } from "../../../playground/microscope/see/see.js";
import { mountLens } from "../lens/mounted.mjs";

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
