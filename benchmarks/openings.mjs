// Prints the row at which the app opens each of these pictures, as JSON: {kind, layer, head, patch: −1 for the class
// token}. node benchmarks/openings.mjs FILE …   The files are packs of the upper half of the layers, as a page receives
// them.

import { readFileSync } from "node:fs";
import { unpack } from "../playground/microscope/core/core.js";
import { openingOf, searchMoments } from "../playground/microscope/core/moments.js";
import { keysForSearch } from "../playground/microscope/lens/moment.js";

function openingRow(pack) {
  const steps = searchMoments(pack, keysForSearch(pack));
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { kind, layer, head, token } = openingOf(step.value);
  return { kind, layer, head, patch: token === null ? -1 : Math.max(-1, token - pack.prefixCount) };
}

const packs = process.argv.slice(2).map((file) => unpack(Uint8Array.from(readFileSync(file))));
process.stdout.write(JSON.stringify(packs.map(openingRow)));
