// How large things are and which colours they have: both depend on the page around the lens.
import { ROLES } from "../core/colours.js";
import { canBeLit } from "../core/ways.js";
import { fitCanvas } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat, printLight } from "../drawing/light.js";
import { layersAtHand } from "./shown.js";

// After whatever changes sizes or colours.
export function refresh(lens) {
  if (!lens.main || !lens.alive || !lens.root.clientWidth) return;
  layOut(lens);
  readTheme(lens);
  lens.barKey = lens.kernelKey = "";
  lens.schedule();
}

// A canvas has no stylesheet; it is told the colours.
function readTheme(lens) {
  const { refs, root } = lens;
  const style = getComputedStyle(root);
  lens.colours = {
    ink: style.color,
    soft: getComputedStyle(refs.note).color,
    line: getComputedStyle(root.querySelector(".bar")).borderBottomColor,
    accent: style.getPropertyValue("--accent").trim(),
    font: style.fontFamily,
    convolution: ROLES.convolution,
  };
}

// Where everything but the picture stands, as lens.css has it: how wide a column it takes beside the picture, in em,
// and which part is the lowest of those that take their height from the picture.
const ORDERS = {
  one: { column: 21, lowest: "stage" }, //    all else beside the picture, in a narrower column
  over: { column: 0, lowest: "below" }, //    all else beneath: for panoramas
  bare: { column: 0, lowest: "stage" }, //    in a file for a slide: the picture alone
  present: { column: 0, lowest: "scale" }, // for a projector: the sentence, the legend and the switch
};
const GAP = 1.6; // em, between the picture and the column
const CLEARLY = 1.06; // times as wide: or the picture keeps its column
const SHALLOW = 480; // px
const SHALLOWEST = 380;
const WORDS = 27; // em: what stands below a slender picture needs them
const LEAST = 11; // em, of a picture's height
const TIGHT = 48; // em: below a picture narrower than this nothing stands side by side
const LOW = 54; // em: in a lower window the film is lower, too
const SHORT = 41; // em: in a window as low as a slide's frame only the most important stands
const SLENDER = 30; // em: in a column narrower than this everything stands below the other
const TALL = 0.9; // of aspects: below it a picture is a portrait
const SPARE = 5; // em, below everything: room for the curve
const IDLE = 3; // em, below a picture and its legend: more is a band with nothing in it
const BROAD = 46; // em: a column so wide, beside a portrait, is two

// The picture gets as much of the window as texts and controls leave free. Beside wide pictures there is no room for
// these, below tall ones there is none. So each way is tried, and the one with the largest picture taken.
function layOut(lens) {
  const { root, main } = lens;
  root.dataset.face = lens.see?.on ? "see" : "lab";
  if (lens.see?.on) return lens.see.layOut(aspectOf(main));
  root.style.removeProperty("margin-top");
  const style = getComputedStyle(root);
  const em = parseFloat(style.fontSize);
  const width = root.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const roomy = width >= 60 * em ? "wide" : width >= 40 * em ? "middle" : "narrow";
  const size = lens.presenting || lens.ui.bare ? "wide" : roomy;
  root.classList.toggle("slim", lens.presenting && roomy === "narrow");
  root.dataset.size = size;
  root.classList.remove("filled");
  root.classList.toggle("compact", width < 76 * em);
  root.classList.toggle("short", size === "wide" && heightOf(lens) < SHORT * em);
  root.classList.toggle("low", size === "wide" && heightOf(lens) < LOW * em);
  const aspect = aspectOf(main);
  root.style.setProperty("--aspect", String(aspect));
  root.classList.toggle("tall", aspect < TALL);
  root.style.setProperty("--twin", String(twinAspect(lens, aspect)));
  if (lens.presenting) tryWay(lens, "present", width, em, aspect);
  else if (lens.ui.bare) tryWay(lens, "bare", width, em, aspect);
  else if (size === "wide") {
    const beneath = tryWay(lens, "over", width, em, aspect);
    const beside = tryWay(lens, "one", width, em, aspect);
    if (beneath.width > CLEARLY * beside.width) tryWay(lens, "over", width, em, aspect);
  } else {
    root.dataset.way = size;
    root.classList.toggle("shallow", window.innerHeight < SHALLOW); // a phone on its side: the picture first
    const height = 0.5 * Math.max(SHALLOWEST, window.innerHeight);
    setPictures(lens, Math.min(width, height * aspect), aspect);
    root.classList.toggle("tight", lens.pictureWidth < TIGHT * em);
  }
  const column = size === "wide" && root.dataset.way === "one" ? width - lens.seenWidth - GAP * em : width;
  const broad = root.dataset.way === "one" && column >= BROAD * em;
  root.classList.toggle("broad", broad);
  // Where a second picture is large in a broad column, the controls have a slender one beside it.
  const three = broad && lens.view.beside !== "convolution";
  root.classList.toggle("slender", three || (root.dataset.way === "one" && column < SLENDER * em));
  fillBelow(lens, em);
  fillBeneath(lens, em);
  lens.ratio = Math.min(3, window.devicePixelRatio || 1);
  // Lines and letters on canvas grow with the type around them.
  lens.unit = (lens.ratio * em) / 14;
  sizeCanvases(lens);
}

// Beside a panorama the narrow column has room for the curve again.
function fillBelow(lens, em) {
  const { root } = lens;
  root.classList.remove("spare");
  if (!root.classList.contains("slender")) return;
  const spare = heightOf(lens) - root.getBoundingClientRect().height;
  root.classList.toggle("spare", spare >= SPARE * em);
  root.style.setProperty("--spare", `${Math.floor(spare)}px`);
}

// Beneath a panorama the film takes what is free: in so many lines that its pictures are as large as they can be.
function fillBeneath(lens, em) {
  const { root, refs, film } = lens;
  film.lines = 1;
  const under = refs.stage.getBoundingClientRect().bottom - root.getBoundingClientRect().top;
  const spare = heightOf(lens) - under - parseFloat(getComputedStyle(root).paddingBottom);
  if (root.dataset.way !== "one" || spare < IDLE * em) return;
  const layers = layersAtHand(lens).length;
  const free = spare + film.canvas.clientHeight;
  const high = (lines) => Math.min(lens.pictureWidth / Math.ceil(layers / lines) / aspectOf(lens.main), free / lines);
  for (let lines = 2; lines <= layers; lines++) if (high(lines) > high(film.lines)) film.lines = lines;
  root.classList.add("filled");
  root.style.setProperty("--film", `${Math.floor(film.lines * high(film.lines))}px`);
}

// Of what stands beside the picture: the wall, or a compared picture.
function twinAspect(lens, aspect) {
  const { view, other, main } = lens;
  if (view.beside === "wall") return (aspect * main.pack.heads) / layersAtHand(lens).length;
  return view.beside === "compare" && other ? aspectOf(other) : aspect;
}

const aspectOf = ({ pack }) =>
  pack.header.size ? pack.header.size[1] / pack.header.size[0] : pack.columns / pack.rows;

// Lays everything out this way, and sees how wide the picture may become.
function tryWay(lens, way, width, em, aspect) {
  const { root, refs } = lens;
  const { column, lowest } = ORDERS[way];
  const pair = way === "present" && lens.view.beside === "filter" && !root.classList.contains("slim");
  const room = pair ? (width - GAP * em) / 2 : width - (column && column + GAP) * em;
  root.dataset.way = way;
  let found = room;
  for (let turn = 0; turn < 3; turn++) {
    root.classList.toggle("tight", found < TIGHT * em); // which may change what stands below
    setPictures(lens, found, aspect);
    const part = refs[lowest];
    const bottom = part.getBoundingClientRect().bottom - root.getBoundingClientRect().top;
    const rest = bottom + parseFloat(getComputedStyle(root).paddingBottom) - lens.pictureHeight;
    const before = found;
    found = Math.min(room, Math.max(LEAST * em, heightOf(lens) - rest) * aspect);
    if (found === before) break; // another turn would measure the same
  }
  setPictures(lens, found, aspect);
  return { way, width: found };
}

// What the lens may fill. The page above it may be taller than it was said to be, where its toolbar has two lines.
function heightOf(lens) {
  const { height: wished } = lens.ui;
  if (lens.presenting || lens.ui.bare || wished === "window") return window.innerHeight;
  if (wished > 0) return wished;
  const above = lens.root.getBoundingClientRect().top + 4;
  const used = above > -wished && above < 0.3 * window.innerHeight ? above : -wished;
  return Math.max(440, window.innerHeight - used);
}

// By how many pixels a lens that is laid out to fit is taller than its room.
export const overflowOf = (lens) =>
  lens.root.dataset.size === "wide" && !lens.see?.on
    ? Math.round(lens.root.getBoundingClientRect().height - heightOf(lens))
    : 0;

export function setPictures(lens, width, aspect) {
  const { way } = lens.root.dataset;
  const em = parseFloat(getComputedStyle(lens.root).fontSize);
  const words = ["one", "middle"].includes(way) ? WORDS * em : 0;
  lens.pictureWidth = Math.floor(width);
  lens.pictureHeight = Math.round(lens.pictureWidth / aspect);
  lens.seenWidth = Math.max(lens.pictureWidth, words);
  lens.root.style.setProperty("--pw", `${lens.pictureWidth}px`);
  lens.root.style.setProperty("--sw", `${lens.seenWidth}px`);
  lens.root.style.setProperty("--ph", `${lens.pictureHeight}px`);
}

// The stylesheet decides how large the small canvases are, layOut how large the picture.
export function sizeCanvases(lens) {
  const { refs, ratio } = lens;
  fitCanvas(refs.picture, lens.pictureWidth, lens.pictureHeight, ratio);
  for (const name of ["twin", "wall", "nine", "colourBar", "filterBar", "kernelCells", "rowCells", "curve"]) {
    const canvas = refs[name];
    if (canvas.clientWidth) fitCanvas(canvas, canvas.clientWidth, canvas.clientHeight, ratio);
  }
  lens.photo = lens.otherPhoto = null;
}

// A second picture keeps its own shape inside its frame.
export function otherSize(lens, entry) {
  const aspect = aspectOf(entry);
  const { width, height } = lens.refs.twin;
  const w = Math.min(width, Math.round(height * aspect));
  return { width: w, height: Math.min(height, Math.round(w / aspect)) };
}

// The photographs and what is drawn on them: which there are at this size, and in which of the two ways to draw.

// The photograph that an entry's picture is drawn on, and the print on it: made when first needed at this size, and
// again when the image arrives.
export function photoOf(lens, entry) {
  const image = entry.picture.bitmap;
  const second = entry !== lens.main && entry === lens.other;
  const { width, height } = second ? otherSize(lens, entry) : lens.refs.picture;
  const [photoKey, printKey] = second ? ["otherPhoto", "otherPrint"] : ["photo", "print"];
  const made = lens[photoKey];
  if (made && made.image === image && made.width === width && made.height === height) return made;
  lens[photoKey] = makePhoto(image, width, height);
  lens[printKey] = makePrint(lens[photoKey]);
  if (!second) lens.thumbPhoto = lens.patchPhoto = null;
  return lens[photoKey];
}

const isLit = (view) => view.draw === "light" && canBeLit(view);

// The 256 colours of the large picture, for bars and charts beside it.
export const rampOf = ({ view, ramps }) => ramps[isLit(view) ? "light" : "heat"];

export function printPatches(lens, print, values, from, { rows, columns }, domain) {
  const { view } = lens;
  if (isLit(view)) printLight(print, values, from, rows, columns, domain, lens.unit);
  else printHeat(print, values, from, rows, columns, domain, view.smooth);
}

// All thumbnails have one size, and share one small photograph.
export function readyThumb(lens, thumb) {
  if (!lens.thumbPhoto) {
    const { image } = lens.photo;
    const { clientWidth, clientHeight } = thumb.canvas; // asked once: between two writings it would cost a layout
    lens.thumbPhoto = makePhoto(image, (clientWidth || 1) * lens.ratio, (clientHeight || 1) * lens.ratio);
  }
  if (thumb.print?.photo !== lens.thumbPhoto) thumb.print = makePrint(lens.thumbPhoto, thumb.canvas);
}
