// The moments of a picture, at most five: what the search found far away, a row that stays near, and a sink. No DOM in
// here.
import { holdsHead, rowInto } from "../core/core.js";
import { surprisesOf } from "../core/moments.js";
import { outsideNine, partAt, whereOf } from "./says.js";

const FAR_ONES = 3;
const CLOSE = 3; // patches: as good as the same place
const STAYS_NEAR = 0.35; // of a row within the 3 × 3 places
export const IN_A_SINK = 0.3; // of a row at one token of no place

// [{kind: "far" | "near" | "sink" | "same", layer, head, patch, best}], the opening one first. scene: what
// core/moments.js found; opening: {layer, head, patch} as the picture opened.
export function momentsOf(scene, opening) {
  const { pack } = scene;
  const found = [opening, ...surprisesOf(scene, 8)]
    .filter(Boolean)
    .map((one) => described(pack, one))
    .filter(({ kind }) => kind !== "itself");
  const kept = [];
  for (const one of found) {
    const again = kept.some(
      ({ patch, best }) =>
        (near(pack, patch, one.patch) && near(pack, best, one.best)) ||
        (near(pack, patch, one.best) && near(pack, best, one.patch)), // there and back is one moment
    );
    if (!again && kept.length < FAR_ONES) kept.push(one);
  }
  const patch = kept[0]?.patch ?? opening?.patch ?? Math.floor(pack.patches / 2);
  const others = [
    strongest(pack, patch, nearShare, STAYS_NEAR, "near"),
    strongest(pack, patch, sinkShare, IN_A_SINK, "sink"),
  ];
  return [...kept, ...others.filter(Boolean)].slice(0, 5);
}

const near = ({ columns }, one, other) =>
  Math.abs(Math.floor(one / columns) - Math.floor(other / columns)) <= CLOSE &&
  Math.abs((one % columns) - (other % columns)) <= CLOSE;

function trainedRow(pack, layer, head, patch) {
  const row = new Float32Array(pack.tokens);
  rowInto(row, 0, pack, layer, head, pack.prefixCount + patch, pack.scale);
  return row;
}

function largestPatch(row, { prefixCount, tokens }) {
  let best = prefixCount;
  for (let j = prefixCount; j < tokens; j++) if (row[j] > row[best]) best = j;
  return best - prefixCount;
}

function described(pack, { layer, head, patch }) {
  const best = largestPatch(trainedRow(pack, layer, head, patch), pack);
  const where = whereOf(patch, best, pack.rows, pack.columns);
  return { kind: where === "aside" ? "same" : where, layer, head, patch, best };
}

const nearShare = (row, pack, patch) => 1 - outsideNine(row, 0, pack, patch);
function sinkShare(row, { prefixCount }) {
  let most = 0;
  for (let j = 0; j < prefixCount; j++) most = Math.max(most, row[j]);
  return most;
}

// The head that is here in which this patch's row has most of it; null where none has enough.
function strongest(pack, patch, shareOf, least, kind) {
  let found = null;
  for (const layer of pack.stored.keys()) {
    for (let head = 0; head < pack.heads; head++) {
      if (!holdsHead(pack, layer, head)) continue;
      const row = trainedRow(pack, layer, head, patch);
      const share = shareOf(row, pack, patch);
      if (share >= (found?.share ?? least)) found = { share, kind, layer, head, patch, best: largestPatch(row, pack) };
    }
  }
  return found;
}

// "eye → eye" where the sample names both places; else the kind's own word.
export function momentName({ kind, patch, best }, { rows, columns }, parts, names, wordOf) {
  const [from, to] = [partAt(parts, patch, rows, columns), partAt(parts, best, rows, columns)];
  if (from && to && ["far", "same"].includes(kind))
    return wordOf("momentParts", { from: names[from.kind].short, to: names[to.kind].short });
  return wordOf({ far: "momentFar", near: "momentNear", sink: "momentSink", same: "momentSame" }[kind]);
}
