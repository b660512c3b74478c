// The hands: pointer, keys and buttons. Everything that they do ends in lens.choose({…}).

import { patchAfterKey, patchAt, patchText } from "../core/grid.js";
import { dialToScale, queryOf, sameToken, tokenOf } from "../core/view.js";
import { canBeLit } from "../core/ways.js";
import { show } from "../drawing/dom.js";
import { wallCellAt } from "../drawing/draw.js";
import { closeSums, openSums } from "./arithmetic.js";
import { toggleNearness } from "./beside.js";
import { showChoices, valueOfButton } from "./choices.js";
import { refresh } from "./layout.js";
import { holdsLine } from "./lockline.js";
import { surprise } from "./moment.js";
import { copyLink, savePicture, togglePresenting } from "./saving.js";
import { stepScene } from "./scenes.js";
import { cutAimed } from "./scissors.js";
import { beginShare } from "./share.js";
import { depthOf } from "./shown.js";

// ---------------------------------------------------------------------------------------------------------- pointing

// Which token lies under the last pointer event. Worked out once per frame: a mouse may move ten times between two.
export function tokenUnder(lens) {
  const { pointer, main, other, view, refs } = lens;
  const box = pointer.target.getBoundingClientRect();
  let x = (pointer.x - box.left) / box.width,
    y = (pointer.y - box.top) / box.height;
  let { pack } = main;
  if (pointer.target === refs.twin && view.beside === "compare" && other && lens.otherBox) {
    const inner = lens.otherBox;
    x = (x * refs.twin.width - inner.x) / inner.width;
    y = (y * refs.twin.height - inner.y) / inner.height;
    pack = other.pack;
  }
  const token = pack.prefixCount + patchAt(x, y, pack.rows, pack.columns);
  lens.hoverOther = pack === main.pack ? -1 : token;
  return pack === main.pack ? token : sameToken(token, pack, main.pack);
}

function leave(lens, event) {
  if (holdsLine(lens, event)) return;
  lens.aim = lens.hoverOther = -1;
  lens.pointer.fresh = false;
  if (lens.hover >= 0 && !lens.view.locked) lens.view.query = queryOf(lens.hover, lens.main.pack);
  lens.hover = -1;
  lens.schedule();
}

export function bindPointer(lens) {
  for (const canvas of [lens.refs.picture, lens.refs.twin]) {
    const follow = (event) => {
      Object.assign(lens.pointer, { target: canvas, x: event.clientX, y: event.clientY, fresh: true });
      lens.everHovered = true;
      lens.schedule(true);
    };
    canvas.addEventListener("pointermove", follow);
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse") canvas.setPointerCapture?.(event.pointerId);
      follow(event);
    });
    canvas.addEventListener("pointerleave", (event) => leave(lens, event));
    canvas.addEventListener("pointercancel", (event) => leave(lens, event));
    canvas.addEventListener("click", (event) => {
      if (!lens.main) return;
      Object.assign(lens.pointer, { target: canvas, x: event.clientX, y: event.clientY, fresh: false });
      const token = tokenUnder(lens),
        query = queryOf(token, lens.main.pack);
      if (lens.hover >= 0) lens.hover = token; // the move before this click may be in the same frame, and not read yet
      lens.aim = token;
      lens.choose({ query, locked: !(lens.view.locked && lens.view.query === query) });
    });
  }
  const { wall } = lens.refs;
  wall.addEventListener("click", (event) => {
    if (!lens.wallCells) return;
    const box = wall.getBoundingClientRect();
    const found = wallCellAt(
      lens.wallCells,
      ((event.clientX - box.left) / box.width) * wall.width,
      ((event.clientY - box.top) / box.height) * wall.height,
    );
    if (found) lens.choose(found);
  });
}

// -------------------------------------------------------------------------------------------------------------- keys

const CLICKER = { PageDown: 1, PageUp: -1 }; // what a presenter's remote control sends
const CLICKER_IN_PRESENT = { ...CLICKER, ArrowRight: 1, ArrowLeft: -1 };

export function bindKeys(lens) {
  lens.root.tabIndex = -1; // a click anywhere on it keeps the keys
  lens.root.addEventListener("keydown", (event) => {
    if (!lens.main || event.ctrlKey || event.metaKey || event.altKey || event.target.type === "text") return;
    const { view, main, refs } = lens;
    const { pack } = main;
    const inSlider = event.target.tagName === "INPUT";
    const steps = lens.presenting && !inSlider ? CLICKER_IN_PRESENT : CLICKER;
    if (event.key in steps && stepScene(lens, steps[event.key])) {
      // that was all
    } else if (event.key.startsWith("Arrow")) {
      if (inSlider || event.target !== refs.picture) return;
      const token = lens.hover >= 0 ? lens.hover : tokenOf(view.query, pack);
      const patch = patchAfterKey(event.key, Math.max(0, token - pack.prefixCount), pack.rows, pack.columns);
      lens.hover = -1;
      lens.choose({ query: patchText(patch, pack.columns), locked: true });
    } else if (event.key === "Escape") {
      if (closeSheets(lens) || closeSums(lens)) return;
      // A browser leaves its own full screen by itself; where it was forbidden, the lens has to.
      if (lens.presenting && !document.fullscreenElement) togglePresenting(lens);
      else lens.choose({ locked: false });
    } else if (event.key === "[" || event.key === "]")
      lens.choose({ layer: view.layer + (event.key === "]" ? 1 : -1) });
    else if (event.key === "," || event.key === ".") lens.choose({ head: view.head + (event.key === "." ? 1 : -1) });
    else if (/^\d$/.test(event.key) && pack.headNumbers.includes(Number(event.key)))
      lens.choose({ head: pack.headNumbers.indexOf(Number(event.key)) });
    else if (event.key === "s") flip(lens);
    else if (event.key === "d" && canBeLit(view)) lens.choose({ draw: view.draw === "heat" ? "light" : "heat" });
    else if (event.key === "h") holdExposure(lens);
    else if (event.key === "w") lens.choose({ beside: view.beside === "wall" ? "convolution" : "wall" });
    else if (event.key === "a") openSums(lens);
    else if (event.key === "b") surprise(lens);
    else if (event.key === "n") toggleNearness(lens);
    else if (event.key === "x") cutAimed(lens);
    else if (event.key === "l" && lens.see) lens.see.turn();
    else return;
    event.preventDefault();
  });
}

// Rows compare only at one exposure: the one on the screen stays, until it is let go.
function holdExposure(lens) {
  const { high } = lens.shown.mainDomain ?? {};
  if (lens.view.ceiling !== "auto") lens.choose({ ceiling: "auto" });
  else if (high > 0) lens.choose({ ceiling: Number(Math.min(1, high).toPrecision(3)) });
}

const flip = (lens) => lens.choose({ scale: lens.view.scale === "on" ? "off" : "on" });

// ----------------------------------------------------------------------------------------------------------- buttons

export function bindButtons(lens) {
  const { root, refs } = lens;
  root.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (!button || !lens.main) return;
    const group = button.closest("[data-choice]");
    if (group) lens.choose({ [group.dataset.choice]: valueOfButton(button) });
    if (button.dataset.head) lens.choose({ head: Number(button.dataset.head) });
    if (button.dataset.token) {
      const again = lens.view.locked && lens.view.query === button.dataset.token;
      lens.choose({ query: button.dataset.token, locked: !again });
    }
    if (button.dataset.step) step(lens, button.dataset.step);
    if (button.dataset.save) {
      savePicture(lens, Number(button.dataset.save), Boolean(button.dataset.both));
      closeSheets(lens);
    }
  });
  refs.switch.addEventListener("click", () => flip(lens));
  refs.offerGo.addEventListener("click", () => {
    const { layer, head } = lens.collapse.found ?? lens.view;
    lens.choose({ layer, head });
  });
  refs.hold.addEventListener("click", () => holdExposure(lens));
  refs.layer.addEventListener("input", () => lens.choose({ layer: Number(refs.layer.value) }));
  refs.dial.addEventListener("input", () => {
    const t = Number(refs.dial.value) / 1000;
    // The trained scale and no scale attract the dial, so that a hand can find them again.
    const { scale: own } = lens.main.pack;
    const scale = Math.abs(t - 0.5) < 0.012 ? "on" : Math.abs(t - 1) < 0.012 ? "off" : dialToScale(t, own);
    lens.choose({ scale }, "dial");
  });
  refs.drawing.addEventListener("click", () => toggleSheet(lens, "drawing"));
  refs.saving.addEventListener("click", () => toggleSheet(lens, "saving"));
  refs.scenes.addEventListener("click", () => toggleSheet(lens, "scenes"));
  refs.sending.addEventListener("click", () => openShare(lens));
  refs.link.addEventListener("click", () => copyLink(lens));
  refs.more.addEventListener("click", () => {
    lens.more = !lens.more;
    showChoices(lens);
    refresh(lens);
  });
  refs.present.addEventListener("click", () => togglePresenting(lens));
  refs.showMe.addEventListener("click", () => lens.host.showMe());
}

// Whatever is pressed on the page, but a sheet of the lens and what opens one, closes them.
export function pressOutside(lens, event) {
  const isSheet = (one) => one.matches?.(".sheet, [aria-haspopup]") && lens.root.contains(one);
  if (!event.composedPath().some(isSheet)) closeSheets(lens);
}

function step(lens, way) {
  if (way === "follow") lens.choose({ depth: "follow" });
  else lens.choose({ depth: Math.max(1, depthOf(lens.view) + Number(way)) });
}

export function openShare(lens) {
  if (!lens.main) return;
  toggleSheet(lens, "sending");
  if (!lens.refs.sendingSheet.hidden) beginShare(lens);
}

function toggleSheet(lens, name) {
  const { refs } = lens;
  const opening = refs[`${name}Sheet`].hidden;
  closeSheets(lens);
  show(refs[`${name}Sheet`], opening);
  refs[name].setAttribute("aria-expanded", String(opening));
}

function closeSheets(lens) {
  let closed = false;
  for (const name of ["drawing", "saving", "scenes", "sending"]) {
    if (!lens.refs[`${name}Sheet`].hidden) closed = true;
    show(lens.refs[`${name}Sheet`], false);
    lens.refs[name].setAttribute("aria-expanded", "false");
  }
  return closed;
}
