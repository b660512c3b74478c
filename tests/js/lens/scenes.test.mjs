import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Window } from "happy-dom";

import { writeScenes } from "../../../playground/microscope/core/view.js";
import { bindScenes, readSavedScenes } from "../../../playground/microscope/lens/scenes.js";
import { createState } from "../../../playground/microscope/lens/state.js";

globalThis.matchMedia ??= () => ({ matches: false });

const { document, Event } = new Window();
globalThis.document = document;

const REF_NAMES = ["scenes", "sceneAdd", "sceneLink", "sceneList", "sceneNote"];
let storedText, lens;

// A microscope with three saved scenes.
beforeEach(() => {
  storedText = writeScenes(["a", "b", "c"].map((name) => ({ name, address: `sample=${name}` })));
  const host = { scenes: { read: () => storedText, write: (text) => (storedText = text) } };
  const refs = Object.fromEntries(
    REF_NAMES.map((name) => [name, document.createElement(name === "sceneList" ? "ol" : "div")]),
  );
  lens = createState(null, refs, host);
  lens.page.schedule = () => {};
  bindScenes(lens.choice, lens.data, lens.page);
  readSavedScenes(lens.choice, lens.data, lens.page);
});

const items = () => lens.page.refs.sceneList.children;
const inputOf = (place) => items()[place].children[1];
const names = () => JSON.parse(storedText).map(({ name }) => name);

function type(place, value) {
  inputOf(place).value = value;
  inputOf(place).dispatchEvent(new Event("input", { bubbles: true }));
}

test("a run of the page between typing and Enter takes nothing from what was typed", () => {
  type(0, "an eye");
  const input = inputOf(0);
  readSavedScenes(lens.choice, lens.data, lens.page); // as after a rerun of the page
  assert.equal(inputOf(0), input, "the input that somebody types into was replaced");
  assert.equal(input.value, "an eye");
  assert.deepEqual(names(), ["an eye", "b", "c"]);
});
