// Texts for a class, on phones and on the projector: a table for each language; values replace {names}. Below: draws a
// class's guesses as charts.

import { numberWords, scaleNumberAt, scaleShareAt } from "../core/guesses.js";
import { make, makeSvg } from "../drawing/dom.js";
import { CLASS_DE, REFUSALS_DE } from "../words/de.js";
import { CLASS_EN } from "../words/en.js";
import { CLASS_ES, REFUSALS_ES } from "../words/es.js";
import { CLASS_FR, REFUSALS_FR } from "../words/fr.js";
import { CLASS_ZH, REFUSALS_ZH } from "../words/zh.js";

export const CLASS_WORDS = { en: CLASS_EN, de: CLASS_DE, zh: CLASS_ZH, es: CLASS_ES, fr: CLASS_FR };

// The server's refusals, by their keys in playground/serving/classes.py. English needs no table, because the server's
// sentences are English.
export const REFUSALS = { de: REFUSALS_DE, zh: REFUSALS_ZH, es: REFUSALS_ES, fr: REFUSALS_FR };

// The sentence of a refusal (see shell/http.js) in this language. In English, or if the refusal has no key, this is the
// server's own sentence.
/** @param {string} language @param {{ says?: string, body?: any }} error */
export function refusedWords(language, { says: sentenceOfServer = "", body = {} }) {
  const sentence = REFUSALS[language]?.[body.key];
  return sentence ? sentence.replace(/\{(\w+)\}/g, (match, name) => body.filled?.[name] ?? match) : sentenceOfServer;
}

export const classWords = (language, key, values = {}) =>
  CLASS_WORDS[language][key].replace(/\{(\w+)\}/g, (match, name) => values[name] ?? match);

// `texts`: a text that the lecturer's page sent, or one in several languages, {en, de}.
export const inLanguage = (texts, language) =>
  typeof texts === "string" ? texts : String(texts?.[language] ?? texts?.en ?? "");

export const guessCountWords = (language, count) =>
  count === 1 ? classWords(language, "oneGuess") : classWords(language, "guesses", { count });

// Below: draws a class's guesses as bars, or as places over the picture. The charts of both rounds stand side by side.
// They mark the truth and the reader's own guess if these are known. Phones and the projector show the same charts.

const MOST_BARS = 13; // if there are more values than this, each bar counts several values: the counts need room

// question: the server's record, with the counts of each round; options: {language, mine: the reader's guess in each
// round, picture(): returns the photograph as an element}
export function drawGuesses(box, question, { language, mine: guesses = [], picture = null }) {
  const rounds = question.counts ?? [];
  const { kind } = question.guess;
  const charts = rounds.map((counts, round) => {
    const name = rounds.length > 1 ? `${classWords(language, round ? "second" : "first")} · ` : "";
    const caption = make("p", "class-count", `${name}${guessCountWords(language, guessesIn(counts))}`);
    const figure = make("figure", "class-round", caption);
    const options = { counts, truth: question.truth ?? null, mine: guesses[round] ?? null, language, picture };
    GUESS_CHARTS[kind]?.(figure, { ...question.guess, heat: question.heat }, options);
    return figure;
  });
  box.replaceChildren(...charts);
  box.className = `class-rounds of-${kind.toLowerCase()}`;
  if (kind === "Choice") drawChoices(box, question, { rounds, guesses, language });
}

const guessesIn = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

// A line for each answer, with one bar for each round of guesses.
function drawChoices(box, { guess: { options }, truth }, { rounds, guesses, language }) {
  const list = appendElement(box, "ul", "class-choices");
  const highest = Math.max(1, ...rounds.flatMap(Object.values));
  for (const [value, words] of options) {
    const line = appendElement(list, "li", markClasses(value === truth, false));
    appendElement(line, "span", "", inLanguage(words, language));
    for (const [round, { [value]: count = 0 }] of rounds.entries()) {
      const isMine = value === guesses[round];
      appendElement(line, "i", { className: markClasses(false, isMine), style: `--long: ${count / highest}` });
      appendElement(line, "b", "", isMine ? `${count} · ${classWords(language, "you")}` : String(count));
    }
  }
}

const GUESS_CHARTS = {
  Number(figure, scale, { counts, truth, mine: guess, language }) {
    const bars = histogram(counts, scale);
    const highest = Math.max(1, ...bars.map(({ count }) => count));
    const list = appendElement(figure, "ol", "class-bars");
    const place = (value) => histogram({ [value]: 1 }, scale).findIndex(({ count }) => count);
    const [truthPlace, ownPlace] = [truth, guess].map((value) => (value === null ? -1 : place(value)));
    for (const [n, bar] of bars.entries()) {
      const item = appendElement(list, "li", markClasses(n === truthPlace, n === ownPlace));
      const ends = bar.from === bar.to ? [bar.from] : [bar.from, bar.to];
      item.title = `${ends.map((end) => numberWords(scale, end)).join(" – ")}: ${bar.count}`;
      appendElement(item, "b", "", bar.count ? String(bar.count) : "");
      appendElement(item, "i", { style: `--long: ${bar.count / highest}` });
      if (n === ownPlace) appendElement(item, "em", "", classWords(language, "you"));
    }
    const axis = appendElement(figure, "p", "class-axis");
    for (const share of [0, 0.5, 1]) appendElement(axis, "span", "", numberWords(scale, scaleNumberAt(scale, share)));
  },

  Place(figure, { rows, columns, mark, heat = "" }, { counts, truth, mine: guess, picture }) {
    if (!picture) return; // the story has them on its photograph
    const map = appendElement(figure, "div", "class-map");
    map.append(picture());
    if (heat) map.append(heatOf(heat, rows, columns));
    map.append(guessMap({ rows, columns, mark, counts, truth, mine: guess }));
  },
};

const markClasses = (isTruth, isMine) => `${isTruth ? "truth" : ""} ${isMine ? "mine" : ""}`.trim();

// [{from, to, count}]: the guesses from the lowest to the highest, counted in at most MOST_BARS intervals. Each
// possible guess lies in one of them.
export function histogram(counts, scale) {
  const { low, high, step = 1, log } = scale;
  const steps = Math.round((high - low) / step);
  const barCount = log ? MOST_BARS : Math.ceil((steps + 1) / Math.ceil((steps + 1) / MOST_BARS));
  const stepsOfBar = Math.ceil((steps + 1) / barCount);
  const placeOf = (x) =>
    log ? barCount * scaleShareAt(scale, x) : Math.floor(Math.round((x - low) / step) / stepsOfBar);
  const bars = Array.from({ length: barCount }, (_, n) =>
    log
      ? { from: scaleNumberAt(scale, n / barCount), to: scaleNumberAt(scale, (n + 1) / barCount), count: 0 }
      : { from: low + n * stepsOfBar * step, to: Math.min(high, low + ((n + 1) * stepsOfBar - 1) * step), count: 0 },
  );
  for (const [value, count] of Object.entries(counts)) {
    const bar = bars[Math.min(barCount - 1, Math.floor(placeOf(Number(value))))];
    if (bar) bar.count += count;
  }
  return bars;
}

// Returns an SVG of marks over the picture, in units of a patch: a disc for each guessed place, the query's patch, the
// truth, the place that the reader's keys have reached, the reader's guess.
export function guessMap({ rows, columns, mark, counts = {}, truth = null, mine: guess = null, aim = null }) {
  const svg = makeSvg("svg", { viewBox: `0 0 ${columns} ${rows}`, preserveAspectRatio: "none" });
  const draw = (tag, className, attributes) => svg.append(makeSvg(tag, { class: className, ...attributes }));
  const centreOf = (patch) => ({ cx: (patch % columns) + 0.5, cy: Math.floor(patch / columns) + 0.5 });
  const square = (patch) => ({ x: patch % columns, y: Math.floor(patch / columns), width: 1, height: 1 });
  const leastRadius = Math.max(rows, columns) / 60; // a disc of one guess must be visible on any grid
  for (const [patch, count] of Object.entries(counts))
    draw("circle", "guessed", { ...centreOf(Number(patch)), r: Math.max(0.4, leastRadius) * Math.sqrt(count) });
  if (Number.isInteger(mark)) draw("rect", "asks", square(mark));
  if (truth !== null) draw("rect", "truth", square(truth));
  if (aim !== null) draw("rect", "aim", square(aim));
  if (guess !== null) draw("circle", "mine", { ...centreOf(guess), r: Math.max(0.6, 2 * leastRadius) });
  return svg;
}

const HEAT_STEPS = 15; // the largest hexadecimal digit
// the greatest opacity of the dark cover on small weights, and of the bright cover on large weights
const [COLD_OPACITY, HOT_OPACITY] = [0.6, 0.85];

// The head's weights as a canvas of one pixel per patch. heat: one hexadecimal digit per patch; small weights are dark.
function heatOf(heat, rows, columns) {
  const canvas = make("canvas", { className: "heat", width: columns, height: rows });
  const context = canvas.getContext("2d");
  for (const [patch, digit] of [...heat].entries()) {
    const share = Number.parseInt(digit, 16) / HEAT_STEPS;
    context.fillStyle =
      share < 0.5
        ? `rgb(0 0 0 / ${COLD_OPACITY * (1 - 2 * share)})`
        : `rgb(255 170 60 / ${HOT_OPACITY * (2 * share - 1)})`;
    context.fillRect(patch % columns, Math.floor(patch / columns), 1, 1);
  }
  return canvas;
}

export const appendElement = (box, tag, fields, text) => box.appendChild(make(tag, fields, text));
