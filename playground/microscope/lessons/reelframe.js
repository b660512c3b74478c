// One frame of the time-lapse: the picture between two moments, the mark in the charts, the words. `reel` is the state
// of reel.js.

import { effectiveNumber, entropyBits, holds, largestIndex, rowInto } from "../core/core.js";
import { percent } from "../core/numbers.js";
import { queryOf, tokenOf } from "../core/view.js";
import { say, show } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { moveMark, writeCharts } from "./reelcharts.js";

const SECONDS = 0.8; // from one moment to the next

export function onReelFrame(reel, time) {
  reel.frame = 0;
  if (!reel.shape || !reel.width || !reel.moments.length) return;
  if (reel.target !== null) advance(reel, time);
  else reel.before = undefined;
  paintReel(reel);
  reel.frames++;
  if (reel.target !== null) reel.schedule();
}

// Even pace; who follows a run that gets ahead hurries after it.
function advance(reel, time) {
  const passed = Math.min(100, time - (reel.before ?? time)) / 1000;
  reel.before = time;
  const pace = Math.max(1, reel.growing ? reel.target - reel.now : 1) / SECONDS;
  reel.now = Math.min(reel.target, reel.now + passed * pace);
  if (reel.now >= reel.target) reel.goTo(reel.target);
}

// Each moment stands still for a while, then fades into the next.
function blendOf(reel) {
  const last = reel.moments.length - 1;
  const from = Math.min(last, Math.floor(reel.now)),
    rest = reel.now - from;
  const t = Math.min(1, Math.max(0, (rest - 0.35) / 0.5));
  const share = reel.calm ? Math.round(rest) : t * t * (3 - 2 * t);
  return { from, to: Math.min(last, from + 1), share };
}

function paintReel(reel) {
  const { refs, view, moments, shape } = reel;
  const { from, to, share } = blendOf(reel);
  const nearest = share < 0.5 ? from : to;
  const token = tokenOf(reel.hover ?? view.patch, shape);
  refs.slider.value = String(reel.now);
  refs.slider.setAttribute("aria-valuetext", `step ${moments[nearest]}`);
  say(refs.step, `step ${moments[nearest].toLocaleString("en")}`);
  say(refs.playSign, reel.target === null || reel.growing ? "▶" : "❚❚");
  refs.play.setAttribute("aria-label", reel.target === null ? "Play" : "Pause");
  moveMark(reel);
  writeCharts(reel, nearest);
  const missing = fillRows(reel, from, to, share, token);
  show(refs.waiting, missing);
  reel.painted = !missing && token;
  if (missing) return askForLayer(reel);
  const at = view.head * shape.tokens + shape.prefixCount;
  const { rows, columns } = shape;
  if (!reel.photo || reel.photo.width !== refs.picture.width) preparePhotos(reel);
  printHeat(reel.print, reel.rows, at, rows, columns, reel.domain);
  const picture = {
    rows,
    columns,
    grid: false,
    mark: token - shape.prefixCount,
    tag: null,
  };
  drawPicture(
    refs.picture.getContext("2d"),
    refs.picture.width,
    refs.picture.height,
    reel.print.canvas,
    picture,
    reel.ratio,
  );
  for (const [head, thumb] of reel.thumbs.entries()) {
    if (thumb.print?.photo !== reel.thumbPhoto) thumb.print = makePrint(reel.thumbPhoto, thumb.canvas);
    printHeat(thumb.print, reel.rows, head * shape.tokens + shape.prefixCount, rows, columns, reel.domain);
  }
  writeWords(reel, token);
}

function preparePhotos(reel) {
  const { picture } = reel.refs;
  reel.photo = makePhoto(reel.bitmap, picture.width, picture.height);
  reel.print = makePrint(reel.photo);
  const { clientWidth, clientHeight } = reel.thumbs[0].canvas;
  reel.thumbPhoto = makePhoto(reel.bitmap, (clientWidth || 1) * reel.ratio, (clientHeight || 1) * reel.ratio);
}

// The rows of all heads, mixed from two moments. True while one of the two has not arrived.
function fillRows(reel, from, to, share, token) {
  const { rows, ahead, shape, view, moments } = reel;
  const now = reel.packs.get(moments[from]),
    then = reel.packs.get(moments[to]);
  if (!now || !then || !holds(now, view.layer) || !holds(then, view.layer)) return true;
  for (let head = 0; head < shape.heads; head++) {
    const at = head * shape.tokens;
    rowInto(rows, at, now, view.layer, head, token, now.scale);
    if (share === 0) continue;
    rowInto(ahead, 0, then, view.layer, head, token, then.scale);
    for (let j = 0; j < shape.tokens; j++) rows[at + j] += share * (ahead[j] - rows[at + j]);
  }
  return false;
}

function askForLayer(reel) {
  const text = `${reel.run} ${reel.view.layer} ${reel.moments.length}`;
  say(reel.refs.waiting, `Layer ${reel.view.layer} is on its way.`);
  if (reel.asked === text) return;
  reel.asked = text;
  reel.host.ask?.({ run: reel.run, layer: reel.view.layer });
}

function writeWords(reel, token) {
  const { refs, view, shape, rows } = reel;
  const at = view.head * shape.tokens;
  const number = effectiveNumber(entropyBits(rows, at, shape.tokens));
  const peak = largestIndex(rows, at, at + shape.tokens);
  const about = `${number.toFixed(number < 10 ? 1 : 0)} of ${shape.tokens} tokens`;
  const largest = `the largest weight is ${percent(rows[peak])}`;
  say(refs.says, `Patch ${queryOf(token, shape)} listens to about ${about}; ${largest}.`);
  const told = reel.told.find(([layer, head]) => layer === view.layer && head === view.head);
  show(refs.told, Boolean(told));
  if (told) say(refs.told, `this head was told to ${told[2]}`);
}

export function readReel(reel) {
  const { view, shape, moments, rows } = reel;
  if (!shape || !rows) return null;
  const at = view.head * shape.tokens;
  return {
    run: reel.run,
    step: moments[view.moment],
    now: reel.now,
    moments: [...moments],
    layer: view.layer,
    head: view.head,
    patch: reel.hover ?? view.patch,
    row: Array.from(rows.subarray(at, at + shape.tokens)),
    playing: reel.target !== null,
    painted: reel.painted !== false && !reel.frame,
    frames: reel.frames,
    grid: [shape.rows, shape.columns],
    growing: reel.growing,
    words: reel.refs.says.textContent,
    told: reel.refs.told.hidden ? "" : reel.refs.told.textContent,
  };
}
