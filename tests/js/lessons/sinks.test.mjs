import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../../playground/microscope/core/core.js";
import { packOf } from "../packs.mjs";
import "./mounting.mjs";

const { filled } = await import("../../../playground/microscope/lessons/subject.js");

const PLACE = 4; // the token that all queries of the pack point to
const [LAYERS, HEADS, GRID] = [2, 3, [2, 3]];

// A subject whose head 2 of layer 1 agrees most, on one patch or, if `cls`, on the class token. key: how many times as
// long as the others' the key of the place is; carried: the same for what it carries.
function subjectWith({ share = 0.97, cls = false, key = 1, carried = 1 } = {}) {
  const place = cls ? 0 : PLACE;
  const numbers = (source, _layer, _head, i) => {
    const [token, x] = [Math.floor(i / 4), i % 4];
    if (source === 0) return x === 0 ? 30 : 0;
    if (source === 1) return token === place ? (x === 0 ? key : 0) : Number(x === 1);
    return i === place ? carried : 1;
  };
  const pack = unpack(packOf({ layers: LAYERS, held: [0, 1], grid: GRID, numbers }));
  const numbersOf = (layer, head) => {
    const agrees = layer === 1 && head === 2;
    const [one, others] = agrees ? [share, 0.03] : [0.1, 0.05];
    return {
      layer,
      head,
      to_one: cls && agrees ? others : one,
      to_class: cls && agrees ? one : others,
      to_registers: 0,
    };
  };
  const all = Array.from({ length: LAYERS * HEADS }, (_, n) => numbersOf(Math.floor(n / HEADS), n % HEADS));
  return { grid: GRID, report: async () => ({ tokens: 7, measured: 6, all }), packOf: async () => pack };
}

test("the head that agrees most is found, whether on a patch or on a token without a place", async () => {
  const recipe = Object.fromEntries(
    ["layer", "head", "share"].map((what) => [what, { made: "agreeing", which: "most", what }]),
  );
  const place = { made: "agreed_place" };
  const onPatch = await filled({ ...recipe, place }, subjectWith());
  assert.deepEqual(onPatch, { layer: 1, head: 2, share: 0.97, place: "one patch, at (1, 0)" });
  assert.equal((await filled({ place }, subjectWith({ cls: true }))).place, "cls");
  assert.equal(await filled({ made: "locked_heads" }, subjectWith()), 1);
});

test("only a long key is called a megaphone", async () => {
  const recipe = { made: "megaphone", loud: 1.3, has: "a megaphone", none: "none" };
  assert.equal(await filled(recipe, subjectWith({ key: 9 })), "a megaphone");
  assert.equal(await filled(recipe, subjectWith({ key: 1 })), "none");
  assert.equal(await filled({ made: "key_length" }, subjectWith({ key: 9 })), 9);
});

test("what a sink carries tells its two kinds apart; where no head agrees, none is named", async () => {
  const recipe = {
    made: "by_count",
    none: "no sink",
    one: "one sink:",
    several: "sinks:",
    little: "rests",
    same: "sends",
    plain: "unknown",
  };
  assert.equal(await filled(recipe, subjectWith({ carried: 0.25 })), "one sink: rests");
  // the page does not know the rank
  assert.equal(await filled(recipe, subjectWith({ carried: 4 })), "one sink: unknown");
  const report = await subjectWith().report();
  const sinks = [
    { layer: 1, head: 2, kind: "one thing" },
    { layer: 0, head: 0, kind: "nothing" },
  ];
  const measured = { ...subjectWith({ carried: 4 }), report: async () => ({ ...report, sinks }) };
  assert.equal(await filled(recipe, measured), "one sink: sends");
  const line = { made: "all_sinks", text: "{all} {sinks} {nothing} {one} {neither}", unknown: "not here" };
  assert.deepEqual([await filled(line, measured), await filled(line, subjectWith())], ["6 2 1 1 0", "not here"]);
  assert.equal(await filled(recipe, subjectWith({ share: 0.2 })), "no sink");
  assert.equal(await filled({ made: "carried" }, subjectWith({ carried: 4 })), 4);
});

test("each layer of convolutions adds a ring, until the field is as large as the picture", async () => {
  const subject = { ...subjectWith(), grid: [3, 14] };
  for (const kernel of [3, 5, 7]) {
    let [field, layers] = [1, 0];
    for (; (field - 1) / 2 < 13; layers++) field += kernel - 1;
    assert.equal(await filled({ made: "layers_needed", kernel }, subject), layers, `${kernel} × ${kernel}`);
    const chart = await filled({ made: "distances_chart", kernel, figure: { data: [{}, {}] } }, subject);
    assert.deepEqual(
      chart.data[1].y,
      [1, 2].map((layer) => (layer * (kernel - 1)) / 2),
    );
  }
});
