// The one sentence above the pictures: what is seen, in plain words, with the two numbers that matter. It comes in five
// parts, because the share is printed bold and the place in the colour of the key:
//   before [share] between [place] after
// No DOM in here.

import { neighbourhood } from "./core.js";
import { percent } from "./numbers.js";
import { sizeWords, wayOf, wayWords } from "./ways.js";

const WORTH_TELLING = 0.1; // what special tokens take is said from this share on

const inParts = (before, share = "", between = "", place = "", after = "") => ({
  before,
  share,
  between,
  place,
  after,
});

export const wholeSentence = ({ before, share, between, place, after }) => before + share + between + place + after;

export const placeName = (patch, columns) => `row ${Math.floor(patch / columns)}, column ${patch % columns}`;

// What the values of a picture's patches say, seen from patch `mark` (−1: a special token asks): how much lies outside
// the k × k neighbourhood, which patch has the most, and where that is. `from`: where the patches begin in `values`.
// Of features, `others` asks for the best of the other patches: each resembles itself most.
export function spread(values, from, rows, columns, mark, k, others = false) {
  let total = 0,
    best = others && mark === 0 ? 1 : 0;
  for (let j = 0; j < rows * columns; j++) {
    total += values[from + j];
    if (values[from + j] > values[from + best] && !(others && j === mark)) best = j;
  }
  if (mark < 0) return { total, far: total, best, value: values[from + best], where: "far" };
  const row = Math.floor(mark / columns);
  const near = neighbourhood(rows, columns, row, mark % columns, k);
  let inside = 0;
  for (let r = near.top; r <= near.bottom; r++)
    for (let c = near.left; c <= near.right; c++) inside += values[from + r * columns + c];
  const bestRow = Math.floor(best / columns),
    bestColumn = best % columns;
  const isNear = bestRow >= near.top && bestRow <= near.bottom && bestColumn >= near.left && bestColumn <= near.right;
  const where = best === mark ? "itself" : isNear ? "near" : "far";
  return { total, far: Math.max(0, total - inside), best, value: values[from + best], where };
}

// facts: {
//   what: the name of a way to look,
//   label: the name of the label that is explained, or the text; "" for a patch's feature,
//   asks: whether a token asks,
//   waits: what has to be done before there are numbers, or "",
//   direction: "row" | "column",
//   name: "" for a patch, else the special token's, k,
//   seen: what `spread` gives, or null while the numbers are still on their way,
//   place: what the patch with the most is called: "here" where it has its number beside it in the picture,
//   special: {names: "CLS and registers", share: of all of them, most: of one},
//   most: the largest weight of all tokens, scale: "" or "Without 1/√64 in this layer", even, tokens,
//   ends: of a label: {most, least}: {value, place} each, in `written`; null while they are on their way,
//   unmoved: of an occlusion that moves nothing: less than what, in words; else "",
//   part: of parts: {here, there: its share of the picture and of the compared one, or null},
//   heard: of a column, what this token receives, 1 on average }
export function sentenceOf(facts) {
  const { seen, scale, name } = facts;
  const way = wayOf(facts);
  const trained = !way.ofHeads || !scale;
  const opening = trained ? "" : `${scale}, `;
  const capital = (words) => (trained ? words[0].toUpperCase() + words.slice(1) : words);
  const subject = opening + capital(name ? name : "this patch");
  if (way.coloured) return FORMS[way.sentence](facts, subject);
  if (facts.unmoved)
    return inParts(
      `Nothing here moves ${facts.label ? `“${facts.label}”` : `the feature of ${name || "this patch"}`}: `,
      "",
      "",
      "",
      `blanking changes it by less than ${facts.unmoved}, whatever block it takes.`,
    );
  if (facts.ends) return aboutBothSides(facts, BOTH_SIDES[way.sentence]);
  if (!seen && facts.waits) return inParts(facts.waits);
  if (!seen) return inParts(facts.asks ? `${subject}: the numbers are on their way.` : "The numbers are on their way.");
  if (way.ofHeads && !way.raw && facts.direction === "column") return aboutColumn(facts, subject, way);
  return FORMS[way.sentence](facts, subject, opening, capital);
}

function aboutAttention(facts, subject) {
  const { seen, name } = facts;
  if (facts.even) return aboutEven(facts, subject);
  const { between, place, after } = ofTheMost(facts, percent(seen.value));
  const to = name ? " to the picture's patches" : ` to places outside its ${facts.k}×${facts.k} neighbourhood`;
  return inParts(`${subject} gives `, percent(seen.far), ` of its attention${to}${between}`, place, after);
}

function aboutEven({ tokens, most }, subject) {
  const mean = percent(1 / tokens);
  const at = percent(most ?? 1 / tokens);
  const after = at === mean ? " to each." : ` on average, ${at} at most.`;
  return inParts(`${subject} listens to all ${tokens} tokens ${at === mean ? "" : "nearly "}alike: `, mean, after);
}

// Of the filter without a network, see core/nearness.js.
export function nearnessSentence({ k, seen, place }) {
  const most = seen.where === "near" ? "but the most stays near, at" : "most of all to";
  const outside = `${percent(seen.far)} to places outside the ${k}×${k} neighbourhood`;
  return `The filter gives ${outside}, ${most} ${place} (${percent(seen.value)}).`;
}

// "stands here", "stands at row 2, column 7"
const placed = ({ place }) => (place === "here" ? place : `at ${place}`);

// ", most of all [here] (9 %)." or ", and the most to [itself] (31 %)."
function ofTheMost({ seen, place, special }, amount) {
  const beaten = special?.most > seen.value; // the most of all goes to a token that has no place
  const rest =
    special?.share >= WORTH_TELLING || beaten
      ? `; ${special.names} ${/ and |registers/.test(special.names) ? "get" : "gets"} ${percent(special.share)}.`
      : ".";
  const after = ` (${amount})${rest}`;
  if (seen.where === "itself") return { between: ", and the most to ", place: "itself", after };
  if (seen.where === "near") return { between: ", but the most stays near, ", place, after };
  return { between: beaten ? ", of the patches most to the one " : ", most of all ", place, after };
}

function aboutColumn({ seen, place, heard, name }, subject, { rows }) {
  const times = `${heard.toFixed(heard < 9.95 ? 1 : 0)} times`;
  const most = rows && seen.where !== "itself" ? `, which gives it ${percent(seen.value)} of its own.` : ".";
  const where = seen.where === "itself" && !name ? "itself" : place;
  return inParts(`${subject} is heard `, times, " as much as the average token, the most from ", where, most);
}

function aboutValues({ seen, place, name, k }, _subject, opening, capital) {
  const of = name ? `what ${name} mixes` : "what this patch mixes";
  const outside = name ? "the picture's patches" : `outside its ${k}×${k} neighbourhood`;
  return inParts(
    `${opening}${capital(`counting how long the values are, `)}`,
    percent(seen.far / seen.total),
    ` of ${of} comes from ${outside}, the most from `,
    seen.where === "itself" ? "itself" : place,
    ` (${percent(seen.value / seen.total)}).`,
  );
}

const aboutScores = ({ seen, place }, subject) =>
  inParts(
    `${subject} asks, and the best answer comes from `,
    "",
    "",
    seen.where === "itself" ? "itself" : place,
    `: a score of ${seen.value.toFixed(1)} before the softmax.`,
  );

function aboutParts({ part }, subject) {
  if (!part) return inParts("Patches of one colour have features of one kind, in this layer.");
  const there = part.there === null ? "." : ` and ${percent(part.there)} of the other.`;
  return inParts(
    `The part that ${subject.toLowerCase()} belongs to covers `,
    percent(part.here),
    ` of this picture${there}`,
  );
}

const aboutSimilarity = ({ seen, place, name }) =>
  inParts(`What resembles ${name || "this patch"} most, in this layer's features, is `, "", "", place, aCosine(seen));

const aCosine = ({ value }) => `: a cosine of ${value.toFixed(2)}.`;

function aboutBlanking({ seen, place, name }) {
  const where = seen.where === "itself" ? "itself" : place;
  const at = where === "itself" ? "patch " : place === "here" ? "" : "at ";
  const what = `the feature of ${name || "this patch"}`;
  return inParts(`Blanking moves ${what} most ${at}`, "", "", where, `: by ${percent(seen.value)} for a patch.`);
}

// Of a label, whose map has two signs.
function aboutBothSides({ ends: { most, least, written }, label }, said) {
  const against = least.value < 0 ? ` (${written(least.value)}).` : "";
  if (!(most.value > 0))
    return inParts(`Nothing in the picture speaks for “${label}”, most against it `, "", "", least.place, against);
  return said(most, least, `“${label}” (${written(most.value)})`, against);
}

const BOTH_SIDES = {
  moves(most, least, label, against) {
    const other = against ? `${least.place} most against it${against}` : "nothing against it.";
    return inParts("Through all layers, ", "", "", most.place, ` speaks most for ${label}, ${other}`);
  },
  blanked(most, least, label, against) {
    const other = against
      ? `blanking ${least.place} gives it most${against}`
      : "and nothing that is blanked gives it more.";
    return inParts("Blanking ", "", "", most.place, ` takes most from ${label}, ${other}`);
  },
};

const amount = ({ value, total }) => ` (${percent(value / total)}).`;
const placeOf = ({ seen, place }) => (seen.where === "itself" ? "itself" : place);

function aboutMoving(facts) {
  const { seen, place, name, k } = facts;
  const outside = name ? "in patches of the picture" : `outside its ${k}×${k} neighbourhood`;
  const at = seen.where === "itself" ? "in " : place === "here" ? "" : "at ";
  const moves = ` of what moves the feature of ${name || "this patch"} lies ${outside}, the most ${at}`;
  const begins = "Through all layers together, ";
  return inParts(begins, percent(seen.far / seen.total), moves, placeOf(facts), amount(seen));
}

function aboutRollout(facts) {
  const { seen, name, k } = facts;
  const outside = name ? "patches of the picture" : `outside its ${k}×${k} neighbourhood`;
  const from = ` of what reaches ${name || "this patch"} from the picture comes from ${outside}, the most from `;
  const begins = "By rollout, which counts weights alone, ";
  return inParts(begins, percent(seen.far / seen.total), from, placeOf(facts), amount(seen));
}

const DIGITS = { cosine: 2, length: 1 };

// Where the patch with the most lies is all that is said: in words of the table.
function aboutTheMost(facts, subject) {
  const way = wayOf(facts);
  const { value } = facts.seen;
  const written = way.unit in DIGITS ? value.toFixed(DIGITS[way.unit]) : sizeWords(value, way.unit);
  const filled = { label: facts.label, value: written, subject };
  const [before, after] = wayWords(way, "sentence", [facts.direction], filled).split("{place}");
  return inParts(before, "", "", placed(facts), after);
}

// A way to look names its form: see `sentence` in playground/figures/drawing/ways.py.
const FORMS = {
  listens: aboutAttention,
  arrives: aboutValues,
  best: aboutScores,
  resembles: aboutSimilarity,
  coloured: () => inParts("Patches of one colour have features of one kind, in this layer."),
  parts: aboutParts,
  flows: aboutRollout,
  moves: aboutMoving,
  blanked: aboutBlanking,
  most: aboutTheMost,
};
