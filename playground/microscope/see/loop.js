// A moment as three seconds to send on: the photograph, the curve to where its patch looks, the sentence. It ends at
// rest, so that it can go round. Films are recorded where the browser can write MP4, else written as a GIF.
import { ROLES } from "../core/colours.js";
import { makeCanvas, outlineCell } from "../drawing/dom.js";
import { gifOf } from "./gif.js";

const LOOP_MS = 3000;
const LIT_FROM = 600; // ms: the photograph alone until then
const CURVE_FROM = 850;
const CURVE_MS = 300;
const SAID_FROM = 1250;
const FADE = 200;
const FILM_RATE = 25; // frames a second
const FILM_KINDS = ["video/mp4;codecs=avc1.42E01F", "video/mp4"];
const GIF_MOMENTS = [0, 650, 720, 860, 950, 1050, 1160, 1350, 1500]; // ms: a picture of each, the last one stays
const LOOP_EDGE = 56; // pixels around the words
const TYPE = { size: 54, lead: 68, small: 28 };
const PAPER = "#131318";
const INK = "#f1f1f4";
const SOFT = "#a9a9b2";
// Where the picture and the words stand
export const LOOP_SHAPES = {
  tall: {
    width: 1080,
    height: 1350,
    picture: [1080, 1000],
    words: ([, high]) => ({ x: LOOP_EDGE, y: high + 76, wide: 968 }),
  },
  wide: {
    width: 1920,
    height: 1080,
    picture: [1360, 1080],
    words: ([wide]) => ({ x: wide + LOOP_EDGE, y: 150, wide: 448 }),
  },
};

// The picture's size in a shape.
export function loopPicture({ picture: [wide, high] }, aspect) {
  const width = Math.round(Math.min(wide, high * aspect));
  return [width, Math.round(width / aspect)];
}

// moment: {photo, lit: canvases of the picture's size, cell: {x, y, width, height} of who asks, curve: {from, bend, to}
// or null, sentence: [{text, marked}], made: the line below it}
export function drawLoop(context, shape, { photo, lit, cell, curve, sentence, made }, font, ms) {
  const size = [photo.width, photo.height];
  const top = shape === LOOP_SHAPES.wide ? Math.round((shape.height - size[1]) / 2) : 0;
  context.fillStyle = PAPER;
  context.fillRect(0, 0, shape.width, shape.height);
  context.drawImage(photo, 0, top);
  context.globalAlpha = passedOf(ms, LIT_FROM, FADE);
  context.drawImage(lit, 0, top);
  if (cell && ms >= LIT_FROM) outlineCell(context, cell.x, cell.y + top, cell.width, cell.height, 3, ROLES.query);
  context.globalAlpha = 1;
  if (curve) drawLoopCurve(context, curve, top, passedOf(ms, CURVE_FROM, CURVE_MS));
  context.globalAlpha = passedOf(ms, SAID_FROM, FADE);
  drawWords(context, sentence, shape.words(size), font);
  context.font = `400 ${TYPE.small}px ${font}`;
  context.fillStyle = SOFT;
  const { x, wide } = shape.words(size);
  context.globalAlpha = 1;
  for (const [n, line] of linesOf(context, [{ text: made }], wide)
    .reverse()
    .entries())
    for (const word of line) context.fillText(word.text, x + word.x, shape.height - LOOP_EDGE - n * 1.3 * TYPE.small);
}

const passedOf = (ms, from, long) => Math.min(1, Math.max(0, (ms - from) / long));

function drawLoopCurve(context, { from, bend, to }, top, along) {
  if (along <= 0) return;
  context.save();
  context.translate(0, top);
  context.lineCap = "round";
  context.strokeStyle = "#fff";
  context.lineWidth = 7;
  context.shadowColor = "rgb(0 0 0 / 0.6)";
  context.shadowBlur = 6;
  context.beginPath();
  context.moveTo(...from);
  for (let t = 0.04; t <= along + 1e-9; t += 0.04) {
    const at = [0, 1].map((i) => (1 - t) ** 2 * from[i] + 2 * t * (1 - t) * bend[i] + t * t * to[i]);
    context.lineTo(...at);
  }
  context.stroke();
  context.restore();
}

function drawWords(context, sentence, { x, y, wide }, font) {
  context.font = `400 ${TYPE.size}px ${font}`;
  context.textBaseline = "alphabetic";
  for (const [n, line] of linesOf(context, sentence, wide).entries()) {
    for (const word of line) {
      const down = y + n * TYPE.lead;
      if (word.marked) {
        context.fillStyle = ROLES.key;
        context.fillRect(x + word.x - 10, down - 0.86 * TYPE.size, word.wide + 20, 1.16 * TYPE.size);
      }
      context.fillStyle = word.marked ? "#fff" : INK;
      context.fillText(word.text, x + word.x, down);
    }
  }
}

// Words in lines, [[{text, marked, x, wide}]]; a marked place stays together.
export function linesOf(context, sentence, room) {
  const lines = [[]];
  let x = 0;
  for (const { text, marked = false } of sentence) {
    for (const word of marked ? [text] : (text.match(/ *[^ ]+/g) ?? [])) {
      const padding = marked ? 12 : 0;
      if (x > 0 && x + context.measureText(word).width + 2 * padding > room) {
        lines.push([]);
        x = 0;
      }
      const shown = x === 0 ? word.trimStart() : word;
      const wide = context.measureText(shown).width;
      lines.at(-1).push({ text: shown, marked, x: x + padding, wide });
      x += wide + 2 * padding;
    }
  }
  return lines;
}

const filmKind = () =>
  globalThis.MediaRecorder && HTMLCanvasElement.prototype.captureStream
    ? FILM_KINDS.find((kind) => MediaRecorder.isTypeSupported(kind))
    : undefined;

// A blob of the film, drawn into `canvas` meanwhile; null where it failed or nobody wants it any more.
export async function makeLoop(canvas, shape, moment, font, goesOn) {
  Object.assign(canvas, { width: shape.width, height: shape.height });
  const context = canvas.getContext("2d");
  const draw = (ms) => drawLoop(context, shape, moment, font, ms);
  draw(0);
  const kind = filmKind();
  return (kind && (await recorded(canvas, kind, draw, goesOn))) || gifOfLoop(canvas, draw, goesOn);
}

function recorded(canvas, mimeType, draw, goesOn) {
  return new Promise((done) => {
    const pieces = [];
    const recorder = new MediaRecorder(canvas.captureStream(FILM_RATE), { mimeType, videoBitsPerSecond: 6e6 });
    recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
    recorder.addEventListener("stop", () => done(pieces.length ? new Blob(pieces, { type: recorder.mimeType }) : null));
    recorder.addEventListener("error", () => done(null));
    recorder.start();
    const begun = performance.now();
    const step = () => {
      const ms = performance.now() - begun;
      draw(Math.min(ms, LOOP_MS));
      if (ms >= LOOP_MS || !goesOn()) recorder.stop();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}

async function gifOfLoop(canvas, draw, goesOn) {
  const { width, height } = canvas;
  const read = makeCanvas(width, height);
  const context = read.getContext("2d", { willReadFrequently: true });
  const frames = [];
  for (const [n, ms] of GIF_MOMENTS.entries()) {
    await new Promise((goOn) => setTimeout(goOn));
    if (!goesOn()) return null;
    draw(ms);
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    frames.push({ pixels: data, ms: (GIF_MOMENTS[n + 1] ?? LOOP_MS) - ms });
  }
  return new Blob([gifOf(frames, width, height)], { type: "image/gif" });
}
