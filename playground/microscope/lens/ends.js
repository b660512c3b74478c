// What speaks most for a label and most against it, of the map on view.

import { placeName } from "../core/sentence.js";
import { explainsLabel, sizeWords } from "../core/ways.js";
import { overlayNow } from "./shown.js";

// {most, least}: {patch, value} each; null where no label is explained or its map is not here.
export function endsOf(lens) {
  const { view, shown } = lens;
  const overlay = explainsLabel(view) ? overlayNow(lens) : null;
  if (!overlay) return null;
  const { pack } = shown;
  const from = overlay.values.length === pack.patches ? 0 : pack.prefixCount;
  let [most, least] = [0, 0];
  for (let patch = 1; patch < pack.patches; patch++) {
    if (overlay.values[from + patch] > overlay.values[from + most]) most = patch;
    if (overlay.values[from + patch] < overlay.values[from + least]) least = patch;
  }
  const at = (patch) => ({ patch, value: overlay.values[from + patch], place: placeName(patch, pack.columns) });
  return { most: at(most), least: at(least) };
}

// "+2.8 %" or "−0.12 logits"
export const signedWords = (value, unit) => `${value < 0 ? "\u2212" : "+"}${sizeWords(Math.abs(value), unit)}`;
