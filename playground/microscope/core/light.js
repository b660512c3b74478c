// How weights become light on a photograph. The code follows playground/figures/drawing/light.py line by line, so that
// a figure looks like the screen; a test compares the two. No DOM in here.
//
// Heat: warm colours over the photograph, which is darker. A larger weight is more opaque, and its
// colour goes from red through orange to gold. The colour is lighter than the photograph beneath it, so that lightness
// rises with the weight everywhere, and keeps the photograph's light and dark, so that objects stay recognisable.
// Smooth lines go around places: connected patches.

export const BENEATH_TONES = [0, 0.58]; // the photograph's darkest and brightest tones under the heat
export const BENEATH_SATURATION = 0.9; // share of the photograph's colour that stays under the heat
export const TONE_COUNT = 64; // number of the photograph's tones in the table of heat
export const STEP_COUNT = 256; // number of weight steps in the table of heat
const TOP_LIGHTNESS = [0.54, 0.99]; // lightness L in OKLab of the largest weight, over black and over white
// lightness of the smallest weight: 0 would be the photograph's lightness, 1 the lightness of the largest weight
const LEAST_LIFT = 0.4;
const HUES = [20, 55, 95]; // degrees, from the faintest to the strongest: red, orange, gold
const AGAINST_HUES = [285, 255, 220]; // degrees, for values below zero: violet, blue, sky; as light as HUES
// Hatching of values below zero, for grey prints: the number of lines in a cell, a line's width as a share of the
// period, the share of the colour that stays in a line
const HATCH = { lines: 4, wide: 0.3, kept: 0.3 };
const MIN_PERIOD = 4; // pixels from line to line
const CHROMAS = [0.17, 0.2, 0.17];
const MOST_OPACITY = 0.85; // opacity of the strongest colour
const OPACITY_POWER = 1.6; // above 1: opacity rises fast at first, so that small weights are visible
const GAMMA = 0.8; // below 1: makes small weights a little stronger
const CLIPPED_SHARE = 0.008; // share of the cells that may exceed the exposure
const PEAK_FACTOR = 0.2; // the exposure is at least this × the largest value, so that a dominant patch stands out
const MEAN_FACTOR = 2; // the exposure is at least this × the mean, so that an even row shows no pattern
const EVEN_SHARE = 0.95; // a row whose 2^entropy is at least this share of all tokens is called even
const EASING = 0.5; // how far an outline's corners move towards their neighbours' mean; 1: all the way

// The exposure: the value drawn brightest. Only few cells exceed it; see CLIPPED_SHARE, PEAK_FACTOR and MEAN_FACTOR.
export const exposure = (values, from, to) => exposureOfAll(values, [from], to - from);

// One exposure for several pictures, so that they can be compared. Each has `count` values from an index in `starts`.
export function exposureOfAll(values, starts, count) {
  const rank = Math.floor(starts.length * count * CLIPPED_SHARE);
  // The rank + 1 largest values so far. The rank is small, so this list is faster than sorting.
  const largest = new Float64Array(rank + 1).fill(-Infinity); // ascending
  let total = 0;
  for (const start of starts) {
    for (let j = start; j < start + count; j++) {
      const value = values[j];
      total += value;
      if (!(value > largest[0])) continue;
      let slot = 0;
      while (slot < rank && largest[slot + 1] < value) {
        largest[slot] = largest[slot + 1];
        slot++;
      }
      largest[slot] = value;
    }
  }
  return (
    asWritten(Math.max(largest[0], PEAK_FACTOR * largest[rank], (MEAN_FACTOR * total) / (starts.length * count))) || 1
  );
}

// Rounds up to two digits. So the exposure is exactly the number in the legend, and is the same on the screen and in a
// figure, although their sums differ in the last digits.
function asWritten(value) {
  if (!(value > 0)) return 0;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit - 1e-6) * unit;
}

// Patches, counted from 0, whose values exceed the exposure, the largest first.
export function clippedPatches(values, from, to, high) {
  const cells = [];
  for (let j = from; j < to; j++) if (values[j] > high) cells.push(j - from);
  return cells.sort((a, b) => values[from + b] - values[from + a]);
}

export const isEven = (entropyBits, tokens) => 2 ** entropyBits >= EVEN_SHARE * tokens;

// The table's step for a value: 0 … 255, or −255 … 255 in a signed domain. A domain is {low, high, signed}.
export function stepOf(value, { low, high, signed = false }) {
  if (signed) return Math.sign(value) * (Math.abs(value) >= high ? STEP_COUNT - 1 : raisedStep(Math.abs(value) / high));
  const share = (value - low) / (high - low);
  if (share >= 1) return STEP_COUNT - 1;
  if (!(share > 0)) return 0;
  return raisedStep(share);
}

// A domain around zero; its ends are ± the largest absolute value, and at least ± `floor`.
export function domainAround(values, from, to, floor = 0) {
  let high = floor;
  for (let j = from; j < to; j++) high = Math.max(high, Math.abs(values[j]));
  return { low: -(high || 1), high: high || 1, signed: true };
}

// Returns a function (x, y) → whether a pixel lies in a line of the hatching. Values below zero are hatched by slanting
// lines in which the photograph shows through, because in a grey print both signs would look the same. cell: a patch's
// height in pixels.
export function hatching(cell) {
  const period = Math.max(MIN_PERIOD, cell / HATCH.lines);
  return (x, y) => (x + y) % period < HATCH.wide * period;
}
export const hatchedStep = (step) => Math.round(step * HATCH.kept);

// Tables that turn a share into a step, share ** GAMMA. A frame needs a step for every cell of every head, and
// computing the powers would take most of the frame's time. STEP_STARTS holds the share at which each step begins;
// FIRST_STEPS holds, for each of GUESS_COUNT shares, the step at which to start searching.
const GUESS_COUNT = 1024;
const STEP_STARTS = Float64Array.from({ length: STEP_COUNT + 1 }, (_, step) =>
  step === 0 ? 0 : step === STEP_COUNT ? Infinity : ((step - 0.5) / (STEP_COUNT - 1)) ** (1 / GAMMA),
);
const FIRST_STEPS = Uint8Array.from(
  { length: GUESS_COUNT },
  (_, i) => STEP_STARTS.findIndex((share) => share > i / GUESS_COUNT) - 1,
);

function raisedStep(share) {
  let step = FIRST_STEPS[(share * GUESS_COUNT) | 0];
  while (STEP_STARTS[step + 1] <= share) step++;
  return step;
}

// The tone in the table, 0 … 63, for a pixel of 0 … 255.
export const toneOf = (r, g, b) => ((greyOf(r, g, b) / 255) * (TONE_COUNT - 1) + 0.5) | 0;

// The opacity of each step's colour, 0 … 256.
export const OPACITIES = Uint16Array.from({ length: STEP_COUNT }, (_, step) =>
  Math.round(256 * MOST_OPACITY * (1 - (1 - step / (STEP_COUNT - 1)) ** OPACITY_POWER)),
);

// The faded photograph as 0xAABBGGRR for each pixel.
export function fadedPixels(bytes) {
  const pixels = new Uint32Array(bytes.length / 4);
  const [darkest, brightest] = BENEATH_TONES;
  const colourFactor = (brightest - darkest) * BENEATH_SATURATION;
  const greyFactor = brightest - darkest - colourFactor;
  for (let p = 0, i = 0; p < pixels.length; p++, i += 4) {
    const [r, g, b] = [bytes[i], bytes[i + 1], bytes[i + 2]];
    const base = 255 * darkest + greyFactor * greyOf(r, g, b) + 0.5;
    const blueAndGreen = ((base + colourFactor * b) << 16) | ((base + colourFactor * g) << 8);
    pixels[p] = ((bytes[i + 3] << 24) | blueAndGreen | (base + colourFactor * r)) >>> 0;
  }
  return pixels;
}

export const greyOf = (r, g, b) => 0.299 * r + 0.587 * g + 0.114 * b;

// The colours of heat: STEP_COUNT × TONE_COUNT pixels, 0xAABBGGRR as a canvas stores them, computed once. The tones of
// a step are adjacent in memory, because a cell has one step and many tones.
const heatTables = new Map();

export function heatTable(isNegative = false) {
  if (heatTables.has(isNegative)) return heatTables.get(isNegative);
  const heatColours = new Uint32Array(TONE_COUNT * STEP_COUNT);
  heatTables.set(isNegative, heatColours);
  const bases = new Float64Array(TONE_COUNT);
  const tops = new Float64Array(TONE_COUNT);
  for (let tone = 0; tone < TONE_COUNT; tone++) {
    const grey = tone / (TONE_COUNT - 1);
    bases[tone] = lightnessOf(BENEATH_TONES[0] + (BENEATH_TONES[1] - BENEATH_TONES[0]) * grey);
    tops[tone] = TOP_LIGHTNESS[0] + (TOP_LIGHTNESS[1] - TOP_LIGHTNESS[0]) * lightnessOf(grey);
  }
  for (let step = 0; step < STEP_COUNT; step++) {
    const t = step / (STEP_COUNT - 1);
    const hue = (between3(isNegative ? AGAINST_HUES : HUES, t) * Math.PI) / 180;
    const wantedChroma = between3(CHROMAS, t);
    const [cos, sin] = [Math.cos(hue), Math.sin(hue)];
    for (let tone = 0; tone < TONE_COUNT; tone++) {
      const lightness = bases[tone] + (tops[tone] - bases[tone]) * (LEAST_LIFT + (1 - LEAST_LIFT) * t);
      writeColour(lightness, wantedChroma, cos, sin);
      const { r, g, b } = rgb;
      heatColours[step * TONE_COUNT + tone] = ((255 << 24) | (encoded(b) << 16) | (encoded(g) << 8) | encoded(r)) >>> 0;
    }
  }
  return heatColours;
}

// The heat where no photograph lies beneath: over black, in the colours for a bright tone. STEP_COUNT colours of three
// bytes, for every map, bar and matrix of weights.
export const BARE_TONE = Math.floor(0.6 * TONE_COUNT);
let bareColours = null;

export function bareHeat() {
  bareColours ??= Uint8Array.from({ length: 3 * STEP_COUNT }, (_, i) => {
    const [step, channel] = [Math.floor(i / 3), i % 3];
    return (((heatTable()[step * TONE_COUNT + BARE_TONE] >> (8 * channel)) & 255) * OPACITIES[step] + 128) >> 8;
  });
  return bareColours;
}

// The colour [red, green, blue] of a share of the largest weight, 0 … 1.
export function heatAt(share) {
  const start = 3 * stepOf(share, { low: 0, high: 1 });
  return bareHeat().subarray(start, start + 3);
}
export const heatCss = (share) => `rgb(${heatAt(share).join(" ")})`;

const lightnessOf = (grey) => Math.cbrt(linear(grey)); // OKLab's L

// Interpolates linearly between three values at t = 0, ½ and 1.
/** @param {number[]} values @param {number} t */
const between3 = ([a, b, c], t) => (t < 0.5 ? a + (b - a) * 2 * t : b + (c - b) * (2 * t - 1));

const rgb = { r: 0, g: 0, b: 0 }; // linear red, green and blue

// Writes into `rgb` the colour with this lightness and hue. Its chroma is at most `chroma`, and smaller if a screen
// can't show that.
function writeColour(lightness, chroma, cos, sin) {
  if (fromOklab(lightness, chroma * cos, chroma * sin)) return;
  let shownChroma = 0,
    unshownChroma = chroma;
  for (let i = 0; i < 12; i++) {
    const middle = (shownChroma + unshownChroma) / 2;
    if (fromOklab(lightness, middle * cos, middle * sin)) shownChroma = middle;
    else unshownChroma = middle;
  }
  fromOklab(lightness, shownChroma * cos, shownChroma * sin);
}

// Converts from OKLab into `rgb` (Björn Ottosson, 2020). Returns whether a screen can show the colour.
function fromOklab(lightness, a, b) {
  const l = lightness + 0.3963377774 * a + 0.2158037573 * b;
  const m = lightness - 0.1055613458 * a - 0.0638541728 * b;
  const s = lightness - 0.0894841775 * a - 1.291485548 * b;
  const [longWaves, mediumWaves, shortWaves] = [l * l * l, m * m * m, s * s * s];
  rgb.r = 4.0767416621 * longWaves - 3.3077115913 * mediumWaves + 0.2309699292 * shortWaves;
  rgb.g = -1.2684380046 * longWaves + 2.6097574011 * mediumWaves - 0.3413193965 * shortWaves;
  rgb.b = -0.0041960863 * longWaves - 0.7034186147 * mediumWaves + 1.707614701 * shortWaves;
  return onScreen(rgb.r) && onScreen(rgb.g) && onScreen(rgb.b);
}

const onScreen = (x) => x >= -1e-4 && x <= 1 + 1e-4;

const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);

function encoded(x) {
  const level = Math.min(1, Math.max(0, x));
  return (255 * (level <= 0.0031308 ? 12.92 * level : 1.055 * level ** (1 / 2.4) - 0.055) + 0.5) | 0;
}

// Smooth closed lines around the chosen cells, as control points [row, column, row, column, …] of quadratic curves,
// whose ends are the midpoints between neighbouring points. A cell is chosen if and only if its centre is inside.
export const contours = (chosen, rows, columns) => outlines(chosen, rows, columns).map(smoothed);

// Moves each corner towards the mean of its neighbours. Corners of stairs move all the way, so that stairs become
// slopes. Others move part of the way, so that islands of one or two cells stay visible and thin ends are round.
function smoothed(path) {
  const corners = [];
  for (let i = 0; i < path.length; i += 2) {
    const y = path[i],
      x = path[i + 1],
      nextY = path[(i + 2) % path.length],
      nextX = path[(i + 3) % path.length];
    const steps = Math.max(Math.abs(nextY - y), Math.abs(nextX - x));
    for (let n = 0; n < steps; n++) corners.push(y + ((nextY - y) * n) / steps, x + ((nextX - x) * n) / steps);
  }
  const count = corners.length;
  const turns = new Int8Array(count / 2); // 1 or −1 where the path turns, 0 where it goes straight on
  for (let i = 0; i < count; i += 2) {
    const previous = i ? i - 2 : count - 2,
      next = i + 2 < count ? i + 2 : 0;
    turns[i / 2] =
      (corners[i] - corners[previous]) * (corners[next + 1] - corners[i + 1]) -
      (corners[i + 1] - corners[previous + 1]) * (corners[next] - corners[i]);
  }
  const points = new Float64Array(count);
  for (let i = 0; i < count; i += 2) {
    const previous = i ? i - 2 : count - 2,
      next = i + 2 < count ? i + 2 : 0;
    const turn = turns[i / 2];
    const easing = (turn * turns[previous / 2] < 0 || turn * turns[next / 2] < 0 ? 1 : EASING) / 4; // 1 on stairs
    points[i] = corners[i] + easing * (corners[previous] - 2 * corners[i] + corners[next]);
    points[i + 1] = corners[i + 1] + easing * (corners[previous + 1] - 2 * corners[i + 1] + corners[next + 1]);
  }
  return points;
}

// The edges around the chosen cells as closed paths of corners [row, column, row, column, …]. The chosen cells lie to
// the right of a path. Cells that touch only at a corner have separate paths.
export function outlines(chosen, rows, columns) {
  const rowLength = columns + 1;
  const isInside = (r, c) => r >= 0 && c >= 0 && r < rows && c < columns && chosen[r * columns + c];
  const ends = new Int32Array(2 * rowLength * (rows + 1)).fill(-1); // ends of the one or two edges from each corner
  const corners = [];
  const addEdge = (from, to) => {
    if (ends[2 * from] < 0) corners.push(from);
    ends[2 * from + (ends[2 * from] < 0 ? 0 : 1)] = to;
  };
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      if (!isInside(r, c)) continue;
      const corner = r * rowLength + c;
      if (!isInside(r - 1, c)) addEdge(corner, corner + 1);
      if (!isInside(r, c + 1)) addEdge(corner + 1, corner + rowLength + 1);
      if (!isInside(r + 1, c)) addEdge(corner + rowLength + 1, corner + rowLength);
      if (!isInside(r, c - 1)) addEdge(corner + rowLength, corner);
    }
  }
  const paths = [];
  for (const start of corners) {
    while (ends[2 * start] >= 0) paths.push(followEdges(ends, start, rowLength));
  }
  return paths;
}

// One closed path from `start`, as the corners at which it turns. Removes the path's edges from `ends`.
function followEdges(ends, start, rowLength) {
  const path = [];
  let corner = start,
    heading = 0,
    firstHeading = 0;
  do {
    // Where two paths cross, turns right, so that the path stays at the same cell.
    const turn =
      ends[2 * corner + 1] >= 0 && heading && ends[2 * corner + 1] === corner + rightOf(heading, rowLength) ? 1 : 0;
    const nextCorner = ends[2 * corner + turn];
    ends[2 * corner + turn] = ends[2 * corner + 1];
    ends[2 * corner + 1] = -1;
    if (nextCorner - corner !== heading && heading) path.push(Math.floor(corner / rowLength), corner % rowLength);
    heading = nextCorner - corner;
    firstHeading ||= heading;
    corner = nextCorner;
  } while (corner !== start);
  if (heading !== firstHeading) path.unshift(Math.floor(start / rowLength), start % rowLength);
  return path;
}

const rightOf = (heading, rowLength) =>
  heading === 1 ? rowLength : heading === rowLength ? -1 : heading === -1 ? -rowLength : 1;
