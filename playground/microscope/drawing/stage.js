// Mounts the lessons' drawings: provides theme, frames and motion, and sets what a reader chooses. It is created once
// in its element. A drawing is {take(data), paint(theme)}; `take` may return a promise of its height.

import { collectRefs, fitCanvas } from "./dom.js";

const REST = 300; // milliseconds from the reader's last change until the page follows

export const lessonDrawing =
  (create, markup = "") =>
  ({ data, parentElement, set }) => {
    const stage = (parentElement.__drawing ??= openStage(parentElement, create, markup));
    stage.set = set;
    if (stage.data !== data) {
      stage.data = data;
      stage.taken = stage.drawing.take(data);
    }
    stage.functions.redraw();
    return () => {
      stage.close();
      delete parentElement.__drawing;
    };
  };

function openStage(parentElement, create, markup) {
  const root = parentElement.querySelector("[data-drawing]");
  root.innerHTML = markup;
  const stage = Object.seal({
    data: null, //          the latest data
    taken: null, //         what the drawing's take returned
    drawing: null, //       {take, paint, read, end}
    functions: null, //     functions that the drawing may call
    set: null, //           the page's function, see lessons/host.js
    frame: 0,
    alive: true,
    close: null,
  });
  const paint = () => {
    stage.frame = 0;
    if (stage.alive && stage.data && root.clientWidth) stage.drawing.paint(themeOf(root));
  };
  stage.functions = {
    root,
    refs: collectRefs(root), // the elements of the markup, by their data-ref
    find: (name) => root.querySelector(`[data-ref="${name}"]`),
    redraw: () => (stage.frame ||= requestAnimationFrame(paint)),
    tell: (key, value) => stage.set({ [key]: value }, REST),
    moves: (duration, step) => move(stage, duration, step),
  };
  stage.drawing = create(stage.functions);
  root.__drawing = stage.drawing; // for tests and the console
  const observer = new ResizeObserver(stage.functions.redraw);
  observer.observe(root);
  stage.close = () => {
    stage.alive = false;
    observer.disconnect();
    stage.drawing.end?.();
    cancelAnimationFrame(stage.frame);
  };
  return stage;
}

// Calls step(t) in every frame, with t from 0 to 1, for `duration` milliseconds; for people who want no motion, calls
// only step(1). Returns a function that stops the motion.
function move(stage, duration, step) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    step(1);
    return () => {};
  }
  let isStopped = false;
  const start = performance.now();
  const drawFrame = (time) => {
    if (isStopped || !stage.alive) return;
    const t = Math.min(1, Math.max(0, (time - start) / duration));
    step(t);
    if (t < 1) requestAnimationFrame(drawFrame);
  };
  requestAnimationFrame(drawFrame);
  return () => (isStopped = true);
}

export const eased = (t) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);

// ------------------------------------------------------------------------------------------------------ theme and size

const rgbOf = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);
const cssOf = (rgb) => `rgb(${rgb.map(Math.round).join(" ")})`;
export const between = (a, b, t) => a.map((x, i) => x + (b[i] - x) * t);

function themeOf(root) {
  const style = getComputedStyle(root);
  const ink = rgbOf(style.color),
    paper = rgbOf(style.backgroundColor);
  return {
    ink: cssOf(ink),
    paper: cssOf(paper),
    soft: cssOf(between(paper, ink, 0.7)),
    line: cssOf(between(paper, ink, 0.18)),
    wash: cssOf(between(paper, ink, 0.06)),
    accent: style.getPropertyValue("--accent").trim(),
    dark: paper[0] + paper[1] + paper[2] < 384,
    font: style.fontFamily,
  };
}

// Clears a canvas and returns its context, scaled to CSS pixels. The canvas becomes `height` high and as wide as its
// element.
export function sheetOf(canvas, height) {
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  canvas.style.height = `${height}px`;
  const width = canvas.clientWidth;
  fitCanvas(canvas, width, height, ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height, ratio };
}

// Hatches a rectangle.
export function hatch(context, x, y, w, h, colour, period = 7, lineWidth = 1.5) {
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  context.beginPath();
  for (let offset = -h; offset < w; offset += period) {
    context.moveTo(x + offset, y + h);
    context.lineTo(x + offset + h, y);
  }
  context.strokeStyle = colour;
  context.lineWidth = lineWidth;
  context.stroke();
  context.restore();
}

// The position of a pointer on an element, in CSS pixels.
export function spotOf(event, element) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

// ------------------------------------------------------------------------------------------------------ signed numbers

// Brown below zero, grey at zero, teal above. Queries, keys and weights have other colours.
const BELOW_ZERO = [
  [140, 81, 10],
  [222, 165, 80],
];
const ABOVE_ZERO = [
  [1, 102, 94],
  [62, 190, 172],
];
const AT_ZERO = [
  [246, 246, 246],
  [38, 38, 45],
];

export function signedColour(t, dark) {
  const side = dark ? 1 : 0;
  const strength = Math.min(1, Math.abs(t)) || 0;
  return between(AT_ZERO[side], (t < 0 ? BELOW_ZERO : ABOVE_ZERO)[side], strength);
}

export const signedCss = (t, dark) => cssOf(signedColour(t, dark));

// 256 colours for values from −1 to 1, as canvas pixels. colourAt(value): [red, green, blue]
export const paletteOf = (colourAt) =>
  Uint32Array.from({ length: 256 }, (_, i) => {
    const [r, g, b] = colourAt((i - 127.5) / 127.5).map(Math.round);
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });

export const signedPalette = (dark) => paletteOf((t) => signedColour(t, dark));

export const withMinus = (x, digits = 2) => x.toFixed(digits).replace("-", "−");
