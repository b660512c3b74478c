import assert from "node:assert/strict";
import { test } from "node:test";

import { openSafetensors, WrongFile } from "../../../playground/microscope/weights/safetensors.js";

const F32 = (shape, ...data_offsets) => ({ dtype: "F32", shape, data_offsets });

// A file with this header and `data`; `length` is the length that the file claims for the header.
function fileOf(header, { data = new Uint8Array(16), length } = {}) {
  const text = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const lengthBytes = new BigUint64Array([BigInt(length ?? text.length)]);
  return new Blob([lengthBytes, text, data]);
}

const open = (...args) => openSafetensors(fileOf(...args), "mine.safetensors");

async function refusalOf(file) {
  const error = await openSafetensors(file, "mine.safetensors").then(
    () => assert.fail("it was opened"),
    (rejection) => rejection,
  );
  assert.ok(error instanceof WrongFile, error.stack);
  assert.match(error.message, /^mine\.safetensors is .*\.$/);
  return error.message;
}

test("a tensor is read when it is asked for, and no other byte", async () => {
  const file = fileOf(
    { __metadata__: { name: "x" }, a: F32([2], 0, 8), b: F32([1, 2], 8, 16) },
    {
      data: new Float32Array([1, 2, 3, 4]),
    },
  );
  const sliceSizes = [];
  const { slice } = file;
  file.slice = (from, to) => [sliceSizes.push(to - from), slice.call(file, from, to)][1];
  const { metadata, tensors } = await openSafetensors(file, "mine.safetensors");
  assert.deepEqual(metadata, { name: "x" });
  assert.deepEqual([...tensors.keys()], ["a", "b"]);
  sliceSizes.length = 0;
  assert.deepEqual([...(await tensors.get("b").read())], [3, 4]);
  assert.deepEqual(sliceSizes, [8]);
});

test("numbers of every kind become float32", async () => {
  const kinds = {
    F64: new Float64Array([1.5, -2]),
    F16: new Uint16Array([0x3e00, 0xc000]),
    BF16: new Uint16Array([0x3fc0, 0xc000]),
    I64: new BigInt64Array([3n, -2n]),
    U8: new Uint8Array([3, 254]),
    BOOL: new Uint8Array([1, 0]),
  };
  for (const [dtype, data] of Object.entries(kinds)) {
    const { tensors } = await open({ a: { dtype, shape: [2], data_offsets: [0, data.byteLength] } }, { data });
    const [first, second] = await tensors.get("a").read();
    const expected = { I64: [3, -2], U8: [3, 254], BOOL: [1, 0] }[dtype] ?? [1.5, -2];
    assert.deepEqual([first, second], expected, dtype);
  }
});

test("a header of a gigabyte is not read", async () => {
  const file = fileOf({}, { length: 2 ** 30 });
  const sliceEnds = [];
  const { slice } = file;
  file.slice = (from, to) => [sliceEnds.push(to), slice.call(file, from, to)][1];
  assert.match(await refusalOf(file), /does not begin with the header of one/);
  assert.deepEqual(sliceEnds, [8]);
});

const HOSTILE_FILES = {
  "nothing at all": [new Blob([]), /shorter than the header/],
  noise: [new Blob([new Uint8Array(100).fill(255)]), /does not begin with the header/],
  "half a header": [fileOf({}, { length: 1000 }), /cut off in its header/],
  "no JSON": [fileOf("{x"), /JSON/],
  "bytes that are no text": [new Blob([new BigUint64Array([4n]), new Uint8Array(4).fill(0xff)]), /safetensors file/],
  "a list": [fileOf("[]"), /no list/],
  null: [fileOf("null"), /no list/],
  "ten thousand brackets": [fileOf("[".repeat(100_000)), /safetensors file/],
  "offsets that overlap": [fileOf({ a: F32([2], 0, 8), b: F32([3], 4, 16) }), /b does not begin where/],
  "the same bytes twice": [fileOf({ a: F32([4], 0, 16), b: F32([4], 0, 16) }), /does not begin where/],
  "a hole": [fileOf({ a: F32([1], 0, 4), b: F32([2], 8, 16) }), /b does not begin where/],
  "offsets beyond the file": [fileOf({ a: F32([40], 0, 160) }), /claims 160/],
  "data that nobody claims": [fileOf({ a: F32([1], 0, 4) }), /claims 4/],
  "offsets backwards": [fileOf({ a: F32([2], 16, 8) }), /lies at \[16,8\]/],
  "offsets below nothing": [fileOf({ a: F32([4], -16, 0) }), /lies at \[-16,0\]/],
  "offsets that are no numbers": [fileOf({ a: { dtype: "F32", shape: [4], data_offsets: "0:16" } }), /lies at "0:16"/],
  "no offsets": [fileOf({ a: { dtype: "F32", shape: [4] } }), /lies at undefined/],
  "a shape that overflows": [fileOf({ a: F32([2 ** 40, 2 ** 40, 2 ** 40], 0, 16) }), /a has 16 bytes for the shape/],
  "a shape that wraps around to nothing": [fileOf({ a: F32([2 ** 32, 2 ** 32, 4], 0, 16) }), /a has 16 bytes/],
  "a side below nothing": [fileOf({ a: F32([-2, -2], 0, 16) }), /of the shape \[-2,-2\]/],
  "half a side": [fileOf({ a: F32([0.5, 8], 0, 16) }), /of the shape/],
  "a hundred sides": [fileOf({ a: F32(Array(100).fill(1), 0, 4) }), /of the shape/],
  "a kind of its own": [fileOf({ a: { ...F32([4], 0, 16), dtype: "constructor" } }), /of the kind "constructor"/],
  "an entry that is null": [fileOf({ a: null }), /of the kind undefined/],
  "a hundred thousand tensors": [
    fileOf(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [i, 0]))),
    /it claims 100,000 tensors/,
  ],
  "metadata that are no texts": [fileOf({ __metadata__: { a: {} } }), /metadata are no texts/],
};

for (const [problem, [file, sentence]] of Object.entries(HOSTILE_FILES))
  test(`a file with ${problem} is refused in a sentence`, async () => assert.match(await refusalOf(file), sentence));

test("a refusal does not repeat a long name in full", async () => {
  assert.ok((await refusalOf(fileOf({ ["x".repeat(1e6)]: F32([4], 0, 15) }))).length < 300);
});

test("a name may be any text", async () => {
  const names = ["__proto__", "constructor", "", "💥"];
  const entries = names.map((name, i) => `${JSON.stringify(name)}: ${JSON.stringify(F32([1], 4 * i, 4 * i + 4))}`);
  const { tensors } = await open(`{${entries}}`);
  assert.deepEqual([...tensors.keys()], names);
});

for (const [name, value] of Object.entries({ NaN: Number.NaN, infinite: Number.POSITIVE_INFINITY }))
  test(`numbers that are ${name} are refused when they are read`, async () => {
    const { tensors } = await open({ a: F32([4], 0, 16) }, { data: new Float32Array([0, 1, 2, value]) });
    await assert.rejects(tensors.get("a").read(), /holds numbers that are none \(NaN or infinite\) in a\./);
  });

test("a file that is gone says so", async () => {
  const arrayBuffer = () => Promise.reject(new DOMException("", "NotReadableError"));
  const openingDeletedFile = openSafetensors({ size: 100, slice: () => ({ arrayBuffer }) }, "mine.safetensors");
  await assert.rejects(openingDeletedFile, { message: "mine.safetensors can't be read: it is gone, or was changed." });
});
