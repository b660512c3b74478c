// Tests packs that hold only some heads of a layer: the head on view arrives before the others.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  answerCell,
  answerLayer,
  createAnswers,
  prepareColumns,
  sharedDomain,
} from "../../../playground/microscope/core/answers.js";
import { layerOf, mergePack, unpack } from "../../../playground/microscope/core/core.js";
import { packOf } from "../packs.mjs";

const allHeads = unpack(packOf({ held: [0, 1] }));
const SCALE = allHeads.scale;
const headSize = allHeads.tokens * allHeads.dim;
const headPart = (values, head, count) => [...values.subarray(head * count, (head + 1) * count)];
const assertSame = (a, b, label) => assert.deepEqual([...a], [...b], label);

test("in a pack of some heads each head stands where it stands among all", () => {
  for (const heldHeads of [[2], [0, 2], [2, 0]]) {
    const pack = unpack(packOf({ held: [0, 1], some: heldHeads }));
    for (const layer of [0, 1]) {
      for (const head of heldHeads) {
        const [someLayer, fullLayer] = [layerOf(pack, layer), layerOf(allHeads, layer)];
        assertSame(
          headPart(someLayer.q, head, headSize),
          headPart(fullLayer.q, head, headSize),
          `q of ${layer}.${head} of ${heldHeads}`,
        );
        assertSame(
          headPart(someLayer.k, head, headSize),
          headPart(fullLayer.k, head, headSize),
          `k of ${layer}.${head} of ${heldHeads}`,
        );
        const norms = headPart(fullLayer.norms, head, pack.tokens);
        assertSame(headPart(someLayer.norms, head, pack.tokens), norms, `norms of ${layer}.${head} of ${heldHeads}`);
      }
    }
  }
});

test("in a pack of some heads eight bits decode as in a pack of all", () => {
  const fullPack = unpack(packOf({ held: [0, 1], eightBits: true }));
  const pack = unpack(packOf({ held: [0, 1], some: [2, 1], eightBits: true }));
  for (const layer of [0, 1]) {
    for (const head of [1, 2]) {
      for (const name of ["q", "k"])
        assertSame(
          headPart(layerOf(pack, layer)[name], head, headSize),
          headPart(layerOf(fullPack, layer)[name], head, headSize),
          `${name} of ${layer}.${head}`,
        );
    }
  }
});

test("a head that is not here answers with nothing, whatever stood there before; the others answer as ever", () => {
  const pack = unpack(packOf({ held: [0, 1] }));
  mergePack(pack, unpack(packOf({ held: [2], some: [1] })));
  const answers = createAnswers(pack);
  const expected = createAnswers(unpack(packOf({ held: [2] })));
  const { tokens } = pack;
  for (const way of ["weight", "value", "score"]) {
    answerLayer(answers, 1, 3, SCALE, way, "row"); // leaves another layer's numbers, which the next call must overwrite
    assert.equal(answerLayer(answers, 2, 3, SCALE, way, "row"), true);
    answerLayer(expected, 2, 3, SCALE, way, "row");
    assert.deepEqual([...answers.ready], [0, 1, 0], way);
    for (const head of [0, 1, 2]) {
      for (const kind of ["values", "weights"]) {
        const expectedPart = head === 1 ? headPart(expected[kind], 1, tokens) : new Array(tokens).fill(0);
        assertSame(headPart(answers[kind], head, tokens), expectedPart, `${kind} of ${way} of head ${head}`);
      }
    }
  }
  assert.equal(answerCell(answers, 2, 0, 3, SCALE, "weight", "row"), null);
  assertSame(
    answerCell(answers, 2, 1, 3, SCALE, "weight", "row"),
    headPart(expected.weights, 1, tokens),
    "the wall's cell",
  );
  assert.equal(answerCell(answers, 3, 0, 3, SCALE, "weight", "row"), null, "a layer that is not here");
});

test("the sums of heads that are not here are not waited for, and are computed when the heads come", () => {
  const pack = unpack(packOf({ some: [2] }));
  const answers = createAnswers(pack);
  assert.equal(prepareColumns(answers, [0, 3], 1, SCALE, 1000), 1, "all that can be done is done");
  answerLayer(answers, 0, 2, SCALE, "weight", "column");
  assert.deepEqual([...answers.ready], [0, 0, 1]);
  mergePack(pack, unpack(packOf()));
  answerLayer(answers, 0, 2, SCALE, "weight", "column");
  assert.deepEqual([...answers.ready], [0, 0, 1], "the others have no sums yet");
  assert.deepEqual([...answers.weights.subarray(0, 2 * pack.tokens)], new Array(2 * pack.tokens).fill(0));
  assert.equal(answerCell(answers, 0, 0, 2, SCALE, "weight", "column"), null);
  for (const way of ["weight", "value"]) {
    answerLayer(answers, 0, 2, SCALE, way, "row"); // leaves a row's numbers, which the next call must overwrite
    answerLayer(answers, 0, 2, SCALE, way, "column");
    for (const values of [answers.weights, answers.values])
      assert.deepEqual([...values.subarray(0, 2 * pack.tokens)], new Array(2 * pack.tokens).fill(0), way);
  }
  assert.equal(prepareColumns(answers, [0], 1, SCALE, 1000), 1);
  answerLayer(answers, 0, 2, SCALE, "weight", "column");
  assert.deepEqual([...answers.ready], [1, 1, 1]);
  assert.equal(prepareColumns(createAnswers(pack), [0], 1, SCALE, -1), 0, "without time nothing is done");
});

test("rows and columns of raw scores agree on each pair, and no weights stand where sums are missing", () => {
  const [rows, columns] = [createAnswers(allHeads), createAnswers(allHeads)];
  answerLayer(rows, 0, 2, 1, "score", "row");
  answerLayer(columns, 0, 5, 1, "score", "column");
  for (const head of [0, 1, 2]) {
    const start = head * allHeads.tokens;
    assert.equal(rows.values[start + 5], columns.values[start + 2], "token 2 asks token 5");
    assertSame(
      answerCell(rows, 0, head, 2, 1, "score", "row"),
      headPart(rows.values, head, allHeads.tokens),
      "the wall's cell",
    );
    const column = headPart(columns.values, head, allHeads.tokens);
    assertSame(answerCell(columns, 0, head, 5, 1, "score", "column"), column, "a column of the wall");
  }
  assert.ok(columns.weights.every((weight) => weight === 0));
});

test("the colours of raw scores wait until all heads are here, then all heads share them", () => {
  const pack = unpack(packOf({ some: [1] }));
  const answers = createAnswers(pack);
  answerLayer(answers, 0, 1, 1, "score", "row");
  const domain = () => sharedDomain(answers, 0, 1, "score", "auto");
  assert.deepEqual(domain(), { low: -1, high: 1 });
  mergePack(pack, unpack(packOf()));
  const sharedRange = { ...domain(), high: Math.fround(domain().high) };
  let [low, high] = [Infinity, -Infinity];
  for (let token = 0; token < pack.tokens; token++) {
    answerLayer(answers, 0, token, 1, "score", "row");
    low = Math.min(low, ...answers.values);
    high = Math.max(high, ...answers.values);
  }
  assert.deepEqual(sharedRange, { low, high });
});
