// The sentence above the pictures says in plain words what the row shows: {before, place, after}, because the place has
// the colour of the key. Its words come from waytable.js. No DOM in here.

import { sumAround } from "./core.js";
import { patchDistance } from "./grid.js";
import { percent, shortNumber } from "./numbers.js";
import { isPlaceless, sayRow } from "./says.js";
import { sizeWords, tableWords, wayOf } from "./ways.js";

const LEAST_AGAINST = 0.01; // × the largest part: less is next to nothing
const LEAST_TOLD_SHARE = 0.1; // the sentence names the special tokens if together they get at least this share

const PLACE = "\u0002"; // where a sentence is divided; a control character, because no text contains it

const words = (name, values = {}, ...cases) =>
  tableWords(name, "sentence", cases.filter(Boolean), { place: PLACE, ...values });

const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

function inParts(text, place = "") {
  const [before, after = ""] = text.split(PLACE);
  return { before: capital(before), place: text.includes(PLACE) ? place : "", after };
}

// The name of a special token, such as "CLS".
export const prefixName = (name) => (name === "cls" || name === "dist" ? name.toUpperCase() : name);

export const placeName = (patch, columns) =>
  words("place", { row: Math.floor(patch / columns), column: patch % columns });

// Summarises the values of a picture's patches around patch `mark` (−1: the query is a special token): the total
// outside the k × k neighbourhood, the patch with the largest value, and where it is. from: index of the first patch in
// `values`. skipMark: ignores `mark` when searching the largest, because a patch's feature is most similar to itself.
export function summaryOf(values, from, rows, columns, mark, k, skipMark = false) {
  let total = 0,
    largest = skipMark && mark === 0 ? 1 : 0;
  for (let j = 0; j < rows * columns; j++) {
    total += values[from + j];
    if (values[from + j] > values[from + largest] && !(skipMark && j === mark)) largest = j;
  }
  if (mark < 0) return { total, far: total, best: largest, value: values[from + largest], where: "far" };
  const isNear = patchDistance(largest, mark, columns) <= k >> 1;
  return {
    total,
    far: Math.max(0, total - sumAround(values, from, rows, columns, mark, k)),
    best: largest,
    value: values[from + largest],
    where: largest === mark ? "itself" : isNear ? "near" : "far",
  };
}

// facts: {
//   what: the name of a way to look,
//   label: the name of the label that is explained, or the text; "" for a patch's feature,
//   asks: whether the map answers a query token,
//   waits: the words that say what the reader must do before there are numbers, or "",
//   direction: "row" | "column",
//   name: "" for a patch, else the special token's name; k: the width of the neighbourhood,
//   summary: the result of `spread`, or null until the numbers have arrived,
//   place: the name of the patch with the largest value; "here" if the picture shows the value beside this patch,
//   special: {names: "CLS and registers", share: the sum of their shares},
//   row: the record of a row of weights, see sayRow in says.js; columns: of the grid, or null where the picture marks
//        the told place; outside: the row's share outside the neighbourhood, or for a special token on all patches,
//   scale: "" or "Without 1/√64 in this layer",
//   ends: for a label {most: {value, place}, least: {value, place}, written: formats a value}; null while the numbers
//         are on their way,
//   written: of contributions {total: their sum, special: that of the special tokens},
//   unmoved: for an occlusion that moves nothing, the bound of all changes, in words; else "",
//   part: {here: the part's share of the picture, there: its share of the compared picture, or null},
//   heard: for a column, the sum that this token gets from all tokens, 1 on average }
export function sentenceOf(facts) {
  const { summary, scale, name, label } = facts;
  const way = wayOf(facts);
  const askerName = name || words("patch");
  const opening = way.ofHeads && scale ? words("opening", { scale }) : "";
  const details = {
    ...facts,
    way,
    fillings: { who: askerName, opening, k: facts.k, label: label && words("quoted", { label }) },
  };
  if (way.coloured) return FORMS[way.sentence](details);
  if (facts.unmoved) {
    const subject = details.fillings.label || words("feature", { who: askerName });
    return inParts(words("unmoved", { what: subject, least: facts.unmoved }));
  }
  if (facts.ends && !way.signed) return aboutBothSides(details);
  if (!summary && facts.waits) return inParts(facts.waits);
  if (!summary) return inParts(words("waiting", details.fillings, facts.asks && "asks"));
  if (way.ofHeads && !way.raw && !way.signed && facts.direction === "column") return aboutColumn(details);
  return FORMS[way.sentence](details);
}

const isItself = ({ summary }) => summary.where === "itself";
const placeOf = (facts) => (isItself(facts) ? words("itself") : facts.place);
const whereCase = (facts) => (isItself(facts) ? "itself" : facts.place === "here" && "here");
const tokenCase = ({ name }) => name && "token";

// What See says of the row, and the share that a convolution does not read.
function aboutAttention(facts) {
  const { fillings, name, outside, row, scale } = facts;
  const opening = [name, scale].filter(Boolean).join(", ");
  const said = sayRow("en", { ...row, opening: opening && `${opening}: ` }, facts.columns);
  const outsideWords = words(
    "looks",
    { ...fillings, outside: percent(outside), special: specialClause(facts) },
    tokenCase(facts),
  );
  return { ...said, before: capital(said.before), after: `${said.after} ${outsideWords}` };
}

// The sentence about the filter by colour and nearness (core/kinds.js).
export function nearnessSentence({ k, summary, place }) {
  const values = { k, share: percent(summary.far), place, amount: percent(summary.value) };
  return words("filter", values, summary.where === "near" && "near");
}

function specialClause({ row, special }) {
  if (special.share < LEAST_TOLD_SHARE || isPlaceless(row)) return words("special");
  const values = { names: special.names, taken: percent(special.share) };
  return words("special", values, / and |registers/.test(special.names) ? "several" : "one");
}

function aboutColumn(facts) {
  const { fillings, summary, heard, way, name } = facts;
  const share = words("times", { times: heard.toFixed(heard < 9.95 ? 1 : 0) });
  const givesCase = way.rows && !isItself(facts) && "gives";
  const text = words("heard", { ...fillings, share, amount: percent(summary.value) }, givesCase);
  return inParts(text, name ? facts.place : placeOf(facts));
}

// Makes a function for the sentence about the share that comes from far away, and the place with the largest share.
function aboutShares(form) {
  return (facts) => {
    const { fillings, summary } = facts;
    const [share, amount] = [summary.far, summary.value].map((part) => percent(part / summary.total));
    const place = words("within", {}, whereCase(facts));
    const text = words(form, { ...fillings, share, amount, within: place }, tokenCase(facts));
    return inParts(text, placeOf(facts));
  };
}

function aboutScores(facts) {
  const value = facts.summary.value.toFixed(1);
  return inParts(words("best", { ...facts.fillings, value }), placeOf(facts));
}

const aboutColours = () => inParts(words("coloured"));

const aboutSimilarity = ({ fillings, summary, place }) =>
  inParts(words("resembles", { ...fillings, value: summary.value.toFixed(2) }), place);

function aboutBlanking(facts) {
  const block = words("block", {}, whereCase(facts));
  const text = words("blanked", { ...facts.fillings, block, amount: percent(facts.summary.value) });
  return inParts(text, placeOf(facts));
}

// The sentence about a label, whose map has values for and against the label.
function aboutBothSides({ ends: { most, least, written: format }, fillings, way }) {
  const isAgainst = least.value < 0;
  const values = { ...fillings, value: format(most.value), less: format(least.value), other: least.place };
  if (!(most.value > 0)) return inParts(words("against", values, !isAgainst && "alone"), least.place);
  return inParts(words(way.sentence, values, isAgainst ? "label" : "alone"), most.place);
}

// A contribution: signed parts, which sum to the length of what the head writes.
function aboutParts({ ends: { most, least, written: format }, fillings, special: { names }, written }) {
  const values = {
    ...fillings,
    total: shortNumber(written.total),
    value: format(most.value),
    less: format(least.value),
    other: least.place,
    special: names && words("parts", { names, taken: format(written.special) }, "special"),
  };
  const partsCase = most.value <= 0 ? "none" : least.value > -LEAST_AGAINST * most.value && "alone";
  return inParts(words("parts", values, partsCase), most.place);
}

const DIGITS = { cosine: 2, length: 1 };

// The sentence that names only the place of the largest value, in the words of the way to look.
function aboutTheMost({ fillings, way, summary, place }) {
  const value = way.unit in DIGITS ? summary.value.toFixed(DIGITS[way.unit]) : sizeWords(summary.value, way.unit);
  const placeWords = words("within", {}, place === "here" && "here");
  return inParts(words(way.name, { ...fillings, value, within: placeWords }), place);
}

// The function for each form of sentence. The field `sentence` of a way in waytable.js names a form.
const FORMS = {
  looks: aboutAttention,
  arrives: aboutShares("arrives"),
  parts: aboutParts,
  best: aboutScores,
  resembles: aboutSimilarity,
  coloured: aboutColours,
  flows: aboutShares("flows"),
  moves: aboutShares("moves"),
  blanked: aboutBlanking,
  most: aboutTheMost,
};
