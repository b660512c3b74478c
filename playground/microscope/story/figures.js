// Draws small figures in the story's column: bars, strips of numbers, heads, layers. drawFigure replaces the content
// of `box`.
import { pictureDomain } from "../core/answers.js";
import { ROLES } from "../core/colours.js";
import { patchAt } from "../core/grid.js";
import { bareShare, filledIn, localNumber, percent, shortNumber } from "../core/numbers.js";
import { dialToScale } from "../core/view.js";
import { FIRST_WAY } from "../core/ways.js";
import { fitCanvas, make, makeSvg, setMath } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { heardAfter, MOST_SHARES, sharesAt, THOUSANDS_SPACE, tenths } from "./scenes.js";

const ENLARGED_SIDE = 168; // px: side of the enlarged patch
const DEFAULT_PATCH_SIDE = 16; // pixels of a patch's side if the model does not state it
const ANSWER_WIDTH = 150; // px: width of the picture of the answer
const HEAD_WIDTH = 92; // px: width of a head's picture
const STRIP_HEIGHT = 34; // px: height of a strip of numbers
const LEAST_NUMBERED_SHARE = 0.0005; // a bar of a smaller share has no number
const TRAINED_DIAL = 0.5; // the position of the scale's dial (core/view.js) at the model's trained scale

// options: see `draw` in story.js; guessed: whether the reader has guessed
export function drawFigure(box, figure, facts, options) {
  box.replaceChildren();
  if (figure) FIGURES[figure.kind](box, figure, facts, options);
}

const FIGURES = {
  // The story's patch, enlarged.
  patch(box, _, { pack, patch, side }, { photo, ratio }) {
    const canvas = canvasIn(box, ENLARGED_SIDE, ENLARGED_SIDE, ratio);
    const size = side ?? DEFAULT_PATCH_SIDE; // pixels of the patch's side in the model's input
    const { clear: photoCanvas } = photo(pack.columns * size, pack.rows * size);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    const [x, y] = [(patch % pack.columns) * size, Math.floor(patch / pack.columns) * size];
    context.drawImage(photoCanvas, x, y, size, size, 0, 0, canvas.width, canvas.height);
  },

  // The largest products of the score, one in each line: q × k = product.
  products(box, { products }, _, { language }) {
    productsIn(box, products, ({ q, k }) => [q, k], language);
  },

  // For some tokens e^score and the share that it becomes; last, the sum over all tokens.
  powers(box, { powers, words }, _, { name, language }) {
    const largest = powers[0].share;
    const list = elementIn(box, "ul", "story-powers");
    for (const { token, score, power, share } of powers) {
      const line = elementIn(list, "li");
      elementIn(line, "span", "", token < 0 ? words.all : name(token));
      const text = localNumber(language, powerText(power));
      const exponent = score === null ? "" : `e<sup>${localNumber(language, twoDigits(score))}</sup> = `;
      elementIn(line, "b").innerHTML = `${exponent}${text}`;
      elementIn(line, "i", { className: "share", style: `--long: ${token < 0 ? 0 : (100 * share) / largest}%` });
      elementIn(line, "em", "", localNumber(language, percent(share)));
    }
  },

  // The mixture as arrows, one token's value times its share after the other; below, for these tokens, the share, and
  // the share times the length of the token's value.
  mixture(box, { contributions, arrows, words }, _, { name, language }) {
    if (arrows.length) arrowsIn(box, arrows, words, name);
    const largest = Math.max(...contributions.map(({ share }) => share), 1e-9);
    const list = elementIn(box, "ul", "story-handed");
    for (const { token, share, product } of contributions) {
      const line = elementIn(list, "li");
      elementIn(line, "span", "", name(token));
      for (const [kind, value] of Object.entries({ share, product }))
        elementIn(line, "i", { className: kind, style: `--long: ${(100 * value) / largest}%` });
      elementIn(line, "em", "", localNumber(language, percent(share)));
    }
  },

  // The same patch's row in every head of the layer.
  heads(box, { heads }, { pack, head }, { photo, aspect, ratio }) {
    const list = elementIn(box, "div", "story-heads");
    const smallPhoto = photo(HEAD_WIDTH * ratio, (HEAD_WIDTH / aspect) * ratio);
    for (const headFacts of heads) {
      const figure = elementIn(list, "figure", headFacts.head === head ? "ours" : "");
      const canvas = elementIn(figure, "canvas");
      const domain = pictureDomain(headFacts.row, 0, pack, FIRST_WAY, "auto");
      printHeat(makePrint(smallPhoto, canvas), headFacts.row, pack.prefixCount, pack.rows, pack.columns, domain);
      elementIn(figure, "figcaption", "", String(pack.headNumbers[headFacts.head]));
    }
  },

  code(box, _, __, { code, guessed: isGuessed }) {
    if (!isGuessed) return;
    const pre = elementIn(box, "pre");
    elementIn(pre, "code", "", code);
  },

  // ---- figures with controls
  // The number of places that stacked convolutions reach, by layer, and the number that one layer of attention reaches.
  reach(box, { limits, words }, { pack, patch }, { drawMarks, guessed: isGuessed, language }) {
    const line = elementIn(box, "p", "story-touch");
    // the marks over the picture show the same number
    const [mostLayers, value] = isGuessed ? [limits.after, limits.after] : [limits.before, 1];
    const dial = dialIn(line, { min: 1, max: mostLayers, step: 1, value }, words.layers);
    const output = elementIn(line, "output");
    const megaphone = buttonIn(box, words.megaphone);
    const showConvolutionReach = () => {
      const layers = Number(dial.value);
      output.textContent = filledIn(language, words.heard, { stacked: layers, count: heardAfter(layers, patch, pack) });
      megaphone.setAttribute("aria-pressed", "false");
      drawMarks({ rings: layers, still: true, everybody: false });
    };
    dial.addEventListener("input", showConvolutionReach);
    output.textContent = filledIn(language, words.heard, { stacked: value, count: heardAfter(value, patch, pack) });
    megaphone.setAttribute("aria-pressed", "false");
    megaphone.addEventListener("click", () => {
      if (megaphone.getAttribute("aria-pressed") === "true") return showConvolutionReach();
      megaphone.setAttribute("aria-pressed", "true");
      output.textContent = filledIn(language, words.everybody, { count: pack.patches });
      drawMarks({ everybody: true });
    });
  },

  // The query of the story's patch, and the key, score and value length of one of three tokens ("books").
  library(box, { q, made, words }, { books, pack }, { ratio, drawMarks, language }) {
    if (made) productsIn(box, made.largest, ({ x, w }) => [x, w], language).classList.add("made");
    const largest = Math.max(...q.map(Math.abs), ...books.flatMap(({ k }) => [...k].map(Math.abs)));
    const shelf = elementIn(box, "p", "story-touch");
    const bookElement = elementIn(box, "div", "story-book");
    const buttons = books.map((book) => {
      const button = buttonIn(shelf, words[book.kind]);
      button.addEventListener("click", () => showBook(book));
      return button;
    });
    const showBook = ({ kind, token, k, score, share, length }, isMoved = true) => {
      for (const [index, button] of buttons.entries())
        button.setAttribute("aria-pressed", String(books[index].kind === kind));
      bookElement.replaceChildren();
      stripIn(bookElement, "query", q, largest, ROLES.query, ratio, words.query);
      stripIn(bookElement, "key", k, largest, ROLES.key, ratio, words.key);
      const values = { keyScore: score.toFixed(2).replace("-", "−"), keyShare: percent(share) };
      setMath(elementIn(bookElement, "p"), filledIn(language, words.finds, values));
      if (length !== null) {
        const value = elementIn(bookElement, "p", "story-value");
        elementIn(value, "b", "", words.value);
        elementIn(value, "i").style.setProperty("--long", `${100 * length}%`);
      }
      if (isMoved) drawMarks({ at: token - pack.prefixCount });
    };
    showBook(books[0], false);
  },

  // The shares as channels of a mixing desk, with a dial for the scale ("volume"). Before the guess the dial ends at
  // the trained scale.
  knob(box, { products, words }, facts, { guessed: isGuessed, choose, language, ratio }) {
    const pair = elementIn(box, "div", "story-cancel");
    const largest = Math.max(...products.flatMap((numbers) => numbers.map(Math.abs)));
    for (const [index, label] of [words.own, words.random].entries()) {
      const side = elementIn(pair, "div");
      stripIn(side, index ? "random" : "own", products[index], largest, "#777", ratio, label);
    }
    const channels = elementIn(box, "div", "story-desk");
    const line = elementIn(box, "p", "story-touch");
    const maximum = isGuessed ? 1 : TRAINED_DIAL;
    const dial = dialIn(line, { min: 0, max: maximum, step: 0.01, value: maximum }, words.volume);
    const output = elementIn(line, "output");
    const readDial = () => {
      const scale = dialToScale(Number(dial.value), facts.pack.scale);
      const { shares, clips: isClipped } = sharesAt(facts, scale, MOST_SHARES);
      channels.replaceChildren();
      barsIn(channels, shares, 1, language);
      for (const part of [channels, output]) part.classList.toggle("clips", isClipped);
      output.textContent = filledIn(language, isClipped ? words.clips : words.largest, { loud: percent(shares[0]) });
      return scale;
    };
    dial.addEventListener("input", () => choose({ scale: readDial() }));
    readDial();
  },

  // The answer before and after the cut, without any patch, and without the patches that the reader presses.
  answer(box, { answer, words }, _, { photo, ratio, guessed: isGuessed, language }) {
    const { bitmap, rows, columns, square, before, after, withoutAll, shareWithout } = answer;
    const place = elementIn(box, "div", "story-answer");
    const picture = elementIn(place, "div", "story-drawing");
    const width = ANSWER_WIDTH * ratio;
    const canvas = elementIn(picture, "canvas");
    const { clear } = photo(width, (width * rows) / columns, bitmap);
    Object.assign(canvas, { width: clear.width, height: clear.height });
    canvas.getContext("2d").drawImage(clear, 0, 0);
    const svg = createMarksSvg(canvas);
    svg.setAttribute("viewBox", `0 0 ${columns} ${rows}`);
    const bars = elementIn(place, "ul", "story-handed");
    const cut = new Set([square]);
    let asked = 0;
    const draw = (share, mine = asked) => {
      if (mine !== asked) return;
      svg.replaceChildren();
      for (const patch of cut)
        addFrame(svg, patch % columns, Math.floor(patch / columns), 1, isGuessed ? "cut" : "hears");
      bars.replaceChildren();
      const shares = isGuessed ? [before, after, withoutAll, ...(share === undefined ? [] : [share])] : [before];
      for (const [index, value] of shares.entries()) {
        const line = elementIn(bars, "li");
        elementIn(line, "span", "", words.bars[index]);
        elementIn(line, "i", { className: index ? "product" : "share", style: `--long: ${100 * value}%` });
        elementIn(line, "em", "", localNumber(language, tenths(value)));
      }
    };
    draw();
    if (!isGuessed) return;
    picture.addEventListener("click", async (event) => {
      const { left, top, width, height } = canvas.getBoundingClientRect();
      const patch = patchAt((event.clientX - left) / width, (event.clientY - top) / height, rows, columns);
      if (!cut.delete(patch)) cut.add(patch);
      const mine = ++asked;
      picture.setAttribute("aria-busy", "true");
      draw(cut.size ? await shareWithout([...cut]) : before, mine);
      if (mine === asked) picture.removeAttribute("aria-busy");
    });
  },

  // Buttons that show our patch's row in a head with a sink of each kind, and again in our head.
  sinks(box, { sinks, words }, { pack, layer, head }, { choose, drawMarks }) {
    const line = elementIn(box, "p", "story-touch");
    const heads = [{ layer, head, token: -1, label: words.ours }, ...sinks];
    const buttons = heads.map((shown) => {
      const button = buttonIn(line, shown.label);
      button.setAttribute("aria-pressed", String(shown === heads[0]));
      button.addEventListener("click", () => {
        for (const item of buttons) item.setAttribute("aria-pressed", String(item === button));
        choose({ layer: shown.layer, head: shown.head });
        const patch = shown.token - pack.prefixCount;
        drawMarks(patch < 0 ? { partner: shown.token < 0 } : { at: patch });
      });
      return button;
    });
  },

  // Buttons that choose which row the picture shows: the row of the square or the row of the class token.
  asker(box, { words, query }, _, { choose }) {
    const line = elementIn(box, "p", "story-touch");
    const queries = { square: query, cls: "cls" };
    const buttons = Object.keys(queries).map((name) => {
      const button = buttonIn(line, words[name]);
      button.setAttribute("aria-pressed", String(name === "square"));
      button.addEventListener("click", () => {
        for (const item of buttons) item.setAttribute("aria-pressed", String(item === button));
        choose({ query: queries[name] });
      });
      return button;
    });
  },
};

function dialIn(line, range, label) {
  const labelElement = elementIn(line, "label");
  elementIn(labelElement, "span", "", label);
  return Object.assign(elementIn(labelElement, "input"), { type: "range", ...range });
}

function buttonIn(box, words) {
  const button = Object.assign(elementIn(box, "button"), { type: "button" });
  setMath(button, words);
  return button;
}

// ---- parts of the figures
// One bar for each number, upwards if positive, downwards if negative. `largest` is the value of a full bar.
function stripIn(box, label, values, largest, colour, ratio, text) {
  elementIn(box, "b", `story-${label}`, text);
  const canvas = canvasIn(box, box.clientWidth || 300, STRIP_HEIGHT, ratio);
  const context = canvas.getContext("2d");
  const [barWidth, centreY] = [canvas.width / values.length, canvas.height / 2];
  context.fillStyle = colour;
  for (const [index, value] of values.entries()) {
    const barHeight = (Math.abs(value) / largest) * centreY;
    const top = value > 0 ? centreY - barHeight : centreY;
    context.fillRect(index * barWidth, top, Math.max(1, barWidth - ratio), Math.max(1, barHeight));
  }
}

const twoDigits = (x) => x.toFixed(2).replace("-", "−");

// "446", "27 395", "3.2 × 10⁷"
function powerText(x) {
  if (x < 1e7 && x >= 0.01) return shortNumber(x).replace(/\B(?=(\d{3})+$)/g, THOUSANDS_SPACE);
  const [digits, exponent] = x.toExponential(1).split("e");
  return `${digits} × 10<sup>${Number(exponent)}</sup>`.replace("-", "−");
}

// Products, one in each line: a × b = product. pairOf(product): [a, b]
function productsIn(box, products, pairOf, language) {
  const list = elementIn(box, "ol", "story-products");
  for (const item of products) {
    const line = elementIn(list, "li");
    const [a, b, product] = [...pairOf(item), item.product].map((x) => localNumber(language, twoDigits(x)));
    line.title = `${item.at}`;
    line.innerHTML = `<b class="q">${a}</b> × <b class="k">${b}</b> = ${product}`;
  }
  return list;
}

const ARROWS_SIZE = [320, 150]; // px
const ARROWS_EDGE = 14; // px around the arrows
const LEAST_LABELLED = 22; // px of an arrow that bears its token's name

// Arrows laid one after the other, and the mixture from the start to the end of the last.
function arrowsIn(box, arrows, words, name) {
  const [width, height] = ARROWS_SIZE;
  const points = [[0, 0], ...arrows.map(({ to }) => to)];
  const [lows, highs] = [Math.min, Math.max].map((end) =>
    [0, 1].map((axis) => end(...points.map((point) => point[axis]))),
  );
  const unit = Math.min(
    ...[width, height].map((side, axis) => (side - 2 * ARROWS_EDGE) / (highs[axis] - lows[axis] || 1)),
  );
  const inner = [0, 1].map((axis) => (highs[axis] - lows[axis]) * unit);
  const onScreen = ([x, y]) => [
    (width - inner[0]) / 2 + (x - lows[0]) * unit,
    (height + inner[1]) / 2 - (y - lows[1]) * unit,
  ];
  const svg = box.appendChild(
    makeSvg("svg", { class: "story-arrows", viewBox: `0 0 ${width} ${height}`, role: "img" }),
  );
  svg.setAttribute(
    "aria-label",
    `${words.all}: ${arrows.map(({ token }) => (token < 0 ? words.rest : name(token))).join("; ")}`,
  );
  const arrow = (from, to, kind, text) => {
    const [[x1, y1], [x2, y2]] = [onScreen(from), onScreen(to)];
    const [length, angle] = [Math.hypot(x2 - x1, y2 - y1), Math.atan2(y2 - y1, x2 - x1)];
    svg.append(makeSvg("line", { class: kind, x1, y1, x2, y2 }));
    const tip = Math.min(8, length / 2);
    const at = (side) => `${x2 - tip * Math.cos(angle + side)},${y2 - tip * Math.sin(angle + side)}`;
    svg.append(makeSvg("polygon", { class: kind, points: `${x2},${y2} ${at(0.45)} ${at(-0.45)}` }));
    if (length < LEAST_LABELLED) return;
    const middle = { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 4, "text-anchor": "middle" };
    svg.append(makeSvg("text", { class: kind, ...middle }, text));
  };
  arrow([0, 0], arrows.at(-1).to, "all", words.all);
  for (const { token, from, to } of arrows)
    arrow(from, to, token < 0 ? "rest" : "value", token < 0 ? words.rest : name(token));
}

// largest: the share of a full bar
function barsIn(box, shares, largest, language) {
  const list = elementIn(box, "ol", "story-bars");
  for (const share of shares) {
    const text = share < LEAST_NUMBERED_SHARE ? "" : localNumber(language, bareShare(share));
    const bar = elementIn(list, "li");
    bar.style.setProperty("--high", String(share / (largest || 1)));
    elementIn(bar, "i");
    elementIn(bar, "span", "", text);
  }
}

const elementIn = (box, tag, fields, text) => box.appendChild(make(tag, fields, text));

function canvasIn(box, width, height, ratio) {
  const canvas = elementIn(box, "canvas");
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  fitCanvas(canvas, width, height, ratio);
  return canvas;
}

export const photoAs =
  (image) =>
  (width, height, other = image) =>
    makePhoto(other, Math.round(width), Math.round(height));

// Draws a scene's marks over the photograph: the query's patch, the partner, a grid, place numbers, and rings that show
// how far stacked convolutions reach. The SVG's unit is the side of a patch.

const RING_DELAY = 60; // ms between two rings
const MOST_NUMBERED = 7; // the most places along a side that get a number

export function createMarksSvg(place) {
  const svg = makeSvg("svg", { class: "story-over", "aria-hidden": "true", preserveAspectRatio: "none" });
  place.after(svg);
  return svg;
}

// marks: {partner, grid, places: whether to draw these, rings: their number, still: whether they appear without
// animation, everybody: whether to colour all patches, at: a patch to frame instead of the partner}, or null; hidden:
// whether the reader has to guess the partner; aim: the patch that the reader's keys have reached, or −1.
export function drawSceneMarks(svg, marks, { pack, patch, partner }, { guessed: isGuessed, hidden: isHidden, aim }) {
  svg.replaceChildren();
  if (!marks) return;
  const { rows, columns } = pack;
  svg.setAttribute("viewBox", `0 0 ${columns} ${rows}`);
  const cellOfPatch = (index) => [index % columns, Math.floor(index / columns)];
  if (marks.grid) {
    for (let x = 1; x < columns; x++) gridLine(svg, x, 0, x, rows);
    for (let y = 1; y < rows; y++) gridLine(svg, 0, y, columns, y);
  }
  if (marks.places) placeNumbers(svg, rows, columns);
  const [x, y] = cellOfPatch(patch);
  if (marks.everybody) {
    svg.append(makeSvg("rect", { class: "everybody", x: 0, y: 0, width: columns, height: rows }));
  } else if (marks.rings && (isGuessed || marks.still)) {
    for (let ring = 1; ring <= marks.rings; ring++) {
      const ringElement = addFrame(svg, x - ring, y - ring, 2 * ring + 1, marks.still ? "ring still" : "ring");
      if (!marks.still) ringElement.style.animationDelay = `${ring * RING_DELAY}ms`;
    }
  } else if (marks.rings) addFrame(svg, x - 1, y - 1, 3, "ring still");
  addFrame(svg, x, y, 1, "asks");
  const heardPatch = marks.at ?? (marks.partner || marks.rings ? partner : -1);
  if (!isHidden && heardPatch >= 0) addFrame(svg, ...cellOfPatch(heardPatch), 1, "hears");
  if (aim >= 0) addFrame(svg, ...cellOfPatch(aim), 1, "aim");
}

const gridLine = (svg, x1, y1, x2, y2) => svg.append(makeSvg("line", { class: "grid", x1, y1, x2, y2 }));

const addFrame = (svg, x, y, side, className) =>
  svg.appendChild(makeSvg("rect", { class: className, x, y, width: side, height: side }));

function placeNumbers(svg, rows, columns) {
  const numberStep = Math.ceil(Math.max(rows, columns) / MOST_NUMBERED);
  for (let y = Math.floor(numberStep / 2); y < rows; y += numberStep)
    for (let x = Math.floor(numberStep / 2); x < columns; x += numberStep) {
      const text = makeSvg("text", { class: "place", x: x + 0.5, y: y + 0.5 }, y * columns + x);
      text.style.fontSize = `${0.17 * numberStep}px`;
      svg.append(text);
    }
}
