// A class on a lesson's page: while a class runs, the step's question goes to its phones, and its guesses stand below
// the question.

import { createClassBar, drawClassBoard } from "../classroom/bar.js";
import { gradesOf, heatDigits } from "../core/grades.js";
import { nearestGuess } from "../core/guesses.js";
import { namedPlaces } from "../core/places.js";
import { make } from "../drawing/dom.js";
import { openFace } from "./address.js";
import { choice, sampleNamed } from "./choice.js";
import { lecturersClass } from "./storyway.js";

const LINK = /\[([^\]]+)\]\([^)]*\)/g; // phones open no page of the app

// `room`: the lesson's element, in which lessons/guess.js tells which question it shows; title: the lesson's. Returns
// the function that ends this.
export function bringLessonToClass(room, { title }) {
  const language = () => openFace().language;
  const klass = lecturersClass({ language });
  const [box, head, board] = ["class-lesson", "story-class", "class-board"].map((className) => make("div", className));
  box.append(head, board);
  const bar = createClassBar(head, klass);
  const shown = { record: null, image: "", reveal: null, cover: null, isCovered: false, drawnKey: "" };

  function draw() {
    const now = klass.now();
    box.hidden = !now;
    if (!now || !shown.record) return;
    bar.drawHead(language());
    klass.go(shown.record.scene);
    const { scene, question } = shown.record;
    const isAsked = now.scene.name === scene.name && now.question?.of === question.of;
    const isTold = isAsked && now.question.phase === "tells";
    if (!shown.isCovered && !isTold) shown.cover(); // the lecturer may have guessed it before
    shown.isCovered = true;
    const state = { language: language(), now, of: isAsked ? now.question : null };
    const wantsPicture = klass.wantsPicture();
    const key = JSON.stringify([shown.record, state.language, state.of, now.phones, wantsPicture]);
    if (shown.drawnKey === key) return;
    shown.drawnKey = key;
    drawClassBoard(board, { ...state, asked: shown.record, act, ask, wantsPicture, picture });
    if (isAsked && now.question.phase !== "asks") box.scrollIntoView({ block: "nearest" });
  }

  function ask(mayTravel) {
    const { mine, sample } = choice.now;
    klass.ask(shown.record, mine ? `api/pictures/${mine}.jpg` : sampleNamed(sample).picture, mayTravel);
  }

  const picture = () => make("img", { src: shown.image, alt: "" });

  function act(action, fields) {
    if (action === "truth") shown.reveal();
    return klass.act(action, fields);
  }

  const onQuestion = ({ target, detail: { question, reveal, cover } }) => {
    const record = lessonForClass(question, title);
    const isSame = JSON.stringify(shown.record) === JSON.stringify(record);
    const { image = "" } = question.picture ?? {};
    Object.assign(shown, { record, image, reveal, cover, isCovered: isSame && shown.isCovered });
    if (target.nextElementSibling !== box) target.after(box);
    draw();
  };
  room.addEventListener("question-shown", onQuestion);
  const unfollow = klass.follow(draw);
  return () => {
    room.removeEventListener("question-shown", onQuestion);
    unfollow();
    box.remove();
  };
}

// A lesson's question in the form of recordForClass in story/scenes.js.
export function lessonForClass({ id, asks, guess, truth, says, context, picture }, title) {
  const [scene, after] = [{ name: id, title }, says.replace(LINK, "$1")];
  if (guess.kind === "Painting") return { scene, ...placeQuestion({ asks, context, picture }, after) };
  return {
    scene,
    question: { of: context, asks: asks.replace("▢", "___"), guess },
    told: { truth: guess.kind === "Number" ? nearestGuess(truth, guess) : truth, after },
  };
}

// A phone has no brush: where a lesson asks to paint a row, a phone presses its largest place.
function placeQuestion({ asks, context, picture: { grid, mark, heat, aspect } }, after) {
  const [rows, columns] = grid;
  const places = namedPlaces(heat, 0, { rows, columns }, mark);
  const largest = places.find(({ own }) => !own) ?? places[0];
  const grades = gradesOf(places, rows * columns, ({ patches }, patch) => patches.includes(patch));
  return {
    question: {
      of: context,
      asks: asks.replace("Paint", "Press"),
      guess: { kind: "Place", rows, columns, mark, aspect },
    },
    told: { truth: largest.brightest, after, grades, heat: heatDigits(heat) },
  };
}
