// Writes the words and numbers of the lens.

import { effectiveNumber, largestIndex, neighbourhood, sumOf } from "../core/core.js";
import { isEven } from "../core/light.js";
import { percent, toldApart } from "../core/numbers.js";
import { placeName, prefixName } from "../core/sentence.js";
import { tokenOf } from "../core/view.js";
import { asks, explainsLabel, sizeWords, trustWords, unitOf, WAYS, wayOf, wayWords } from "../core/ways.js";
import { setText, setVisible } from "../drawing/dom.js";
import { isExplained } from "./features.js";
import { endsOf, habitOf, isMap, isRowOpen, labelNow, layersAtHand, overlayNow, signedWords } from "./state.js";
import { rowInWords } from "./told.js";
import { habitIn, seeWords } from "./words.js";

export const tokenName = (token, pack) =>
  token < pack.prefixCount ? prefixName(pack.prefix[token]) : placeName(token - pack.prefixCount, pack.columns);

// The language of the face: Lab speaks English.
export const faceLanguage = ({ see }) => (see?.on ? see.language() : "en");
export const faceWords = (page, key, values) => seeWords(faceLanguage(page), key, values);

export function placeHere(page, token, pack) {
  if (token < pack.prefixCount) return prefixName(pack.prefix[token]);
  const patch = token - pack.prefixCount;
  return faceWords(page, "placeHere", { row: Math.floor(patch / pack.columns), column: patch % pack.columns });
}

const toThreeDigits = (x) => (x >= 99.5 ? x.toFixed(0) : x.toFixed(1));
export const scaleText = (scale) =>
  scale === 0 ? "0" : scale >= 0.01 ? String(Number(scale.toPrecision(3))) : scale.toExponential(1);

// The divisor of the scale: "√64" if the pack has that scale, else a number.
export function divisorOf(pack) {
  return Math.abs(pack.scale * Math.sqrt(pack.dim) - 1) < 1e-3
    ? `√${pack.dim}`
    : String(Number((1 / pack.scale).toPrecision(3)));
}

// ------------------------------------------------------------------------------------------------------------ titles

// Whether the query is a patch of the compared picture, and the first picture shows similarity to it.
export const asksFromOther = (lens) => overlayNow(lens)?.from === "other";

export function writeTitles(lens) {
  const { choice, data, frame, page, view, main, shown, refs } = lens;
  const { pack } = shown;
  const isMapShown = isMap(view.what);
  const explainsTheLabel = explainsLabel(view);
  const way = wayOf(view);
  const cases = [...(explainsTheLabel ? ["label"] : []), view.direction];
  refs.directionTabs.classList.toggle("idle", isMapShown);

  const badgeParts = [];
  if (data.other && view.beside === "compare") badgeParts.push(titleOf(main));
  if (shown.altered && isMapShown && !way.ofHeads && !shown.wholeArrived)
    badgeParts.push(`the trained pass, with 1/${divisorOf(main.pack)}`);
  else if (shown.altered)
    badgeParts.push(`${scaleWords(lens)} · ${shown.wholeArrived ? "in the whole forward pass" : "in this layer only"}`);
  if (shown.wholeMissing) badgeParts.push("the whole pass is being computed");
  setText(refs.badge, badgeParts.join(" · "));
  setVisible(refs.badge, badgeParts.length > 0);
  refs.badge.classList.toggle("altered", shown.altered);

  // explained.js itself writes such a note for its maps
  const trustNote = isExplained(view) ? "" : trustWords(way, main.pack.model);
  setText(refs.note, [wayWords(way, "note", cases), trustNote].filter(Boolean).join(". "));
  setText(refs.exposed, exposureText(lens));
  refs.hold.disabled = isMapShown || way.spread; // such maps set their own exposure
  const lockedToken = view.locked ? tokenOf(view.query, main.pack) : -1;
  setText(
    refs.lock,
    explainsTheLabel // a label, not a patch, is explained
      ? ""
      : view.locked
        ? `locked at ${tokenName(lockedToken, main.pack)} · ${page.touch ? "tap it to free it" : "Esc frees it"}`
        : !choice.everHovered
          ? page.see
            ? ""
            : whatToDo(lens)
          : page.touch
            ? "tap to lock"
            : "click to lock",
  );
  refs.lock.classList.toggle(
    "left",
    [shown.mark, frame.picture.tag?.patch].some((patch) => isUnderCorner(patch, pack)),
  );
  setText(refs.layerText, String(view.layer));
  setText(refs.headText, String(pack.headNumbers[view.head]));
  if (view.beside === "convolution") writeConvolution(lens);
}

// The explained text, or the name of the explained label: its number while the name is loading. "" if neither is
// explained.
export function labelText(lens) {
  const { view } = lens;
  if (wayOf(view).explains === "text") return view.text;
  return labelNow(lens)?.[1] ?? (explainsLabel(view) ? `label ${view.label}` : "");
}

// The sentence that is shown until a person acts, such as "Point at one eye: the other eye lights up, across the whole
// face."
export const whatToDo = ({ main, page: { touch } }) =>
  main.picture.hint || (touch ? "Drag over the picture: each patch asks." : "Put the cursor on a patch: it asks.");

// The words about the exposure; for an even row, that the row is even.
function exposureText({ view, shown }) {
  const { answers, mainDomain, pack } = shown;
  if (isMap(view.what) || wayOf(view).spread || !answers.ready[view.head]) return "";
  if (view.direction === "row" && isEven(answers.entropies[view.head], pack.tokens)) return "even: all tokens alike";
  const start = view.head * pack.tokens + pack.prefixCount;
  const largest = answers.values[largestIndex(answers.values, start, start + pack.patches)];
  return brightestText(mainDomain.high, shown.clipped, largest, view.what);
}

// `clippedCount`: the number of patches above the exposure; `largest`: the largest value.
export function brightestText(exposure, clippedCount, largest, way) {
  const format = (x) => sizeWords(x, WAYS[way].unit);
  const [fromText, toText] = (clippedCount ? toldApart(exposure, largest, format) : [format(exposure)]).map(
    (x) => x.replaceAll(" ", "\u00a0"), // keeps each number on one line
  );
  const patches = clippedCount === 1 ? "1 patch" : `${clippedCount} patches`;
  return `brightest from ${fromText}${clippedCount ? `: ${patches} above, up to ${toText}` : ""}`;
}

// Whether the words in the top right corner would cover this labelled patch.
const isUnderCorner = (patch, pack) =>
  patch >= 0 && patch < pack.columns * Math.ceil(pack.rows / 20) && patch % pack.columns >= pack.columns / 3;

// The range of layers that can be chosen: all, or only the layers in the file.
export function layerRange(data) {
  const layers = layersAtHand(data);
  if (layers.length < 2) return `of 0–${data.main.pack.layers - 1}`;
  const isOneRun = layers.at(-1) - layers[0] === layers.length - 1;
  return `of ${isOneRun || layers.length > 6 ? `${layers[0]}–${layers.at(-1)}` : layers.join(", ")}`;
}

function scaleWords({ main, shown }) {
  const divisor = divisorOf(main.pack);
  if (Math.abs(shown.scale - 1) < 1e-9) return `without 1/${divisor}`;
  if (shown.scale === 0) return "scale 0: uniform";
  return `scale ${scaleText(shown.scale)} instead of 1/${divisor}`;
}

export const titleOf = (entry) => [entry.picture.title, entry.trace.title].filter(Boolean).join(" · ");

function writeConvolution({ shown, refs }) {
  const { pack, mark } = shown;
  setVisible(refs.twinBadge, mark < 0);
  if (mark < 0) {
    setText(refs.twinBadge, `A convolution has no ${tokenName(shown.token, pack)} token.`);
    return setText(refs.reads, `0 of ${pack.patches} patches`);
  }
  const { count } = neighbourhood(pack.rows, pack.columns, Math.floor(mark / pack.columns), mark % pack.columns, 3);
  setText(refs.reads, `reads ${count} of ${pack.patches} patches`);
}

// ----------------------------------------------------------------------------------------------------------- numbers

// Writes the texts and the accessible names of elements that name their words.
export function writeMarkupTexts(page) {
  for (const element of page.root.querySelectorAll("[data-say]"))
    setText(element, faceWords(page, element.dataset.say));
  for (const element of page.root.querySelectorAll("[data-name]"))
    element.setAttribute("aria-label", faceWords(page, element.dataset.name));
}

// Whether the numbers of the row are on view: in Lab in the row Scale, in See in a drawer.
export const areNumbersSeen = (page) => !page.see || page.see.drawer === "numbers" || isRowOpen(page, "scale");

export function writeNumbers(lens) {
  const { page, view, main, shown, refs } = lens;
  const { pack, answers, peak } = shown;
  const start = view.head * pack.tokens;
  const isRow = view.direction === "row";
  const isReady = answers.ready[view.head];
  const bits = answers.entropies[view.head];

  const isDivided = !shown.altered;
  refs.switch.setAttribute("aria-checked", String(isDivided));
  page.root.classList.toggle("altered", !isDivided);
  setVisible(refs.assumed, Boolean(main.pack.assumed));
  setText(refs.assumed, main.pack.assumed && `Assumed of the model: ${main.pack.assumed}.`);
  if (!areNumbersSeen(page)) return;
  const head = pack.headNumbers[view.head];
  const countedWords = faceWords(page, "looksAtAbout", { head });
  setText(refs.bigLabel, isRow ? countedWords : `gets from all, in head ${head}, a total of`);
  setText(refs.big, !isReady ? "…" : toThreeDigits(isRow ? effectiveNumber(bits) : answers.totals[view.head]));
  refs.bigWhole.title = isRow
    ? "2 to the power of the entropy: an even row over so many tokens has the same entropy"
    : "";
  setText(refs.bigOf, isRow ? faceWords(page, "ofTokens", { count: pack.tokens }) : "(1 on average)");
  setText(refs.entropyLabel, isRow ? faceWords(page, "entropy") : "of that, patches");
  setText(
    refs.entropy,
    !isReady
      ? "…"
      : isRow
        ? `${bits.toFixed(2)} bits`
        : sumOf(answers.weights, start + pack.prefixCount, start + pack.tokens).toFixed(2),
  );
  setText(refs.entropyOf, isRow ? faceWords(page, "ofAtMost", { bound: Math.log2(pack.tokens).toFixed(2) }) : "");
  setText(refs.peak, isReady ? percent(answers.weights[start + peak]) : "…");
  const place = peak === shown.token ? faceWords(page, "itselfHere") : placeHere(page, peak, pack);
  setText(refs.peakAt, isRow ? faceWords(page, "toPlace", { place }) : `from ${place}`);
  const habit = habitOf(lens, view.layer, view.head);
  setVisible(refs.habitRow, Boolean(habit));
  if (habit) setText(refs.habit, habitIn(faceLanguage(page), habit.label));
  setVisible(refs.toldRow, Boolean(habit?.told));
  if (habit?.told) {
    setText(refs.told, habit.told);
    refs.told.title = `A loss on its attention weights told this head to ${habit.told}.`;
  }
  setText(refs.headsNote, headsNote(view.direction, habit));
  for (let i = 0; i < page.shares.length; i++) {
    setText(page.shares[i], isReady ? percent(answers.weights[start + i]) : "…");
  }

  const trainedScale = main.pack.scale;
  const divisor = divisorOf(main.pack);
  setText(refs.divisor, isDivided || Math.abs(shown.scale - 1) < 1e-9 ? `/ ${divisor}` : `× ${scaleText(shown.scale)}`);
  refs.divisor.classList.toggle("gone", !isDivided && Math.abs(shown.scale - 1) < 1e-9);
  setText(refs.dialMiddle, `1/${divisor}`);
  refs.dial.setAttribute(
    "aria-valuetext",
    `scale ${scaleText(shown.scale)}, ${(shown.scale / trainedScale).toPrecision(2)} times the trained one`,
  );
  writeVerdict(lens);
}

// Says what is written under the heads' thumbnails.
function headsNote(direction, habit) {
  const countsWords =
    direction === "row" ? "how many tokens each looks at" : "what this patch gets in each (average 1)";
  if (!habit) return `heads, and ${countsWords}`;
  return `heads, by what each does on average over this picture, and ${countsWords}`;
}

// Writes the predictions with the trained and the chosen scale, once a whole pass has run with the chosen one.
function writeVerdict({ whole, shown, refs }) {
  const isKnown = shown.wholeArrived && whole.trace.verdict?.length > 0;
  setVisible(refs.verdict, isKnown || shown.wholeMissing);
  if (isKnown) setText(refs.verdict, verdictText(whole.trace.verdict));
  else if (shown.wholeMissing) setText(refs.verdict, "running the whole network…");
}

// The sentence about changed labels, [label, before, after], the largest change first.
export function verdictText(changes) {
  const [[label, before, after]] = changes;
  if (Math.abs(after - before) < LEAST_LABEL_CHANGE)
    return `${label} ${percent(before)}: no label changed by ${percent(LEAST_LABEL_CHANGE)} or more`;
  return changes.map(([name, before, after]) => `${name} ${percent(before)} → ${percent(after)}`).join(" · ");
}

const LEAST_LABEL_CHANGE = 0.02; // as in analysis/scale.py

export function writeOther(lens, entry, otherHead) {
  const { choice, data, frame, refs } = lens;
  const { pack } = entry;
  // For the second picture, another scale changes the rows of this layer only: its pass is not run again.
  const scaleNote = frame.shown.altered ? [`${scaleWords(lens)} · in this layer only`] : [];
  setText(refs.twinBadge, [titleOf(entry), ...scaleNote].join(" · "));
  setVisible(refs.twinBadge, true);
  if (otherHead.token < 0) {
    setText(refs.otherFoot, `This model has no ${tokenName(frame.shown.token, data.main.pack)} token.`);
    return;
  }
  const isSameHead =
    otherHead.layer === choice.view.layer && otherHead.head === choice.view.head && pack.rows === data.main.pack.rows;
  const parts = isSameHead
    ? []
    : [`${tokenName(otherHead.token, pack)}, layer ${otherHead.layer}, head ${pack.headNumbers[otherHead.head]}`];
  if (otherHead.row && choice.view.direction === "row") {
    const largest = otherHead.row[largestIndex(otherHead.row)];
    parts.push(
      `looks at about ${toThreeDigits(effectiveNumber(otherHead.bits))} of ${pack.tokens}`,
      `largest weight ${percent(largest)}`,
    );
    if (pack.prefixCount)
      parts.push(`${pack.prefix.map(prefixName).join(" + ")} ${percent(sumOf(otherHead.row, 0, pack.prefixCount))}`);
  }
  setText(refs.otherFoot, parts.filter(Boolean).join(" · "));
}

// ----------------------------------------------------------------------------------------------- for screen readers

const MOST_NAMED_TOKENS = 3; // tokens that the sentence names

// Such as "row 7, column 5 in layer 8, head 3: 68 % of its attention goes to the place around row 2, column 9."
export function sentenceForReaders(lens) {
  const { page, view, shown } = lens;
  const { pack, answers, token } = shown;
  if (!answers || shown.layerMissing || !answers.ready[view.head]) return "";
  if (!asks(view)) return page.see?.sentenceText() ?? ""; // a map without a query
  const start = view.head * pack.tokens;
  const largestTokens = Array.from({ length: pack.tokens }, (_, j) => j)
    .sort((a, b) => answers.weights[start + b] - answers.weights[start + a])
    .slice(0, MOST_NAMED_TOKENS);
  const nameOf = (j) => (j === token ? "itself" : tokenName(j, pack));
  const shares = largestTokens.map(
    (j) => `${percent(answers.weights[start + j])} ${view.direction === "row" ? "to" : "from"} ${nameOf(j)}`,
  );
  const cutWords = view.cut && shown.wholeArrived ? `, with the cut ${view.cut}` : "";
  const scaleNote = shown.altered ? `, ${scaleWords(lens)}` : "";
  const kindText = page.kindline.kind.textContent; // maps have no kind
  const place = `in layer ${view.layer}, head ${pack.headNumbers[view.head]}${scaleNote}${cutWords}`;
  const verb = view.direction === "row" ? "gives" : "receives";
  const told = rowInWords(shown);
  const sentence = told
    ? `${tokenName(token, pack)} ${place}: ${told}`
    : `${tokenName(token, pack)} ${place} ${verb} ${shares.slice(0, -1).join(", ")} and ${shares.at(-1)}.`;
  const filterText = view.beside === "filter" ? page.refs.filterWords.textContent : "";
  return [sentence, kindText, filterText].filter(Boolean).join(" ");
}

// The caption of an exported picture, with all settings that are needed to make the picture again.
export function captionOf(lens) {
  const { view, main, shown } = lens;
  const place = wayOf(view).throughLayers
    ? "through all layers"
    : wayOf(view).ofHeads
      ? `layer ${view.layer}, head ${shown.pack.headNumbers[view.head]}`
      : `after layer ${view.layer}`;
  const captionParts = [titleOf(main) || main.pack.header.model, place];
  if (asks(view)) captionParts.push(tokenName(shown.token, shown.pack));
  else if (labelText(lens)) captionParts.push(`“${labelText(lens)}”`);
  const ends = endsOf(lens);
  const sides = ends ? { "for it": ends.most, "against it": ends.least } : {};
  for (const [side, { value, place }] of Object.entries(sides))
    captionParts.push(`${side} up to ${signedWords(value, unitOf(view))} at ${place}`);
  if (shown.altered)
    captionParts.push(`${scaleWords(lens)}, ${shown.wholeArrived ? "whole forward pass" : "this layer only"}`);
  if (view.direction === "column") captionParts.push("who looks at it");
  if (view.cut && shown.wholeArrived) captionParts.push(`cut: ${view.cut}`);
  for (let i = 0; i < shown.pack.prefixCount && !overlayNow(lens); i++) {
    captionParts.push(
      `${prefixName(shown.pack.prefix[i])} ${percent(shown.answers.weights[view.head * shown.pack.tokens + i])}`,
    );
  }
  captionParts.push(rowInWords(shown).replace(/\.$/, ""));
  return [...captionParts, exposureText(lens)].filter(Boolean).join(" · ");
}
