// Shows an exercise: a question, a hint, then the answer. It is done in a certain state of the page; if it offers
// answers, when the right one is chosen. The browser stores this. data: an Exercise of playground/lessons/parts.py, and
// the lesson's settings.

import { EXERCISES_KEY, forgetGuesses, keepGuess, onReport, readGuesses, reportsHere } from "../core/guesses.js";
import { isBroken, readArrows, scoresOf, TOKEN_COUNT, weightsOf } from "../core/nine.js";
import { make } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";

// Checks whether an exercise is done. A condition (playground/lessons/parts.py) has one of four forms: true or false,
// which Python has computed; {setting: [values as text]}; {drawing, check: a name in CHECKS}, a check of the numbers
// that the drawing reports; or a list of conditions, of which one has to hold.

const WEIGHT_TOLERANCE = 0.005; // largest difference between two weights that count as equal
const weightsIn = ({ arrows }) => weightsOf(scoresOf(readArrows(arrows)));
const isEven = (weight) => Math.abs(weight - 1 / TOKEN_COUNT) < WEIGHT_TOLERANCE;
const LEAST_A_TO_B = 0.5; // least weight that token A must give token B
const sharesEvenly = ({ weights }) => Math.abs(weights[0] - weights[1]) < WEIGHT_TOLERANCE;
const VANISHING_SCORE = -88; // for a smaller score s, e^s is nearly 0 in 32-bit numbers
const MOST_B_TO_A = 0.1; // largest weight that token B may give token A
const isOff = (spotsOff, [layer, head]) => spotsOff.some((spot) => spot[0] === layer && spot[1] === head);

const CHECKS = {
  one_key: ({ peak }) => peak > 0.99,
  even: (report) => weightsIn(report).every((weight, index) => index >= TOKEN_COUNT || isEven(weight)),
  one_role({ arrows }) {
    const numbers = readArrows(arrows);
    return numbers.subarray(0, 2 * TOKEN_COUNT).every((number, index) => number === numbers[2 * TOKEN_COUNT + index]);
  },
  one_way: (report) => weightsIn(report)[1] > LEAST_A_TO_B && weightsIn(report)[TOKEN_COUNT] < MOST_B_TO_A,
  both_ways: (report) => weightsIn(report)[1] > LEAST_A_TO_B && weightsIn(report)[TOKEN_COUNT] >= MOST_B_TO_A,
  a_receives: ({ received: totals, nearly: threshold }) => totals[0] > threshold,
  another_receives: ({ received: totals, nearly: threshold }) => totals.some((number) => number > threshold),
  tags_apart: ({ tops }) => tops[0] !== tops[1],
  tags_together: ({ tops }) => tops[0] === tops[1],
  two_share: (report) => sharesEvenly(report) && report.weights[2] < 0.01,
  three_share: (report) => sharesEvenly(report) && report.weights[2] >= 0.01,
  broken: ({ naive: naiveShares }) => isBroken(naiveShares),
  tiny_power: ({ scores }) => Math.min(...scores) < VANISHING_SCORE,
  strongest_alone: ({ off: spotsOff, strongest: strongestSpot }) =>
    spotsOff.length === 1 && isOff(spotsOff, strongestSpot),
  strongest_among_others: ({ off: spotsOff, strongest: strongestSpot }) => isOff(spotsOff, strongestSpot),
  another_head: ({ off: spotsOff }) => spotsOff.length > 0,
  whole_layer: ({ off: spotsOff, heads }) =>
    spotsOff.some(([layer]) => spotsOff.filter(([other]) => other === layer).length === heads),
  several_layers: ({ off: spotsOff }) => new Set(spotsOff.map(([layer]) => layer)).size > 1,
  some_hidden: ({ mask }) => mask !== "" && mask !== "causal",
};

export function holdsNow(condition, settings, reports) {
  if (typeof condition === "boolean") return condition;
  if (Array.isArray(condition)) return condition.some((part) => holdsNow(part, settings, reports));
  if (condition.drawing) {
    const numbers = reports[condition.drawing];
    return Boolean(numbers) && CHECKS[condition.check](numbers);
  }
  return Object.entries(condition).every(([name, values]) => values.includes(settings[name]));
}

// Returns {done, why: why a tempting state is wrong, or ""}.
export function stateOfExercise({ done, tempting }, settings, reports) {
  if (holdsNow(done, settings, reports)) return { done: true, why: "" };
  const why = tempting.find(([condition]) => holdsNow(condition, settings, reports))?.[1] ?? "";
  return { done: false, why };
}

const EXERCISE_MARKUP = `<details><summary><i></i><span></span></summary>
  <p class="hint"></p><p class="why"></p><p class="offers"></p>
  <p class="ask"><button>Show the answer</button></p><p class="answer"></p></details>`;

export function exercise({ data, parentElement }) {
  const controller = new AbortController();
  const root = parentElement.querySelector("[data-exercise]") ?? parentElement;
  const state = (parentElement.__exercise ??= { answerShown: false, done: null, why: null, chosenIndex: null });
  const update = () => showExercise(root, state, data, stateOfExercise(data, data.settings, reportsHere()));
  if (data.done.drawing) onReport(update, controller.signal);
  update();
  return () => {
    controller.abort();
    delete parentElement.__exercise;
  };
}

function showExercise(root, state, { id, asks, hint, answer, answers: options }, { done, why }) {
  const findPart = (part) => root.querySelector(part);
  if (!root.firstElementChild) {
    root.innerHTML = EXERCISE_MARKUP;
    findPart(".ask button").addEventListener("click", () => {
      state.answerShown = true;
      state.draw();
    });
  }
  const isFinished = () => done && (!options.length || options[state.chosenIndex]?.[1] === "");
  const isKept = () => id in readGuesses(localStorage, EXERCISES_KEY);
  const keepDone = () => {
    if (!isFinished() || isKept()) return;
    keepGuess(localStorage, id, true, EXERCISES_KEY);
    dispatchEvent(new CustomEvent("guess-locked"));
  };
  const chooseAnswer = (n) => {
    state.chosenIndex = n;
    keepDone();
    state.draw();
  };
  keepDone();
  const hasChanged = (done && state.done === false) || (why && state.why === "");
  if (hasChanged) findPart("details").open = true;
  Object.assign(state, { done, why });
  state.draw = () => {
    const isDone = isFinished() || isKept();
    const isAnswered = isDone || state.answerShown || !(hint || options.length);
    const reason = done ? (options[state.chosenIndex]?.[1] ?? "") : why;
    root.dataset.id = id;
    root.dataset.done = String(isFinished());
    findPart("i").textContent = isDone ? "✓" : "○";
    findPart("span").innerHTML = `${markedWords(asks)}${isDone ? " <b>Done.</b>" : ""}`;
    findPart(".hint").innerHTML = `<b>Hint.</b> ${markedWords(hint)}`;
    findPart(".hint").hidden = !hint || isDone;
    findPart(".why").innerHTML = `<b>Not ${done ? "so" : "yet"}.</b> ${markedWords(reason)}`;
    findPart(".why").hidden = !reason || isDone;
    offerAnswers(findPart(".offers"), options, state.chosenIndex, chooseAnswer);
    findPart(".offers").hidden = !done || isAnswered || !options.length;
    findPart(".ask").hidden = isAnswered;
    findPart(".answer").innerHTML = markedWords(answer);
    findPart(".answer").hidden = !isAnswered;
  };
  state.draw();
}

function offerAnswers(place, options, chosenIndex, onChoose) {
  const buttons = options.map(([words], n) => {
    const fields = { innerHTML: markedWords(words), onclick: () => onChoose(n) };
    return make("button", { ...fields, "aria-pressed": String(n === chosenIndex) });
  });
  place.replaceChildren(make("b", "", "Set. Your answer?"), ...buttons);
}

// Shows the whole model as a row of boxes, above every lesson. The present page's part is highlighted, and each box
// leads to the page about its part. Beside the row are the numbers of questions guessed and exercises done so far.
// data: {boxes: [{name, address, lit, group}], questions, exercises: how many there are of each}

export function overview({ data, parentElement }) {
  const root = parentElement.querySelector("[data-overview]") ?? parentElement;
  const linkHtml = ({ name, address, lit: isLit }) =>
    `<a href="${address.replaceAll("&", "&amp;")}" ${isLit ? 'class="lit" aria-current="true"' : ""}>${name}</a>`;
  const linksOf = (group) => data.boxes.filter((entry) => entry.group === group).map(linkHtml);
  root.innerHTML = `<nav aria-label="The whole model">${[
    ...linksOf("before"),
    `<span class="layer"><i>L ×</i>${linksOf("layer").join("")}</span>`,
    ...linksOf("after"),
  ].join("<s>→</s>")}</nav><p><span></span> <button hidden>forget them</button></p>`;
  const forgetButton = root.querySelector("button");
  const showCounts = () => {
    const guessCount = Object.values(readGuesses(localStorage)).filter((guess) => guess?.words).length;
    const doneCount = Object.keys(readGuesses(localStorage, EXERCISES_KEY)).length;
    const counts = [
      guessCount && `${guessCount} of ${data.questions} questions guessed`,
      doneCount && `${doneCount} of ${data.exercises} exercises done`,
    ].filter(Boolean);
    root.querySelector("p span").textContent = counts.length ? `${counts.join(", ")}; kept in this browser only.` : "";
    forgetButton.hidden = !counts.length;
  };
  forgetButton.addEventListener("click", () => {
    forgetGuesses(localStorage);
    showCounts();
  });
  showCounts();
  addEventListener("guess-locked", showCounts);
  return () => removeEventListener("guess-locked", showCounts);
}
