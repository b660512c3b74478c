// For guesses and exercises: computes the error of a guess, stores guesses in this browser, and passes on the numbers
// that drawings report. Nothing is sent.

const GUESSES_KEY = "attention-playground:guesses";
export const EXERCISES_KEY = "attention-playground:exercises";

// The overlap of a painted set of patches, each counted equally, with a row of weights: 1 if both are the same
// distribution.
export function overlapOf(paintedPatches, row) {
  const total = row.reduce((sum, weight) => sum + weight, 0);
  if (!paintedPatches.length || !total) return 0;
  return paintedPatches.reduce((sum, patch) => sum + Math.min(1 / paintedPatches.length, row[patch] / total), 0);
}

// The largest overlap that a painted set can have with this row. The best set contains the n patches with the largest
// weights, so each n is tried.
export function bestOverlap(row) {
  const sorted = Array.from(row.keys()).sort((a, b) => row[b] - row[a]);
  let best = 0;
  for (let n = 1; n <= sorted.length; n++) best = Math.max(best, overlapOf(sorted.slice(0, n), row));
  return best;
}

// The number at a share of a scale's length, from its low end, and the share at which a number lies.
export const scaleNumberAt = ({ low, high, log }, share) =>
  log ? low * (high / low) ** share : low + share * (high - low);
export const scaleShareAt = ({ low, high, log }, x) =>
  log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low);

// A number rounded to a step of the question's axis, or to two digits if the axis is logarithmic.
export function sliderGuess(x, { low, high, step, log }) {
  const roundedGuess = log ? Number(x.toPrecision(2)) : Number((Math.round(x / step) * step).toPrecision(10));
  return Math.min(high, Math.max(low, roundedGuess));
}

// Whether a guess is typed, not set on a slider. Counts are typed, because they are compared exactly.
export const isTyped = ({ step }) => Number.isInteger(step);

export function typedGuess(x, { low, high, step }) {
  return Math.min(high, Math.max(low, Math.round(x / step) * step));
}

// The possible guess that is nearest to the truth.
export const nearestGuess = (truth, scale) => (isTyped(scale) ? typedGuess : sliderGuess)(truth, scale);

// Whether a guess is right: the truth, the possible guess that is nearest to it, or one that is near enough.
export function isRight({ guess: scale, truth }, guess) {
  if (scale.kind !== "Number") return guess === truth;
  return guess === nearestGuess(truth, scale) || Math.abs(guess - truth) <= (scale.near ?? 0);
}

// A number as text: three digits, and from a million on with M or G.
export const roundedText = (x) => {
  const size = Math.abs(x);
  if (size >= 1e9) return `${Number((x / 1e9).toPrecision(3)).toLocaleString("en")} G`;
  if (size >= 1e6) return `${Number((x / 1e6).toPrecision(3)).toLocaleString("en")} M`;
  return Number(x.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 }).replace("-", "−");
};

// A guessed or true number as text, with its unit: a count in full, another number rounded.
export function numberWords(scale, x) {
  const isCount = isTyped(scale) && Number.isInteger(x) && x < 1e6;
  return `${isCount ? x.toLocaleString("en") : roundedText(x)}${scale.unit ?? ""}`;
}

// The error of a guess in words. The possible guess that is nearest to the truth counts as right.
export function errorWords(guess, truth, scale) {
  if (guess === truth) return "exactly";
  if (guess === nearestGuess(truth, scale)) return "as near as the scale allows";
  if (guess > 0 && truth > 0) {
    const factor = Math.max(guess / truth, truth / guess);
    if (factor >= 1.5) return `${shortText(factor, 2)} times too ${guess > truth ? "high" : "low"}`;
  }
  const difference = Math.abs(guess - truth);
  return `${shortText(difference, difference < 10 ? 2 : 3)} too ${guess > truth ? "high" : "low"}`;
}

// A number with this many digits and without an exponent: 440, not 4.4e+2.
const shortText = (x, digits) =>
  x < 10 ? x.toPrecision(digits) : Math.round(Number(x.toPrecision(digits))).toLocaleString("en");

export function readGuesses(storage, storageKey = GUESSES_KEY) {
  try {
    const guesses = JSON.parse(storage.getItem(storageKey) ?? "{}");
    return guesses && typeof guesses === "object" && !Array.isArray(guesses) ? guesses : {};
  } catch {
    return {}; // storage is forbidden, or holds data of another page
  }
}

export function keepGuess(storage, id, guess, storageKey = GUESSES_KEY) {
  try {
    storage.setItem(storageKey, JSON.stringify({ ...readGuesses(storage, storageKey), [id]: guess }));
  } catch {
    // storage is forbidden
  }
}

export function forgetGuesses(storage) {
  try {
    for (const storageKey of [GUESSES_KEY, EXERCISES_KEY]) storage.removeItem(storageKey);
  } catch {
    // storage is forbidden
  }
}

// Why a wrong answer is tempting; "" if no reason is known. `reasons` is [[condition, reason], …]; a condition is the
// key of a choice, or [low, high] for a number. A range that also contains the truth is skipped.
export function reasonFor(guess, truth, reasons) {
  if (guess === truth) return "";
  /** @param {any[]} range @param {any} x */
  const contains = ([low, high], x) => typeof x === "number" && low <= x && x <= high;
  const isMet = ([condition]) =>
    Array.isArray(condition) ? contains(condition, guess) && !contains(condition, truth) : condition === guess;
  return reasons.find(isMet)?.[1] ?? "";
}

// Below: the numbers that a page's drawings report to the exercises beside them, {drawing: its numbers}. They are
// stored on the page's root element, because each drawing is mounted by a script of its own.

const REPORTED_EVENT = "drawing-reported";

export const reportsHere = () => (document.documentElement.__reports ??= {});

export function reportNumbers(drawing, numbers) {
  reportsHere()[drawing] = numbers;
  dispatchEvent(new CustomEvent(REPORTED_EVENT, { detail: drawing }));
}

export const onReport = (listener, signal) => addEventListener(REPORTED_EVENT, listener, { signal });
