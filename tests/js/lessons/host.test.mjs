import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { container, packOf } from "../packs.mjs";
import { mountPart } from "./mounting.mjs";

const { default: playParts } = await import("../../../playground/microscope/lessons/host.js");
const { filled, makeSubject } = await import("../../../playground/microscope/lessons/subject.js");
const { openContainer } = await import("../../../playground/microscope/core/core.js");

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

const WORDS_BY_SCALE = {
  kind: "each",
  by: ["scale"],
  of: { on: { kind: "words", text: "**even**" }, off: { kind: "words", text: "sharp" } },
};

test("a value that was not played becomes the nearest that was", () => {
  const drawing = playStep([WORDS_BY_SCALE], { scale: "twice" });
  assert.equal(drawing.settings.scale, "on");
});

test("a drawing whose numbers were on their way draws what the reader set meanwhile", async () => {
  globalThis.CSSStyleSheet = document.defaultView.CSSStyleSheet;
  const drawn = [];
  let arrive = null;
  const scripts = {
    dots: { box: "dots", styles: "dots.css", mount: ({ data }) => void drawn.push(openContainer(data).header.scale) },
  };
  const read = (name) => (name === "dots.css" ? new Uint8Array() : new Promise((resolve) => (arrive = resolve)));
  const part = { kind: "drawing", name: "dots", file: "numbers", settings: ["scale"] };
  const drawing = playStep([part], { scale: "on" }, {}, { scripts, read });
  drawing.settings.scale = "off";
  arrive(container({ scale: "as Python wrote it" }, {}));
  while (!drawn.length) await null;
  assert.deepEqual(drawn, ["off"]);
});

// ------------------------------------------------------------------------------- what the browser computes of a trace

mock.timers.reset(); // from here on time passes: measuring all heads lets the page answer in between
const GRID = [3, 5];
const packBytes = (layer) => packOf({ layers: 2, held: [layer], grid: GRID });
const askedLayers = [];
const SOURCE = {
  open: async (words) => ({ id: `${words.sample} in ${words.model}`, model: words.model, grid: GRID, picture: {} }),
  picture: async () => ({ width: 50, height: 30 }),
  layers: async (_, [layer]) => {
    askedLayers.push(layer);
    return packBytes(layer);
  },
};
const PICTURE = { sample: "meadow", model: "bundled" };
const SUBJECT = await makeSubject(SOURCE, PICTURE);
const SENTENCE = {
  ...{ made: "words", text: "{side} patches, {layers:,} layers, {a model}" },
  ...{ side: { made: "longer_side" }, layers: { made: "layers_needed", kernel: 3 } },
};
const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

test("parts about one picture share its layers, and each is asked for once", async () => {
  askedLayers.length = 0;
  const share = { made: "words", text: "{share:.1f}", share: { made: "agreeing_percent" } };
  const view = { source: SOURCE, picture: { ...PICTURE, sample: "flock" } };
  playStep([{ kind: "words", text: share }], {}, {}, view);
  playStep([{ kind: "words", text: share }], {}, {}, view);
  await settled();
  assert.deepEqual(askedLayers.toSorted(), [0, 1]);
});

test("where the layers do not come, a line says so, and the next try asks again", async () => {
  const error = Object.assign(new Error(), { says: "The server is busy." });
  const broken = { ...SOURCE, open: () => Promise.reject(error) };
  const view = { source: broken, picture: { sample: "twins" } };
  const drawing = playStep([{ kind: "words", text: SENTENCE }], {}, {}, view);
  await settled();
  assert.match(drawing.find(".lesson-trouble").textContent, /The server is busy/);
  broken.open = SOURCE.open;
  drawing.click(drawing.find(".lesson-trouble button"));
  await settled();
  assert.match(drawing.find(".lesson-words").textContent, /5 patches/);
});

test("a recipe may stand anywhere in a part, also among the arguments of another", async () => {
  const question = {
    id: "q",
    truth: { made: "differing" },
    says: SENTENCE,
    tempting: [[[0, { made: "even_end" }], "x"]],
  };
  const { truth, says, tempting, id } = await filled(question, SUBJECT);
  assert.ok(truth >= 0 && truth <= 100);
  assert.deepEqual([id, says, tempting], ["q", "5 patches, 4 layers, {a model}", [[[0, 100 / 16 + 1], "x"]]]);
});

test("words may stand in the blank of other words", async () => {
  const sentence = {
    made: "words",
    text: "One. {side:.1f}. And {more}",
    side: { made: "longer_side" },
    more: "so on.",
  };
  assert.equal(await filled({ made: "words", text: "{told}!", told: sentence }, SUBJECT), "One. 5.0. And so on.!");
});

test("a chart keeps its form and gets the numbers of the picture", async () => {
  const figure = { data: [{ x: [0] }, { name: "b" }], layout: { title: "t" } };
  const chart = await filled({ made: "distances_chart", figure, kernel: 3 }, SUBJECT);
  assert.equal(chart.data[0].y.length, (await SUBJECT.report()).all.length);
  assert.deepEqual([chart.data[1], chart.layout], [{ y: [1, 2], name: "b" }, { title: "t" }]);
});
