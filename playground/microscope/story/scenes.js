// Describes each scene of the story: its text, question and drawing, filled with facts about the picture. No DOM.

import { pairOf, scoreOf } from "../core/answers.js";
import { holdsAll, layerOf, rowOf } from "../core/core.js";
import { gradeOf, gradesOf, heatDigits } from "../core/grades.js";
import { patchDistance, patchText } from "../core/grid.js";
import { isRight, numberWords } from "../core/guesses.js";
import { arrowsOf, cancelling } from "../core/inside.js";
import { isInPart, namedPlaces, partAt, placesOf, shareOfPart } from "../core/places.js";
import { nameOfPart, outsideShare, unbrokenPercent } from "../core/says.js";
import { isQuestion, questionScene } from "./questions.js";
import { STORY_WORDS, storyWords } from "./words.js";

export const ASKING_SCENES = [1, 3, 4, 6, 8, 10, 12, 14]; // the scenes with a question

export const THOUSANDS_SPACE = "\u202f"; // a narrow space: a comma would be read as a decimal comma in some languages
const numberText = (x, digits) => x.toFixed(digits).replace("-", "−");

// The record of scene n. parts: named parts of a sample picture; facts: see factsOfStory below.
export function sceneAt(n, facts, language, parts = []) {
  const { pack, patch, partner, row } = facts;
  const [fromPart, toPart] = [partAt(parts, patch, pack), partAt(parts, partner, pack)];
  const part = toPart === fromPart ? null : toPart;
  const isThere = (other) =>
    part ? isInPart(part, other, pack) : patchDistance(other, partner, pack.columns) <= SAME_PLACE_RADIUS;
  const isFirstLayer = facts.layer === 0; // no attention has changed the first layer's input yet
  const earlierWords = {
    rewritten: storyWords(language, isFirstLayer ? "rewrittenByNone" : "rewritten"),
    heard: storyWords(language, isFirstLayer ? "heardNothing" : "heard"),
  };
  const besideWords = storyWords(language, facts.besidePatch < patch ? "besideLeft" : "besideRight");
  const named = namedPlaces(row, pack.prefixCount, pack, patch, parts);
  const place = named.find((place) => countsFor(place, partner, pack));
  const values = {
    ...textValuesOf(facts),
    ...earlierWords,
    beside: besideWords,
    place: part ? nameOfPart(language, part, fromPart) : storyWords(language, "there"),
    given: unbrokenPercent(part ? shareOfPart(part, row, pack.prefixCount, pack) : (place?.share ?? facts.share)),
  };
  const say = (key, extraValues = {}) => storyWords(language, key, { ...values, ...extraValues });
  if (isQuestion(n)) return questionScene(n, say);
  const scene = SCENE_RECORDS[n](facts, say, { named, isNamed: Boolean(part), isThere });
  return {
    title: say(`title${n}`),
    text: say(`text${n}`),
    question: null,
    figure: null,
    view: {},
    marks: null,
    ...scene,
  };
}

// Whether a press on this patch counts for the place.
const countsFor = ({ part, patches }, patch, pack) =>
  patches.includes(patch) || Boolean(part && isInPart(part, patch, pack));

function textValuesOf({ pack, layer, head, share, distance, outside, pair, besideScore, largest, loudest, side }) {
  return {
    ...pack, // {rows}, {columns}, {patches}, {tokens}, {heads}, {layers}, {dim}
    layer,
    head: pack.headNumbers[head],
    distance,
    side,
    numbers: side ? 3 * side * side : "",
    width: pack.heads * pack.dim,
    share: unbrokenPercent(share),
    outside: unbrokenPercent(outside),
    largest: unbrokenPercent(largest),
    loudest: unbrokenPercent(loudest),
    extra: pack.prefixCount,
    dot: numberText(pair.dot, 2),
    score: numberText(pair.score, 2),
    besideScore: numberText(besideScore, 2),
  };
}

const SCENE_RECORDS = {
  1: ({ partner, pack, patch: mark }, say, { named }) => ({
    question: {
      guess: { kind: "Place", rows: pack.rows, columns: pack.columns, mark },
      asks: say("pressGuess"),
      truth: partner,
      says: say("after1"),
      grades: gradesOf(named, pack.patches, (place, patch) => countsFor(place, patch, pack)),
    },
    marks: { partner: true },
    lesson: "by_hand",
  }),

  2: ({ side }, say) => ({
    ...(side ? {} : { text: say("text2NoSide") }),
    figure: { kind: "patch" },
    marks: { grid: true },
    lesson: "patches",
  }),

  3: ({ distance, pack }, say) => ({
    question: {
      guess: { kind: "Number", low: 1, high: Math.max(pack.rows, pack.columns), step: 1 },
      asks: say("ask3"),
      truth: distance,
      says: say("after3"),
    },
    figure: { kind: "reach", limits: { before: 3, after: distance }, words: reachWords(say) },
    marks: { rings: distance },
    lesson: "two_ways",
  }),

  4: (_, say) => ({
    question: choiceQuestion(
      say("ask4"),
      [
        ["yes", say("yes")],
        ["no", say("no")],
      ],
      "no",
      say("after4"),
    ),
    marks: { places: true },
    lesson: "patches",
  }),

  5: ({ pair: { q }, inside }, say) => ({
    ...(inside?.made && { text: `${say("text5")} ${say("text5Made", madeValues(inside.made))}` }),
    figure: { kind: "library", q, made: inside?.made ?? null, words: bookWords(say) },
    marks: { partner: true },
    lesson: "by_hand",
  }),

  6: (facts, say) => {
    const { pair, besideScore } = facts;
    const [partner, beside] = [
      ["partner", say("toPartner")],
      ["beside", say("toBeside")],
    ];
    return {
      text: say("text6", { count: MOST_PRODUCTS }),
      question: choiceQuestion(
        say("ask6"),
        facts.besidePatch < facts.partner ? [beside, partner] : [partner, beside], // in the picture's order
        pair.score >= besideScore ? "partner" : "beside",
        say("after6"),
      ),
      figure: { kind: "products", products: largestProducts(pair) },
      marks: { partner: true },
      lesson: "weight",
    };
  },

  7: (facts, say) => ({
    text: say("text7", { count: TOKENS_LISTED }),
    figure: { kind: "powers", powers: powersOf(facts), words: { all: say("powersAll") } },
    marks: { partner: true },
    lesson: "by_hand",
  }),

  8: ({ loudest, pair: { q, k } }, say) => {
    const [own, random] = cancelling(q, k);
    const text = say("text8", { ...sidesOf("own", own), ...sidesOf("random", random) });
    return {
      text: `${text} ${say(own.left > LEFT_TIMES * random.left ? "cancelsLess" : "cancelsToo")}`,
      question: {
        guess: { kind: "Number", low: 0, high: 100, step: 1, unit: " %", near: NEAR_POINTS },
        asks: say("ask8"),
        truth: Math.round(100 * loudest),
        says: say("after8"),
      },
      figure: { kind: "knob", products: [own.products, random.products], words: knobWords(say) },
      view: { scale: "off" },
      marks: { partner: true },
      lesson: "scale",
    };
  },

  9: ({ contributions, inside, row }, say) => {
    const arrows = inside ? arrowsOf(row, inside.seen.places, TOKENS_LISTED) : [];
    const drawn = inside ? say("text9Arrows", { count: TOKENS_LISTED, held: unbrokenPercent(inside.seen.held) }) : "";
    return {
      text: `${say("text9")} ${drawn} ${say("text9List", { count: TOKENS_LISTED })}`,
      figure: { kind: "mixture", contributions, arrows, words: { rest: say("arrowsRest"), all: say("arrowsAll") } },
      marks: { partner: true },
      lesson: "weight",
    };
  },

  10: ({ heads, pack, inside }, say, { isNamed, isThere }) => {
    const agreeing = heads.filter(({ best }) => isThere(best)).map(({ head }) => pack.headNumbers[head]);
    const truth = agreeing.length;
    const afterWords = say("after10", { agreeing: agreeing.join(", ") || say("none") });
    const written = inside ? ` ${say("text10Written", moveValues(inside.move))}` : "";
    return {
      text: say("text10") + written,
      question: {
        guess: { kind: "Number", low: 0, high: pack.heads, step: 1 },
        asks: say(isNamed ? "ask10Named" : "ask10"),
        truth,
        says: afterWords,
      },
      figure: { kind: "heads", heads },
      marks: { partner: true },
      lesson: "heads",
    };
  },

  11: (facts, say) => {
    const { inside, pack } = facts;
    const nearer = inside?.move.nearer.token - pack.prefixCount;
    const moved = inside
      ? ` ${say(nearer < 0 ? "text11MovedToToken" : "text11Moved", moveValues(inside.move, pack))}`
      : "";
    return {
      text: say("text11") + moved,
      figure: askerChoice(facts, say),
      marks: nearer >= 0 ? { at: nearer } : { partner: true },
      lesson: "block",
    };
  },

  12: ({ answer, comes }, say) => {
    if (!answer) return { text: say(comes?.answer ? "text12Comes" : "text12None"), lesson: "block" };
    const values = answerValues(answer);
    const text = ["text12", answer.isOwn ? "text12Own" : "text12Ours", "text12Cut"]
      .map((key) => say(key, values))
      .join(" ");
    return {
      text,
      question: choiceQuestion(
        say("ask12", values),
        ["stays", "falls", "rises"].map((key) => [key, say(`answer${key}`, { most: ANSWER_POINTS })]),
        changeOf(answer),
        say("after12", values),
      ),
      figure: { kind: "answer", answer, words: { bars: ANSWERED.map((key) => say(key, values)) } },
      lesson: "block",
    };
  },

  13: ({ sinks, pack }, say) => {
    const scene = { text: say("text13"), marks: { partner: true }, lesson: "weight" };
    if (!sinks) return scene;
    const all = pack.layers * pack.heads;
    if (!sinks.length) return { ...scene, text: `${scene.text} ${say("text13None", { all })}` };
    const countOf = (kind) => sinks.filter((sink) => sink.kind === kind).length;
    const counts = { count: sinks.length, all, nothing: countOf("nothing"), one: countOf("one thing") };
    const labelOf = ({ layer, head, kind }) =>
      say(kind === "nothing" ? "sinkNothing" : "sinkOne", { sinkLayer: layer, sinkHead: head });
    const shown = ["nothing", "one thing"].flatMap((kind) => sinks.filter((sink) => sink.kind === kind).slice(-1));
    return {
      ...scene,
      text: `${scene.text} ${say("text13Kinds", counts)}`,
      figure: {
        kind: "sinks",
        sinks: shown.map((sink) => ({ ...sink, label: labelOf(sink) })),
        words: { ours: say("sinkOurs") },
      },
    };
  },

  14: ({ pairs, scoreGrowth, pack, ablated }, say) => {
    const truth = Math.round(scoreGrowth);
    const options = [2, 4, truth].map((factor) => [String(factor), say("times", { n: factor })]);
    const numbers = {
      pairs: pairs.toLocaleString("en").replaceAll(",", THOUSANDS_SPACE),
      count: pack.layers * pack.heads,
    };
    const off = ablated
      ? say("text14Off", { zero: unbrokenPercent(ablated.zero), mean: unbrokenPercent(ablated.mean) })
      : "";
    return {
      text: [say("text14"), off, say("text14Cost", numbers)].filter(Boolean).join(" "),
      question: choiceQuestion(say("ask14"), options, String(truth), say("after14")),
      figure: { kind: "code" },
      marks: { partner: true },
      lesson: "cost",
    };
  },
};

// The labels of figures with controls, see story/figures.js.
const reachWords = (say) => ({
  layers: say("touchLayers"),
  megaphone: say("touchMegaphone"),
  heard: say("touchHeard"),
  everybody: say("touchEverybody"),
});
const bookWords = (say) => ({
  fits: say("bookFits"),
  thin: say("bookThin"),
  least: say("bookLeast"),
  query: say("bookQuery"),
  key: say("bookKey"),
  finds: say("bookFinds"),
  value: say("bookValue"),
});
const knobWords = (say) => ({
  volume: say("knobVolume"),
  largest: say("knobLargest"),
  clips: say("knobClips"),
  own: say("knobOwn"),
  random: say("knobRandom"),
});

// Describes the choice between the square and the class token as the query; null in models without a class token.
const askerChoice = ({ pack, patch }, say) =>
  pack.prefix.includes("cls")
    ? {
        kind: "asker",
        query: patchText(patch, pack.columns),
        words: { square: say("askSquare"), cls: say("askClass") },
      }
    : null;

const choiceQuestion = (asks, options, truth, says) => ({ guess: { kind: "Choice", options }, asks, truth, says });

// The tokens with the largest shares, and all together: [{token, score, power: e^score, share}].
function powersOf({ pack, layer, head, patch, row }) {
  const tokens = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, TOKENS_LISTED);
  const listed = tokens.map((token) => {
    const score = scoreOf(pack, layer, head, pack.prefixCount + patch, token, pack.scale);
    return { token, score, power: Math.exp(score), share: row[token] };
  });
  return [...listed, { token: -1, score: null, power: listed[0].power / listed[0].share, share: 1 }];
}

// The sums of a score's products by sign, and how much of them is left.
const sidesOf = (whose, { positive, negative, left }) => ({
  [`${whose}Positive`]: numberText(positive, 1),
  [`${whose}Negative`]: numberText(negative, 1),
  [`${whose}Left`]: unbrokenPercent(left),
});

const madeValues = ({ number, sum, count }) => ({ number, made: numberText(sum, 2), widthMade: count });

function moveValues({ byHead, byAttention, angle, nearer: { token, before, after } }, pack) {
  const patch = token - (pack?.prefixCount ?? 0);
  return {
    byHead: unbrokenPercent(byHead),
    byAttention: unbrokenPercent(byAttention),
    angle: Math.round(angle),
    nearer: pack && patch < 0 ? pack.prefix[token] : "",
    cosBefore: numberText(before, 2),
    cosAfter: numberText(after, 2),
  };
}

// A share with a tenth of a per cent: the story compares answers that differ little.
export const tenths = (share) => `${(100 * share).toFixed(1)}\u00a0%`;

const ANSWERED = ["answeredWhole", "answeredCut", "answeredAll", "answeredYours"];

const answerValues = ({ model, label, before, after, withoutAll, share, square, columns }) => ({
  model,
  label,
  answerBefore: tenths(before),
  answerAfter: tenths(after),
  withoutAll: tenths(withoutAll),
  heard: unbrokenPercent(share),
  square: patchText(square, columns).replace(",", ", "),
});

function changeOf({ before, after }) {
  const points = 100 * (after - before);
  return Math.abs(points) <= ANSWER_POINTS ? "stays" : points < 0 ? "falls" : "rises";
}

// Returns [{at: dimension, q, k, product}], the largest absolute product first.
function largestProducts({ q, k, products }) {
  const order = [...products.keys()].sort((a, b) => Math.abs(products[b]) - Math.abs(products[a]));
  return order
    .slice(0, MOST_PRODUCTS)
    .map((index) => ({ at: index, q: q[index], k: k[index], product: products[index] }));
}

// Whether an answer is right, and a sentence about it: {right, words}.
export function verdictOn(question, answer, language) {
  if (question.guess.kind === "Place") return gradeOf(question.grades, answer, question.guess.columns, language);
  const right = isRight(question, answer);
  const key = answer === question.truth ? "right" : right ? "close" : "itIs";
  return { right, words: storyWords(language, key, { truth: truthWords(question) }) };
}

// The right answer in words, without a verdict on a guess: a class has many guesses.
export const truthOf = (question, language) =>
  question.guess.kind === "Place" ? "" : storyWords(language, "itIs", { truth: truthWords(question) });

const truthWords = ({ guess, truth }) =>
  guess.kind === "Choice" ? guess.options.find(([key]) => key === truth)[1] : numberWords(guess, truth);

const INDENT = " ".repeat(4); // written this way because bundling removes the blanks at the start of lines

// Python code that computes the story's row with PyTorch; tests/test_story.py runs it.
export function codeOf({ layer, head, patch, pack }, { model, sample }) {
  const pathCode = sample ? `samples.named("${sample}").path` : '"photo.jpg"';
  const [row, column] = [Math.floor(patch / pack.columns), patch % pack.columns];
  return `import playground
from playground import samples
vit = playground.load("${model}")
path = ${pathCode}
image = playground.open_image(path)
seen = playground.trace(
${INDENT}vit, image, size=(${pack.header.size.join(", ")}))
at = seen.record[${layer}]
q, k = at.q[${head}], at.k[${head}]
i = seen.token((${row}, ${column}))
scores = k @ q[i] / len(q[i]) ** 0.5
row = scores.softmax(0)`;
}

// A scene's question for a class, in all languages. The right answer is a separate record: phones receive it only when
// it is shown.

const LANGUAGE_TAGS = Object.keys(STORY_WORDS);

// Returns {scene: {name, n, count, title}, question: null | {of, asks, guess}, told: {truth, after, heat, grades}}.
// Every text is {language: text}. `picture`: the key of the question's picture, which shows whether an open question is
// about another picture.
export function recordForClass(n, count, facts, parts, picture) {
  const scenes = Object.fromEntries(LANGUAGE_TAGS.map((tag) => [tag, sceneAt(n, facts, tag, parts)]));
  const inLanguages = (words) => Object.fromEntries(LANGUAGE_TAGS.map((tag) => [tag, words(scenes[tag])]));
  const title = inLanguages(({ title }) => title);
  const scene = isQuestion(n) ? { name: n, title } : { name: String(n), n, count, title };
  const { question } = scenes[LANGUAGE_TAGS[0]];
  if (!question) return { scene, question: null };
  const { guess, truth, grades } = question;
  const isPlace = guess.kind === "Place";
  const asks = inLanguages(({ text, question }) => (isPlace ? `${text} ${question.asks}` : question.asks));
  const options = guess.options?.map(([key], n) => [key, inLanguages(({ question }) => question.guess.options[n][1])]);
  const told = { truth, after: inLanguages(({ question }) => question.says), ...(isPlace && { grades }) };
  return {
    scene,
    question: { of: picture, asks, guess: { ...guess, ...(options && { options }) } },
    told: { ...told, ...(isPlace && { heat: heatDigits(facts.row.subarray(facts.pack.prefixCount)) }) },
  };
}

// The story's facts about one patch in one head, computed from the pack of the picture on view. No DOM.

const NEAR_POINTS = 5; // percentage points within which a guessed share is right
const NEAR_RADIUS = 1; // patches around the query that a 3×3 convolution reads
const SAME_PLACE_RADIUS = 2; // the largest distance, in patches, of two places that count as one
export const TOKENS_LISTED = 5; // tokens that are listed one by one
export const MOST_SHARES = 12; // number of shares of a row that are drawn, the largest ones
const CLIPPING_SHARE = 0.9; // the mixing desk clips if the largest share exceeds this
const LEFT_TIMES = 2; // a query whose products leave more than so many times a random one's cancels less
const ANSWER_POINTS = 5; // percentage points within which an answer stays
export const MOST_PRODUCTS = 16; // number of a score's products that are drawn, the largest ones

export const rowOfPatch = (pack, layer, head, patch, scale = pack.scale) =>
  rowOf(pack, layer, head, pack.prefixCount + patch, scale);

// The brightest patch of the largest place beyond the asking patch's own; without such a place the patch with the
// largest weight beyond the 3×3 neighbourhood. The story asks why its weight is large.
export function partnerOf(row, patch, pack) {
  const isBeyond = ({ patches, brightest }) =>
    !patches.includes(patch) && patchDistance(patch, brightest, pack.columns) > NEAR_RADIUS;
  const place = placesOf(row, pack.prefixCount, pack).find(isBeyond);
  if (place) return place.brightest;
  let farPatch = -1;
  for (let other = 0; other < pack.patches; other++) {
    if (patchDistance(patch, other, pack.columns) <= NEAR_RADIUS) continue;
    if (farPatch < 0 || row[pack.prefixCount + other] > row[pack.prefixCount + farPatch]) farPatch = other;
  }
  return farPatch;
}

// The facts about a patch in a head; null until the head's layer has arrived. side: pixels of a patch's side, null if
// unknown.
export function factsOfStory(pack, { layer, head, patch }, side) {
  if (!holdsAll(pack, layer)) return null;
  const row = rowOfPatch(pack, layer, head, patch);
  const partner = partnerOf(row, patch, pack);
  const share = row[pack.prefixCount + partner];
  const [query, key] = [pack.prefixCount + patch, pack.prefixCount + partner];
  const pair = pairOf(pack, layer, head, query, key, pack.scale);
  const besidePatch = patch % pack.columns ? patch - 1 : patch + 1;
  const rowWithoutScale = rowOfPatch(pack, layer, head, patch, 1);
  const patchTokens = [...row.keys()].filter((token) => token >= pack.prefixCount);
  const best = patchTokens.reduce((former, token) => (row[token] > row[former] ? token : former)) - pack.prefixCount;
  return {
    pack,
    layer,
    head,
    patch,
    partner,
    row,
    share,
    pair,
    besidePatch,
    rowWithoutScale,
    side,
    best,
    distance: patchDistance(patch, partner, pack.columns),
    leads: best === partner, // whether the partner has the largest weight of all patches
    besideScore: scoreOf(pack, layer, head, query, pack.prefixCount + besidePatch, pack.scale),
    outside: outsideShare(row, 0, pack, patch),
    loudest: Math.max(...rowWithoutScale),
    largest: Math.max(...row),
    contributions: contributionsOf(pack, layer, head, row),
    books: booksOf(pack, layer, head, query, key, row),
    heads: Array.from({ length: pack.heads }, (_, otherHead) => rowInHead(pack, layer, otherHead, patch)),
    pairs: pack.tokens ** 2,
    scoreGrowth: ((4 * pack.patches + pack.prefixCount) / pack.tokens) ** 2,
  };
}

// Returns [{token, share, length, product}] for the tokens with the largest shares; length: of the token's value, as a
// share of the longest value.
function contributionsOf(pack, layer, head, row) {
  const { norms } = layerOf(pack, layer);
  if (!norms) return [];
  const lengths = norms.subarray(head * pack.tokens, (head + 1) * pack.tokens);
  const longestValue = Math.max(...lengths);
  const tokensByShare = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, TOKENS_LISTED);
  return tokensByShare.map((token) => {
    const length = lengths[token] / longestValue;
    return { token, share: row[token], length, product: row[token] * length };
  });
}

// The story compares tokens with books of a library. Returns three tokens, [{kind, token, k, score, share, length}]:
// the partner; a token with a large share and a short value, like a book that is easy to find and has little inside;
// the token whose key fits the query least.
function booksOf(pack, layer, head, query, key, row) {
  const { norms } = layerOf(pack, layer);
  const lengths = norms?.subarray(head * pack.tokens, (head + 1) * pack.tokens);
  const tokensByShare = [...row.keys()].sort((a, b) => row[b] - row[a]);
  const length = (token) => (lengths ? lengths[token] / Math.max(...lengths) : null);
  const largestTokens = tokensByShare.slice(0, TOKENS_LISTED).filter((token) => token !== key);
  const shortest = largestTokens.reduce((former, token) => (length(token) < length(former) ? token : former));
  return Object.entries({ fits: key, thin: shortest, least: tokensByShare.at(-1) }).map(([kind, token]) => {
    const { k, score } = pairOf(pack, layer, head, query, token, pack.scale);
    return { kind, token, k, score, share: row[token], length: length(token) };
  });
}

// The row's largest shares at another scale (the mixing desk's volume). clips: whether one share is nearly everything.
export function sharesAt({ pack, layer, head, patch }, scale, count) {
  const shares = [...rowOfPatch(pack, layer, head, patch, scale)].sort((a, b) => b - a).slice(0, count);
  return { shares, clips: shares[0] > CLIPPING_SHARE };
}

// The patch's row in one head. best: the patch with the largest weight.
function rowInHead(pack, layer, head, patch) {
  const row = rowOfPatch(pack, layer, head, patch);
  let brightest = 0;
  for (let other = 1; other < pack.patches; other++)
    if (row[pack.prefixCount + other] > row[pack.prefixCount + brightest]) brightest = other;
  return { head, row, best: brightest };
}

// The number of patches inside the picture that a stack of `layers` 3×3 convolutions reaches.
export function heardAfter(layers, patch, { rows, columns }) {
  const reachAlong = (position, length) => Math.min(position + layers, length - 1) - Math.max(position - layers, 0) + 1;
  return reachAlong(Math.floor(patch / columns), rows) * reachAlong(patch % columns, columns);
}
