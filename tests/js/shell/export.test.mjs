import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Window } from "happy-dom";

const page = new Window({ url: "https://playground.test/folder/?sample=flock" });
for (const name of ["document", "location", "localStorage", "navigator"])
  Object.defineProperty(globalThis, name, { value: page[name], configurable: true });
const { fillExport, wordsOfExport } = await import("../../../playground/microscope/shell/export.js");

const WORDS = { sample: "flock", model: "bundled", layer: 3 };
const wordsAsked = (input, choices) => Object.fromEntries(wordsOfExport({ words: WORDS, ...input }, choices));

// ---- the words of the requests

test("the words of the view and the choices of this kind of file are asked, and no others", () => {
  const choices = { kind: "numbers", table: "csv", layout: "head", width: "page", held: "all" };
  assert.deepEqual(wordsAsked({}, choices), {
    ...{ sample: "flock", model: "bundled", layer: "3" },
    ...{ kind: "numbers", table: "csv", layout: "head" },
  });
  assert.deepEqual(wordsAsked({}, { kind: "html", held: "all", layout: "head" }), {
    ...{ sample: "flock", model: "bundled", layer: "3" },
    ...{ kind: "html", held: "all" },
  });
});

// ---- the sheet, with a server that answers when the test lets it

const option = (...names) => names.map((name) => ({ name, title: `the ${name}` }));
const OFFERS = {
  ...{ kind: option("png", "svg", "html", "numbers"), table: option("npz", "csv") },
  ...{ layout: option("head", "wall"), width: option("slide", "page"), background: option("light", "dark") },
  map: option("heat", "grey"),
  ...{ held: option("layer", "all") },
};
const DEFAULTS = {
  ...{ kind: "png", table: "npz", layout: "head", width: "slide", background: "light", caption: true },
  ...{ map: "heat", held: "layer" },
};

function answerTo(path) {
  const words = new URLSearchParams(path.split("?")[1]);
  const chosen = { ...DEFAULTS, ...Object.fromEntries([...words].filter(([name]) => name in DEFAULTS)) };
  const isOwnPicture = words.has("mine");
  const kind = chosen.kind === "numbers" ? chosen.table : chosen.kind;
  const isStill = kind !== "html";
  return {
    offers: OFFERS,
    chosen,
    file: {
      name: `flock-${chosen.layout}.${kind}`,
      address: `figure.${kind}?whole`,
      method: isStill && !isOwnPicture ? "GET" : "POST",
    },
    preview: { address: `figure.png?${chosen.layout}`, method: !isOwnPicture ? "GET" : "POST" },
    command: `figure flock --layout ${chosen.layout}`,
  };
}

const originalSetTimeout = globalThis.setTimeout;
globalThis.setTimeout = (...options) => originalSetTimeout(...options).unref(); // Node does not wait for them

let [calls, decodedAddresses, blobCount, releasedAddresses, brokenAddresses] = [[], [], 0, [], new Set()];
URL.createObjectURL = () => `blob:${++blobCount}`;
URL.revokeObjectURL = (address) => releasedAddresses.push(address);
page.HTMLImageElement.prototype.decode = function () {
  decodedAddresses.push(this.src);
  return [...brokenAddresses].some((item) => this.src.includes(item))
    ? Promise.reject(new Error("broken"))
    : Promise.resolve();
};

function aServer({ refuse = {}, hold = false } = {}) {
  return async (path, options = {}) => {
    const call = { path, options };
    calls.push(call);
    if (hold) await new Promise((resolve) => (call.resolve = resolve));
    options.signal?.throwIfAborted();
    for (const [start, error] of Object.entries(refuse)) if (path.startsWith(start)) throw error;
    return {
      json: async () => answerTo(path),
      blob: async () => 1,
    };
  };
}

const settle = () => new Promise((resolve) => originalSetTimeout(resolve));

async function openSheet(input = {}, server = {}) {
  const box = document.createElement("div");
  document.body.replaceChildren(box);
  const controller = new AbortController();
  const update = fillExport(box, { words: WORDS, ask: aServer(server), signal: controller.signal, ...input });
  await settle();
  const find = (selector) => box.querySelector(selector);
  const choose = async (name, value) => {
    const input = [...box.querySelectorAll(`input[name="export-${name}"]`)].find((item) => item.value === value);
    input.checked = true;
    input.dispatchEvent(new page.Event("change"));
    await settle();
  };
  return { box, find, choose, update, controller, status: () => find(".export-status").textContent };
}

beforeEach(() => {
  [calls, decodedAddresses, releasedAddresses, brokenAddresses] = [[], [], [], new Set()];
});

test("a figure of one's own picture is asked for with the key and shown as a blob", async () => {
  const sheet = await openSheet({ words: { mine: "abc", model: "bundled" } });
  assert.deepEqual(
    calls.map(({ path, options }) => [path.split("?")[0], options.method]),
    [
      ["api/exports", "GET"],
      ["figure.png", "POST"],
    ],
  );
  assert.match(sheet.find("img").src, /^blob:/);
  assert.ok(sheet.find(".export-copy:last-child").hidden, "it has no address that a web page could hold");
});

test("a refusal is a sentence in the sheet", async () => {
  const sentence = "This browser's picture is not there.";
  const sheet = await openSheet(
    {},
    { refuse: { "api/exports": Object.assign(new Error(sentence), { says: sentence, status: 404 }) } },
  );
  assert.equal(sheet.status(), sentence);
  assert.ok(sheet.find(".export-download").disabled);
});
