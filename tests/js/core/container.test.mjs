import assert from "node:assert/strict";
import { test } from "node:test";

import { toContainer } from "../../../playground/microscope/core/container.js";
import { openContainer } from "../../../playground/microscope/core/core.js";

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
