import assert from "node:assert/strict";
import { test } from "node:test";
import { outsideShare, sayRow, writeRow } from "../../../playground/microscope/core/says.js";
import { seeWords } from "../../../playground/microscope/lens/words.js";

const EYE = { kind: "eye", box: [0, 0, 0.1, 0.1] };
const place = (share, change) => ({ share, area: 0.07, patches: [0], brightest: 0, own: false, part: null, ...change });
const own = (share, near = true) => place(share, { own: true, near, patches: [0, 1] });
const told = (kind, ...places) => ({ kind, places, lit: 180 });
const said = (change, language = "en") => {
  const row = { fromPart: null, most: 0.13, token: "", even: false, off: false, alike: null, ...change };
  const { before, place: marked, after } = sayRow(language, row);
  return `${before}[${marked}]${after}`.replaceAll("\u00a0", " ");
};

test("one place that holds half is said with its share, by the sample's name where there is one", () => {
  const one = (change) => ({ told: told("one", place(0.678, change)) });
  assert.equal(said(one()), "68 % of its attention goes [here].");
  assert.equal(said(one({ part: EYE })), "68 % of its attention goes to [the eye].");
  assert.equal(said({ ...one({ part: EYE }), fromPart: EYE }), "68 % of its attention goes to [the other eye].");
  assert.equal(said({ ...one(), off: true }), "Without ÷ √d_k: 68 % of its attention goes [here].");
  assert.equal(said(one(), "de"), "68 % seiner Attention gehen [hierhin].");
  assert.equal(said(one({ part: EYE }), "de"), "68 % seiner Attention gehen auf [das Auge].");
});

test("several places are said each with its share, and the one that is shown is not the asking patch's own", () => {
  const here = place(0.2);
  const several = { told: told("several", own(0.35), place(0.22), here) };
  assert.equal(said(several), "Its attention goes to its own surroundings (35 %), [here] (22 %) and here (20 %).");
  const named = { told: told("several", place(0.41, { part: EYE }), here) };
  assert.equal(said(named), "Its attention goes to [the eye] (41 %) and here (20 %).");
  assert.equal(said(named, "de"), "Seine Attention geht auf [das Auge] (41 %) und hierhin (20 %).");
});

test("its own surroundings, a spread row, an even row and a sink have sentences of their own", () => {
  assert.equal(said({ told: told("own", own(0.71)) }), "It keeps to [its own surroundings] (71 %).");
  assert.equal(said({ told: told("own", own(0.71)) }, "de"), "Es bleibt in [seiner eigenen Umgebung] (71 %).");
  const alone = { ...own(0.71), patches: [0] };
  assert.match(said({ told: told("own", alone) }), /^This patch looks at \[itself\]: 71/);
  const large = own(0.71, false);
  assert.equal(
    said({ told: told("own", large) }),
    "This patch looks at [the area it lies in]: 71 % of its attention on 7.0 % of the picture.",
  );
  assert.equal(
    said({ told: told("own", { ...large, thing: true }) }, "de"),
    "Dieses Feld schaut auf [das Ding, in dem es liegt]: 71 % seiner Attention auf 7,0 % des Bildes.",
  );
  const spread = { told: told("spread", place(0.043)) };
  assert.equal(said(spread), "Its attention is spread over 180 patches; no place gets more than 4.3 %.[]");
  assert.equal(said({ ...spread, alike: 0.4 }), said(spread));
  assert.equal(
    said({ ...spread, alike: 0.52 }),
    "Its attention is spread over 180 patches; 52 % of it is on what looks like this patch.[]",
  );
  assert.equal(said({ even: true, most: 0.003 }), "It looks everywhere alike: at no place more than 0.30 %.[]");
  assert.equal(
    said({ told: told("spread", place(0.03)), token: "CLS", most: 0.4 }),
    "Its largest share goes to CLS, which has no place (40 %); in the picture 3.0 % goes [here].",
  );
  const onSink = (sink, language) => said({ told: told("one", place(0.69)), sink }, language).replace(/^.*\]\. /, "");
  assert.deepEqual(
    ["nothing", "one thing", "neither", "unknown"].map((sink) => onSink(sink)),
    [
      "Its brightest patch is a sink: it carries next to nothing.",
      "Its brightest patch is a sink: it carries one thing to all.",
      "Its brightest patch is a sink.",
      "Its brightest patch is a sink.",
    ],
  );
  const onToken = { told: told("spread", place(0.03)), token: "CLS", most: 0.4, sink: "neither" };
  assert.match(said(onToken), /goes \[here\]\. CLS is a sink\.$/);
  assert.equal(onSink("nothing", "de"), "Das hellste Feld ist eine Senke: Sie trägt fast nichts.");
  const place69 = told("one", place(0.69));
  assert.equal(said({ told: place69, token: "CLS", most: 0.06 }), said({ told: place69 }), "a place has more");
  assert.match(said(spread, "de"), /4,3 %/);
});

test("where no picture marks the place it is named by row and column, unless the sample has a name for it", () => {
  const written = (language, ...places) =>
    writeRow(language, { told: told(places.length > 1 ? "several" : "one", ...places), most: 0.2, token: "" }, 10);
  const far = place(0.41, { brightest: 37 });
  const text = written("en", far, place(0.22, { part: EYE })).replaceAll("\u00a0", " ");
  assert.equal(text, "Its attention goes to the place around row 3, column 7 (41 %) and to the eye (22 %).");
  assert.equal(
    written("de", place(0.68, { brightest: 37 })).replaceAll("\u00a0", " "),
    "68 % seiner Attention gehen an den Ort um Zeile 3, Spalte 7.",
  );
});

test("German has decimal commas in numbers, and leaves versions and names alone", () => {
  const said = (language, share) => seeWords(language, "outside", { share });
  assert.equal(said("de", "4.3\u00a0%"), "4,3\u00a0% der Attention liegen außerhalb dieser neun Felder.");
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
