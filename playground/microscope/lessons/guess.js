// A question before its answer: guess, lock, reveal. A guess is a number, a choice, or patches painted on a picture.
//
// data: {id, kind: "number" | "choice" | "row", question, low, high, step, unit, choices: [[key, words], …],
//        image: data URL, grid: [rows, columns], mark: a patch, context,
//        locked: what was guessed, null: nothing yet, "": skipped; truth, says: once it is locked;
//        passed: it was guessed about something else, another picture perhaps; again: and is to be guessed once more}
// Out goes the trigger "lock": {guess}, {known} or {again}. What was guessed is kept in this browser: after a reload it
// is locked again by itself, and the page computes its answer anew.

import { bestOverlap, keep, nearOf, overlapOf, readKept } from "../core/guesses.js";
import { MAGMA } from "../core/magma.js";
import { percent } from "../core/numbers.js";
import { collectRefs } from "../drawing/dom.js";

const GUESS = `<p class="ask"><b>Guess first.</b> <span data-ref="question"></span></p>
<div class="field" data-ref="field"></div>
<p class="act"><button class="lock" data-ref="lock" disabled>Lock my guess</button>
  <button data-ref="skip">show it without a guess</button> <span data-ref="before"></span></p>
<div class="told" data-ref="told" aria-live="polite" hidden></div>
<p class="act" data-ref="passed" hidden>You guessed this about something else. <button data-ref="again">Guess once more,
  about what is shown now</button></p>`;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("[data-guess]") ?? parentElement;
  let kept = parentElement.__guess;
  if (!kept || kept.key !== `${data.id} ${data.context}`) {
    kept = parentElement.__guess = begin(root, data);
  }
  kept.data = data;
  kept.say = (said) => setTriggerValue("lock", { ...said, stamp: Date.now() });
  if (kept.first === data) remember(kept);
  else kept.waits = false;
  root.hidden = kept.waits; // the answer is on its way
  reveal(kept);
  return () => delete parentElement.__guess;
}

function begin(root, data) {
  root.innerHTML = GUESS;
  const it = Object.seal({
    root,
    key: `${data.id} ${data.context}`,
    refs: collectRefs(root),
    data,
    guess: null, //       a number, the key of a choice, or a set of patches
    say: null, //         tells the page
    image: null,
    first: data, //       what came first
    waits: false, //      whether the page was told of an earlier guess, and has not answered
    saved: false,
    read: null,
  });
  it.read = () => ({ id: it.data.id, guess: plain(it.guess), locked: it.data.locked, truth: it.data.truth });
  root.__guess = it;
  it.refs.question.textContent = data.question;
  ({ number: askNumber, choice: askChoice, row: askRow })[data.kind](it);
  it.refs.lock.addEventListener("click", () => it.say({ guess: plain(it.guess) }));
  it.refs.skip.addEventListener("click", () => it.say({ guess: "" }));
  it.refs.again.addEventListener("click", () => it.say({ again: true }));
  const before = readKept(localStorage)[data.id];
  if (before?.words) it.refs.before.textContent = `Last time here: ${before.words}.`;
  return it;
}

// What was guessed on an earlier visit; a theme switch brings the same data again.
function remember(it) {
  const { id, context, locked, passed, again } = it.data;
  const before = readKept(localStorage)[id];
  if (it.waits || locked !== null || passed || again || !before) return;
  it.waits = true;
  it.say(before.context === context ? { guess: before.guess, kept: true } : { known: true });
}

const plain = (guess) => (guess instanceof Set ? [...guess] : guess);

function choose(it, guess) {
  it.guess = guess;
  it.refs.lock.disabled = guess === null || (guess instanceof Set && !guess.size);
}

// --------------------------------------------------------------------------------------------------- the three kinds

function askNumber(it) {
  const { low, high, step, unit } = it.data;
  it.refs.field.innerHTML = `<input type="range" aria-label="your guess"><output></output>`;
  const [input, output] = it.refs.field.children;
  Object.assign(input, { min: low, max: high, step, value: (low + high) / 2 });
  const show = () => (output.textContent = `${Number(input.value).toLocaleString("en")}${unit}`);
  input.addEventListener("input", () => {
    choose(it, Number(input.value));
    show();
  });
  output.textContent = "?";
}

function askChoice(it) {
  const buttons = it.data.choices.map(([key, words]) => {
    const button = document.createElement("button");
    button.textContent = words;
    button.dataset.key = key;
    button.addEventListener("click", () => {
      if (it.data.locked !== null) return;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      choose(it, key);
    });
    return button;
  });
  it.refs.field.classList.add("choices");
  it.refs.field.replaceChildren(...buttons);
}

function askRow(it) {
  const { grid, image } = it.data;
  it.refs.field.classList.add("paintings");
  it.refs.field.innerHTML = `<figure><canvas tabindex="0" aria-label="Paint patches with the pointer"></canvas
    ><figcaption>yours: drag to paint, drag from a painted patch to wipe</figcaption></figure>
    <figure hidden><canvas></canvas><figcaption></figcaption></figure>`;
  const canvas = it.refs.field.querySelector("canvas");
  choose(it, new Set());
  const cellAt = (event) => {
    const box = canvas.getBoundingClientRect();
    return [
      Math.floor(((event.clientY - box.top) / box.height) * grid[0]),
      Math.floor(((event.clientX - box.left) / box.width) * grid[1]),
    ];
  };
  const reach = Math.max(0, Math.round(grid[1] / 28)); // of the brush
  let wipes = false;
  const brush = (event) => {
    const [row, column] = cellAt(event);
    for (let r = Math.max(0, row - reach); r <= Math.min(grid[0] - 1, row + reach); r++) {
      for (let c = Math.max(0, column - reach); c <= Math.min(grid[1] - 1, column + reach); c++) {
        it.guess[wipes ? "delete" : "add"](r * grid[1] + c);
      }
    }
    choose(it, it.guess);
    paintGuess(it);
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (it.data.locked !== null) return;
    const [row, column] = cellAt(event);
    wipes = it.guess.has(row * grid[1] + column);
    canvas.setPointerCapture(event.pointerId);
    brush(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons && it.data.locked === null) brush(event);
  });
  it.image = Object.assign(new Image(), { src: image, onload: () => reveal(it) });
}

function sheet(it, canvas) {
  const { grid, mark } = it.data;
  const width = 2 * (canvas.clientWidth || 300),
    height = Math.round((width * grid[0]) / grid[1]);
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  context.filter = "grayscale(0.85) brightness(0.75)";
  if (it.image.complete) context.drawImage(it.image, 0, 0, width, height);
  context.filter = "none";
  const cell = (patch) => [
    ((patch % grid[1]) * width) / grid[1],
    (Math.floor(patch / grid[1]) * height) / grid[0],
    width / grid[1],
    height / grid[0],
  ];
  const outline = () => {
    for (const [colour, line] of [
      ["#000", 8],
      ["#fff", 4],
    ]) {
      context.strokeStyle = colour;
      context.lineWidth = line;
      context.strokeRect(...cell(mark));
    }
  };
  return { context, cell, outline };
}

function paintGuess(it) {
  const { context, cell, outline } = sheet(it, it.refs.field.querySelector("canvas"));
  context.fillStyle = "rgb(86 180 233 / 0.75)";
  for (const patch of it.guess) context.fillRect(...cell(patch));
  outline();
}

function paintTruth(it, row) {
  const figure = it.refs.field.querySelectorAll("figure")[1];
  figure.hidden = false;
  const { context, cell, outline } = sheet(it, figure.querySelector("canvas"));
  const most = Math.max(...row);
  row.forEach((weight, patch) => {
    const at = 3 * Math.round((255 * weight) / most);
    context.fillStyle = `rgb(${MAGMA[at]} ${MAGMA[at + 1]} ${MAGMA[at + 2]} / ${0.15 + 0.75 * (weight / most)})`;
    context.fillRect(...cell(patch));
  });
  outline();
  figure.querySelector("figcaption").textContent = `the model's: brightest ${percent(most)}`;
}

// ------------------------------------------------------------------------------------------------------- the answer

function reveal(it) {
  const { refs, data } = it;
  const open = data.locked === null;
  refs.passed.hidden = !data.passed;
  for (const part of [refs.question.parentElement, refs.field]) part.hidden = data.passed;
  if (data.kind === "row") {
    if (data.locked) it.guess = new Set(data.locked);
    paintGuess(it);
  }
  refs.lock.parentElement.hidden = !open || data.passed;
  refs.told.hidden = open;
  it.root.dataset.open = String(open && !data.passed);
  if (open) return;
  for (const input of refs.field.querySelectorAll("input")) input.disabled = true;
  const words = compared(it);
  refs.told.innerHTML = "";
  refs.told.append(Object.assign(document.createElement("b"), { textContent: words ? `${words} ` : "" }), data.says);
  if (!it.saved) {
    it.saved = true;
    const skipped = data.locked === "";
    keep(localStorage, data.id, {
      words: skipped ? "" : words.replace(/\.$/, "").toLowerCase(),
      guess: data.locked,
      context: data.context,
    });
    dispatchEvent(new CustomEvent("guess-locked"));
  }
}

// Truth beside guess; "" where nothing was guessed.
function compared(it) {
  const { data, refs } = it;
  const guess = data.locked;
  const skipped = guess === "";
  if (data.kind === "row") {
    paintTruth(it, data.truth);
    const own = overlapOf(guess || [], data.truth);
    return skipped
      ? ""
      : `Overlap ${percent(own)}; the best possible painting has ${percent(bestOverlap(data.truth))}.`;
  }
  if (data.kind === "choice") {
    for (const button of refs.field.children) {
      button.setAttribute("aria-pressed", String(button.dataset.key === guess));
      button.classList.toggle("true", button.dataset.key === data.truth);
    }
    return skipped ? "" : guess === data.truth ? "Right." : "Not so.";
  }
  const number = (x) => `${Number(x.toPrecision(3)).toLocaleString("en")}${data.unit}`;
  if (skipped) return `It is ${number(data.truth)}.`;
  const input = refs.field.querySelector("input");
  if (input) input.value = guess;
  refs.field.querySelector("output").textContent = number(guess);
  return `You said ${number(guess)}, it is ${number(data.truth)}: ${nearOf(guess, data.truth)}.`;
}
