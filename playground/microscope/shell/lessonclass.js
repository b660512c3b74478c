// A class on a lesson's page: while a class runs, the step's question goes to its phones, and its guesses stand below
// the question.

import { createClassBar, drawClassBoard, keepClassBoard } from "../classroom/bar.js";
import { nearestGuess } from "../core/guesses.js";
import { openFace } from "./address.js";
import { lecturersClass } from "./storyway.js";

const LINK = /\[([^\]]+)\]\([^)]*\)/g; // phones open no page of the app

// `room`: the lesson's element, in which lessons/guess.js tells which question it shows; title: the lesson's. Returns
// the function that ends this.
export function bringLessonToClass(room, { title }) {
  const language = () => openFace().language;
  const klass = lecturersClass({ language });
  const [box, head, board] = ["class-lesson", "story-class", "class-board"].map((className) =>
    Object.assign(document.createElement("div"), { className }),
  );
  box.append(head, board);
  const bar = createClassBar(head, klass);
  const shown = { record: null, reveal: null, cover: null, isCovered: false, drawnKey: "" };

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
    const key = JSON.stringify([shown.record, state.language, state.of, now.phones]);
    if (shown.drawnKey === key || keepClassBoard(board, state)) return;
    shown.drawnKey = key;
    drawClassBoard(board, { ...state, asked: shown.record, act, ask: () => klass.ask(shown.record, "") });
  }

  function act(action, fields) {
    if (action === "truth") shown.reveal();
    return klass.act(action, fields);
  }

  const onQuestion = ({ target, detail: { question, reveal, cover } }) => {
    if (question.guess.kind === "Painting") return; // a phone has no brush
    const record = lessonForClass(question, title);
    const isSame = JSON.stringify(shown.record) === JSON.stringify(record);
    Object.assign(shown, { record, reveal, cover, isCovered: isSame && shown.isCovered });
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
export function lessonForClass({ id, asks, guess, truth, says, context }, title) {
  return {
    scene: { name: id, title },
    question: { of: context, asks: asks.replace("▢", "___"), guess },
    told: { truth: guess.kind === "Number" ? nearestGuess(truth, guess) : truth, after: says.replace(LINK, "$1") },
  };
}
