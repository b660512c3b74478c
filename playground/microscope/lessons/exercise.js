// An exercise: a question, a hint, then the answer. Where the page can tell that it is done, it says so, and this
// browser keeps that.
//
// data: an Exercise of playground/lessons/parts.py, whose conditions checks.js reads, and the lesson's settings; or, of
// a lesson that the server judges, {id, question, hint, answer, done: true | false | null: nothing to check, why: what
// is tempting in the page's state, and wrong}. In the texts, **, * and ` are as in Markdown.

import { DONE, keep, readKept } from "../core/guesses.js";
import { onReport, reportsHere } from "../core/reports.js";
import { markedWords } from "../drawing/listing.js";
import { stateOfExercise } from "./checks.js";

const EXERCISE = `<details><summary><i></i><span></span></summary>
  <p class="hint"></p><p class="why"></p>
  <p class="ask"><button>Show the answer</button></p><p class="answer"></p></details>`;

export default function ({ data: told, parentElement }) {
  const left = new AbortController();
  const show = () =>
    showExercise(told.tempting ? { ...told, question: told.asks, ...stateNow(told) } : told, parentElement);
  if (told.done?.drawing) onReport(show, left.signal);
  show();
  return () => {
    left.abort();
    delete parentElement.__exercise;
  };
}

const stateNow = (told) => stateOfExercise(told, told.settings, reportsHere());

function showExercise(data, parentElement) {
  const root = parentElement.querySelector("[data-exercise]") ?? parentElement;
  const find = (part) => root.querySelector(part);
  const kept = (parentElement.__exercise ??= { shown: false, done: data.done });
  if (!root.firstElementChild) {
    root.innerHTML = EXERCISE;
    find("button").addEventListener("click", () => {
      kept.shown = true;
      kept.draw();
    });
  }
  if (data.done && !(data.id in readKept(localStorage, DONE))) {
    keep(localStorage, data.id, true, DONE);
    dispatchEvent(new CustomEvent("guess-locked"));
  }
  if (data.done && kept.done === false) find("details").open = true; // it has just been done
  if (data.why && kept.why === "") find("details").open = true;
  kept.why = data.why;
  kept.done = data.done;
  kept.draw = () => {
    const done = data.done || (data.id && data.id in readKept(localStorage, DONE));
    const answered = done || kept.shown || !data.hint;
    root.dataset.id = data.id;
    root.dataset.done = String(Boolean(data.done));
    find("i").textContent = done ? "✓" : data.done === false ? "○" : "?";
    find("span").innerHTML = `${markedWords(data.question)}${done ? " <b>Done.</b>" : ""}`;
    find(".hint").innerHTML = `<b>Hint.</b> ${markedWords(data.hint)}`;
    find(".hint").hidden = !data.hint || done;
    find(".why").innerHTML = `<b>Not yet.</b> ${markedWords(data.why)}`;
    find(".why").hidden = !data.why || done;
    find(".ask").hidden = answered;
    find(".answer").innerHTML = markedWords(data.answer);
    find(".answer").hidden = !answered;
  };
  kept.draw();
}
