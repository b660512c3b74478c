import assert from "node:assert/strict";
import { test } from "node:test";

import { receive } from "../../../playground/microscope/lens/asking.js";
import { habitOf, overlayNow, resolve, storeNames } from "../../../playground/microscope/lens/state.js";
import { packOf } from "../packs.mjs";
import { aLens, aTrace } from "./alens.mjs";

test("a whole pass is missing until the pass with this scale is here; till then the trained one is shown", () => {
  const { lens } = aLens({ view: { pass: "whole", scale: "off" } });
  const state = () => {
    const { wholeMissing, wholeArrived, pack } = resolve(lens.choice, lens.data, lens.frame);
    return [wholeMissing, wholeArrived, pack === lens.data.main.pack];
  };
  assert.deepEqual(state(), [true, false, true]);
  lens.data.whole = receive(lens.data, aTrace("off"), packOf({ forward_scale: "off" }));
  assert.deepEqual(state(), [false, true, false]);
  assert.equal(lens.frame.shown.answers, lens.data.whole.answers);
  lens.choice.view = { ...lens.choice.view, scale: 0.3 };
  assert.deepEqual(state(), [true, false, true], "it is of another scale");
  lens.data.whole = receive(lens.data, aTrace("0.3"), packOf({ forward_scale: 0.3 }));
  assert.deepEqual(state(), [false, true, false]);
  lens.choice.view = { ...lens.choice.view, pass: "layer" };
  assert.deepEqual(state(), [false, false, true], "one layer's softmax is asked for");
  lens.choice.view = { ...lens.choice.view, pass: "whole", scale: "on" };
  assert.deepEqual(state(), [false, false, true], "the trained pass is the main one");
});

test("a layer is missing where the pack that answers has none of its heads", () => {
  const { lens } = aLens({ pack: { held: [1], some: [0] }, view: { layer: 1 } });
  assert.equal(resolve(lens.choice, lens.data, lens.frame).layerMissing, false);
  lens.choice.view = { ...lens.choice.view, layer: 2 };
  assert.equal(resolve(lens.choice, lens.data, lens.frame).layerMissing, true);
  lens.data.whole = receive(lens.data, aTrace("whole"), packOf({ held: [2], forward_scale: 0.1 }));
  lens.choice.view = { ...lens.choice.view, pass: "whole", scale: 0.1 };
  assert.equal(resolve(lens.choice, lens.data, lens.frame).layerMissing, false, "the whole pass has it");
});

test("a map that the source made is shown for its own patch, picture and kind alone", () => {
  const { lens } = aLens({ view: { what: "rollout", query: "1,1", locked: true } });
  const isOverlayShown = (overlay) => {
    lens.data.overlay = overlay;
    resolve(lens.choice, lens.data, lens.frame);
    return overlayNow(lens.choice, lens.data, lens.frame) !== null;
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
  resolve(lens.choice, lens.data, lens.frame);
  assert.deepEqual(habitOf(lens.data, lens.frame, 1, 0), {
    label: "e long",
    short: "e",
    colour: "#e",
    told: "e: told",
    means: "e: why",
  });
  assert.equal(habitOf(lens.data, lens.frame, 1, 1).short, "b");
  assert.deepEqual([habitOf(lens.data, lens.frame, 0, 0), habitOf(lens.data, lens.frame, 1, 2)], [null, null]);
  storeNames(lens.data, "cat", 2, [
    ["", "", ""],
    ["one", "o", "#o"],
  ]);
  assert.equal(habitOf(lens.data, lens.frame, 2, 1).told, "");
  lens.data.main = receive(lens.data, aTrace("dog"), packOf());
  assert.equal(habitOf(lens.data, lens.frame, 1, 0), null, "these are the names of another picture");
});

test("with another scale a head has no name: it was measured at the trained one", () => {
  const { lens } = aLens({ view: { scale: "off" } });
  storeNames(lens.data, "cat", 0, [["a long", "a", "#a"]]);
  resolve(lens.choice, lens.data, lens.frame);
  assert.equal(habitOf(lens.data, lens.frame, 0, 0), null);
});
