import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beyondNear,
  outsideShare,
  partAt,
  sayRow,
  shareOfPart,
  whereOf,
} from "../../../playground/microscope/see/says.js";
import { SEE_WORDS, seeWords } from "../../../playground/microscope/see/words.js";

const GRID = { rows: 20, columns: 20 };
const rowFacts = (change) => ({
  mark: 0,
  best: 399,
  share: 0.13,
  most: 0.13,
  token: "",
  even: false,
  off: false,
  shareOf: () => 0.4,
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
  assert.equal(textOf({}), "This patch looks [here], far away (13 %).");
  assert.equal(textOf({ best: 1 }), "This patch looks [here], right beside itself (13 %).");
  assert.equal(textOf({ best: 2 }), "This patch looks [here], not far from itself (13 %).");
  assert.equal(textOf({ best: 0 }), "This patch looks at itself (13 %).[]");
  assert.equal(textOf({ off: true, share: 0.85 }), "Without ÷ √d_k this patch looks [here], far away (85 %).");
  assert.equal(
    textOf({ even: true, most: 0.003 }),
    "This patch looks everywhere alike: at no place more than 0.30 %.[]",
  );
  assert.equal(
    textOf({ token: "CLS", most: 0.4, share: 0.03 }),
    "This patch gives its largest share to CLS, which has no place (40 %). In the picture: [here] (3.0 %).",
  );
  assert.equal(textOf({}, [], "de"), "Dieses Feld schaut [hierhin], weit weg (13 %).");
});

test("a place has a name only where the sample gives it one; the place that asks is not named", () => {
  const parts = [
    { kind: "eye", box: [0, 0, 0.1, 0.1] },
    { kind: "eye", box: [0.9, 0.9, 1, 1] },
    { kind: "nose", box: [0.45, 0.45, 0.55, 0.55] },
  ];
  assert.equal(textOf({}, parts), "This patch looks at [the other eye] (40 %).");
  assert.equal(textOf({ best: 210 }, parts), "This patch looks at [the nose] (40 %).");
  assert.equal(textOf({ mark: 190, best: 399 }, parts), "This patch looks at [the eye] (40 %).");
  assert.equal(textOf({ best: 1 }, parts), "This patch looks [here], right beside itself (13 %).");
  assert.equal(textOf({}, parts, "de"), "Dieses Feld schaut auf [das andere Auge] (40 %).");
  assert.equal(partAt(parts, 200, 20, 20), null);
});

test("a named part gets the sum over its box; mostly stands above one half alone", () => {
  const parts = [{ kind: "eye", box: [0.5, 0.5, 1, 1] }];
  const weights = new Float32Array(17);
  weights.set([0.2, 0.04, 0.03, 0.13, 0.3], 1 + 9); // patches 9 to 13, of which 10, 11 and 14, 15 lie in the box
  weights[1 + 15] = 0.4;
  assert.ok(Math.abs(shareOfPart(parts[0], weights, 1, { rows: 4, columns: 4 }) - 0.47) < 1e-6);
  const said = (share, language) => textOf({ share: 0.3, shareOf: () => share }, parts, language);
  assert.equal(said(0.678), "This patch looks mostly at [the eye] (68 %).");
  assert.equal(said(0.5), "This patch looks at [the eye] (50 %).");
  assert.equal(said(0.678, "de"), "Dieses Feld schaut vor allem auf [das Auge] (68 %).");
  assert.equal(textOf({ share: 0.51 }), "This patch looks mostly [here], far away (51 %).");
  for (const [key, text] of Object.entries({ ...SEE_WORDS.en, ...SEE_WORDS.de }))
    if (key !== "mostly") assert.ok(!/\bmostly |vor allem/.test(text), `${key}: ${text}`);
});

test("German has decimal commas in numbers, and leaves versions and names alone", () => {
  const said = (language, share) => seeWords(language, "outside", { share });
  assert.equal(said("de", "4.3\u00a0%"), "4,3\u00a0% dessen, was dieses Feld beachtet, liegen außerhalb davon.");
  assert.equal(said("de", "> 99.99 %").slice(0, 9), "> 99,99 %");
  assert.equal(said("de", "−5.7").slice(0, 4), "−5,7");
  assert.equal(said("en", "4.3 %").slice(0, 5), "4.3 %");
  assert.equal(said("de", "2.11.0").slice(0, 6), "2.11.0");
  assert.equal(said("de", "vit_b.v2").slice(0, 8), "vit_b.v2");
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
    "This patch looks at itself (9.0 %); beyond its neighbours it looks [here] (6.0 %).",
  );
  const parts = [{ kind: "eye", box: [0.9, 0.9, 1, 1] }];
  assert.equal(
    textOf({ best: 0, share: 0.09, beyond: strongestFar }, parts, "de"),
    "Dieses Feld schaut auf sich selbst (9,0 %), jenseits seiner Nachbarn auf [das Auge] (40 %).",
  );
  weights[400] = 0.005;
  assert.equal(beyondNear(weights, 0, pack, 0), null);
});
