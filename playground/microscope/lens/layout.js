// Sizes and colours of the lens, taken from the page around it.

import { ROLES } from "../core/colours.js";
import { canBeLit } from "../core/ways.js";
import { fitCanvas } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat, printLight } from "../drawing/light.js";
import { layersAtHand } from "./state.js";

// Computes sizes again and reads colours again. Called after every change of either.
export function refresh(lens) {
  const { frame, page } = lens;
  if (!lens.data.main || !page.alive || !page.root.clientWidth) return;
  layOut(lens);
  page.root.style.visibility = "";
  readTheme(frame, page);
  frame.barKey = frame.kernelKey = "";
  page.schedule();
}

// Reads the theme's colours, because a canvas has no stylesheet.
function readTheme(frame, { refs, root }) {
  const style = getComputedStyle(root);
  frame.colours = {
    ink: style.color,
    soft: getComputedStyle(refs.note).color,
    line: getComputedStyle(root.querySelector(".bar")).borderBottomColor,
    accent: style.getPropertyValue("--accent").trim(),
    font: style.fontFamily,
    convolution: ROLES.convolution,
  };
}

// The layouts of lens.css. column: the width, in em, of the column beside the picture; lowest: the lowest part that
// must fit into the window, so that the picture leaves room for this part.
const LAYOUTS = {
  one: { column: 21, lowest: "stage" }, //    all other parts in a narrower column beside the picture
  over: { column: 0, lowest: "below" }, //    all other parts below, for panoramas
  bare: { column: 0, lowest: "stage" }, //    the picture alone, in a file for a slide
  // for a projector: sentence, legend and switch end above the window's lower edge
  present: { column: 0, lowest: "scale" },
};
const COLUMN_GAP = 1.6; // em, between the picture and the column
export const WIDER_FACTOR = 1.06; // "over" is chosen if its picture is more than this many times as wide as in "one"
const SHALLOW_HEIGHT = 480; // px: in a window lower than this, the picture comes before the texts
const LEAST_SHALLOW_HEIGHT = 380;
const LEAST_WORDS_WIDTH = 27; // em needed by the parts below a narrow picture
const LEAST_PICTURE_HEIGHT = 11; // em, least height of a picture
const STACKED_PARTS_WIDTH = 48; // em: below a narrower picture, the parts are stacked
const LOW_FILM_HEIGHT = 54; // em: in a window lower than this, film and second picture are smaller
const ESSENTIALS_HEIGHT = 41; // em: a lower window, such as a slide's frame, shows only the most important parts
const STACKED_COLUMN_WIDTH = 30; // em: in a column narrower than this, all parts are stacked
const PORTRAIT_ASPECT = 0.9; // aspect below which a picture is a portrait
const ROOM_FOR_CURVE = 5; // em: the curve is shown if this height is free below all parts
const MOST_IDLE_HEIGHT = 3; // em: if more height is free below the picture, the film fills it
const SPLIT_COLUMN_WIDTH = 46; // em: beside a portrait, a column of at least this width is split into two

// Applies the layout that makes the picture largest: a wide picture leaves no room for texts and controls beside it, a
// tall picture leaves none below it.
function layOut(lens) {
  const { choice, data, frame, page } = lens;
  const { main } = data,
    { root } = page;
  root.dataset.face = page.see?.on ? "see" : "lab";
  const pictureAspect = page.expected ? page.expected.width / page.expected.height : aspectOf(main);
  if (page.see?.on) return page.see.layOut(pictureAspect);
  root.style.removeProperty("margin-top");
  root.classList.remove("more"); // unfolded parts don't make the picture smaller
  const style = getComputedStyle(root);
  const em = parseFloat(style.fontSize);
  const width = root.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const widthClass = width >= 60 * em ? "wide" : width >= 40 * em ? "middle" : "narrow";
  const size = choice.presenting || page.ui.bare ? "wide" : widthClass;
  root.classList.toggle("slim", choice.presenting && widthClass === "narrow");
  root.dataset.size = size;
  root.classList.remove("filled");
  root.classList.toggle("compact", width < 76 * em);
  root.classList.toggle("short", size === "wide" && heightOf(choice, page) < ESSENTIALS_HEIGHT * em);
  root.classList.toggle("low", size === "wide" && heightOf(choice, page) < LOW_FILM_HEIGHT * em);
  root.style.setProperty("--aspect", String(pictureAspect));
  root.classList.toggle("tall", pictureAspect < PORTRAIT_ASPECT);
  root.style.setProperty("--twin", String(twinAspect(choice, data, pictureAspect)));
  if (choice.presenting) tryLayout(choice, frame, page, "present", width, em, pictureAspect);
  else if (page.ui.bare) tryLayout(choice, frame, page, "bare", width, em, pictureAspect);
  else if (size === "wide") {
    const overWidth = tryLayout(choice, frame, page, "over", width, em, pictureAspect);
    const besideWidth = tryLayout(choice, frame, page, "one", width, em, pictureAspect);
    if (overWidth > WIDER_FACTOR * besideWidth) tryLayout(choice, frame, page, "over", width, em, pictureAspect);
  } else {
    root.dataset.way = size;
    root.classList.toggle("shallow", window.innerHeight < SHALLOW_HEIGHT); // a phone held sideways
    const height = 0.5 * Math.max(LEAST_SHALLOW_HEIGHT, window.innerHeight);
    setPictures(frame, page, Math.min(width, height * pictureAspect), pictureAspect);
    root.classList.toggle("tight", frame.pictureWidth < STACKED_PARTS_WIDTH * em);
  }
  const columnWidth = size === "wide" && root.dataset.way === "one" ? width - frame.seenWidth - COLUMN_GAP * em : width;
  const isBroad = root.dataset.way === "one" && columnWidth >= SPLIT_COLUMN_WIDTH * em;
  root.classList.toggle("broad", isBroad);
  // If a second picture is large in a broad column, the controls get a slender column beside it.
  const hasThreeColumns = isBroad && choice.view.beside !== "convolution";
  root.classList.toggle(
    "slender",
    hasThreeColumns || (root.dataset.way === "one" && columnWidth < STACKED_COLUMN_WIDTH * em),
  );
  root.classList.toggle("more", choice.more);
  showSpareCurve(choice, page, em);
  fillWithFilm(lens, em);
  frame.ratio = Math.min(3, window.devicePixelRatio || 1);
  // Lines and letters on canvas are sized by the page's type.
  frame.unit = (frame.ratio * em) / 14;
  sizeCanvases(frame, page);
}

// Shows the curve if the narrow column beside the picture has room for it.
function showSpareCurve(choice, page, em) {
  const { root } = page;
  root.classList.remove("spare");
  if (!root.classList.contains("slender")) return;
  const spareHeight = heightOf(choice, page) - root.getBoundingClientRect().height;
  root.classList.toggle("spare", spareHeight >= ROOM_FOR_CURVE * em);
  root.style.setProperty("--spare", `${Math.floor(spareHeight)}px`);
}

// Below a wide picture, the film fills the free height, with the number of lines that makes its pictures largest.
function fillWithFilm({ choice, data, frame, page }, em) {
  const { root, refs, film } = page;
  frame.filmLines = 1;
  const stageBottom = refs.stage.getBoundingClientRect().bottom - root.getBoundingClientRect().top;
  const spareHeight = heightOf(choice, page) - stageBottom - parseFloat(getComputedStyle(root).paddingBottom);
  if (root.dataset.way !== "one" || spareHeight < MOST_IDLE_HEIGHT * em) return;
  const layers = layersAtHand(data).length;
  const freeHeight = spareHeight + film.canvas.clientHeight;
  const lineHeightOf = (lines) =>
    Math.min(frame.pictureWidth / Math.ceil(layers / lines) / aspectOf(data.main), freeHeight / lines);
  for (let lines = 2; lines <= layers; lines++)
    if (lineHeightOf(lines) > lineHeightOf(frame.filmLines)) frame.filmLines = lines;
  root.classList.add("filled");
  root.style.setProperty("--film", `${Math.floor(frame.filmLines * lineHeightOf(frame.filmLines))}px`);
}

// The aspect of the wall or the compared picture.
function twinAspect({ view }, data, aspect) {
  const { other, main } = data;
  if (view.beside === "wall") return (aspect * main.pack.heads) / layersAtHand(data).length;
  return view.beside === "compare" && other ? aspectOf(other) : aspect;
}

const aspectOf = ({ pack }) =>
  pack.header.size ? pack.header.size[1] / pack.header.size[0] : pack.columns / pack.rows;

// Applies a layout and returns the largest width that its picture can have.
function tryLayout(choice, frame, page, layout, width, em, aspect) {
  const { root, refs } = page;
  const { column, lowest } = LAYOUTS[layout];
  const isPair = layout === "present" && choice.view.beside === "filter" && !root.classList.contains("slim");
  const largestWidth = isPair ? (width - COLUMN_GAP * em) / 2 : width - (column && column + COLUMN_GAP) * em;
  root.dataset.way = layout;
  let pictureWidth = largestWidth;
  for (let attempt = 0; attempt < 3; attempt++) {
    root.classList.toggle("tight", pictureWidth < STACKED_PARTS_WIDTH * em); // this may change the heights below
    setPictures(frame, page, pictureWidth, aspect);
    const part = refs[lowest];
    const bottom = part.getBoundingClientRect().bottom - root.getBoundingClientRect().top;
    const otherHeight = bottom + parseFloat(getComputedStyle(root).paddingBottom) - frame.pictureHeight;
    const formerWidth = pictureWidth;
    pictureWidth = Math.min(
      largestWidth,
      Math.max(LEAST_PICTURE_HEIGHT * em, heightOf(choice, page) - otherHeight) * aspect,
    );
    if (pictureWidth === formerWidth) break; // the size has converged
  }
  setPictures(frame, page, pictureWidth, aspect);
  return pictureWidth;
}

// The height that the lens may fill. The page above may be taller than the host said, if its toolbar has two lines.
function heightOf(choice, page) {
  const { height: wantedHeight } = page.ui;
  if (choice.presenting || page.ui.bare || wantedHeight === "window") return window.innerHeight;
  if (wantedHeight > 0) return wantedHeight;
  const top = page.root.getBoundingClientRect().top + 4;
  const heightAbove = top > -wantedHeight && top < 0.3 * window.innerHeight ? top : -wantedHeight;
  return Math.max(440, window.innerHeight - heightAbove);
}

// The number of pixels by which the lens exceeds its room.
export function overflowOf(choice, page) {
  if (page.see?.on) return page.see.overflow();
  if (page.root.dataset.size !== "wide") return 0;
  return Math.round(page.root.getBoundingClientRect().height - heightOf(choice, page));
}

export function setPictures(frame, page, width, aspect) {
  const { way } = page.root.dataset;
  const em = parseFloat(getComputedStyle(page.root).fontSize);
  const wordsWidth = ["one", "middle"].includes(way) ? LEAST_WORDS_WIDTH * em : 0;
  frame.pictureWidth = Math.floor(width);
  frame.pictureHeight = Math.round(frame.pictureWidth / aspect);
  frame.seenWidth = Math.max(frame.pictureWidth, wordsWidth);
  page.root.style.setProperty("--pw", `${frame.pictureWidth}px`);
  page.root.style.setProperty("--sw", `${frame.seenWidth}px`);
  page.root.style.setProperty("--ph", `${frame.pictureHeight}px`);
}

// Fits the canvases to their elements: the stylesheet sizes the small ones, layOut sizes the picture.
export function sizeCanvases(frame, { refs }) {
  const { ratio } = frame;
  fitCanvas(refs.picture, frame.pictureWidth, frame.pictureHeight, ratio);
  for (const name of ["twin", "wall", "nine", "colourBar", "filterBar", "kernelCells", "rowCells", "curve"]) {
    const canvas = refs[name];
    if (canvas.clientWidth) fitCanvas(canvas, canvas.clientWidth, canvas.clientHeight, ratio);
  }
  frame.photo = frame.otherPhoto = null;
}

// Fits the curve's canvas to its element. Returns whether that changed the canvas.
export const fitCurve = ({ ratio }, { curve }) =>
  curve.clientWidth > 0 && fitCanvas(curve, curve.clientWidth, curve.clientHeight, ratio);

// The size of the second picture in its frame, with its own aspect.
export function otherSize(page, entry) {
  const aspect = aspectOf(entry);
  const { width, height } = page.refs.twin;
  const w = Math.min(width, Math.round(height * aspect));
  return { width: w, height: Math.min(height, Math.round(w / aspect)) };
}

// An entry's photograph at the present size. A new size or a new image makes a new photograph and a new print (see
// drawing/light.js).
export function photoOf(data, frame, page, entry) {
  const image = entry.picture.bitmap;
  const isOther = entry !== data.main && entry === data.other;
  const { width, height } = isOther ? otherSize(page, entry) : page.refs.picture;
  const formerPhoto = isOther ? frame.otherPhoto : frame.photo;
  if (formerPhoto && formerPhoto.image === image && formerPhoto.width === width && formerPhoto.height === height)
    return formerPhoto;
  const photo = makePhoto(image, width, height);
  const print = makePrint(photo);
  if (isOther) Object.assign(frame, { otherPhoto: photo, otherPrint: print });
  else Object.assign(frame, { photo, print, thumbPhoto: null, patchPhoto: null });
  return photo;
}

const isLit = (view) => view.draw === "light" && canBeLit(view);

// The 256 colours of the large picture, for bars and charts beside it.
export const rampOf = ({ view }, { ramps }) => ramps[isLit(view) ? "light" : "heat"];

export function printPatches({ view }, frame, print, values, from, { rows, columns }, domain) {
  if (isLit(view)) printLight(print, values, from, rows, columns, domain, frame.unit);
  else printHeat(print, values, from, rows, columns, domain, view.smooth);
}

// All thumbnails have one size, and share one small photograph.
export function prepareThumb(frame, thumb) {
  if (!frame.thumbPhoto) {
    const { image } = frame.photo;
    const { clientWidth, clientHeight } = thumb.canvas; // read once, because a read after a write forces a layout
    frame.thumbPhoto = makePhoto(image, (clientWidth || 1) * frame.ratio, (clientHeight || 1) * frame.ratio);
  }
  if (thumb.print?.photo !== frame.thumbPhoto) thumb.print = makePrint(frame.thumbPhoto, thumb.canvas);
}

// While a trace is computed, its photograph is already shown at its final place and size, and words about the former
// picture are removed.

// Shows `bitmap` until its trace has arrived; null: back to the former picture.
export function expectPicture(lens, bitmap) {
  const { frame, page } = lens;
  if (!bitmap && !page.expected) return;
  page.expected?.close?.();
  page.expected = bitmap;
  page.root.classList.toggle("expects", Boolean(bitmap));
  refresh(lens);
  if (!bitmap) return;
  const canvas = expectedCanvas(page);
  fitCanvas(canvas, frame.pictureWidth, frame.pictureHeight, frame.ratio);
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  page.see?.showReading();
}

// Called when the trace of the expected picture is shown: removes its bitmap.
export function endExpecting(page) {
  page.expected?.close?.();
  page.expected = null;
  page.root.classList.remove("expects", "waits");
}

function expectedCanvas({ refs }) {
  const formerCanvas = refs.pictureBox.querySelector(".expected");
  if (formerCanvas) return formerCanvas;
  const canvas = document.createElement("canvas");
  canvas.className = "expected";
  refs.pictureBox.append(canvas);
  return canvas;
}
