import assert from "node:assert/strict";
import { test } from "node:test";
import { receive } from "../../../playground/microscope/lens/asking.js";
import { rowBeside } from "../../../playground/microscope/lens/beside.js";
import { resolve } from "../../../playground/microscope/lens/state.js";
import { packOf } from "../packs.mjs";
import { aLens, aTrace } from "./alens.mjs";

test("the compared picture is asked at the same place, at the same height, with the scale turned as far", () => {
  const { lens } = aLens({ pack: { grid: [2, 3] }, view: { layer: 3, head: 2, query: "1,2", scale: 0.25 } });
  const { choice, data } = lens;
  data.other = receive(data, aTrace("dog"), packOf({ layers: 8, held: [7], heads: 2, grid: [4, 6], prefix: [] }));
  resolve(lens);
  const { token, layer, head, values } = rowBeside(lens);
  assert.deepEqual([layer, head, values.length], [7, 1, 24]);
  assert.deepEqual([Math.floor(token / 6) >= 2, token % 6 >= 4], [true, true], `${token}`);
  choice.view = { ...choice.view, query: "cls" };
  resolve(lens);
  assert.deepEqual(rowBeside(lens).values, null, "it has no such token");
});
