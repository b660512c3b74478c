import assert from "node:assert/strict";
import { test } from "node:test";

import { ROLES } from "../../../playground/microscope/core/colours.js";
import { drawLoop, gifOf, LOOP_SHAPES, linesOf, loopPictureSize } from "../../../playground/microscope/see/loop.js";
import { pageOf } from "../../../playground/microscope/see/shared.js";
import { aContext, callsOf } from "../canvas.mjs";

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

test("a loop shows the photograph, then its light, a growing curve, then the words with their place marked", () => {
  const moment = {
    photo: { width: 100, height: 80 },
    lit: "lit",
    cell: { x: 10, y: 20, width: 5, height: 5 },
    curve: { from: [0, 0], bend: [50, 0], to: [100, 40] },
    sentence: [{ text: "Here" }, { text: "there", marked: true }],
    credit: "by us",
  };
  const drawnAt = (ms) => {
    const context = aContext();
    drawLoop(context, LOOP_SHAPES.tall, moment, "x", ms);
    const [, light] = callsOf(context, "drawImage");
    const ends = callsOf(context, "lineTo").map(([, ...point]) => point.map(Math.round));
    const [here] = callsOf(context, "fillText").filter(([, text]) => text === "Here");
    const opacities = [light, here].map(({ style }) => style.globalAlpha);
    return { opacities, end: ends.at(-1), framed: callsOf(context, "strokeRect").length > 0, context };
  };
  const { context, ...whole } = drawnAt(3000);
  assert.deepEqual(whole, { opacities: [1, 1], end: [100, 40], framed: true });
  assert.deepEqual(drawnAt(0).opacities, [0, 0]);
  assert.deepEqual([drawnAt(0).end, drawnAt(0).framed], [undefined, false]);
  assert.deepEqual(drawnAt(1000).end, [48, 9]); // half of the curve's time: t = .48
  const [, marked] = callsOf(context, "fillRect");
  const [there] = callsOf(context, "fillText").filter(([, text]) => text === "there");
  assert.equal(callsOf(context, "fillRect").length, 2, "the paper, and one place");
  assert.ok(marked[1] < there[2] && marked[1] + marked[3] > there[2] + 7 * 5 && marked.style.fillStyle === ROLES.key);
});
