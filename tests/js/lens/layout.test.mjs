import assert from "node:assert/strict";
import { test } from "node:test";

import { rampOf } from "../../../playground/microscope/lens/layout.js";

test("maps that can be lit are lit, and all others are heat", () => {
  const ramps = { heat: ["heat"], light: ["light"] };
  const ramp = (view) => rampOf({ view, frame: { ramps } })[0];
  assert.deepEqual(
    [
      { draw: "light", what: "weight" },
      { draw: "light", what: "score" },
      { draw: "heat", what: "weight" },
    ].map(ramp),
    ["light", "heat", "heat"],
  );
});
