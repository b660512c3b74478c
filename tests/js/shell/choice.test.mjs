import assert from "node:assert/strict";
import { test } from "node:test";

import {
  catalogue,
  choiceAfter,
  choiceFrom,
  usualOpening,
  wordsOf,
} from "../../../playground/microscope/shell/choice.js";
import { CATALOGUE, OWN_ID } from "./browser.mjs";

Object.assign(catalogue, CATALOGUE);
const TABBY_CHOICE = choiceFrom({ sample: "tabby" });
const MEADOW_CHOICE = choiceFrom({ sample: "meadow" });
const shownBy = ({ sample, mine, model, detail }) => [sample ?? mine, model, detail];

test("a picture opens in the model and the grid that suit it", () => {
  assert.deepEqual(usualOpening({ sample: "meadow" }), { model: "bundled", detail: 2 });
  assert.deepEqual(usualOpening({ mine: OWN_ID }), { model: "dino", detail: 1 });
  assert.deepEqual(usualOpening({ sample: "no such" }), { model: "dino", detail: 1 });
  assert.deepEqual(shownBy(choiceAfter(TABBY_CHOICE, { sample: "meadow" })), ["meadow", "bundled", 2]);
  assert.deepEqual(shownBy(choiceAfter(MEADOW_CHOICE, { sample: "tabby" })), ["tabby", "dino", 1]);
  assert.deepEqual(shownBy(choiceAfter(MEADOW_CHOICE, { mine: OWN_ID })), [OWN_ID, "dino", 1]);
});

test("a picture is a sample or one's own, never both", () => {
  const ownChoice = choiceAfter(TABBY_CHOICE, { mine: OWN_ID });
  assert.deepEqual([ownChoice.sample, ownChoice.mine], [null, OWN_ID]);
  const sampleChoice = choiceAfter(ownChoice, { sample: "tabby" });
  assert.deepEqual([sampleChoice.sample, sampleChoice.mine], ["tabby", null]);
});

test("the model that a person chose stays with every picture, in its own grid", () => {
  const largeChoice = choiceAfter(TABBY_CHOICE, { model: "large", chose: true });
  assert.deepEqual(shownBy(largeChoice), ["tabby", "large", 1]);
  assert.deepEqual(shownBy(choiceAfter(largeChoice, { sample: "meadow" })), ["meadow", "large", 1]);
  assert.deepEqual(shownBy(choiceAfter(choiceAfter(largeChoice, { sample: "meadow" }), { mine: OWN_ID })), [
    OWN_ID,
    "large",
    1,
  ]);
  const bundledChoice = choiceAfter(TABBY_CHOICE, { model: "bundled", chose: true });
  assert.deepEqual(
    shownBy(choiceAfter(bundledChoice, { sample: "meadow" })),
    ["meadow", "bundled", 2],
    "as it opens in that model",
  );
});

test("a grid that a person refined stays with the next picture in the same model", () => {
  const fineChoice = choiceAfter(TABBY_CHOICE, { detail: 3 });
  assert.deepEqual(shownBy(fineChoice), ["tabby", "dino", 3]);
  assert.deepEqual(shownBy(choiceAfter(fineChoice, { mine: OWN_ID })), [OWN_ID, "dino", 3]);
  assert.deepEqual(
    shownBy(choiceAfter(fineChoice, { sample: "meadow" })),
    ["meadow", "bundled", 2],
    "another model: its own",
  );
  assert.deepEqual(shownBy(choiceAfter(choiceAfter(MEADOW_CHOICE, { detail: 1 }), { sample: "flock" })), [
    "flock",
    "bundled",
    1,
  ]);
  assert.deepEqual(shownBy(choiceAfter(MEADOW_CHOICE, { sample: "flock" })), ["flock", "bundled", 2]);
  assert.deepEqual(
    shownBy(choiceAfter(fineChoice, { mine: OWN_ID, detail: 2 })),
    [OWN_ID, "dino", 2],
    "unless one is named",
  );
});

// ----------------------------------------------------------------------------------------------------- comparisons

const besideAfter = (choiceBefore, change) => choiceAfter(choiceBefore, change).beside;

test("two models are compared on each new picture, and change places when the other is chosen", () => {
  const pairChoice = choiceAfter(TABBY_CHOICE, { beside: { model: "large" } });
  assert.deepEqual(besideAfter(pairChoice, { mine: OWN_ID }), { model: "large" });
  assert.deepEqual(besideAfter(pairChoice, { model: "huge", chose: true }), { model: "large" });
  const swappedChoice = choiceAfter(pairChoice, { model: "large", chose: true });
  assert.deepEqual([swappedChoice.model, swappedChoice.beside], ["large", { model: "dino" }]);
});

// -------------------------------------------------------------------------------------------------------- addresses

test("an address is read back as the choice that it was made of", () => {
  const choices = [
    TABBY_CHOICE,
    MEADOW_CHOICE,
    choiceAfter(MEADOW_CHOICE, { model: "dino", chose: true }),
    choiceAfter(TABBY_CHOICE, { detail: 3 }),
    choiceAfter(TABBY_CHOICE, { mine: OWN_ID, beside: { sample: "meadow" } }),
    choiceAfter(TABBY_CHOICE, { beside: { mine: OWN_ID } }),
    choiceAfter(TABBY_CHOICE, { beside: { model: "timm/vit:a=b,c" } }),
  ];
  for (const originalChoice of choices) {
    const address = new URLSearchParams(wordsOf(originalChoice)).toString();
    const readChoice = choiceFrom(Object.fromEntries(new URLSearchParams(address)));
    assert.deepEqual({ ...readChoice }, { ...originalChoice }, address);
  }
});

test("hostile words are left out", () => {
  for (const mine of [
    "",
    "x",
    "../../etc",
    OWN_ID.toUpperCase(),
    `${OWN_ID}0`,
    `${OWN_ID}\n`,
    "<img src=x>",
    OWN_ID.slice(1),
  ])
    assert.deepEqual(shownBy(choiceFrom({ mine })), ["tabby", "dino", 1], mine);
  for (const sample of ["__proto__", "constructor", "", "Tabby", "<b>"])
    assert.equal(choiceFrom({ sample }).sample, "tabby", sample);
  for (const detail of ["0", "5", "-1", "1e1", "2.5", "NaN", " 2", "2x"])
    assert.equal(choiceFrom({ sample: "tabby", detail }).detail, 1, detail);
  for (const text of ["sample:", "sample:nobody", "mine", "model", "path:/etc", "__proto__:x", ":x", "xsample:tabby"])
    assert.equal(choiceFrom({ with: text }).beside, null, text);
  assert.equal(choiceFrom({ mine: OWN_ID, sample: "meadow" }).sample, null, "one picture");
});
