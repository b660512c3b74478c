import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../../playground/microscope/core/core.js";
import * as view from "../../../playground/microscope/core/view.js";
import { fixture } from "../support.mjs";

const { bytes } = fixture();
const pack = unpack(bytes);
const assertNear = (a, b, tolerance = 1e-6) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

test("a query is a patch or a prefix token, and nothing off the grid", () => {
  assert.equal(view.tokenOf("cls", pack), 0);
  assert.equal(view.tokenOf("reg0", pack), 1);
  assert.equal(view.tokenOf("0,0", pack), 2);
  assert.equal(view.tokenOf("2,3", pack), 13);
  for (const query of ["3,0", "0,4", "-1,0", "dist", "", null, undefined, "1,2,3", "a,b"])
    assert.equal(view.tokenOf(query, pack), -1);
  for (let token = 0; token < pack.tokens; token++) assert.equal(view.tokenOf(view.queryOf(token, pack), pack), token);
});

test("whatever a link says becomes a view that fits the pack", () => {
  const tidiedView = view.tidyView(
    { layer: "99", head: "-3", query: "9,9", locked: "true", scale: "banana", k: "4", what: "<b>", evil: 1 },
    pack,
  );
  assert.deepEqual(tidiedView, { ...view.DEFAULT_VIEW, layer: 3, head: 0, query: "1,2" });
  assert.equal(view.tidyView({ scale: "0" }, pack).scale, 0);
  assert.equal(view.tidyView({ layer: "0" }, pack).layer, 0);
  assert.equal(view.tidyView({}, pack).query, `${pack.rows >> 1},${pack.columns >> 1}`);
  assert.equal(view.tidyView({}, pack, [0.99, 0]).query, `${pack.rows - 1},0`); // the default query, as shares
  assert.equal(view.tidyView({}, pack).layer, 1); // the default is layer 2, but the pack holds only 1 and 3
});

test("a view travels through a link and comes back", () => {
  const chosenView = view.tidyView(
    {
      layer: 1,
      head: 2,
      query: "cls",
      locked: true,
      scale: 0.25,
      beside: "wall",
      ceiling: 0.5,
      direction: "column",
      what: "value",
    },
    pack,
  );
  assert.deepEqual(view.tidyView(view.viewFromQuery(`#${view.viewToQuery(chosenView)}`), pack), chosenView);
  assert.equal(view.viewToQuery({ ...view.DEFAULT_VIEW }), "");
});

test("the dial has 0 at the left, the trained scale in the middle and 1 at the right", () => {
  for (const trainedScale of [0.125, 0.0884, 0.25]) {
    assertNear(view.dialToScale(0, trainedScale), 0);
    assertNear(view.dialToScale(0.5, trainedScale), trainedScale);
    assertNear(view.dialToScale(1, trainedScale), 1);
    assertNear(view.dialToScale(view.MOST_DIAL, trainedScale), view.MOST_SCALE);
    for (const t of [0, 0.1, 0.4, 0.5, 0.6, 0.9, 1, 1.1, 1.25])
      assertNear(view.scaleToDial(view.dialToScale(t, trainedScale), trainedScale), t);
  }
});
