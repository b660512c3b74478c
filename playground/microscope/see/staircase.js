// One row's softmax as a staircase: its largest shares as bars, and dashed what the other setting of the switch makes
// of the first. When the switch is flipped the bars grow or fall into place.
import { stepOf } from "../core/light.js";

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
