// What each head does on average over the picture on view, by name: the host measures it behind the page, and is asked
// again until it knows all.

import { canAsk } from "./shown.js";

const AGAIN = 1500; // ms

export const takeHabits = (lens, { pack, complete, layers }) => lens.habits.set(pack, { complete, layers });

export function askForHabits(lens, ask) {
  const { main, view, asked } = lens;
  if (!canAsk(lens, "habits") || lens.habits.get(main.id)?.complete) return;
  if (performance.now() - (asked.get("habits")?.at ?? -AGAIN) < AGAIN) return;
  asked.delete("habits");
  ask(lens, { what: "habits", pack: main.id, layer: view.layer });
  setTimeout(() => lens.alive && lens.schedule(), AGAIN);
}

// {label, short, colour, told}, or null where it is not known. It was measured at the trained scale.
export function habitOf(lens, layer, head) {
  if (lens.shown.altered) return null;
  const found = lens.habits.get(lens.main.id)?.layers[layer]?.[lens.main.pack.headNumbers[head]];
  return found ? { label: found[0], short: found[1], colour: found[2], told: found[3] ?? "" } : null;
}
