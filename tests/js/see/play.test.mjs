// Play: the layers of a row, one after the other.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { createSee } from "../../../playground/microscope/see/see.js";
import { passTime } from "../lens/alens.mjs";
import { draw, mountLens } from "../lens/mounted.mjs";

const see = (lens) => createSee(lens, { face: "see", language: () => "en", turned() {} });
const VIEW = { layer: 1, head: 1, query: "3,3", locked: true };
const mountSee = (options = {}) => mountLens({ pack: { grid: [6, 7] }, view: VIEW, host: { see }, ...options });

// Moves the clock of frames, and draws one frame.
let clock = 1000;
mock.method(performance, "now", () => clock);
const after = (ms) => {
  clock += ms;
  draw(1);
};

async function startPlay(microscope, key = "p") {
  microscope.key(key);
  await passTime(0);
  for (let n = 0; n < 3; n++) after(0);
}

const said = (microscope) => microscope.find(".see-says").textContent;
const isPlaying = (microscope) => microscope.root.classList.contains("plays");

test("p plays three seconds through all layers and ends where it began", async () => {
  const microscope = await mountSee();
  const [before, view] = [said(microscope), microscope.lens.view];
  await startPlay(microscope);
  const sentences = [];
  for (let ms = 0; ms < 3000 && isPlaying(microscope); ms += 100) {
    if (sentences.at(-1) !== said(microscope)) sentences.push(said(microscope));
    assert.match(microscope.find(".provenance").textContent, new RegExp(`^layer ${sentences.length - 1}, head 1`));
    after(100);
  }
  const expected = [0, 1, 2, 3].map((layer) => `In layer ${layer} it looks at what lights up.`);
  assert.deepEqual(sentences, expected);
  after(100);
  assert.equal(isPlaying(microscope), false);
  assert.deepEqual([said(microscope), microscope.lens.view], [before, view]);
});

for (const [what, act] of Object.entries({
  "a second p": (microscope) => microscope.key("p"),
  Escape: (microscope) => microscope.key("Escape"),
  pointing: ({ part, point }) => point("pointermove", part("picture"), 0.9, 0.9),
  "another head": (microscope) => microscope.key("."),
}))
  test(`${what} stops Play`, async () => {
    const microscope = await mountSee();
    await startPlay(microscope);
    after(1000);
    assert.ok(isPlaying(microscope), said(microscope));
    act(microscope);
    after(0);
    assert.equal(isPlaying(microscope), false);
    assert.doesNotMatch(said(microscope), /^In layer/);
    assert.equal(microscope.find(".see-plays").getAttribute("aria-pressed"), "false");
    assert.equal(microscope.lens.view.locked, true, "what stopped it does nothing else");
  });

test("a page that holds one layer has no button to play", async () => {
  const microscope = await mountSee({ pack: { grid: [6, 7], held: [1] }, host: { see, offers: [] } });
  assert.ok(microscope.find(".see-plays").hidden);
  microscope.key("p");
  after(100);
  assert.equal(isPlaying(microscope), false);
});
