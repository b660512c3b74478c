// The record of the row on view, from which core/says.js makes a sentence, and the place that the picture outlines.

import { largestIndex, layerOf } from "../core/core.js";
import { ALIKE_COSINE, alikeness, carriedBy, LEAST_SINK_SHARE, LITTLE } from "../core/kinds.js";
import { isEven } from "../core/light.js";
import { partAt, toldOf } from "../core/places.js";
import { writeRow } from "../core/says.js";
import { prefixName } from "../core/sentence.js";
import { shapeOf } from "../core/things.js";
import { FIRST_WAY } from "../core/ways.js";
import { sceneOf } from "./moment.js";
import { habitOf } from "./state.js";

const THING_BORDER = 0.25; // how much less a thing's outside is like it than its inside, at least

// The record of the row of weights on view, or null where none is: maps, columns, other ways to look.
export function rowOnView(lens) {
  const { data, view, shown } = lens;
  if (view.what !== FIRST_WAY || view.direction !== "row" || !shown.answers.ready[view.head]) return null;
  const { answers, pack } = shown;
  const start = view.head * pack.tokens;
  const row = rowRecord(answers.weights, start, answers.entropies[view.head], data, shown);
  row.sink = sinkOf(lens, largestIndex(answers.weights, start, start + pack.tokens) - start, row);
  const isOff = Math.abs(shown.scale - 1) < 1e-9 && shown.altered;
  const likeness = likenessNow(data, shown);
  const ownPlace = row.told.places.find(({ own }) => own);
  if (row.told.kind !== "spread") {
    if (likeness && ownPlace)
      ownPlace.thing = shapeOf(ownPlace.patches, sceneOf(data).directions, pack).border >= THING_BORDER;
    return { ...row, off: isOff, alike: null };
  }
  const weights = answers.weights.subarray(view.head * pack.tokens + pack.prefixCount);
  let alike = 0;
  for (let j = 0; likeness && j < pack.patches; j++) if (likeness(j) >= ALIKE_COSINE) alike += weights[j];
  return { ...row, off: isOff, alike: likeness && alike };
}

// Which kind of sink has the row's largest share: "nothing", "one thing", "neither", "unknown"; "" if it is on none.
// The heads' names say it of what takes much of all rows; until they are here, a short value of a special token does.
function sinkOf(lens, token, { most }) {
  const { view, shown } = lens;
  const { pack } = shown;
  const habit = habitOf(lens, view.layer, view.head);
  if (habit) return habit.sink?.[0] === token ? habit.sink[1] : "";
  if (shown.altered || token >= pack.prefixCount || most < LEAST_SINK_SHARE) return "";
  const norms = layerOf(pack, view.layer).norms?.subarray(view.head * pack.tokens, (view.head + 1) * pack.tokens);
  return norms && carriedBy(norms, token) < LITTLE ? "nothing" : "unknown";
}

// The record of any row of the asking patch. start: the index of its first weight.
export function rowRecord(weights, start, entropy, data, { pack, mark }) {
  const parts = data.main.picture.parts ?? [];
  const largest = largestIndex(weights, start, start + pack.tokens) - start;
  return {
    told: toldOf(weights, start + pack.prefixCount, pack, mark, parts),
    fromPart: mark < 0 ? null : partAt(parts, mark, pack),
    most: weights[start + largest],
    even: isEven(entropy, pack.tokens),
    token: largest < pack.prefixCount ? prefixName(pack.prefix[largest]) : "",
  };
}

// A function patch → how much it looks like the asking patch; null while the late keys are on their way.
function likenessNow(data, { pack, mark }) {
  const scene = sceneOf(data);
  if (mark < 0 || !scene || scene.pack.rows !== pack.rows || scene.pack.columns !== pack.columns) return null;
  return (patch) => alikeness(scene.directions, mark, patch);
}

// The sentence for people who do not see the picture; "" where none is told.
export const rowInWords = ({ row, pack }, language = "en") => (row ? writeRow(language, row, pack.columns) : "");
