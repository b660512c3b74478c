import assert from "node:assert/strict";
import { test } from "node:test";

import { adviceFor, viewFor, viewWithBeside, wordsOfTraces } from "../../../playground/microscope/shell/choice.js";

const CHOICE = { sample: "tabby", mine: null, model: "dino", detail: 1, beside: null };

test("a choice is a trace: its picture, its model, and its grid where that is finer than usual", () => {
  assert.deepEqual(wordsOfTraces(CHOICE), { main: { sample: "tabby", model: "dino" }, other: null });
  assert.deepEqual(wordsOfTraces({ ...CHOICE, sample: null, mine: "ab", detail: 2 }), {
    main: { mine: "ab", model: "dino", detail: "2" },
    other: null,
  });
});

test("beside a trace stands another picture in the same model and grid, or its picture in another model", () => {
  const otherTrace = (beside, overrides = {}) => wordsOfTraces({ ...CHOICE, ...overrides, beside }).other;
  assert.deepEqual(otherTrace({ sample: "meadow" }, { detail: 2 }), { sample: "meadow", model: "dino", detail: "2" });
  assert.deepEqual(otherTrace({ mine: "ab" }), { mine: "ab", model: "dino" });
  assert.deepEqual(otherTrace({ sample: "meadow" }, { sample: null, mine: "ab" }), { sample: "meadow", model: "dino" });
  assert.deepEqual(otherTrace({ model: "large" }), { sample: "tabby", model: "large" });
  assert.deepEqual(otherTrace({ model: "large" }, { sample: null, mine: "ab" }), { mine: "ab", model: "large" });
  assert.deepEqual(
    otherTrace({ model: "large" }, { detail: 3 }),
    { sample: "tabby", model: "large" },
    "in its usual grid",
  );
  assert.deepEqual(otherTrace({ model: "dino" }, { detail: 3 }), { sample: "tabby", model: "dino", detail: "3" });
});

test("a comparison turns the view to the second picture, and its end turns it back", () => {
  assert.deepEqual(viewWithBeside({ layer: 2, beside: "wall" }, true), { layer: 2, beside: "compare" });
  assert.deepEqual(viewWithBeside({ layer: 2, beside: "compare" }, false), { layer: 2, beside: "convolution" });
  assert.deepEqual(viewWithBeside({ layer: 2, beside: "wall" }, false), { layer: 2, beside: "wall" });
});

const TABBY_TRACE = { model: "dino", picture: { id: "tabby" }, opens: { layer: 7, head: 2 } };
const MEADOW_TRACE = { model: "dino", picture: { id: "meadow" }, opens: { layer: 3, head: 1 } };
const VIEW = { layer: 5, head: 4, query: "1,2", locked: true, scale: "off", what: "value" };

test("the same picture in the same model keeps the view: only the grid changes", () => {
  assert.equal(viewFor({ ...TABBY_TRACE, opens: { layer: 1 } }, TABBY_TRACE, VIEW), null);
});

test("another picture opens at its own layer and head without a lock; the rest of the view stays", () => {
  assert.deepEqual(viewFor(MEADOW_TRACE, TABBY_TRACE, VIEW), { scale: "off", what: "value" });
  assert.deepEqual(viewFor(MEADOW_TRACE, null, VIEW), { scale: "off", what: "value" });
});

test("where a picture says no layer, layer and head stay in the same model, but not for a person's own", () => {
  const ownTrace = { model: "dino", picture: { id: "ab" }, opens: {} };
  assert.deepEqual(viewFor(ownTrace, TABBY_TRACE, VIEW), { layer: 5, head: 4, scale: "off", what: "value" });
  assert.deepEqual(
    viewFor({ ...ownTrace, private: true }, TABBY_TRACE, VIEW),
    { scale: "off", what: "value" },
    "it finds its moment",
  );
  const privateTrace = { ...TABBY_TRACE, private: true };
  assert.equal(viewFor(privateTrace, privateTrace, VIEW), null, "but it stays where somebody has gone");
  const viewThere = viewFor({ ...ownTrace, model: "large", opens: undefined }, TABBY_TRACE, VIEW);
  assert.deepEqual(viewThere, { scale: "off", what: "value" }, "layer 5 of one network is not layer 5 of another");
});

test("the same picture in another model keeps the locked patch, not the layer", () => {
  const largeTrace = { ...TABBY_TRACE, model: "large", opens: {} };
  assert.deepEqual(viewFor(largeTrace, TABBY_TRACE, VIEW), { query: "1,2", locked: true, scale: "off", what: "value" });
});

// ------------------------------------------------------------------------------------------------------------- advice

const OURS = { model: "bundled", title: "our small ViT" };
const DINO = { model: "dino", title: "DINOv2 S/14" };
const REAL_MODEL = { ...DINO, here: true, may_fetch: false };

test("where the app chose another model it says so, and offers the former one", () => {
  const firstAdvice = adviceFor(OURS, "drawing", { chose: false }, DINO, REAL_MODEL);
  const sentence = "a drawing: shown in our small ViT";
  assert.deepEqual(firstAdvice, { says: sentence, model: "dino", label: "use DINOv2 S/14" });
  const advice = adviceFor(OURS, "photograph", { chose: false }, DINO, { ...REAL_MODEL, here: false, megabytes: 24 });
  assert.equal(advice.label, "use DINOv2 S/14 (24 MB, once)", "what it costs is said before");
  const reverseAdvice = adviceFor(DINO, "photograph", { chose: false }, OURS, REAL_MODEL);
  assert.deepEqual(reverseAdvice, {
    says: "a photograph: shown in DINOv2 S/14",
    model: "bundled",
    label: "use our small ViT",
  });
});

test("where the person chose the model, or it is the same, nothing is said", () => {
  assert.equal(adviceFor(OURS, "drawing", { chose: true }, DINO, REAL_MODEL), null);
  assert.equal(adviceFor(OURS, "drawing", { chose: false }, OURS, REAL_MODEL), null);
  assert.equal(adviceFor(DINO, "photograph", { chose: false }, null, REAL_MODEL), null);
});

test("a photograph in our small model is offered the model that knows photographs", () => {
  const expected = { says: "This small model knows drawings best.", model: "dino", label: "See it with DINOv2 S/14" };
  assert.deepEqual(adviceFor(OURS, "photograph", { chose: true }, DINO, REAL_MODEL), expected);
  assert.equal(adviceFor(OURS, "photograph", { chose: true }, null, null), null, "unless there is none");
});

test("the model that knows photographs is offered where it may be fetched, and only there", () => {
  const advice = (realModel) => adviceFor(OURS, "drawing", { chose: true }, null, realModel)?.label;
  assert.equal(advice({ ...REAL_MODEL, here: false, may_fetch: true }), "fetch DINOv2 S/14");
  assert.equal(
    advice({ ...REAL_MODEL, here: false, may_fetch: true, megabytes: 24 }),
    "fetch DINOv2 S/14 (24 MB, once)",
  );
  assert.equal(advice({ ...REAL_MODEL, here: false }), undefined);
  assert.equal(advice({ ...REAL_MODEL, may_fetch: true }), undefined, "it is here");
});
