// A way to look is one record: what its numbers are made of, how they become colours, in what they are written, what is
// said of them. The table is Python's (playground/figures/drawing/ways.py). No DOM in here.
import { percent, shortNumber } from "./numbers.js";
import { FORETOLD, WAY_RECORDS, WAY_USUAL, WAY_WORDS } from "./waytable.js";

// What the browser makes of a row or a column of weights, for the ways to look that are made of those: one function
// each, called for every head in every frame. No DOM in here.
//   (out, at, weights, count, norms, from, step): weights[at …] become out[at …]; the length of the value of token j of
//   a row is norms[from + step * j], and a column has one length, with a step of 0.

export const MADE_OF_WEIGHTS = {
  value(out, at, weights, count, norms, from, step) {
    for (let j = 0; j < count; j++) out[at + j] = weights[at + j] * norms[from + step * j];
  },
};

const wholeWay = (way) => Object.freeze({ ...WAY_USUAL, ...way });
export const WAYS = Object.freeze(Object.fromEntries(WAY_RECORDS.map((way) => [way.name, wholeWay(way)])));
export const FIRST_WAY = WAY_RECORDS[0].name; // where nothing else is chosen

export const wayOf = (view) => WAYS[view.what];

// The words of a table's name in the first of these cases that has words of its own; "" where nothing is said.
export function tableWords(name, kind, cases = [], filled = {}, language = "en") {
  const table = WAY_WORDS[language][kind];
  const words = cases.map((one) => table[`${name}.${one}`]).find((words) => words !== undefined);
  return fill(words ?? table[name] ?? "", filled);
}

export const wayWords = (way, ...rest) => tableWords(way.name, ...rest);

// How far a map of what matters can be trusted: as it was measured on this picture ({foretells, random, blocks, by}),
// or on others in this model; "" of a way that claims no such thing.
export function trustWords(way, model, measured = null) {
  if (!way.attributes) return "";
  const two = (number) => number.toFixed(2).replace("-", "−");
  if (measured) {
    const { foretells, random, blocks, by } = measured;
    const blank = tableWords("blanked", "beside", [by]);
    const numbers = { correlation: two(foretells), random: two(random), constant: two(0) };
    return tableWords("trust", "beside", ["here"], { ...numbers, blocks, blank });
  }
  const trust = FORETOLD[model];
  if (!trust) return tableWords("trust", "beside", ["none"]);
  const numbers = { correlation: two(trust[way.name]), random: two(trust.random), constant: two(trust.constant) };
  return tableWords("trust", "beside", [], { ...numbers, pictures: trust.pictures });
}

const fill = (words, filled) => words.replace(/\{(\w+)\}/g, (whole, name) => filled[name] ?? whole);

export const explainsLabel = ({ what, label }) => label !== "" && WAYS[what].explains === "patch";

// Whether a token asks: nowhere else is decided what is said of one. As Spec.asks in figures/drawing/spec.py.
export const asks = (view) => wayOf(view).asksAPatch && !explainsLabel(view);

// What is spread between its smallest and its largest, and what speaks for a label and against it, has no share that
// could be lit; features have colours of their own (as in figures/drawing/prints.py).
export const canBeLit = (view) => !wayOf(view).spread && !wayOf(view).coloured && !explainsLabel(view);

// In what its numbers are written: "share" is in %.
export const unitOf = (view) => (explainsLabel(view) && wayOf(view).unitOfLabel) || wayOf(view).unit;

// A size with its unit: "2.8 %", "0.12 logits".
export const sizeWords = (size, unit) =>
  unit === "share" ? percent(size) : `${shortNumber(size)}${unit === "logits" ? ` ${unit}` : ""}`;
