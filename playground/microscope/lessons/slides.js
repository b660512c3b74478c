// Shows a lecture plan as slides, in one file that needs no server. A slide shows a lesson's step or a scene of the
// story; all scenes share one frame. Arrow keys, a clicker's page keys and buttons change the slide; N shows the
// speaker's notes. playground/figures/teaching.py writes the page and its data.

import { make } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { playParts } from "./host.js";

const SLIDE_MARKUP = `<header><h2></h2><span class="minutes"></span></header><p class="notes" hidden></p>
  <div class="scene"></div>`;

function makeSlide({ title, minutes, notes, story, lesson }, deck) {
  const slide = /** @type {any} */ (make("section", { className: "slide", innerHTML: SLIDE_MARKUP }));
  const setPart = (part, words) => Object.assign(slide.querySelector(part), { innerHTML: markedWords(words) });
  setPart("h2", title);
  setPart(".minutes", minutes);
  setPart(".notes", notes);
  slide.classList.toggle("of-story", story > 0);
  let mounted = false;
  slide.show = (isShown) => {
    slide.hidden = !isShown;
    if (!isShown || mounted || !lesson) return;
    mounted = true;
    playLesson(slide.querySelector(".scene"), lesson, deck);
  };
  return slide;
}

// Shows the parts of a lesson's step; their scripts and numbers are in the page's file.
function playLesson(box, { settings, parts }, { files, scripts }) {
  const partsBox = make("div");
  box.append(partsBox);
  const entries = Object.entries(settings);
  let timer = 0;
  const read = async (file) => Uint8Array.from(atob(files[file]), (letter) => letter.charCodeAt(0));
  const lesson = {
    read,
    picture: {},
    source: {
      open: async () => JSON.parse(new TextDecoder().decode(await read("trace"))),
      layers: (_, [layer]) => read(`layer ${layer}`),
      picture: async () => createImageBitmap(new Blob([await read("picture")])),
    },
    settings: Object.fromEntries(entries.map(([name, { now }]) => [name, now])),
    defaults: Object.fromEntries(entries.map(([name, setting]) => [name, setting.default])),
    options: Object.fromEntries(entries.map(([name, { options }]) => [name, options])),
    scripts: Object.fromEntries(
      Object.entries(scripts).map(([name, script]) => [name, { ...script, mount: globalThis.mounts[name] }]),
    ),
    link: () => "#",
    set(changes, rest = 0) {
      Object.assign(lesson.settings, changes);
      clearTimeout(timer);
      timer = setTimeout(player.draw, rest);
    },
  };
  const player = playParts(partsBox, parts, lesson, new AbortController().signal);
  player.draw();
}

function startSlides() {
  const place = document.getElementById("place");
  const deck = JSON.parse(document.getElementById("slides").textContent);
  const slides = deck.slides.map((slide) => makeSlide(slide, deck));
  const counter = document.getElementById("count");
  place.replaceChildren(...slides);
  const frame = deck.slides.some(({ story }) => story) ? makeFrame(deck.story) : null;
  if (frame) place.append(frame);
  const slideIndex = () => Math.min(slides.length, Math.max(1, Number(location.hash.slice(1)) || 1)) - 1;
  let showsNotes = false;
  const reportSlide = () => {
    const { story } = deck.slides[slideIndex()];
    if (story) frame.contentWindow.postMessage({ scene: story }, "*");
  };
  const draw = () => {
    const index = slideIndex();
    for (const [n, slide] of slides.entries()) {
      slide.show(n === index);
      slide.querySelector(".notes").hidden = !showsNotes;
    }
    if (frame) frame.classList.toggle("away", !deck.slides[index].story);
    reportSlide();
    counter.textContent = `${index + 1} of ${slides.length}`;
  };
  const moveSlide = (step) => {
    location.hash = String(Math.min(slides.length, Math.max(1, slideIndex() + 1 + step)));
  };
  const actions = {
    ArrowRight: () => moveSlide(1),
    PageDown: () => moveSlide(1),
    ArrowLeft: () => moveSlide(-1),
    PageUp: () => moveSlide(-1),
  };
  actions.n = actions.N = () => {
    showsNotes = !showsNotes;
    draw();
  };
  addEventListener("hashchange", draw);
  addEventListener("keydown", (event) => {
    if (/** @type {Element} */ (event.target).closest("input, svg") || event.altKey || event.ctrlKey || event.metaKey)
      return;
    if (event.key in actions) actions[event.key]();
  });
  addEventListener("message", ({ data, source }) => {
    if (!frame || source !== frame.contentWindow) return;
    if (data.ready) reportSlide();
    else if (data.by === 1 || data.by === -1) moveSlide(data.by);
    else if (data.notes) actions.n();
  });
  document.getElementById("back").addEventListener("click", () => moveSlide(-1));
  document.getElementById("on").addEventListener("click", () => moveSlide(1));
  document.getElementById("notes").addEventListener("click", actions.n);
  draw();
}

// The story's frame stays in place while slides change, because a frame that is moved in the document reloads.
function makeFrame(html) {
  return make("iframe", { title: "The story", srcdoc: html, className: "living" });
}

startSlides();
