import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../../playground/microscope/core/core.js";
import { openingOf, searchMoments } from "../../../playground/microscope/core/moments.js";
import { queryOf } from "../../../playground/microscope/core/view.js";
import {
  bindMoment,
  keysForSearch,
  lookForMoment,
  noteOpening,
  sceneOf,
  surprise,
} from "../../../playground/microscope/lens/moment.js";
import { packOf } from "../packs.mjs";
import { aLens, aTrace, passTime } from "./alens.mjs";

const ALL_LAYERS = { held: [0, 1, 2, 3], grid: [6, 7], layers: 4 };
// A finer grid, in which two distant discs of 2 × 2 patches attend to each other.
const FINER_COLUMNS = 14;
const isInDisc = (row, column) => [4, 5].includes(row) && [3, 4, 9, 10].includes(column);
const STRIKING = {
  ...ALL_LAYERS,
  grid: [12, FINER_COLUMNS],
  numbers: (_source, _layer, _head, i) => {
    const patch = Math.floor(i / 4) - 1;
    const isClass = patch < 0;
    if (isClass || isInDisc(Math.floor(patch / FINER_COLUMNS), patch % FINER_COLUMNS)) return i % 4 ? 0 : 3;
    return i % 4 ? Math.sin(1.7 * i * i) : -1;
  },
};
// A picture without parts: every patch is like every other.
const PLAIN = { ...ALL_LAYERS, numbers: (_source, _layer, _head, i) => (i < 4 ? 1 : 0.5) };
const OWN_TRACE = aTrace("own", { private: true, model: "small" });

// A lens that has just opened the reader's own photograph with this view.
function openedLens({ view = {}, trace = OWN_TRACE, pack = ALL_LAYERS, offers } = {}) {
  const { lens } = aLens({ pack, offers });
  const choices = [];
  const moves = [];
  lens.page.refs = { picture: new EventTarget(), message: {} };
  lens.data.main = { ...lens.data.main, trace, picture: { id: "photograph" } };
  lens.choice.view = { ...lens.choice.view, layer: 2, head: 0, query: "3,3" };
  lens.page.choose = (change) => {
    choices.push(change);
    lens.choice.view = { ...lens.choice.view, ...change };
  };
  lens.page.opens = () => moves.push("opened");
  lens.page.schedule = () => lookForMoment(lens);
  bindMoment(lens);
  noteOpening(lens, view);
  lookForMoment(lens);
  return { lens, choices, moves };
}

async function finishSearch(lens) {
  for (let round = 0; round < 200 && !sceneOf(lens.data); round++) await passTime(200);
  await passTime();
  assert.ok(sceneOf(lens.data), "the search has ended");
}

// [layer, head, query] of the row at which a picture opens, and its kind.
function openingRow(options = ALL_LAYERS) {
  const pack = unpack(packOf(options));
  const steps = searchMoments(pack, keysForSearch(pack));
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { kind, layer, head, token } = openingOf(step.value);
  return { kind, row: [layer, head, queryOf(token, pack)] };
}

const shownRow = ({ choice: { view } }) => [view.layer, view.head, view.query];

const eventWith = (name, values) => Object.assign(new Event(name), values);

test("where nothing stands out, the class token's row opens and a message says so until somebody points", async () => {
  const { lens, choices, moves } = openedLens({ pack: PLAIN });
  assert.equal(openingRow(PLAIN).kind, "nothing");
  await finishSearch(lens);
  assert.deepEqual([lens.choice.view.what, lens.choice.view.query], ["weight", "cls"]);
  assert.deepEqual([moves, choices], [["opened"], []]);
  assert.match(lens.page.refs.message.textContent, /No patch stands out/);
  for (const clientX of [5, 15])
    lens.page.refs.picture.dispatchEvent(eventWith("pointermove", { clientX, clientY: 5 }));
  assert.equal(lens.page.refs.message.textContent, "");
  lens.data.main = { ...lens.data.main, id: "next", picture: { id: "another" } };
  noteOpening(lens, null);
  assert.equal(lens.choice.opening.kind, "", "nothing of the former picture is claimed");
});

test("a coarse grid is not searched again; the finer one is, where the coarse one had nothing", async () => {
  const { lens, moves } = openedLens({ pack: PLAIN, trace: { ...OWN_TRACE, words: { first: "yes" } } });
  await passTime(2000);
  assert.deepEqual(moves, []);
  lens.data.main = { ...lens.data.main, id: "finer", trace: OWN_TRACE, pack: unpack(packOf(STRIKING)) };
  noteOpening(lens, null);
  lookForMoment(lens);
  await finishSearch(lens);
  assert.equal(openingRow(STRIKING).kind, "far");
  assert.deepEqual(shownRow(lens), openingRow(STRIKING).row);
});

test("nobody's choice is overruled: a head, a cursor, a click, an address, a lock", async () => {
  const cases = {
    head: ({ lens }) => lens.page.choose({ head: 1 }),
    cursor: ({ lens }) => {
      lens.page.refs.picture.dispatchEvent(eventWith("pointermove", { clientX: 5, clientY: 5 }));
      lens.page.refs.picture.dispatchEvent(eventWith("pointermove", { clientX: 15, clientY: 5 }));
    },
    click: ({ lens }) => lens.page.refs.picture.dispatchEvent(new Event("pointerdown")),
    lock: ({ lens }) => {
      lens.choice.view = { ...lens.choice.view, locked: true };
    },
  };
  for (const [name, interfere] of Object.entries(cases)) {
    const openLens = openedLens();
    interfere(openLens);
    await finishSearch(openLens.lens);
    assert.deepEqual(openLens.moves, [], name);
  }
  const { lens, moves } = openedLens({ view: { layer: "2" } });
  await finishSearch(lens);
  assert.deepEqual(moves, [], "an address");
});

test("another photograph moves again, the same one on a finer grid does not if it was touched", async () => {
  const { lens, moves } = openedLens();
  lens.page.choose({ head: 1 });
  noteOpening(lens, null);
  await finishSearch(lens);
  assert.equal(moves.length, 0);
  lens.data.main = { ...lens.data.main, id: "next", picture: { id: "another" } };
  noteOpening(lens, null);
  lookForMoment(lens);
  await finishSearch(lens);
  assert.deepEqual(moves, ["opened"]);
});

test("surprises go round and lock their patch", async () => {
  const { lens, choices } = openedLens();
  await finishSearch(lens);
  const surprises = [];
  for (let n = 0; n < 12; n++) {
    surprise(lens);
    const { layer, head, query, locked } = choices.at(-1);
    assert.ok(locked);
    surprises.push(`${layer} ${head} ${query}`);
  }
  const distinctSurprises = new Set(surprises);
  assert.ok(distinctSurprises.size > 1 && distinctSurprises.size <= 8, [...distinctSurprises].join("; "));
  assert.equal(surprises[0], surprises[distinctSurprises.size]);
});
