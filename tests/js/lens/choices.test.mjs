import assert from "node:assert/strict";
import { test } from "node:test";

import { valueOfButton } from "../../../playground/microscope/lens/controls.js";
import { mounted } from "./mounted.mjs";

test("a button stands for a word, a number, or yes and no", () => {
  const of = (value) => valueOfButton({ dataset: { value } });
  assert.deepEqual(["true", "false", "5", "wall", ""].map(of), [true, false, 5, "wall", ""]);
});

test("the buttons show what the view says, whoever changed it", async () => {
  const there = await mounted({ view: { layer: 1 } });
  const pressed = (choice) =>
    [...there.root.querySelectorAll(`[data-choice="${choice}"] [aria-pressed="true"]`)].map((one) => one.dataset.value);
  assert.deepEqual([pressed("what"), pressed("direction"), pressed("beside")], [["weight"], ["row"], ["convolution"]]);
  there.lens.update({ view: { layer: 2, what: "value", direction: "column", beside: "wall" } });
  assert.deepEqual([pressed("what"), pressed("direction"), pressed("beside")], [["value"], ["column"], ["wall"]]);
  assert.deepEqual([there.part("layer").value, there.part("layer").max], ["2", "3"]);
});

test("what has no share to be lit is drawn as heat, and the choice says so", async () => {
  const there = await mounted({ view: { layer: 1, draw: "light", what: "score" } });
  const button = (value) => there.find(`[data-choice="draw"] [data-value="${value}"]`);
  assert.ok(button("light").disabled);
  assert.equal(button("heat").getAttribute("aria-pressed"), "true");
  there.lens.update({ view: { layer: 1, draw: "light", what: "weight" } });
  assert.equal(button("light").disabled, false);
  assert.equal(button("light").getAttribute("aria-pressed"), "true");
});

test("only what the source can answer is offered", async () => {
  const offered = async (host) => {
    const there = await mounted({ pack: { held: [1] }, view: { layer: 1 }, host });
    const visible = (element) => !element.hidden;
    const asks = [...there.root.querySelectorAll("[data-ask]")].filter(visible).map((one) => one.dataset.ask);
    return { asks: new Set(asks), wall: visible(there.part("wallTab")), layers: !there.part("layer").disabled };
  };
  const some = await offered({ offers: ["features", "layers"], compare: () => {} });
  assert.ok(some.asks.has("features") && some.wall && some.layers);
  assert.ok(!some.asks.has("rollout"));
  assert.deepEqual(await offered({ offers: [] }), { asks: new Set(), wall: false, layers: false });
});

test("each head and each special token has its button, by the model's numbers and names", async () => {
  const there = await mounted({ pack: { prefix: ["cls", "reg0"], head_numbers: [0, 2, 5] } });
  const texts = (selector) => [...there.root.querySelectorAll(selector)].map((one) => one.textContent);
  assert.deepEqual(texts("[data-head] b"), ["0", "2", "5"]);
  assert.deepEqual(texts("[data-token]"), ["CLS", "reg0"]);
  assert.deepEqual(texts('[data-ref="shares"] dt'), ["CLS", "reg0"]);
});

test("what most people do not need is behind More", async () => {
  const there = await mounted();
  assert.equal(there.root.classList.contains("more"), false);
  there.click(there.part("more"));
  assert.ok(there.root.classList.contains("more"));
  assert.deepEqual([there.words("more"), there.part("more").getAttribute("aria-expanded")], ["Less", "true"]);
});
