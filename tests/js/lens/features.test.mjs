import assert from "node:assert/strict";
import { test } from "node:test";

import { receive } from "../../../playground/microscope/lens/asking.js";
import {
  featuresToMatch,
  liveMap,
  missingMatrix,
  otherMap,
  storeMatrix,
} from "../../../playground/microscope/lens/features.js";
import { resolve } from "../../../playground/microscope/lens/state.js";
import { packOf } from "../packs.mjs";
import { aLens, aTrace } from "./alens.mjs";

const TOKENS = 7;
// Orthogonal features: token n has the length n + 1.
const orthogonalFeatures = () =>
  Float32Array.from({ length: TOKENS ** 2 }, (_, i) => (i % (TOKENS + 1) ? 0 : Math.floor(i / TOKENS) + 1));

function lensWithFeatures(view, withOther = true) {
  const { lens } = aLens({ pack: { held: [0, 1, 2, 3] }, view: { layer: 1, query: "0,1", ...view } });
  const { choice, data, frame } = lens;
  storeMatrix(data, frame, { what: "features", entry: data.main, layer: 1, values: orthogonalFeatures() });
  if (withOther) {
    data.other = receive(data, aTrace("dog"), packOf({ held: [0, 1, 2, 3] }));
    storeMatrix(data, frame, {
      what: "features",
      entry: data.other,
      layer: 1,
      values: orthogonalFeatures().toReversed(),
    });
  }
  Object.assign(resolve(choice, data, frame), { mark: 1 });
  return lens;
}

test("similarity is one at the patch that asks, lengths are lengths, and the map is made once for a patch", () => {
  const { choice, data, frame } = lensWithFeatures({ what: "similarity" }, false);
  const map = liveMap(choice, data, frame);
  assert.deepEqual([...map.values].map(Math.round), [0, 0, 1, 0, 0, 0, 0]);
  const { key, values } = map;
  assert.equal(liveMap(choice, data, frame).values, values);
  assert.equal(map.key, key);
  choice.view = { ...choice.view, what: "norm" };
  assert.deepEqual([...liveMap(choice, data, frame).values].map(Math.round), [1, 2, 3, 4, 5, 6, 7]);
});

test("features that are here are not missing; those of the compared picture and of another layer are", () => {
  const { choice, data, frame } = lensWithFeatures({ what: "norm", beside: "compare" }, false);
  assert.equal(missingMatrix(choice, data, frame), null);
  data.other = receive(data, aTrace("dog"), packOf({ layers: 8, held: [3] }));
  const { what: missingKind, entry, layer } = missingMatrix(choice, data, frame);
  assert.deepEqual([missingKind, entry.id, layer], ["features", "dog", 2]);
  choice.view = { ...choice.view, layer: 2 };
  assert.equal(missingMatrix(choice, data, frame).entry.id, "cat");
});

test("similarity in the compared picture is to this picture's patch, or to the patch under the cursor there", () => {
  const { choice, data, frame } = lensWithFeatures({ what: "similarity", beside: "compare" });
  const map = otherMap(choice, data, frame);
  assert.deepEqual([map.asked, map.values.indexOf(Math.max(...map.values))], [-1, 2], "whatever its length");
  choice.hoverOther = 3;
  assert.equal(otherMap(choice, data, frame).asked, 3);
  assert.equal(liveMap(choice, data, frame).from, "other");
  choice.view = { ...choice.view, locked: true };
  assert.equal(otherMap(choice, data, frame).asked, -1, "a locked patch asks");
});

test("features of two models have nothing in common", () => {
  const { choice, data, frame } = lensWithFeatures({ what: "similarity", beside: "compare" });
  data.features.get("dog 1").model = "another";
  assert.equal(otherMap(choice, data, frame), null);
  data.other.pack.header = { ...data.other.pack.header, model: "another" };
  assert.equal(featuresToMatch(choice, data), null);
});
