// The hands: pointer, keys and buttons. Everything that they do ends in lens.choose({…}).

import { patchAfterKey, patchAt, patchText } from "../core/grid.js";
import { dialToScale, queryOf, sameToken, tokenOf } from "../core/view.js";
import { canBeLit } from "../core/ways.js";
import { cutTo, show } from "../drawing/dom.js";
import { wallCellAt } from "../drawing/draw.js";
import { closeSums, openSums } from "./arithmetic.js";
import { toggleNearness } from "./beside.js";
import { showChoices, valueOfButton } from "./choices.js";
import { refresh } from "./layout.js";
import { holdsLine } from "./lockline.js";
import { surprise } from "./moment.js";
import { beginShare, copyLink, savePicture, togglePresenting } from "./saving.js";
import { stepScene } from "./scenes.js";
import { cutAimed } from "./scissors.js";
import { depthOf } from "./shown.js";

// ---------------------------------------------------------------------------------------------------------- pointing

// Which token lies under the last pointer event. Worked out once per frame: a mouse may move ten times between two.
export function tokenUnder({ choice, data: { main, other }, frame, page: { refs } }) {
  const { pointer, view } = choice;
  const box = pointer.target.getBoundingClientRect();
  let x = (pointer.x - box.left) / box.width,
    y = (pointer.y - box.top) / box.height;
  let { pack } = main;
  if (pointer.target === refs.twin && view.beside === "compare" && other && frame.otherBox) {
    const inner = frame.otherBox;
    x = (x * refs.twin.width - inner.x) / inner.width;
    y = (y * refs.twin.height - inner.y) / inner.height;
    pack = other.pack;
  }
  const token = pack.prefixCount + patchAt(x, y, pack.rows, pack.columns);
  choice.hoverOther = pack === main.pack ? -1 : token;
  return pack === main.pack ? token : sameToken(token, pack, main.pack);
}

function leave(choice, data, page, event) {
  if (holdsLine(choice, page, event)) return;
  choice.aim = choice.hoverOther = -1;
  choice.pointer.fresh = false;
  if (choice.hover >= 0 && !choice.view.locked) choice.view.query = queryOf(choice.hover, data.main.pack);
  choice.hover = -1;
  page.schedule();
}

export function bindPointer(lens) {
  const { choice, data, frame, page } = lens;
  for (const canvas of [page.refs.picture, page.refs.twin]) {
    const follow = (event) => {
      Object.assign(choice.pointer, { target: canvas, x: event.clientX, y: event.clientY, fresh: true });
      choice.everHovered = true;
      page.schedule(true);
    };
    canvas.addEventListener("pointermove", follow);
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse") canvas.setPointerCapture?.(event.pointerId);
      follow(event);
    });
    canvas.addEventListener("pointerleave", (event) => leave(choice, data, page, event));
    canvas.addEventListener("pointercancel", (event) => leave(choice, data, page, event));
    canvas.addEventListener("click", (event) => {
      if (!data.main) return;
      Object.assign(choice.pointer, { target: canvas, x: event.clientX, y: event.clientY, fresh: false });
      const token = tokenUnder(lens),
        query = queryOf(token, data.main.pack);
      // The move before this click may be in the same frame, and not read yet
      if (choice.hover >= 0) choice.hover = token;
      choice.aim = token;
      page.choose({ query, locked: !(choice.view.locked && choice.view.query === query) });
    });
  }
  const { wall } = page.refs;
  wall.addEventListener("click", (event) => {
    if (!frame.wallCells) return;
    const box = wall.getBoundingClientRect();
    const found = wallCellAt(
      frame.wallCells,
      ((event.clientX - box.left) / box.width) * wall.width,
      ((event.clientY - box.top) / box.height) * wall.height,
    );
    if (found) page.choose(found);
  });
}

// -------------------------------------------------------------------------------------------------------------- keys

const CLICKER = { PageDown: 1, PageUp: -1 }; // what a presenter's remote control sends
const CLICKER_IN_PRESENT = { ...CLICKER, ArrowRight: 1, ArrowLeft: -1 };

// Keys reach the lens when the focus is in it, and when it is nowhere: before anybody has pressed anything.
export function bindKeys(lens, signal) {
  const { root } = lens.page;
  root.tabIndex = -1; // a click anywhere on it keeps the keys
  root.addEventListener("keydown", (event) => actByKey(lens, event), { signal });
  document.addEventListener("keydown", (event) => event.target === document.body && actByKey(lens, event), { signal });
}

function actByKey(lens, event) {
  const { choice, data, frame, page } = lens;
  if (!data.main || event.ctrlKey || event.metaKey || event.altKey || event.target.type === "text") return;
  const { view } = choice,
    { main } = data,
    { refs } = page;
  const { pack } = main;
  const inSlider = event.target.tagName === "INPUT";
  const steps = choice.presenting && !inSlider ? CLICKER_IN_PRESENT : CLICKER;
  const by = steps[event.key];
  if (by && (stepScene(choice, data, page, by) || (choice.presenting && page.see?.stepMoment(by)))) {
    // that was all
  } else if (event.key.startsWith("Arrow")) {
    if (inSlider || event.target !== refs.picture) return;
    const token = choice.hover >= 0 ? choice.hover : tokenOf(view.query, pack);
    const patch = patchAfterKey(event.key, Math.max(0, token - pack.prefixCount), pack.rows, pack.columns);
    choice.hover = -1;
    page.choose({ query: patchText(patch, pack.columns), locked: true });
  } else if (event.key === "Escape") {
    if (closeSheets(page) || closeSums(page)) return;
    // A browser leaves its own full screen by itself; where it was forbidden, the lens has to.
    if (choice.presenting && !document.fullscreenElement) togglePresenting(lens);
    else page.choose({ locked: false });
  } else if (event.key === "[" || event.key === "]") page.choose({ layer: view.layer + (event.key === "]" ? 1 : -1) });
  else if (event.key === "," || event.key === ".") page.choose({ head: view.head + (event.key === "." ? 1 : -1) });
  else if (/^\d$/.test(event.key) && pack.headNumbers.includes(Number(event.key)))
    page.choose({ head: pack.headNumbers.indexOf(Number(event.key)) });
  else if (event.key === "s") flip(choice, page);
  else if (event.key === "d" && canBeLit(view)) page.choose({ draw: view.draw === "heat" ? "light" : "heat" });
  else if (event.key === "h") holdExposure(choice, frame, page);
  else if (event.key === "w") page.choose({ beside: view.beside === "wall" ? "convolution" : "wall" });
  else if (event.key === "a") openSums(choice, frame, page);
  else if (event.key === "b") surprise(choice, data, page);
  else if (event.key === "n") toggleNearness(choice, data, page);
  else if (event.key === "x") cutAimed(lens);
  else if (event.key === "p") togglePresenting(lens);
  else if (event.key === "l" && lens.page.see) lens.page.see.turn();
  else return;
  event.preventDefault();
}

// Rows compare only at one exposure: the one on the screen stays, until it is let go.
function holdExposure(choice, frame, page) {
  const { high } = frame.shown.mainDomain ?? {};
  if (choice.view.ceiling !== "auto") page.choose({ ceiling: "auto" });
  else if (high > 0) page.choose({ ceiling: Number(Math.min(1, high).toPrecision(3)) });
}

const flip = (choice, page) => page.choose({ scale: choice.view.scale === "on" ? "off" : "on" });

// ----------------------------------------------------------------------------------------------------------- buttons

export function bindButtons(lens) {
  const { choice, data, frame, page } = lens;
  const { root, refs } = page;
  root.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (!button || !data.main) return;
    const group = button.closest("[data-choice]");
    if (group?.dataset.choice === "beside") cutTo([refs.below], () => page.choose({ beside: valueOfButton(button) }));
    else if (group) page.choose({ [group.dataset.choice]: valueOfButton(button) });
    if (button.dataset.head) page.choose({ head: Number(button.dataset.head) });
    if (button.dataset.token) {
      const again = choice.view.locked && choice.view.query === button.dataset.token;
      page.choose({ query: button.dataset.token, locked: !again });
    }
    if (button.dataset.step) step(choice, page, button.dataset.step);
    if (button.dataset.save) {
      savePicture(lens, Number(button.dataset.save), Boolean(button.dataset.both));
      closeSheets(page);
    }
  });
  refs.switch.addEventListener("click", () => flip(choice, page));
  refs.offerGo.addEventListener("click", () => {
    const { layer, head } = frame.collapse.found ?? choice.view;
    page.choose({ layer, head });
  });
  refs.hold.addEventListener("click", () => holdExposure(choice, frame, page));
  refs.layer.addEventListener("input", () => page.choose({ layer: Number(refs.layer.value) }));
  refs.dial.addEventListener("input", () => {
    const t = Number(refs.dial.value) / 1000;
    // The trained scale and no scale attract the dial, so that a hand can find them again.
    const { scale: own } = data.main.pack;
    const scale = Math.abs(t - 0.5) < 0.012 ? "on" : Math.abs(t - 1) < 0.012 ? "off" : dialToScale(t, own);
    page.choose({ scale }, "dial");
  });
  refs.drawing.addEventListener("click", () => toggleSheet(page, "drawing"));
  refs.saving.addEventListener("click", () => toggleSheet(page, "saving"));
  refs.scenes.addEventListener("click", () => toggleSheet(page, "scenes"));
  refs.sending.addEventListener("click", () => openShare(lens));
  refs.link.addEventListener("click", () => {
    if (data.main.trace.private)
      openShare(lens, "link"); // which says what does not travel
    else copyLink(choice, data, page);
  });
  refs.more.addEventListener("click", () => {
    cutTo([refs.below], () => {
      choice.more = !choice.more;
      showChoices(choice, data, page);
      refresh(lens);
    });
  });
  refs.present.addEventListener("click", () => togglePresenting(lens));
  refs.showMe.addEventListener("click", () => data.host.showMe());
}

// Whatever is pressed on the page, but a sheet of the lens and what opens one, closes them.
export function pressOutside(page, event) {
  const isSheet = (one) => one.matches?.(".sheet, [aria-haspopup]") && page.root.contains(one);
  if (!event.composedPath().some(isSheet)) closeSheets(page);
}

function step(choice, page, way) {
  if (way === "follow") page.choose({ depth: "follow" });
  else page.choose({ depth: Math.max(1, depthOf(choice.view) + Number(way)) });
}

export function openShare(lens, way = "picture") {
  const { page } = lens;
  if (!lens.data.main) return;
  toggleSheet(page, "sending");
  if (!page.refs.sendingSheet.hidden) beginShare(lens, way);
}

function toggleSheet(page, name) {
  const { refs } = page;
  const opening = refs[`${name}Sheet`].hidden;
  closeSheets(page);
  show(refs[`${name}Sheet`], opening);
  refs[name].setAttribute("aria-expanded", String(opening));
}

function closeSheets(page) {
  let closed = false;
  for (const name of ["drawing", "saving", "scenes", "sending"]) {
    if (!page.refs[`${name}Sheet`].hidden) closed = true;
    show(page.refs[`${name}Sheet`], false);
    page.refs[name].setAttribute("aria-expanded", "false");
  }
  return closed;
}
