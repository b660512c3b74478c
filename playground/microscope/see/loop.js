// Makes a loop from a moment: the photograph, its row through the layers, the moment with its curve and its sentence.
// It ends with a still picture and begins again. The browser records it, as MP4 if it can.

import { ROLES } from "../core/colours.js";
import { outlineCell } from "../drawing/dom.js";
import { placeInFilm } from "./play.js";

const LOOP_MS = 4500;
const LAYERS_FROM = 500; // ms: until then the photograph alone is shown
const LIT_FROM = 2300; // the moment follows the last layer
const CURVE_FROM = 2500;
const CURVE_MS = 300;
const WORDS_FROM = 2800;
const FADE_MS = 200;
const FILM_RATE = 25; // frames a second
const FILM_KINDS = ["video/mp4;codecs=avc1.42E01F", "video/mp4", "video/webm"];
const LOOP_EDGE = 36; // px around the words
const LARGEST_TYPE = 54;
const LEAST_TYPE = 18;
const LEADING = 1.26;
export const OUTLINE_UNIT = 3; // px for each px of the asking patch's outline
const PAPER = "#131318";
const INK = "#f1f1f4";
const SOFT_INK = "#a9a9b2";
// Words below a picture have at most this share of its height, words beside it of its width, so that the photograph has
// at least three quarters of the frame.
const MOST_WORDS = 0.325;
const WIDEST_BESIDE = 2; // a wider picture has its words below, in both formats
const LOOP_SIZES = { tall: { width: 1080, height: 1350, words: 300 }, wide: { width: 1920, height: 1080, words: 420 } };

// The frame of a loop for a picture of this aspect: {width, height, picture: [width, height], words: {x, y, width,
// height}, small: the type of the line below the sentence}. Video needs even sizes.
export function loopShape(way, aspect) {
  const { width: mostWidth, height: mostHeight, words: mostWords } = LOOP_SIZES[way];
  const even = (size) => 2 * Math.round(size / 2);
  const isBeside = way === "wide" && aspect <= WIDEST_BESIDE;
  const widest = isBeside ? mostWidth - mostWords : mostWidth;
  const width = even(Math.min(widest, mostHeight * aspect));
  const height = even(width / aspect);
  const room = even(Math.min(mostWords, MOST_WORDS * (isBeside ? width : height)) - 1);
  const words = isBeside ? { x: width, y: 0, width: room, height } : { x: 0, y: height, width, height: room };
  const small = Math.round(Math.min(26, Math.max(14, room / (isBeside ? 14 : 9))));
  const [frameWidth, frameHeight] = isBeside ? [width + room, height] : [width, height + room];
  return { width: frameWidth, height: frameHeight, picture: [width, height], words, small };
}

// moment: {photo, film: the row's layers, see play.js, or null; lit: a canvas of the picture's size; cell: {x, y,
// width, height} of the query's patch; curve: {from, bend, to} or null; sentence: [{text, marked}]; layerSays(layer):
// the sentence while that layer is shown; source: what the row is; maker: who made the loop, and where}
export function drawLoop(context, shape, moment, font, ms) {
  const { photo, film, lit: litCanvas, cell, curve, sentence, source, maker } = moment;
  context.fillStyle = PAPER;
  context.fillRect(0, 0, shape.width, shape.height);
  context.drawImage(photo, 0, 0);
  const isInLayers = film && ms >= LAYERS_FROM && ms < LIT_FROM + FADE_MS;
  const place = film && placeInFilm((ms - LAYERS_FROM) / (LIT_FROM - LAYERS_FROM), film.layers.length);
  if (isInLayers) film.draw(context, place);
  context.globalAlpha = loopProgress(ms, LIT_FROM, FADE_MS);
  context.drawImage(litCanvas, 0, 0);
  if (cell && ms >= LIT_FROM) outlineCell(context, cell.x, cell.y, cell.width, cell.height, OUTLINE_UNIT, ROLES.query);
  context.globalAlpha = 1;
  if (curve) drawLoopCurve(context, curve, loopProgress(ms, CURVE_FROM, CURVE_MS));
  const credit = ms < LIT_FROM ? maker : `${source} · ${maker}`; // the source names the layer of the moment
  const creditHeight = drawCredit(context, credit, shape, font);
  const words = { ...shape.words, height: shape.words.height - creditHeight };
  if (isInLayers && ms < LIT_FROM)
    drawWords(context, [{ text: moment.layerSays(film.layers[Math.floor(place)]) }], words, font, SOFT_INK);
  context.globalAlpha = loopProgress(ms, WORDS_FROM, FADE_MS);
  if (ms >= WORDS_FROM) drawWords(context, sentence, words, font, INK);
  context.globalAlpha = 1;
}

// Draws the line at the lower edge. Returns the height that it takes.
function drawCredit(context, credit, { words: { x, y, width, height }, small }, font) {
  context.font = `400 ${small}px ${font}`;
  context.fillStyle = SOFT_INK;
  const edge = Math.min(LOOP_EDGE, height / 8);
  const lines = linesOf(context, [{ text: credit }], width - 2 * LOOP_EDGE);
  for (const [n, line] of lines.entries()) {
    const baseline = y + height - edge - (lines.length - 1 - n) * LEADING * small;
    for (const word of line) context.fillText(word.text, x + LOOP_EDGE + word.x, baseline);
  }
  return edge + lines.length * LEADING * small;
}

const loopProgress = (ms, from, duration) => Math.min(1, Math.max(0, (ms - from) / duration));

function drawLoopCurve(context, { from, bend, to }, progress) {
  if (progress <= 0) return;
  context.save();
  context.lineCap = "round";
  context.strokeStyle = "#fff";
  context.lineWidth = 7;
  context.shadowColor = "rgb(0 0 0 / 0.6)";
  context.shadowBlur = 6;
  context.beginPath();
  context.moveTo(...from);
  for (let t = 0.04; t <= progress + 1e-9; t += 0.04) {
    const point = [0, 1].map((i) => (1 - t) ** 2 * from[i] + 2 * t * (1 - t) * bend[i] + t * t * to[i]);
    context.lineTo(...point);
  }
  context.stroke();
  context.restore();
}

// Draws a sentence in this room, in the largest type that fits.
function drawWords(context, sentence, { x, y, width, height }, font, ink) {
  const edge = Math.min(LOOP_EDGE, height / 8);
  let size = LARGEST_TYPE + 2;
  let lines = [];
  do {
    size -= 2;
    context.font = `400 ${size}px ${font}`;
    lines = linesOf(context, sentence, width - 2 * LOOP_EDGE);
  } while (size > LEAST_TYPE && !fits(lines, size, width - 2 * LOOP_EDGE, height - edge));
  context.textBaseline = "alphabetic";
  for (const [n, line] of lines.entries()) {
    for (const word of line) {
      const baseline = y + edge + size + n * LEADING * size;
      const left = x + LOOP_EDGE + word.x;
      if (word.marked) {
        context.fillStyle = ROLES.key;
        context.fillRect(left - 0.18 * size, baseline - 0.86 * size, word.width + 0.36 * size, 1.16 * size);
      }
      context.fillStyle = word.marked ? "#fff" : ink;
      context.fillText(word.text, left, baseline);
    }
  }
}

const fits = (lines, size, width, height) =>
  lines.length * LEADING * size <= height && lines.flat().every((word) => word.x + word.width <= width);

// Breaks a sentence into lines of words, [[{text, marked, x, width}]]. The text of a marked place stays on one line.
export function linesOf(context, sentence, lineWidth) {
  const lines = [[]];
  let x = 0;
  for (const { text, marked: isMarked = false } of sentence) {
    for (const word of isMarked ? [text] : (text.match(/ *[^ ]+/g) ?? [])) {
      const padding = isMarked ? 12 : 0;
      if (x > 0 && x + context.measureText(word).width + 2 * padding > lineWidth) {
        lines.push([]);
        x = 0;
      }
      const shownWord = x === 0 ? word.trimStart() : word;
      const width = context.measureText(shownWord).width;
      lines.at(-1).push({ text: shownWord, marked: isMarked, x: x + padding, width });
      x += width + 2 * padding;
    }
  }
  return lines;
}

const filmKind = () =>
  globalThis.MediaRecorder && HTMLCanvasElement.prototype.captureStream
    ? FILM_KINDS.find((kind) => MediaRecorder.isTypeSupported(kind))
    : undefined;

// Records the loop from `canvas` as a blob, then goes on playing it there; null if the recording failed or is no longer
// wanted.
export async function makeLoop(canvas, shape, moment, font, isWanted) {
  Object.assign(canvas, { width: shape.width, height: shape.height });
  const context = canvas.getContext("2d");
  const draw = (ms) => drawLoop(context, shape, moment, font, ms);
  draw(0);
  const kind = filmKind();
  const loop = kind && (await recordLoop(canvas, kind, draw, isWanted));
  const repeat = () => {
    draw(performance.now() % LOOP_MS);
    if (isWanted()) requestAnimationFrame(repeat);
  };
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) repeat();
  return loop;
}

function recordLoop(canvas, mimeType, draw, isWanted) {
  return new Promise((resolve) => {
    const chunks = [];
    const recorder = new MediaRecorder(canvas.captureStream(FILM_RATE), { mimeType, videoBitsPerSecond: 6e6 });
    recorder.addEventListener("dataavailable", ({ data }) => chunks.push(data));
    recorder.addEventListener("stop", () =>
      resolve(chunks.length ? new Blob(chunks, { type: recorder.mimeType }) : null),
    );
    recorder.addEventListener("error", () => resolve(null));
    recorder.start();
    const startTime = performance.now();
    const step = () => {
      const ms = performance.now() - startTime;
      draw(Math.min(ms, LOOP_MS));
      if (ms >= LOOP_MS || !isWanted()) recorder.stop();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}
