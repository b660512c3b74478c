import assert from "node:assert/strict";
import { test } from "node:test";
import { toContainer } from "../../../playground/microscope/core/container.js";
import {
  arrowsOf,
  cancelling,
  moveOf,
  openInside,
  queryNumberOf,
  seenInTwo,
} from "../../../playground/microscope/core/inside.js";

const close = (a, b, within = 1e-6) => assert.ok(Math.abs(a - b) < within, `${a} is not ${b}`);

test("the record's arrays come as numbers", () => {
  const bytes = toContainer({ bias: 0.5, number: 3 }, { reads: [new Uint16Array([0x3c00, 0xc000]), [2]] });
  assert.deepEqual(openInside(bytes), { bias: 0.5, number: 3, reads: new Float32Array([1, -2]) });
});

test("the products of a query's number add up to it, the largest first", () => {
  const { largest, sum, count } = queryNumberOf({ normed: [1, 2, -3], reads: [0.5, 0.1, 1], bias: 0.25 }, 2);
  assert.deepEqual(
    largest.map(({ at, product }) => [at, product]),
    [
      [2, -3],
      [0, 0.5],
    ],
  ); // prettier-ignore
  close(sum, 0.5 + 0.2 - 3 + 0.25);
  assert.equal(count, 3);
});

test("values in a plane are held whole by their two largest directions, with their lengths and angles", () => {
  // three values in the plane of (1, 1, 0)/√2 and (0, 0, 1)
  const values = new Float32Array([3, 3, 0, 1, 1, 2, 0, 0, -1]);
  const { places, held } = seenInTwo(values, 3);
  close(held, 1);
  for (let i = 0; i < 3; i++)
    for (let j = 0; j < 3; j++) {
      const dot = (a, b) => a.reduce((sum, x, n) => sum + x * b[n], 0);
      const row = (n) => [...values.subarray(3 * n, 3 * n + 3)];
      close(dot(places[i], places[j]), dot(row(i), row(j)), 1e-5);
    }
});

test("a third direction counts as not held", () => {
  close(seenInTwo(new Float32Array([3, 0, 0, 0, 2, 0, 0, 0, 1]), 3).held, 13 / 14);
});

test("the arrows end at the mixture", () => {
  const [row, places] = [
    [0.5, 0.1, 0.4],
    [
      [2, 0],
      [0, 10],
      [0, -5],
    ],
  ]; // prettier-ignore
  const arrows = arrowsOf(row, places, 2);
  assert.deepEqual(
    arrows.map(({ token }) => token),
    [0, 2, -1],
  );
  close(arrows.at(-1).to[0], 1);
  close(arrows.at(-1).to[1], -1);
  close(arrows.at(-1).share, 0.1);
});

test("the move says lengths as shares, the angle, and the token that became most alike", () => {
  const seen = { entering: [2, 0], leaving: [0, 3], head: [0, 1], attention: [0, 4] };
  const move = moveOf({ ...seen, before: [1, 0.9, 0.1], after: [1, 0.8, 0.6] }, 0);
  close(move.byHead, 0.5);
  close(move.byAttention, 2);
  close(move.angle, 90);
  assert.deepEqual(move.nearer, { token: 2, before: 0.1, after: 0.6 });
});

test("the products of a random query of the same length cancel, those of a query like the key do not", () => {
  const k = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i + 1));
  const [own, random] = cancelling(k, k);
  close(own.left, 1);
  assert.ok(random.left < 0.5, `${random.left} is left`);
  const length = (x) => Math.hypot(...x);
  close(length(random.products.map((x, i) => x / k[i])), length(k), 1e-4);
});
