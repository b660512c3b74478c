import assert from "node:assert/strict";
import { test } from "node:test";

import { photoOf, rampOf } from "../../../playground/microscope/lens/layout.js";
import { aLens } from "./alens.mjs";
import { mountLens } from "./mounted.mjs";

test("a bare lens is the picture alone; else the column is beside the picture, and below a panorama", async () => {
  const bareMicroscope = await mountLens({ ui: { bare: true } });
  assert.equal(bareMicroscope.root.dataset.way, "bare");
  const microscope = await mountLens({ ui: { height: 600 } });
  assert.deepEqual([microscope.root.dataset.way, microscope.root.dataset.size], ["whole", "wide"]);
  const isOver = ({ root }) => root.classList.contains("over");
  const panorama = await mountLens({ pack: { grid: [2, 12], size: [32, 192] }, ui: { height: 600 } });
  assert.deepEqual([isOver(microscope), isOver(panorama)], [false, true]);
});

test("a lens that is higher than wide has its picture above the rest", async () => {
  const microscope = await mountLens({ ui: { height: 1000 } });
  assert.equal(microscope.root.dataset.size, "narrow");
});

test("the picture keeps its shape, and its canvas has a pixel for each of the screen's", async () => {
  const microscope = await mountLens({ pack: { grid: [2, 3], size: [32, 48] } });
  const { width, height } = microscope.part("picture");
  assert.ok(width > 0 && Math.abs(width / height - 1.5) < 0.02, `${width} × ${height}`);
  assert.equal(microscope.root.style.getPropertyValue("--aspect"), "1.5");
});

test("a photograph is drawn once for a size, and again when the size changes", async () => {
  await mountLens(); // makes canvases available
  const { lens } = aLens();
  const { data, frame, page } = lens;
  Object.assign(page.refs, { picture: { width: 60, height: 40 } });
  data.main.picture = { bitmap: null };
  const photo = photoOf(data, frame, page, data.main);
  assert.equal(photoOf(data, frame, page, data.main), photo);
  frame.thumbPhoto = frame.patchPhoto = photo;
  page.refs.picture.width = 90;
  const resizedPhoto = photoOf(data, frame, page, data.main);
  assert.notEqual(resizedPhoto, photo);
  assert.deepEqual(
    [frame.photo, frame.thumbPhoto, frame.patchPhoto],
    [resizedPhoto, null, null],
    "the small ones are of the former",
  );
});

test("maps that can be lit are lit, and all others are heat", () => {
  const ramps = { heat: ["heat"], light: ["light"] };
  const ramp = (view) => rampOf({ view }, { ramps })[0];
  assert.deepEqual(
    [
      { draw: "light", what: "weight" },
      { draw: "light", what: "score" },
      { draw: "heat", what: "weight" },
    ].map(ramp),
    ["light", "heat", "heat"],
  );
});
