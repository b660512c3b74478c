import assert from "node:assert/strict";
import { test } from "node:test";

import {
  answerLayer,
  createAnswers,
  pictureDomain,
  sharedDomain,
} from "../../../playground/microscope/core/answers.js";
import { unpack } from "../../../playground/microscope/core/core.js";
import { fixture } from "../support.mjs";

const pack = unpack(fixture().bytes);

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
