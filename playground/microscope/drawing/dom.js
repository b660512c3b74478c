// Helpers for a page: find elements by name, set their text only if it differs, make canvases, explain words.
import { paintInto, ROLES } from "../core/colours.js";

// The parts of an element that have data-ref, as {name: element}.
export function collectRefs(root) {
  const refs = {};
  for (const element of root.querySelectorAll("[data-ref]")) refs[element.dataset.ref] = element;
  return refs;
}

// Sets an element's text if it differs. Writing costs a layout even for the same text, and a move of the cursor sets
// twenty texts, most of them unchanged.
export function setText(element, text) {
  if (element.saidText === text) return;
  element.saidText = text;
  element.textContent = text;
}

// Like setText, for mathematics: a root gets its bar, and letters after an underscore become a subscript.
export function setMath(element, text) {
  if (element.saidText === text) return;
  element.saidText = text;
  const parts = text.split(/(√d_k|W_O)/).map((part) => {
    if (part === "W_O") return withSubscript(document.createElement("span"), "W", "O");
    if (part !== "√d_k") return part;
    const rootElement = document.createElement("span"),
      radicand = withSubscript(document.createElement("i"), "d", "k");
    rootElement.className = "root";
    Object.assign(radicand.style, { fontStyle: "normal", borderTop: "1px solid" });
    rootElement.append("√", radicand);
    return rootElement;
  });
  element.replaceChildren(...parts);
}

function withSubscript(element, letter, subscript) {
  const sub = document.createElement("sub");
  sub.textContent = subscript;
  sub.style.lineHeight = "0";
  element.append(letter, sub);
  return element;
}

// Applies data-style as style inside an element with new content: the content security policy of a page without a
// server allows scripts to set styles, but no styles in markup.
export function applyDataStyles(element) {
  for (const part of element.querySelectorAll("[data-style]")) part.style.cssText = part.dataset.style;
}

// Lets the page answer between two parts of a long work.
export const nextTask = () => new Promise((resolve) => setTimeout(resolve));

export function setVisible(element, isVisible) {
  if (element.hidden === isVisible) element.hidden = !isVisible;
}

// Makes a group a single stop of the Tab key; arrow keys, Home and End move inside the group.
export function oneTabStop(box, itemsOf) {
  setTabStop(itemsOf(), itemsOf()[0]);
  box.addEventListener("keydown", (event) => {
    const items = itemsOf();
    const from = items.indexOf(event.target);
    const [next, former, last] = [from + 1, from - 1, items.length - 1];
    const places = { ArrowRight: next, ArrowDown: next, ArrowLeft: former, ArrowUp: former, Home: 0, End: last };
    const nextItem = from < 0 ? undefined : items[places[event.key]];
    if (!nextItem) return;
    event.preventDefault();
    event.stopPropagation();
    setTabStop(items, nextItem);
    nextItem.focus();
  });
}

export function setTabStop(items, tabStop) {
  for (const item of items) item.tabIndex = item === tabStop ? 0 : -1;
}

// Makes an element; a button is no submit button. fields: its class, or properties, of which `role` and names with a
// dash are attributes.
/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string | Record<string, any>} fields
 * @param {any[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, fields = "", ...children) {
  const element = document.createElement(tag);
  if (tag === "button") element.setAttribute("type", "button");
  for (const [name, value] of Object.entries(typeof fields === "string" ? { className: fields } : fields)) {
    if (name === "role" || name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child || child === 0));
  return element;
}

export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function makeCanvas(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width));
  canvas.height = Math.max(1, Math.round(height));
  return canvas;
}

// A canvas of RGB pixels.
export function pixelSheet(width, height, pixels) {
  const canvas = makeCanvas(width, height),
    context = canvas.getContext("2d"),
    image = context.createImageData(width, height);
  for (let i = 0; i < width * height; i++) image.data.set([...pixels.subarray(3 * i, 3 * i + 3), 255], 4 * i);
  context.putImageData(image, 0, 0);
  return canvas;
}

export const decodeJpeg = (bytes) => createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));

const STILL_FRAMES = 3; // frames without movement after which the parts count as settled
const LONGEST_CUT = 300; // ms after which the parts are shown even if they still move
const placesIn = (elements) =>
  elements
    .flatMap((element) => [element, ...element.children])
    .map((element) => Object.values(element.getBoundingClientRect().toJSON?.() ?? {}).join())
    .join(" ");

// Applies a large change of layout while these elements are transparent, so that nobody sees them slide. Hidden
// elements would lose the focus.
export function cutTo(elements, applyChange) {
  const setOpacity = (opacity) => {
    for (const { style } of elements) style.opacity = opacity;
  };
  setOpacity("0");
  applyChange();
  const end = performance.now() + LONGEST_CUT;
  let [stableFrames, places] = [0, ""];
  const waitUntilStill = () =>
    requestAnimationFrame(() => {
      const nextPlaces = placesIn(elements);
      stableFrames = nextPlaces === places ? stableFrames + 1 : 0;
      places = nextPlaces;
      if (stableFrames < STILL_FRAMES && performance.now() < end) waitUntilStill();
      else setOpacity("");
    });
  waitUntilStill();
}

// Sets a canvas to the resolution of the screen. Returns true if its size changed, which also clears it.
export function fitCanvas(canvas, width, height, ratio) {
  const w = Math.max(1, Math.round(width * ratio)),
    h = Math.max(1, Math.round(height * ratio));
  if (canvas.width === w && canvas.height === h) return false;
  canvas.width = w;
  canvas.height = h;
  return true;
}

// A canvas with one pixel for each patch; it is enlarged when drawn on the page.
export function makeHeat(rows, columns, canvas = makeCanvas(columns, rows)) {
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const data = context.createImageData(columns, rows);
  return { canvas, context, data, pixels: new Uint32Array(data.data.buffer), rows, columns };
}

export function fillHeat(heat, values, offset, palette, domain) {
  paintInto(heat.pixels, 0, heat.columns, values, offset, heat.rows, heat.columns, palette, domain);
  heat.context.putImageData(heat.data, 0, 0);
}

// Outlines a cell in a colour, between white lines so that the outline is visible on any picture. The query's cell has
// the colour of queries; when a column is shown, the key's cell has the colour of keys.
export function outlineCell(context, x, y, w, h, unit, colour = ROLES.query) {
  context.lineJoin = "miter";
  context.strokeStyle = "#fff";
  context.lineWidth = 5 * unit;
  context.strokeRect(x, y, w, h);
  context.strokeStyle = colour;
  context.lineWidth = 2.8 * unit;
  context.strokeRect(x, y, w, h);
}

// Outlines a patch of a picture that is w × h large.
export function outlinePatch(context, patch, [rows, columns], w, h) {
  const [cw, ch] = [w / columns, h / rows];
  outlineCell(context, (patch % columns) * cw, Math.floor(patch / columns) * ch, cw, ch, 1);
}

// Explains words in a card beside them. [data-explains] holds the text. The card opens when the mouse has rested on the
// word, and at once by touch or the Tab key. Escape, a press elsewhere or leaving the word closes the card.
const EXPLAIN_DELAY = 350; // ms that the mouse rests on a word
const CARD_GAP = 8; // px between word and card, and between card and window's edge

export function explainWords(root, signal) {
  const card = root.appendChild(document.createElement("p"));
  card.className = "explained";
  card.role = "tooltip";
  card.hidden = true;
  let explainedWord = null;
  let timer = 0;

  function close() {
    clearTimeout(timer);
    explainedWord = null;
    card.hidden = true;
  }

  function openCard(element) {
    close();
    explainedWord = element;
    card.textContent = element.dataset.explains;
    card.hidden = false;
    const [anchorBox, size] = [element.getBoundingClientRect(), card.getBoundingClientRect()];
    const left = Math.max(CARD_GAP, Math.min(anchorBox.left, innerWidth - size.width - CARD_GAP));
    const topAbove = anchorBox.top - size.height - CARD_GAP;
    Object.assign(card.style, {
      left: `${left}px`,
      top: `${topAbove < CARD_GAP ? anchorBox.bottom + CARD_GAP : topAbove}px`,
    });
  }

  const wordOf = (target) => target.closest?.("[data-explains]") || null; // the explanation may be empty
  const hasExplanation = (element) => Boolean(element?.dataset.explains);
  root.addEventListener("pointerover", (event) => {
    const element = wordOf(event.target);
    if (event.pointerType !== "mouse" || element === explainedWord) return;
    close();
    if (hasExplanation(element)) timer = setTimeout(() => element.isConnected && openCard(element), EXPLAIN_DELAY);
  });
  root.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && close());
  // A finger can't hover, so a press explains the word, besides its usual effect.
  root.addEventListener("click", (event) => {
    const element = wordOf(event.target);
    if (event.pointerType !== "mouse" && hasExplanation(element) && element !== explainedWord) openCard(element);
    else close();
  });
  root.addEventListener("focusin", ({ target }) => {
    if (!target.matches(":focus-visible")) return;
    if (hasExplanation(wordOf(target))) openCard(wordOf(target));
    else close();
  });
  root.addEventListener("focusout", close);
  window.addEventListener("keydown", (event) => event.key === "Escape" && close(), { signal });
  window.addEventListener("scroll", close, { capture: true, passive: true, signal });
}
