import assert from "node:assert/strict";
import { test } from "node:test";

import {
  answerLayer,
  createAnswers,
  pictureDomain,
  sharedDomain,
} from "../../../playground/microscope/core/answers.js";
import { niceNumber, ownDomain, paintInto } from "../../../playground/microscope/core/colours.js";
import { unpack } from "../../../playground/microscope/core/core.js";
import { fixture } from "../support.mjs";

const pack = unpack(fixture().bytes);

test("round numbers are 1, 2 or 5 times a power of ten", () => {
  assert.deepEqual([0.013, 0.02, 0.04, 0.9, 7].map(niceNumber), [0.01, 0.02, 0.05, 1, 5]);
});

test("the heads of a layer share one exposure or have one each, and a held exposure is the same for all", () => {
  const answers = createAnswers(pack);
  answerLayer(answers, 1, 3, pack.scale, "weight", "row");
  const layerDomain = sharedDomain(answers, 1, pack.scale, "weight", "auto");
  const headDomains = [0, 1, 2].map((head) =>
    pictureDomain(answers.values, head * pack.tokens, pack, "weight", "auto"),
  );
  assert.equal(new Set(headDomains.map(({ high }) => high)).size, 3);
  assert.ok(
    headDomains.some(({ high }) => high <= layerDomain.high) &&
      headDomains.some(({ high }) => high >= layerDomain.high),
  );
  for (const domain of [
    sharedDomain(answers, 1, pack.scale, "weight", 0.05),
    pictureDomain(answers.values, 0, pack, "weight", 0.05),
  ])
    assert.deepEqual(domain, { low: 0, high: 0.05 });
  assert.ok(sharedDomain(answers, 1, 0, "score", "auto").high > 0);
});

test("painting puts each value's colour in its place", () => {
  const palette = Uint32Array.from({ length: 256 }, (_, i) => 0xff000000 + i);
  const domain = { low: 0, high: 1 };
  const pixels = new Uint32Array(12);
  paintInto(pixels, 5, 4, Float32Array.from([9, 0, 1, 2, 0.5]), 1, 2, 2, palette, domain);
  assert.deepEqual([...pixels], [0, 0, 0, 0, 0, palette[0], palette[255], 0, 0, palette[255], palette[128], 0]);
  assert.deepEqual(ownDomain(Float32Array.from([9, -1, 0.25]), 1, 3, false), { low: 0, high: 0.25 });
});
