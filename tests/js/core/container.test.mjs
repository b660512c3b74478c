import assert from "node:assert/strict";
import { test } from "node:test";

import { toContainer, toHalves } from "../../../playground/microscope/core/container.js";
import { decodeHalves, openContainer } from "../../../playground/microscope/core/core.js";

test("what is written is what is read, each array at a multiple of 16 bytes", () => {
  const [floats, bits] = [Float32Array.of(1, -2.5, 3), Uint16Array.of(1, 2, 3, 4, 5)];
  const bytes = toContainer({ title: "ünï" }, { some: [floats, [3]], bits: [bits, [5, 1]] });
  const { header, section } = openContainer(bytes);
  assert.equal(header.title, "ünï");
  assert.deepEqual(section("some"), floats);
  assert.deepEqual(section("bits"), bits);
  assert.equal(header.sections.bits.offset % 16, 0);
  assert.equal((bytes.length - header.sections.bits.offset - 16) % 16, 0);
});

test("numbers in between go to the nearer one, to the even one of two, and no further than the largest", () => {
  const table = decodeHalves(Uint16Array.from({ length: 0x7c00 }, (_, i) => i));
  for (const code of [0, 1, 5, 0x3ff, 0x400, 0x401, 0x3c00, 0x5555, 0x7bfe]) {
    const [low, high] = [table[code], table[code + 1]];
    const evenCode = code % 2 ? code + 1 : code;
    const floats = [low + 0.4 * (high - low), low + 0.6 * (high - low), (low + high) / 2, -(low + high) / 2];
    assert.deepEqual([...toHalves(floats)], [code, code + 1, evenCode, evenCode | 0x8000], `at ${code}`);
  }
  assert.deepEqual([...toHalves([1e6, -1e6, 65519, 1e-12])], [0x7bff, 0xfbff, 0x7bff, 0]);
});
