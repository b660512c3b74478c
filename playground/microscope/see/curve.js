// The curve from the patch that asks to the brightest one, drawn once when the pointer rests; and the staircase, the
// softmax step by step.

import { stepOf } from "../core/light.js";

const CURVE_AFTER = 150; // ms without a move before the curve is drawn
const LEAST_APART = 2.5; // patches of distance from which a curve is drawn
const CURVE_BOW = 0.3; // height above both ends, as a share of their distance

export const CURVE = `
  <svg aria-hidden="true"><path class="halo" pathLength="1"/><path class="wire" pathLength="1"/></svg>`;

export function createCurve(frame, box) {
  const drawing = box.querySelector("svg");
  const lines = box.querySelectorAll("path");
  let drawn = "";
  let resting = 0;

  // {from, bend, to} in pixels of this picture; null for neighbours.
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

  // Frames drawn for other reasons keep the curve.
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

// A row's softmax as a staircase: bars of its largest shares, and a dashed line where the first would be at the other
// setting of the switch. Flipping the switch makes the bars grow or shrink.

const BARS = 12;
const FLIP = 250; // ms
const eased = (t) => t * t * (3 - 2 * t);

export const largestShares = (sorted, count = BARS) => Array.from(sorted.subarray(0, Math.min(count, sorted.length)));

export function createStaircase() {
  return { from: [], to: [], altered: null, began: -FLIP };
}

// Sets the bars; only a flip of the switch animates them, not another patch.
export function setBars(stairs, shares, altered, time, still) {
  const flipped = stairs.altered !== null && stairs.altered !== altered && !still;
  if (flipped) Object.assign(stairs, { from: barsAt(stairs, time), began: time });
  else if (stairs.altered === null || time - stairs.began >= FLIP) stairs.began = time - FLIP;
  Object.assign(stairs, { to: shares, altered });
}

export function barsAt({ from, to, began }, time) {
  const t = eased(Math.min(1, Math.max(0, (time - began) / FLIP)));
  return to.map((share, i) => share * t + (from[i] ?? 0) * (1 - t));
}

export const isMoving = (stairs, time) => time - stairs.began < FLIP;

// `other`: the largest share with the other setting; `ramp` and `domain`: as the picture's colours.
export function drawStaircase(context, w, h, bars, dashed, { ramp, domain, colours, unit }) {
  context.clearRect(0, 0, w, h);
  const [top, foot] = [2 * unit, h - unit];
  const step = w / BARS;
  const most = Math.max(bars[0] ?? 0, dashed, 1e-6);
  const high = (share) => Math.max(unit, (share / most) * (foot - top));
  context.strokeStyle = colours.soft;
  context.lineWidth = unit;
  context.setLineDash([3 * unit, 3 * unit]);
  context.strokeRect(0.5 * unit, foot - high(dashed), step - 3 * unit, high(dashed));
  context.setLineDash([]);
  for (const [i, share] of bars.entries()) {
    context.fillStyle = ramp[stepOf(share, domain)];
    context.fillRect(i * step, foot - high(share), step - 2 * unit, high(share));
    context.strokeRect(i * step + 0.5 * unit, foot - high(share), step - 3 * unit, high(share));
  }
  context.fillStyle = colours.line;
  context.fillRect(0, foot, w, unit);
}
