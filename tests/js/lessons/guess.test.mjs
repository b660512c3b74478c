import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { ELEMENT_WIDTH, mountPart } from "./mounting.mjs";

const { mountGuess } = await import("../../../playground/microscope/lessons/guess.js");

const NUMBER_QUESTION = {
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
const CHOICE_QUESTION = {
  ...NUMBER_QUESTION,
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
const PAINTING_QUESTION = {
  ...NUMBER_QUESTION,
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
const comparisonOf = ({ find }) => find('[data-ref="told"]').textContent;
const lock = (drawing) => drawing.click(drawing.find('[data-ref="lock"]'));

test("a number is dragged on the axis of its picture; the blank in the sentence and the slider follow", () => {
  const drawing = mountPart(mountGuess, NUMBER_QUESTION);
  assert.ok(drawing.find('[data-ref="lock"]').disabled, "nothing is guessed yet");
  assert.match(drawing.find("svg").innerHTML, /covered/);
  drawing.point(drawing.find("svg"), "pointerdown", 200, 0.8 * ELEMENT_WIDTH);
  const lowGuess = read(drawing).guess;
  drawing.point(drawing.find("svg"), "pointermove", 200, 0.3 * ELEMENT_WIDTH);
  const { guess } = read(drawing);
  assert.ok(guess > lowGuess && guess > 40, `${lowGuess} ${guess}`);
  assert.equal(drawing.find(".gap").textContent, `${guess} %`);
  assert.equal(Number(drawing.find("input").value), guess);
  drawing.input(drawing.find("input"), "60");
  assert.equal(read(drawing).guess, 60);
});

test("a count can be typed exactly, also where the slider goes in powers", () => {
  const countQuestion = {
    ...NUMBER_QUESTION,
    guess: { ...NUMBER_QUESTION.guess, low: 10, high: 4000, unit: "", log: true },
    truth: 126,
  };
  const drawing = mountPart(mountGuess, { ...countQuestion, picture: null });
  const field = drawing.find(".typed input");
  drawing.input(field, "12");
  drawing.input(field, "126");
  assert.equal(read(drawing).guess, 126);
  assert.equal(drawing.find(".gap").textContent, "126");
  lock(drawing);
  assert.match(comparisonOf(drawing), /^You said 126, it is 126: exactly\./);
  localStorage.clear();
  const nearQuestion = mountPart(mountGuess, { ...countQuestion, picture: null, truth: 1264 });
  nearQuestion.input(nearQuestion.find(".typed input"), "1300");
  nearQuestion.key(nearQuestion.find(".typed input"), "Enter");
  assert.match(comparisonOf(nearQuestion), /^You said 1,300, it is 1,264: 36 too high\./);
});

test("half steps have no field; a number beyond the scale becomes its end; an empty field is no guess", () => {
  const halfStepQuestion = mountPart(mountGuess, {
    ...NUMBER_QUESTION,
    guess: { ...NUMBER_QUESTION.guess, step: 0.5 },
  });
  assert.equal(halfStepQuestion.find(".typed"), null);
  localStorage.clear();
  const drawing = mountPart(mountGuess, NUMBER_QUESTION);
  drawing.input(drawing.find(".typed input"), "900");
  assert.equal(read(drawing).guess, 100);
  drawing.input(drawing.find(".typed input"), "");
  assert.deepEqual([read(drawing).guess, drawing.find('[data-ref="lock"]').disabled], [null, true]);
});

test("a wrong choice hears why it is tempting, a right one that it is right", () => {
  const drawing = mountPart(mountGuess, CHOICE_QUESTION);
  drawing.click(drawing.find('[data-key="both"]'));
  assert.deepEqual(drawing.texts('[aria-pressed="true"]'), ["both twice"]);
  lock(drawing);
  assert.match(comparisonOf(drawing), /^Not so\. There is one row for each other one\./);
  assert.deepEqual(drawing.texts("button.true"), ["one"]);
  localStorage.clear();
  const rightGuess = mountPart(mountGuess, CHOICE_QUESTION);
  rightGuess.click(rightGuess.find('[data-key="one"]'));
  lock(rightGuess);
  assert.match(comparisonOf(rightGuess), /^Right\./);
});

test("a row is painted with the keyboard alone: arrows move, the space bar paints and wipes", () => {
  const drawing = mountPart(mountGuess, PAINTING_QUESTION);
  const svg = drawing.find("svg");
  for (const key of ["ArrowLeft", "ArrowUp", " "]) drawing.key(svg, key);
  assert.deepEqual(read(drawing).guess, [0]);
  for (const key of ["ArrowLeft", "ArrowRight", " ", "ArrowLeft", " "]) drawing.key(svg, key);
  assert.deepEqual(read(drawing).guess, [1], "it stops at the border, and wipes what is painted");
  lock(drawing);
  assert.match(comparisonOf(drawing), /^Overlap 10 %; the best possible painting has \d+ %\./);
});

test("what was guessed is there again on the next visit, and nothing of it left the browser", () => {
  const drawing = mountPart(mountGuess, PAINTING_QUESTION);
  for (const key of ["ArrowLeft", " "]) drawing.key(drawing.find("svg"), key);
  lock(drawing);
  const comparison = comparisonOf(drawing);
  drawing.leave();
  const nextVisit = mountPart(mountGuess, PAINTING_QUESTION);
  assert.equal(comparisonOf(nextVisit), comparison);
  assert.deepEqual(read(nextVisit).guess, [3]);
});

test("who shows it without a guess is told the truth alone", () => {
  const drawing = mountPart(mountGuess, NUMBER_QUESTION);
  drawing.click(drawing.find('[data-ref="skip"]'));
  assert.match(comparisonOf(drawing), /^It is 30 %\. It says so\.$/);
});
