// The controls with which a guess is made: in lessons, in the story and on the phones of a class. `guess`: as in a
// Question of playground/lessons/questions.py.
import { scaleNumberAt, scaleShareAt, sliderGuess } from "../core/guesses.js";
import { make } from "./dom.js";
import { markedWords } from "./listing.js";

const LOG_STEPS = 1000; // steps of a logarithmic dial

// A dial for a number: {input, value(): the guess at which it stands, show(guess)}. onMove(guess) is called when a
// person moves it.
export function numberDial(guess, label, onMove) {
  const { low, high, step = 1, log } = guess;
  const toDial = (x) => (log ? LOG_STEPS * scaleShareAt(guess, x) : x);
  const fromDial = (x) => (log ? scaleNumberAt(guess, x / LOG_STEPS) : x);
  const range = { min: toDial(low), max: toDial(high), step: log ? 1 : step };
  const input = make("input", { type: "range", ...range, "aria-label": label });
  input.valueAsNumber = (toDial(low) + toDial(high)) / 2;
  const value = () => sliderGuess(fromDial(Number(input.value)), guess);
  input.addEventListener("input", () => onMove(value()));
  return {
    input,
    value,
    show(x) {
      input.valueAsNumber = toDial(x);
    },
  };
}

// A button for each option. textOf(words): an option's words in the reader's language.
export const choiceButtons = ({ options }, onPick, textOf = (words) => words) =>
  options.map(([key, words]) => {
    const innerHTML = markedWords(textOf(words));
    return make("button", { innerHTML, "data-key": key, onclick: () => onPick(key) });
  });
