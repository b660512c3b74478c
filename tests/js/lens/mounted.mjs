// Mounts the whole lens in a page under Node. Elements have one small size, because drawing costs time. A canvas
// records its calls, and a frame comes only when the test calls draw().

import { Window } from "happy-dom";

import { createLens } from "../../../playground/microscope/lens/lens.js";
import { defineCanvas } from "../canvas.mjs";
import { packOf } from "../packs.mjs";
import { aSource, aTrace, passTime } from "./alens.mjs";

const LENS_WIDTH = 900; // pixels of the lens: its controls stand beside the picture
const [WIDTH, HEIGHT] = [90, 60]; // pixels of each element in the lens
const ROOM_HEIGHT = 200; // pixels: the window is so low that the picture has its smallest size

const page = new Window({ url: "https://playground.test/", width: LENS_WIDTH, height: 800 });
const frames = [];
const PAGE_GLOBALS = ["document", "navigator", "location", "Event", "KeyboardEvent", "MouseEvent"];
for (const name of [...PAGE_GLOBALS, "HTMLCanvasElement", "File", "Blob"]) define(globalThis, name, page[name]);
const COMPUTED_STYLE = {
  fontSize: "14px",
  paddingLeft: "0",
  paddingRight: "0",
  paddingBottom: "0",
  color: "#111",
  fontFamily: "x",
};
define(globalThis, "getComputedStyle", () => ({ ...COMPUTED_STYLE, getPropertyValue: () => "#07c" }));
define(globalThis, "Option", function Option(text, value = text) {
  return Object.assign(page.document.createElement("option"), { textContent: text, value });
});
define(globalThis, "window", page);
define(globalThis, "matchMedia", () => Object.assign(new EventTarget(), { matches: false }));
define(globalThis, "requestAnimationFrame", (draw) => frames.push(draw));
define(globalThis, "cancelAnimationFrame", () => {});
define(globalThis, "setInterval", () => 0); // no timer moves the lens during a test
define(
  globalThis,
  "ResizeObserver",
  class {
    observe() {}
    disconnect() {}
  },
);
defineCanvas(page);

let formerLens = null; // the lens of the former test

function define(object, name, value) {
  Object.defineProperty(object, name, { value, configurable: true, writable: true });
}

const { prototype } = page.HTMLElement;
for (const [name, value] of Object.entries({ clientWidth: WIDTH, clientHeight: HEIGHT, offsetHeight: HEIGHT })) {
  const get = name === "clientWidth" ? widthOf : () => value;
  Object.defineProperty(prototype, name, { get, configurable: true });
}
function widthOf() {
  return this.classList.contains("lens") ? LENS_WIDTH : WIDTH;
}
prototype.getBoundingClientRect = () => ({
  x: 0,
  y: 0,
  left: 0,
  top: 0,
  width: 100,
  height: 100,
  right: 100,
  bottom: 100,
});
prototype.scrollIntoView = () => {};
prototype.animate = () => {};

// Draws the requested frames, one after the other, at most `maximum`.
export function draw(maximum = 5) {
  for (let n = 0; n < maximum && frames.length; n++) for (const item of frames.splice(0)) item(performance.now());
}

// The lens with a picture of 2 × 3 patches: {lens: its handle, part: finds an element, key: presses a key, …}.
export async function mountLens({ pack = {}, view = {}, other = null, host = {}, trace = {} } = {}) {
  const source = aSource(host.offers);
  const views = [];
  const parent = page.document.createElement("div");
  page.document.body.replaceChildren(parent);
  frames.length = 0;
  const hostOptions = { source, onView: (newView) => views.push(newView), view, ui: { height: ROOM_HEIGHT }, ...host };
  formerLens?.destroy();
  const lens = createLens(parent, hostOptions);
  formerLens = lens;
  const { firstElementChild: root } = parent;
  const packOptions = { layers: 4, held: [0, 1, 2, 3], size: [32, 48], sections: {}, ...pack };
  const show = async (id, options, beside) => {
    const promise = lens.show({
      main: aTrace(id, { model: "small", ...trace }),
      other: beside && aTrace(beside, { model: "small" }),
      ...options,
    });
    for (let round = 0; round < 4; round++) {
      for (const question of source.questions.filter(({ done }) => !done)) {
        if (question.text.startsWith("layers")) question.answer(packOf(packOptions));
        else if (question.text.startsWith("picture")) question.answer(null);
        else continue;
        question.done = true;
      }
      await passTime();
    }
    await promise;
    draw();
  };
  await show("cat", {}, other);
  const part = (name) => root.querySelector(`[data-ref="${name}"]`);
  return {
    lens,
    root,
    source,
    toldViews: views,
    show,
    part,
    words: (name) => part(name).textContent,
    find: (selector) => root.querySelector(selector),
    openRow(name) {
      this.click(root.querySelector(`[data-row="${name}"] .opens`));
    },
    // Presses a key as a person does, then draws a frame; returns the event
    key: (key, target = part("picture")) => {
      const event = new page.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
      target.dispatchEvent(event);
      draw();
      return event;
    },
    click: (element) => {
      element.dispatchEvent(new page.MouseEvent("click", { bubbles: true, composed: true }));
      draw();
    },
    // `x` and `y`: the place on the element, from 0 to 1.
    point: (kind, target, x, y, overrides = {}) => {
      const eventPlace = { clientX: 100 * x, clientY: 100 * y, bubbles: true, composed: true, ...overrides };
      target.dispatchEvent(Object.assign(new page.MouseEvent(kind, eventPlace), overrides));
      draw();
    },
  };
}
