// What the sentence above the picture is made of (core/sentence.js), and the line about the row's kind.

import { holdsHead, sumOf } from "../core/core.js";
import { patchText } from "../core/grid.js";
import {
  isEarlyLayer,
  isNearlySame,
  isPeak,
  kindOf,
  kindWords,
  likenessOf,
  meanRowOf,
  rowFacts,
} from "../core/kinds.js";
import { headsFor, STRIKING_SCORE, tellingLayers } from "../core/moments.js";
import { outsideShare } from "../core/says.js";
import { placeName, prefixName, summaryOf } from "../core/sentence.js";
import { asks, unitOf, wayOf } from "../core/ways.js";
import { make, setText, setVisible } from "../drawing/dom.js";
import { nearnessOverlap } from "./beside.js";
import { missingSentence } from "./explained.js";
import { keepInMap, MOST_FLOWS } from "./features.js";
import { sceneOf, searchDirections } from "./moment.js";
import { asksFromOther, divisorOf, scaleText } from "./readouts.js";
import { endsOf, isMap, labelNow, overlayNow, signedWords } from "./state.js";

export function factsOf(lens) {
  const { view, shown } = lens;
  const { picture } = lens.frame;
  const { pack, answers, mark, token } = shown;
  const isMapShown = isMap(view.what);
  const way = wayOf(view);
  const overlay = overlayNow(lens);
  const start = view.head * pack.tokens;
  const isReady = isMapShown
    ? overlay?.values.length >= pack.patches && !way.coloured
    : answers.ready[view.head] || way.raw;
  const values = isMapShown ? overlay?.values : answers.values;
  const firstIndex = isMapShown ? (values?.length === pack.patches ? 0 : pack.prefixCount) : start + pack.prefixCount;
  const summary = isReady ? summaryOf(values, firstIndex, pack.rows, pack.columns, mark, 3, way.resembles) : null;
  return {
    what: view.what,
    direction: view.direction,
    label: way.explains === "text" ? view.text : (labelNow(lens)?.[1] ?? ""),
    asks: asks(view),
    waits: isMapShown && !overlay && (missingSentence(lens) || promptWords(lens)),
    name: asksFromOther(lens) ? "that patch" : token < pack.prefixCount ? plainToken(pack.prefix[token]) : "",
    k: 3,
    summary,
    place:
      summary && picture.tag?.patch === summary.best && !isBehind(picture, summary.best)
        ? "here"
        : summary
          ? placeName(summary.best, pack.columns)
          : "",
    special: {
      names: specialNames(pack),
      share: isReady && !isMapShown ? sumOf(answers.weights, start, start + pack.prefixCount) : 0,
    },
    row: shown.row,
    columns: picture.tag && !isBehind(picture, picture.tag.patch) ? null : pack.columns,
    outside: shown.row && (mark < 0 ? summary.total : outsideShare(answers.weights, start, pack, mark)),
    scale: scaleOpening(lens),
    ends: endsWords(lens),
    written: way.signed && overlay && partSums(overlay.values, pack),
    unmoved: overlay?.unmoved ?? "",
    heard: answers.totals[view.head],
  };
}

const partSums = (values, { tokens, prefixCount }) => ({
  total: sumOf(values, 0, tokens),
  special: sumOf(values, 0, prefixCount),
});

function endsWords(lens) {
  const { choice } = lens;
  const ends = endsOf(lens);
  return ends && { ...ends, written: (value) => signedWords(value, unitOf(choice.view)) };
}

// The sentence that is shown before any numbers are known.
function promptWords({ view, main }) {
  const { explains, needs } = wayOf(view);
  if (explains === "text") return view.text ? "" : "Type a word or two: which patches are like it?";
  const needsPatch = explains === "patch" && asks(view);
  const isRollout = needs === "flows" && main.pack.tokens > MOST_FLOWS;
  return (needsPatch || isRollout) && !view.locked ? "Click a patch: this map is of one patch." : "";
}

// Whether the patch lies left of the curtain, where the number beside a patch is hidden.
const isBehind = ({ behind, columns }, patch) => behind && ((patch % columns) + 0.5) / columns < behind.to;

// The name of a special token for people, such as "register 0" for "reg0".
const plainToken = (name) => (/^reg\d+$/.test(name) ? `register ${name.slice(3)}` : prefixName(name));

function specialNames({ prefix }) {
  const hasRegisters = prefix.some((name) => name.startsWith("reg"));
  const names = prefix.filter((name) => !name.startsWith("reg")).map(prefixName);
  return [...names, ...(hasRegisters ? ["the registers"] : [])].join(" and ");
}

function scaleOpening({ main, shown }) {
  if (!shown.altered) return "";
  const layersWords = shown.wholeArrived ? "in all layers" : "in this layer";
  if (Math.abs(shown.scale - 1) < 1e-9) return `without dividing by ${divisorOf(main.pack)} ${layersWords}`;
  return `with scores times ${scaleText(shown.scale)} ${layersWords}`;
}

// The line under the heads: the kind of this row, and another head that shows more for this patch. Updated at most
// once in KIND_LINE_INTERVAL.

const KIND_LINE_INTERVAL = 60; // ms between two updates
const LEAST_IMPROVEMENT = 1.5; // a suggested head's score is at least this many times that of the head on view
const CACHED_MEAN_ROWS = 24; // number of heads whose mean rows are cached

export function bindKindLine({ frame, page }) {
  const onclick = () => frame.betterHead && page.choose({ ...frame.betterHead, locked: true });
  page.kindline = { kind: make("span"), go: make("button", { className: "quiet", hidden: true, onclick }), timer: 0 };
  page.refs.kindline.append(page.kindline.kind, " ", page.kindline.go);
}

export function writeKindSoon(lens) {
  const { kindline } = lens.page;
  kindline.timer ||= setTimeout(() => {
    kindline.timer = 0;
    const { page, view, main, shown } = lens;
    // If the new layer has not arrived yet, the line is written when that layer is painted.
    if (page.alive && main && !shown.layerMissing && holdsHead(shown.pack, view.layer, view.head)) writeKind(lens);
  }, KIND_LINE_INTERVAL);
}

function writeKind(lens) {
  const { frame, view, shown } = lens;
  const { kindline } = lens.page;
  const showsWeights = wayOf(view).rows; // only rows of weights have a kind
  const isReadable = showsWeights && view.direction === "row" && shown.mark >= 0 && shown.answers.ready[view.head];
  frame.betterHead = null;
  setText(kindline.kind, isReadable ? kindSentence(lens) : "");
  setVisible(kindline.go, Boolean(isReadable && frame.betterHead));
}

function kindSentence(lens) {
  const { frame, view, main, shown } = lens;
  const { kindline } = lens.page;
  const { pack, mark } = shown;
  const keyVectors = keyDirections(frame);
  if (!keyVectors) return "";
  const start = view.head * pack.tokens;
  const row = shown.answers.weights.subarray(start, start + pack.tokens);
  const meanRow = meanRowNow(lens);
  const facts = rowFacts(row, pack, mark, meanRow, likenessOf(keyVectors, mark));
  const peakWord = !isPeak(facts) ? "" : meanRow.most < pack.prefixCount ? "token" : "patch";
  const share = nearnessOverlap(lens, mark);
  const isPlain = share === null ? null : isNearlySame(share);
  findBetter(lens);
  const { betterHead } = frame;
  if (betterHead)
    setText(kindline.go, `layer ${betterHead.layer}, head ${main.pack.headNumbers[betterHead.head]} shows more here`);
  return kindWords(kindOf(facts, isEarlyLayer(view.layer, pack.layers)), { one: peakWord, plain: isPlain });
}

// Sets frame.betterHead to a head whose row for this patch is clearly more telling than the row on view.
function findBetter({ data, frame, view, main, shown }) {
  const scene = sceneOf(data);
  if (!scene || shown.altered || shown.pack !== main.pack) return;
  const heads = headsFor(scene, shown.mark);
  const [bestHead] = heads;
  const shownHead = heads.find(({ layer, head }) => layer === view.layer && head === view.head);
  if (bestHead === shownHead || bestHead.tells < Math.max(STRIKING_SCORE, LEAST_IMPROVEMENT * (shownHead?.tells ?? 0)))
    return;
  frame.betterHead = { layer: bestHead.layer, head: bestHead.head, query: patchText(shown.mark, main.pack.columns) };
}

// The vectors for comparing patches: the keys of a late layer; null until that layer has arrived.
function keyDirections({ kinds, shown }) {
  const { pack } = shown;
  const layerCount = tellingLayers(pack).length;
  if (!layerCount) return null;
  if (kinds.pack !== pack || kinds.layers !== layerCount) {
    kinds.meanRows.clear();
    Object.assign(kinds, { pack, layers: layerCount, directions: searchDirections(pack) });
  }
  return kinds.directions;
}

function meanRowNow({ view, shown, frame: { kinds } }) {
  const key = `${view.layer} ${view.head} ${shown.scale}`;
  const meanRow = kinds.meanRows.get(key) ?? meanRowOf(shown.pack, view.layer, view.head, shown.scale);
  keepInMap(kinds.meanRows, key, meanRow, CACHED_MEAN_ROWS);
  return meanRow;
}
