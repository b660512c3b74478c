import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { createState } from "../../../playground/microscope/lens/state.js";
import { MICROSCOPE } from "../support.mjs";
import { writersIn, writersInTable } from "./writers.mjs";

globalThis.matchMedia ??= () => ({ matches: false });
const { choice, data, frame } = createState(null, {}, {});
const PROPERTIES = Object.fromEntries(
  Object.entries({ choice, data, frame }).map(([name, source]) => [name, Object.keys(source)]),
);

const LENS_FOLDER = join(MICROSCOPE, "lens");
const SOURCES = Object.fromEntries(
  readdirSync(LENS_FOLDER)
    .filter((name) => name.endsWith(".js"))
    .map((name) => [name, readFileSync(join(LENS_FOLDER, name), "utf8")]),
);

const linesOf = (writers) =>
  [...writers]
    .filter(([, properties]) => properties.size)
    .map(([file, properties]) => `${file}: ${[...properties].sort().join(" ")}`);

test("a module writes what the table at the top of lens.js gives it, and the table gives nothing else", () => {
  const writersListed = writersInTable(SOURCES["lens.js"]);
  assert.ok(writersListed.size > 15, `${writersListed.size} lines`);
  assert.deepEqual(linesOf(writersIn(SOURCES, PROPERTIES)), linesOf(writersListed));
});

test("no two of the objects have a property of the same name", () => {
  const names = Object.values(PROPERTIES).flat();
  assert.deepEqual(names, [...new Set(names)]);
});

const writtenProperties = (body, parameters = "choice, data, frame") =>
  [
    ...writersIn({ "made_up.js": `export function f(${parameters}) {\n${body}\n}\n` }, PROPERTIES).get("made_up.js"),
  ].join(" ");

test("writes are found, however they are written", () => {
  for (const [body, expected, parameters] of [
    ["  choice.hover = 3;", "choice.hover"],
    ["  lens.choice.view = { ...view };", "choice.view", "lens"],
    ["  frame.sampled++;\n  frame.unit *= 2;\n  frame.photo ??= null;", "frame.sampled frame.unit frame.photo"],
    ["  choice.aim = choice.hover = -1;", "choice.aim choice.hover"],
    ["  Object.assign(data, { main, other: null });", "data.main data.other"],
    ["  Object.assign(choice.pointer, { fresh: true });", "choice.pointer"],
    ["  data.packs.set(id, entry);\n  data.flows.clear();", "data.packs data.flows"],
    ["  const { shown } = frame;\n  shown.peak = 3;", "frame.shown"],
    ["  const { view } = choice,\n    { live } = frame;\n  live.key = view.what;", "frame.live"],
    ["  const { list: kept } = data.scenes;\n  kept.push(1);", "data.scenes"],
    ["  const painting = choice.painting;\n  painting.patches.add(1);", "choice.painting"],
    ["  samples[sampled % 6] = 1;", "frame.samples", "{ samples, sampled }"],
    ["  strip.heat = null;", "frame.strip", "{ view }, { strip }"],
    ["  tag.text = '';", "frame.tag", "{ choice: { view }, frame: { tag } }"],
    ["  const shown = resolve(choice, data, frame);\n  shown.mark = 3;", "frame.shown"],
    ["  keep(data.labels);\n}\nfunction keep(map) {\n  map.set(1, 2);", "data.labels"],
  ])
    assert.equal(writtenProperties(body, parameters), expected, body);
});

test("reading a property, or writing to other objects, is no write", () => {
  for (const body of [
    "  if (choice.hover === 3 || frame.unit >= 2) return frame.photo;",
    "  const still = (x) => frame.painted <= x;\n  page.reportTimer = 0;\n  lens.page.askTimer++;",
    "  const { view } = choice;\n  const wide = view.what === 'wall';",
    "  let hover = 2;\n  hover = 3;\n  refs.picture.width = 3;",
    "  // choice.hover = 3;\n  const at = data.packs.get(3);",
    "  keep(data.labels);\n}\nfunction keep(map) {\n  return map.get(1);",
  ])
    assert.equal(writtenProperties(body), "", body);
});

test("a write that the table lacks is found, and one that only the table has", () => {
  const table =
    "// What each file writes:\n//\n//   one.js   choice: view hover\n//             aim; frame: unit\n\nimport x\n";
  const writersListed = writersInTable(table);
  assert.deepEqual(linesOf(writersListed), ["one.js: choice.aim choice.hover choice.view frame.unit"]);
  const sources = {
    "one.js": "function f(choice) {\n  choice.view = choice.aim = 1;\n}\n",
    "two.js": "function g(frame) {\n  frame.unit = 3;\n}\n",
  };
  assert.notDeepEqual(linesOf(writersIn(sources, PROPERTIES)), linesOf(writersListed));
  assert.deepEqual(linesOf(writersIn(sources, PROPERTIES)), ["one.js: choice.aim choice.view", "two.js: frame.unit"]);
});
