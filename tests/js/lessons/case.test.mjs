import assert from "node:assert/strict";
import { test } from "node:test";

import { bytesText, flopsText } from "../../../playground/microscope/core/costs.js";
import { draw, mountDrawing } from "./mounting.mjs";

const { default: mount } = await import("../../../playground/microscope/lessons/case.js");
const CASE = { image: 224, patch: 16, width: 768, heads: 12, layers: 12, kernel: 3 };
const dialOf = (name, ...options) => ({ label: `${name}: {}`, options });
const switchOf = (label, ...options) => ({ label, options: options.map((item) => [item, item]) });
const DATA = {
  ...{ ...CASE, count: "attention", other: "dense", mlp: "no" },
  pieces: ["dials", "square", "table", "switches", "ratio", "flops", "bytes", "kept"],
  dials: {
    image: dialOf("Image", 64, 224, 384, 1024),
    patch: dialOf("Patch", 8, 16, 48),
    width: dialOf("Width", 192, 768, 1024),
    heads: dialOf("Heads", 3, 12),
    layers: dialOf("Layers", 12),
    kernel: dialOf("Convolution", 1, 3),
  },
  switches: {
    count: switchOf("Count", "attention", "scores"),
    other: switchOf("against {k}×{k}", "dense", "depthwise"),
    mlp: switchOf("MLP", "no", "yes"),
  },
  presets: {
    label: "Cases",
    cases: [
      ["small", CASE],
      ["large", { ...CASE, image: 1024 }],
    ],
  },
  sizes: { label: "Sizes", cases: [["Ti", { width: 192, heads: 3 }]] },
  rows: [["all", "8ND²", "attention"]],
  says: {
    ...{ no_patch: "no patch of {patch} in {image}", no_heads: "{width} in {heads} leaves {left}" },
    ...{ square: "{entries} scores", sides: "{image} ÷ {patch}", rest: ", {rest} left", in_a_head: "in a head" },
    ...{ in_all: "in {heads} × {layers}", pair_scores: "{tokens}", neighbours: "{read}", dotted: "{name}: {entries}" },
    ...{ who_asks: "who", whom: "whom", layer: "N = {n}", shares: "{attention}, {pairs}" },
    ...{ ratio: "{what} ÷ {other}{mlp}: {mine} ÷ {theirs} = {ratio}.{textbook} {crossing}", each_mlp: " (MLP)" },
    ...{ textbook: " N / k².", always: "always", from: "from {first}", flops: "width {d}", pairs: "pairs" },
    ...{ convolution: "{other} {k}×{k}", and_mlp: " and MLP", bytes: "{heads} heads", attention: "attention" },
    ...{ fused: "fused", kept: "{all}, {kept}: {less}", less: "{times} less", more: "{times} more" },
  },
  colours: { attention: "#111", fused: "#222", convolution: "#333" },
};
const texts = (drawing, name) => drawing.texts(`[data-ref="${name}"]`);
test("a case shows its square, its FLOPs and its bytes", () => {
  const drawing = mountDrawing(mount, DATA);
  assert.deepEqual(texts(drawing, "title"), ["38,416 scores", "width 768", "12 heads"]);
  assert.deepEqual(drawing.texts("dd"), ["196", "38,416", "5,531,904"]);
  assert.deepEqual(drawing.texts("td"), ["all", "8ND²", "1.04 G"]);
  assert.deepEqual(texts(drawing, "shares"), ["36 %, 11 %"]);
  assert.ok(drawing.texts("p").includes("Attention ÷ dense: 1,042,857,984 ÷ 2,080,899,072 = 0.501. from 1,921"));
  assert.ok(drawing.texts("p").includes("22.1 MB, 14.5 MB: 1.53 less"));
  assert.match(
    texts(drawing, "legend")[1],
    /your case: 196 tokens.*attention:\s+1.04 G.*pairs:\s+118 M.*dense 3×3:\s+2.08 G/s,
  );
});

test("a pointer and the arrow keys read a chart at other numbers of tokens", () => {
  const drawing = mountDrawing(mount, DATA);
  const chart = drawing.find('[data-ref="chart"]');
  drawing.point(chart, "pointermove", 9999, 10);
  draw();
  assert.match(texts(drawing, "legend")[1], /^16,384 tokens/);
  drawing.point(chart, "pointerleave", 0, 0);
  draw();
  assert.match(texts(drawing, "legend")[1], /^your case: 196 tokens/);
  drawing.key(chart, "ArrowRight");
  draw();
  assert.match(texts(drawing, "legend")[1], /^217 tokens/);
});

test("FLOPs and bytes are written with prefixes such as G", () => {
  assert.deepEqual([999, 1000, 1.2345e9, 7.1e15].map(flopsText), ["999", "1 K", "1.23 G", "7.1 P"]);
  assert.deepEqual([12, 3.6e6, 2.5e12].map(bytesText), ["12 B", "3.6 MB", "2.5 TB"]);
});
