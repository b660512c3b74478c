// The curtain: dragged across the picture, it shows the same row at the other scale. To its right the scale on the
// screen, to its left the other one: no scale at all, or the trained one where the scale is off already. Where an edge
// is cut, the row before the cut is to its left.

import { answerCell, ownExposure } from "../core/answers.js";
import { holdsAll, largestIndex } from "../core/core.js";
import { similarityInto } from "../core/features.js";
import { FIRST_WAY, wayOf } from "../core/ways.js";
import { show } from "../drawing/dom.js";
import { makePrint } from "../drawing/light.js";
import { printPatches } from "./layout.js";
import { isMap } from "./shown.js";

const STEP = 0.05; // of a key
const COLLAPSED = 0.9; // a row without scale whose largest weight is above this

// Columns would need the sums of all rows at the other scale too; maps of features know no scale.
export const canDraw = (lens) =>
  wayOf(lens.view).resembles ? isCutNow(lens) : lens.view.direction === "row" && !isMap(lens.view.what);

// Where something is cut, the pass without the cut stands behind it, at the same scale.
const isCutNow = ({ shown, view }) => Boolean(view.cut) && shown.wholeArrived;
const otherScale = (lens) => (isCutNow(lens) ? lens.shown.scale : lens.shown.altered ? lens.main.pack.scale : 1);

// The print behind the curtain, or null where it is open.
export function printBehind(lens) {
  const { view, shown } = lens;
  placeCurtain(lens);
  if (!view.curtain || !canDraw(lens)) return null;
  const { pack, token, what } = shown;
  if (wayOf(view).resembles) return similarityBehind(lens);
  const { answers } = isCutNow(lens) ? lens.main : shown;
  if (lens.behind?.photo !== lens.photo) lens.behind = makePrint(lens.photo);
  const values = answerCell(answers, view.layer, view.head, token, otherScale(lens), what, "row");
  if (!values) return null; // this head is on its way
  const domain = ownExposure(values, 0, pack, what, view.ceiling, view.log);
  printPatches(lens, lens.behind, values, pack.prefixCount, pack, domain);
  return { canvas: lens.behind.canvas, to: view.curtain };
}

// What was alike before the cut, at the same exposure.
function similarityBehind(lens) {
  const { view, shown, main } = lens;
  const features = lens.features.get(`${main.id} ${view.layer}`);
  if (!features) return null; // they are on their way
  if (lens.behind?.photo !== lens.photo) lens.behind = makePrint(lens.photo);
  const values = similarityInto(new Float32Array(main.pack.tokens), features, shown.token, features);
  printPatches(lens, lens.behind, values, main.pack.prefixCount, main.pack, shown.mainDomain);
  return { canvas: lens.behind.canvas, to: view.curtain };
}

function placeCurtain(lens) {
  const { curtain } = lens.refs;
  const { view, shown } = lens;
  show(curtain, canDraw(lens));
  curtain.style.left = `${100 * view.curtain}%`;
  curtain.classList.toggle("drawn", view.curtain > 0);
  curtain.dataset.behind = isCutNow(lens) ? "nothing cut" : shown.altered ? "with 1/√d" : "no scale";
  curtain.setAttribute("aria-valuenow", String(Math.round(100 * view.curtain)));
  const behind = isCutNow(lens) ? "the pass without the cut" : "the other scale";
  curtain.setAttribute("aria-valuetext", `${Math.round(100 * view.curtain)} % of the picture shows ${behind}`);
}

export function bindCurtain(lens) {
  const { curtain, pictureBox } = lens.refs;
  const moveTo = (x) => {
    const box = pictureBox.getBoundingClientRect();
    const to = Math.min(1, Math.max(0, (x - box.left) / box.width));
    lens.choose({ curtain: to < 0.02 ? 0 : Math.round(1000 * to) / 1000 });
  };
  curtain.addEventListener("pointerdown", (event) => {
    curtain.setPointerCapture(event.pointerId);
    event.preventDefault();
    curtain.focus();
  });
  curtain.addEventListener("pointermove", (event) => {
    if (curtain.hasPointerCapture(event.pointerId)) moveTo(event.clientX);
  });
  curtain.addEventListener("dblclick", () => lens.choose({ curtain: lens.view.curtain ? 0 : 0.5 }));
  curtain.addEventListener("keydown", (event) => {
    const { curtain: now } = lens.view;
    const to = { ArrowLeft: now - STEP, ArrowRight: now + STEP, Home: 0, End: 1, Escape: 0 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    lens.choose({ curtain: Math.round(1000 * Math.min(1, Math.max(0, to))) / 1000 });
  });
}

// ------------------------------------------------------------------------------------- a head that does collapse

// Where the head on view stays spread without scale, the head that collapses for the same patch: of this layer, else of
// the nearest that is here. {layer, head, weight} or null; asked once for a patch, not with every frame.
export function collapsing(lens) {
  const { view, shown } = lens;
  const { pack, answers, token } = shown;
  const unscaled = Math.abs(shown.scale - 1) < 1e-9;
  if (!unscaled || !wayOf(view).rows || view.direction !== "row") return null;
  const here = largestOf(answers.weights, view.head * pack.tokens, pack.tokens);
  if (here > COLLAPSED) return null;
  const layers = [...pack.stored.keys()].filter((layer) => holdsAll(pack, layer)); // of the first, one head may be here
  const key = `${view.layer} ${token} ${layers.length}`;
  if (lens.collapse.pack !== pack || lens.collapse.key !== key) {
    lens.collapse = { pack, key, found: search(lens, layers) };
  }
  return lens.collapse.found && { ...lens.collapse.found, here };
}

function search({ view, shown }, layers) {
  const { pack, answers, token } = shown;
  for (const layer of layers.toSorted((a, b) => Math.abs(a - view.layer) - Math.abs(b - view.layer))) {
    let best = null;
    for (let head = 0; head < pack.heads; head++) {
      const row = answerCell(answers, layer, head, token, 1, FIRST_WAY, "row");
      const weight = largestOf(row, pack.prefixCount, pack.patches); // a special token has no place in the picture
      if (weight > COLLAPSED && weight > (best?.weight ?? 0)) best = { layer, head, weight };
    }
    if (best) return best;
  }
  return null;
}

const largestOf = (values, at, count) => values[largestIndex(values, at, at + count)];
