import assert from "node:assert/strict";
import { test } from "node:test";

import { drawLoop, layOutLoop, loopMilliseconds, loopPictureSize } from "../../../playground/microscope/lens/share.js";
import { mounted } from "./mounted.mjs";

test("a film's picture is within its bounds, whatever its shape, and even in pixels", () => {
  for (const aspect of [0.3, 0.75, 1, 1.5, 4]) {
    const { width, height } = loopPictureSize(aspect);
    assert.ok(width >= 480 && width <= 720, `${width}`);
    assert.deepEqual([width % 2, height % 2], [0, 0]);
    assert.ok(Math.abs(width / height / aspect - 1) < 0.02);
  }
  assert.equal(loopMilliseconds([1, 2, 3]), 3000);
});

function aContext() {
  const drawn = [];
  const known = { drawn, measureText: (text) => ({ width: 14 * text.length }) };
  return new Proxy(known, {
    get: (of, name) => (name in of ? of[name] : (...given) => void drawn.push([name, ...given])),
    set: (of, name, value) => Object.assign(of, { [name]: value }) && true,
  });
}

const still = (text) => ({
  picture: { width: 480, height: 320 },
  cell: null,
  colour: "",
  runs: [{ text, bold: false, box: "" }],
});

test("words break into lines within the picture, and all pictures have room for the longest", () => {
  const stills = [still("short"), still("a sentence that is far too long for one line of a picture as narrow as this")];
  const size = layOutLoop(aContext(), stills, "made", "x");
  assert.ok(size.lines > 1);
  for (const { lines } of stills)
    for (const line of lines) for (const { x, across } of line) assert.ok(x + across <= 480 - 40);
  assert.equal(size.height % 2, 0);
});

test("it rests on each patch, glides to the next, and ends where it began", () => {
  const stills = [still("one"), still("two")];
  const size = layOutLoop(aContext(), stills, "made", "x");
  const shown = (ms) => {
    const context = aContext();
    drawLoop(context, stills, size, ms);
    const pictures = context.drawn
      .filter(([name]) => name === "drawImage")
      .map(([, picture]) => stills.findIndex((one) => one.picture === picture));
    return [pictures.join(), context.drawn.filter(([name]) => name === "fillText").map(([, text]) => text)[0]];
  };
  assert.deepEqual(shown(0), ["0", "one"]);
  assert.deepEqual(shown(700), ["0,1", "one"]);
  assert.deepEqual(shown(950), ["0,1", "two"]);
  assert.deepEqual(shown(1200), ["1", "two"]);
  assert.deepEqual(shown(1950), ["1,0", "one"]);
});

test("where no film can be made there is the picture; an own photograph is said to be in it", async () => {
  const there = await mounted({ pack: { grid: [6, 7] }, view: { layer: 1 }, trace: { private: true } });
  const { prototype } = HTMLCanvasElement;
  prototype.toBlob = function toBlob(done) {
    done(new Blob(["x"], { type: "image/png" }));
  };
  there.click(there.part("sending"));
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  assert.ok(there.part("shareLoop").hidden);
  assert.equal(there.part("shareSave").disabled, false);
  assert.equal(
    there.words("shareStatus"),
    "Made in this browser; it goes nowhere until you send it. Your photograph is in it.",
  );
});
