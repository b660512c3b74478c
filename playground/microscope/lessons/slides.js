// The scenes of a plan as slides, in one file that needs no server: the microscope as a frame, and questions that a
// room guesses. Arrow keys, a remote control's page keys and the buttons go from one to the next; N shows what to do.
//
// In the page: <script type="application/json" id="slides"> [{title, minutes, task, questions: [a Question of
// playground/lessons/questions.py …], living: the HTML of a living figure, or ""}]

import { markedWords } from "../drawing/listing.js";
import { mountGuess } from "./guess.js";

const SLIDE = `<header><h2></h2><span class="minutes"></span></header><p class="task" hidden></p>
  <div class="scene"></div>`;

function makeSlide({ title, minutes, task, questions, living }, number) {
  const slide = Object.assign(document.createElement("section"), { className: "slide", innerHTML: SLIDE });
  const put = (part, words) => Object.assign(slide.querySelector(part), { innerHTML: markedWords(words) });
  put("h2", title);
  put(".minutes", minutes);
  put(".task", task);
  const scene = slide.querySelector(".scene");
  if (living) {
    const frame = Object.assign(document.createElement("iframe"), { title, srcdoc: living });
    scene.append(frame);
  }
  const mounts = questions.map((question, n) => {
    const picture = question.picture && { ...question.picture, height: Math.max(380, Math.round(0.64 * innerHeight)) };
    const box = Object.assign(document.createElement("div"), { className: "guess" });
    box.dataset.guess = "";
    const place = document.createElement("div");
    place.append(box);
    scene.append(place);
    return () =>
      mountGuess({
        data: { ...question, picture, context: `slide ${number} ${n}`, afresh: true },
        parentElement: place,
      });
  });
  let mounted = false;
  slide.show = (on) => {
    slide.hidden = !on;
    if (on && !mounted) {
      mounted = true;
      for (const mount of mounts) mount();
    }
  };
  return slide;
}

function startSlides() {
  const place = document.getElementById("place");
  const slides = JSON.parse(document.getElementById("slides").textContent).map(makeSlide);
  const count = document.getElementById("count");
  place.replaceChildren(...slides);
  const asked = () => Math.min(slides.length, Math.max(1, Number(location.hash.slice(1)) || 1)) - 1;
  let notes = false;
  const draw = () => {
    const at = asked();
    for (const [n, slide] of slides.entries()) {
      slide.show(n === at);
      slide.querySelector(".task").hidden = !notes;
    }
    count.textContent = `${at + 1} of ${slides.length}`;
  };
  const go = (by) => {
    location.hash = String(Math.min(slides.length, Math.max(1, asked() + 1 + by)));
  };
  const act = { ArrowRight: () => go(1), PageDown: () => go(1), ArrowLeft: () => go(-1), PageUp: () => go(-1) };
  act.n = act.N = () => {
    notes = !notes;
    draw();
  };
  addEventListener("hashchange", draw);
  addEventListener("keydown", (event) => {
    if (event.target.closest("input, svg") || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in act) act[event.key]();
  });
  document.getElementById("back").addEventListener("click", () => go(-1));
  document.getElementById("on").addEventListener("click", () => go(1));
  document.getElementById("notes").addEventListener("click", act.n);
  draw();
}

startSlides();
