// The sentence above the pictures, written anew with every move; it is the page's title as well. core/sentence.js has
// the words.

import { largestIndex, sumOf } from "../core/core.js";
import { isEven } from "../core/light.js";
import { placeName, sentenceOf, spread, wholeSentence } from "../core/sentence.js";
import { asks, unitOf, wayOf } from "../core/ways.js";
import { say } from "../drawing/dom.js";
import { MOST_FLOWS, notHere } from "./features.js";
import { asksFromOther, divisorOf, prefixName, scaleText, titleOf } from "./readouts.js";
import { sceneWords } from "./scenes.js";
import { endsOf, isMap, isMean, labelNow, overlayNow, signedWords } from "./shown.js";

const UNBROKEN = 13; // letters: "(13 %)." stays in one line
const LETTERS = 24; // letters: the size of the type changes in steps, or it would tremble under the cursor

export function writeHeadline({ choice, data, frame, page: { refs, root } }) {
  const parts = sentenceOf(factsOf(choice, data, frame));
  for (const [name, text] of Object.entries(parts)) say(refs[name], text);
  refs.after.classList.toggle("unbroken", parts.after.length < UNBROKEN);
  const role = choice.view.direction === "row" ? "key" : "query";
  refs.place.className = parts.place === "here" ? `here ${role}` : "";
  say(
    refs.named,
    `${sceneWords(choice, data)}${titleOf(data.main)} · layer ${choice.view.layer}, ${headName(choice, frame)}`,
  );
  const letters = LETTERS * Math.ceil(wholeSentence(parts).length / LETTERS);
  if (frame.letters === letters) return;
  frame.letters = letters;
  root.style.setProperty("--letters", String(letters));
}

const headName = (choice, frame) =>
  isMean(choice, frame) ? "the mean of all heads" : `head ${frame.shown.pack.headNumbers[choice.view.head]}`;

export function factsOf(choice, data, frame) {
  const { view } = choice,
    { shown, picture } = frame;
  const { pack, answers, mark, token } = shown;
  const map = isMap(view.what);
  const way = wayOf(view);
  const overlay = overlayNow(choice, data, frame);
  const at = view.head * pack.tokens;
  const ready = map
    ? overlay?.values.length >= pack.patches && !way.coloured
    : (answers.ready[view.head] || way.raw) && !shown.rough;
  const values = map ? overlay?.values : answers.drawn;
  const from = map ? (values?.length === pack.patches ? 0 : pack.prefixCount) : at + pack.prefixCount;
  const seen = ready ? spread(values, from, pack.rows, pack.columns, mark, view.k, way.resembles) : null;
  return {
    what: view.what,
    direction: view.direction,
    label: way.explains === "text" ? view.text : (labelNow(choice, data, frame)?.[1] ?? ""),
    asks: asks(view),
    waits: map && !overlay && (notHere(choice, data) || toBeDone(choice, data)),
    name: asksFromOther(choice, data, frame)
      ? "that patch"
      : token < pack.prefixCount
        ? plainToken(pack.prefix[token])
        : "",
    k: view.k,
    seen,
    place:
      seen && picture.tag?.patch === seen.best && !isBehind(picture, seen.best)
        ? "here"
        : seen
          ? placeName(seen.best, pack.columns)
          : "",
    special: {
      names: specialNames(pack),
      share: ready && !map ? sumOf(answers.weights, at, at + pack.prefixCount) : 0,
      most: ready && !map ? mostOf(answers.weights, at, at + pack.prefixCount) : 0,
    },
    most: ready && !map ? mostOf(answers.weights, at, at + pack.tokens) : 0,
    scale: scaleOpening(data, frame),
    even: ready && !map && view.direction === "row" && isEven(answers.entropies[view.head], pack.tokens),
    tokens: pack.tokens,
    ends: endsWords(choice, data, frame),
    unmoved: overlay?.unmoved ?? "",
    part: overlay?.parts ? partOf(overlay, mark) : null,
    heard: answers.totals[view.head],
  };
}

function endsWords(choice, data, frame) {
  const ends = endsOf(choice, data, frame);
  return ends && { ...ends, written: (value) => signedWords(value, unitOf(choice.view)) };
}

// Before there can be numbers.
function toBeDone({ view }, { main }) {
  const { explains, needs } = wayOf(view);
  if (explains === "text") return view.text ? "" : "Type a word or two: which patches are like it?";
  const ofOne = explains === "patch" && asks(view);
  const rollout = needs === "flows" && main.pack.tokens > MOST_FLOWS;
  return (ofOne || rollout) && !view.locked ? "Click a patch: this map is of one patch." : "";
}

const shareOf = (parts, one) => parts.reduce((count, part) => count + (part === one), 0) / parts.length;

// How much of each picture the part of this patch is.
function partOf({ parts, there }, mark) {
  if (mark < 0) return null;
  return { here: shareOf(parts, parts[mark]), there: there && shareOf(there, parts[mark]) };
}

const mostOf = (values, from, to) => (to > from ? values[largestIndex(values, from, to)] : 0);

// The curtain hides the number beside a patch.
const isBehind = ({ behind, columns }, patch) => behind && ((patch % columns) + 0.5) / columns < behind.to;

// "reg0" is what the model's code calls it; people call it register 0.
const plainToken = (name) => (/^reg\d+$/.test(name) ? `register ${name.slice(3)}` : prefixName(name));

function specialNames({ prefix }) {
  const registers = prefix.some((name) => name.startsWith("reg"));
  const others = prefix.filter((name) => !name.startsWith("reg")).map(prefixName);
  return [...others, ...(registers ? ["the registers"] : [])].join(" and ");
}

function scaleOpening({ main }, { shown }) {
  if (!shown.altered) return "";
  const where = shown.wholeArrived ? "in all layers" : "in this layer";
  if (Math.abs(shown.scale - 1) < 1e-9) return `Without dividing by ${divisorOf(main.pack)} ${where}`;
  return `With scores times ${scaleText(shown.scale)} ${where}`;
}
