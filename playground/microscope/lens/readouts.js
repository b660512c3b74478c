// The words and numbers that the lens writes.

import { effectiveNumber, largestIndex, neighbourhood, sumOf } from "../core/core.js";
import { PARTS_CUT } from "../core/features.js";
import { isEven } from "../core/light.js";
import { percent, shortNumber, toldApart } from "../core/numbers.js";
import { placeName } from "../core/sentence.js";
import { tokenOf } from "../core/view.js";
import { asks, explainsLabel, sizeWords, trustWords, unitOf, WAYS, wayOf, wayWords } from "../core/ways.js";
import { say, show } from "../drawing/dom.js";
import { isExplained } from "./features.js";
import { collapsing } from "./film.js";
import { depthOf, endsOf, habitOf, isMap, isMean, labelNow, layersAtHand, overlayNow, signedWords } from "./state.js";

export const tokenName = (token, pack) =>
  token < pack.prefixCount ? prefixName(pack.prefix[token]) : placeName(token - pack.prefixCount, pack.columns);

export const prefixName = (name) => (name === "cls" || name === "dist" ? name.toUpperCase() : name);

// In See's language while See is on view; Lab is English.
export const saidHere = ({ see }, key, english, filled = {}) => (see?.on ? see.words(key, filled) : english);

export function placeHere(page, token, pack) {
  if (token < pack.prefixCount) return prefixName(pack.prefix[token]);
  const patch = token - pack.prefixCount;
  const at = { row: Math.floor(patch / pack.columns), column: patch % pack.columns };
  return saidHere(page, "placeHere", placeName(patch, pack.columns), at);
}

const rounded = (x) => (x >= 99.5 ? x.toFixed(0) : x.toFixed(1));
export const scaleText = (scale) =>
  scale === 0 ? "0" : scale >= 0.01 ? String(Number(scale.toPrecision(3))) : scale.toExponential(1);

// "1/√64" for that value, else the number.
export function divisorOf(pack) {
  return Math.abs(pack.scale * Math.sqrt(pack.dim) - 1) < 1e-3
    ? `√${pack.dim}`
    : String(Number((1 / pack.scale).toPrecision(3)));
}

// ------------------------------------------------------------------------------------------------------------ titles

// Whether a patch of the compared picture asks, and the first picture shows what resembles it.
export const asksFromOther = (choice, data, frame) => overlayNow(choice, data, frame)?.from === "other";

export function writeTitles({ choice, data, frame, page }) {
  const { view } = choice,
    { main } = data,
    { shown } = frame,
    { refs } = page;
  const { pack, token } = shown;
  const row = view.direction === "row";
  const overlay = isMap(view.what);
  const ofLabel = explainsLabel(view);
  const way = wayOf(view);
  const cases = [...(ofLabel ? ["label"] : []), view.direction];
  say(refs.ask1, wayWords(way, "question", cases));
  const label = labelText(choice, data, frame);
  say(
    refs.chip,
    label
      ? `“${label}”`
      : asksFromOther(choice, data, frame)
        ? `${tokenName(choice.hoverOther, data.other.pack)} there`
        : tokenName(token, pack),
  );
  say(refs.ask2, wayWords(way, "end", cases));
  refs.chip.className = row || overlay ? "chip query" : "chip key";
  refs.directionTabs.classList.toggle("idle", overlay);

  const parts = [];
  if (data.other && view.beside === "compare") parts.push(titleOf(main));
  if (shown.altered && overlay && !shown.wholeArrived) parts.push(`the trained pass, with 1/${divisorOf(main.pack)}`);
  else if (shown.altered)
    parts.push(
      `${scaleWords(data, frame)} · ${shown.wholeArrived ? "in the whole forward pass" : "in this layer only"}`,
    );
  if (isMean(choice, frame)) parts.push("the mean of all heads");
  if (shown.wholeMissing) parts.push("the whole pass is being computed");
  say(refs.badge, parts.join(" · "));
  const { engine } = main.pack.header;
  say(refs.credit, main.picture.credit || (engine ? `Computed here with ${engine}.` : ""));
  show(refs.badge, parts.length > 0);
  refs.badge.classList.toggle("altered", shown.altered);

  const trust = isExplained(view) ? "" : trustWords(way, main.pack.model); // relevance has its own place
  say(refs.note, [wayWords(way, "note", cases, { parts: PARTS_CUT }), trust].filter(Boolean).join(". "));
  say(refs.exposed, exposureText(choice, frame));
  say(refs.outlined, shown.rough ? "" : outlineText(frame.print));
  show(refs.drawn, !way.coloured);
  refs.hold.disabled = overlay || way.spread; // these have an axis of their own
  const pinned = view.locked ? tokenOf(view.query, main.pack) : -1;
  say(
    refs.lock,
    ofLabel // no patch asks, whether one is locked or not
      ? ""
      : view.locked
        ? `locked at ${tokenName(pinned, main.pack)} · ${page.touch ? "tap it to free it" : "Esc frees it"}`
        : !choice.everHovered
          ? hasNoLine(page)
            ? whatToDo(data, page)
            : "" // it stands below the picture, see headline.js
          : page.touch
            ? "tap to lock"
            : "click to lock",
  );
  refs.lock.classList.toggle(
    "left",
    [shown.mark, frame.picture.tag?.patch].some((patch) => isUnderPin(patch, pack)),
  );
  say(refs.layerText, String(view.layer));
  say(refs.headText, String(pack.headNumbers[view.head]));
  if (view.beside === "convolution") writeConvolution(choice, frame, page);
}

// The explained label where no token asks; "" while its name is loading.
function labelText(choice, data, frame) {
  const { view } = choice;
  if (wayOf(view).explains === "text") return view.text;
  return labelNow(choice, data, frame)?.[1] ?? (explainsLabel(view) ? `label ${view.label}` : "");
}

// Shown until a person does something: "Point at one eye: the other eye lights up, across the whole face."
export const whatToDo = ({ main }, { touch }) =>
  main.picture.hint || (touch ? "Drag over the picture: each patch asks." : "Put the cursor on a patch: it asks.");

const hasNoLine = ({ ui, root }) => ui.bare || root.classList.contains("short");

// The share of the row within the contour lines.
const outlineText = (print) =>
  print?.holds === "light" && print.outlined
    ? `outlined: ${percent(print.outlined).replaceAll(" ", "\u00a0")} of what all patches get`
    : "";

// The weight from which cells have full brightness; an even row is called even.
function exposureText({ view }, { shown }) {
  const { answers, mainDomain, pack } = shown;
  if (shown.rough) return "";
  if (shown.beyond) return beyondText(shown.beyond, view.typical);
  if (isMap(view.what) || wayOf(view).spread || !answers.ready[view.head]) return "";
  if (view.direction === "row" && isEven(answers.entropies[view.head], pack.tokens)) return "even: all tokens alike";
  const at = view.head * pack.tokens + pack.prefixCount;
  const most = answers.drawn[largestIndex(answers.drawn, at, at + pack.patches)];
  return brightestFrom(mainDomain.high, shown.clipped, most, view.what);
}

// `above`: the number of patches brighter than the colour scale's top, up to `most`.
export function brightestFrom(high, above, most, way) {
  const written = (x) => sizeWords(x, WAYS[way].unit);
  const [from, to] = (above ? toldApart(high, most, written) : [written(high)]).map((x) => x.replaceAll(" ", "\u00a0"));
  const patches = above === 1 ? "1 patch" : `${above} patches`;
  return `brightest from ${from}${above ? `: ${patches} above, up to ${to}` : ""}`; // a number on one line
}

// Moves the words in the top right corner away from a patch with a label there.
const isUnderPin = (patch, pack) =>
  patch >= 0 && patch < pack.columns * Math.ceil(pack.rows / 20) && patch % pack.columns >= pack.columns / 3;

// Without registers, some patches may serve as sinks; small models have none.
function beyondText({ count, bound }, typical) {
  if (!count) return `no patch stands apart (is longer than ${shortNumber(bound)})`;
  const they = count === 1 ? "1 patch stands" : `${count} patches stand`;
  return `${they} apart, longer than ${shortNumber(bound)}${typical ? ": left out of the exposure" : ""}`;
}

// The layers that can be chosen: of a file with some layers, these.
export function layerRange(data) {
  const layers = layersAtHand(data);
  if (layers.length < 2) return `of 0–${data.main.pack.layers - 1}`;
  const inOneRun = layers.at(-1) - layers[0] === layers.length - 1;
  return `of ${inOneRun || layers.length > 6 ? `${layers[0]}–${layers.at(-1)}` : layers.join(", ")}`;
}

function scaleWords({ main }, { shown }) {
  const divisor = divisorOf(main.pack);
  if (Math.abs(shown.scale - 1) < 1e-9) return `without 1/${divisor}`;
  if (shown.scale === 0) return "scale 0: uniform";
  return `scale ${scaleText(shown.scale)} instead of 1/${divisor}`;
}

export const titleOf = (entry) => [entry.picture.title, entry.trace.title].filter(Boolean).join(" · ");

function writeConvolution({ view }, { shown }, { refs }) {
  const { pack, mark } = shown;
  const depth = depthOf(view);
  say(refs.convolutionTab, `${view.k}×${view.k} convolution`);
  show(refs.twinBadge, mark < 0);
  show(refs.nines, mark >= 0);
  show(refs.stepper, mark >= 0);
  if (mark < 0) {
    say(refs.twinBadge, `A convolution has no ${tokenName(shown.token, pack)} token.`);
    say(refs.reads, `0 of ${pack.patches} patches`);
  } else {
    const row = Math.floor(mark / pack.columns),
      column = mark % pack.columns;
    const read = neighbourhood(pack.rows, pack.columns, row, column, view.k).count;
    const field = neighbourhood(pack.rows, pack.columns, row, column, view.k, depth).count;
    say(refs.reads, `reads ${read} of ${pack.patches} patches`);
    say(refs.field, depth === 1 ? "" : `reach ${field} of ${pack.patches} patches`);
  }
  say(refs.depthText, depth === 1 ? "1 layer" : `${depth} layers`);
  refs.depthFollow.setAttribute("aria-pressed", String(view.depth === "follow"));
}

// ----------------------------------------------------------------------------------------------------------- numbers

// Texts of the markup in both faces: [words, English, where]; accessible names too.
const MARKED = [
  ["largestWeight", "largest weight", ".numbers dl div:first-child dt"],
  ["onAverage", "on average", '[data-ref="habitRow"] dt'],
  ["weightsFirst", "weights, largest first", ".curve p > span:first-child"],
  ["kernels", "the kernel's", ".kernel-key > span"],
  ["sumsOne", "One weight,", ".sums h2 span:first-child"],
  ["sumsTo", "to", ".sums h2 span:nth-of-type(2)"],
];
const NAMED_PARTS = [
  ["pictureNamed", "Attention picture. Arrow keys move the patch, Escape unlocks it.", '[data-ref="picture"]'],
  ["layerNamed", "Layer", '[data-ref="layer"]'],
  ["wallNamed", "Every layer and head as a thumbnail; click one to enlarge it", '[data-ref="wall"]'],
  ["curveNamed", "Weights from largest to smallest", '[data-ref="curve"]'],
  ["switchNamed", "Divide scores by the square root of d_k", '[data-ref="switch"]'],
  ["sumsNamed", "The arithmetic of one weight", ".sums"],
  ["stripsNamed", "The query's numbers, the key's numbers and their products", ".sums canvas"],
  ["sumsClose", "Close the arithmetic", ".sums .close"],
];

export function writeMarked(page) {
  for (const [key, english, where] of MARKED) {
    const element = page.root.querySelector(where);
    if (element) say(element, saidHere(page, key, english));
  }
  for (const [key, english, where] of NAMED_PARTS)
    page.root.querySelector(where)?.setAttribute("aria-label", saidHere(page, key, english));
}

export function writeNumbers({ choice, data, frame, page }) {
  const { view } = choice,
    { main } = data,
    { shown } = frame,
    { refs } = page;
  const { pack, answers, peak } = shown;
  const at = view.head * pack.tokens;
  const row = view.direction === "row";
  const ready = answers.ready[view.head] && !shown.rough;
  const bits = answers.entropies[view.head];

  const on = !shown.altered;
  refs.switch.setAttribute("aria-checked", String(on));
  page.root.classList.toggle("altered", !on);
  if (page.see?.on && page.see.drawer !== "numbers") return; // other numbers are not on view
  const who = isMean(choice, frame) ? "the mean of all heads" : `head ${pack.headNumbers[view.head]}`;
  const listens = saidHere(page, "listensToAbout", `${who} listens to about`, { head: pack.headNumbers[view.head] });
  say(refs.bigLabel, row ? listens : `is heard by ${who} for a total of`);
  say(refs.big, !ready ? "…" : rounded(row ? effectiveNumber(bits) : answers.totals[view.head]));
  refs.bigWhole.title = row
    ? "2 to the power of the entropy: an even row over so many tokens has the same entropy"
    : "";
  const tokens = `of ${pack.tokens}${pack.prefixCount ? " tokens" : " patches"}`;
  say(refs.bigOf, row ? saidHere(page, "ofTokens", tokens, { count: pack.tokens }) : "(1 on average)");
  say(refs.entropyLabel, row ? saidHere(page, "entropy", "entropy") : "of that, patches");
  say(
    refs.entropy,
    !ready
      ? "…"
      : row
        ? `${bits.toFixed(2)} bits`
        : sumOf(answers.weights, at + pack.prefixCount, at + pack.tokens).toFixed(2),
  );
  const bound = Math.log2(pack.tokens).toFixed(2);
  say(refs.entropyOf, row ? saidHere(page, "ofAtMost", `of at most ${bound}`, { bound }) : "");
  say(refs.peak, ready ? percent(answers.weights[at + peak]) : "…");
  const where = peak === shown.token ? saidHere(page, "itselfHere", "itself") : placeHere(page, peak, pack);
  say(refs.peakAt, row ? saidHere(page, "toPlace", `to ${where}`, { place: where }) : `from ${where}`);
  const habit = isMean(choice, frame) ? null : habitOf(data, frame, view.layer, view.head);
  show(refs.habitRow, Boolean(habit));
  if (habit) say(refs.habit, page.see?.on ? page.see.habit(habit.label) : habit.label);
  show(refs.toldRow, Boolean(habit?.told));
  if (habit?.told) {
    say(refs.told, habit.told);
    refs.told.title = `A loss on its attention weights told this head to ${habit.told}.`;
  }
  show(refs.assumed, Boolean(main.pack.assumed));
  say(refs.assumed, main.pack.assumed && `Assumed of the model: ${main.pack.assumed}.`);
  say(refs.headsNote, headsNote(view.direction, habit, choice.more));
  for (let i = 0; i < page.shares.length; i++) {
    say(page.shares[i], ready ? percent(answers.weights[at + i]) : "…");
  }

  const trained = main.pack.scale;
  const divisor = divisorOf(main.pack);
  say(refs.divisor, on || Math.abs(shown.scale - 1) < 1e-9 ? `/ ${divisor}` : `× ${scaleText(shown.scale)}`);
  refs.divisor.classList.toggle("gone", !on && Math.abs(shown.scale - 1) < 1e-9);
  say(refs.dialMiddle, `1/${divisor}`);
  refs.dial.setAttribute(
    "aria-valuetext",
    `scale ${scaleText(shown.scale)}, ${(shown.scale / trained).toPrecision(2)} times the trained one`,
  );
  writeVerdict(data, frame, page);
  writeOffer(choice, frame, page);
}

// The lines under the heads' thumbnails.
function headsNote(direction, habit, more) {
  const counted = direction === "row" ? "how many tokens each listens to" : "what this patch gets in each (average 1)";
  if (!habit) return `heads, and ${counted}`;
  return `heads, by what each does on average over this picture${more ? `, and ${counted}` : ""}`;
}

// The predictions with the trained and the chosen scale, once a whole pass has run with it.
function writeVerdict({ whole }, { shown }, { refs }) {
  const known = shown.wholeArrived && whole.trace.verdict?.length > 0;
  show(refs.verdict, known || shown.wholeMissing);
  if (known) say(refs.verdict, verdictOf(whole.trace.verdict));
  else if (shown.wholeMissing) say(refs.verdict, "running the whole network…");
}

// All changed labels, the largest change first: [label, before, after].
export function verdictOf(changes) {
  const [[label, before, after]] = changes;
  if (Math.abs(after - before) < CHANGED)
    return `${label} ${percent(before)}: no label changed by ${percent(CHANGED)} or more`;
  return changes.map(([name, from, to]) => `${name} ${percent(from)} → ${percent(to)}`).join(" · ");
}

const CHANGED = 0.02; // as in analysis/scale.py

// Offers a head that collapses without scale if the head on view stays spread, so that the switch has a visible effect.
function writeOffer(choice, frame, { refs }) {
  const { view } = choice;
  const collapsed = collapsing(choice, frame);
  show(refs.offer, collapsed !== null);
  if (!collapsed) return;
  const where = collapsed.layer === view.layer ? "" : `, layer ${collapsed.layer}`;
  const number = frame.shown.pack.headNumbers[collapsed.head];
  say(
    refs.offerText,
    `This head's largest weight is ${percent(collapsed.here)}. Head ${number}${where} ` +
      `collapses to ${percent(collapsed.weight)}:`,
  );
}

export function writeOther({ choice, data, frame, page: { refs } }, entry, head) {
  const { pack } = entry;
  // The second picture gets no whole pass of its own.
  const altered = frame.shown.altered ? [`${scaleWords(data, frame)} · in this layer only`] : [];
  say(refs.twinBadge, [titleOf(entry), ...altered].join(" · "));
  show(refs.twinBadge, true);
  if (head.token < 0) {
    say(refs.otherFoot, `This model has no ${tokenName(frame.shown.token, data.main.pack)} token.`);
    return;
  }
  const same = head.layer === choice.view.layer && head.head === choice.view.head && pack.rows === data.main.pack.rows;
  const parts = same
    ? []
    : [`${tokenName(head.token, pack)}, layer ${head.layer}, head ${pack.headNumbers[head.head]}`];
  if (head.row && choice.view.direction === "row") {
    let largest = 0;
    for (let j = 0; j < pack.tokens; j++) if (head.row[j] > largest) largest = head.row[j];
    parts.push(
      `listens to about ${rounded(effectiveNumber(head.bits))} of ${pack.tokens}`,
      `largest weight ${percent(largest)}`,
    );
    if (pack.prefixCount)
      parts.push(`${pack.prefix.map(prefixName).join(" + ")} ${percent(sumOf(head.row, 0, pack.prefixCount))}`);
  }
  if (head.row) parts.push(outlineText(frame.otherPrint));
  say(refs.otherFoot, parts.filter(Boolean).join(" · "));
}

// ----------------------------------------------------------------------------------------------- for screen readers

const NAMED = 3; // tokens named to screen readers

// "row 7, column 5 in layer 8, head 3 gives 31 % to row 2, column 9, 12 % to CLS and 8 % to itself."
export function describe({ choice: { view }, data, frame, page }) {
  const { shown } = frame;
  const { pack, answers, token } = shown;
  if (!answers || shown.layerMissing || shown.rough || !answers.ready[view.head]) return "";
  if (!asks(view)) return page.refs.sentence.textContent; // a map without a query
  const at = view.head * pack.tokens;
  const best = Array.from({ length: pack.tokens }, (_, j) => j)
    .sort((a, b) => answers.weights[at + b] - answers.weights[at + a])
    .slice(0, NAMED);
  const name = (j) => (j === token ? "itself" : tokenName(j, pack));
  const list = best.map(
    (j) => `${percent(answers.weights[at + j])} ${view.direction === "row" ? "to" : "from"} ${name(j)}`,
  );
  const cut = view.cut && shown.wholeArrived ? `, with the cut ${view.cut}` : "";
  const altered = shown.altered ? `, ${scaleWords(data, frame)}` : "";
  const kind = page.kindline.kind.textContent; // maps have no kind
  const where = `in layer ${view.layer}, head ${pack.headNumbers[view.head]}${altered}${cut}`;
  const verb = view.direction === "row" ? "gives" : "receives";
  const sentence = `${tokenName(token, pack)} ${where} ${verb} ${list.slice(0, -1).join(", ")} and ${list.at(-1)}.`;
  const filter = view.beside === "filter" ? page.refs.filterWords.textContent : "";
  return [sentence, kind, page.matches.words.textContent, filter].filter(Boolean).join(" ");
}

// The caption of an exported picture: all that is needed to make it again.
export function captionOf(choice, data, frame) {
  const { view } = choice,
    { main } = data,
    { shown } = frame;
  const head = isMean(choice, frame) ? "the mean of all heads" : `head ${shown.pack.headNumbers[view.head]}`;
  const where = wayOf(view).throughLayers
    ? "through all layers"
    : isMap(view.what)
      ? `after layer ${view.layer}`
      : `layer ${view.layer}, ${head}`;
  const words = [titleOf(main) || main.pack.header.model, where];
  if (asks(view)) words.push(tokenName(shown.token, shown.pack));
  else if (labelText(choice, data, frame)) words.push(`“${labelText(choice, data, frame)}”`);
  const ends = endsOf(choice, data, frame);
  for (const [side, { value, place }] of ends
    ? [
        ["for it", ends.most],
        ["against it", ends.least],
      ]
    : [])
    words.push(`${side} up to ${signedWords(value, unitOf(view))} at ${place}`);
  if (shown.altered)
    words.push(`${scaleWords(data, frame)}, ${shown.wholeArrived ? "whole forward pass" : "this layer only"}`);
  if (view.direction === "column") words.push("who listens to it");
  if (view.cut && shown.wholeArrived) words.push(`cut: ${view.cut}`);
  for (let i = 0; i < shown.pack.prefixCount && !shown.rough && !overlayNow(choice, data, frame); i++) {
    words.push(
      `${prefixName(shown.pack.prefix[i])} ${percent(shown.answers.weights[view.head * shown.pack.tokens + i])}`,
    );
  }
  return [...words, exposureText(choice, frame), outlineText(frame.print)].filter(Boolean).join(" · ");
}
