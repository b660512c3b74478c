import assert from "node:assert/strict";
import { test } from "node:test";

import { movedWords, wordsOfPut } from "../../../playground/microscope/lens/scissors.js";
import { asked } from "./alens.mjs";
import { mounted } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };
const LOCKED = { layer: 1, head: 1, query: "3,3", locked: true };
const at = (row, column) => [(column + 0.5) / 7, (row + 0.5) / 6];
const way = (there, name) => there.find(`[data-way="${name}"]`);
const said = (there) => there.find(".cuts [role=status]").textContent;

async function opened(view = LOCKED) {
  const there = await mounted({ pack: GRID, view });
  there.click([...there.root.querySelectorAll("button")].find((one) => one.textContent === "Scissors"));
  return there;
}

test("x cuts the edge from the locked patch to the one that is pointed at, and nothing without both", async () => {
  const there = await mounted({ pack: GRID, view: LOCKED });
  const button = there.find(".pair-cut");
  there.key("x");
  assert.deepEqual([there.lens.view.cut, button.hidden], ["", true]);
  there.point("pointermove", there.part("picture"), ...at(2, 5));
  assert.equal(button.hidden, false);
  there.key("x");
  assert.equal(there.lens.view.cut, "3,3>2,5");
  there.point("pointermove", there.part("picture"), ...at(0, 0));
  there.click(button);
  assert.equal(there.lens.view.cut, "3,3>2,5;3,3>0,0");
});

test("each cut is listed, holds where its chooser says, and is undone", async () => {
  const there = await mounted({ pack: GRID, view: { ...LOCKED, cut: "3,3>2,5;*>3x3@2" } });
  const names = () => [...there.root.querySelectorAll(".cuts li span")].map((one) => one.textContent);
  assert.deepEqual(names(), ["✂ 3,3 ⇢ 2,5", "✂ everybody ⇢ 3×3 alone"]);
  const [first, second] = there.root.querySelectorAll(".cuts select");
  const places = (chooser) => [...chooser.children].map((one) => one.textContent);
  assert.deepEqual(places(first), ["in all layers", "in layer 1", "in layer 1, head 1"]);
  assert.deepEqual(places(second).at(-1), "in layer 2");
  there.input(first, "1.1", "change");
  assert.equal(there.lens.view.cut, "3,3>2,5@1.1;*>3x3@2");
  there.click(there.find(".cuts li button"));
  assert.equal(there.lens.view.cut, "*>3x3@2");
  assert.deepEqual(names(), ["✂ everybody ⇢ 3×3 alone"]);
});

test("a head is cut whole, or all but the neighbours, once each", async () => {
  const there = await opened();
  there.click(way(there, "head"));
  assert.equal(there.lens.view.cut, "*>*@1.1");
  assert.ok(way(there, "head").hidden);
  there.click(way(there, "neighbours"));
  assert.equal(there.lens.view.cut, "*>*@1.1;*>3x3");
  assert.ok(way(there, "neighbours").hidden);
  assert.ok(!asked(there.source).some((text) => text.startsWith("whole")), "the pass waits until the choice rests");
});

test("a head is switched off, with the text that Python and the command line know", async () => {
  const there = await opened();
  there.click(way(there, "zero"));
  assert.equal(there.lens.view.cut, "zero@1.1");
  assert.ok(way(there, "zero").hidden);
  assert.equal(there.find(".cuts li span").textContent, "✂ gives nothing");
  const places = [...there.root.querySelectorAll(".cuts option")].map((one) => one.textContent);
  assert.deepEqual(places, ["in layer 1", "in layer 1, head 1"]);
});

test("a drag paints the patches that shall not be heard, and locks none of them", async () => {
  const there = await opened();
  const picture = there.part("picture");
  there.click(way(there, "paint"));
  assert.equal(said(there), "Drag over the patches that shall not be heard by the locked patch.");
  there.point("pointerdown", picture, ...at(1, 1));
  for (const place of [at(1, 2), at(2, 2)]) there.point("pointermove", picture, ...place);
  there.point("pointerup", picture, ...at(2, 2));
  there.point("click", picture, ...at(2, 2));
  assert.equal(said(there), "3 patches shall not be heard by the locked patch.");
  assert.equal(there.lens.view.query, "3,3");
  assert.equal(there.root.querySelectorAll(".painted .taken").length, 3);
  there.click(way(there, "made"));
  assert.equal(there.lens.view.cut, "3,3>1,1+1,2+2,2");
  assert.ok(there.find(".painted").hasAttribute("hidden"));
});

test("the keyboard paints: arrows move, the space bar takes, Enter cuts, Escape ends the painting alone", async () => {
  const there = await opened();
  there.click(way(there, "paint"));
  for (const key of ["ArrowUp", " ", "ArrowUp", " ", "Enter"]) there.key(key);
  assert.equal(there.lens.view.cut, "3,3>1,3+2,3");
  there.click(way(there, "paint"));
  for (const key of ["ArrowUp", " ", "Escape"]) there.key(key);
  assert.ok(there.find(".painted").hasAttribute("hidden"));
  assert.deepEqual([there.lens.view.locked, there.lens.view.cut], [true, "3,3>1,3+2,3"]);
});

test("nothing painted, and the locked patch itself, cannot be cut", async () => {
  const there = await opened();
  there.click(way(there, "paint"));
  there.click(way(there, "made"));
  assert.equal(there.lens.view.cut, "");
  there.key(" "); // where the painting begins: the locked patch
  there.click(way(there, "made"));
  assert.equal(there.lens.view.cut, "", "a patch always hears itself");
});

test("how far a feature moved is said beside cuts of as much attention elsewhere, where these are known", () => {
  assert.equal(movedWords({ by: 0.25 }), "This patch's feature moved by 25 % of its length.");
  const far = movedWords({ by: 0.25, times: 3.2 });
  assert.match(far, /25 % of its length: 3\.2\d* × as far as where as much attention to other patches is cut\.$/);
});

test("what is put into the pass is listed in words, holds where its text says, and is undone", async () => {
  const cut = "residual@2:3,3<1,1+cls;head@1.0;zero@1.0>2.3;3,3>2,5";
  const there = await mounted({ pack: GRID, view: { ...LOCKED, cut } });
  const names = [...there.root.querySelectorAll(".cuts li span")].map((one) => one.textContent);
  assert.deepEqual(names, [
    "the residual of layer 2: the other picture’s, at 3,3 from 1,1 and cls",
    "head 1.0: the other picture’s",
    "head 1.0 gives nothing, for head 2.3 alone",
    "✂ 3,3 ⇢ 2,5",
  ]);
  assert.equal(there.root.querySelectorAll(".cuts select").length, 1);
  there.click(there.find(".cuts li button"));
  assert.equal(there.lens.view.cut, "head@1.0;zero@1.0>2.3;3,3>2,5");
  assert.equal(wordsOfPut("head@1.0>2.3"), "head 1.0 of the other picture is heard, for head 2.3 alone");
  assert.equal(wordsOfPut("zero@1.0"), "");
});
