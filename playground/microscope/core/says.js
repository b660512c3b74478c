// The sentence about a row of attention, from its places (core/places.js): the same in See, in Lab, on the wall of
// moments, in what is shared, and for screen readers. {here} becomes the marked place in the picture. No DOM.

import { PARTS_DE, ROW_DE } from "../words/de.js";
import { PARTS_EN, ROW_EN } from "../words/en.js";
import { PARTS_ES, ROW_ES } from "../words/es.js";
import { PARTS_FR, ROW_FR } from "../words/fr.js";
import { PARTS_ZH, ROW_ZH } from "../words/zh.js";
import { sumAround } from "./core.js";
import { filledIn, localNumber, percent } from "./numbers.js";
import { MOSTLY } from "./places.js";

const ALIKE_SHARE = 0.5; // least share on patches that look like the asking patch, for which a spread row says so

export const ROW_WORDS = { en: ROW_EN, de: ROW_DE, zh: ROW_ZH, es: ROW_ES, fr: ROW_FR };

// Names of the samples' parts (playground/samples.py): {one: the name, other: the name of a second such part, short: a
// short name}
export const PART_NAMES = { en: PARTS_EN, de: PARTS_DE, zh: PARTS_ZH, es: PARTS_ES, fr: PARTS_FR };

const rowWords = (language, key, values) => filledIn(language, ROW_WORDS[language][key], values);

// The name of a part of a sample, such as "the other eye" if the asking patch lies in an eye too.
export const nameOfPart = (language, part, fromPart) =>
  PART_NAMES[language][part.kind][fromPart?.kind === part.kind ? "other" : "one"];

// A percentage with a non-breaking space before its sign.
export const unbrokenPercent = (share) => percent(share).replaceAll(" ", "\u00a0");

// The sentence about a row, {before, place, after}. row: {told: see toldOf in core/places.js, fromPart: the sample's
// part in which the asking patch lies, or null, even, off: whether the division by √d_k is off, opening: other words
// before the sentence, token: the special token with the largest share or "", most: the largest share of all tokens,
// alike: the share on patches that look like the asking patch, or null, sink: what kind of sink has the largest share,
// or ""}. columns: null where the picture marks the place; else of the grid, to name the place by row and column.
export function sayRow(language, row, columns = null) {
  const said = sayPlaces(language, row, columns);
  const carrying = SINK_WORDS[row.sink] ? rowWords(language, SINK_WORDS[row.sink]) : "";
  const token = row.token || rowWords(language, "brightestPatch");
  const sink = row.sink ? rowWords(language, "sink", { token, carrying }) : "";
  return said.place ? { ...said, after: said.after + sink } : { ...said, before: said.before + sink };
}

const SINK_WORDS = { nothing: "carryingNothing", "one thing": "carryingOne" };

function sayPlaces(language, row, columns) {
  const { told, token } = row;
  const opening = row.opening ?? (row.off ? rowWords(language, "without") : "");
  const most = unbrokenPercent(row.most);
  if (row.even) return { before: opening + rowWords(language, "even", { share: most }), place: "", after: "" };
  const shown = shownPlace(told);
  const key = isPlaceless(row)
    ? "placeless"
    : told.kind === "own" && ownName(shown) === "surroundings"
      ? "near"
      : told.kind;
  const isAlike = key === "spread" && row.alike >= ALIKE_SHARE;
  const isWide = key === "spread" && shown.share >= MOSTLY; // its place is too large to be one
  const form = isAlike ? "spreadAlike" : isWide ? "wide" : key;
  const values = {
    token,
    most,
    lit: told.lit,
    share: unbrokenPercent(isAlike ? row.alike : shown.share),
    area: unbrokenPercent(shown.area),
    list: key === "several" ? listOf(told, shown, row, columns, language) : "",
  };
  const isKept = key === "own" || key === "near";
  const [to, name] = isKept ? ["", rowWords(language, ownName(shown))] : whither(shown, row, columns, language);
  const [before, after = null] = rowWords(language, form, values).split("{here}");
  if (after === null) return { before: opening + before, place: "", after: "" };
  return { before: opening + before + to, place: name, after };
}

// Whether a special token has more than any place.
export const isPlaceless = ({ told, token, most }) => token !== "" && most > told.places[0].share;

function listOf({ places }, shown, row, columns, language) {
  const list = places.map((place) => {
    const name = place === shown ? "{here}" : whither(place, row, columns, language).join("");
    return `${name} (${localNumber(language, unbrokenPercent(place.share))})`;
  });
  return new Intl.ListFormat(language === "en" ? "en-GB" : language).format(list);
}

// What the asking patch's own place is. `thing`: whether its border is one of the picture, see lens/told.js.
const ownName = ({ patches, near, thing }) =>
  patches?.length === 1 ? "itself" : thing ? "thing" : near ? "surroundings" : "region";

// Where a share goes: [the preposition, the place].
function whither(place, { fromPart }, columns, language) {
  const { own, part, brightest } = place;
  if (own) return ["", rowWords(language, `to${ownName(place).replace(/^./, (letter) => letter.toUpperCase())}`)];
  if (part) return [rowWords(language, "to"), nameOfPart(language, part, fromPart)];
  if (!columns) return ["", rowWords(language, "here")];
  return ["", rowWords(language, "around", { row: Math.floor(brightest / columns), column: brightest % columns })];
}

// The sentence as one text, which names places by row and column.
export function writeRow(language, row, columns) {
  const { before, place, after } = sayRow(language, row, columns);
  return before + place + after;
}

// The place that the picture outlines and the curve leads to: of several, the largest that is not the asking patch's
// own.
export const shownPlace = ({ places }) => places.find(({ own }) => !own) ?? places[0];

// The share of a row outside the 3 × 3 neighbourhood, prefix tokens included: a convolution reads none of it.
export const outsideShare = (weights, start, { prefixCount, rows, columns }, mark) =>
  Math.max(0, 1 - sumAround(weights, start + prefixCount, rows, columns, mark, 3));
