import assert from "node:assert/strict";
import { test } from "node:test";
import { gradeOf, gradesOf } from "../../../playground/microscope/core/grades.js";

const COLUMNS = 8;
const place = (share, patches, own = false) => ({ share, patches, own });
const holds = ({ patches }, patch) => patches.includes(patch);
const PLACES = [place(0.68, [20, 21]), place(0.18, [0, 1], true), place(0.04, [38, 39])];
const GRADES = gradesOf(PLACES, 40, holds);
const graded = (patch, language = "en", grades = GRADES) => gradeOf(grades, patch, COLUMNS, language);

test("a guess is graded by the share and the rank of the place that it hits", () => {
  assert.deepEqual(graded(20), { right: true, words: "You found it: the largest place, 68 %." });
  assert.equal(graded(38).words, "The second largest: 4.0 %. The largest, 68 %, is framed.");
  assert.equal(graded(0).words, "That is its own surroundings: 18 %. The largest other place, 68 %, is framed.");
  assert.equal(graded(26, "de").words, "Dorthin schaut es kaum. Der größte Ort, 68 %, ist umrahmt.");
  assert.equal(graded(38, "de").words, "Der zweitgrößte: 4,0 %. Der größte, 68 %, ist umrahmt.");
  for (const patch of [0, 36, 38]) assert.equal(graded(patch).right, false);
});

test("a patch beside a place counts for it, but not around the end of a row", () => {
  assert.equal(graded(29).right, true);
  assert.match(graded(2).words, /own surroundings/);
  assert.match(graded(32).words, /hardly/);
});

test("where only its own place is lit, that is the answer, and a third place has its number", () => {
  assert.ok(graded(5, "en", gradesOf([place(0.9, [5], true)], 40, holds)).right);
  const four = gradesOf([...PLACES, place(0.02, [13])], 40, holds);
  assert.equal(graded(13, "en", four).words, "Number 3 by size: 2.0 %. The largest, 68 %, is framed.");
});
