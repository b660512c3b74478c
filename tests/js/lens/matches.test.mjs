import assert from "node:assert/strict";
import { test } from "node:test";

import { latestRequest, passTime } from "./alens.mjs";
import { draw, mountLens, setReducedMotion } from "./mounted.mjs";

const GRID = { grid: [2, 3], prefix: ["cls"] };
const VIEW = { layer: 1, head: 1, query: "1,1", beside: "compare" };
const TOKENS = 7;

// Features in which token i points in the direction order[i], so that tokens with equal directions match.
function features(order) {
  const values = new Float32Array(TOKENS * TOKENS);
  order.forEach((similarToken, token) => (values[token * TOKENS + similarToken] = 1));
  return values;
}

async function mountComparison({ view = {}, otherOrder = [0, 6, 5, 4, 3, 2, 1] } = {}) {
  setReducedMotion(true);
  const microscope = await mountLens({ pack: GRID, view: { ...VIEW, ...view }, other: "dog" });
  await passTime(200);
  for (const [id, order] of [
    ["cat", [0, 1, 2, 3, 4, 5, 6]],
    ["dog", otherOrder],
  ]) {
    latestRequest(microscope.source, `features ${id}`).answer(features(order));
    await passTime(200);
  }
  draw();
  return microscope;
}

const matchWords = (microscope) => microscope.find(".match-words span").textContent;

test("where there is no match a sentence says so, and no line is drawn", async () => {
  const microscope = await mountComparison({ otherOrder: [0, 1, 1, 1, 1, 1, 1] });
  assert.match(
    matchWords(microscope),
    /^No match in the other picture: the most similar patch there, row \d, column \d, is more similar to another/,
  );
  assert.ok(microscope.find(".match-line").hidden);
});
