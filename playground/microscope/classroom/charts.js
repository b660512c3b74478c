// What a class guessed: bars, or pressed places over the picture; each round beside the other, with the truth and one's
// own guess where they are known. The same on a phone and on the projector.
import { classWords, inLanguage, manyGuesses } from "./words.js";

const CHART_SVG = "http://www.w3.org/2000/svg";
const MOST_BARS = 25; // side by side; more values share one

// question: as the server tells it, with its counts; look: {language, mine: [guess by round], picture(): an element}
export function drawGuesses(box, question, { language, mine = [], picture = null }) {
  const rounds = question.counts ?? [];
  const drawn = rounds.map((counts, round) => {
    const figure = madeIn(null, "figure", "class-round");
    const caption = madeIn(figure, "p", "class-count");
    const name = rounds.length > 1 ? `${classWords(language, round ? "second" : "first")} · ` : "";
    caption.textContent = `${name}${manyGuesses(language, guessesIn(counts))}`;
    const one = { counts, truth: question.truth ?? null, mine: mine[round] ?? null, language, picture };
    CHARTS[question.kind](figure, question, one);
    return figure;
  });
  box.replaceChildren(...drawn);
  box.classList.add("class-rounds");
}

const guessesIn = (counts) => Object.values(counts).reduce((all, one) => all + one, 0);

const CHARTS = {
  choice(figure, { options }, { counts, truth, mine, language }) {
    const list = madeIn(figure, "ul", "class-choices");
    const most = Math.max(1, ...Object.values(counts));
    for (const [value, words] of options) {
      const line = madeIn(list, "li", marksOf(value === truth, value === mine));
      madeIn(line, "span").textContent = inLanguage(words, language);
      const bar = madeIn(line, "i");
      bar.style.setProperty("--long", String((counts[value] ?? 0) / most));
      madeIn(line, "b").textContent = String(counts[value] ?? 0);
      if (value === mine) madeIn(line, "em").textContent = classWords(language, "you");
    }
  },

  number(figure, { low, high, unit = "" }, { counts, truth, mine, language }) {
    const bars = binned(counts, low, high);
    const most = Math.max(1, ...bars.map(({ count }) => count));
    const list = madeIn(figure, "ol", "class-bars");
    const holds = (bar, value) => value !== null && bar.from <= value && value <= bar.to;
    for (const bar of bars) {
      const item = madeIn(list, "li", marksOf(holds(bar, truth), holds(bar, mine)));
      item.title = `${bar.from === bar.to ? bar.from : `${bar.from}–${bar.to}`}${unit}: ${bar.count}`;
      madeIn(item, "b").textContent = bar.count ? String(bar.count) : "";
      madeIn(item, "i").style.setProperty("--long", String(bar.count / most));
      if (holds(bar, mine)) madeIn(item, "em").textContent = classWords(language, "you");
    }
    const axis = madeIn(figure, "p", "class-axis");
    for (const value of [low, Math.round((low + high) / 2), high]) madeIn(axis, "span").textContent = `${value}${unit}`;
  },

  place(figure, { rows, columns, mark, heat = "" }, { counts, truth, mine, picture }) {
    const place = madeIn(figure, "div", "class-map");
    if (picture) place.append(picture());
    if (heat) place.append(heatOf(heat, rows, columns));
    place.append(mapOf({ rows, columns, mark, counts, truth, mine }));
  },
};

const marksOf = (isTruth, isMine) => `${isTruth ? "truth" : ""} ${isMine ? "mine" : ""}`.trim();

// [{from, to, count}] of all values from low to high.
export function binned(counts, low, high) {
  const wide = Math.ceil((high - low + 1) / MOST_BARS);
  const bars = [];
  for (let from = low; from <= high; from += wide) bars.push({ from, to: Math.min(high, from + wide - 1), count: 0 });
  for (const [value, count] of Object.entries(counts)) {
    const bar = bars[Math.floor((Number(value) - low) / wide)];
    if (bar) bar.count += count;
  }
  return bars;
}

// Over the picture, in units of a patch: a disc for each pressed place, the square that asks, the truth, one's own.
export function mapOf({ rows, columns, mark, counts = {}, truth = null, mine = null }) {
  const svg = document.createElementNS(CHART_SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${columns} ${rows}`);
  svg.setAttribute("preserveAspectRatio", "none");
  const draw = (tag, className, attributes) => {
    const element = document.createElementNS(CHART_SVG, tag);
    element.setAttribute("class", className);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    svg.append(element);
  };
  const middle = (patch) => ({ cx: (patch % columns) + 0.5, cy: Math.floor(patch / columns) + 0.5 });
  const square = (patch) => ({ x: patch % columns, y: Math.floor(patch / columns), width: 1, height: 1 });
  const least = Math.max(rows, columns) / 60; // a single guess is seen, however fine the grid is
  for (const [patch, count] of Object.entries(counts))
    draw("circle", "guessed", { ...middle(Number(patch)), r: Math.max(0.4, least) * Math.sqrt(count) });
  if (Number.isInteger(mark)) draw("rect", "asks", square(mark));
  if (truth !== null) draw("rect", "truth", square(truth));
  if (mine !== null) draw("circle", "mine", { ...middle(mine), r: Math.max(0.6, 2 * least) });
  return svg;
}

const HEAT_STEPS = 15; // of a digit
const [COLD, HOT] = [0.6, 0.85]; // how much is covered: of what gets nothing, and of what gets most

// What the head gives, a digit a square: what gets little is dark, what gets much glows.
function heatOf(heat, rows, columns) {
  const canvas = madeIn(null, "canvas", "heat");
  Object.assign(canvas, { width: columns, height: rows });
  const context = canvas.getContext("2d");
  for (const [patch, digit] of [...heat].entries()) {
    const share = Number.parseInt(digit, 16) / HEAT_STEPS;
    context.fillStyle =
      share < 0.5 ? `rgb(0 0 0 / ${COLD * (1 - 2 * share)})` : `rgb(255 170 60 / ${HOT * (2 * share - 1)})`;
    context.fillRect(patch % columns, Math.floor(patch / columns), 1, 1);
  }
  return canvas;
}

export function madeIn(box, tag, className = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  box?.append(element);
  return element;
}
