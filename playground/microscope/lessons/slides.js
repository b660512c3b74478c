// Shows a lecture plan as slides, in one file that needs no server. A slide shows a lesson's step or a scene of the
// story; all scenes share one frame. Arrow keys, a clicker's page keys and buttons change the slide; N opens the notes
// in the lecturer's own window. Paper has the words of all slides. playground/figures/teaching.py writes the page and
// its data.

import { make } from "../drawing/dom.js";
import { markedBlocks, markedWords } from "../drawing/listing.js";
import { filledPart, playParts } from "./host.js";

const SLIDE_MARKUP = `<header><h2></h2><span class="minutes"></span></header>
  <div class="scene"></div><div class="printed"></div>`;

function makeSlide({ title, minutes, story, lesson }, deck) {
  const slide = /** @type {any} */ (make("section", { className: "slide", innerHTML: SLIDE_MARKUP }));
  const setPart = (part, words) => Object.assign(slide.querySelector(part), { innerHTML: markedWords(words) });
  setPart("h2", title);
  setPart(".minutes", minutes);
  slide.print = (html) => Object.assign(slide.querySelector(".printed"), { innerHTML: html });
  slide.classList.toggle("of-story", story > 0);
  const player = lesson && makePlayer(slide.querySelector(".scene"), lesson, deck);
  player?.words().then((texts) => slide.print(texts.join("")));
  let mounted = false;
  slide.show = (isShown) => {
    slide.hidden = !isShown;
    if (!isShown || mounted || !lesson) return;
    mounted = true;
    player.draw();
  };
  return slide;
}

// A promise of the words of a lesson's part on paper; of what differs with a setting, the words of its first value.
/** @param {any} part */
async function printedPart(part, lesson) {
  if (part.kind === "each") return printedPart(Object.values(part.of)[0], lesson);
  const { guess, prose, asks, says } = part.question ?? {};
  const options = (guess?.options ?? []).map(([, words]) => `- ${words}`).join("\n");
  const texts = await filledPart([part.title, part.text, part.caption, prose, asks, options, says], lesson);
  const isText = (words) => words && typeof words === "string";
  return texts
    .filter(isText)
    .map((words) => markedBlocks(words.replace("▢", "____")))
    .join("");
}

// Shows the parts of a lesson's step once draw() is called; their scripts and numbers are in the page's file.
function makePlayer(box, { settings, parts }, { files, scripts }) {
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
  return { draw: player.draw, words: () => Promise.all(parts.map((part) => printedPart(part, lesson))) };
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
  let notesWindow = null;
  const reportSlide = () => {
    const { story } = deck.slides[slideIndex()];
    if (story) frame.contentWindow.postMessage({ scene: story }, "*");
  };
  const draw = () => {
    const index = slideIndex();
    for (const [n, slide] of slides.entries()) slide.show(n === index);
    writeNotes();
    if (frame) frame.classList.toggle("away", !deck.slides[index].story);
    reportSlide();
    counter.textContent = `${index + 1} of ${slides.length}`;
  };
  const printScenes = ({ scenes, picture }) => {
    const told = [...deck.slides.entries()].filter(([, { story }]) => story);
    for (const [n, { story }] of told) {
      const image = n === told[0][0] && picture ? `<img src="${picture}" alt="">` : "";
      slides[n].print(image + scenes[story - 1]);
    }
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
  // Opens a window for the lecturer alone, with notes and the next title; keys there change the slide too.
  actions.n = actions.N = () => {
    notesWindow = open("", "attention-notes", "popup,width=720,height=480");
    if (!notesWindow) return void (counter.textContent = "The browser keeps the window of notes shut: allow pop-ups.");
    notesWindow.onkeydown = onKey;
    writeNotes();
  };
  function writeNotes() {
    if (!notesWindow || notesWindow.closed) return;
    const [{ title, minutes, notes }, next] = deck.slides.slice(slideIndex());
    const nextWords = next ? `Next: ${next.title}` : "The last slide";
    const lines = [`${slideIndex() + 1} of ${slides.length} · ${minutes}`, `**${title}**`, notes, nextWords];
    const { document: page } = notesWindow;
    Object.assign(page.body.style, {
      margin: "2em",
      font: "24px/1.4 system-ui, sans-serif",
      colorScheme: "light dark",
    });
    page.title = title;
    page.body.innerHTML = lines.map((line) => `<p>${markedWords(line)}</p>`).join("");
  }
  function onKey(event) {
    if (event.target.closest?.("input, svg") || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in actions) actions[event.key]();
  }
  addEventListener("hashchange", draw);
  addEventListener("keydown", onKey);
  addEventListener("message", ({ data, source }) => {
    if (!frame || source !== frame.contentWindow) return;
    if (data.ready) reportSlide();
    else if (data.by === 1 || data.by === -1) moveSlide(data.by);
    else if (data.notes) actions.n();
    else if (data.scenes) printScenes(data);
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
