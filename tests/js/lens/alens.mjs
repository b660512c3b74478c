// What the lens remembers, without what it paints; a source whose answers the test gives; a clock that the test turns.

import { mock } from "node:test";

import { askForMissing, receive } from "../../../playground/microscope/lens/asking.js";
import { askForExplained as explain } from "../../../playground/microscope/lens/explained.js";
import { createState, resolve } from "../../../playground/microscope/lens/state.js";
import { packOf } from "../packs.mjs";

globalThis.matchMedia ??= () => ({ matches: false });

let now = 0;
mock.timers.enable({ apis: ["setTimeout"] });
mock.method(performance, "now", () => now);

// Lets promises and timers do what they can do within so many milliseconds.
export async function pass(ms = 0) {
  await new Promise(setImmediate);
  now += ms;
  mock.timers.tick(ms);
  await new Promise(setImmediate);
}

const EXPLAINED = ["relevance", "occlusion", "label", "labels", "text", "patched"];
export const EVERYTHING = ["layers", "features", "rollout", ...EXPLAINED, "whole", "cuts", "names"];

// questions: [{text: "layers cat 2", heads, signal, answer(value), fail(error)}]
export function aSource(offers = EVERYTHING) {
  const questions = [];
  const ask =
    (kind) =>
    (trace, ...rest) => {
      const { heads, rounded, signal } = rest.pop() ?? {};
      const given = (one) => one !== "" && one !== null;
      const said = (word) => (Array.isArray(word) ? word : Object.values(word).filter(given));
      const words = rest.flatMap((word) => (word && typeof word === "object" ? said(word) : [word]));
      const text = [kind, trace.id, ...words].join(" ");
      const question = { text, heads, rounded, signal };
      questions.push(question);
      return new Promise((answer, fail) => Object.assign(question, { answer, fail }));
    };
  const kinds = ["layers", "picture", "features", "flows", "rollout", ...EXPLAINED, "names", "whole", "moved"];
  return { offers, questions, ...Object.fromEntries(kinds.map((kind) => [kind, ask(kind)])) };
}

export const aTrace = (id, more = {}) => ({ id, title: "small", picture: { id: `picture of ${id}` }, ...more });

// `pack`: of what the main entry begins with.
export function aLens({ pack = {}, view = {}, offers, film = false, host = {} } = {}) {
  const source = aSource(offers);
  const failures = [];
  const told = { source, failed: (error) => failures.push(error.message), ...host };
  const lens = createState(null, { message: {} }, told);
  lens.choice.filmWanted = film;
  Object.assign(lens.page, { film: { timer: 0 }, explained: { timer: 0 } });
  lens.data.main = receive(lens.data, aTrace("cat"), packOf(pack));
  lens.choice.view = { ...lens.choice.view, layer: 0, query: "0,0", ...view };
  lens.page.schedule = () => frame(lens);
  return { lens, source, failures };
}

// As a frame does; the cursor's: `pointed`.
export function frame(lens, pointed = false) {
  resolve(lens.choice, lens.data, lens.frame);
  askForMissing(lens, pointed);
  explain(lens);
}

// What has been asked since the last time, as texts.
export function asked(source) {
  const fresh = source.questions.filter((question) => !question.seen);
  for (const question of fresh) question.seen = true;
  return fresh.map(({ text }) => text);
}

// The question that is open, by its beginning.
export function open(source, beginning) {
  const found = source.questions.findLast((question) => question.text.startsWith(beginning));
  if (!found) throw new Error(`Nothing like "${beginning}" was asked: ${source.questions.map(({ text }) => text)}`);
  return found;
}
