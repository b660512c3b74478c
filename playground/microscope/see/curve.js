// Draws the curve from the query's patch to the brightest patch, once the pointer rests; and the staircase, a bar chart
// of the row's largest shares.

import { stepOf } from "../core/light.js";

const CURVE_DELAY = 150; // ms without a move before the curve is drawn
const LEAST_CURVE_LENGTH = 2.5; // patches; a shorter curve is not drawn
const CURVE_BOW = 0.3; // height above both ends, as a share of their distance

export const CURVE_MARKUP = `
  <svg aria-hidden="true"><path class="halo" pathLength="1"/><path class="wire" pathLength="1"/></svg>`;

export function createCurve(frame, box) {
  const drawing = box.querySelector("svg");
  const lines = box.querySelectorAll("path");
  let drawnPath = "";
  let restTimer = 0;

  // The curve's ends and bend {from, bend, to} in pixels of a picture of this size; null if the two patches are close.
  function points(w, h) {
    const { shown, picture } = frame;
    const { rows, columns } = shown.pack;
    const { mark } = shown;
    const brightest = picture.tag?.patch ?? -1;
    if (mark < 0 || brightest < 0 || picture.tag.own) return null;
    const centreOf = (patch) => [
      (((patch % columns) + 0.5) / columns) * w,
      ((Math.floor(patch / columns) + 0.5) / rows) * h,
    ];
    const [from, to] = [centreOf(mark), centreOf(brightest)];
    const length = Math.hypot(from[0] - to[0], from[1] - to[1]);
    if (length < (LEAST_CURVE_LENGTH * w) / columns) return null;
    return { from, bend: [(from[0] + to[0]) / 2, Math.max(0, Math.min(from[1], to[1]) - CURVE_BOW * length)], to };
  }

  // Draws the curve through these points, unless it is drawn already; null removes the curve.
  function draw(ends) {
    const { pictureWidth: w, pictureHeight: h } = frame;
    const path = ends ? curvePath(ends) : "";
    if (path === drawnPath) return;
    drawnPath = path;
    box.classList.remove("drawn");
    clearTimeout(restTimer);
    if (!ends) return;
    drawing.setAttribute("viewBox", `0 0 ${w} ${h}`);
    for (const line of lines) line.setAttribute("d", path);
    restTimer = setTimeout(() => box.classList.add("drawn"), CURVE_DELAY);
  }

  return { points, draw };
}

function curvePath({ from, bend, to }) {
  const [startText, bendText, endText] = [from, bend, to].map((point) => point.map(Math.round).join(" "));
  return `M${startText} Q${bendText} ${endText}`;
}

// Below: the staircase. It has a bar for each of the row's largest shares. A dashed outline shows the first bar's
// length at the other setting of the √d_k switch. Flipping the switch makes the bars grow or shrink.

export const BAR_COUNT = 12;
const FLIP_MS = 250; // ms of the animation when the switch is flipped
const easedFlip = (t) => t * t * (3 - 2 * t);

export const largestShares = (sorted) => Array.from(sorted.subarray(0, Math.min(BAR_COUNT, sorted.length)));

export function createStaircase() {
  return { from: [], to: [], altered: null, startTime: -FLIP_MS };
}

// Sets the bars. A flip of the switch animates the change; another patch does not.
export function setBars(stairs, shares, isAltered, time, isStill) {
  const isFlipped = stairs.altered !== null && stairs.altered !== isAltered && !isStill;
  if (isFlipped) Object.assign(stairs, { from: barsAt(stairs, time), startTime: time });
  else if (stairs.altered === null || time - stairs.startTime >= FLIP_MS) stairs.startTime = time - FLIP_MS;
  Object.assign(stairs, { to: shares, altered: isAltered });
}

export function barsAt({ from, to, startTime }, time) {
  const t = easedFlip(Math.min(1, Math.max(0, (time - startTime) / FLIP_MS)));
  return to.map((share, i) => share * t + (from[i] ?? 0) * (1 - t));
}

export const isMoving = (stairs, time) => time - stairs.startTime < FLIP_MS;

// bars: the shares; dashedShare: the largest share at the other setting; ramp, domain: the colours of the picture.
export function drawStaircase(context, w, h, bars, dashedShare, { ramp, domain, colours, unit }) {
  context.clearRect(0, 0, w, h);
  const [top, bottom] = [2 * unit, h - unit];
  const barStep = w / BAR_COUNT;
  const largest = Math.max(bars[0] ?? 0, dashedShare, 1e-6);
  const barHeight = (share) => Math.max(unit, (share / largest) * (bottom - top));
  context.strokeStyle = colours.soft;
  context.lineWidth = unit;
  context.setLineDash([3 * unit, 3 * unit]);
  context.strokeRect(0.5 * unit, bottom - barHeight(dashedShare), barStep - 3 * unit, barHeight(dashedShare));
  context.setLineDash([]);
  for (const [i, share] of bars.entries()) {
    context.fillStyle = ramp[stepOf(share, domain)];
    context.fillRect(i * barStep, bottom - barHeight(share), barStep - 2 * unit, barHeight(share));
    context.strokeRect(i * barStep + 0.5 * unit, bottom - barHeight(share), barStep - 3 * unit, barHeight(share));
  }
  context.fillStyle = colours.line;
  context.fillRect(0, bottom, w, unit);
}
