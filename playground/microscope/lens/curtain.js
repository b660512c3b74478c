// The curtain: dragged across the picture, it shows the same row at the other scale. To its right the scale on the
// screen, to its left the other one: no scale at all, or the trained one where the scale is off already. Where an edge
// is cut, the row before the cut is to its left.

import { answerCell, ownExposure } from "../core/answers.js";
import { holdsAll, largestIndex, wholeLayers } from "../core/core.js";
import { similarityInto } from "../core/features.js";
import { FIRST_WAY, wayOf } from "../core/ways.js";
import { show } from "../drawing/dom.js";
import { makePrint } from "../drawing/light.js";
import { printPatches } from "./layout.js";
import { isMap } from "./shown.js";

const STEP = 0.05; // of a key
const COLLAPSED = 0.9; // a row without scale whose largest weight is above this

// Columns would need the sums of all rows at the other scale too; maps of features know no scale.
export const canDraw = (choice, frame) =>
  wayOf(choice.view).resembles ? isCutNow(choice, frame) : choice.view.direction === "row" && !isMap(choice.view.what);

// Where something is cut, the pass without the cut stands behind it, at the same scale.
const isCutNow = ({ view }, { shown }) => Boolean(view.cut) && shown.wholeArrived;
const otherScale = (choice, data, frame) =>
  isCutNow(choice, frame) ? frame.shown.scale : frame.shown.altered ? data.main.pack.scale : 1;

// The print behind the curtain, or null where it is open.
export function printBehind({ choice, data, frame, page }) {
  const { view } = choice,
    { shown } = frame;
  placeCurtain(choice, frame, page);
  if (!view.curtain || !canDraw(choice, frame)) return null;
  const { pack, token, what } = shown;
  if (wayOf(view).resembles) return similarityBehind(choice, data, frame);
  const { answers } = isCutNow(choice, frame) ? data.main : shown;
  if (frame.behind?.photo !== frame.photo) frame.behind = makePrint(frame.photo);
  const values = answerCell(answers, view.layer, view.head, token, otherScale(choice, data, frame), what, "row");
  if (!values) return null; // this head is on its way
  const domain = ownExposure(values, 0, pack, what, view.ceiling, view.log);
  printPatches(choice, frame, frame.behind, values, pack.prefixCount, pack, domain);
  return { canvas: frame.behind.canvas, to: view.curtain };
}

// What was alike before the cut, at the same exposure.
function similarityBehind(choice, data, frame) {
  const { view } = choice,
    { main } = data,
    { shown } = frame;
  const features = data.features.get(`${main.id} ${view.layer}`);
  if (!features) return null; // they are on their way
  if (frame.behind?.photo !== frame.photo) frame.behind = makePrint(frame.photo);
  const values = similarityInto(new Float32Array(main.pack.tokens), features, shown.token, features);
  printPatches(choice, frame, frame.behind, values, main.pack.prefixCount, main.pack, shown.mainDomain);
  return { canvas: frame.behind.canvas, to: view.curtain };
}

function placeCurtain(choice, frame, page) {
  const { curtain } = page.refs;
  const { view } = choice,
    { shown } = frame;
  show(curtain, canDraw(choice, frame));
  curtain.style.left = `${100 * view.curtain}%`;
  curtain.classList.toggle("drawn", view.curtain > 0);
  curtain.dataset.behind = isCutNow(choice, frame) ? "nothing cut" : shown.altered ? "with 1/√d" : "no scale";
  curtain.setAttribute("aria-valuenow", String(Math.round(100 * view.curtain)));
  const behind = isCutNow(choice, frame) ? "the pass without the cut" : "the other scale";
  curtain.setAttribute("aria-valuetext", `${Math.round(100 * view.curtain)} % of the picture shows ${behind}`);
}

export function bindCurtain(choice, page) {
  const { curtain, pictureBox } = page.refs;
  const moveTo = (x) => {
    const box = pictureBox.getBoundingClientRect();
    const to = Math.min(1, Math.max(0, (x - box.left) / box.width));
    page.choose({ curtain: to < 0.02 ? 0 : Math.round(1000 * to) / 1000 });
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
    const { curtain: now } = choice.view;
    const to = { ArrowLeft: now - STEP, ArrowRight: now + STEP, Home: 0, End: 1, Escape: 0 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    page.choose({ curtain: Math.round(1000 * Math.min(1, Math.max(0, to))) / 1000 });
  });
}

// ------------------------------------------------------------------------------------- a head that does collapse

// Where the head on view stays spread without scale, the head that collapses for the same patch: of this layer, else of
// the nearest that is here. {layer, head, weight} or null; asked once for a patch, not with every frame.
export function collapsing(choice, frame) {
  const { view } = choice,
    { shown } = frame;
  const { pack, drawn, answers, token } = shown;
  const unscaled = Math.abs(shown.scale - 1) < 1e-9;
  if (!unscaled || !wayOf(view).rows || view.direction !== "row") return null;
  const here = largestOf(answers.weights, view.head * pack.tokens, pack.tokens);
  if (here > COLLAPSED) return null;
  const layers = wholeLayers(drawn.pack); // of the first, one head may be here
  const key = `${view.layer} ${token} ${layers.length} ${wholeLayers(pack).length}`;
  if (frame.collapse.pack !== drawn.pack || frame.collapse.key !== key) {
    frame.collapse = { pack: drawn.pack, key, found: search(choice, frame, layers) };
  }
  const { found } = frame.collapse;
  const isTold = found && !shown.rough && holdsAll(pack, found.layer); // rounded weights are not
  return isTold ? { ...found, here } : null;
}

function search({ view }, { shown }, layers) {
  const { pack, token } = shown;
  for (const layer of layers.toSorted((a, b) => Math.abs(a - view.layer) - Math.abs(b - view.layer))) {
    let best = null;
    const { answers } = holdsAll(pack, layer) ? shown : shown.drawn;
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
