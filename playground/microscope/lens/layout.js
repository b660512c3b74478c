// Sizes and colours of the lens, taken from the page around it.

import { ROLES } from "../core/colours.js";
import { fitCanvas, make } from "../drawing/dom.js";
import { makePhoto, makePrint } from "../drawing/light.js";

// Computes sizes again and reads colours again. Called after every change of either.
export function refresh(lens) {
  const { frame, page } = lens;
  if (!lens.data.main || !page.alive || !page.root.clientWidth) return;
  layOut(lens);
  page.root.style.visibility = "";
  readTheme(lens);
  frame.barKey = "";
  page.schedule();
}

// Reads the theme's colours, because a canvas has no stylesheet.
function readTheme({ frame, refs, root }) {
  const style = getComputedStyle(root);
  frame.colours = {
    ink: style.color,
    soft: getComputedStyle(refs.note).color,
    line: getComputedStyle(root.querySelector(".opens")).borderBottomColor,
    accent: style.caretColor,
    font: style.fontFamily,
    convolution: ROLES.convolution,
  };
}

const COLUMN = 334; // px: the least width of the column beside the picture
const STORY_COLUMN = 470; // px: the column of the story, whose scenes fit into 720 px of height
const PROJECTED_SHARE = 0.41; // of the width: the story's column before a class, whose numbers are read from the back
const PROJECTED_TIMES = 2; // as large as else: the label on the picture before a class
const LOW_COLUMN = 262; // px: the column's width in a low window: a phone on its side, or a desktop at 200 %
const PRESENTED_COLUMN = 300; // px: in full screen
const PAIR_WORDS_HEIGHT = 230; // px: height of the words below two pictures in full screen
const MOMENTS_HEIGHT = 56; // px: height of the row of moments
const LEAST_BESIDE_WIDTH = 640; // px: in a narrower window all parts are below the picture
const LEAST_OVER_WIDTH = 900; // px: in a narrower window no three columns stand below a panorama
const LEAST_STORY_WIDTH = 1100; // px: in a narrower window the story's column is as narrow as any
const LOW_HEIGHT = 520; // px: in a lower room the moments are in the column
const SHORT_HEIGHT = 645; // px: in a lower room the column is denser, and the moments leave it all the height
const LEAST_HEIGHT = 260; // px: least height of a picture above its column
const PARTS_BELOW_HEIGHT = 470; // px: height of the parts below a picture above its column
const ROW_BELOW_HEIGHT = 246; // px: height of the parts in a row below a panorama
const MOST_PORTRAIT_HEIGHT = 440; // px: greatest height of a portrait above its column
const WIDER_FACTOR = 1.06; // a panorama is above its column if it is more than this many times as wide there
const PRESENTED_HEIGHT = 480; // px: on a higher picture in full screen, lines, numbers and labels grow with it
const ROOMY_HEIGHT = 102; // px free below the picture, from which the moments are drawn larger
const PHONE_BAR = 48; // px: the height of the page's bar on a phone
const LARGEST_EMPTY_GAP = 16; // px: a higher gap above the lens contains a line of advice

// Sets the position and the height of the lens, even before there is a picture. The picture is at the left of its
// column, or above it. See and Lab have the same places; a file for a slide has the picture alone.
export function placeLens(lens) {
  const { choice, root, see } = lens;
  const { ui } = lens.page;
  const isPair = choice.view.beside === "filter"; // only Lab can show the filter
  root.dataset.face = see?.on || (choice.presenting && !isPair) ? "see" : "lab";
  root.dataset.way = ui.bare ? "bare" : "whole";
  root.classList.toggle("sees", Boolean(see));
  const width = root.clientWidth;
  const height = heightOf(lens, width);
  const isBeside = width >= LEAST_BESIDE_WIDTH && width > (see && !ui.guest ? window.innerHeight : height);
  root.style.setProperty("--room", `${Math.max(0, height)}px`);
  root.dataset.size = isBeside ? "wide" : "narrow";
  return { width, height, isBeside };
}

function layOut(lens) {
  const { choice, data, frame, page, root, see } = lens;
  const { width, height, isBeside } = placeLens(lens);
  const aspect = page.expected ? page.expected.width / page.expected.height : aspectOf(data.main);
  root.style.setProperty("--aspect", String(aspect));
  frame.ratio = Math.min(3, window.devicePixelRatio || 1);
  frame.unit = frame.ratio;
  if (page.ui.bare) {
    setPictures(lens, Math.min(width, height * aspect), aspect);
    return sizeCanvases(lens);
  }
  const isLow = isBeside && height < LOW_HEIGHT;
  root.classList.toggle("sideways", isLow);
  root.classList.toggle("tabbed", isLow || !isBeside);
  const tells = see?.story?.tells() && width > LEAST_STORY_WIDTH;
  const isProjected = root.classList.contains("projected");
  const isPair = choice.presenting && choice.view.beside === "filter";
  const column = isPair
    ? width / 2
    : choice.presenting
      ? PRESENTED_COLUMN
      : isLow
        ? LOW_COLUMN
        : tells
          ? Math.max(STORY_COLUMN, isProjected ? PROJECTED_SHARE * width : 0)
          : COLUMN;
  const momentsHeight = isLow || choice.presenting || !see ? 0 : MOMENTS_HEIGHT; // a presenter's keys step through them
  const besideWidth = Math.min(width - column, (height - (isPair ? PAIR_WORDS_HEIGHT : momentsHeight)) * aspect);
  const overWidth = Math.min(width, (height - momentsHeight - ROW_BELOW_HEIGHT) * aspect);
  const isPanorama = width >= LEAST_OVER_WIDTH && overWidth > WIDER_FACTOR * besideWidth;
  const isOver = isBeside && !isLow && !isPair && isPanorama;
  const maxHeight = aspect < 1 ? MOST_PORTRAIT_HEIGHT : Math.max(LEAST_HEIGHT, height - PARTS_BELOW_HEIGHT);
  const pictureHeight = isBeside ? (isOver ? overWidth : besideWidth) / aspect : Math.min(width / aspect, maxHeight);
  const spareHeight = height - pictureHeight - (isOver ? ROW_BELOW_HEIGHT : 0);
  root.classList.toggle("over", isOver);
  root.classList.toggle("short", Boolean(see) && isBeside && !isLow && !isOver && !tells && height < SHORT_HEIGHT);
  root.classList.toggle("roomy", isBeside && !isLow && !choice.presenting && spareHeight >= ROOMY_HEIGHT);
  root.style.setProperty("--twin", String(twinAspect(lens, aspect)));
  setPictures(lens, pictureHeight * aspect, aspect);
  if (isProjected) frame.unit *= PROJECTED_TIMES;
  if (choice.presenting) frame.unit *= Math.max(1, frame.pictureHeight / PRESENTED_HEIGHT);
  sizeCanvases(lens);
  root.style.setProperty("--doors", `${page.refs.end.offsetHeight}px`);
  see?.fit();
}

// The aspect of the compared picture.
const twinAspect = ({ view, other }, aspect) => (view.beside === "compare" && other ? aspectOf(other) : aspect);

const aspectOf = ({ pack }) =>
  pack.header.size ? pack.header.size[1] / pack.header.size[0] : pack.columns / pack.rows;

// The height that the lens may fill. The page above may be taller than the host said, if its toolbar has two lines.
function heightOf({ choice, page }, width) {
  const { see, ui } = page;
  if (choice.presenting || ui.bare) return window.innerHeight;
  if (ui.guest || !see) return ui.height;
  const bar = see.bar && (width < LEAST_BESIDE_WIDTH || width <= window.innerHeight) ? PHONE_BAR : see.bar;
  return window.innerHeight - pullUp(page, bar) - ui.below;
}

const topOf = ({ root }) => root.getBoundingClientRect().top + window.scrollY;

// Pulls the lens up over free space below the page's bar. Returns the top of the lens.
function pullUp(page, bar) {
  const { root } = page;
  root.style.marginTop = "";
  const top = topOf(page);
  page.spaceAbove = Math.max(bar, top); // at least `bar`: the bar may not be on the page yet
  if (top <= bar || top > bar + LARGEST_EMPTY_GAP) return page.spaceAbove;
  root.style.marginTop = `${bar - top}px`;
  page.spaceAbove = bar;
  return bar;
}

// The number of pixels by which the page above has moved the lens since the last layout, or by which the lens exceeds
// its room.
export function overflowOf(lens) {
  const { choice, page, root, see } = lens;
  const { ui } = page;
  if (ui.guest) return 0;
  if (see) return choice.presenting ? 0 : Math.ceil(Math.abs(topOf(page) - page.spaceAbove));
  if (root.dataset.size !== "wide") return 0;
  return Math.round(root.getBoundingClientRect().height - heightOf(lens));
}

function setPictures({ frame, page }, width, aspect) {
  frame.pictureWidth = Math.floor(width);
  frame.pictureHeight = Math.round(frame.pictureWidth / aspect);
  page.root.style.setProperty("--pw", `${frame.pictureWidth}px`);
  page.root.style.setProperty("--ph", `${frame.pictureHeight}px`);
}

// Fits the canvases to their elements: the stylesheet sizes the small ones, layOut sizes the picture.
/** @param {Lens} lens */
export function sizeCanvases({ frame, frame: { ratio }, refs }) {
  fitCanvas(refs.picture, frame.pictureWidth, frame.pictureHeight, ratio);
  for (const name of ["twin", "wall", "nine", "colourBar", "filterBar", "curve"]) {
    const canvas = refs[name];
    if (canvas.clientWidth) fitCanvas(canvas, canvas.clientWidth, canvas.clientHeight, ratio);
  }
  frame.thumbPhoto = null; // the photographs of the two pictures are made anew where their size has changed
}

// Fits the curve's canvas to its element. Returns whether that changed the canvas.
export const fitCurve = ({ ratio }, { curve }) =>
  curve.clientWidth > 0 && fitCanvas(curve, curve.clientWidth, curve.clientHeight, ratio);

// An entry's photograph at the present size. A new size or a new image makes a new photograph and a new print (see
// drawing/light.js).
export function photoOf({ data, frame, page }, entry) {
  const image = entry.picture.bitmap;
  const isOther = entry !== data.main && entry === data.other;
  const { width, height } = isOther ? page.refs.twin : page.refs.picture;
  const formerPhoto = isOther ? frame.otherPhoto : frame.photo;
  if (formerPhoto && formerPhoto.image === image && formerPhoto.width === width && formerPhoto.height === height)
    return formerPhoto;
  const photo = makePhoto(image, width, height);
  const print = makePrint(photo);
  if (isOther) Object.assign(frame, { otherPhoto: photo, otherPrint: print });
  else Object.assign(frame, { photo, print, thumbPhoto: null });
  return photo;
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
  const canvas = make("canvas", "expected");
  refs.pictureBox.append(canvas);
  return canvas;
}
