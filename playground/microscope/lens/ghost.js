// For somebody's first visit: a soft cursor glides to three patches, the sentence changes with it, and then it is their
// turn. Whatever they do ends it. Whether this is a first visit is the host's to know.
import { neighbourhood } from "../core/core.js";
import { tellingPatches } from "./moment.js";
import { isMap } from "./shown.js";

// The way of the soft cursor that greets a newcomer: which patches it shows, and where it is at each moment. No DOM in
// here.

const AWAY = 350; // ms before it comes
const GLIDE = 800; // ms from one patch to the next
const STAY = 850; // ms on a patch: long enough to read the number
const EDGE = 0.12; // of the picture: what lies in this frame is not shown
const BOW = 0.14; // how far a glide swings out, as a share of its length
export const STOPS = 3;
export const WALK = AWAY + STOPS * (GLIDE + STAY); // ms

// Three patches that say what attention is: the one beyond the neighbourhood of `start` that it listens to most, one
// that it hardly listens to, and `start` itself, where the cursor stays. `row`: the weights of patch `start`.
export function threePatches(row, from, rows, columns, start) {
  const near = neighbourhood(rows, columns, Math.floor(start / columns), start % columns, 3);
  let most = -1,
    least = -1;
  const top = Math.ceil(EDGE * rows),
    left = Math.ceil(EDGE * columns);
  for (let r = top; r < rows - top; r++) {
    for (let c = left; c < columns - left; c++) {
      if (r >= near.top && r <= near.bottom && c >= near.left && c <= near.right) continue;
      const patch = r * columns + c;
      if (most < 0 || row[from + patch] > row[from + most]) most = patch;
      if (least < 0 || row[from + patch] < row[from + least]) least = patch;
    }
  }
  return most < 0 ? [] : [most, least, start];
}

const soft = (t) => t * t * t * (t * (6 * t - 15) + 10); // begins and ends without a jolt

// Where the cursor is after so many milliseconds, {x, y, rests}, on its way over `places` [{x, y}]: the first is where
// it comes from. Each glide swings out a little, as a hand's does.
export function walkAt(ms, places) {
  const since = Math.max(0, Math.min(WALK, ms) - AWAY);
  const leg = Math.min(places.length - 2, Math.floor(since / (GLIDE + STAY)));
  const t = Math.min(1, (since - leg * (GLIDE + STAY)) / GLIDE);
  const a = places[leg],
    b = places[leg + 1];
  const along = soft(t),
    bow = BOW * Math.sin(Math.PI * along) * (leg % 2 ? 1 : -1);
  const dx = b.x - a.x,
    dy = b.y - a.y;
  return { x: a.x + along * dx - bow * dy, y: a.y + along * dy + bow * dx, rests: t === 1 };
}

const BEFORE = 900; // ms: the picture is looked at first
const TURN = 2600; // ms that "your turn" stays
const STIRRED = 4; // CSS pixels: a browser reports a resting mouse as moved when something appears under it

const GHOST = `
  <i class="glow"></i>
  <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 2l5.2 17.5 3.4-6.6 7.2-1.9z"/></svg>
  <b>your turn</b>`;

// `began`: called when it comes. People who want no motion see none; in See the moment shows itself. Gives whether it
// will try to come.
export function greet(lens, began) {
  const { page } = lens;
  if (page.ghost || page.see?.on || matchMedia("(prefers-reduced-motion: reduce)").matches) return false;
  const stop = new AbortController();
  page.ghost = { box: null, stop, timer: setTimeout(() => begin(lens, began), BEFORE) };
  endWithAnyMovement(lens.choice, page, stop.signal);
  return true;
}

function endWithAnyMovement(choice, page, signal) {
  const options = { signal, capture: true, passive: true };
  const end = () => endGhost(choice, page);
  let from = null;
  const moved = (event) => {
    from ??= event;
    if (Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) > STIRRED) end();
  };
  window.addEventListener("pointermove", moved, options);
  for (const name of ["pointerdown", "keydown", "wheel", "touchstart"]) window.addEventListener(name, end, options);
  document.addEventListener("visibilitychange", end, options);
}

function begin({ choice, data, frame: { shown }, page }, began) {
  const { view } = choice,
    { refs } = page;
  const { pack, answers } = shown;
  const plain = view.direction === "row" && !view.locked && !isMap(view.what) && !choice.presenting;
  if (!plain || document.hidden || shown.layerMissing || !answers?.ready[view.head] || shown.mark < 0)
    return endGhost(choice, page);
  const from = view.head * pack.tokens + pack.prefixCount;
  const patches =
    tellingPatches(choice, data) ?? threePatches(answers.weights, from, pack.rows, pack.columns, shown.mark);
  if (!patches.length) return endGhost(choice, page);
  began();
  const box = document.createElement("div");
  box.className = "ghost";
  box.innerHTML = GHOST;
  refs.pictureBox.append(box);
  page.ghost.box = box;
  const place = (patch) => ({
    x: ((patch % pack.columns) + 0.5) / pack.columns,
    y: (Math.floor(patch / pack.columns) + 0.5) / pack.rows,
  });
  walk(choice, page, [{ x: 0.62, y: 0.98 }, ...patches.map(place)]);
}

function walk(choice, page, places) {
  const { ghost, refs } = page;
  const start = performance.now();
  let arrived = false, // on its way in it asks nothing
    rested = false;
  const step = (now) => {
    if (page.ghost !== ghost || !page.alive) return;
    const { x, y, rests } = walkAt(now - start, places);
    const { left, top, width, height } = refs.picture.getBoundingClientRect();
    ghost.box.style.transform = `translate(${x * width}px, ${y * height}px)`;
    ghost.box.classList.toggle("leftwards", x > 0.75); // its words stay inside the picture
    ghost.box.classList.toggle("upwards", y > 0.8);
    arrived ||= rests;
    if (arrived && (!rests || !rested)) {
      Object.assign(choice.pointer, { target: refs.picture, x: left + x * width, y: top + y * height, fresh: true });
      page.schedule(true); // as if a hand had moved
    }
    ghost.box.classList.toggle("rests", rests);
    rested = rests;
    if (now - start < WALK) return requestAnimationFrame(step);
    ghost.box.classList.add("turn");
    ghost.timer = setTimeout(() => endGhost(choice, page), TURN);
  };
  requestAnimationFrame(step);
}

// The patch that asked before it came asks again.
export function endGhost(choice, page) {
  const { ghost } = page;
  if (!ghost) return;
  page.ghost = null;
  clearTimeout(ghost.timer);
  ghost.stop.abort();
  if (!ghost.box) return;
  ghost.box.classList.add("leaves");
  setTimeout(() => ghost.box.remove(), 400);
  choice.pointer.fresh = false;
  choice.hover = -1;
  page.schedule();
}
