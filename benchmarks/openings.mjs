// Prints the row at which the app opens each of these pictures, as JSON: {kind, layer, head, patch: −1 for the class
// token}. node benchmarks/openings.mjs FILE …   The files are packs of the upper half of the layers, as a page receives
// them: one of each picture; before it one whose name ends in "first", where the page shows a coarse grid first.

import { readFileSync } from "node:fs";
import { unpack } from "../playground/microscope/core/core.js";
import { openingOf, searchMoments } from "../playground/microscope/core/moments.js";
import { FIRST_WAY } from "../playground/microscope/core/ways.js";
import { bestView, keysForSearch, tokenOnGrid } from "../playground/microscope/lens/moment.js";

// As showBest and moveToBest in the page: the coarse grid's row where it stands out, else the finer grid's.
function openingRow(coarsePack, pack) {
  const first = coarsePack && openingOf(sceneOf(coarsePack), true);
  const isCoarse = first && first.kind !== "nothing";
  const { kind, layer, head, token } = isCoarse ? first : openingOf(sceneOf(pack));
  if (!isCoarse) return { kind, layer, head, patch: token === null ? -1 : Math.max(-1, token - pack.prefixCount) };
  const view = { what: FIRST_WAY, direction: "row", ...bestView(first, coarsePack) };
  const choice = { view, opening: { moved: true, touched: false, kind } };
  return { kind, layer, head, patch: tokenOnGrid(choice, pack, coarsePack) - pack.prefixCount };
}

function sceneOf(pack) {
  const steps = searchMoments(pack, keysForSearch(pack));
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

const rows = [];
let coarsePack = null;
for (const file of process.argv.slice(2)) {
  const pack = unpack(Uint8Array.from(readFileSync(file)));
  if (!file.endsWith("first")) rows.push(openingRow(coarsePack, pack));
  coarsePack = file.endsWith("first") ? pack : null;
}
process.stdout.write(JSON.stringify(rows));
