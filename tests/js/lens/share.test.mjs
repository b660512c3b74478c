import assert from "node:assert/strict";
import { test } from "node:test";

import { mountLens } from "./mounted.mjs";

test("without See there is the picture alone; an own photograph is said to be in it", async () => {
  const microscope = await mountLens({ pack: { grid: [6, 7] }, view: { layer: 1 }, trace: { private: true } });
  const { prototype } = HTMLCanvasElement;
  prototype.toBlob = function toBlob(done) {
    done(new Blob(["x"], { type: "image/png" }));
  };
  microscope.click(microscope.part("sending"));
  assert.ok(microscope.part("sendingSheet").contains(document.activeElement), "so that Escape reaches the lens");
  for (let round = 0; round < 3; round++) await new Promise(setImmediate);
  const offeredButtons = [...microscope.part("shareWays").children].filter(({ hidden }) => !hidden);
  assert.deepEqual(
    offeredButtons.map(({ dataset }) => dataset.share),
    ["picture"],
  );
  assert.equal(microscope.part("shareSave").disabled, false);
  assert.equal(
    microscope.words("shareStatus"),
    "A still, for a message or a slide. Made in this browser; it goes nowhere until you send it. " +
      "Your photograph is in it.",
  );
});
