import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.location = /** @type {any} */ ({ search: "" });

import { fillOpenPicture, picturesAmong } from "../../../playground/microscope/shell/openpicture.js";
import { ownPictures } from "../../../playground/microscope/shell/own.js";
import { aFile, aPlace } from "./page.mjs";

const namesOf = (files) => files.map((file) => file.name);

function aSheet(overrides = {}) {
  const takenNames = [];
  const box = aPlace();
  const options = {
    take: (files) => takenNames.push(...namesOf(files)),
    labelled: null,
    signal: new AbortController().signal,
  };
  fillOpenPicture(box, { language: "en", ...options, ...overrides });
  return { box, taken: takenNames, inputs: [...box.querySelectorAll("input[type=file]")] };
}

function onPhone(run) {
  const matchMediaBefore = globalThis.matchMedia;
  globalThis.matchMedia = (query) => ({ matches: query === "(pointer: coarse)" });
  try {
    return run();
  } finally {
    globalThis.matchMedia = matchMediaBefore;
  }
}

test("of several files the pictures are taken; HEIC counts although browsers give it no type", () => {
  const files = [aFile("a.txt", "text/plain"), aFile("b.jpg"), aFile("c.HEIC", ""), aFile("d.pdf", "application/pdf")];
  assert.deepEqual(namesOf(picturesAmong(files)), ["b.jpg", "c.HEIC"]);
});

test("a file alone is taken whatever it seems to be: the server says what is wrong with it", () => {
  assert.deepEqual(namesOf(picturesAmong([aFile("a.txt", "text/plain"), aFile("b.pdf", "")])), ["a.txt"]);
  assert.deepEqual(picturesAmong([]), []);
  assert.deepEqual(picturesAmong(null), []);
});

test("on a phone the camera comes first, beside a plain chooser of several files", () => {
  const { inputs } = onPhone(() => aSheet());
  const inputKinds = inputs.map((input) => [input.getAttribute("capture"), input.multiple]);
  assert.deepEqual(inputKinds, [
    ["environment", false],
    [null, true],
  ]);
});

test("the sheet speaks the reader's language, and says so where the browser stores nothing", () => {
  assert.match(aSheet({ language: "de" }).box.textContent, /Dateien wählen.*Safari löscht/s);
  ownPictures.isStored = false;
  assert.match(aSheet().box.textContent, /keeps nothing/);
  ownPictures.isStored = true;
});
