import assert from "node:assert/strict";
import { test } from "node:test";

import { drawLoop, loopShape } from "../../../playground/microscope/see/loop.js";
import { pageOf } from "../../../playground/microscope/see/shared.js";
import { aContext, callsOf } from "../canvas.mjs";

const ASPECTS = [0.25, 0.5, 0.75, 1, 1.5, 16 / 9, 2.5, 5];

test("the photograph keeps its shape and has at least three quarters of the frame, upright and wide", () => {
  for (const way of ["tall", "wide"])
    for (const aspect of ASPECTS) {
      const shape = loopShape(way, aspect);
      const [width, height] = shape.picture;
      assert.ok(width * height >= 0.75 * shape.width * shape.height, `${way} ${aspect}: ${JSON.stringify(shape)}`);
      assert.ok(Math.abs(width / height / aspect - 1) < 0.02, `${way} ${aspect}: ${width} × ${height}`);
      assert.ok(
        [shape.width, shape.height].every((size) => size % 2 === 0 && size <= 1920),
        "sizes that video has",
      );
    }
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

const MOMENT = {
  photo: { width: 100, height: 80 },
  film: { layers: [0, 1, 2, 3], draw: (context, place) => context.layerShown(place) },
  lit: "lit",
  cell: { x: 10, y: 20, width: 5, height: 5 },
  curve: { from: [0, 0], bend: [50, 0], to: [100, 40] },
  sentence: [{ text: "Here" }, { text: "there", marked: true }],
  layerSays: (layer) => `layer ${layer}`,
  source: "head 5",
  maker: "by us · attention.example",
};

// What a loop shows at this time: the opacity of the moment's light, the end of its curve, the words, the layer.
function loopAt(ms) {
  const context = aContext();
  drawLoop(context, loopShape("tall", 1.25), MOMENT, "x", ms);
  const [, light] = callsOf(context, "drawImage");
  const ends = callsOf(context, "lineTo").map(([, ...point]) => point.map(Math.round));
  return {
    light: light.style.globalAlpha,
    end: ends.at(-1),
    said: callsOf(context, "fillText").map(([, text]) => text.trim()),
    layer: callsOf(context, "layerShown").map(([, place]) => Math.floor(place))[0],
    context,
  };
}

test("a loop shows the photograph, then each layer, then its light, a growing curve, and the words", () => {
  const seen = [];
  for (let ms = 25; ms <= 4500; ms += 50) {
    const { light, end, said, layer } = loopAt(ms);
    const words = said.filter((text) => /^(layer|[0-3]|Here|there)$/.test(text)).join(" ");
    const shows = end ? (end.join() === "100,40" ? "curve" : "growing") : light > 0 ? "light" : (layer ?? "photograph");
    const now = `${shows}${words && `: ${words}`}`;
    if (seen.at(-1) !== now) seen.push(now);
  }
  const layers = [0, 1, 2, 3].map((layer) => `${layer}: layer ${layer}`);
  assert.deepEqual(seen, ["photograph", ...layers, "light", "growing", "curve: Here there"]);
});
