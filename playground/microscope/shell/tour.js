// The guided tour: a card on every page, whose steps go from view to view, and an outline around the part of the page
// that it speaks of. It runs on the picture and the model that a person has; when it ends or is left, they get back
// what they had before. `?tour=3` in the address resumes it.
//
// A step: {page, title, text, task: the one thing to do, point: a selector of what is outlined, keep: selectors of what
//          the card must not cover, words: of the address, which set the view, slim: what matters lies on the left}

import { sayMath } from "../drawing/dom.js";
import { addressWords, pageNow, wordsWithoutTour } from "./address.js";
import { MAIN, partOfStreamlit } from "./streamlitparts.js";

const MARGIN = 14;
const LOOK_AGAIN = 250; // ms: a page grows while it loads
const KEPT_BEFORE = "attention-playground-before-tour";
const [GOES_ON, SCROLLS] = ["tour-goes-on", "tour-scrolls"]; // of the document: see ui/frame.py

const CARD = `
  <section class="tour-card" role="region" aria-label="Guided tour">
    <header><span class="tour-count"></span><h2 class="tour-title"></h2></header>
    <p class="tour-text" aria-live="polite"><span></span> <b class="tour-task"></b></p>
    <nav><button data-go="back">Back</button><span class="tour-dots" aria-hidden="true"></span>
      <button data-go="end">End tour</button><button data-go="next"></button></nav>
  </section>
  <div class="tour-ring" hidden></div>`;

let cameByCard = true; // the last step was taken on the card: the keyboard's focus stays there, also on the next page
let card = null; // {root, kept}, while the tour goes on

// `place`: the card stands in it, under the toolbar's styles; `way`: {go(words, step): to a step's page and view,
// back(before, finished): to what there was, {page, words}, or null where a link led into the tour}
export function followTour(place, steps, way) {
  const n = Number(pageNow().tour);
  const step = steps[n - 1];
  if (!pageNow().tour && card) keepForReload(null); // it was left by another way
  if (!step || step.page !== pageNow().name) return endCard();
  if (addressWords() === `tour=${n}` && step.page === "microscope") return goToStep(n, steps, way);
  card ??= makeCard(place, steps, way);
  const { root, kept } = card;
  if (kept.step !== n) Object.assign(kept, { step: n, settled: false });
  kept.data = { ...step, n, of: steps.length, roomy: step.page === "microscope" };
  writeCard(root, kept.data);
  follow(root, kept);
  if (cameByCard) root.querySelector('[data-go="next"]').focus({ preventScroll: true });
  cameByCard = false;
}

// Goes to a step; 0 ends the tour.
export function goToStep(n, steps, way) {
  cameByCard = n > 0;
  if (!pageNow().tour && n) keepForReload({ page: pageNow().name, words: wordsWithoutTour() });
  if (n) return way.go({ ...steps[n - 1].words, tour: String(n) }, steps[n - 1]);
  const before = keptBefore();
  const finished = Number(pageNow().tour) === steps.length;
  keepForReload(null);
  endCard();
  way.back(before, finished);
}

function makeCard(place, steps, way) {
  const root = document.createElement("div");
  root.className = "tour";
  place.append(root);
  document.documentElement.classList.add(GOES_ON);
  return { root, kept: beginTour(root, (to) => goToStep(to, steps, way)) };
}

function endCard() {
  if (!card) return;
  const { root, kept } = card;
  card = null;
  kept.stop.abort();
  clearInterval(kept.clock);
  document.documentElement.classList.remove(GOES_ON, SCROLLS);
  root.remove();
}

// Storage may be forbidden: then the end leads nowhere.
function keepForReload(before) {
  try {
    if (before) sessionStorage.setItem(KEPT_BEFORE, JSON.stringify(before));
    else sessionStorage.removeItem(KEPT_BEFORE);
  } catch {}
}

function keptBefore() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT_BEFORE));
  } catch {
    return null;
  }
}

function beginTour(root, go) {
  root.innerHTML = CARD;
  const kept = Object.seal({
    data: null,
    step: 0,
    target: null, //      the element that is outlined
    selector: null, //    what it was found by
    since: 0, //          when
    settled: false, //    the page has stopped growing, or a person has scrolled
    clock: 0,
    stop: new AbortController(), // of the listeners on the document
  });
  const { signal } = kept.stop;
  const target = {
    back: () => kept.data.n - 1,
    end: () => 0,
    next: () => (kept.data.n + 1) % (kept.data.of + 1),
  };
  const act = (what) => (what !== "back" || kept.data.n > 1 ? go(target[what]()) : null);
  root.querySelector("nav").addEventListener("click", (event) => {
    const what = event.target.closest("[data-go]")?.dataset.go;
    if (what) act(what);
  });
  // A presenter's remote control sends PageDown and PageUp.
  const keys = { ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back" };
  root.querySelector(".tour-card").addEventListener("keydown", (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    act(keys[event.key]);
  });
  const leave = (event) => {
    if (event.key !== "Escape" || document.fullscreenElement) return;
    event.preventDefault();
    event.stopPropagation();
    act("end");
  };
  document.addEventListener("keydown", leave, { signal, capture: true }); // wherever the focus is
  const again = () => follow(root, kept);
  kept.clock = setInterval(again, LOOK_AGAIN);
  window.addEventListener("resize", again, { signal });
  document.addEventListener("scroll", again, { signal, capture: true, passive: true });
  const own = () => (kept.settled = true); // a person scrolls: the tour no longer does
  for (const name of ["wheel", "touchmove"]) document.addEventListener(name, own, { signal, passive: true });
  return kept;
}

function writeCard(root, data) {
  const write = (name, words) => (root.querySelector(name).textContent = words);
  write(".tour-count", `${data.n} / ${data.of}`);
  sayMath(root.querySelector(".tour-title"), data.title);
  sayMath(root.querySelector(".tour-text span"), data.text);
  write(".tour-task", data.task);
  write('[data-go="next"]', data.n === data.of ? "Finish" : "Next");
  root.querySelector('[data-go="back"]').disabled = data.n === 1;
  root.querySelector('[data-go="end"]').hidden = data.n === data.of;
  root.querySelector(".tour-dots").style.setProperty("--done", (data.n - 1) / (data.of - 1));
  root.querySelector(".tour-card").dataset.step = data.n;
  root.querySelector(".tour-card").classList.toggle("tour-slim", data.roomy || data.slim);
  document.documentElement.classList.toggle(SCROLLS, !data.roomy || innerWidth < 900);
}

// The first visible element of a selector, also inside the components' shadow roots.
function findShown(selector, scope = document) {
  if (!selector) return null;
  for (const element of scope.querySelectorAll(selector)) if (element.getBoundingClientRect().width > 0) return element;
  for (const element of scope.querySelectorAll("*")) {
    const found = element.shadowRoot && findShown(selector, element.shadowRoot);
    if (found) return found;
  }
  return null;
}

function follow(root, kept) {
  const { data } = kept;
  if (!root.isConnected || !data) return;
  const card = root.querySelector(".tour-card"),
    ring = root.querySelector(".tour-ring");
  if (!kept.target?.isConnected || kept.selector !== data.point) {
    kept.target = findShown(data.point);
    kept.selector = data.point;
    kept.since = performance.now();
  }
  ring.hidden = !kept.target;
  if (!kept.target) return place(card, []);
  if (!kept.settled) bringIntoView(kept, card);
  const box = kept.target.getBoundingClientRect();
  Object.assign(ring.style, {
    left: `${box.left}px`,
    top: `${box.top}px`,
    width: `${box.width}px`,
    height: `${box.height}px`,
  });
  const others = data.keep
    .split(",")
    .map((selector) => findShown(selector.trim()))
    .filter(Boolean);
  place(card, [[box, 4], ...others.map((other) => [other.getBoundingClientRect(), 0.4])]);
}

// The card goes where it covers least of what it speaks of; in a narrow window always to the bottom.
function place(card, boxes) {
  const { offsetWidth: w, offsetHeight: h } = card;
  const right = innerWidth - w - MARGIN,
    bottom = innerHeight - h - MARGIN,
    middle = (innerWidth - w) / 2;
  const places = [
    [right, bottom],
    [MARGIN, bottom],
    [middle, bottom],
    [right, MARGIN],
    [MARGIN, MARGIN],
    [middle, MARGIN],
  ];
  const covered = ([x, y]) => boxes.reduce((sum, [box, weight]) => sum + weight * overlap(x, y, w, h, box), 0);
  const costs = (innerWidth < 700 ? places.slice(0, 1) : places).map(covered);
  const [x, y] = places[costs.indexOf(Math.min(...costs))];
  Object.assign(card.style, { left: `${Math.max(0, x)}px`, top: `${Math.max(0, y)}px` });
}

const overlap = (x, y, w, h, box) =>
  Math.max(0, Math.min(x + w, box.right) - Math.max(x, box.left)) *
  Math.max(0, Math.min(y + h, box.bottom) - Math.max(y, box.top));

// While the page still grows, the outlined part is kept in sight, as much of it as fits above the card.
function bringIntoView(kept, card) {
  if (performance.now() - kept.since > 4000) kept.settled = true;
  const box = kept.target.getBoundingClientRect();
  const main = partOfStreamlit(MAIN) ?? document.scrollingElement;
  const free = innerHeight - card.offsetHeight - 3 * MARGIN;
  if (!main || (box.top >= 0 && box.bottom <= free + MARGIN)) return;
  const top = Math.max(5 * MARGIN, Math.min(free - box.height, innerHeight * 0.25));
  main.scrollBy({ top: box.top - top, behavior: "instant" });
}
