// The curtain is a border that is dragged across the picture. The part right of the curtain shows the row at the
// present scale. The part left of the curtain shows the same row without a scale, or, if the scale is off, at the
// trained scale; if edges are cut, it shows the row of the pass without the cut.

import { answerCell, pictureDomain } from "../core/answers.js";
import { holdsAll } from "../core/core.js";
import { setVisible } from "../drawing/dom.js";
import { makePrint, printHeat } from "../drawing/light.js";
import { isMap, isRowOpen, layersAtHand } from "./state.js";

const CURTAIN_STEP = 0.05; // step of the curtain per key press

// Whether the curtain can be drawn. Columns would need all rows' sums at the other scale; maps of features have none.
const canDrawCurtain = ({ view }) => view.direction === "row" && !isMap(view.what);

// Whether the part left of the curtain shows the pass without the cut, which has the same scale.
const isCutNow = ({ view, shown }) => Boolean(view.cut) && shown.wholeArrived;
const otherScale = (lens) =>
  isCutNow(lens) ? lens.frame.shown.scale : lens.frame.shown.altered ? lens.data.main.pack.scale : 1;

// {canvas: the picture left of the curtain, to: the curtain's position}; null if no curtain is drawn.
export function printBehind(lens) {
  const { choice, data, frame, view, shown } = lens;
  placeCurtain(lens);
  if (!view.curtain || !canDrawCurtain(choice)) return null;
  const { pack, token, what } = shown;
  const { answers } = isCutNow(lens) ? data.main : shown;
  if (frame.behind?.photo !== frame.photo) frame.behind = makePrint(frame.photo);
  const values = answerCell(answers, view.layer, view.head, token, otherScale(lens), what, "row");
  if (!values) return null; // this head has not arrived
  const domain = pictureDomain(values, 0, pack, what, view.ceiling);
  printHeat(frame.behind, values, pack.prefixCount, pack.rows, pack.columns, domain);
  return { canvas: frame.behind.canvas, to: view.curtain };
}

function placeCurtain(lens) {
  const { choice, page, view, shown } = lens;
  const { curtain } = page.refs;
  setVisible(curtain, canDrawCurtain(choice) && (view.curtain > 0 || isRowOpen(page, "scale")));
  curtain.style.left = `${100 * view.curtain}%`;
  curtain.classList.toggle("drawn", view.curtain > 0);
  curtain.dataset.behind = isCutNow(lens) ? "nothing cut" : shown.altered ? "with 1/√d" : "no scale";
  curtain.setAttribute("aria-valuenow", String(Math.round(100 * view.curtain)));
  const behindWords = isCutNow(lens) ? "the pass without the cut" : "the other scale";
  curtain.setAttribute("aria-valuetext", `${Math.round(100 * view.curtain)} % of the picture shows ${behindWords}`);
}

export function bindCurtain({ choice, page }) {
  const { curtain, pictureBox } = page.refs;
  const moveTo = (x) => {
    const box = pictureBox.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (x - box.left) / box.width));
    page.choose({ curtain: share < 0.02 ? 0 : Math.round(1000 * share) / 1000 });
  };
  curtain.addEventListener("pointerdown", (event) => {
    curtain.setPointerCapture(event.pointerId);
    event.preventDefault();
    curtain.focus();
  });
  curtain.addEventListener("pointermove", (event) => {
    if (curtain.hasPointerCapture(event.pointerId)) moveTo(event.clientX);
  });
  curtain.addEventListener("dblclick", () => page.choose({ curtain: choice.view.curtain ? 0 : 0.5 }));
  curtain.addEventListener("keydown", (event) => {
    const { curtain: position } = choice.view;
    const nextPosition = {
      ArrowLeft: position - CURTAIN_STEP,
      ArrowRight: position + CURTAIN_STEP,
      Home: 0,
      End: 1,
      Escape: 0,
    }[event.key];
    if (nextPosition === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    page.choose({ curtain: Math.round(1000 * Math.min(1, Math.max(0, nextPosition))) / 1000 });
  });
}

// Below: the layers that Play and the wall show.

// The missing layers, the nearest to the layer on view first. Empty if nobody looks at other layers, unless `allLayers`
// is true.
export function missingLayers({ choice, data, view, main, shown }, allLayers = false) {
  const isLookedAt = choice.layersLooked || (choice.layersWanted && !main.trace?.sparing);
  if (view.beside !== "wall" && !isLookedAt && !allLayers) return [];
  return layersAtHand(data)
    .filter((layer) => !holdsAll(shown.pack, layer))
    .sort((a, b) => Math.abs(a - view.layer) - Math.abs(b - view.layer));
}

// The words for the missing layers, "loading 3 layers"; "" if none is missing.
export function loadingWords(lens) {
  const missingCount = missingLayers(lens).length;
  return missingCount ? `loading ${missingCount} ${missingCount === 1 ? "layer" : "layers"}` : "";
}

// The head's row in this layer, one weight for each token; null until the layer has arrived.
export const rowInLayer = ({ view, shown }, layer) =>
  answerCell(shown.answers, layer, view.head, shown.token, shown.scale, shown.what, view.direction);
