import assert from "node:assert/strict";
import { test } from "node:test";
import { layerOf, unpack } from "../../../playground/microscope/core/core.js";
import { carriedBy } from "../../../playground/microscope/core/kinds.js";
import { momentName, momentsOf, sinkWords } from "../../../playground/microscope/see/moments.js";
import { packOf } from "../packs.mjs";

const pack = unpack(packOf({ held: [0, 1, 2, 3], grid: [6, 8] }));
const scene = (rows) => ({
  pack,
  moments: rows.map(([layer, head, patch]) => ({ layer, head, patches: [patch], tells: [1], score: 1 })),
  things: [],
});

test("there are at most five moments, the opening one first, each of another place", () => {
  const opening = { layer: 3, head: 1, patch: 10 };
  const moments = momentsOf(
    scene([
      [3, 1, 10],
      [2, 0, 30],
      [2, 2, 31],
      [1, 1, 45],
    ]),
    opening,
  );
  assert.ok(moments.length >= 1 && moments.length <= 5, JSON.stringify(moments));
  const farMoments = moments.filter(({ kind }) => kind !== "sink");
  assert.ok(farMoments.length, JSON.stringify(moments));
  for (const [i, moment] of farMoments.entries())
    for (const other of farMoments.slice(i + 1))
      assert.ok(moment.patch !== other.patch || moment.best !== other.best, JSON.stringify(moments));
  for (const { layer, head, patch, best: brightestPatch } of moments) {
    assert.ok(pack.stored.has(layer) && head < pack.heads && patch < pack.patches && brightestPatch < pack.patches);
    assert.ok(brightestPatch >= 0);
  }
});

test("a moment is called by the parts of the sample, else by its kind", () => {
  const parts = [
    { kind: "eye", box: [0, 0, 0.2, 0.2] },
    { kind: "eye", box: [0.8, 0.8, 1, 1] },
  ];
  const wordOf = (key, { share, from, to }) => (from ? `${from} → ${to} ${share}` : `${key} ${share}`);
  const names = { eye: { short: "eye" } };
  const moment = { kind: "twin", patch: 0, part: parts[1], share: 0.65 };
  const said = (change, inParts) => momentName({ ...moment, ...change }, pack, inParts, names, wordOf);
  assert.equal(said({}, parts), "eye → eye 65\u00a0%");
  assert.equal(said({ part: null }, []), "momentTwin 65\u00a0%");
  assert.equal(said({ kind: "own" }, parts), "momentOwn 65\u00a0%");
  assert.equal(said({ kind: "three", part: null }, parts), "momentThree 65\u00a0%");
  assert.equal(said({ kind: "sink" }, parts), "momentSink 65\u00a0%");
});

test("a sink says how much its token carries, and whether that is next to nothing", () => {
  const { norms } = layerOf(pack, 2);
  const moment = { layer: 2, head: 1, token: 0 };
  const norm = norms[pack.tokens]; // of the class token in head 1
  const sorted = [...norms.subarray(pack.tokens, 2 * pack.tokens)].sort((a, b) => a - b);
  const times = (norm / sorted[Math.floor((pack.tokens - 1) / 2)]).toFixed(2);
  const said = sinkWords(pack, moment, (key, values) => `${key} ${values.times}`);
  assert.equal(said, `${times < 0.5 ? "sinkLittle" : "sinkCarries"} ${times}`);
  assert.equal(carriedBy([4, 1, 2, 3, 2], 0), 2);
  assert.equal(
    sinkWords(unpack(packOf({ held: [2], grid: [6, 8], norms: false })), moment, () => "said"),
    "",
  );
});

test("a patch that everybody looks at is a sink, and nobody's twin", () => {
  const numbers = (source, _layer, _head, i) => (i % 4 ? 0 : source ? 10 * (i === 4 * 20) : 3); // token 20: patch 19
  const drained = unpack(packOf({ held: [0, 1, 2, 3], grid: [6, 8], numbers }));
  const [opening] = momentsOf({ pack: drained, moments: [], things: [] }, { layer: 0, head: 1, patch: 40 });
  assert.deepEqual([opening.kind, opening.best, opening.token], ["sink", 19, 20]);
  assert.ok(opening.share > 0.9);
});
