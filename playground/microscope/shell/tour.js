// The card of the guided tour, and an outline around the part of the page that it speaks of.
//
// data: {n, of, title, text, task: the one thing to do, point: a selector, keep: selectors of what the card must not
//        cover, roomy: a page that does not scroll, slim: what matters lies on the left,
//        before: the address that the end leads back to, or null}
// Out goes the trigger "go": {to: a step's number, 0 for the end, lost: what the server has forgotten of `before`}.

import { MAIN, partOfStreamlit } from "./streamlitparts.js";

const MARGIN = 14;
const LOOK_AGAIN = 250; // ms: a page grows while it loads
const KEPT = "attention-playground-before-tour"; // a reload makes the server forget where the tour began

const CARD = `
  <section class="tour-card" role="region" aria-label="Guided tour">
    <header><span class="tour-count"></span><h2 class="tour-title"></h2></header>
    <p class="tour-text" aria-live="polite"><span></span> <b class="tour-task"></b></p>
    <nav><button data-go="back">Back</button><span class="tour-dots" aria-hidden="true"></span>
      <button data-go="end">End tour</button><button data-go="next"></button></nav>
  </section>
  <div class="tour-ring" hidden></div>`;

let cameByCard = true; // the last step was taken on the card: the keyboard's focus stays there, also on the next page

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("[data-tour]") ?? parentElement;
  let kept = parentElement.__tour;
  if (!kept) kept = parentElement.__tour = beginTour(root);
  if (data.before) keepForReload(data.before);
  kept.go = (to) => {
    cameByCard = to > 0;
    setTriggerValue("go", { to, lost: data.before || to ? null : forgotten(), stamp: Date.now() });
    if (!to) keepForReload(null);
  };
  if (kept.step !== data.n) Object.assign(kept, { step: data.n, settled: false });
  kept.data = data;
  writeCard(root, data);
  follow(root, kept);
  if (cameByCard) root.querySelector('[data-go="next"]').focus({ preventScroll: true });
  cameByCard = false;
  return () => {
    kept.stop.abort();
    clearInterval(kept.clock);
    document.documentElement.classList.remove("tour-scrolls");
    delete parentElement.__tour;
  };
}

// Storage may be forbidden: then a reload forgets.
function keepForReload(before) {
  try {
    if (before) sessionStorage.setItem(KEPT, JSON.stringify(before));
    else sessionStorage.removeItem(KEPT);
  } catch {}
}

function forgotten() {
  try {
    const reloaded = performance.getEntriesByType("navigation")[0]?.type === "reload";
    return reloaded ? JSON.parse(sessionStorage.getItem(KEPT)) : null;
  } catch {
    return null;
  }
}

function beginTour(root) {
  root.innerHTML = CARD;
  const kept = Object.seal({
    data: null,
    step: 0,
    go: null, //          tells the page where the tour goes
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
  const act = (what) => (what !== "back" || kept.data.n > 1 ? kept.go(target[what]()) : null);
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
  write(".tour-title", data.title);
  write(".tour-text span", data.text);
  write(".tour-task", data.task);
  write('[data-go="next"]', data.n === data.of ? "Finish" : "Next");
  root.querySelector('[data-go="back"]').disabled = data.n === 1;
  root.querySelector('[data-go="end"]').hidden = data.n === data.of;
  root.querySelector(".tour-dots").style.setProperty("--done", (data.n - 1) / (data.of - 1));
  root.querySelector(".tour-card").dataset.step = data.n;
  root.querySelector(".tour-card").classList.toggle("tour-slim", data.roomy || data.slim);
  document.documentElement.classList.toggle("tour-scrolls", !data.roomy || innerWidth < 900);
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
  const main = partOfStreamlit(MAIN);
  const free = innerHeight - card.offsetHeight - 3 * MARGIN;
  if (!main || (box.top >= 0 && box.bottom <= free + MARGIN)) return;
  const top = Math.max(5 * MARGIN, Math.min(free - box.height, innerHeight * 0.25));
  main.scrollBy({ top: box.top - top, behavior: "instant" });
}
