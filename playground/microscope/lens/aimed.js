// The token that is pointed at while a patch is locked, and what the locked one gives it.

import { largestIndex } from "../core/core.js";
import { rankOf, scoreOf } from "../core/pair.js";
import { divisorOf, scaleText } from "./readouts.js";

// What the row (or column) on view says of the token pointed at; null where none is.
export function aimedPair(lens) {
  const { aim, view, shown } = lens;
  if (aim < 0 || shown.layerMissing || !shown.answers?.ready[view.head]) return null;
  const { pack, answers, token, scale } = shown;
  if (aim >= pack.tokens) return null;
  const at = view.head * pack.tokens;
  const [query, key] = view.direction === "row" ? [token, aim] : [aim, token];
  return {
    query,
    key,
    weight: answers.weights[at + aim],
    rank: rankOf(answers.weights, aim, at, pack.tokens),
    of: pack.tokens,
    score: scoreOf(pack, view.layer, view.head, query, key, scale),
  };
}

// The pair that the arithmetic is about: the one pointed at, else the largest weight.
export function chosenPair(lens) {
  const pair = aimedPair(lens);
  if (pair) return pair;
  const { shown, view } = lens;
  if (shown.layerMissing || !shown.answers?.ready[view.head]) return null;
  const at = view.head * shown.pack.tokens;
  const best = largestIndex(shown.answers.weights, at, at + shown.pack.tokens) - at;
  return view.direction === "row" ? { query: shown.token, key: best } : { query: best, key: shown.token };
}

// From 0; −1: no patch is pointed at.
export const rankOfAim = (lens) => (aimedPair(lens)?.rank ?? 0) - 1;

export const grouped = (count) => count.toLocaleString("en");

// "q·k/√64", or whatever the scale makes of it.
export function productText(pack, scale) {
  if (Math.abs(scale - 1) < 1e-9) return "q·k";
  return Math.abs(scale / pack.scale - 1) < 1e-6 ? `q·k/${divisorOf(pack)}` : `q·k × ${scaleText(scale)}`;
}
