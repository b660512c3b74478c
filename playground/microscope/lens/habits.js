// What each head does on average over the picture on view, by name: the source measures it, layer by layer.

import { canAsk } from "./shown.js";

export function takeNames(lens, id, layer, heads) {
  if (!lens.habits.has(id)) lens.habits.set(id, new Map());
  lens.habits.get(id).set(layer, heads);
}

// The layer whose names are to be asked for next, the one on view first; −1: all are here.
export function missingNames(lens) {
  const { main, view } = lens;
  if (!canAsk(lens, "names")) return -1;
  const known = lens.habits.get(main.id);
  const layers = Array.from({ length: main.pack.layers }, (_, layer) => layer).filter((layer) => !known?.has(layer));
  return layers.sort((a, b) => Math.abs(a - view.layer) - Math.abs(b - view.layer))[0] ?? -1;
}

// {label, short, colour, told}, or null where it is not known. It was measured at the trained scale.
export function habitOf(lens, layer, head) {
  if (lens.shown.altered) return null;
  const found = lens.habits.get(lens.main.id)?.get(layer)?.[lens.main.pack.headNumbers[head]];
  return found ? { label: found[0], short: found[1], colour: found[2], told: found[3] ?? "" } : null;
}
