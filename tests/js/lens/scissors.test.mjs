import assert from "node:assert/strict";
import { test } from "node:test";

import { cutWords, interventionWords, movedWords } from "../../../playground/microscope/lens/scissors.js";
import { newRequests } from "./alens.mjs";
import { mountLens } from "./mounted.mjs";

const GRID = { grid: [6, 7], prefix: ["cls"] };
const LOCKED_VIEW = { layer: 1, head: 1, query: "3,3", locked: true };
const wayButton = (microscope, name) => microscope.find(`[data-way="${name}"]`);

async function openScissors(view = LOCKED_VIEW) {
  const microscope = await mountLens({ pack: GRID, view });
  microscope.openRow("change");
  return microscope;
}

test("a head is cut whole, or all but the neighbours, once each", async () => {
  const microscope = await openScissors();
  microscope.click(wayButton(microscope, "head"));
  assert.equal(microscope.lens.view.cut, "*>*@1.1");
  assert.ok(wayButton(microscope, "head").hidden);
  microscope.click(wayButton(microscope, "neighbours"));
  assert.equal(microscope.lens.view.cut, "*>*@1.1;*>3x3");
  assert.ok(wayButton(microscope, "neighbours").hidden);
  assert.ok(
    !newRequests(microscope.source).some((text) => text.startsWith("whole")),
    "the pass waits until the choice rests",
  );
});

test("a head is switched off, with the text that Python and the command line know", async () => {
  const microscope = await openScissors();
  microscope.click(wayButton(microscope, "mean"));
  assert.equal(microscope.lens.view.cut, "mean@1.1");
  assert.ok(wayButton(microscope, "mean").hidden);
  assert.equal(microscope.find(".cuts li span").textContent, "✂ gives its mean");
  assert.equal(cutWords("mean@1.1"), "✂ head 1.1 gives its mean", "where no chooser stands beside it");
  const places = [...microscope.root.querySelectorAll(".cuts option")].map((item) => item.textContent);
  assert.deepEqual(places, ["in layer 1", "in layer 1, head 1"]);
});

test("how far a feature moved is said beside cuts of as much attention elsewhere, or beside zeros", () => {
  const beside = /by 10 % of its length; with nothing .* by 25 %: zeros overstate here\.$/;
  assert.match(movedWords({ by: 0.1, zero: 0.25 }), beside);
  assert.match(movedWords({ by: 0.1, zero: 0.05 }), /by 5\.0 %\.$/, "where zeros move less, they do not overstate");
  assert.equal(movedWords({ by: 0.25 }), "This patch's feature moved by 25 % of its length.");
  const words = movedWords({ by: 0.25, times: 3.2 });
  assert.match(words, /25 % of its length: 3\.2\d* × as far as where as much attention to other patches is cut\.$/);
});

test("a put is listed in words, holds where its text says, and is undone", async () => {
  const cut = "residual@2:3,3<1,1+cls;head@1.0;zero@1.0>2.3;3,3>2,5";
  const microscope = await mountLens({ pack: GRID, view: { ...LOCKED_VIEW, cut } });
  microscope.openRow("change");
  const names = [...microscope.root.querySelectorAll(".cuts li span")].map((item) => item.textContent);
  assert.deepEqual(names, [
    "the residual of layer 2: the other picture’s, at 3,3 from 1,1 and cls",
    "head 1.0: the other picture’s",
    "head 1.0 gives nothing, for head 2.3 alone",
    "✂ 3,3 ⇢ 2,5",
  ]);
  assert.equal(microscope.root.querySelectorAll(".cuts select").length, 1);
  microscope.click(microscope.find(".cuts li button"));
  assert.equal(microscope.lens.view.cut, "head@1.0;zero@1.0>2.3;3,3>2,5");
  assert.equal(interventionWords("head@1.0>2.3"), "head 1.0 of the other picture is heard, for head 2.3 alone");
  assert.equal(interventionWords("zero@1.0"), "");
});
