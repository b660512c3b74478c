// What the drawings of the story are put together from: elements, canvases, bars, a vector as a strip.
import { bareShare } from "../core/numbers.js";
import { fitCanvas } from "../drawing/dom.js";

const STRIP = 34; // px, high
const LEAST_SHOWN = 0.0005; // of a row: what is less bears no number

// One bar a number: up above zero, down below; the longest of all is `most`.
export function stripIn(box, name, values, most, colour, ratio) {
  elementIn(box, "b", `story-${name}`).textContent = name;
  const canvas = canvasIn(box, box.clientWidth || 300, STRIP, ratio);
  const context = canvas.getContext("2d");
  const [wide, middle] = [canvas.width / values.length, canvas.height / 2];
  context.fillStyle = colour;
  for (const [at, value] of values.entries()) {
    const high = (Math.abs(value) / most) * middle;
    context.fillRect(at * wide, value > 0 ? middle - high : middle, Math.max(1, wide - ratio), Math.max(1, high));
  }
}

export const shareBar = (share) => ({ share, text: share < LEAST_SHOWN ? "" : bareShare(share) });

// bars: [{share, text, marked}]
export function barsIn(box, bars, most) {
  const list = elementIn(box, "ol", "story-bars");
  for (const { share, text, marked } of bars) {
    const bar = elementIn(list, "li", marked ? "marked" : "");
    bar.style.setProperty("--high", String(share / (most || 1)));
    elementIn(bar, "i");
    elementIn(bar, "span").textContent = text;
  }
}

export function elementIn(box, tag, className = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  box.append(element);
  return element;
}

export function canvasIn(box, width, height, ratio) {
  const canvas = elementIn(box, "canvas");
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  fitCanvas(canvas, width, height, ratio);
  return canvas;
}
