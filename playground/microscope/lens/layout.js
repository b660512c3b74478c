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
    line: getComputedStyle(refs.stage.querySelector(".row")).borderTopColor,
    accent: style.getPropertyValue("--accent").trim(),
    font: style.fontFamily,
    convolution: ROLES.convolution,
  };
}

// The pictures get the height that texts and controls leave free.
function layOut(lens) {
  const { root, refs, main } = lens;
  const em = parseFloat(getComputedStyle(root).fontSize);
  const style = getComputedStyle(root);
  const width = root.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const vertical = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
  const size = width >= 72.5 * em ? "wide" : width >= 40 * em ? "middle" : "narrow";
  root.dataset.size = size;
  const aspect = main.pack.header.size
    ? main.pack.header.size[1] / main.pack.header.size[0]
    : main.pack.columns / main.pack.rows;
  const gap = 1.5 * em;
  let pw;
  if (size === "wide") {
    const { height: wished } = lens.ui;
    const height =
      lens.presenting || wished === "window"
        ? window.innerHeight
        : wished > 0
          ? wished
          : Math.max(480, window.innerHeight + wished);
    const row = refs.stage.querySelector(".row");
    // Not the stage's own height, which the panel beside it may stretch.
    const stage = row.offsetTop + row.offsetHeight - refs.stage.offsetTop;
    const chrome = root.querySelector(".bar").offsetHeight + stage - refs.pictureBox.offsetHeight + vertical + 0.6 * em;
    const room = (width - 23.5 * em - gap) / 2;
    pw = Math.min(room, Math.max(11 * em, height - chrome) * aspect);
  } else {
    pw = Math.min(size === "middle" ? (width - gap) / 2 : width, 0.72 * Math.max(480, window.innerHeight) * aspect);
  }
  lens.pictureWidth = Math.floor(pw);
  lens.pictureHeight = Math.round(lens.pictureWidth / aspect);
  root.style.setProperty("--pw", `${lens.pictureWidth}px`);
  root.style.setProperty("--ph", `${lens.pictureHeight}px`);
  root.style.setProperty("--aspect", String(aspect));
  lens.ratio = Math.min(3, window.devicePixelRatio || 1);
  // Lines and letters on canvas grow with the type around them.
  lens.unit = (lens.ratio * em) / 14;
  sizeCanvases(lens);
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
