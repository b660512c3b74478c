// Draws the small charts beside the pictures (colour bar, sorted weights, cells of a kernel), and joins pictures into
// one canvas for a file.

import { ROLES } from "../core/colours.js";
import { stepOf } from "../core/light.js";
import { shortNumber } from "../core/numbers.js";
import { makeCanvas } from "./dom.js";
import { barColours } from "./light.js";
import { hatch } from "./stage.js";

const BAR_STEP = 2; // pixels of the bar that have one colour

// The value at `t`, a position from 0 to 1 along a colour bar.
const valueOnBar = ({ low, high }, t) => low + t * (high - low);

// The number below a position of the bar. Only the last number has the unit.
function tickOfBar(domain, t) {
  const exactValue = valueOnBar(domain, t);
  const value = Math.abs(exactValue) < 1e-4 * (domain.high - domain.low) ? 0 : exactValue;
  const percentText = String(Number((100 * value).toPrecision(2))).replace("-", "\u2212");
  const text = domain.unit === "percent" ? percentText + (t === 1 ? "\u2009%" : "") : shortNumber(value);
  return domain.open && t === 1 ? `≥\u2009${text}` : text;
}

// Draws the colours of a picture as a bar, with numbers below. The last number is the exposure, the value of the
// brightest colour. `ramp`: 256 CSS colours of the heat.
export function drawColourBar(canvas, ramp, domain, unit, colours) {
  const against = domain.signed ? barColours(true) : []; // made when a picture has signs: it takes a phone .3 s
  const context = canvas.getContext("2d");
  const { width: w, height: h } = canvas;
  context.clearRect(0, 0, w, h);
  const barHeight = 9 * unit;
  for (let x = 0; x < w; x += BAR_STEP) {
    const step = stepOf(valueOnBar(domain, (x + BAR_STEP / 2) / w), domain);
    context.fillStyle = step < 0 ? against[-step] : ramp[step];
    context.fillRect(x, 0, BAR_STEP, barHeight);
  }
  if (domain.signed) hatch(context, 0, 0, w / 2, barHeight, "rgb(90 90 94 / 0.75)", 5 * unit, 1.2 * unit);
  context.font = `${12 * unit}px ${colours.font}`;
  context.fillStyle = colours.soft;
  context.textBaseline = "top";
  const [low, middle, high] = [0, 0.5, 1].map((t) => tickOfBar(domain, t));
  const [lowWidth, middleWidth, highWidth] = [low, middle, high].map((text) => context.measureText(text).width);
  const write = (text, align, x) => {
    context.textAlign = align;
    context.fillText(text, x, barHeight + 4 * unit);
  };
  write(low, "left", 0);
  if (Math.max(lowWidth, highWidth) + 6 * unit + middleWidth / 2 <= w / 2) write(middle, "center", w / 2);
  write(high, "right", w);
}

const CURVE_LEFT = 44, // units at the left of the axis of ranks
  CURVE_RIGHT = 2; // units at its right

// Draws the weights from the largest to the smallest. The axis of ranks is logarithmic, so that the few large weights
// get most of the width. A bar has the colour of its patch in the picture. The line shows the weights of the
// convolution's kernel. `litRank`: the rank, from 0, of the patch under the cursor; −1: no patch.
export function drawCurve(canvas, sorted, count, kernel, ramp, domain, unit, colours, litRank = -1) {
  const context = canvas.getContext("2d");
  const { width: w, height: h } = canvas;
  context.clearRect(0, 0, w, h);
  const leftEdge = CURVE_LEFT * unit,
    bottom = h - 17 * unit,
    top = 6 * unit,
    rightEdge = w - CURVE_RIGHT * unit;
  const largest = Math.max(sorted[0], kernel[0]);
  const ceiling = largest <= 0.25 ? 0.25 : largest <= 0.5 ? 0.5 : 1;
  const logSpan = Math.log(count + 0.5) - Math.log(0.5);
  const xOf = (rank) => leftEdge + ((Math.log(rank + 0.5) - Math.log(0.5)) / logSpan) * (rightEdge - leftEdge);
  const yOf = (weight) => bottom - (Math.min(weight, ceiling) / ceiling) * (bottom - top);

  context.font = `${12 * unit}px ${colours.font}`;
  context.fillStyle = colours.soft;
  context.strokeStyle = colours.line;
  context.lineWidth = unit;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.beginPath();
  for (const fraction of [0, 0.5, 1]) {
    const y = Math.round(yOf(fraction * ceiling)) + 0.5;
    context.moveTo(leftEdge, y);
    context.lineTo(rightEdge, y);
    context.fillText(`${100 * fraction * ceiling}\u2009%`, leftEdge - 5 * unit, Math.max(y, top));
  }
  context.stroke();

  // A thin line runs along the top of the bars, because bars of the smallest weights are a faint grey.
  context.beginPath();
  for (let rank = 0, nextRank; rank < count; rank = nextRank) {
    const x = xOf(rank),
      y = Math.min(yOf(sorted[rank]), bottom - 1.5 * unit);
    nextRank = rank + 1;
    while (nextRank < count && xOf(nextRank) - x < unit) nextRank++; // at the right, ranks in one pixel share a bar
    context.fillStyle = ramp[stepOf(sorted[rank], domain)];
    context.fillRect(x, y, xOf(nextRank) - x + 0.5, bottom - y);
    context.lineTo(x, y);
    context.lineTo(xOf(nextRank), y);
  }
  context.strokeStyle = colours.soft;
  context.stroke();

  context.beginPath();
  context.moveTo(xOf(0), yOf(kernel[0]));
  for (let rank = 0; rank < kernel.length && rank < count; rank++) {
    context.lineTo(xOf(rank), yOf(kernel[rank]));
    context.lineTo(xOf(rank + 1), yOf(kernel[rank]));
  }
  context.lineTo(xOf(Math.min(kernel.length, count)), bottom);
  context.strokeStyle = colours.convolution;
  context.lineWidth = 2 * unit;
  context.stroke();

  if (litRank >= 0) {
    const x = xOf(litRank),
      width = Math.max(2 * unit, xOf(litRank + 1) - x),
      y = Math.min(yOf(sorted[litRank]), bottom - 3 * unit);
    context.fillStyle = ROLES.key;
    context.fillRect(x, y, width, bottom - y);
    context.globalAlpha = 0.25;
    context.fillRect(x, top, width, y - top);
    context.globalAlpha = 1;
  }

  context.fillStyle = colours.soft;
  context.textBaseline = "bottom";
  for (const rank of [1, kernel.length, count]) {
    context.textAlign = rank === count ? "right" : "center";
    context.fillText(String(rank), rank === count ? rightEdge : (xOf(rank - 1) + xOf(rank)) / 2, h);
  }
}

// ------------------------------------------------------------------------------------------------- pictures as a file

// A canvas with pictures side by side and a line of text below. pictures: [{draw(context, w, h, unit), title}], each of
// `width` × `height` CSS pixels; factor: canvas pixels for a CSS pixel.
export function composePicture(pictures, width, height, caption, drawBar, factor) {
  const gap = 16, // pixels between the pictures, and around them
    headHeight = 30,
    footHeight = 58;
  const canvas = makeCanvas(
    (pictures.length * (width + gap) + gap) * factor,
    (headHeight + height + footHeight) * factor,
  );
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  const font = "system-ui, -apple-system, 'Segoe UI', sans-serif";
  const w = Math.round(width * factor),
    h = Math.round(height * factor);
  const sheet = makeCanvas(w, h);
  pictures.forEach(({ draw, title }, place) => {
    const x = Math.round((gap + place * (width + gap)) * factor);
    const sheetContext = sheet.getContext("2d");
    sheetContext.clearRect(0, 0, w, h);
    draw(sheetContext, w, h, factor);
    context.drawImage(sheet, x, Math.round(headHeight * factor));
    context.fillStyle = "#111";
    context.font = `600 ${15 * factor}px ${font}`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(title, x, (headHeight / 2) * factor, w);
  });
  const barCanvas = makeCanvas(Math.min(w, 320 * factor), 26 * factor);
  drawBar(barCanvas, factor, { soft: "#333", font });
  context.drawImage(barCanvas, gap * factor, (headHeight + height + 8) * factor);
  context.fillStyle = "#333";
  context.font = `${12 * factor}px ${font}`;
  context.fillText(caption, gap * factor, (headHeight + height + 47) * factor, canvas.width - 2 * gap * factor);
  return canvas;
}
