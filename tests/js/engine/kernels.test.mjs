import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { createTensors } from "../../../playground/microscope/engine/tensors.js";
import { MICROSCOPE, toHalves } from "../support.mjs";

const makeTensors = () =>
  createTensors(new WebAssembly.Module(readFileSync(join(MICROSCOPE, "engine", "kernels.wasm"))));

test("the kernels' float16 numbers are JavaScript's, for numbers of every size", async () => {
  const t = await makeTensors();
  const bits = Uint32Array.from({ length: 2 ** 18 + 3 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 0);
  const finiteBits = bits.filter((bitPattern) => (bitPattern & 0x7f800000) !== 0x7f800000);
  const floats = new Float32Array(finiteBits.buffer);
  const extremes = Float32Array.from([0, -0, 1e6, -1e6, 65504, 65519, 65520, 2 ** -24, 2 ** -25, 3 * 2 ** -25, 1e-12]);
  assert.deepEqual(t.toHalves(extremes), toHalves(extremes));
  const [halves, expectedHalves] = [t.toHalves(floats), toHalves(floats)];
  assert.equal(
    floats.findIndex((_, i) => halves[i] !== expectedHalves[i]),
    -1,
  );
});

test("the memory that a picture takes of the kernels is given back", async () => {
  const t = await makeTensors();
  const { createResizer } = await import("../../../playground/microscope/engine/images.js");
  const topBefore = t.mark();
  const resizer = createResizer(t, 50, 40, 20, 30);
  resizer.band(new Uint8ClampedArray(50 * 40 * 4).fill(200));
  assert.ok(resizer.end().every((byte) => byte === 200));
  assert.equal(t.mark(), topBefore);
});
