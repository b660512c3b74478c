// Prints the row at which the app opens each of these pictures, as JSON: {kind, layer, head, patch: −1 for the class
// token}. node benchmarks/openings.mjs COARSE FINE …   The files are packs of the upper half of the layers, two of each
// picture, as a page receives them: of the grid that it shows first, and of the finer one.

import { readFileSync } from "node:fs";
import { unpack } from "../playground/microscope/core/core.js";
import { openingOf, searchMoments } from "../playground/microscope/core/moments.js";
import { FIRST_WAY } from "../playground/microscope/core/ways.js";
import { bestView, keysForSearch, tokenOnGrid } from "../playground/microscope/lens/moment.js";

// As showBest and moveToBest in the page: the coarse grid's row where it stands out, else the finer grid's.
function openingRow(coarsePack, pack) {
  const first = openingOf(sceneOf(coarsePack), true);
  const isCoarse = first.kind !== "nothing";
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

const packs = process.argv.slice(2).map((file) => unpack(Uint8Array.from(readFileSync(file))));
const rows = [];
for (let i = 0; i < packs.length; i += 2) rows.push(openingRow(packs[i], packs[i + 1]));
process.stdout.write(JSON.stringify(rows));
