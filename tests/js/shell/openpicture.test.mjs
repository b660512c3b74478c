import assert from "node:assert/strict";
import { test } from "node:test";

import { fillOpenPicture, picturesAmong } from "../../../playground/microscope/shell/openpicture.js";
import { shrinkIfLarge } from "../../../playground/microscope/shell/readable.js";
import { createToolbar } from "../../../playground/microscope/shell/toolbar.js";
import { aFile, aHost, aPlace, dispatchFiles, page, until } from "./page.mjs";

const namesOf = (files) => files.map((file) => file.name);

function aSheet(overrides = {}) {
  const takenNames = [];
  const box = aPlace();
  const options = {
    take: (files) => takenNames.push(...namesOf(files)),
    labelled: null,
    signal: new AbortController().signal,
  };
  fillOpenPicture(box, { ...options, ...overrides });
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

test("of the numbers that are chosen while one is on its way, only the last is asked for", async () => {
  const requests = [];
  const answers = [];
  const takeLabelled = (number) => {
    requests.push(number);
    return new Promise((resolve) => answers.push(() => resolve({ title: `no. ${number}` })));
  };
  const { box } = aSheet({ labelled: { count: 100, what: "pictures" }, takeLabelled });
  const [slider, numberField] = box.querySelectorAll("fieldset input");
  for (const value of ["3", "4", "5"]) {
    slider.value = value;
    slider.dispatchEvent(new page.Event("change"));
  }
  assert.equal(numberField.value, "5");
  answers.shift()();
  await until(() => requests.length === 2, "the second question");
  answers.shift()();
  const note = box.querySelector("fieldset .note");
  await until(() => note.textContent === "no. 5", "the title of the last one");
  assert.deepEqual(requests, [3, 5]);
});

test("a file that is too large, and that the browser can't make smaller, is refused with its size", async () => {
  const file = { name: "huge.tif", size: 45e6, type: "image/tiff" };
  await assert.rejects(shrinkIfLarge(file), (trouble) => /45 MB.*At most 32 MB/.test(trouble.says));
  const fittingFile = { name: "large.tif", size: 20e6, type: "image/tiff" };
  assert.equal(await shrinkIfLarge(fittingFile), fittingFile);
});

test("what is dropped or pasted anywhere on the page is opened, one after the other", async () => {
  const host = aHost();
  const toolbar = createToolbar(aPlace(), host);
  const dropEvent = dispatchFiles("drop", [aFile("a.jpg"), aFile("b.jpg")]);
  await until(() => host.ownPictures.list.length === 2, "two pictures");
  const pasteEvent = dispatchFiles("paste", [aFile("c.png", "image/png")]);
  await until(() => host.ownPictures.list.length === 3, "the pasted picture");
  assert.deepEqual(host.ownPictures.opened, ["a.jpg", "b.jpg", "c.png"]);
  assert.equal(host.choice.now.mine, "c.png");
  assert.ok(dropEvent.defaultPrevented && pasteEvent.defaultPrevented, "the browser would leave the page");
  toolbar.destroy();
});

test("while a file is dragged over the page, the page invites it", () => {
  const toolbar = createToolbar(aPlace(), aHost());
  const invites = () => document.documentElement.classList.contains("takes-a-picture");
  dispatchFiles("dragover", []); // a drag without files, as of text
  assert.equal(invites(), false);
  dispatchFiles("dragover", [aFile("a.jpg")]);
  assert.equal(invites(), true);
  dispatchFiles("dragleave", []);
  assert.equal(invites(), false);
  dispatchFiles("dragover", [aFile("a.jpg")]);
  dispatchFiles("drop", []);
  assert.equal(invites(), false);
  toolbar.destroy();
});

test("what can't be opened is said, with its name among several, and the others are opened", async () => {
  const host = aHost();
  const root = aPlace();
  const toolbar = createToolbar(root, host);
  const notice = root.querySelector(".notice");
  dispatchFiles("drop", [aFile("a.txt", "text/plain")]);
  await until(() => !notice.hidden, "a sentence");
  assert.equal(notice.querySelector("p").textContent, "This file is no picture.");
  dispatchFiles("drop", [aFile("mine.safetensors", "")]);
  assert.match(notice.querySelector("p").textContent, /opens with attention-playground --models FOLDER/);
  dispatchFiles("drop", [aFile("b.txt", "image/jpeg"), aFile("c.jpg")]);
  await until(() => host.ownPictures.list.length === 1, "the other picture");
  assert.equal(notice.querySelector("p").textContent, "b.txt: This file is no picture.");
  notice.querySelector("button").click();
  assert.equal(notice.hidden, true);
  toolbar.destroy();
});

test("the sentence about a file goes when another picture is shown, and stays when another model is", async () => {
  const host = aHost();
  const root = aPlace();
  const toolbar = createToolbar(root, host);
  const notice = root.querySelector(".notice");
  dispatchFiles("drop", [aFile("a.txt", "text/plain")]);
  await until(() => !notice.hidden && !root.querySelector(".waits"), "a sentence");
  host.choice.set({ model: "small" });
  assert.equal(notice.hidden, false);
  host.choice.set({ sample: "flock" });
  assert.equal(notice.hidden, true);
  toolbar.destroy();
});

test("while pictures are on their way the button shows it, and a screen reader hears it", async () => {
  const host = aHost();
  const root = aPlace();
  const toolbar = createToolbar(root, host);
  const [button, status] = [root.querySelector(".photo"), root.querySelector("[role=status]")];
  let arrive = null;
  const { open } = host.ownPictures;
  host.ownPictures.open = (file) => new Promise((resolve) => (arrive = resolve)).then(() => open(file));
  dispatchFiles("drop", [aFile("a.jpg")]);
  await until(() => arrive, "the picture's way");
  assert.deepEqual([button.classList.contains("waits"), status.textContent], [true, "Your picture is on its way"]);
  arrive();
  await until(() => !button.classList.contains("waits"), "its end");
  assert.equal(status.textContent, "");
  toolbar.destroy();
});
