// See as a whole, mounted in a lens.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createSee } from "../../../playground/microscope/see/see.js";
import { createStory } from "../../../playground/microscope/story/story.js";
import { aTrace, passTime } from "../lens/alens.mjs";
import { draw, mountLens } from "../lens/mounted.mjs";

const see = (lens) => createSee(lens, { face: "see", language: () => "en", turned() {} });
const mountSee = (options = {}) => mountLens({ pack: { grid: [6, 7] }, view: { layer: 1 }, host: { see }, ...options });

for (const face of ["see", "lab"])
  test(`a button's name contains what stands on it, in ${face}`, async () => {
    const host = { see: (lens) => createSee(lens, { face, language: () => "en", turned() {} }) };
    const microscope = await mountSee({ host });
    const plain = (text) => text.replace(/\s+/g, " ").trim().toLowerCase();
    const named = [...microscope.root.querySelectorAll("button[aria-label]")];
    const otherNames = named
      .map((button) => [plain(button.getAttribute("aria-label")), plain(button.textContent)])
      .filter(([name, text]) => /\w/.test(text) && !name.includes(text));
    assert.ok(named.length > 0);
    assert.deepEqual(otherNames, []);
  });

const openSheets = ({ part }) => ["sending", "keys"].filter((name) => !part(`${name}Sheet`).hidden).join();

test("a sheet that shows the former picture closes when another one is on its way, and when it comes", async () => {
  const microscope = await mountSee();
  microscope.lens.share();
  assert.equal(openSheets(microscope), "sending");
  microscope.lens.wait("Your photograph is on its way");
  assert.equal(openSheets(microscope), "");
  microscope.lens.wait(null);
  microscope.lens.share();
  await microscope.show("dog");
  assert.equal(openSheets(microscope), "");
});

test("moments of the former picture are gone as soon as the first, coarse look at the next one is here", async () => {
  const microscope = await mountSee();
  const buttons = () => microscope.find(".see-moments").children.length;
  for (let round = 0; round < 200 && !buttons(); round++) {
    await passTime(200);
    draw();
  }
  assert.ok(buttons(), "the moments of the first picture");
  await microscope.show("dog", { main: aTrace("dog", { model: "small", words: { first: "yes" } }) });
  assert.equal(buttons(), 0);
});

// The story's host without a class; `scene`: the number of the scene on view.
const tellStory = (scene) => (lens, seeNow) =>
  createStory(lens, seeNow, {
    language: () => "en",
    way: { at: () => scene, go() {}, lesson: () => null, place: () => ({ model: "small", sample: "cat" }) },
    klass: { headIn: () => ({ drawHead() {} }), follow() {}, now: () => null, go() {} },
  });

test("the arrow keys aim at a place of the story's picture, and Enter guesses it", async () => {
  const story = tellStory(1);
  const host = { see: (lens) => createSee(lens, { face: "see", language: () => "en", turned() {}, story }) };
  const microscope = await mountSee({ host, pack: { grid: [6, 7], patch: 16 }, view: { layer: 1, query: "2,3" } });
  const aims = () => [...microscope.root.querySelectorAll(".story-over .aim")];
  microscope.key("Enter");
  assert.equal(microscope.find(".story-after").textContent, "", "no place is chosen yet");
  microscope.key("ArrowRight");
  microscope.key("ArrowUp");
  assert.deepEqual(
    aims().map((aim) => [aim.getAttribute("y"), aim.getAttribute("x")]),
    [["1", "4"]],
  );
  assert.equal(microscope.lens.read().query, "2,3", "the story's patch asks, whatever the keys aim at");
  microscope.key("Enter");
  assert.deepEqual([aims().length, microscope.find(".story-guess").textContent], [0, ""]);
  assert.notEqual(microscope.find(".story-after").textContent, "");
});

test("without touch the sheet begins with the picture; it leads to figures where the page has them", async () => {
  let opened = 0;
  const figures = () => opened++;
  const microscope = await mountSee({ host: { see, figures } });
  microscope.click(microscope.part("sending"));
  const [first] = microscope.part("shareWays").children;
  assert.deepEqual([first.dataset.share, first.getAttribute("aria-pressed")], ["picture", "true"]);
  assert.equal(microscope.find(".figures").hidden, false);
  microscope.click(microscope.find(".figures"));
  assert.deepEqual([opened, microscope.part("sendingSheet").hidden], [1, true]);
});
