// A way to look is one record: the source of its numbers, their colours, their unit, and the words about them. The
// records stand in waytable.js. No DOM in here.
import { percent, shortNumber } from "./numbers.js";
import { FORETOLD, WAY_RECORDS, WAY_USUAL, WAY_WORDS } from "./waytable.js";

// A function for each way to look that computes its numbers from a row or a column of weights. The functions are called
// for every head in every frame.
// (out, offset, weights, count, norms, from, step): weights[offset …] become out[offset …]. norms[from + step * j] is
// the length of the value vector that weight j multiplies: in a row, of token j; in a column, where step is 0, always
// of the same token.

export const MADE_OF_WEIGHTS = {
  value(out, offset, weights, count, norms, from, step) {
    for (let j = 0; j < count; j++) out[offset + j] = weights[offset + j] * norms[from + step * j];
  },
};

const wholeWay = (way) => Object.freeze({ ...WAY_USUAL, ...way });
export const WAYS = Object.freeze(Object.fromEntries(WAY_RECORDS.map((way) => [way.name, wholeWay(way)])));
export const FIRST_WAY = WAY_RECORDS[0].name; // the default

/** @param {View} view */
export const wayOf = (view) => WAYS[view.what];

// The words for `name`: those for the first of `cases` that has words, else the general words, else "".
export function tableWords(name, kind, cases = [], values = {}, language = "en") {
  const table = WAY_WORDS[language][kind];
  const words = cases.map((caseName) => table[`${name}.${caseName}`]).find((words) => words !== undefined);
  return fill(words ?? table[name] ?? "", values);
}

export const wayWords = (way, ...rest) => tableWords(way.name, ...rest);

// A sentence about how far a map of relevance can be trusted. measurement: {foretells, random, blocks, by} of this
// picture; null: the model's own, of other pictures. "" for a way whose map does not claim to show what matters.
export function trustWords(way, model, measurement = null) {
  if (!way.attributes) return "";
  const twoDigits = (number) => number.toFixed(2).replace("-", "−");
  if (measurement) {
    const { foretells, random, blocks, by } = measurement;
    const blankWords = tableWords("blanked", "beside", [by]);
    const numbers = { correlation: twoDigits(foretells), random: twoDigits(random), constant: twoDigits(0) };
    return tableWords("trust", "beside", ["here"], { ...numbers, blocks, blank: blankWords });
  }
  const correlations = FORETOLD[model];
  if (!correlations) return tableWords("trust", "beside", ["none"]);
  const numbers = {
    correlation: twoDigits(correlations[way.name]),
    random: twoDigits(correlations.random),
    constant: twoDigits(correlations.constant),
  };
  return tableWords("trust", "beside", [], { ...numbers, pictures: correlations.pictures });
}

const fill = (words, values) => words.replace(/\{(\w+)\}/g, (match, name) => values[name] ?? match);

// Whether the view's numbers lie on both sides of zero.
/** @param {View} view */
export const isSigned = (view) => wayOf(view).signed || explainsLabel(view);

export const explainsLabel = ({ what, label }) => label !== "" && WAYS[what].explains === "patch";

// Whether the map answers one query token, as Spec.asks in figures/drawing/spec.py. All code that names the asking
// token depends on this.
/** @param {View} view */
export const asks = (view) => wayOf(view).asksAPatch && !explainsLabel(view);

// The unit of the view's numbers; "share" is written in %.
/** @param {View} view */
export const unitOf = (view) => (explainsLabel(view) && wayOf(view).unitOfLabel) || wayOf(view).unit;

// A size with its unit: "2.8 %", "0.12 logits".
export const sizeWords = (size, unit) =>
  unit === "share" ? percent(size) : `${shortNumber(size)}${unit === "logits" ? ` ${unit}` : ""}`;
