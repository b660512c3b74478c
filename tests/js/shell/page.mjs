// A page for tests under Node, and what a toolbar asks of its host.

import { Window } from "happy-dom";

export const page = new Window({ url: "https://playground.test/" });
for (const name of [
  "window",
  "document",
  "navigator",
  "getComputedStyle",
  "matchMedia",
  "Event",
  "File",
  "MutationObserver",
])
  Object.defineProperty(globalThis, name, {
    value: name === "window" ? page : typeof page[name] === "function" ? bound(page[name]) : page[name],
    configurable: true,
    writable: true,
  });
globalThis.ResizeObserver = class {
  observe() {}
  disconnect() {}
};

// Classes stay themselves; functions of the window need it.
function bound(what) {
  return /^class /.test(String(what)) ? what : what.bind(page);
}

// As choice.js and own.js tell of changes.
function telling() {
  const listeners = new Set();
  return {
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell: () => listeners.forEach((listener) => listener()),
    count: () => listeners.size,
  };
}

export const SAMPLES = [
  { name: "tabby", title: "Tabby", hint: "Look at one eye", kind: "photograph", thumb: "data:,tabby" },
  { name: "meadow", title: "Meadow", hint: "Look at the cow", kind: "drawing", thumb: "data:,meadow" },
  { name: "flock", title: "Flock", hint: "Look at a bird", kind: "drawing", thumb: "data:,flock" },
];
const PAGES = [
  { name: "microscope", short: "Microscope", title: "Microscope", number: null },
  { name: "by_hand", short: "By hand", title: "By hand: attention without training", number: 1 },
  { name: "teach", short: "Teach", title: "For the one who teaches", number: null },
];
const NOW = { sample: "tabby", mine: null, model: "dino", detail: 1, beside: null };

export function aHost(more = {}) {
  const [chosen, owned] = [telling(), telling()];
  const choice = {
    now: Object.freeze({ ...NOW, ...more.now }),
    set(part) {
      choice.now = Object.freeze({ ...choice.now, ...part });
      chosen.tell();
    },
    follow: chosen.follow,
    words: () => ({ sample: choice.now.sample, model: choice.now.model }),
  };
  const face = { now: "lab", language: "en", set() {}, speak() {}, follow: telling().follow };
  const ownPictures = {
    list: more.own ?? [],
    opened: [],
    async open(file) {
      ownPictures.opened.push(file.name);
      if (file.name.endsWith(".txt")) throw Object.assign(new Error("no"), { says: "This file is no picture." });
      ownPictures.list = [...ownPictures.list, { id: file.name, title: file.name, src: "data:,own" }];
      choice.set({ mine: file.name, sample: null });
      owned.tell();
    },
    forget() {
      ownPictures.list = [];
      choice.set({ mine: null, sample: "tabby" });
      owned.tell();
    },
    asked: [],
    async openLabelled(number) {
      ownPictures.asked.push(number);
      return { id: `c${number}`, title: `CIFAR-10 no. ${number}: frog` };
    },
    follow: owned.follow,
  };
  const went = [];
  return {
    pages: PAGES,
    page: "microscope",
    exports: null,
    hidden: false,
    version: "9.9",
    choice,
    face,
    catalogue: { samples: SAMPLES },
    ownPictures,
    ask: () => {
      throw new Error("the toolbar itself asks the server nothing");
    },
    viewWords: () => ({ layer: "6" }),
    went,
    go: (name, words) => went.push([name, words]),
    link: (name, words) => `/${name}?${new URLSearchParams(words)}`,
    titles: { dino: "DINO S/16", small: "our small ViT" },
    grids: [
      { detail: 1, grid: [14, 14] },
      { detail: 2, grid: [28, 28] },
    ],
    labelled: 0,
    sheets: { models: () => {}, export: () => {} },
    listeners: () => chosen.count() + owned.count(),
    ...more,
  };
}

// In a shadow root, as on the page.
export function aPlace() {
  document.body.replaceChildren();
  const box = document.createElement("div");
  document.body.append(box);
  const root = document.createElement("div");
  box.attachShadow({ mode: "open" }).append(root);
  return root;
}

export function press(element, key) {
  const event = new page.KeyboardEvent("keydown", { key, bubbles: true, composed: true, cancelable: true });
  element.dispatchEvent(event);
  return event;
}

// An event as it comes from a person's files: dropped or pasted.
export function filesCome(kind, files) {
  const event = new page.Event(kind, { bubbles: true, cancelable: true });
  const transfer = { files, types: files.length ? ["Files"] : [] };
  Object.defineProperty(event, kind === "paste" ? "clipboardData" : "dataTransfer", { value: transfer });
  document.body.dispatchEvent(event);
  return event;
}

export const aFile = (name, type = "image/jpeg") => new page.File(["bytes"], name, { type });

export async function until(holds, says) {
  for (let i = 0; i < 200; i++) {
    if (holds()) return;
    await new Promise((go) => setTimeout(go, 5));
  }
  throw new Error(`It never happened: ${says}`);
}
