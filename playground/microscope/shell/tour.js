// The guided tour: a card over See with four steps about a sample and its moment, of which the words are true, and an
// outline around the part that a step is about. When the tour ends, the former picture and view return. `?tour=3` in
// the address resumes the tour. see/words.js has the tour's words.

import { make, setMath } from "../drawing/dom.js";
import { seeWords } from "../see/words.js";
import { addressWords, openFace, pageNow, visit, wordsWithoutTour } from "./address.js";

// name: part of the keys of the step's words in see/words.js; point: selectors, whose first visible element is
// outlined; words: address parameters that set the view. A locked patch keeps its row while the pointer is elsewhere.
const LOCKED_VIEW = { locked: "true" };
export const TOUR_STEPS = [
  { name: "Ask", point: ".lens [data-ref=pictureBox]", words: {} },
  { name: "Nine", point: ".lens .two, .lens .see-tabs button:last-child", words: LOCKED_VIEW },
  { name: "Divide", point: ".lens .scale, .lens .see-tabs button", words: LOCKED_VIEW },
  { name: "Heads", point: ".lens .see-moments, .lens .see-doors", words: LOCKED_VIEW },
];
const UNCOVERED_PARTS = ".lens .see-says, .lens [data-ref=pictureBox]"; // parts that the card should not cover

const CARD_MARGIN = 14; // CSS pixels between the card and the edge of the window
const OUTLINE_INSET = 6; // CSS pixels between the outline and the window's edge
const OUTLINE_INTERVAL = 250; // ms between two measurements of the outlined part
const FORMER_PLACE_KEY = "attention-playground-before-tour";
const TOUR_RUNS_CLASS = "tour-goes-on"; // class of the document while the tour runs: see shell/site.css

const TOUR_CARD = `
  <section class="tour-card tour-slim" role="region" aria-label="Guided tour">
    <header><span class="tour-count"></span><h2 class="tour-title"></h2></header>
    <p class="tour-text" aria-live="polite"><span></span> <b class="tour-task"></b></p>
    <nav><button data-go="back"></button><span class="tour-dots" aria-hidden="true"></span>
      <button data-go="end"></button><button data-go="next"></button></nav>
  </section>
  <div class="tour-ring" hidden></div>`;

let isStepFromCard = true; // whether the last step was taken on the card, which then keeps the keyboard's focus
let card = null; // {root, state: what beginTour returns} while the tour runs

// place: the element for the card, where the toolbar's styles apply; way: {go(words): opens a step's view, back(before,
// finished): returns to `before`, {page, words, face}; `before` is null if a link led into the tour}
export function followTour(place, way) {
  const n = Number(pageNow().tour);
  const step = TOUR_STEPS[n - 1];
  if (!pageNow().tour && card) storeFormerPlace(null); // the tour was left by Back or a link
  if (!step || pageNow().name !== "microscope") return endCard();
  if (addressWords() === `tour=${n}`) return goToStep(n, way);
  card ??= makeCard(place, way);
  const { root, state } = card;
  state.data = { ...step, n };
  visit.lens?.see.hold(true); // a press on the card left the picture, whose row the step is about
  writeCard(root, state.data);
  followElement(root, state);
  if (isStepFromCard) root.querySelector('[data-go="next"]').focus({ preventScroll: true });
  isStepFromCard = false;
}

// Goes to a step; 0 ends the tour.
export function goToStep(n, way) {
  isStepFromCard = n > 0;
  if (!pageNow().tour && n) storeFormerPlace({ page: pageNow().name, words: wordsWithoutTour(), face: openFace().now });
  if (n) return way.go({ ...TOUR_STEPS[n - 1].words, tour: String(n) });
  const formerPlace = readFormerPlace();
  const isFinished = Number(pageNow().tour) === TOUR_STEPS.length;
  storeFormerPlace(null);
  endCard();
  way.back(formerPlace, isFinished);
}

function makeCard(place, way) {
  const root = make("div", "tour");
  place.append(root);
  document.documentElement.classList.add(TOUR_RUNS_CLASS);
  return { root, state: beginTour(root, (target) => goToStep(target, way)) };
}

function endCard() {
  if (!card) return;
  const { root, state } = card;
  card = null;
  state.stop.abort();
  clearInterval(state.clock);
  document.documentElement.classList.remove(TOUR_RUNS_CLASS);
  root.remove();
}

// Stores the former view for a reload. If storage is forbidden, the tour's end can't restore it.
function storeFormerPlace(formerPlace) {
  try {
    if (formerPlace) sessionStorage.setItem(FORMER_PLACE_KEY, JSON.stringify(formerPlace));
    else sessionStorage.removeItem(FORMER_PLACE_KEY);
  } catch {}
}

function readFormerPlace() {
  try {
    return JSON.parse(sessionStorage.getItem(FORMER_PLACE_KEY));
  } catch {
    return null;
  }
}

function beginTour(root, goTo) {
  root.innerHTML = TOUR_CARD;
  const state = Object.seal({
    data: null,
    clock: 0,
    stop: new AbortController(), // aborted to remove the listeners on the document
  });
  const { signal } = state.stop;
  const stepNumbers = {
    back: () => state.data.n - 1,
    end: () => 0,
    next: () => (state.data.n + 1) % (TOUR_STEPS.length + 1),
  };
  const act = (step) => (step !== "back" || state.data.n > 1 ? goTo(stepNumbers[step]()) : null);
  root.querySelector("nav").addEventListener("click", (event) => {
    const step = event.target.closest("[data-go]")?.dataset.go;
    if (step) act(step);
  });
  // A presenter's remote control sends PageDown and PageUp.
  const stepByKey = { ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back" };
  root.querySelector(".tour-card").addEventListener("keydown", (event) => {
    if (!stepByKey[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    act(stepByKey[event.key]);
  });
  const onKey = (event) => {
    if (event.key !== "Escape" || document.fullscreenElement) return;
    event.preventDefault();
    event.stopPropagation();
    act("end");
  };
  document.addEventListener("keydown", onKey, { signal, capture: true }); // wherever the focus is
  const followAgain = () => followElement(root, state);
  state.clock = setInterval(followAgain, OUTLINE_INTERVAL);
  window.addEventListener("resize", followAgain, { signal });
  document.addEventListener("scroll", followAgain, { signal, capture: true, passive: true });
  return state;
}

function writeCard(root, { n, name }) {
  const { language } = openFace();
  const count = TOUR_STEPS.length;
  const words = (key, values) => seeWords(language, key, values);
  const writeText = (part, text) => (root.querySelector(part).textContent = text);
  root.lang = language;
  writeText(".tour-count", `${n} / ${count}`);
  setMath(root.querySelector(".tour-title"), words(`tour${name}`));
  setMath(root.querySelector(".tour-text span"), words(`tour${name}Says`));
  writeText(".tour-task", words(`tour${name}Do`));
  writeText('[data-go="next"]', words(n === count ? "tourFinish" : "tourNext"));
  writeText('[data-go="back"]', words("tourBack"));
  writeText('[data-go="end"]', words("tourEnd"));
  root.querySelector('[data-go="back"]').disabled = n === 1;
  root.querySelector('[data-go="end"]').hidden = n === count;
  root.querySelector(".tour-dots").style.setProperty("--done", (n - 1) / (count - 1));
  root.querySelector(".tour-card").dataset.step = n;
}

// The first visible element of a selector, also inside the components' shadow roots.
function findShown(selector, scope = document) {
  if (!selector) return null;
  for (const element of scope.querySelectorAll(selector)) if (element.getBoundingClientRect().width > 0) return element;
  for (const element of scope.querySelectorAll("*")) {
    const shadowElement = element.shadowRoot && findShown(selector, element.shadowRoot);
    if (shadowElement) return shadowElement;
  }
  return null;
}

function followElement(root, { data }) {
  if (!root.isConnected || !data) return;
  const [card, outline] = [root.querySelector(".tour-card"), root.querySelector(".tour-ring")];
  const target = findShown(data.point);
  outline.hidden = !target;
  if (!target) return placeCard(card, []);
  const box = target.getBoundingClientRect();
  const [left, top] = [Math.max(OUTLINE_INSET, box.left), Math.max(OUTLINE_INSET, box.top)];
  const [right, bottom] = [
    Math.min(innerWidth - OUTLINE_INSET, box.right),
    Math.min(innerHeight - OUTLINE_INSET, box.bottom),
  ];
  for (const [side, size] of Object.entries({ left, top, width: right - left, height: bottom - top }))
    outline.style[side] = `${size}px`;
  const uncoveredElements = UNCOVERED_PARTS.split(", ").map((selector) => findShown(selector));
  const boxes = uncoveredElements.filter(Boolean).map((element) => [element.getBoundingClientRect(), 0.4]);
  placeCard(card, [[box, 20], ...boxes]);
}

// Puts the card where it covers the least of its step's part; in a narrow window at the bottom or at the top.
function placeCard(card, boxes) {
  const { offsetWidth: w, offsetHeight: h } = card;
  const right = innerWidth - w - CARD_MARGIN,
    bottom = innerHeight - h - CARD_MARGIN,
    centre = (innerWidth - w) / 2;
  const places = [
    [right, bottom],
    [CARD_MARGIN, bottom],
    [centre, bottom],
    [right, CARD_MARGIN],
    [CARD_MARGIN, CARD_MARGIN],
    [centre, CARD_MARGIN],
  ];
  const coveredArea = ([x, y]) => boxes.reduce((sum, [box, weight]) => sum + weight * overlap(x, y, w, h, box), 0);
  const candidates = innerWidth < 700 ? [places[0], places[3]] : places;
  const costs = candidates.map(coveredArea);
  const [x, y] = candidates[costs.indexOf(Math.min(...costs))];
  Object.assign(card.style, { left: `${Math.max(0, x)}px`, top: `${Math.max(0, y)}px` });
}

const overlap = (x, y, w, h, box) =>
  Math.max(0, Math.min(x + w, box.right) - Math.max(x, box.left)) *
  Math.max(0, Math.min(y + h, box.bottom) - Math.max(y, box.top));
