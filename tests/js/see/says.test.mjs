import assert from "node:assert/strict";
import { test } from "node:test";
import { beyondNear, outsideShare, partAt, sayRow, whereOf } from "../../../playground/microscope/see/says.js";

const GRID = { rows: 20, columns: 20 };
const rowFacts = (change) => ({
  mark: 0,
  best: 399,
  share: 0.13,
  most: 0.13,
  token: "",
  even: false,
  off: false,
  ...GRID,
  ...change,
});
const textOf = (change, parts = [], language = "en") => {
  const { before, place, after } = sayRow(language, rowFacts(change), parts);
  return `${before}[${place}]${after}`.replaceAll("\u00a0", " ");
};

test("near is one patch away, far more than 15 % of the longer side", () => {
  assert.equal(whereOf(0, 0, 20, 20), "itself");
  assert.equal(whereOf(0, 21, 20, 20), "near");
  assert.equal(whereOf(0, 2, 20, 20), "aside");
  assert.equal(whereOf(0, 3, 20, 20), "aside");
  assert.equal(whereOf(0, 4, 20, 20), "far");
  assert.equal(whereOf(19, 20, 20, 20), "far", "the end of one row and the beginning of the next lie apart");
});

test("a row is said in one sentence, by where its brightest patch lies", () => {
  assert.equal(textOf({}), "This patch looks mostly [here], far away (13 %).");
  assert.equal(textOf({ best: 1 }), "This patch looks mostly [here], right beside itself (13 %).");
  assert.equal(textOf({ best: 2 }), "This patch looks mostly [here], not far from itself (13 %).");
  assert.equal(textOf({ best: 0 }), "This patch looks mostly at itself (13 %).[]");
  assert.equal(textOf({ off: true, share: 0.85 }), "Without ÷ √d_k this patch looks [here], far away (85 %).");
  assert.equal(
    textOf({ even: true, most: 0.003 }),
    "This patch looks everywhere alike: at no place more than 0.30 %.[]",
  );
  assert.equal(
    textOf({ token: "CLS", most: 0.4, share: 0.03 }),
    "This patch gives most to CLS, which has no place (40 %). In the picture it looks [here] (3.0 %).",
  );
  assert.equal(textOf({}, [], "de"), "Dieses Feld schaut vor allem [hierhin], weit weg (13 %).");
});

test("a place has a name only where the sample gives it one; the place that asks is not named", () => {
  const parts = [
    { kind: "eye", box: [0, 0, 0.1, 0.1] },
    { kind: "eye", box: [0.9, 0.9, 1, 1] },
    { kind: "nose", box: [0.45, 0.45, 0.55, 0.55] },
  ];
  assert.equal(textOf({}, parts), "This patch looks mostly at [the other eye] (13 %).");
  assert.equal(textOf({ best: 210 }, parts), "This patch looks mostly at [the nose] (13 %).");
  assert.equal(textOf({ mark: 190, best: 399 }, parts), "This patch looks mostly at [the eye] (13 %).");
  assert.equal(textOf({ best: 1 }, parts), "This patch looks mostly [here], right beside itself (13 %).");
  assert.equal(textOf({}, parts, "de"), "Dieses Feld schaut vor allem auf [das andere Auge] (13 %).");
  assert.equal(partAt(parts, 200, 20, 20), null);
});

test("what lies outside of nine patches is all that the row gives to others, special tokens too", () => {
  const pack = { prefixCount: 1, rows: 4, columns: 4 };
  const weights = Float32Array.from({ length: 17 }, () => 1 / 17);
  assert.ok(Math.abs(outsideShare(weights, 0, pack, 5) - 8 / 17) < 1e-6, "of 17 tokens nine are near");
  assert.ok(Math.abs(outsideShare(weights, 0, pack, 0) - 13 / 17) < 1e-6, "in a corner four are");
});

test("a patch that looks mostly at itself says where it looks beyond its neighbours, if that is worth saying", () => {
  const pack = { prefixCount: 1, rows: 20, columns: 20 };
  const weights = new Float32Array(401);
  weights.set([0.09, 0.08], 1); // the patch itself and its neighbour
  weights[400] = 0.06;
  const strongestFar = beyondNear(weights, 0, pack, 0);
  assert.equal(strongestFar.patch, 399);
  assert.equal(
    textOf({ best: 0, share: 0.09, beyond: strongestFar }),
    "This patch looks mostly at itself (9.0 %); beyond its neighbours, mostly [here] (6.0 %).",
  );
  const parts = [{ kind: "eye", box: [0.9, 0.9, 1, 1] }];
  assert.equal(
    textOf({ best: 0, share: 0.09, beyond: strongestFar }, parts, "de"),
    "Dieses Feld schaut vor allem auf sich selbst (9.0 %), jenseits seiner Nachbarn auf [das Auge] (6.0 %).",
  );
  weights[400] = 0.005;
  assert.equal(beyondNear(weights, 0, pack, 0), null);
});
