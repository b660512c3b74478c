// Makes a lens without painting. The test gives the answers of the source and sets the clock.

import { mock } from "node:test";

import { askForMissing, receive } from "../../../playground/microscope/lens/asking.js";
import { askForExplained as explain } from "../../../playground/microscope/lens/explained.js";
import { createState, resolve } from "../../../playground/microscope/lens/state.js";
import { packOf } from "../packs.mjs";

globalThis.matchMedia ??= () => ({ matches: false });

let clockMs = 0;
mock.timers.enable({ apis: ["setTimeout"] });
mock.method(performance, "now", () => clockMs);

// Moves the clock on by this many milliseconds, and lets promises and timers run.
export async function passTime(ms = 0) {
  await new Promise(setImmediate);
  clockMs += ms;
  mock.timers.tick(ms);
  await new Promise(setImmediate);
}

const EXPLAINED_KINDS = ["relevance", "occlusion", "label", "labels", "text"];
const ALL_OFFERS = ["layers", "features", "rollout", ...EXPLAINED_KINDS, "whole", "cuts", "puts", "names"];

// A source that records each request in `questions`: [{text: "layers cat 2", heads, signal, answer(value),
// fail(error)}].
export function aSource(offers = ALL_OFFERS) {
  const questions = [];
  const ask =
    (kind) =>
    (trace, ...args) => {
      const { heads, signal } = args.pop() ?? {};
      const isGiven = (item) => item !== "" && item !== null;
      const valuesOf = (word) => (Array.isArray(word) ? word : Object.values(word).filter(isGiven));
      const words = args.flatMap((word) => (word && typeof word === "object" ? valuesOf(word) : [word]));
      const text = [kind, trace.id, ...words].join(" ");
      const question = { text, heads, signal };
      questions.push(question);
      return new Promise((answer, reject) => Object.assign(question, { answer, fail: reject }));
    };
  const kinds = [
    "layers",
    "picture",
    "features",
    "values",
    "flows",
    "rollout",
    ...EXPLAINED_KINDS,
    "names",
    "whole",
    "moved",
  ];
  return { offers, questions, ...Object.fromEntries(kinds.map((kind) => [kind, ask(kind)])) };
}

export const aTrace = (id, overrides = {}) => ({
  id,
  title: "small",
  picture: { id: `picture of ${id}` },
  ...overrides,
});

// A lens whose main entry has this pack.
export function aLens({ pack = {}, view = {}, offers, ahead = false, host = {} } = {}) {
  const source = aSource(offers);
  const failures = [];
  const lensHost = { source, failed: (error) => failures.push(error.message), ...host };
  const lens = createState(null, { message: {} }, lensHost);
  lens.choice.layersWanted = ahead;
  Object.assign(lens.page, { explained: { timer: 0 } });
  lens.data.main = receive(lens.data, aTrace("cat"), packOf(pack));
  lens.choice.view = { ...lens.choice.view, layer: 0, query: "0,0", ...view };
  lens.page.schedule = () => runFrame(lens);
  return { lens, source, failures };
}

// Runs the part of a frame that asks the source. `pointed`: the frame follows a move of the cursor.
export function runFrame(lens, pointed = false) {
  resolve(lens);
  askForMissing(lens, pointed);
  explain(lens);
}

// The texts of the requests since the last call.
export function newRequests(source) {
  const newQuestions = source.questions.filter((question) => !question.seen);
  for (const question of newQuestions) question.seen = true;
  return newQuestions.map(({ text }) => text);
}

// The latest request whose text begins with `beginning`.
export function latestRequest(source, beginning) {
  const request = source.questions.findLast((question) => question.text.startsWith(beginning));
  if (!request) throw new Error(`Nothing like "${beginning}" was asked: ${source.questions.map(({ text }) => text)}`);
  return request;
}
