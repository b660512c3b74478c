// What the browser cannot work out from the queries and keys that it holds is asked of the host, where there is one.

import { holds } from "../core/core.js";
import { sameLayer } from "../core/view.js";
import { missingMatrix } from "./features.js";
import { missingLayers } from "./film.js";
import { askForHabits } from "./habits.js";
import { canAsk, isMap, overlayNow, passScale } from "./shown.js";

const REST = 150; // ms: the dial may still be turning
const AT_ONCE = 3; // layers that the host sends for one question
const LOST = 20000; // ms: after these the same question is asked again

export function ask(lens, request) {
  if (!lens.host.ask) return;
  const text = JSON.stringify(request);
  const last = lens.asked.get(request.what);
  if (last?.text === text && performance.now() - last.at < LOST) return; // this runs after every frame
  lens.asked.set(request.what, { text, at: performance.now() });
  lens.host.ask(request);
}

// A choice puts it off, for the next one may follow; a move of the cursor does not, for it may go on for long.
export function askForMissing(lens, pointed) {
  if (pointed && lens.asking) return;
  clearTimeout(lens.asking);
  lens.asking = setTimeout(() => {
    lens.asking = 0;
    if (!lens.main) return;
    const { view, shown, other } = lens;
    const matrix = missingMatrix(lens);
    if (matrix) ask(lens, matrix);
    else if (isMap(view.what) && view.locked && !overlayNow(lens))
      ask(lens, { what: view.what, query: view.query, scale: passScale(lens) });
    else if (shown.wholeMissing) ask(lens, { what: "whole", scale: view.scale });
    else if (view.beside === "compare" && !other && canAsk(lens, "compare")) ask(lens, { what: "compare" });
    else if (!(canAsk(lens, "layers") && askForLayers(lens))) askForHabits(lens, ask);
  }, REST);
}

// First the layers that are to be shown, then the neighbours of the layer shown, ahead of time, and what the wall and
// the film have yet to show. One question at a time: the next one follows when the answer has been painted. Gives
// whether something is missing.
function askForLayers(lens) {
  const { view, shown, main, whole, other } = lens;
  const wanted = [[main, view.layer]];
  if (shown.wholeArrived) wanted.push([whole, view.layer]);
  if (other && view.beside === "compare") wanted.push([other, sameLayer(view.layer, main.pack, other.pack)]);
  wanted.push([main, view.layer + 1], [main, view.layer - 1]);
  const found = wanted.find(([entry, layer]) => layer >= 0 && layer < entry.pack.layers && !holds(entry.pack, layer));
  const layers = missingLayers(lens).slice(0, AT_ONCE);
  if (found) ask(lens, { what: "layers", layers: [found[1]], pack: found[0].id });
  else if (layers.length) ask(lens, { what: "layers", layers, pack: (shown.wholeArrived ? whole : main).id });
  return Boolean(found) || layers.length > 0;
}
