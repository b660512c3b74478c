// The curve from the patch that asks to the brightest one, drawn once when the pointer rests; and the staircase, the
// softmax step by step.

import { stepOf } from "../core/light.js";

const CURVE_AFTER = 150; // ms without a move before the curve is drawn
const LEAST_APART = 2.5; // patches, between the two
const CURVE_BOW = 0.3; // of their distance, above both

export const CURVE = `
  <svg aria-hidden="true"><path class="halo" pathLength="1"/><path class="wire" pathLength="1"/></svg>`;

export function createCurve(frame, box) {
  const drawing = box.querySelector("svg");
  const lines = box.querySelectorAll("path");
  let drawn = "";
  let resting = 0;

  // {from, bend, to} in a picture of this size; null where they are beside each other.
  function points(w, h) {
    const { shown, picture } = frame;
    const { rows, columns } = shown.pack;
    const { mark } = shown;
    const best = picture.tag?.patch ?? -1;
    if (mark < 0 || best < 0 || best === mark) return null;
    const middle = (patch) => [
      (((patch % columns) + 0.5) / columns) * w,
      ((Math.floor(patch / columns) + 0.5) / rows) * h,
    ];
    const [from, to] = [middle(mark), middle(best)];
    const length = Math.hypot(from[0] - to[0], from[1] - to[1]);
    if (length < (LEAST_APART * w) / columns) return null;
    return { from, bend: [(from[0] + to[0]) / 2, Math.max(0, Math.min(from[1], to[1]) - CURVE_BOW * length)], to };
  }

  // A frame that is painted for something else leaves a curve as it is.
  function place(at) {
    const { pictureWidth: w, pictureHeight: h } = frame;
    const path = at ? curvePath(at) : "";
    if (path === drawn) return;
    drawn = path;
    box.classList.remove("drawn");
    clearTimeout(resting);
    if (!at) return;
    drawing.setAttribute("viewBox", `0 0 ${w} ${h}`);
    for (const line of lines) line.setAttribute("d", path);
    resting = setTimeout(() => box.classList.add("drawn"), CURVE_AFTER);
  }

  return { points, place };
}

function curvePath({ from, bend, to }) {
  const [begins, bends, ends] = [from, bend, to].map((at) => at.map(Math.round).join(" "));
  return `M${begins} Q${bends} ${ends}`;
}

// One row's softmax as a staircase: its largest shares as bars, and dashed what the other setting of the switch makes
// of the first. When the switch is flipped the bars grow or fall into place.

const BARS = 12;
const FLIP = 250; // ms
const eased = (t) => t * t * (3 - 2 * t);

export const largestShares = (sorted, count = BARS) => Array.from(sorted.subarray(0, Math.min(count, sorted.length)));

export function createStaircase() {
  return { from: [], to: [], altered: null, began: -FLIP };
}

// The new bars; they move there only where the switch was flipped, not where another patch asks.
export function setBars(stairs, shares, altered, now, still) {
  const flipped = stairs.altered !== null && stairs.altered !== altered && !still;
  if (flipped) Object.assign(stairs, { from: barsAt(stairs, now), began: now });
  else if (stairs.altered === null || now - stairs.began >= FLIP) stairs.began = now - FLIP;
  Object.assign(stairs, { to: shares, altered });
}

export function barsAt({ from, to, began }, now) {
  const t = eased(Math.min(1, Math.max(0, (now - began) / FLIP)));
  return to.map((share, i) => share * t + (from[i] ?? 0) * (1 - t));
}

export const isMoving = (stairs, now) => now - stairs.began < FLIP;

// `other`: the largest share with the other setting; `ramp` and `domain`: as the picture's colours.
export function drawStaircase(context, w, h, bars, other, { ramp, domain, colours, unit }) {
  context.clearRect(0, 0, w, h);
  const [top, foot] = [2 * unit, h - unit];
  const step = w / BARS;
  const most = Math.max(bars[0] ?? 0, other, 1e-6);
  const high = (share) => Math.max(unit, (share / most) * (foot - top));
  context.strokeStyle = colours.soft;
  context.lineWidth = unit;
  context.setLineDash([3 * unit, 3 * unit]);
  context.strokeRect(0.5 * unit, foot - high(other), step - 3 * unit, high(other));
  context.setLineDash([]);
  for (const [i, share] of bars.entries()) {
    context.fillStyle = ramp[stepOf(share, domain)];
    context.fillRect(i * step, foot - high(share), step - 2 * unit, high(share));
    context.strokeRect(i * step + 0.5 * unit, foot - high(share), step - 3 * unit, high(share));
  }
  context.fillStyle = colours.line;
  context.fillRect(0, foot, w, unit);
}
