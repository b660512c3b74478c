// How large things are and which colours they have: both depend on the page around the lens.

import { ROLES } from "../core/colours.js";
import { fitCanvas } from "../drawing/canvas.js";

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

// Where controls and numbers stand, as lens.css has it: how wide a column they take beside the pictures, in em, and
// which part is the lowest of those below the pictures.
const WAYS = {
  side: { panel: 21, lowest: "row" }, //      numbers beside the pictures, layer and heads beneath
  beneath: { panel: 0, lowest: "below" }, //  all beneath: for wide pictures
  column: { panel: 22, lowest: "stage" }, //  all beside: for tall pictures
  bare: { panel: 0, lowest: "stage" }, //     in a file for a slide: the picture alone
  present: { panel: 0, lowest: "scale" }, //  for a projector: only the switch, beneath
};
const CLEARLY = 1.06; // times as wide: or the former way stays
const LEAST = 11; // em, of a picture's height
const LOW = 42; // em: in a lower window, such as a frame in a slide, the chart of the weights goes

// The pictures get as much of the window as texts and controls leave free. Beside wide pictures there is no room for
// these, below tall ones there is none. So each way is tried, and the one with the largest pictures taken.
function layOut(lens) {
  const { root, main } = lens;
  const style = getComputedStyle(root);
  const em = parseFloat(style.fontSize);
  const width = root.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const roomy = width >= 60 * em ? "wide" : width >= 40 * em ? "middle" : "narrow";
  const size = lens.presenting || lens.ui.bare ? "wide" : roomy;
  const slim = lens.presenting && roomy === "narrow"; // a phone presents one picture
  root.classList.toggle("slim", slim);
  root.classList.toggle("single", lens.single || slim);
  root.dataset.size = size;
  root.classList.toggle("compact", width < 76 * em);
  root.classList.toggle("low", size === "wide" && heightOf(lens) < LOW * em);
  const aspect = main.pack.header.size
    ? main.pack.header.size[1] / main.pack.header.size[0]
    : main.pack.columns / main.pack.rows;
  root.style.setProperty("--aspect", String(aspect));
  if (lens.presenting) tryWay(lens, "present", width, em, aspect);
  else if (lens.ui.bare) tryWay(lens, "bare", width, em, aspect);
  else if (size === "wide") {
    let best = tryWay(lens, "side", width, em, aspect);
    for (const way of ["beneath", "column"]) {
      const found = tryWay(lens, way, width, em, aspect);
      if (found.width > CLEARLY * best.width) best = found;
    }
    root.dataset.way = best.way;
    setPictures(lens, best.width, aspect);
  } else {
    root.dataset.way = size;
    const height = (size === "narrow" ? 0.5 : 0.72) * Math.max(480, window.innerHeight);
    setPictures(lens, Math.min(size === "middle" ? (width - 1.5 * em) / 2 : width, height * aspect), aspect);
  }
  lens.ratio = Math.min(3, window.devicePixelRatio || 1);
  // Lines and letters on canvas grow with the type around them.
  lens.unit = (lens.ratio * em) / 14;
  sizeCanvases(lens);
}

// Lays everything out this way, and sees how wide the pictures may become.
function tryWay(lens, way, width, em, aspect) {
  const { root, refs } = lens;
  const { panel, lowest } = WAYS[way];
  const pictures = lens.ui.bare || (lens.presenting && root.classList.contains("single")) ? 1 : 2;
  const room = (width - (panel && panel + 2) * em - (pictures - 1) * 1.5 * em) / pictures;
  root.dataset.way = way;
  setPictures(lens, room, aspect);
  const part = refs[lowest];
  const bottom = part.getBoundingClientRect().bottom - root.getBoundingClientRect().top;
  const rest = bottom + parseFloat(getComputedStyle(root).paddingBottom) - lens.pictureHeight;
  const found = { way, width: Math.min(room, Math.max(LEAST * em, heightOf(lens) - rest) * aspect) };
  setPictures(lens, found.width, aspect);
  return found;
}

// What the lens may fill. The page above it may be taller than it was said to be, where its toolbar has two lines.
function heightOf(lens) {
  const { height: wished } = lens.ui;
  if (lens.presenting || lens.ui.bare || wished === "window") return window.innerHeight;
  if (wished > 0) return wished;
  const above = lens.root.getBoundingClientRect().top + 10;
  const used = above > -wished && above < 0.3 * window.innerHeight ? above : -wished;
  return Math.max(480, window.innerHeight - used);
}

function setPictures(lens, width, aspect) {
  lens.pictureWidth = Math.floor(width);
  lens.pictureHeight = Math.round(lens.pictureWidth / aspect);
  lens.root.style.setProperty("--pw", `${lens.pictureWidth}px`);
  lens.root.style.setProperty("--ph", `${lens.pictureHeight}px`);
}

// The stylesheet decides how large the small canvases are, layOut how large the pictures.
function sizeCanvases(lens) {
  const { refs, ratio } = lens;
  for (const name of ["picture", "twin", "wall"]) fitCanvas(refs[name], lens.pictureWidth, lens.pictureHeight, ratio);
  for (const name of ["colourBar", "kernelCells", "rowCells", "curve"]) {
    const canvas = refs[name];
    if (canvas.clientWidth) fitCanvas(canvas, canvas.clientWidth, canvas.clientHeight, ratio);
  }
  lens.photo = lens.otherPhoto = null;
}

// A second picture keeps its own shape inside the frame of the first.
export function otherSize(lens, entry) {
  const { header } = entry.pack;
  const aspect = header.size ? header.size[1] / header.size[0] : entry.pack.columns / entry.pack.rows;
  const { width, height } = lens.refs.picture;
  const w = Math.min(width, Math.round(height * aspect));
  return { width: w, height: Math.min(height, Math.round(w / aspect)) };
}
