import assert from "node:assert/strict";
import { test } from "node:test";

import { answerCell, answerLayer, createAnswers, prepareColumns } from "../../../playground/microscope/core/answers.js";
import { unpack } from "../../../playground/microscope/core/core.js";
import { fixture } from "../support.mjs";

const { bytes, cases } = fixture();
const pack = unpack(bytes);
const assertNear = (a, b, tolerance = 1e-6) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

test("a layer answers with rows for all heads", () => {
  const answers = createAnswers(pack);
  for (const { layer, head, token, scale, row, entropy } of cases) {
    assert.ok(answerLayer(answers, layer, token, scale, "weight", "row"));
    row.forEach((x, j) => assertNear(answers.weights[head * pack.tokens + j], x));
    assertNear(answers.entropies[head], entropy);
  }
  assert.equal(answerLayer(answers, 0, 0, 1, "weight", "row"), false);
});

test("one head alone answers as it does among all heads", () => {
  const [among, alone] = [createAnswers(pack), createAnswers(pack)];
  for (const { layer, head, token, scale } of cases) {
    alone.weights.fill(-1);
    answerLayer(among, layer, token, scale, "weight", "row");
    answerLayer(alone, layer, token, scale, "weight", "row", head);
    alone.weights.forEach((weight, j) => {
      const isOfHead = Math.floor(j / pack.tokens) === head;
      assert.equal(weight, isOfHead ? among.weights[j] : -1, `token ${j % pack.tokens} of head ${head}`);
    });
  }
});

test("a column is ready once the sums of its rows are computed, also after the scale has changed", () => {
  const answers = createAnswers(pack);
  for (const { layer, head, token, scale, column } of cases) {
    answerLayer(answers, layer, token, scale, "weight", "column");
    while (prepareColumns(answers, [layer], head, scale, 5) < 1);
    answerLayer(answers, layer, token, scale, "weight", "column");
    assert.equal(answers.ready[head], 1);
    column.forEach((x, i) => assertNear(answers.weights[head * pack.tokens + i], x, 2e-6));
    const cell = answerCell(answers, layer, head, token, scale, "weight", "column");
    column.forEach((x, i) => assertNear(cell[i], x, 2e-6));
  }
});

test("raw scores and value weights stand in answers.values, while answers.weights stays what it is", () => {
  const answers = createAnswers(pack);
  for (const { layer, head, token, scale, row, scores, weighted } of cases) {
    const start = head * pack.tokens;
    answerLayer(answers, layer, token, scale, "score", "row");
    scores.forEach((x, j) => assertNear(answers.values[start + j], x, 1e-5 * Math.max(1, Math.abs(x))));
    row.forEach((x, j) => assertNear(answers.weights[start + j], x));
    answerLayer(answers, layer, token, scale, "value", "row");
    weighted.forEach((x, j) => assertNear(answers.values[start + j], x));
  }
});
