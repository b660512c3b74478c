// Parts of the toolbar: icons of its buttons, its sheets, and the sheet for comparing.

import { make } from "../drawing/dom.js";
import { isTraceFile } from "./choice.js";
import { chosenKeyOf, createStrip } from "./strip.js";

const STROKES = {
  camera: "M3 6.5h3.2l1.3-2h5l1.3 2H17v9H3zM10 8.2a2.6 2.6 0 1 1 0 5.2a2.6 2.6 0 1 1 0-5.2",
  picture: "M3 4.5h14v11H3zM3 13l4-4 4 4 2.5-2.5L17 14M13 7.7v.1",
  down: "M6 8l4 4l4-4",
  on: "M8 6l4 4l-4 4",
};

// An icon as a span. Screen readers skip it, because the words beside it say the same.
export const createIcon = (name) =>
  make("span", {
    className: `icon icon-${name}`,
    "aria-hidden": "true",
    innerHTML: `<svg viewBox="0 0 20 20"><path d="${STROKES[name]}"/></svg>`,
  });

// The sheet under a button. The toolbar has one sheet for all buttons, so that two sheets are never open.
// The sheet lies in the browser's top layer (popover), so that the page can't cover it or cut it off. Escape, a press
// outside and the Tab key past its end close the sheet; then its button gets the focus, unless another element has it.

const SHEET_EDGE = 8; // px of free space between a sheet and the window's edge
const SHEET_GAP = 6; //  px between a button and its sheet
const LEAST_ROOM_BELOW = 260; // px: with less room below its button, a sheet takes the whole height

export function createSheet() {
  const sheet = make("div", { className: "sheet", tabIndex: -1, role: "dialog" });
  sheet.setAttribute("popover", "manual");
  let [opener, controller, redraw] = [null, null, null];

  // fill(box, signal) writes the sheet's contents; `signal` is aborted when the sheet closes. `fill` may return a
  // function that updates the contents when the choice changes.
  function openSheet(button, kind, label, fill) {
    close();
    [opener, controller] = [button, new AbortController()];
    button.setAttribute("aria-expanded", "true");
    sheet.setAttribute("aria-label", label);
    sheet.dataset.kind = kind;
    button.after(sheet); // so that the Tab key goes from the button into the sheet
    const box = make("div", "sheet-box");
    sheet.replaceChildren(box);
    redraw = fill(box, controller.signal) ?? null;
    sheet.classList.add("open");
    sheet.showPopover?.();
    listenForClose(controller.signal);
    putInPlace();
    (sheet.querySelector("[aria-current]") ?? sheet).focus({ preventScroll: true });
  }

  function close({ focusBack = true } = {}) {
    if (!opener) return;
    const [button, hadFocus] = [opener, /** @type {Document} */ (sheet.getRootNode()).activeElement];
    controller.abort();
    [opener, controller, redraw] = [null, null, null];
    sheet.classList.remove("open");
    sheet.hidePopover?.();
    button.setAttribute("aria-expanded", "false");
    if (focusBack && (sheet.contains(hadFocus) || nothingHasFocus())) button.focus({ preventScroll: true });
    sheet.remove();
    sheet.replaceChildren();
  }

  function listenForClose(signal) {
    const onPress = (event) => {
      const path = event.composedPath();
      if (path.includes(sheet) || path.includes(opener)) return; // the opener's click handler closes the sheet
      const button = opener;
      close();
      const restoreFocus = () => nothingHasFocus() && button.focus({ preventScroll: true });
      document.addEventListener("click", restoreFocus, { once: true }); // after this press has moved the focus
    };
    const onKey = (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation(); // Escape does not unlock the microscope's patch, too
      close();
    };
    const onLeave = ({ relatedTarget }) => {
      if (relatedTarget && relatedTarget !== opener && !sheet.contains(relatedTarget)) close({ focusBack: false });
    };
    document.addEventListener("pointerdown", onPress, { signal, capture: true });
    document.addEventListener("keydown", onKey, { signal, capture: true });
    document.addEventListener("scroll", putInPlace, { signal, capture: true });
    window.addEventListener("resize", putInPlace, { signal });
    sheet.addEventListener("focusout", onLeave, { signal });
    const sizeObserver = new ResizeObserver(putInPlace);
    sizeObserver.observe(sheet);
    signal.addEventListener("abort", () => sizeObserver.disconnect());
  }

  function putInPlace() {
    if (!opener) return;
    const openerBox = opener.getBoundingClientRect();
    if (opener.checkVisibility?.() === false) return close(); // the *More* button disappears in a wider window
    const [windowWidth, windowHeight] = [document.documentElement.clientWidth, window.innerHeight];
    const belowTop = Math.max(SHEET_EDGE, openerBox.bottom + SHEET_GAP);
    const top = windowHeight - belowTop < LEAST_ROOM_BELOW ? SHEET_EDGE : belowTop;
    const left = Math.max(SHEET_EDGE, Math.min(openerBox.left, windowWidth - SHEET_EDGE - sheet.offsetWidth));
    Object.assign(sheet.style, {
      left: `${left}px`,
      top: `${top}px`,
      maxHeight: `${windowHeight - top - SHEET_EDGE}px`,
    });
  }

  return { open: openSheet, close, opener: () => opener, redraw: () => redraw?.() };
}

const nothingHasFocus = () => [null, document.body].includes(/** @type {HTMLElement} */ (document.activeElement));

// The sheet for comparing with another picture, or with another model on the same picture.

// The title of choice.now.beside; "" if nothing is compared.
export function titleOfBeside({ beside }, { catalogue, ownPictures, titles }) {
  if (!beside) return "";
  if (beside.model) return titles?.[beside.model] ?? beside.model;
  const candidates = beside.mine ? ownPictures.list : catalogue.samples;
  return (
    candidates.find((entry) => (beside.mine ? entry.id === beside.mine : entry.name === beside.sample))?.title ?? ""
  );
}

// Objects like `choice` for the sheet of models and for the row of pictures, which then read and set what is compared.
export const besideAsModel = (choice) => ({
  get now() {
    return { ...choice.now, model: choice.now.beside?.model ?? null };
  },
  set: ({ model }) => choice.set({ beside: model === choice.now.model ? null : { model } }),
  follow: (listener) => choice.follow(listener),
  words: () => choice.words(),
});
const besideAsPicture = (choice, onDone) => ({
  now: choice.now.beside ?? {},
  set: ({ mine, sample }) => [choice.set({ beside: mine ? { mine } : { sample } }), onDone()],
});

// fillWithModels(box) writes the cards of the models.
export function fillCompare(box, { choice, catalogue, ownPictures, titles, fillWithModels, done: onDone }) {
  const { now } = choice;
  if (now.beside) {
    const sentence = `Compared with ${titleOfBeside(now, { catalogue, ownPictures, titles })}`;
    const end = { className: "wide", onclick: () => [choice.set({ beside: null }), onDone()] };
    box.append(make("p", "", sentence), make("button", end, "Nothing: end the comparison"));
  }
  const tabBox = make("div");
  const fillTab = {
    "Another picture"() {
      const except = chosenKeyOf(now);
      const strip = createStrip({ catalogue, ownPictures, except, choice: besideAsPicture(choice, onDone) });
      tabBox.append(strip.element);
      strip.draw();
    },
    ...(!isTraceFile(now.mine) && { "Another model, on this picture": () => fillWithModels(tabBox) }),
  };
  const showTab = (words) => {
    for (const tab of tabs.children) tab.setAttribute("aria-pressed", String(tab.textContent === words));
    tabBox.replaceChildren();
    fillTab[words]();
  };
  const tabOf = (words) => make("button", { onclick: () => showTab(words) }, words);
  const tabs = make("div", "tabs", ...Object.keys(fillTab).map(tabOf));
  box.append(tabs, tabBox);
  showTab(Object.keys(fillTab)[now.beside?.model ? 1 : 0]);
}
