// The sentence about a row of attention, from its places (core/places.js): the same in See, in Lab, on the wall of
// moments, in what is shared, and for screen readers. {here} becomes the marked place in the picture. No DOM.
import { sumAround } from "./core.js";
import { filledIn, localNumber, percent } from "./numbers.js";
import { MOSTLY } from "./places.js";

const ALIKE_SHARE = 0.5; // least share on patches that look like the asking patch, for which a spread row says so

export const ROW_WORDS = {
  en: {
    one: "{share} of its attention goes {here}.",
    near: "It keeps to {here} ({share}).",
    own: "This patch looks at {here}: {share} of its attention on {area} of the picture.",
    several: "Its attention goes {list}.",
    spread: "Its attention is spread over {lit} patches; no place gets more than {share}.",
    wide: "Its attention is spread over {lit} patches.",
    spreadAlike: "Its attention is spread over {lit} patches; {share} of it is on what looks like this patch.",
    even: "It looks everywhere alike: at no place more than {share}.",
    placeless: "Its largest share goes to {token}, which has no place ({most}); in the picture {share} goes {here}.",
    surroundings: "its own surroundings",
    sink: " {token} is a sink{carrying}.",
    brightestPatch: "Its brightest patch",
    carryingNothing: ": it carries next to nothing",
    carryingOne: ": it carries one thing to all",
    toSurroundings: "to its own surroundings",
    thing: "the thing it lies in",
    toThing: "to the thing it lies in",
    region: "the area it lies in",
    toRegion: "to the area it lies in",
    to: "to ",
    here: "here",
    around: "to the place around row {row}, column {column}",
    without: "Without ÷ √d_k: ",
  },
  de: {
    one: "{share} seiner Attention gehen {here}.",
    near: "Es bleibt in {here} ({share}).",
    own: "Dieses Feld schaut auf {here}: {share} seiner Attention auf {area} des Bildes.",
    several: "Seine Attention geht {list}.",
    spread: "Seine Attention verteilt sich auf {lit} Felder; kein Ort bekommt mehr als {share}.",
    wide: "Seine Attention verteilt sich auf {lit} Felder.",
    spreadAlike: "Seine Attention verteilt sich auf {lit} Felder; {share} der Attention liegen auf ähnlichen Feldern.",
    even: "Es schaut überallhin gleich: nirgends mehr als {share}.",
    placeless: "Der größte Anteil geht an {token}, ein Token ohne Ort ({most}); im Bild gehen {share} {here}.",
    surroundings: "seiner eigenen Umgebung",
    sink: " {token} ist eine Senke{carrying}.",
    brightestPatch: "Das hellste Feld",
    carryingNothing: ": Sie trägt fast nichts",
    carryingOne: ": Sie trägt für alle dasselbe",
    toSurroundings: "in seine eigene Umgebung",
    thing: "das Ding, in dem es liegt",
    toThing: "auf das Ding, in dem es liegt",
    region: "die Fläche, in der es liegt",
    toRegion: "auf die Fläche, in der es liegt",
    to: "auf ",
    here: "hierhin",
    around: "an den Ort um Zeile {row}, Spalte {column}",
    without: "Ohne ÷ √d_k: ",
  },
};

// Names of the samples' parts (playground/samples.py): {one: the name, other: the name of a second such part, short: a
// short name}
export const PART_NAMES = {
  en: {
    eye: { one: "the eye", other: "the other eye", short: "eye" },
    nose: { one: "the nose", other: "the nose", short: "nose" },
    cup: { one: "the cup", other: "the cup", short: "cup" },
    coffee: { one: "the coffee", other: "the coffee", short: "coffee" },
    spoon: { one: "the spoon", other: "the spoon", short: "spoon" },
    badge: { one: "a badge", other: "the other badge", short: "badge" },
    face: { one: "the face", other: "the face", short: "face" },
    helmet: { one: "the helmet", other: "the helmet", short: "helmet" },
    shuttle: { one: "the shuttle", other: "the shuttle", short: "shuttle" },
    tower: { one: "a tower", other: "the other tower", short: "tower" },
    rocket: { one: "the rocket", other: "the rocket", short: "rocket" },
    leg: { one: "a leg of the tripod", other: "another leg", short: "leg" },
    head: { one: "the man’s head", other: "the man’s head", short: "head" },
    camera: { one: "the camera", other: "the camera", short: "camera" },
  },
  de: {
    eye: { one: "das Auge", other: "das andere Auge", short: "Auge" },
    nose: { one: "die Nase", other: "die Nase", short: "Nase" },
    cup: { one: "die Tasse", other: "die Tasse", short: "Tasse" },
    coffee: { one: "den Kaffee", other: "den Kaffee", short: "Kaffee" },
    spoon: { one: "den Löffel", other: "den Löffel", short: "Löffel" },
    badge: { one: "ein Abzeichen", other: "das andere Abzeichen", short: "Abzeichen" },
    face: { one: "das Gesicht", other: "das Gesicht", short: "Gesicht" },
    helmet: { one: "den Helm", other: "den Helm", short: "Helm" },
    shuttle: { one: "die Raumfähre", other: "die Raumfähre", short: "Raumfähre" },
    tower: { one: "einen Turm", other: "den anderen Turm", short: "Turm" },
    rocket: { one: "die Rakete", other: "die Rakete", short: "Rakete" },
    leg: { one: "ein Stativbein", other: "ein anderes Bein", short: "Bein" },
    head: { one: "den Kopf des Mannes", other: "den Kopf des Mannes", short: "Kopf" },
    camera: { one: "die Kamera", other: "die Kamera", short: "Kamera" },
  },
};

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

const LIST_FORMATS = { en: new Intl.ListFormat("en-GB"), de: new Intl.ListFormat("de") };

function listOf({ places }, shown, row, columns, language) {
  const list = places.map((place) => {
    const name = place === shown ? "{here}" : whither(place, row, columns, language).join("");
    return `${name} (${localNumber(language, unbrokenPercent(place.share))})`;
  });
  return LIST_FORMATS[language].format(list);
}

// What the asking patch's own place is. `thing`: whether its border is one of the picture, see lens/told.js.
const ownName = ({ near, thing }) => (thing ? "thing" : near ? "surroundings" : "region");

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
