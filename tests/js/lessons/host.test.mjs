import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../../playground/microscope/core/core.js";
import { callsOf } from "../canvas.mjs";
import { packOf } from "../packs.mjs";
import { mountPart } from "./mounting.mjs";

const { default: playParts } = await import("../../../playground/microscope/lessons/host.js");
const {
  questionOf: questionAbout,
  chartOf,
  pictureOf,
  ROWS,
  unitColours,
} = await import("../../../playground/microscope/lessons/subject.js");
const { sourceRead } = await import("../../../playground/microscope/drawing/listing.js");

// A step of a lesson as on the site without a server; `drawing.settings` holds the settings that controls change.
function playStep(parts, settings, options = {}, overrides = {}) {
  const state = { settings, defaults: { ...settings }, options, scripts: {}, read: async () => null, fileAt: String };
  state.link = (page, words) => `#${new URLSearchParams({ page, ...words })}`;
  Object.assign(state, overrides);
  const controller = new AbortController();
  let step = null;
  state.set = (changes) => {
    Object.assign(settings, changes);
    step.draw();
  };
  const mount = ({ parentElement }) => {
    step = playParts(parentElement, parts, state, controller.signal);
    step.draw();
    return () => step.end();
  };
  return { ...mountPart(mount, {}), settings, controller };
}

const CHOICE_PART = {
  kind: "choice",
  setting: "scale",
  label: "Scale",
  options: [
    ["on", "with *it*"],
    ["off", "without"],
  ],
};
const WORDS_BY_SCALE = {
  kind: "each",
  by: ["scale"],
  of: { on: { kind: "words", text: "**even**" }, off: { kind: "words", text: "sharp" } },
};

test("a part that changes with a setting follows the button that sets it", () => {
  const drawing = playStep([CHOICE_PART, WORDS_BY_SCALE], { scale: "on" });
  assert.equal(
    drawing.find(".lesson-words").innerHTML.includes("<b>even</b>"),
    true,
    drawing.find(".lesson-words").innerHTML,
  );
  const [on, off] = drawing.parentElement.querySelectorAll("button");
  assert.deepEqual(
    [on, off].map((item) => item.getAttribute("aria-pressed")),
    ["true", "false"],
  );
  drawing.click(off);
  assert.equal(drawing.settings.scale, "off");
  assert.equal(drawing.find(".lesson-words").textContent.trim(), "sharp");
  assert.deepEqual(
    [on, off].map((item) => item.getAttribute("aria-pressed")),
    ["false", "true"],
  );
});

test("a value that was not played becomes the nearest that was", () => {
  const drawing = playStep([WORDS_BY_SCALE], { scale: "twice" });
  assert.equal(drawing.settings.scale, "on");
});

test("a slider says which of its options is chosen", () => {
  const drawing = playStep([{ ...CHOICE_PART, kind: "slider" }], { scale: "off" });
  assert.equal(drawing.find("output").textContent, "without");
  drawing.input(drawing.find("input"), "0");
  assert.equal(drawing.settings.scale, "on");
  assert.equal(drawing.find("output").textContent, "with *it*");
});

test("what comes after a question is hidden until it is guessed", () => {
  document.documentElement.dataset.guessed = "";
  const drawing = playStep([{ kind: "words", text: "the answer", after: "scale_spread" }], {});
  const place = drawing.find(".lesson-words");
  assert.equal(place.hidden, true);
  document.documentElement.dataset.guessed = "scale_spread";
  dispatchEvent(new CustomEvent("guess-locked"));
  assert.equal(place.hidden, false);
  document.documentElement.dataset.guessed = "";
});

test("a link of the app leads to the same page here", () => {
  const drawing = playStep([{ kind: "words", text: "see [the scale](./scale?step=rows)" }], {});
  assert.match(drawing.find("a").getAttribute("href"), /^#page=scale&step=rows$/);
});

test("a formula stands beside the lines of code that it is for, and a docstring is no code", () => {
  const lines = [
    { number: 7, text: '    """What for."""', mark: "", formula: "" },
    { number: 8, text: "    x = q @ k.mT", mark: "", formula: "QKᵀ" },
  ];
  const drawing = mountPart(sourceRead, { parts: [{ file: "vit.py", lines }] });
  assert.deepEqual(drawing.texts("s"), ["7", "8"]);
  assert.deepEqual(drawing.texts(".noted em"), ["QKᵀ"]);
  assert.equal(drawing.find(".comment").textContent.trim(), '"""What for."""');
});

// ----------------------------------------------------------------------------------------- an own photograph

const PACK = unpack(packOf({ layers: 2, held: [0, 1], grid: [3, 5] }));
const WORDS_WITH_MEASURES = {
  kind: "words",
  text: "{side} patches, {layers:,} layers, {a model}",
  values: {
    side: { measure: "longer_side", says: "14" },
    layers: { measure: "layers_needed", kernel: 3, says: "13" },
  },
};

test("words have the values of the sample, or of the photograph that is on show", () => {
  assert.equal(
    playStep([WORDS_WITH_MEASURES], {}).find(".lesson-words").textContent.trim(),
    "14 patches, 13 layers, {a model}",
  );
  const drawing = playStep([WORDS_WITH_MEASURES], {}, {}, { subject: { id: "mine", pack: PACK } });
  assert.equal(drawing.find(".lesson-words").textContent.trim(), "5 patches, 4 layers, {a model}");
});

test("a part that stays the sample's says so beside a photograph, and only there", () => {
  const parts = [{ kind: "words", text: "measured", stays: true }, WORDS_WITH_MEASURES];
  const staysText = "These numbers are of a sample.";
  assert.equal(playStep(parts, {}, {}, { stays: staysText }).find(".lesson-whose"), null);
  const drawing = playStep(parts, {}, {}, { stays: staysText, subject: { id: "mine", pack: PACK } });
  assert.deepEqual(drawing.texts(".lesson-whose"), [staysText]);
  assert.match(drawing.find(".lesson-whose").parentElement.textContent, /measured/);
});

test("a question about an own photograph has that photograph's truth, words and context", async () => {
  const question = { id: "q", truth: 24, says: "of 7,056 rows", asks: "In ▢ of 100" };
  const sentence = { text: "of {rows:,} rows", values: { rows: { measure: "rows_asked", says: "7,056" } } };
  const askPart = {
    kind: "ask",
    question,
    context: "meadow",
    own: { truth: { measure: "differing" }, says: sentence },
  };
  const ownQuestion = await questionAbout(askPart, { id: "mine", pack: PACK });
  assert.equal(ownQuestion.says, `of ${PACK.patches * PACK.layers * PACK.heads} rows`);
  assert.ok(ownQuestion.truth >= 0 && ownQuestion.truth <= 100 && ownQuestion.truth !== 24);
  assert.deepEqual([ownQuestion.context, ownQuestion.asks, ownQuestion.id], ["mine", "In ▢ of 100", "q"]);
});

test("in a chart only the traces of the photograph change", async () => {
  const chart = { data: [{ y: [1] }, { y: [2], name: "b" }], layout: { title: "t" } };
  const recipes = { 1: { measure: "reaches", kernel: 3 } };
  const ownChart = await chartOf(chart, recipes, { pack: PACK });
  assert.deepEqual(ownChart, { data: [{ y: [1] }, { y: [1, 2], name: "b" }], layout: { title: "t" } });
});

test("the middle patch has a kernel's row of nine, an even row, and a head's row", () => {
  const { rows, columns, patches, prefixCount, tokens } = PACK;
  const kernel = ROWS.kernel(PACK);
  assert.deepEqual([kernel.length, kernel.reduce((rowSum, item) => rowSum + item)], [rows * columns, 9]);
  assert.equal(kernel[Math.floor(rows / 2) * columns + Math.floor(columns / 2)], 1);
  assert.deepEqual([...ROWS.even(PACK)], new Array(patches).fill(1));
  const row = ROWS.head(PACK, { layer: 1, head: 2 });
  assert.equal(row.length, tokens - prefixCount);
  const sum = row.reduce((total, item) => total + item);
  assert.ok(sum > 0 && sum < 1, "the class token has the rest");
});

test("colours become vectors of length one, and black counts as grey", () => {
  const [black, red] = [0, 1].map((n) =>
    [...unitColours(Float32Array.from([0, 0, 0, 0.5, 0, 0]))].slice(3 * n, 3 * n + 3),
  );
  for (const part of black) assert.ok(Math.abs(part - 3 ** -0.5) < 1e-6);
  assert.ok(Math.abs(red[0] - 1) < 1e-5 && red[1] < 1e-5);
});

test("each patch of a lit photograph is coloured where it lies, and the middle one is framed", async () => {
  const canvases = [];
  OffscreenCanvas.prototype.convertToBlob = async function convertToBlob() {
    canvases.push(this);
    return new Blob();
  };
  const pack = { rows: 3, columns: 5, patches: 15 };
  const own = { data: { made: "lit", row: "kernel" } };
  await pictureOf({ own, caption: "" }, { pack, bitmap: { width: 50, height: 30 } });
  const context = canvases[0].getContext("2d");
  const [, { data }] = callsOf(context, "putImageData").at(-1);
  const redOf = (patch) => data[4 * (50 * (10 * Math.floor(patch / 5) + 5) + 10 * (patch % 5) + 5)];
  const lit = Array.from({ length: 15 }, (_, patch) => patch).filter((patch) => redOf(patch) > 0);
  assert.deepEqual(lit, [1, 2, 3, 6, 7, 8, 11, 12, 13]);
  assert.deepEqual(
    callsOf(context, "strokeRect").map(([, ...box]) => box),
    [[20, 10, 10, 10]],
  );
});
