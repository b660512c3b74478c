import assert from "node:assert/strict";
import { test } from "node:test";

import { createState } from "../../../playground/microscope/lens/state.js";

test("the lens has no property that is not declared", () => {
  globalThis.matchMedia ??= () => ({ matches: false });
  const lens = createState(null, {}, {});
  assert.throws(() => (lens.undeclared = 1), TypeError);
  assert.throws(() => (lens.frame.shown.undeclared = 1), TypeError);
  lens.choice.hover = 3;
  assert.equal(lens.choice.hover, 3);
});
