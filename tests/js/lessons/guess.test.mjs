import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { mounted, WIDE } from "./mounting.mjs";

const { mountGuess } = await import("../../../playground/microscope/lessons/guess.js");

const NUMBER = {
  id: "far",
  asks: "Its largest weight is ▢.",
  prose: "",
  guess: { kind: "Number", low: 0, high: 100, step: 1, unit: " %", log: false },
  picture: {
    kind: "Bars",
    labels: ["A", "B"],
    values: [10, 30],
    high: 100,
    at: 1,
    later: null,
    title: "",
    unit: " %",
    height: 300,
  },
  truth: 30,
  says: "It says so.",
  tempting: [["above", "It is less."]],
  context: "meadow",
  afresh: false,
};
const CHOICE = {
  ...NUMBER,
  id: "memory",
  asks: "What grows?",
  guess: {
    kind: "Choice",
    options: [
      ["time", "the time"],
      ["both", "both twice"],
      ["one", "one"],
    ],
  },
  picture: null,
  truth: "one",
  tempting: [["both", "There is one row for each other one."]],
};
const HEAT = [0, 0.1, 0, 0.2, 0.6, 0.1];
const PAINTING = {
  ...NUMBER,
  id: "row",
  asks: "Paint where it looks.",
  guess: { kind: "Painting" },
  picture: {
    kind: "Photo",
    grid: [2, 3],
    mark: 4,
    heat: HEAT,
    aspect: 1.5,
    address: "x.jpg",
    height: 300,
    covered: null,
  },
  truth: null,
  tempting: [],
};

beforeEach(() => {
  localStorage.clear();
  delete document.documentElement.dataset.guessed;
});

const read = ({ parentElement }) => parentElement.__guess.read();
const told = ({ find }) => find('[data-ref="told"]').textContent;
const lock = (there) => there.click(there.find('[data-ref="lock"]'));

test("a number is dragged on the axis of its picture; the blank in the sentence and the slider follow", () => {
  const there = mounted(mountGuess, NUMBER);
  assert.ok(there.find('[data-ref="lock"]').disabled, "nothing is guessed yet");
  assert.match(there.find("svg").innerHTML, /covered/);
  there.point(there.find("svg"), "pointerdown", 200, 0.8 * WIDE);
  const low = read(there).guess;
  there.point(there.find("svg"), "pointermove", 200, 0.3 * WIDE);
  const { guess } = read(there);
  assert.ok(guess > low && guess > 40, `${low} ${guess}`);
  assert.equal(there.find(".gap").textContent, `${guess} %`);
  assert.equal(Number(there.find("input").value), guess);
  there.input(there.find("input"), "60");
  assert.equal(read(there).guess, 60);
});

test("locked, the truth is drawn and said beside the guess, and nothing moves it any more", () => {
  const there = mounted(mountGuess, NUMBER);
  there.input(there.find("input"), "60");
  lock(there);
  assert.deepEqual([read(there).locked, there.find('[data-ref="told"]').hidden], [true, false]);
  assert.match(told(there), /^You said 60 %, it is 30 %: 2\.0 times too high\./);
  assert.doesNotMatch(there.find("svg").innerHTML, /covered/);
  assert.match(document.documentElement.dataset.guessed, /\bfar\b/, "what the page held back is shown");
  there.point(there.find("svg"), "pointerdown", 200, 0.9 * WIDE);
  assert.equal(read(there).guess, 60);
});

test("what is counted is typed, exactly, also where the slider counts in powers", () => {
  const counted = { ...NUMBER, guess: { ...NUMBER.guess, low: 10, high: 4000, unit: "", log: true }, truth: 126 };
  const there = mounted(mountGuess, { ...counted, picture: null });
  const field = there.find(".typed input");
  there.input(field, "12");
  there.input(field, "126");
  assert.equal(read(there).guess, 126);
  assert.equal(there.find(".gap").textContent, "126");
  lock(there);
  assert.match(told(there), /^You said 126, it is 126: exactly\./);
  localStorage.clear();
  const near = mounted(mountGuess, { ...counted, picture: null, truth: 1264 });
  near.input(near.find(".typed input"), "1300");
  near.key(near.find(".typed input"), "Enter");
  assert.match(told(near), /^You said 1,300, it is 1,264: 36 too high\./);
});

test("what is no whole number is not typed; what is off the scale is taken to its end; nothing is no guess", () => {
  const half = mounted(mountGuess, { ...NUMBER, guess: { ...NUMBER.guess, step: 0.5 } });
  assert.equal(half.find(".typed"), null);
  localStorage.clear();
  const there = mounted(mountGuess, NUMBER);
  there.input(there.find(".typed input"), "900");
  assert.equal(read(there).guess, 100);
  there.input(there.find(".typed input"), "");
  assert.deepEqual([read(there).guess, there.find('[data-ref="lock"]').disabled], [null, true]);
});

test("a wrong choice hears why it is tempting, a right one that it is right", () => {
  const there = mounted(mountGuess, CHOICE);
  there.click(there.find('[data-key="both"]'));
  assert.deepEqual(there.texts('[aria-pressed="true"]'), ["both twice"]);
  lock(there);
  assert.match(told(there), /^Not so\. There is one row for each other one\./);
  assert.deepEqual(there.texts("button.true"), ["one"]);
  localStorage.clear();
  const right = mounted(mountGuess, CHOICE);
  right.click(right.find('[data-key="one"]'));
  lock(right);
  assert.match(told(right), /^Right\./);
});

test("a row is painted with the keyboard alone: arrows move, the space bar paints and wipes", () => {
  const there = mounted(mountGuess, PAINTING);
  const svg = there.find("svg");
  for (const key of ["ArrowLeft", "ArrowUp", " "]) there.key(svg, key);
  assert.deepEqual(read(there).guess, [0]);
  for (const key of ["ArrowLeft", "ArrowRight", " ", "ArrowLeft", " "]) there.key(svg, key);
  assert.deepEqual(read(there).guess, [1], "it stops at the border, and wipes what is painted");
  lock(there);
  assert.match(told(there), /^Overlap 10 %; the best possible painting has \d+ %\./);
});

test("what was guessed is there again on the next visit, and nothing of it left the browser", () => {
  const there = mounted(mountGuess, PAINTING);
  for (const key of ["ArrowLeft", " "]) there.key(there.find("svg"), key);
  lock(there);
  const said = told(there);
  there.leave();
  const next = mounted(mountGuess, PAINTING);
  assert.equal(told(next), said);
  assert.deepEqual(read(next).guess, [3]);
});

test("of something else it was guessed already: the result is shown, and may be guessed once more", () => {
  lockIn(NUMBER, "60");
  const next = mounted(mountGuess, { ...NUMBER, context: "flock" });
  assert.equal(next.find('[data-ref="passed"]').hidden, false);
  assert.match(told(next), /^It is 30 %\./);
  next.click(next.find('[data-ref="again"]'));
  assert.deepEqual([next.find('[data-ref="told"]').hidden, next.find('[data-ref="lock"]').disabled], [true, true]);
  assert.equal(document.documentElement.dataset.guessed, "", "what was held back is hidden again");
  const afresh = mounted(mountGuess, { ...NUMBER, context: "flock", afresh: true });
  assert.equal(afresh.find('[data-ref="passed"]').hidden, true, "where there is nothing else to see it is asked again");
  assert.match(afresh.find('[data-ref="before"]').textContent, /^Last time here: you said 60 %/);
});

function lockIn(data, value) {
  const there = mounted(mountGuess, data);
  there.input(there.find("input"), value);
  lock(there);
}

test("who shows it without a guess is told the truth alone", () => {
  const there = mounted(mountGuess, NUMBER);
  there.click(there.find('[data-ref="skip"]'));
  assert.match(told(there), /^It is 30 %\. It says so\.$/);
});
