// The scenes of the story, as records: what each says, asks and draws, made of the facts of the picture. No DOM.
//
// scene: {title, text, guess: null | {kind: "place" | "number" | "choice", asks, options: [[value, words]], low, high,
//         truth, after}, after: what is said at once where nothing is asked, figure: {kind, …}, view: what the scene
//         changes in the view once its guess was made, over: what is drawn over the picture, lesson: the page that
//         says more}
import { patchText } from "../core/grid.js";
import { percent } from "../core/numbers.js";
import { nameOfPlace } from "../see/says.js";
import { firstLayer, MOST_SHARES, PRODUCTS, TOLD } from "./facts.js";
import { STORY_WORDS, storyWords } from "./words.js";

export const SCENE_COUNT = 12;

const numberText = (x, digits = 1) => x.toFixed(digits).replace("-", "−");

// `parts`: of a sample that names them; `facts`: see facts.js.
export function sceneAt(n, facts, language, parts = []) {
  const { pack, patch, partner } = facts;
  const named = nameOfPlace(language, parts, patch, partner, pack.rows, pack.columns);
  const first = facts.layer === 0; // what asks there has been rewritten by nobody, and has heard of nothing
  const past = {
    rewritten: storyWords(language, first ? "rewrittenByNone" : "rewritten"),
    heard: storyWords(language, first ? "heardNothing" : "heard"),
  };
  const filled = { ...filledOf(facts), ...past, place: named || storyWords(language, "there") };
  const say = (key, more = {}) => storyWords(language, key, { ...filled, ...more });
  const scene = SAID[n](facts, say);
  return { title: say(`title${n}`), text: say(`text${n}`), guess: null, figure: null, view: {}, over: null, ...scene };
}

function filledOf({ pack, layer, head, share, distance, outside, pair, besideScore, largest, loudest, side }) {
  const { rows, columns, patches, tokens, heads, layers, dim } = pack;
  return {
    ...{ layer, head: pack.headNumbers[head], rows, columns, patches, tokens, heads, layers, dim, distance, side },
    numbers: side ? 3 * side * side : "",
    width: heads * dim,
    share: percent(share),
    outside: percent(outside),
    largest: percent(largest),
    loudest: percent(loudest),
    dot: numberText(pair.dot),
    score: numberText(pair.score, 2),
    besideScore: numberText(besideScore, 2),
  };
}

const SAID = {
  1: ({ partner }, say) => ({
    guess: { kind: "place", asks: say("pressGuess"), truth: partner, after: say("after1") },
    over: { marks: true },
    lesson: "by_hand",
  }),

  2: ({ side }, say) => ({
    ...(side ? {} : { text: say("text2NoSide") }),
    figure: { kind: "patch" },
    over: { grid: true },
    lesson: "patches",
  }),

  3: ({ distance, pack }, say) => ({
    guess: {
      ...{ kind: "number", asks: say("ask3"), low: 1, high: Math.max(pack.rows, pack.columns) },
      ...{ truth: distance, after: say("after3") },
    },
    figure: { kind: "reach", most: { before: 3, after: distance }, words: reachWords(say) },
    over: { rings: distance },
    lesson: "two_ways",
  }),

  4: (_, say) => ({
    guess: chooses(
      say("ask4"),
      [
        ["yes", say("yes")],
        ["no", say("no")],
      ],
      "no",
      say("after4"),
    ),
    over: { places: true },
    lesson: "patches",
  }),

  5: ({ pair: { q } }, say) => ({
    figure: { kind: "library", q, words: bookWords(say) },
    over: { marks: true },
    lesson: "by_hand",
  }),

  6: ({ pair, besideScore }, say) => ({
    text: say("text6", { count: PRODUCTS }),
    guess: chooses(
      say("ask6"),
      [
        ["partner", say("toPartner")],
        ["beside", say("toBeside")],
      ],
      pair.score >= besideScore ? "partner" : "beside",
      say("after6"),
    ),
    figure: { kind: "products", products: largestProducts(pair) },
    over: { marks: true },
    lesson: "weight",
  }),

  7: ({ row }) => ({
    figure: { kind: "shares", shares: sorted(row, MOST_SHARES) },
    over: { marks: true },
    lesson: "by_hand",
  }),

  8: ({ loudest }, say) => ({
    guess: {
      ...{ kind: "number", unit: " %", asks: say("ask8"), low: 0, high: 100 },
      ...{ truth: Math.round(100 * loudest), after: say("after8") },
    },
    figure: { kind: "knob", words: knobWords(say) },
    view: { scale: "off" },
    over: { marks: true },
    lesson: "scale",
  }),

  9: ({ handed }, say) => ({
    text: say("text9", { count: TOLD }),
    figure: { kind: "handed", handed },
    over: { marks: true },
    lesson: "weight",
  }),

  10: ({ heads, pack }, say) => {
    const truth = heads.filter(({ agrees }) => agrees).length;
    return {
      guess: { kind: "number", asks: say("ask10"), low: 0, high: pack.heads, truth, after: say("after10") },
      figure: { kind: "heads", heads },
      over: { marks: true },
      lesson: "heads",
    };
  },

  11: (facts, say) => {
    const { layers } = facts;
    if (!layers) return { text: say("text11Alone"), over: { marks: true }, lesson: "block" };
    const [truth, last] = [firstLayer(facts), layers.length - 1];
    const after = say("after11");
    return {
      guess: { kind: "number", asks: say("ask11"), low: 0, high: last, truth, after },
      figure: { kind: "layers", layers, first: truth, asker: askersOf(facts, say) },
      over: { marks: true },
      lesson: "block",
    };
  },

  12: ({ pairs, twice, pack }, say) => {
    const truth = Math.round(twice);
    const options = [2, 4, truth].map((times) => [String(times), say("times", { n: times })]);
    return {
      text: say("text12", { pairs: pairs.toLocaleString("en"), count: pack.layers * pack.heads }),
      guess: chooses(say("ask12"), options, String(truth), say("after12")),
      figure: { kind: "code" },
      over: { marks: true },
      lesson: "cost",
    };
  },
};

// What is said where a hand moves something: see story/figures.js.
const reachWords = (say) => ({
  ...{ layers: say("touchLayers"), megaphone: say("touchMegaphone") },
  ...{ heard: say("touchHeard"), everybody: say("touchEverybody") },
});
const bookWords = (say) => ({
  ...{ fits: say("bookFits"), thin: say("bookThin"), least: say("bookLeast") },
  ...{ finds: say("bookFinds"), value: say("bookValue") },
});
const knobWords = (say) => ({ volume: say("knobVolume"), largest: say("knobLargest"), clips: say("knobClips") });

// Only where the model has a class token.
const askersOf = ({ pack, patch }, say) =>
  pack.prefix.includes("cls")
    ? { query: patchText(patch, pack.columns), words: { square: say("askSquare"), cls: say("askClass") } }
    : null;

const chooses = (asks, options, truth, after) => ({ kind: "choice", asks, options, truth, after });

const sorted = (row, count) => [...row].sort((a, b) => b - a).slice(0, count);

// [{at, q, k, product}], the largest first, whatever their sign.
function largestProducts({ q, k, products }) {
  const order = [...products.keys()].sort((a, b) => Math.abs(products[b]) - Math.abs(products[a]));
  return order.slice(0, PRODUCTS).map((at) => ({ at, q: q[at], k: k[at], product: products[at] }));
}

// How near a guess came: {right, words}. `pack` for a place.
export function judged(guess, said, pack, language) {
  const say = (key, filled) => storyWords(language, key, filled);
  if (guess.kind === "choice") return verdict(said === guess.truth, optionWords(guess, guess.truth), say);
  if (guess.kind === "number") return verdict(Number(said) === guess.truth, `${guess.truth}${guess.unit ?? ""}`, say);
  const down = Math.abs(Math.floor(said / pack.columns) - Math.floor(guess.truth / pack.columns));
  const apart = Math.max(down, Math.abs((said % pack.columns) - (guess.truth % pack.columns)));
  return { right: apart <= 1, words: apart <= 1 ? say("hit") : say("off", { count: apart }) };
}

// What is true, where nobody's guess is judged.
export function truthOf(guess, language) {
  if (guess.kind === "place") return "";
  const truth = guess.kind === "choice" ? optionWords(guess, guess.truth) : `${guess.truth}${guess.unit ?? ""}`;
  return storyWords(language, "itIs", { truth });
}

const optionWords = ({ options }, truth) => options.find(([value]) => value === truth)[1];
const verdict = (right, truth, say) => ({ right, words: right ? say("right") : say("itIs", { truth }) });

// The row of the story in PyTorch; tests/test_story.py runs it.
export function codeOf({ layer, head, patch, pack }, { model, sample }) {
  const picture = sample ? `samples.named("${sample}").path` : '"photo.jpg"';
  const [row, column] = [Math.floor(patch / pack.columns), patch % pack.columns];
  return `import playground
from playground import samples

vit = playground.load("${model}")
image = playground.open_image(${picture})
seen = playground.trace(vit, image, size=(${pack.header.size.join(", ")}))
q, k = seen.record[${layer}].q, seen.record[${layer}].k
i = seen.token((${row}, ${column}))
scores = q[${head}, i] @ k[${head}].T
row = (scores / q.shape[-1] ** 0.5).softmax(-1)`;
}

// What the head gives to each patch, in digits of 16 steps up to the most that one gets.
export function heatOfRow({ pack, row, best }) {
  const most = row[pack.prefixCount + best];
  const digits = [...row.slice(pack.prefixCount)].map((share) => Math.round((15 * share) / most).toString(16));
  return digits.join("");
}

// What a scene asks, as plain data for a class: in all languages, and without its truth, which goes to the phones when
// it is shown.

const LANGUAGES_TOLD = Object.keys(STORY_WORDS);

// {scene: {n, count, title}, question: null | {kind, of, asks, …}, told: what is said when the answer is shown: {truth,
// after, heat}}; words are {language: words}.
// `of`: the picture that it is about, so that a class's question about another one is not taken for it.
export function askedByScene(n, count, facts, parts, of) {
  const scenes = Object.fromEntries(LANGUAGES_TOLD.map((tag) => [tag, sceneAt(n, facts, tag, parts)]));
  const told = (words) => Object.fromEntries(LANGUAGES_TOLD.map((tag) => [tag, words(scenes[tag])]));
  const scene = { n, count, title: told(({ title }) => title) };
  const { guess } = scenes[LANGUAGES_TOLD[0]];
  if (!guess) return { scene, question: null };
  const { kind, low, high, unit, truth, options } = guess;
  const isPlace = kind === "place";
  const asks = told(({ text, guess }) => (isPlace ? `${text} ${guess.asks}` : guess.asks));
  const question = { kind, of, asks, low, high, unit };
  if (isPlace) Object.assign(question, { rows: facts.pack.rows, columns: facts.pack.columns, mark: facts.patch });
  if (options) question.options = options.map(([value], at) => [value, told(({ guess }) => guess.options[at][1])]);
  const answer = { truth, after: told(({ guess }) => guess.after), ...(isPlace ? { heat: heatOfRow(facts) } : {}) };
  return { scene, question, told: answer };
}
