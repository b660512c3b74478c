// Asks a question (playground/lessons/questions.py) before its answer. The reader guesses on the question's picture and
// locks the guess, then the truth is drawn over it. Guesses are stored in this browser and not sent.
// data.context is the picture or setting that the question is about; data.afresh says whether a reader who guessed in
// another context has to guess again. host.js hides the parts below until the page's data-guessed has the id of the
// question.

import { patchAfterKey } from "../core/grid.js";
import {
  bestOverlap,
  errorWords,
  isRight,
  isTyped,
  keepGuess,
  nearestGuess,
  numberWords,
  overlapOf,
  readGuesses,
  reasonFor,
  sliderGuess,
  typedGuess,
} from "../core/guesses.js";
import { percent } from "../core/numbers.js";
import { choiceButtons, numberDial } from "../drawing/asking.js";
import { applyDataStyles, collectRefs, make } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { CHARTS, photograph, pictures } from "./guesscharts.js";

const PICTURE_DRAWERS = { ...CHARTS, Photo: photograph, Pictures: pictures };
const BLANK = "▢";
const SHRUNK_SHARE = 0.62; // share of its height to which a picture shrinks to show what the answer reveals
const NARROW_WIDTH = 860; // pixels, as in questions.css: a narrower window has one column
// least, most: a photograph's smallest and largest height in pixels; below: the pixels kept free below the photograph;
// share: the photograph's largest share of the question's width; wide: the same for a wide pair of photographs
const PHOTO = { least: 320, most: 560, below: 46, share: 0.64, wide: 0.755 };
const CARD = `<figure data-ref="figure" hidden><svg data-ref="svg" role="img"></svg></figure>
<div class="words">
  <p class="prose" data-ref="prose"></p>
  <p class="ask"><b>Guess first.</b> <span data-ref="question"></span></p>
  <div class="field" data-ref="field"></div>
  <p class="act" data-ref="act"><button class="lock" data-ref="lock" disabled>Lock my guess</button>
    <button data-ref="skip">show it without a guess</button> <span data-ref="before"></span></p>
  <div class="told" data-ref="told" aria-live="polite" hidden></div>
  <p class="act" data-ref="stale" hidden>You guessed this about something else.
    <button data-ref="again">Guess once more, about what is shown now</button></p>
</div>`;

export function mountGuess({ data, parentElement }) {
  const root = parentElement.querySelector("[data-guess]") ?? parentElement;
  const key = `${data.id} ${data.context}`;
  let state = parentElement.__guess;
  if (!state || state.key !== key) state = parentElement.__guess = beginGuess(root, data, key);
  state.data = data;
  showGuess(state);
  tellQuestion(state);
  return () => {
    state.observer.disconnect();
    delete parentElement.__guess;
  };
}

export default mountGuess;

// Tells the page which question is shown here: a class may guess it (shell/lessonclass.js).
function tellQuestion(state) {
  const reveal = () => state.locked || lockGuess(state, true);
  const detail = { question: state.data, reveal, cover: () => guessAfresh(state) };
  state.root.dispatchEvent(new CustomEvent("question-shown", { bubbles: true, composed: true, detail }));
}

function beginGuess(root, data, key) {
  root.innerHTML = CARD;
  const state = Object.seal({
    root,
    key,
    refs: collectRefs(root),
    data,
    guess: noGuess(data), // a Set of patches, a number or the key of a choice
    locked: false,
    stale: false, //   whether the guess was about another context, such as another picture
    chart: null, //    the last drawn chart, which finds the value under the pointer
    cursor: null, //   the patch of the keyboard's cursor
    showInField: null, // a function that shows a guess in its control
    heightLeft: null, // the height that the window leaves for a photograph, in pixels
    place: null, //    the question's element in the page
    observer: new ResizeObserver(() => drawGuess(state)),
    read: null,
  });
  state.read = () => ({
    id: state.data.id,
    guess: plainGuess(state.guess),
    locked: state.locked,
    truth: state.data.truth,
  });
  root.__guess = state;
  state.refs.figure.hidden = !data.picture;
  root.classList.toggle("pictured", Boolean(data.picture));
  root.classList.toggle("photo", isPhoto(data));
  state.refs.prose.innerHTML = markedWords(data.prose);
  state.refs.prose.hidden = !data.prose;
  state.refs.question.innerHTML = markedWords(data.asks).replace(BLANK, '<output class="gap">?</output>');
  state.refs.svg.setAttribute("aria-label", state.refs.question.textContent);
  ({ Number: askNumber, Choice: askChoice, Painting: askPainting })[data.guess.kind](state);
  state.refs.lock.addEventListener("click", () => lockGuess(state));
  state.refs.skip.addEventListener("click", () => {
    state.guess = noGuess(data);
    lockGuess(state, true);
  });
  state.refs.again.addEventListener("click", () => guessAfresh(state));
  showFormerGuess(state);
  state.place = root.getRootNode().host ?? root;
  state.observer.observe(state.refs.figure);
  // When parts above the question vanish, the picture may become higher. These elements then change their sizes.
  for (let element = state.place; element; element = element.parentElement) state.observer.observe(element);
  return state;
}

// Shows the guess of an earlier visit.
function showFormerGuess(state) {
  const { id, context, afresh: isAfresh } = state.data;
  const formerGuess = readGuesses(localStorage)[id];
  if (formerGuess?.words) state.refs.before.textContent = `Last time here: ${formerGuess.words}.`;
  const isSameContext = formerGuess?.context === context;
  state.stale = Boolean(formerGuess && !isSameContext && !isAfresh);
  if (!formerGuess || !isSameContext) return;
  state.locked = true;
  if (formerGuess.guess === "") return;
  state.guess = Array.isArray(formerGuess.guess) ? new Set(formerGuess.guess) : formerGuess.guess;
}

const isPhoto = ({ picture }) => ["Photo", "Pictures"].includes(picture?.kind);
const noGuess = ({ guess }) => (guess.kind === "Painting" ? new Set() : null);
const plainGuess = (guess) => (guess instanceof Set ? [...guess] : guess);
const isNothing = (guess) => guess === null || (guess instanceof Set && !guess.size);

function chooseGuess(state, guess) {
  if (state.locked || state.stale) return;
  state.guess = guess;
  state.refs.lock.disabled = isNothing(guess);
  drawGuess(state);
}

function lockGuess(state, isSkipped = false) {
  state.locked = true;
  const words = isSkipped ? "" : comparisonWords(state).replace(/\.$/, "");
  const { id, context } = state.data;
  const shortWords = words && words[0].toLowerCase() + words.slice(1);
  keepGuess(localStorage, id, { words: shortWords, guess: isSkipped ? "" : plainGuess(state.guess), context });
  showGuess(state);
  dispatchEvent(new CustomEvent("guess-locked"));
  if (state.data.picture) scrollToRevealed(state);
}

// Covers the answer, and the parts that it has revealed.
function guessAfresh(state) {
  if (!state.locked && !state.stale) return;
  Object.assign(state, { stale: false, locked: false, guess: noGuess(state.data) });
  showGuess(state);
  dispatchEvent(new CustomEvent("guess-locked")); // what waits for a guess waits again
}

// Scrolls the question to the window's top, so that the revealed parts are visible below it.
function scrollToRevealed(state) {
  const isSmall = state.root.offsetHeight < 0.62 * innerHeight;
  if (!partAfter(state) || !isSmall || innerWidth <= NARROW_WIDTH) return;
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  state.root.scrollIntoView({ block: "start", behavior: isStill ? "auto" : "smooth" });
}

const partAfter = ({ data }) => document.querySelector(`[data-after="${data.id}"]`);

// Asks for a number. The reader drags it on the picture if there is one, sets it with a slider (also by keyboard), or
// types it if it is a whole number.
function askNumber(state) {
  const numberField = isTyped(state.data.guess) ? typedField(state) : null;
  const output = make("output");
  const setNumber = (x) => {
    const guess = sliderGuess(x, state.data.guess);
    dial.show(guess);
    chooseGuess(state, guess);
  };
  const dial = numberDial(state.data.guess, "your guess", setNumber);
  state.refs.field.replaceChildren(dial.input, numberField?.place ?? output);
  state.showInField = (guess) => {
    const words = guess === null ? "?" : numberWords(state.data.guess, guess);
    if (numberField) numberField.show(guess);
    else output.textContent = words;
    const gap = state.refs.question.querySelector(".gap");
    if (gap) gap.textContent = words.trim();
    dial.input.disabled = state.locked || state.stale;
    if (guess !== null) dial.show(guess);
  };
  const dragTo = (event) => {
    if (state.locked || state.stale) return;
    const value = state.chart.valueAt(...pointInChart(state, event));
    if (value !== null) setNumber(value);
  };
  followDrag(state.refs.svg, dragTo);
  state.root.classList.toggle("drags", Boolean(state.data.picture && !isPhoto(state.data)));
}

// A field for a whole number: {place, show(guess)}. show() does not overwrite what a person is typing.
function typedField(state) {
  const { low, high, step, unit } = state.data.guess;
  const range = { type: "number", min: low, max: high, step, inputMode: "numeric", placeholder: "or type" };
  const input = make("input", { ...range, "aria-label": "your guess, typed" });
  const place = make("label", "typed", input, unit);
  const readNumber = () => (input.value === "" ? null : typedGuess(Number(input.value), state.data.guess));
  input.addEventListener("input", () => chooseGuess(state, readNumber()));
  input.addEventListener("change", () => (input.value = String(readNumber() ?? "")));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !state.refs.lock.disabled) lockGuess(state);
  });
  const showNumber = (guess) => {
    input.disabled = state.locked || state.stale;
    const { activeElement } = /** @type {ShadowRoot} */ (input.getRootNode());
    if (activeElement !== input) input.value = guess ?? "";
  };
  return { place, show: showNumber };
}

function askChoice(state) {
  const buttons = choiceButtons(state.data.guess, (key) => chooseGuess(state, key));
  state.refs.field.classList.add("choices");
  state.refs.field.replaceChildren(...buttons);
  state.showInField = (guess) => {
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.dataset.key === guess));
      button.classList.toggle("true", (state.locked || state.stale) && button.dataset.key === state.data.truth);
    }
  };
}

function askPainting(state) {
  const [rows, columns] = state.data.picture.grid;
  const svg = state.refs.svg;
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("aria-label", "Paint patches: drag, or move with the arrow keys and paint with the space bar");
  const words = "Drag to paint, drag from a painted patch to wipe. By keyboard: arrows and the space bar.";
  state.refs.field.innerHTML = `<small>${words}</small>`;
  state.showInField = () => {};
  const brushRadius = Math.max(0, Math.round(columns / 28)); // in patches
  let isWiping = false;
  const paintPatch = (patch) => {
    const [row, column] = [Math.floor(patch / columns), patch % columns],
      patches = new Set(state.guess);
    for (let r = Math.max(0, row - brushRadius); r <= Math.min(rows - 1, row + brushRadius); r++) {
      for (let c = Math.max(0, column - brushRadius); c <= Math.min(columns - 1, column + brushRadius); c++) {
        patches[isWiping ? "delete" : "add"](r * columns + c);
      }
    }
    chooseGuess(state, patches);
  };
  const paintUnder = (event, isFirst) => {
    const patch = state.chart.patchAt(...pointInChart(state, event));
    if (isFirst) isWiping = state.guess.has(patch);
    if (patch !== null) paintPatch(patch);
  };
  followDrag(svg, paintUnder);
  svg.addEventListener("keydown", (event) => {
    const cursor = state.cursor ?? state.data.picture.mark ?? 0;
    const nextPatch = patchAfterKey(event.key, cursor, rows, columns);
    if (nextPatch >= 0) {
      state.cursor = nextPatch;
      drawGuess(state);
    } else if (event.key === " ") {
      isWiping = state.guess.has(cursor);
      paintPatch(cursor);
    } else return;
    event.preventDefault();
  });
}

// Calls move(event, isFirst) while a pointer is down.
function followDrag(svg, move) {
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    move(event, true);
  });
  svg.addEventListener("pointermove", (event) => event.buttons && move(event, false));
}

function pointInChart(state, event) {
  const box = state.refs.svg.getBoundingClientRect(),
    { width, height } = state.refs.svg.viewBox.baseVal;
  return [((event.clientX - box.left) * width) / box.width, ((event.clientY - box.top) * height) / box.height];
}

// ------------------------------------------------------------------------------------------------------- the picture

function drawGuess(question) {
  const { refs, data } = question;
  question.showInField(question.guess);
  if (!data.picture || !refs.figure.clientWidth) return;
  const isOpen = question.locked || question.stale,
    makesRoom = isOpen && partAfter(question), // whether the picture shrinks for the parts revealed below
    isShrunk = makesRoom && data.picture.kind !== "Pictures", // captions of "Pictures" need the height
    isWidePhoto = isPhoto(data) && innerWidth > NARROW_WIDTH;
  question.root.classList.toggle("answered", Boolean(makesRoom));
  const share = aspectOfTwo(data.picture) > 2.2 ? PHOTO.wide : PHOTO.share;
  const width = isWidePhoto ? Math.round(share * question.root.clientWidth) : refs.figure.clientWidth,
    height = Math.round((isWidePhoto ? photoHeight(question) : data.picture.height) * (isShrunk ? SHRUNK_SHARE : 1));
  const state = {
    guess: question.guess,
    truth: data.truth,
    open: isOpen,
    width,
    height,
    cursor: question.cursor,
    roomy: isWidePhoto, // on a phone, only the width limits a photograph
  };
  question.chart = PICTURE_DRAWERS[data.picture.kind](data.picture, state);
  const pictureWidth = isWidePhoto ? Math.ceil(question.chart.width) : width,
    pictureHeight = isPhoto(data) ? Math.ceil(question.chart.height) : height;
  if (isWidePhoto) question.root.style.setProperty("--picture", `${pictureWidth}px`);
  refs.svg.setAttribute("viewBox", `0 0 ${pictureWidth} ${pictureHeight}`);
  refs.svg.setAttribute("width", pictureWidth);
  refs.svg.setAttribute("height", pictureHeight);
  refs.svg.innerHTML = question.chart.svg;
  applyDataStyles(refs.svg);
}

const aspectOfTwo = ({ aspect, beside, covered }) =>
  beside ? aspect + beside.aspect : covered?.length === 2 ? 2 * aspect : 0;

// Returns the height that the window leaves for a photograph. It is measured only while the page is not scrolled.
function photoHeight(state) {
  const top = state.root.getBoundingClientRect().top;
  if (top > 0 && !isScrolled(state.place)) state.heightLeft = innerHeight - top - PHOTO.below;
  return Math.min(PHOTO.most, Math.max(PHOTO.least, state.heightLeft ?? state.data.picture.height));
}

const isScrolled = (element) => Boolean(element) && (element.scrollTop > 0 || isScrolled(element.parentElement));

// ------------------------------------------------------------------------------------------------------- the answer

function showGuess(state) {
  const { refs, data } = state;
  const isOpen = state.locked || state.stale;
  const pageData = document.documentElement.dataset;
  const otherIds = (pageData.guessed ?? "").split(" ").filter((id) => id && id !== data.id);
  pageData.guessed = [...otherIds, ...(isOpen ? [data.id] : [])].join(" ");
  state.root.dataset.open = String(!isOpen);
  refs.stale.hidden = !state.stale;
  refs.act.hidden = isOpen;
  refs.told.hidden = !isOpen;
  refs.lock.disabled = isNothing(state.guess);
  drawGuess(state);
  if (!isOpen) return;
  const words = state.locked && !isNothing(state.guess) ? comparisonWords(state) : truthSentence(state);
  const truth = data.guess.kind === "Number" ? nearestGuess(data.truth, data.guess) : data.truth;
  const reason =
    state.locked && !isNothing(state.guess) ? reasonFor(plainGuess(state.guess), truth, data.tempting) : "";
  const sentences = [words && `<b>${markedWords(words)}</b>`, markedWords(reason), markedWords(data.says)];
  refs.told.innerHTML = sentences.filter(Boolean).join(" ");
}

const truthSentence = ({ data }) =>
  data.guess.kind === "Number" ? `It is ${numberWords(data.guess, data.truth)}.` : "";

// The words that compare truth and guess.
function comparisonWords(state) {
  const { data, guess } = state;
  if (data.guess.kind === "Painting") {
    const [overlap, largestOverlap] = [overlapOf([...guess], data.picture.heat), bestOverlap(data.picture.heat)];
    return `Overlap ${percent(overlap)}; the best possible painting has ${percent(largestOverlap)}.`;
  }
  if (data.guess.kind === "Choice") return isRight(data, guess) ? "Right." : "Not so.";
  const [guessWords, truthWords] = [guess, data.truth].map((number) => numberWords(data.guess, number));
  const nearness = guessWords === truthWords ? "exactly" : errorWords(guess, data.truth, data.guess);
  return `You said ${guessWords}, it is ${truthWords}: ${nearness}.`;
}
