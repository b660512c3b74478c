// A moment as a loop of three seconds: the photograph, the curve to where its patch looks, the sentence. It ends still,
// so that it can repeat. It is recorded as MP4 if the browser can, else written as a GIF.

import { ROLES } from "../core/colours.js";
import { makeCanvas, outlineCell } from "../drawing/dom.js";

const LOOP_MS = 3000;
const LIT_FROM = 600; // ms: the photograph alone until then
const CURVE_FROM = 850;
const CURVE_MS = 300;
const SAID_FROM = 1250;
const FADE = 200;
const FILM_RATE = 25; // frames a second
const FILM_KINDS = ["video/mp4;codecs=avc1.42E01F", "video/mp4"];
const GIF_MOMENTS = [0, 650, 720, 860, 950, 1050, 1160, 1350, 1500]; // ms between pictures; the last one stays
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

// The picture's size within a format.
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

// Breaks words into lines, [[{text, marked, x, wide}]]; a marked place stays on one line.
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

// Records the film from `canvas` as a blob; null if it failed or is not wanted any more.
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

// An endless GIF from frames of RGBA pixels, with one palette of the most frequent colours. No DOM.

const GIF_COLOURS = 256;
const MISSED_MOST = 48; // of these, colours that would be missed most
const CONSIDERED = 4000; // frequent colours considered for them
const MOST_CODES = 4096; // codes of GIF's LZW have at most twelve bits

// frames: [{pixels: RGBA bytes, ms}]
export function gifOf(frames, width, height) {
  const palette = paletteOf(frames);
  const indexOf = nearestIn(palette);
  const out = [..."GIF89a"].map((letter) => letter.charCodeAt(0));
  const number = (value) => out.push(value & 255, value >> 8);
  number(width);
  number(height);
  out.push(0xf7, 0, 0); // a palette of 256 colours
  for (let i = 0; i < GIF_COLOURS; i++) out.push(...(palette[i] ?? [0, 0, 0]));
  // loops forever
  out.push(0x21, 0xff, 11, ...[..."NETSCAPE2.0"].map((letter) => letter.charCodeAt(0)), 3, 1, 0, 0, 0);
  const parts = [Uint8Array.from(out)];
  let former = null;
  for (const { pixels, ms } of frames) {
    const hundredths = Math.max(2, Math.round(ms / 10));
    const indices = new Uint8Array(width * height);
    for (let i = 0; i < indices.length; i++) indices[i] = indexOf(pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2]);
    const box = former ? changedBox(former, indices, width, height) : { left: 0, top: 0, wide: width, high: height };
    const { left, top, wide, high } = box;
    const head = [0x21, 0xf9, 4, 4, hundredths & 255, hundredths >> 8, 0, 0, 0x2c]; // draw over the former frame
    for (const value of [left, top, wide, high]) head.push(value & 255, value >> 8);
    parts.push(
      Uint8Array.from([...head, 0, 8]),
      ...blocksOf(packedCodes(cutOut(indices, width, box))),
      Uint8Array.of(0),
    );
    former = indices;
  }
  parts.push(Uint8Array.of(0x3b));
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// The smallest rectangle that contains all changes; one pixel if there are none.
function changedBox(former, next, width, height) {
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let i = 0; i < next.length; i++) {
    if (next[i] === former[i]) continue;
    const [x, y] = [i % width, Math.floor(i / width)];
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  if (right < 0) return { left: 0, top: 0, wide: 1, high: 1 };
  return { left, top, wide: right - left + 1, high: bottom - top + 1 };
}

function cutOut(indices, width, { left, top, wide, high }) {
  const part = new Uint8Array(wide * high);
  for (let y = 0; y < high; y++)
    part.set(indices.subarray((top + y) * width + left, (top + y) * width + left + wide), y * wide);
  return part;
}

// The most frequent colours at five bits a channel; the last places go to rare ones far from all others, such as a thin
// coloured line.
function paletteOf(frames) {
  const counts = new Uint32Array(1 << 15);
  for (const { pixels } of frames)
    for (let i = 0; i < pixels.length; i += 4)
      counts[((pixels[i] >> 3) << 10) | ((pixels[i + 1] >> 3) << 5) | (pixels[i + 2] >> 3)]++;
  const colours = [...counts.keys()]
    .filter((key) => counts[key])
    .sort((a, b) => counts[b] - counts[a])
    .map((key) => ({
      count: counts[key],
      rgb: [key >> 10, (key >> 5) & 31, key & 31].map((five) => (five << 3) | (five >> 2)),
    }));
  const chosen = colours.slice(0, GIF_COLOURS - MISSED_MOST);
  const others = colours.slice(chosen.length, chosen.length + CONSIDERED);
  for (const one of others) one.away = Math.min(...chosen.map(({ rgb }) => colourAway(rgb, one.rgb)));
  const missed = ({ count, away }) => count * away;
  while (chosen.length < GIF_COLOURS && others.length > 0) {
    const most = others.reduce((best, one, i) => (missed(one) > missed(others[best]) ? i : best), 0);
    const [taken] = others.splice(most, 1);
    chosen.push(taken);
    for (const one of others) one.away = Math.min(one.away, colourAway(taken.rgb, one.rgb));
  }
  return chosen.map(({ rgb }) => rgb);
}

const colourAway = ([r, g, b], [red, green, blue]) => 2 * (r - red) ** 2 + 4 * (g - green) ** 2 + (b - blue) ** 2;

// (red, green, blue) → index of the nearest colour; each of the 32,768 colours is searched once.
function nearestIn(palette) {
  const known = new Int16Array(1 << 15).fill(-1);
  return (red, green, blue) => {
    const key = ((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3);
    if (known[key] >= 0) return known[key];
    let [best, least] = [0, Number.POSITIVE_INFINITY];
    for (const [i, rgb] of palette.entries()) {
      const away = colourAway(rgb, [red, green, blue]);
      if (away < least) [best, least] = [i, away];
    }
    known[key] = best;
    return best;
  };
}

// LZW of bytes.
function packedCodes(indices) {
  const [clear, end] = [256, 257];
  const out = [];
  let [bits, held, size] = [0, 0, 9];
  const put = (code) => {
    held |= code << bits;
    bits += size;
    for (; bits >= 8; bits -= 8) {
      out.push(held & 255);
      held >>>= 8;
    }
  };
  let [table, next] = [new Map(), 258];
  put(clear);
  let prefix = indices[0];
  for (let i = 1; i < indices.length; i++) {
    const key = (prefix << 8) | indices[i];
    const code = table.get(key);
    if (code !== undefined) {
      prefix = code;
      continue;
    }
    put(prefix);
    if (next < MOST_CODES) {
      table.set(key, next++);
      if (next > 1 << size && size < 12) size++;
    } else {
      put(clear);
      [table, next, size] = [new Map(), 258, 9];
    }
    prefix = indices[i];
  }
  put(prefix);
  put(end);
  if (bits) out.push(held & 255);
  return Uint8Array.from(out);
}

function blocksOf(bytes) {
  const blocks = [];
  for (let at = 0; at < bytes.length; at += 255) {
    const block = bytes.subarray(at, at + 255);
    blocks.push(Uint8Array.of(block.length), block);
  }
  return blocks;
}
