import assert from "node:assert/strict";
import { test } from "node:test";

import { photoOf, rampOf } from "../../../playground/microscope/lens/layout.js";
import { aLens } from "./alens.mjs";
import { mountLens } from "./mounted.mjs";

test("a photograph is drawn once for a size, and again when the size changes", async () => {
  await mountLens(); // makes canvases available
  const { lens } = aLens();
  const { data, frame, page } = lens;
  Object.assign(page.refs, { picture: { width: 60, height: 40 } });
  data.main.picture = { bitmap: null };
  const photo = photoOf(data, frame, page, data.main);
  assert.equal(photoOf(data, frame, page, data.main), photo);
  frame.thumbPhoto = photo;
  page.refs.picture.width = 90;
  const resizedPhoto = photoOf(data, frame, page, data.main);
  assert.notEqual(resizedPhoto, photo);
  assert.deepEqual([frame.photo, frame.thumbPhoto], [resizedPhoto, null], "the small ones are of the former");
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
