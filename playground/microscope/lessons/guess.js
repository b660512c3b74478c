// A question before its answer: guess, lock, reveal. The guess is made on the question's picture, and the truth is
// drawn over it. The truth comes with the question; guesses are stored in this browser and sent nowhere.
//
// data: a Question of playground/lessons/questions.py: {id, asks, prose, guess: {kind: "Number" | "Choice" |
//       "Painting", …}, picture: null | {kind: "Bars" | "Lines" | "Squares" | "Photo" | "Pictures", …}, truth, says,
//       tempting: [[which, reason], …]}, and {context, afresh}
// What the page holds back until then is hidden by a style that asks for this question's id in
// document.documentElement.dataset.guessed (ui/frame.py).

import {
  asGuessed,
  asTyped,
  bestOverlap,
  isTyped,
  keep,
  nearest,
  nearOf,
  overlapOf,
  readKept,
  reasonFor,
} from "../core/guesses.js";
import { percent } from "../core/numbers.js";
import { collectRefs, styled } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { CHARTS, photograph, pictures, roundedText } from "./guesscharts.js";

const DRAWN = { ...CHARTS, Photo: photograph, Pictures: pictures };
const BLANK = "▢";
const ANSWERED = 0.62; // share of the picture's height that is left when parts below are revealed
const NARROW = 860; // pixels, as in guess.css: in a narrower window everything stands in one column
// A photograph's least and most height in pixels, the pixels below it, and its largest share of the width
const PHOTO = { least: 320, most: 560, below: 46, share: 0.64, wide: 0.755 }; // wide: if either of two is wide
const CARD = `<figure data-ref="figure" hidden><svg data-ref="svg" role="img"></svg></figure>
<div class="words">
  <p class="prose" data-ref="prose"></p>
  <p class="ask"><b>Guess first.</b> <span data-ref="question"></span></p>
  <div class="field" data-ref="field"></div>
  <p class="act" data-ref="act"><button class="lock" data-ref="lock" disabled>Lock my guess</button>
    <button data-ref="skip">show it without a guess</button> <span data-ref="before"></span></p>
  <div class="told" data-ref="told" aria-live="polite" hidden></div>
  <p class="act" data-ref="passed" hidden>You guessed this about something else.
    <button data-ref="again">Guess once more, about what is shown now</button></p>
</div>`;

export function mountGuess({ data, parentElement }) {
  const root = parentElement.querySelector("[data-guess]") ?? parentElement;
  const key = `${data.id} ${data.context}`;
  let it = parentElement.__guess;
  if (!it || it.key !== key) it = parentElement.__guess = beginGuess(root, data, key);
  it.data = data;
  showGuess(it);
  return () => {
    it.watch.disconnect();
    delete parentElement.__guess;
  };
}

export default mountGuess;

function beginGuess(root, data, key) {
  root.innerHTML = CARD;
  const it = Object.seal({
    root,
    key,
    refs: collectRefs(root),
    data,
    guess: data.guess.kind === "Painting" ? new Set() : null, // or a number, or the key of a choice
    locked: false,
    passed: false, //  it was guessed about something else, another picture perhaps
    last: null, //     what was drawn last, which knows what lies under the pointer
    cursor: null, //   the patch that the keyboard is at
    asks: null, //     the control of a guess in words
    tall: null, //     the height that a photograph may have, in pixels
    place: null, //    where the page has this question
    watch: new ResizeObserver(() => drawGuess(it)),
    read: null,
  });
  it.read = () => ({ id: it.data.id, guess: plainGuess(it.guess), locked: it.locked, truth: it.data.truth });
  root.__guess = it;
  it.refs.figure.hidden = !data.picture;
  root.classList.toggle("pictured", Boolean(data.picture));
  root.classList.toggle("photo", isPhoto(data));
  it.refs.prose.innerHTML = markedWords(data.prose);
  it.refs.prose.hidden = !data.prose;
  it.refs.question.innerHTML = markedWords(data.asks).replace(BLANK, '<output class="gap">?</output>');
  ({ Number: askNumber, Choice: askChoice, Painting: askPainting })[data.guess.kind](it);
  it.refs.lock.addEventListener("click", () => lockGuess(it));
  it.refs.skip.addEventListener("click", () => {
    it.guess = data.guess.kind === "Painting" ? new Set() : null;
    lockGuess(it, true);
  });
  it.refs.again.addEventListener("click", () => {
    Object.assign(it, { passed: false, locked: false, guess: data.guess.kind === "Painting" ? new Set() : null });
    showGuess(it);
  });
  remember(it);
  it.place = (root.getRootNode().host ?? root).closest('[class*="st-key-guess_"]');
  it.watch.observe(it.refs.figure);
  return it;
}

// What was guessed on an earlier visit.
function remember(it) {
  const { id, context, afresh } = it.data;
  const former = readKept(localStorage)[id];
  if (former?.words) it.refs.before.textContent = `Last time here: ${former.words}.`;
  const same = former?.context === context;
  it.passed = Boolean(former && !same && !afresh);
  if (!former || !same) return;
  it.locked = true;
  if (former.guess === "") return;
  it.guess = Array.isArray(former.guess) ? new Set(former.guess) : former.guess;
}

const isPhoto = ({ picture }) => ["Photo", "Pictures"].includes(picture?.kind);
const plainGuess = (guess) => (guess instanceof Set ? [...guess] : guess);
const isNothing = (guess) => guess === null || (guess instanceof Set && !guess.size);

function chooseGuess(it, guess) {
  if (it.locked || it.passed) return;
  it.guess = guess;
  it.refs.lock.disabled = isNothing(guess);
  drawGuess(it);
}

function lockGuess(it, skipped = false) {
  it.locked = true;
  const words = skipped ? "" : compared(it).replace(/\.$/, "");
  const { id, context } = it.data;
  const short = words && words[0].toLowerCase() + words.slice(1);
  keep(localStorage, id, { words: short, guess: skipped ? "" : plainGuess(it.guess), context });
  showGuess(it);
  dispatchEvent(new CustomEvent("guess-locked"));
  if (it.data.picture) showWhatOpened(it);
}

// The question goes to the window's top, so that what was held back is seen below it.
function showWhatOpened(it) {
  const small = it.root.offsetHeight < 0.62 * innerHeight;
  if (!heldBack(it) || !small || innerWidth <= NARROW) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  it.root.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
}

const heldBack = ({ data }) => document.querySelector(`.st-key-after_${data.id}, [data-after="${data.id}"]`);

// --------------------------------------------------------------------------------------------------- the three kinds

// A guess of a number: dragged on the picture if there is one, or set with the slider, which also serves keyboards. A
// whole number can be typed, too.
function askNumber(it) {
  const { low, high, step, log } = it.data.guess;
  const typed = isTyped(it.data.guess) ? typedField(it) : null;
  it.refs.field.innerHTML = `<input type="range" aria-label="your guess"><output></output>`;
  const [input, output] = it.refs.field.children;
  if (typed) output.replaceWith(typed.place);
  const toSlider = (x) => (log ? (1000 * Math.log(x / low)) / Math.log(high / low) : x);
  const fromSlider = (x) => (log ? Number((low * (high / low) ** (x / 1000)).toPrecision(2)) : x);
  Object.assign(input, { min: log ? 0 : low, max: log ? 1000 : high, step: log ? 1 : step });
  input.value = (Number(input.min) + Number(input.max)) / 2;
  const put = (x) => {
    const guess = asGuessed(x, it.data.guess);
    input.value = toSlider(guess);
    chooseGuess(it, guess);
  };
  it.asks = (guess) => {
    const words = guess === null ? "?" : inWords(it, guess);
    if (typed) typed.show(guess);
    else output.textContent = words;
    const gap = it.refs.question.querySelector(".gap");
    if (gap) gap.textContent = words.trim();
    input.disabled = it.locked || it.passed;
    if (guess !== null) input.value = toSlider(guess);
  };
  input.addEventListener("input", () => put(fromSlider(Number(input.value))));
  const drag = (event) => {
    if (it.locked || it.passed) return;
    const value = it.last.valueAt(...under(it, event));
    if (value !== null) put(value);
  };
  dragged(it.refs.svg, drag, drag);
  it.root.classList.toggle("drags", Boolean(it.data.picture && !isPhoto(it.data)));
}

// A field for a whole number: {place, show(guess)}. What is being typed is not written over.
function typedField(it) {
  const { low, high, step, unit } = it.data.guess;
  const place = document.createElement("label"),
    input = document.createElement("input");
  place.className = "typed";
  Object.assign(input, { type: "number", min: low, max: high, step, inputMode: "numeric" });
  input.placeholder = "or type";
  input.setAttribute("aria-label", "your guess, typed");
  place.append(input, unit);
  const read = () => (input.value === "" ? null : asTyped(Number(input.value), it.data.guess));
  input.addEventListener("input", () => chooseGuess(it, read()));
  input.addEventListener("change", () => (input.value = read() ?? ""));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !it.refs.lock.disabled) lockGuess(it);
  });
  const show = (guess) => {
    input.disabled = it.locked || it.passed;
    if (input.getRootNode().activeElement !== input) input.value = guess ?? "";
  };
  return { place, show };
}

function askChoice(it) {
  const buttons = it.data.guess.options.map(([key, words]) => {
    const button = Object.assign(document.createElement("button"), { innerHTML: markedWords(words) });
    button.dataset.key = key;
    button.addEventListener("click", () => chooseGuess(it, key));
    return button;
  });
  it.refs.field.classList.add("choices");
  it.refs.field.replaceChildren(...buttons);
  it.asks = (guess) => {
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.dataset.key === guess));
      button.classList.toggle("true", (it.locked || it.passed) && button.dataset.key === it.data.truth);
    }
  };
}

function askPainting(it) {
  const [rows, columns] = it.data.picture.grid;
  const svg = it.refs.svg;
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("aria-label", "Paint patches: drag, or move with the arrow keys and paint with the space bar");
  const words = "Drag to paint, drag from a painted patch to wipe. By keyboard: arrows and the space bar.";
  it.refs.field.innerHTML = `<small>${words}</small>`;
  it.asks = () => {};
  const reach = Math.max(0, Math.round(columns / 28)); // radius of the brush
  let wipes = false;
  const brush = (patch) => {
    const [row, column] = [Math.floor(patch / columns), patch % columns],
      next = new Set(it.guess);
    for (let r = Math.max(0, row - reach); r <= Math.min(rows - 1, row + reach); r++) {
      for (let c = Math.max(0, column - reach); c <= Math.min(columns - 1, column + reach); c++) {
        next[wipes ? "delete" : "add"](r * columns + c);
      }
    }
    chooseGuess(it, next);
  };
  dragged(
    svg,
    (event) => {
      const patch = it.last.patchAt(...under(it, event));
      wipes = it.guess.has(patch);
      if (patch !== null) brush(patch);
    },
    (event) => {
      const patch = it.last.patchAt(...under(it, event));
      if (patch !== null) brush(patch);
    },
  );
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  svg.addEventListener("keydown", (event) => {
    const at = it.cursor ?? it.data.picture.mark ?? 0;
    if (event.key in steps) {
      const [down, right] = steps[event.key];
      const row = Math.min(rows - 1, Math.max(0, Math.floor(at / columns) + down)),
        column = Math.min(columns - 1, Math.max(0, (at % columns) + right));
      it.cursor = row * columns + column;
      drawGuess(it);
    } else if (event.key === " ") {
      wipes = it.guess.has(at);
      brush(at);
    } else return;
    event.preventDefault();
  });
}

function dragged(svg, begin, go) {
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    begin(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (event.buttons) go(event);
  });
}

function under(it, event) {
  const box = it.refs.svg.getBoundingClientRect(),
    { width, height } = it.refs.svg.viewBox.baseVal;
  return [((event.clientX - box.left) * width) / box.width, ((event.clientY - box.top) * height) / box.height];
}

// ------------------------------------------------------------------------------------------------------- the picture

function drawGuess(it) {
  const { refs, data } = it;
  it.asks(it.guess);
  if (!data.picture || !refs.figure.clientWidth) return;
  const open = it.locked || it.passed,
    room = open && heldBack(it), // makes room for the revealed parts
    smaller = room && data.picture.kind !== "Pictures", // which have captions
    photo = isPhoto(data) && innerWidth > NARROW;
  it.root.classList.toggle("answered", Boolean(room));
  const share = aspectOfTwo(data.picture) > 2.2 ? PHOTO.wide : PHOTO.share;
  const width = photo ? Math.round(share * it.root.clientWidth) : refs.figure.clientWidth,
    height = Math.round((photo ? photoHeight(it) : data.picture.height) * (smaller ? ANSWERED : 1));
  const state = { guess: it.guess, truth: data.truth, open, high: data.guess.high, width, height, cursor: it.cursor };
  state.roomy = photo; // on a phone, a photograph is limited by the width alone
  it.last = DRAWN[data.picture.kind](data.picture, state);
  const wide = photo ? Math.ceil(it.last.wide) : width,
    tall = isPhoto(data) ? Math.ceil(it.last.tall) : height;
  if (photo) it.root.style.setProperty("--picture", `${wide}px`);
  refs.svg.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
  refs.svg.setAttribute("width", wide);
  refs.svg.setAttribute("height", tall);
  refs.svg.innerHTML = it.last.svg;
  styled(refs.svg);
}

const aspectOfTwo = ({ aspect, beside, covered }) =>
  beside ? aspect + beside.aspect : covered?.length === 2 ? 2 * aspect : 0;

// The height left in the window for a photograph, as long as nobody has scrolled.
function photoHeight(it) {
  const top = it.root.getBoundingClientRect().top;
  if (top > 0 && !scrolled(it.place)) it.tall = innerHeight - top - PHOTO.below;
  return Math.min(PHOTO.most, Math.max(PHOTO.least, it.tall ?? it.data.picture.height));
}

const scrolled = (element) => Boolean(element) && (element.scrollTop > 0 || scrolled(element.parentElement));

// ------------------------------------------------------------------------------------------------------- the answer

function showGuess(it) {
  const { refs, data } = it;
  const open = it.locked || it.passed;
  const known = document.documentElement.dataset;
  const others = (known.guessed ?? "").split(" ").filter((id) => id && id !== data.id);
  known.guessed = [...others, ...(open ? [data.id] : [])].join(" ");
  it.root.dataset.open = String(!open);
  refs.passed.hidden = !it.passed;
  refs.act.hidden = open;
  refs.told.hidden = !open;
  refs.lock.disabled = isNothing(it.guess);
  drawGuess(it);
  if (!open) return;
  const words = it.locked && !isNothing(it.guess) ? compared(it) : bareTruth(it);
  const right = data.guess.kind === "Number" ? nearest(data.truth, data.guess) : data.truth;
  const reason = it.locked && !isNothing(it.guess) ? reasonFor(plainGuess(it.guess), right, data.tempting) : "";
  const sentences = [words && `<b>${markedWords(words)}</b>`, markedWords(reason), markedWords(data.says)];
  refs.told.innerHTML = sentences.filter(Boolean).join(" ");
}

// Counted things are written as exact numbers.
const inWords = ({ data: { guess } }, x) => {
  const counted = isTyped(guess) && Number.isInteger(x) && x < 1e6;
  return `${counted ? x.toLocaleString("en") : roundedText(x)}${guess.unit}`;
};

const bareTruth = ({ data }) => (data.guess.kind === "Number" ? `It is ${inWords({ data }, data.truth)}.` : "");

// The words that compare truth and guess.
function compared(it) {
  const { data, guess } = it;
  if (data.guess.kind === "Painting") {
    const [own, best] = [overlapOf([...guess], data.picture.heat), bestOverlap(data.picture.heat)];
    return `Overlap ${percent(own)}; the best possible painting has ${percent(best)}.`;
  }
  if (data.guess.kind === "Choice") return guess === data.truth ? "Right." : "Not so.";
  const [said, is] = [inWords(it, guess), inWords(it, data.truth)];
  return `You said ${said}, it is ${is}: ${said === is ? "exactly" : nearOf(guess, data.truth, data.guess)}.`;
}
