import assert from "node:assert/strict";
import { test } from "node:test";

import { answerLayer } from "../../../playground/microscope/core/answers.js";
import { receive } from "../../../playground/microscope/lens/asking.js";
import { habitOf, overlayNow, resolve, storeNames } from "../../../playground/microscope/lens/state.js";
import { rowOnView } from "../../../playground/microscope/lens/told.js";
import { packOf } from "../packs.mjs";
import { aLens, aTrace } from "./alens.mjs";

test("a map that the source made is shown for its own patch, picture and kind alone", () => {
  const { lens } = aLens({ view: { what: "rollout", query: "1,1", locked: true } });
  const isOverlayShown = (overlay) => {
    lens.data.overlay = overlay;
    resolve(lens);
    return overlayNow(lens) !== null;
  };
  const overlay = { what: "rollout", query: "1,1", id: "cat", values: [] };
  assert.equal(isOverlayShown(overlay), true);
  assert.equal(isOverlayShown({ ...overlay, query: null, id: undefined }), true, "what names none is for all");
  assert.equal(isOverlayShown({ ...overlay, query: "1,2" }), false);
  assert.equal(isOverlayShown({ ...overlay, id: "dog" }), false);
  assert.equal(isOverlayShown({ ...overlay, what: "norm" }), false);
  lens.choice.view = { ...lens.choice.view, what: "weight" };
  assert.equal(isOverlayShown(overlay), false);
  lens.choice.view = { ...lens.choice.view, what: "rollout", pass: "whole", scale: 0.1 };
  lens.data.whole = receive(lens.data, aTrace("whole"), packOf({ forward_scale: 0.1 }));
  assert.equal(isOverlayShown(overlay), false, "it was made for the trained pass");
  assert.equal(isOverlayShown({ ...overlay, id: "whole" }), true);
});

// ------------------------------------------------------------------------------------------------------------- habits

test("a row on a sink says which of two things that is, once the names say it; before, what a short value says", () => {
  const one = { layers: 1, heads: 1, numbers: (source, _layer, _head, i) => (source === 1 ? (i < 4 ? 9 : 0) : 1) };
  const kindWith = (norm, names) => {
    const { lens } = aLens({
      pack: { ...one, numbers: (...at) => (at[0] === 2 && !at[3] ? norm : one.numbers(...at)) },
    });
    resolve(lens);
    lens.data.main.picture = {};
    answerLayer(lens.shown.answers, 0, lens.shown.token, lens.shown.scale, "weight", "row");
    if (names) storeNames(lens.data, "cat", 0, [["a", "a", "#a", "", "", names]]);
    return rowOnView(lens).sink;
  };
  assert.deepEqual([kindWith(0.1), kindWith(1)], ["nothing", "unknown"]);
  assert.deepEqual([kindWith(1, [0, "one thing"]), kindWith(1, [0, "neither"])], ["one thing", "neither"]);
  assert.equal(kindWith(1, [3, "nothing"]), "", "another token is the sink");
});

test("a head's name is that of its number in the model, of this picture and layer", () => {
  const { lens } = aLens({ pack: { heads: 2, head_numbers: [4, 1] } });
  const heads = ["a", "b", "c", "d", "e"].map((name) => [
    `${name} long`,
    name,
    `#${name}`,
    `${name}: told`,
    `${name}: why`,
  ]);
  storeNames(lens.data, "cat", 1, heads);
  resolve(lens);
  assert.deepEqual(habitOf(lens, 1, 0), {
    label: "e long",
    short: "e",
    colour: "#e",
    told: "e: told",
    means: "e: why",
    sink: null,
  });
  assert.equal(habitOf(lens, 1, 1).short, "b");
  assert.deepEqual([habitOf(lens, 0, 0), habitOf(lens, 1, 2)], [null, null]);
  storeNames(lens.data, "cat", 2, [
    ["", "", ""],
    ["one", "o", "#o"],
  ]);
  assert.equal(habitOf(lens, 2, 1).told, "");
  lens.data.main = receive(lens.data, aTrace("dog"), packOf());
  assert.equal(habitOf(lens, 1, 0), null, "these are the names of another picture");
});

test("with another scale a head has no name: it was measured at the trained one", () => {
  const { lens } = aLens({ view: { scale: "off" } });
  storeNames(lens.data, "cat", 0, [["a long", "a", "#a"]]);
  resolve(lens);
  assert.equal(habitOf(lens, 0, 0), null);
});
