// Pointer, keys and buttons. They change the view only by page.choose({…}).

import { patchAfterKey, patchAt, patchText } from "../core/grid.js";
import { prefixName } from "../core/sentence.js";
import { dialToScale, queryOf, sameToken, scaleOf, scaleToDial, tokenOf } from "../core/view.js";
import { cutTo, make, makeCanvas, setText, setVisible } from "../drawing/dom.js";
import { closeSums, holdsLine, openSums } from "./arithmetic.js";
import { toggleNearness } from "./beside.js";
import { surprise } from "./moment.js";
import { layerRange } from "./readouts.js";
import { beginShare, togglePresenting } from "./saving.js";
import { stepScene } from "./scenes.js";
import { cutAimed } from "./scissors.js";
import { canAsk, layersAtHand } from "./state.js";

// Names of the second picture's content, for screen readers.
const SECOND_PICTURE_NAMES = {
  convolution: "What a convolution reads at the same patch",
  compare: "The compared picture, asked at the same place",
  filter: "What colour and nearness alone light from the same patch",
};

// Sets all controls to the view's values, except the control `source`, which the person is using.
export function showChoices({ data, page, view, main, root, refs }, source = "") {
  for (const group of root.querySelectorAll("[data-choice]")) {
    for (const button of group.querySelectorAll("[data-value]")) {
      button.setAttribute("aria-pressed", String(button.dataset.value === view[group.dataset.choice]));
    }
  }
  for (const element of root.querySelectorAll("[data-ask]")) setVisible(element, canAsk(data, element.dataset.ask));
  for (const element of root.querySelectorAll("[data-section]"))
    setVisible(element, Boolean(main.pack.header.sections[element.dataset.section]));
  // a pack with a single layer needs no wall, because the thumbnails show its heads
  setVisible(refs.wallTab, main.pack.stored.size > 1 || canAsk(data, "layers"));
  setVisible(refs.compareTab, Boolean(data.other) || canAsk(data, "compare"));
  root.classList.toggle("undivided", main.pack.scale === 1); // such scores know no √d_k
  setText(refs.layerRange, layerRange(data));
  const layers = layersAtHand(data);
  refs.layer.min = String(layers[0]);
  refs.layer.max = String(layers.at(-1));
  refs.layer.value = String(view.layer);
  refs.layer.setAttribute("aria-valuetext", `layer ${view.layer}, ${layerRange(data)}`);
  refs.layer.disabled = main.pack.stored.size < 2 && !canAsk(data, "layers");
  if (source !== "dial")
    refs.dial.value = String(Math.round(1000 * scaleToDial(scaleOf(view, main.pack), main.pack.scale)));
  for (const button of refs.tokens.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.token === view.query && view.locked));
  }
  page.thumbs.forEach(({ button }, head) => button.setAttribute("aria-pressed", String(head === view.head)));
  refs.hold.setAttribute("aria-pressed", String(view.ceiling !== "auto"));
  setText(refs.hold, view.ceiling === "auto" ? "hold exposure" : "exposure held");
  const isConvolution = view.beside === "convolution";
  setVisible(refs.twinFoot, isConvolution);
  setVisible(refs.otherFoot, !isConvolution && view.beside !== "filter");
  setVisible(refs.filterFoot, view.beside === "filter");
  setVisible(refs.nine, isConvolution);
  setVisible(refs.twin, view.beside !== "wall");
  refs.twin.setAttribute("aria-label", SECOND_PICTURE_NAMES[view.beside] ?? "");
  setVisible(refs.wall, view.beside === "wall");
  if (view.beside === "wall") setVisible(refs.twinBadge, false);
  else if (view.beside === "compare" && !data.other)
    setText(refs.otherFoot, "Choose a second image or model to compare with.");
  root.dataset.beside = view.beside;
}

// Builds the buttons of the heads and of the special tokens.
export function buildHeads({ page, main, refs }) {
  const { pack } = main;
  page.thumbs = Array.from({ length: pack.heads }, (_, head) => {
    const number = pack.headNumbers[head];
    const canvas = makeCanvas(pack.columns, pack.rows);
    const numberMark = make("i");
    const label = make("span", "", make("b", "", number), " ", numberMark);
    const button = make("button", { "data-head": head, title: `head ${number}` }, canvas, label);
    return { button, canvas, number: numberMark, saidNumber: "", print: null };
  });
  refs.heads.replaceChildren(...page.thumbs.map(({ button }) => button));
  const tokenButtons = pack.prefix.map((token) => {
    const name = prefixName(token);
    return make("button", { "data-token": token, title: `Take ${name} as the query` }, name);
  });
  refs.tokens.replaceChildren(make("span", "", pack.prefixCount && "query:"), ...tokenButtons);
  refs.shares.replaceChildren(
    ...pack.prefix.map((name) => make("div", "", make("dt", "", prefixName(name)), make("dd"))),
  );
  page.shares = [...refs.shares.querySelectorAll("dd")];
}

// ---------------------------------------------------------------------------------------------------------- pointing

// The token under the last pointer event, computed once for each frame, because a mouse may move ten times between two
// frames.
/** @param {Lens} lens */
export function tokenUnder({ choice, view, choice: { pointer }, main, other, refs }) {
  const box = pointer.target.getBoundingClientRect();
  const [x, y] = [(pointer.x - box.left) / box.width, (pointer.y - box.top) / box.height];
  const { pack } = pointer.target === refs.twin && view.beside === "compare" && other ? other : main;
  const token = pack.prefixCount + patchAt(x, y, pack.rows, pack.columns);
  choice.hoverOther = pack === main.pack ? -1 : token;
  return pack === main.pack ? token : sameToken(token, pack, main.pack);
}

function pointerLeft(lens, event) {
  const { choice, data, page } = lens;
  if (holdsLine(lens, event)) return;
  choice.aim = choice.hoverOther = -1;
  choice.pointer.fresh = false;
  if (choice.hover >= 0 && !choice.view.locked) choice.view.query = queryOf(choice.hover, data.main.pack);
  choice.hover = -1;
  page.schedule();
}

const ABOVE_FINGER = 40; // pixels: a finger that is dragged points above itself, for it hides what lies under it

export function bindPointer(lens) {
  const { choice, data, page } = lens;
  for (const canvas of [page.refs.picture, page.refs.twin]) {
    const followPointer = (event) => {
      const above = event.type === "pointermove" && event.pointerType === "touch" ? ABOVE_FINGER : 0;
      Object.assign(choice.pointer, { target: canvas, x: event.clientX, y: event.clientY - above, fresh: true });
      choice.everHovered = true;
      page.schedule(true);
    };
    canvas.addEventListener("pointermove", followPointer);
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse") canvas.setPointerCapture?.(event.pointerId);
      followPointer(event);
    });
    canvas.addEventListener("pointerleave", (event) => pointerLeft(lens, event));
    canvas.addEventListener("pointercancel", (event) => pointerLeft(lens, event));
    canvas.addEventListener("click", (event) => {
      if (!data.main) return;
      Object.assign(choice.pointer, { target: canvas, x: event.clientX, y: event.clientY, fresh: false });
      const token = tokenUnder(lens),
        query = queryOf(token, data.main.pack);
      // The pointer may have moved in this frame, before the click
      if (choice.hover >= 0) choice.hover = token;
      choice.aim = token;
      page.choose({ query, locked: !(choice.view.locked && choice.view.query === query) });
    });
  }
}

// -------------------------------------------------------------------------------------------------------------- keys

const CLICKER_STEPS = { PageDown: 1, PageUp: -1 }; // keys of a presentation remote, and the step that each makes
const PRESENT_STEPS = { ...CLICKER_STEPS, ArrowRight: 1, ArrowLeft: -1 };

// The lens takes keys while the focus is inside the lens, or, on a page of its own, while no element has the focus.
export function bindKeys(lens, signal) {
  const { root } = lens;
  root.tabIndex = -1; // a click inside focuses the lens, so that it gets keys
  root.addEventListener("keydown", (event) => actByKey(lens, event), { signal });
  if (lens.page.ui.guest) return;
  document.addEventListener("keydown", (event) => event.target === document.body && actByKey(lens, event), { signal });
}

function actByKey(lens, event) {
  const { choice, page, view, main, refs } = lens;
  if (!main || event.ctrlKey || event.metaKey || event.altKey || event.target.type === "text") return;
  const { pack } = main;
  const inSlider = event.target.tagName === "INPUT";
  const stepKeys = choice.presenting && !inSlider ? PRESENT_STEPS : CLICKER_STEPS;
  const step = stepKeys[event.key];
  if (step && (stepScene(lens, step) || (choice.presenting && page.see?.stepMoment(step)))) {
    // nothing else to do for this key
  } else if (event.key.startsWith("Arrow")) {
    const isPresented = choice.presenting && event.target === page.root;
    if (inSlider || (event.target !== refs.picture && !isPresented)) return;
    const token = choice.hover >= 0 ? choice.hover : tokenOf(view.query, pack);
    const patch = patchAfterKey(event.key, Math.max(0, token - pack.prefixCount), pack.rows, pack.columns);
    choice.hover = -1;
    page.choose({ query: patchText(patch, pack.columns), locked: true });
  } else if (event.key === "Escape") closeTopmost(lens);
  else if (event.key === "[" || event.key === "]") page.choose({ layer: view.layer + (event.key === "]" ? 1 : -1) });
  else if (event.key === "," || event.key === ".") page.choose({ head: view.head + (event.key === "." ? 1 : -1) });
  else if (event.key === "s") flipScale(lens);
  else if (event.key === "h") holdExposure(lens);
  else if (event.key === "w") page.choose({ beside: view.beside === "wall" ? "convolution" : "wall" });
  else if (event.key === "a") openSums(lens);
  else if (event.key === "b") surprise(lens);
  else if (event.key === "n") toggleNearness(lens);
  else if (event.key === "x") cutAimed(lens);
  else if (event.key === "f") togglePresenting(lens);
  else if (event.key === "p" && page.see) page.see.play();
  else if (event.key === "l" && lens.page.see) lens.page.see.turn();
  else return;
  event.preventDefault();
}

// Closes what is open; if nothing is, unlocks the patch.
function closeTopmost(lens) {
  const { choice, page } = lens;
  if (closeSheets(page) || page.see?.stopPlay()) return;
  if (choice.view.beside === "wall") return page.choose({ beside: "convolution" });
  if (page.see?.drawer) return page.see.openDrawer("");
  if (closeSums(page)) return;
  // In full screen, the browser itself handles Escape. If full screen was forbidden, the lens only fills its frame,
  // and Escape is handled here.
  if (choice.presenting && !document.fullscreenElement) togglePresenting(lens);
  else page.choose({ locked: false });
}

// Fixes the exposure at its present value, or frees it. Rows can be compared only at one exposure.
function holdExposure({ choice, frame, page }) {
  const { high } = frame.shown.mainDomain ?? {};
  if (choice.view.ceiling !== "auto") page.choose({ ceiling: "auto" });
  else if (high > 0) page.choose({ ceiling: Number(Math.min(1, high).toPrecision(3)) });
}

const flipScale = ({ choice, page }) => page.choose({ scale: choice.view.scale === "on" ? "off" : "on" });

// ----------------------------------------------------------------------------------------------------------- buttons

export function bindButtons(lens) {
  const { choice, data, page, root, refs } = lens;
  root.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (!button || !data.main) return;
    const group = button.closest("[data-choice]");
    if (group?.dataset.choice === "beside") cutTo([refs.below], () => page.choose({ beside: button.dataset.value }));
    else if (group) page.choose({ [group.dataset.choice]: button.dataset.value });
    if (button.dataset.head) page.choose({ head: Number(button.dataset.head) });
    if (button.dataset.token) {
      const isChosen = choice.view.locked && choice.view.query === button.dataset.token;
      page.choose({ query: button.dataset.token, locked: !isChosen });
    }
  });
  refs.switch.addEventListener("click", () => flipScale(lens));
  refs.hold.addEventListener("click", () => holdExposure(lens));
  refs.layer.addEventListener("input", () => page.choose({ layer: Number(refs.layer.value) }));
  refs.dial.addEventListener("input", () => {
    const t = Number(refs.dial.value) / 1000;
    // The dial snaps to the trained scale and to no scale.
    const { scale: trainedScale } = data.main.pack;
    const scale = Math.abs(t - 0.5) < 0.012 ? "on" : Math.abs(t - 1) < 0.012 ? "off" : dialToScale(t, trainedScale);
    page.choose({ scale }, "dial");
  });
  refs.keys.addEventListener("click", () => toggleSheet(page, "keys"));
  refs.sending.addEventListener("click", () => openShare(lens));
}

// A press outside the sheets and their buttons closes the sheets.
export function pressOutside(page, event) {
  const isSheet = (element) => element.matches?.(".sheet, [aria-haspopup]") && page.root.contains(element);
  if (!event.composedPath().some(isSheet)) closeSheets(page);
}

export function openShare(lens, format) {
  const { page } = lens;
  if (!lens.data.main) return;
  toggleSheet(page, "sending");
  if (page.refs.sendingSheet.hidden) return;
  beginShare(lens, format);
  // The bar's button has the focus, and would keep Escape from the lens
  page.refs.sendingSheet.querySelector("button:not([hidden])").focus({ preventScroll: true });
}

function toggleSheet(page, name) {
  const { refs } = page;
  const isOpening = refs[`${name}Sheet`].hidden;
  closeSheets(page);
  setVisible(refs[`${name}Sheet`], isOpening);
  refs[name].setAttribute("aria-expanded", String(isOpening));
}

export function closeSheets(page) {
  let hasClosed = false;
  for (const name of ["keys", "sending"]) {
    if (!page.refs[`${name}Sheet`].hidden) hasClosed = true;
    setVisible(page.refs[`${name}Sheet`], false);
    page.refs[name].setAttribute("aria-expanded", "false");
  }
  return hasClosed;
}
