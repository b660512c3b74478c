// A comparison without any network, one key away: what a filter that knows only colours and places would light from the
// same patch, drawn as a row of attention is.

import { inCommon, meanColours, nearnessInto } from "../core/nearness.js";
import { makeCanvas } from "../drawing/canvas.js";

const PIXELS = 8; // along each side of a patch, for its mean colour

export function toggleNearness(lens) {
  lens.nearness.on = !lens.nearness.on;
  lens.everHovered = true;
  const plain = lens.view.direction === "row" && lens.view.what === "weight";
  if (lens.nearness.on && !plain) lens.choose({ direction: "row", what: "weight" });
  lens.schedule();
}

export const isNearness = ({ nearness, view, shown, main }) =>
  nearness.on && view.direction === "row" && view.what === "weight" && shown.mark >= 0 && Boolean(main.picture.bitmap);

// (patches,) what the filter lights from this patch; null where there is no picture to read.
export function nearnessOf(lens, patch) {
  const { nearness, main } = lens;
  const { bitmap } = main.picture;
  if (!bitmap || patch < 0) return null;
  const { rows, columns } = main.pack;
  const key = `${main.picture.id} ${rows} ${columns}`;
  if (nearness.key !== key) {
    const canvas = makeCanvas(columns * PIXELS, rows * PIXELS);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.imageSmoothingQuality = "high";
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const colours = meanColours(data, canvas.width, canvas.height, rows, columns);
    Object.assign(nearness, { key, colours, row: new Float32Array(rows * columns), patch: -1 });
  }
  if (nearness.patch !== patch) nearnessInto(nearness.row, 0, nearness.colours, rows, columns, patch);
  nearness.patch = patch;
  return nearness.row;
}

// Puts the filter's row where the head's is drawn from. Gives what puts that back.
export function layNearness(lens) {
  const { shown, view } = lens;
  const { answers, pack, token } = shown;
  shown.mark = token - pack.prefixCount; // of this frame
  if (!isNearness(lens)) return () => {};
  const row = nearnessOf(lens, shown.mark);
  const at = view.head * pack.tokens;
  const kept = answers.weights.slice(at, at + pack.tokens);
  answers.weights.fill(0, at, at + pack.prefixCount);
  answers.weights.set(row, at + pack.prefixCount);
  return () => answers.weights.set(kept, at);
}

// What the head's row has in common with the filter's, 0 to 1; null where there is nothing to compare.
export function nearnessShare(lens, patch) {
  const { shown, view } = lens;
  const filtered = nearnessOf(lens, patch);
  if (!filtered) return null;
  return inCommon(shown.answers.weights, view.head * shown.pack.tokens + shown.pack.prefixCount, filtered, patch);
}
