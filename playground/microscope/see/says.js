// Writes See's sentence about a row, from the texts in words.js that fit the places of the row. No DOM.
import { neighbourhood } from "../core/core.js";
import { percent } from "../core/numbers.js";
import { localNumber, PART_NAMES, seeWords } from "./words.js";

const ALIKE_SHARE = 0.5; // least share on patches that look like the asking patch, for which a spread row says so

// The name of a part of a sample, such as "the other eye" if the asking patch lies in an eye too.
export const nameOfPart = (language, part, fromPart) =>
  PART_NAMES[language][part.kind][fromPart?.kind === part.kind ? "other" : "one"];

// A percentage with a non-breaking space before its sign.
export const unbrokenPercent = (share) => percent(share).replaceAll(" ", "\u00a0");

// The sentence about a row, {before, place, after}. row: {told: see toldOf in core/places.js, fromPart: the sample's
// part in which the asking patch lies, or null, even, off: whether the division by √d_k is off, token: the special
// token with the largest share or "", most: the largest share of all tokens, alike: the share on patches that look
// like the asking patch, or null}
export function sayRow(language, row) {
  const words = (key, values) => seeWords(language, key, values);
  const { told, token } = row;
  const most = unbrokenPercent(row.most);
  if (row.even) return { before: words("even", { share: most }), place: "", after: "" };
  const shown = shownPlace(told);
  const values = {
    token,
    most,
    lit: told.lit,
    share: unbrokenPercent(shown.share),
    list: listOf(told, shown, row, words, language),
  };
  const key = token && row.most > told.places[0].share ? "placeless" : told.kind; // the largest place is first
  if (key === "spread" && row.alike >= ALIKE_SHARE)
    return { before: words("spreadAlike", { ...values, share: unbrokenPercent(row.alike) }), place: "", after: "" };
  const [to, name] = key === "own" ? ["", words("surroundings")] : whither(shown, row, words, language);
  const [before, after = ""] = words(key, values).split("{here}");
  const start = row.off ? words("without") : "";
  return { before: start + before + (after && to), place: after && name, after };
}

function listOf({ places }, shown, row, words, language) {
  const list = places.map((place) => {
    const where = place === shown ? "{here}" : whither(place, row, words, language).join("");
    return `${where} (${localNumber(language, unbrokenPercent(place.share))})`;
  });
  return new Intl.ListFormat(language === "en" ? "en-GB" : language).format(list);
}

// Where a share goes: [the preposition, the place].
function whither({ own, part }, { fromPart }, words, language) {
  if (own) return ["", words("toSurroundings")];
  return part ? [words("to"), nameOfPart(language, part, fromPart)] : ["", words("here")];
}

// The place that the picture outlines and the curve leads to: of several, the largest that is not the asking patch's
// own.
export const shownPlace = ({ places }) => places.find(({ own }) => !own) ?? places[0];

// The share of a row outside the 3 × 3 neighbourhood, prefix tokens included: a convolution reads none of it.
export function outsideShare(weights, start, { prefixCount, rows, columns }, mark) {
  const neighbours = neighbourhood(rows, columns, Math.floor(mark / columns), mark % columns, 3);
  let nearTotal = 0;
  for (let r = neighbours.top; r <= neighbours.bottom; r++)
    for (let c = neighbours.left; c <= neighbours.right; c++)
      nearTotal += weights[start + prefixCount + r * columns + c];
  return Math.max(0, 1 - nearTotal);
}
