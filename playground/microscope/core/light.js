// How weights become light on a photograph. The same lines as in playground/figures/drawing/light.py, so that a figure
// looks like the screen; a test compares the two. No DOM in here.
//
// Heat: the photograph, a little darker and paler, and laid over it warm colours, from red through orange to gold, the
// more opaque the larger the weight. At every place the colour is lighter than what lies beneath and has the picture's
// own light and dark in it: lightness rises with the weight everywhere, and what is attended to can be recognised.
// Light: the photograph in full colour where it is attended to, dim and drained elsewhere, and smooth lines around the
// fewest patches that hold at least 60 % of what all patches get.

export const BENEATH = [0, 0.79]; // what the photograph's darkest and brightest tones become under the heat
export const KEPT = 0.7; // of its colour, there
export const TONES = 64; // of the table: tones beneath
export const STEPS = 256; // of the table: shares of the exposure
const TOPS = [0.54, 0.99]; // OKLab's L of the brightest weight, over black and over white
const LIFTED = 0.4; // the faintest colour is lighter than the tone beneath by this part of the way to the top
const HUES = [20, 55, 95]; // degrees, from the faintest to the strongest: red, orange, gold
const AGAINST = [285, 255, 220]; // degrees, below zero: violet, blue, sky; as light as the colours above zero
// Stripes below zero, for prints in grey: lines a cell, their breadth, the share of the colour that they keep
const HATCH = { lines: 4, wide: 0.3, kept: 0.3 };
const MIN_PERIOD = 4; // pixels from line to line
const CHROMAS = [0.17, 0.2, 0.17];
const OPAQUE = 0.94; // of the strongest colour; the rest is the photograph
const OPACITY_POWER = 2.3; // faint weights are seen, too
const GAMMA = 0.8; // below 1: faint weights are lifted a little
const BRIGHTEST = 0.008; // this share of the cells may be brighter than the exposure can show
const PEAK = 0.2; // of the largest value: full brightness begins no lower, so that a dominant patch stands out
const FLOOR = 2; // times the mean: an even row is not stretched into a pattern
const EVEN = 0.95; // a row that listens to this share of all tokens, as 2^entropy counts them, is called even
const MASS = 0.6; // of what all patches get: so much at least lies within the lines
export const DIM = [0, 0.56]; // of the light: how dark it is where nothing is attended to
export const DRAINED = 0.35; // and how much of the colour stays there
export const LIT_GOLD = [236, 190, 96]; // what the bar of the light is shown on: bright and colourful, so both can fade
const LIT = 0.8; // of the light: what lies within the lines is at least so near to the photograph
const EASED = 0.5; // of a line: so near its corners come to the mean of them and their neighbours

// 0 … 255: how much of the photograph a patch lets through.
export const litOf = (step, chosen) => Math.round(255 * Math.max(Math.sqrt(step / (STEPS - 1)), chosen ? LIT : 0));

// The value at which a picture is brightest: that of its brightest cells, or twice the mean where all are alike.
export const exposure = (values, from, to) => exposureOfAll(values, [from], to - from);

// The same for several pictures that are to be compared: `count` values from each of these places on.
export function exposureOfAll(values, places, count) {
  const rank = Math.floor(places.length * count * BRIGHTEST);
  // The value that `rank` others exceed. The rank is small: a list of the largest so far is faster than sorting.
  const largest = new Float64Array(rank + 1).fill(-Infinity); // rising
  let total = 0;
  for (const at of places) {
    for (let j = at; j < at + count; j++) {
      const value = values[j];
      total += value;
      if (!(value > largest[0])) continue;
      let place = 0;
      while (place < rank && largest[place + 1] < value) {
        largest[place] = largest[place + 1];
        place++;
      }
      largest[place] = value;
    }
  }
  return asWritten(Math.max(largest[0], PEAK * largest[rank], (FLOOR * total) / (places.length * count))) || 1;
}

// Up to two digits: the number that the legend says is the one that is meant, on the screen and in a figure whose
// last digits differ.
function asWritten(value) {
  if (!(value > 0)) return 0;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit - 1e-6) * unit;
}

// The patches, from 0, with more than the exposure can show, the largest first.
export function clippedPatches(values, from, to, high) {
  const cells = [];
  for (let j = from; j < to; j++) if (values[j] > high) cells.push(j - from);
  return cells.sort((a, b) => values[from + b] - values[from + a]);
}

export const isEven = (entropyBits, tokens) => 2 ** entropyBits >= EVEN * tokens;

// 0 … 255: the table's step for a value; −255 … 255 where for and against have a colour each. A domain is {low, high,
// log, signed}.
export function stepOf(value, { low, high, log, signed }) {
  if (signed) return Math.sign(value) * (Math.abs(value) >= high ? STEPS - 1 : raisedStep(Math.abs(value) / high));
  const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  if (share >= 1) return STEPS - 1;
  if (!(share > 0)) return 0;
  return log ? (share * (STEPS - 1) + 0.5) | 0 : raisedStep(share);
}

// For and against, around zero: exposed by the largest of both, and at least to `floor`.
export function domainAround(values, from, to, floor = 0) {
  let high = floor;
  for (let j = from; j < to; j++) high = Math.max(high, Math.abs(values[j]));
  return { low: -(high || 1), high: high || 1, log: false, signed: true };
}

// What is below zero has slanting lines in which the photograph is seen: colours of one lightness are one grey. Gives
// whether a pixel lies in one, and the step that is left there. `cell` is a patch's height in pixels.
export function hatching(cell) {
  const period = Math.max(MIN_PERIOD, cell / HATCH.lines);
  return (x, y) => (x + y) % period < HATCH.wide * period;
}
export const hatchedStep = (step) => Math.round(step * HATCH.kept);

// share ** GAMMA as a step. A frame asks this for every cell of every head, and a power each time would take most of
// it: so the share at which each step begins is kept, and for each of GUESSES shares the step to begin looking at.
const GUESSES = 1024;
const BEGINS = Float64Array.from({ length: STEPS + 1 }, (_, step) =>
  step === 0 ? 0 : step === STEPS ? Infinity : ((step - 0.5) / (STEPS - 1)) ** (1 / GAMMA),
);
const FIRST = Uint8Array.from({ length: GUESSES }, (_, i) => BEGINS.findIndex((share) => share > i / GUESSES) - 1);

function raisedStep(share) {
  let step = FIRST[(share * GUESSES) | 0];
  while (BEGINS[step + 1] <= share) step++;
  return step;
}

// 0 … 63: the table's tone for a pixel of 0 … 255.
export const toneOf = (r, g, b) => ((greyOf(r, g, b) / 255) * (TONES - 1) + 0.5) | 0;

// 0 … 256: how opaque the colour of each step is.
export const OPACITIES = Uint16Array.from({ length: STEPS }, (_, step) =>
  Math.round(256 * OPAQUE * (1 - (1 - step / (STEPS - 1)) ** OPACITY_POWER)),
);

// The photograph, 0xAABBGGRR for each pixel of its bytes, with this darkest and brightest tone, and so much of its
// colour.
export function fadedPixels(bytes, ends, share) {
  const pixels = new Uint32Array(bytes.length / 4);
  const span = ends[1] - ends[0];
  const [ofGrey, ofColour] = [span * (1 - share), span * share];
  for (let p = 0, i = 0; p < pixels.length; p++, i += 4) {
    const [r, g, b] = [bytes[i], bytes[i + 1], bytes[i + 2]];
    const base = 255 * ends[0] + ofGrey * greyOf(r, g, b) + 0.5;
    const blueAndGreen = ((base + ofColour * b) << 16) | ((base + ofColour * g) << 8);
    pixels[p] = ((bytes[i + 3] << 24) | blueAndGreen | (base + ofColour * r)) >>> 0;
  }
  return pixels;
}

export const greyOf = (r, g, b) => 0.299 * r + 0.587 * g + 0.114 * b;

// STEPS × TONES pixels as canvas wants them, 0xAABBGGRR: the colours that are laid over each tone; made once. A cell
// has one step, so its tones lie side by side.
const ramps = new Map();

export function heatTable(against = false) {
  if (ramps.has(against)) return ramps.get(against);
  const heatColours = new Uint32Array(TONES * STEPS);
  ramps.set(against, heatColours);
  const bases = new Float64Array(TONES);
  const tops = new Float64Array(TONES);
  for (let tone = 0; tone < TONES; tone++) {
    const grey = tone / (TONES - 1);
    bases[tone] = lightnessOf(BENEATH[0] + (BENEATH[1] - BENEATH[0]) * grey);
    tops[tone] = TOPS[0] + (TOPS[1] - TOPS[0]) * lightnessOf(grey);
  }
  for (let step = 0; step < STEPS; step++) {
    const t = step / (STEPS - 1);
    const hue = (between3(against ? AGAINST : HUES, t) * Math.PI) / 180;
    const wished = between3(CHROMAS, t);
    const [cos, sin] = [Math.cos(hue), Math.sin(hue)];
    for (let tone = 0; tone < TONES; tone++) {
      const lightness = bases[tone] + (tops[tone] - bases[tone]) * (LIFTED + (1 - LIFTED) * t);
      shownColour(lightness, wished, cos, sin);
      const { r, g, b } = shown;
      heatColours[step * TONES + tone] = ((255 << 24) | (encoded(b) << 16) | (encoded(g) << 8) | encoded(r)) >>> 0;
    }
  }
  return heatColours;
}

const lightnessOf = (grey) => Math.cbrt(linear(grey)); // OKLab's L

// Between the first, the second and the third.
const between3 = ([a, b, c], t) => (t < 0.5 ? a + (b - a) * 2 * t : b + (c - b) * (2 * t - 1));

const shown = { r: 0, g: 0, b: 0 }; // linear red, green and blue

// The colour with the largest chroma, up to the wished one, that a screen can show there.
function shownColour(lightness, wished, cos, sin) {
  if (fromOklab(lightness, wished * cos, wished * sin)) return;
  let low = 0,
    high = wished;
  for (let i = 0; i < 12; i++) {
    const middle = (low + high) / 2;
    if (fromOklab(lightness, middle * cos, middle * sin)) low = middle;
    else high = middle;
  }
  fromOklab(lightness, low * cos, low * sin);
}

// Into `shown` (Björn Ottosson, 2020); whether a screen can show it.
function fromOklab(lightness, a, b) {
  const l = lightness + 0.3963377774 * a + 0.2158037573 * b;
  const m = lightness - 0.1055613458 * a - 0.0638541728 * b;
  const s = lightness - 0.0894841775 * a - 1.291485548 * b;
  const [long, middle, short] = [l * l * l, m * m * m, s * s * s];
  shown.r = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short;
  shown.g = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short;
  shown.b = -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short;
  return onScreen(shown.r) && onScreen(shown.g) && onScreen(shown.b);
}

const onScreen = (x) => x >= -1e-4 && x <= 1 + 1e-4;

const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);

function encoded(x) {
  const inside = Math.min(1, Math.max(0, x));
  return (255 * (inside <= 0.0031308 ? 12.92 * inside : 1.055 * inside ** (1 / 2.4) - 0.055) + 0.5) | 0;
}

// The fewest patches that hold this share of what all patches get: 1 for each of them in `out`, 0 elsewhere. The
// largest first, of equal ones the first. What is negative gets nothing.
export function densestInto(out, values, from, count, mass = MASS) {
  const sorted = Float64Array.from(values.subarray(from, from + count)).sort();
  let total = 0,
    reached = 0,
    place = count;
  for (let j = count - 1; j >= 0 && sorted[j] > 0; j--) total += sorted[j];
  if (!(total > 0)) return void out.fill(0);
  do reached += sorted[--place];
  while (reached < mass * total);
  const least = sorted[place];
  let equal = 0; // so many of those as large as the least one belong to it
  while (sorted[place + equal] === least) equal++;
  for (let j = 0; j < count; j++) {
    const value = values[from + j];
    out[j] = value > least || (value === least && equal-- > 0) ? 1 : 0;
  }
}

// Smooth closed lines [row, column, row, column, …] around the chosen cells. The curve that is drawn is quadratic: a
// point is what it bends to, between the middles to its neighbours. Just the chosen cells have their middle within it.
export const contours = (chosen, rows, columns) => outlines(chosen, rows, columns).map(smoothed);

// Every corner on the way, nearer to the mean of it and its neighbours: on stairs all the way there, which makes them
// slopes; elsewhere a part of it, which keeps islands of one or two cells visible and thin ends round.
function smoothed(path) {
  const corners = [];
  for (let i = 0; i < path.length; i += 2) {
    const y = path[i],
      x = path[i + 1],
      toY = path[(i + 2) % path.length],
      toX = path[(i + 3) % path.length];
    const steps = Math.max(Math.abs(toY - y), Math.abs(toX - x));
    for (let n = 0; n < steps; n++) corners.push(y + ((toY - y) * n) / steps, x + ((toX - x) * n) / steps);
  }
  const count = corners.length;
  const turns = new Int8Array(count / 2); // 1 or −1 where the path turns, 0 where it goes straight on
  for (let i = 0; i < count; i += 2) {
    const previous = i ? i - 2 : count - 2,
      after = i + 2 < count ? i + 2 : 0;
    turns[i / 2] =
      (corners[i] - corners[previous]) * (corners[after + 1] - corners[i + 1]) -
      (corners[i + 1] - corners[previous + 1]) * (corners[after] - corners[i]);
  }
  const points = new Float64Array(count);
  for (let i = 0; i < count; i += 2) {
    const before = i ? i - 2 : count - 2,
      after = i + 2 < count ? i + 2 : 0;
    const turn = turns[i / 2];
    const part = (turn * turns[before / 2] < 0 || turn * turns[after / 2] < 0 ? 1 : EASED) / 4; // stairs: left, right
    points[i] = corners[i] + part * (corners[before] - 2 * corners[i] + corners[after]);
    points[i + 1] = corners[i + 1] + part * (corners[before + 1] - 2 * corners[i + 1] + corners[after + 1]);
  }
  return points;
}

// The share of what all patches get that those have whose middle lies within the lines.
export function shareWithin(paths, values, from, rows, columns) {
  const inside = within(paths, rows, columns);
  let inner = 0,
    total = 0;
  for (let cell = 0; cell < inside.length; cell++) {
    const value = Math.max(0, values[from + cell]);
    total += value;
    if (inside[cell]) inner += value;
  }
  return inner / (total || 1);
}

// 1 for each cell whose middle lies within the curves. Along a row of middles, each crossing of a curve leads into it
// or out of it.
export function within(paths, rows, columns) {
  const inside = new Uint8Array(rows * columns);
  for (const path of paths) {
    const count = path.length;
    let y = (path[count - 2] + path[0]) / 2,
      x = (path[count - 1] + path[1]) / 2;
    for (let i = 0; i < count; i += 2) {
      const endY = (path[i] + path[(i + 2) % count]) / 2,
        endX = (path[i + 1] + path[(i + 3) % count]) / 2;
      const bendY = (y + 2 * path[i] + endY) / 4,
        bendX = (x + 2 * path[i + 1] + endX) / 4;
      cross(inside, columns, y, x, bendY, bendX);
      cross(inside, columns, bendY, bendX, endY, endX);
      [y, x] = [endY, endX];
    }
  }
  for (let cell = 1; cell < inside.length; cell++) if (cell % columns) inside[cell] ^= inside[cell - 1];
  return inside;
}

// A straight piece of a curve, too short to cross two rows of middles: turns the first middle after its crossing.
function cross(inside, columns, y0, x0, y1, x1) {
  const row = Math.ceil(Math.min(y0, y1) - 0.5);
  if (row + 0.5 >= Math.max(y0, y1)) return;
  const column = Math.ceil(x0 + ((row + 0.5 - y0) / (y1 - y0)) * (x1 - x0) - 0.5);
  if (column < columns) inside[row * columns + column] ^= 1;
}

// The edges around the chosen cells as closed paths of corners [row, column, row, column, …], the chosen cells on the
// right. Cells that touch at a corner only have paths of their own.
export function outlines(chosen, rows, columns) {
  const wide = columns + 1;
  const at = (r, c) => r >= 0 && c >= 0 && r < rows && c < columns && chosen[r * columns + c];
  const ends = new Int32Array(2 * wide * (rows + 1)).fill(-1); // of each corner: where its one or two edges lead
  const corners = [];
  const add = (from, to) => {
    if (ends[2 * from] < 0) corners.push(from);
    ends[2 * from + (ends[2 * from] < 0 ? 0 : 1)] = to;
  };
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      if (!at(r, c)) continue;
      const corner = r * wide + c;
      if (!at(r - 1, c)) add(corner, corner + 1);
      if (!at(r, c + 1)) add(corner + 1, corner + wide + 1);
      if (!at(r + 1, c)) add(corner + wide + 1, corner + wide);
      if (!at(r, c - 1)) add(corner + wide, corner);
    }
  }
  const paths = [];
  for (const start of corners) {
    while (ends[2 * start] >= 0) paths.push(followed(ends, start, wide));
  }
  return paths;
}

// One path from this corner back to it; its edges are taken out. Only the corners at which it turns.
function followed(ends, start, wide) {
  const path = [];
  let here = start,
    heading = 0,
    first = 0;
  do {
    // Where two paths cross, turn right, back to the same cell.
    const turn = ends[2 * here + 1] >= 0 && heading && ends[2 * here + 1] === here + right(heading, wide) ? 1 : 0;
    const following = ends[2 * here + turn];
    ends[2 * here + turn] = ends[2 * here + 1];
    ends[2 * here + 1] = -1;
    if (following - here !== heading && heading) path.push(Math.floor(here / wide), here % wide);
    heading = following - here;
    first ||= heading;
    here = following;
  } while (here !== start);
  if (heading !== first) path.unshift(Math.floor(start / wide), start % wide);
  return path;
}

const right = (heading, wide) => (heading === 1 ? wide : heading === wide ? -1 : heading === -1 ? -wide : 1);
