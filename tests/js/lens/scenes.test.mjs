import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { writeScenes } from "../../../playground/microscope/core/view.js";
import { bindScenes, readSavedScenes } from "../../../playground/microscope/lens/scenes.js";
import { createState } from "../../../playground/microscope/lens/state.js";

globalThis.matchMedia ??= () => ({ matches: false });

// The parts of a page that a list of scenes needs. An element stores its listeners.
class Element {
  constructor() {
    Object.assign(this, { dataset: {}, children: [], listeners: {}, classList: { toggle() {} } });
  }
  addEventListener(kind, listener) {
    this.listeners[kind] = listener;
  }
  setAttribute() {}
  append(...children) {
    this.children.push(...children);
    for (const child of children) child.parent = this;
  }
  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }
  closest(selector) {
    if (selector === "li") return this.dataset.place === undefined ? this.parent : this;
    return this.dataset.sceneAct === undefined ? null : this;
  }
}

globalThis.document = { createElement: () => new Element() };

const REF_NAMES = ["scenes", "sceneAdd", "sceneLink", "sceneList", "sceneNote"];
let storedText, lens;

// A microscope with three saved scenes.
beforeEach(() => {
  storedText = writeScenes(["a", "b", "c"].map((name) => ({ name, address: `sample=${name}` })));
  const host = { scenes: { read: () => storedText, write: (text) => (storedText = text) } };
  const refs = Object.fromEntries(REF_NAMES.map((name) => [name, new Element()]));
  lens = createState(null, refs, host);
  lens.page.schedule = () => {};
  bindScenes(lens.choice, lens.data, lens.page);
  readSavedScenes(lens.choice, lens.data, lens.page);
});

const items = () => lens.page.refs.sceneList.children;
const inputOf = (place) => items()[place].children[1];
const buttonOf = (place, act) => items()[place].children.find((part) => part.dataset.sceneAct === act);
const names = () => JSON.parse(storedText).map(({ name }) => name);

function type(place, value) {
  const target = inputOf(place);
  target.value = value;
  lens.page.refs.sceneList.listeners.input({ target });
}

function click(target) {
  lens.page.refs.sceneList.listeners.click({ target });
}

test("a run of the page between typing and Enter takes nothing from what was typed", () => {
  type(0, "an eye");
  const input = inputOf(0);
  readSavedScenes(lens.choice, lens.data, lens.page); // as after a rerun of the page
  assert.equal(inputOf(0), input, "the input that somebody types into was replaced");
  assert.equal(input.value, "an eye");
  assert.deepEqual(names(), ["an eye", "b", "c"]);
});

test("a renamed scene has its name when it is moved and another one is deleted", () => {
  type(0, "an eye");
  click(buttonOf(2, "drop"));
  click(buttonOf(1, "-1"));
  assert.deepEqual(names(), ["b", "an eye"]);
  assert.deepEqual([inputOf(0).value, inputOf(1).value], ["b", "an eye"]);
});

test("a list that another tab has changed is shown", () => {
  storedText = writeScenes([{ name: "of another tab", address: "sample=flock" }]);
  readSavedScenes(lens.choice, lens.data, lens.page);
  assert.deepEqual(
    items().map((item) => item.children[1].value),
    ["of another tab"],
  );
});
