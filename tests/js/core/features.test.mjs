import assert from "node:assert/strict";
import { test } from "node:test";

import * as features from "../../../playground/microscope/core/features.js";

// 40 tokens of 12 numbers, the first of them a prefix token; nearly all variance lies in three directions.
function randomTokens(seed) {
  let state = seed;
  const random = () => {
    state = (1103515245 * state + 12345) % 2147483648;
    return state / 2147483648 - 0.5;
  };
  const values = new Float32Array(40 * 12);
  for (let j = 0; j < 40; j++) {
    const parts = [3 * random(), 2 * random(), random()];
    for (let x = 0; x < 12; x++) values[12 * j + x] = (x < 3 ? parts[x] : 0) + (x === 11 ? 4 : 0.01 * random());
  }
  return features.makeFeatures(values, 40, 12, 1);
}

test("similarity is the cosine, of a token with itself 1, and the same both ways", () => {
  const a = randomTokens(1),
    b = randomTokens(2);
  const row = features.similarityInto(new Float32Array(40), a, 7);
  assert.ok(Math.abs(row[7] - 1) < 1e-6);
  for (let j = 0; j < 40; j++) {
    let dot = 0,
      tokenSquares = 0,
      otherSquares = 0;
    for (let x = 0; x < 12; x++) {
      dot += a.raw[7 * 12 + x] * a.raw[j * 12 + x];
      tokenSquares += a.raw[7 * 12 + x] ** 2;
      otherSquares += a.raw[j * 12 + x] ** 2;
    }
    assert.ok(Math.abs(row[j] - dot / Math.sqrt(tokenSquares * otherSquares)) < 1e-5, `token ${j}: ${row[j]}`);
  }
  const forward = features.similarityInto(new Float32Array(40), b, 7, a);
  const backward = features.similarityInto(new Float32Array(40), a, 3, b);
  assert.ok(Math.abs(forward[3] - backward[7]) < 1e-6);
});

test("principal directions are orthonormal, and the first carries the most", () => {
  const a = randomTokens(3);
  const { directions, mean } = features.principalComponents([a]);
  const dot = (u, v) => u.reduce((sum, x, i) => sum + x * v[i], 0);
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) assert.ok(Math.abs(dot(directions[i], directions[j]) - (i === j ? 1 : 0)) < 1e-6);
  }
  const variances = directions.map((direction) => {
    let sum = 0;
    for (let j = 1; j < 40; j++) {
      let projection = 0;
      for (let x = 0; x < 12; x++) projection += (a.unit[12 * j + x] - mean[x]) * direction[x];
      sum += projection ** 2;
    }
    return sum;
  });
  assert.ok(variances[0] > variances[1] && variances[1] > variances[2], String(variances));
  let totalVariance = 0;
  for (let j = 1; j < 40; j++) for (let x = 0; x < 12; x++) totalVariance += (a.unit[12 * j + x] - mean[x]) ** 2;
  assert.ok(variances.reduce((x, y) => x + y) > 0.99 * totalVariance, "three directions carry nearly everything here");
});

test("two pictures share their components: the same features have the same colour in both", () => {
  const a = randomTokens(4),
    b = randomTokens(5);
  b.raw.copyWithin(0, 0);
  const mixedFeatures = features.makeFeatures(
    Float32Array.from([...a.raw.slice(0, 20 * 12), ...b.raw.slice(20 * 12)]),
    40,
    12,
    1,
  );
  const components = features.principalComponents([a, mixedFeatures]);
  const [first, second] = [a, mixedFeatures].map((pictureFeatures) =>
    features.componentPixels(pictureFeatures, components),
  );
  assert.deepEqual([...first.slice(0, 19)], [...second.slice(0, 19)]);
  assert.notDeepEqual([...first], [...second]);
});

test("the norm of each token is the length of its vector", () => {
  const a = features.makeFeatures(Float32Array.from([3, 4, 0, 0, 0, 0]), 3, 2, 0);
  assert.deepEqual([...a.norms], [5, 0, 0]);
  assert.deepEqual([...a.unit.slice(2)], [0, 0, 0, 0]);
});
