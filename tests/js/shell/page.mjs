// Makes a page for tests under Node, and the host of a toolbar.

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
    value: name === "window" ? page : typeof page[name] === "function" ? boundToPage(page[name]) : page[name],
    configurable: true,
    writable: true,
  });
globalThis.ResizeObserver = class {
  observe() {}
  disconnect() {}
};

// Binds a function of the window to the window; returns classes unchanged.
function boundToPage(member) {
  return /^class /.test(String(member)) ? member : member.bind(page);
}

// Returns an object that notifies its followers of changes, as choice.js and own.js do.
function createNotifier() {
  const listeners = new Set();
  return {
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell: () => listeners.forEach((listener) => listener()),
  };
}

const SAMPLES = [
  { name: "tabby", title: "Tabby", hint: "Look at one eye", kind: "photograph", thumb: "data:,tabby" },
  { name: "meadow", title: "Meadow", hint: "Look at the cow", kind: "drawing", thumb: "data:,meadow" },
  { name: "flock", title: "Flock", hint: "Look at a bird", kind: "drawing", thumb: "data:,flock" },
];
const PAGES = [
  { name: "microscope", title: "Microscope", number: null },
  { name: "by_hand", title: "By hand: attention without training", number: 1 },
  { name: "teach", title: "For the one who teaches", number: null },
];
const FIRST_CHOICE = { sample: "tabby", mine: null, model: "dino", detail: 1, beside: null };

export function aHost(overrides = {}) {
  const [choiceFollowers, pictureFollowers] = [createNotifier(), createNotifier()];
  const choice = {
    now: Object.freeze({ ...FIRST_CHOICE, ...overrides.now }),
    set(part) {
      choice.now = Object.freeze({ ...choice.now, ...part });
      choiceFollowers.tell();
    },
    follow: choiceFollowers.follow,
    words: () => ({ sample: choice.now.sample, model: choice.now.model }),
  };
  const face = { now: "lab", language: "en", set() {}, setLanguage() {}, follow: createNotifier().follow };
  const ownPictures = {
    list: overrides.own ?? [],
    async open(file) {
      ownPictures.list = [...ownPictures.list, { id: file.name, title: file.name, src: "data:,own" }];
      choice.set({ mine: file.name, sample: null });
      pictureFollowers.tell();
    },
    forget() {},
    follow: pictureFollowers.follow,
  };
  return {
    pages: PAGES,
    page: "microscope",
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
    go() {},
    link: (name, words) => `/${name}?${new URLSearchParams(words)}`,
    titles: { dino: "DINO S/16", small: "our small ViT" },
    grids: [
      { detail: 1, grid: [14, 14] },
      { detail: 2, grid: [28, 28] },
    ],
    labelled: 0,
    sheets: { models: () => {}, export: () => {} },
    ...overrides,
  };
}

// An element for the toolbar, in a shadow root as on the page.
export function aPlace() {
  document.body.replaceChildren();
  const box = document.createElement("div");
  document.body.append(box);
  const root = document.createElement("div");
  box.attachShadow({ mode: "open" }).append(root);
  return root;
}

export function pressKey(element, key) {
  const event = new page.KeyboardEvent("keydown", { key, bubbles: true, composed: true, cancelable: true });
  element.dispatchEvent(event);
  return event;
}

export const aFile = (name, type = "image/jpeg") => new page.File(["bytes"], name, { type });

export async function until(condition, problem) {
  for (let i = 0; i < 200; i++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`It never happened: ${problem}`);
}
