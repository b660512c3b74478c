// The way of the soft cursor that greets a newcomer: which patches it shows, and where it is at each moment. No DOM in
// here.

import { neighbourhood } from "./core.js";

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
