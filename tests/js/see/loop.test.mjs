import assert from "node:assert/strict";
import { test } from "node:test";

import { gifOf, LOOP_SHAPES, linesOf, loopPictureSize } from "../../../playground/microscope/see/loop.js";
import { pageOf } from "../../../playground/microscope/see/shared.js";

test("a picture fits into both shapes, whatever its own", () => {
  for (const shape of Object.values(LOOP_SHAPES))
    for (const aspect of [0.4, 0.75, 1, 1.5, 3]) {
      const [width, height] = loopPictureSize(shape, aspect);
      assert.ok(width <= shape.picture[0] && height <= shape.picture[1] + 1, `${width} ${height}`);
      assert.ok(Math.abs(width / height / aspect - 1) < 0.01);
    }
});

test("words break into lines within their room, and a marked place stays together", () => {
  const context = { measureText: (text) => ({ width: 10 * text.length }) };
  const sentence = [
    { text: "This patch looks mostly at " },
    { text: "the other eye", marked: true },
    { text: " (13 %)." },
  ];
  const lines = linesOf(context, sentence, 200);
  assert.ok(lines.length > 1);
  for (const line of lines) for (const { x, width } of line) assert.ok(x + width <= 200);
  assert.equal(lines.flat().find(({ marked }) => marked).text, "the other eye");
  assert.equal(
    lines
      .flat()
      .map(({ text }) => text.trim())
      .join(" "),
    "This patch looks mostly at the other eye (13 %).",
  );
});

test("a GIF has its size, goes round, and ends", () => {
  const pixels = Uint8ClampedArray.from({ length: 4 * 6 * 4 }, (_, i) => (i * 37) % 256);
  const gif = gifOf(
    [
      { pixels, ms: 100 },
      { pixels: pixels.slice().reverse(), ms: 900 },
    ],
    6,
    4,
  );
  assert.equal(String.fromCharCode(...gif.subarray(0, 6)), "GIF89a");
  assert.deepEqual([gif[6], gif[8], gif.at(-1)], [6, 4, 0x3b]);
  assert.ok(String.fromCharCode(...gif).includes("NETSCAPE2.0"));
});

test("a later frame of a GIF holds only the rectangle that has changed", () => {
  const firstPixels = new Uint8ClampedArray(4 * 6 * 4).fill(255);
  const laterPixels = firstPixels.slice();
  laterPixels.fill(0, 4 * (2 * 6 + 3), 4 * (2 * 6 + 5)); // two pixels of the third line
  const frames = [firstPixels, laterPixels].map((pixels) => ({ pixels, ms: 100 }));
  const bytes = [...gifOf(frames, 6, 4)];
  const frameStarts = bytes.flatMap((byte, i) =>
    byte === 0x2c && bytes[i + 9] === 0 && bytes[i + 10] === 8 ? [i] : [],
  );
  const boxes = frameStarts.map((at) => [1, 3, 5, 7].map((i) => bytes[at + i]));
  assert.deepEqual(boxes, [
    [0, 0, 6, 4],
    [3, 2, 2, 1],
  ]);
});

test("names from outside are text in a page that is shared, and it may ask nobody", () => {
  const hostileName = '</script><img src=x onerror="alert(1)">';
  const start = { language: "en", title: hostileName, credit: hostileName };
  const html = pageOf({ title: hostileName, still: hostileName, photo: "data:,", start, packed: "", code: "" });
  assert.ok(!html.includes("<img src=x"));
  assert.equal(html.match(/<\/script>/g).length, 4);
  assert.ok(html.includes("default-src &#39;none&#39;"));
  assert.ok(!/connect-src|https?:/.test(html));
});
