// Makes a page under Node that mounts a part of a lesson with data and an element, as lessons/host.js does.

import { mock } from "node:test";

import { Window } from "happy-dom";

import { defineCanvas } from "../canvas.mjs";

export const ELEMENT_WIDTH = 400; // pixels: the width of every element
const page = new Window({ url: "https://playground.test/", width: 1280, height: 720 });
const PAGE_GLOBALS = ["document", "localStorage", "location", "CustomEvent", "Event", "KeyboardEvent", "MouseEvent"];
for (const name of PAGE_GLOBALS) defineGlobal(name, page[name]);
defineGlobal("window", page);
defineGlobal("innerWidth", 1280);
defineGlobal("innerHeight", 720);
defineGlobal("getComputedStyle", () => ({
  getPropertyValue: () => "#07c",
  color: "rgb(17 17 17)",
  backgroundColor: "rgb(255 255 255)",
  fontFamily: "x",
  fontSize: "14px",
}));
defineGlobal("matchMedia", () => ({ matches: true, addEventListener() {} }));
defineGlobal(
  "ResizeObserver",
  class {
    observe() {}
    disconnect() {}
  },
);
const frames = [];
mock.timers.enable({ apis: ["setTimeout"] });
defineGlobal("createImageBitmap", async () => ({ width: 8, height: 8 }));
defineGlobal("requestAnimationFrame", (draw) => frames.push(draw));
defineGlobal("cancelAnimationFrame", () => {});
for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"])
  defineGlobal(name, page[name].bind(page));

function defineGlobal(name, value) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

const { prototype } = page.HTMLElement;
for (const item of [prototype, page.Element.prototype]) {
  for (const name of ["clientWidth", "clientHeight", "offsetHeight"])
    Object.defineProperty(item, name, { get: () => ELEMENT_WIDTH, configurable: true });
  item.getBoundingClientRect = () => ({
    x: 0,
    y: 0,
    left: 0,
    top: 0,
    width: ELEMENT_WIDTH,
    height: ELEMENT_WIDTH,
    right: ELEMENT_WIDTH,
    bottom: ELEMENT_WIDTH,
  });
}
defineCanvas(page);
page.Element.prototype.setPointerCapture = () => {};
page.Element.prototype.scrollIntoView = () => {};
// happy-dom has no viewBox of its own.
Object.defineProperty(page.SVGSVGElement.prototype, "viewBox", {
  get() {
    const [, , width, height] = (this.getAttribute("viewBox") ?? "0 0 1 1").split(" ").map(Number);
    return { baseVal: { width, height } };
  },
  configurable: true,
});

// Mounts a part; returns {find, texts, click, again, …}. again(data) mounts the part once more, with other data.
export function mountPart(mount, data, { within, ...otherArguments } = {}) {
  const parentElement = document.createElement("div");
  if (within) parentElement.append(within);
  document.body.replaceChildren(parentElement);
  const remount = (newData) => mount({ data: newData, parentElement, ...otherArguments });
  const leave = remount(data);
  const find = (selector) => parentElement.querySelector(selector);
  const dispatch = (eventClass, element, eventName, values = {}) =>
    element.dispatchEvent(
      Object.assign(new page[eventClass](eventName, { bubbles: true, cancelable: true, ...values }), values),
    );
  return {
    parentElement,
    again: remount,
    leave,
    find,
    texts: (selector) => [...parentElement.querySelectorAll(selector)].map((item) => item.textContent),
    click: (element) => dispatch("MouseEvent", element, "click"),
    key: (element, key) => dispatch("KeyboardEvent", element, "keydown", { key }),
    point: (element, eventName, clientX, clientY) =>
      dispatch("MouseEvent", element, eventName, { clientX, clientY, buttons: 1, pointerId: 1 }),
    input: (element, value) => {
      element.value = value;
      dispatch("Event", element, "input");
    },
  };
}

// Mounts a drawing that lives across remounts (drawing/stage.js). `toldSettings`: what it told the page.
export function mountDrawing(component, data) {
  const settingsSent = {};
  const box = document.createElement("div");
  box.dataset.drawing = "";
  const drawing = mountPart(component, data, { within: box, set: (settings) => Object.assign(settingsSent, settings) });
  draw();
  return { ...drawing, toldSettings: settingsSent, read: () => box.__drawing.read() };
}

// Waits until a photograph is decoded, and draws.
export async function waitForPhotograph() {
  for (let n = 0; n < 9; n++) await null;
  draw();
}

// Draws all requested frames, and sends changed settings to the page.
export function draw() {
  mock.timers.tick(5000);
  for (let n = 0; n < 9 && frames.length; n++) for (const item of frames.splice(0)) item(performance.now());
}
