import assert from "node:assert/strict";
import { test } from "node:test";

import { mountLens } from "./mounted.mjs";

test("the buttons show what the view says, whoever changed it", async () => {
  const microscope = await mountLens({ view: { layer: 1 } });
  const pressedValues = (choice) =>
    [...microscope.root.querySelectorAll(`[data-choice="${choice}"] [aria-pressed="true"]`)].map(
      (item) => item.dataset.value,
    );
  assert.deepEqual(
    [pressedValues("what"), pressedValues("direction"), pressedValues("beside")],
    [["weight"], ["row"], ["convolution"]],
  );
  microscope.lens.update({ view: { layer: 2, what: "value", direction: "column", beside: "wall" } });
  assert.deepEqual(
    [pressedValues("what"), pressedValues("direction"), pressedValues("beside")],
    [["value"], ["column"], ["wall"]],
  );
  assert.deepEqual([microscope.part("layer").value, microscope.part("layer").max], ["2", "3"]);
});

test("only what the source can answer is offered", async () => {
  const offeredParts = async (host) => {
    const microscope = await mountLens({ pack: { held: [1] }, view: { layer: 1 }, host });
    const isVisible = (element) => !element.hidden;
    const visibleRequests = [...microscope.root.querySelectorAll("[data-ask]")]
      .filter(isVisible)
      .map((item) => item.dataset.ask);
    return {
      asks: new Set(visibleRequests),
      wall: isVisible(microscope.part("wallTab")),
      layers: !microscope.part("layer").disabled,
    };
  };
  const someParts = await offeredParts({ offers: ["features", "layers"], compare: () => {} });
  assert.ok(someParts.asks.has("features") && someParts.wall && someParts.layers);
  assert.ok(!someParts.asks.has("rollout"));
  assert.deepEqual(await offeredParts({ offers: [] }), { asks: new Set(), wall: false, layers: false });
});
