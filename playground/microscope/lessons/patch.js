// What drawings of a picture in patches share: a reader chooses a patch, and a row lights the photograph.

import { patchAfterKey, patchAt } from "../core/grid.js";
import { decodeJpeg } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { sheetOf, spotOf } from "../drawing/stage.js";

// The patch under the pointer, on a canvas that the picture fills.
export function patchUnder(event, canvas, grid) {
  const [x, y] = spotOf(event, canvas);
  return patchAt(x / canvas.clientWidth, y / canvas.clientHeight, ...grid);
}

export function followPointer(canvas, point) {
  for (const kind of ["pointermove", "pointerdown"]) canvas.addEventListener(kind, point);
}

// Calls choose(patch) for an arrow key. now(): {at: the chosen patch, grid: [rows, columns]}.
export function followKeys(canvas, now, choose) {
  canvas.addEventListener("keydown", (event) => {
    const { at, grid } = now();
    const patch = patchAfterKey(event.key, at, ...grid);
    if (patch < 0) return;
    event.preventDefault();
    choose(patch);
  });
}

// Calls choose(patch) when a reader points at another patch, or steps to it by an arrow key.
export function followPatches(canvas, now, choose) {
  const chooseOther = (patch) => patch !== now().at && choose(patch);
  followPointer(canvas, (event) => chooseOther(patchUnder(event, canvas, now().grid)));
  followKeys(canvas, now, chooseOther);
}

// Decodes a picture into state.bitmap, and draws it, unless another picture (state.id) has come meanwhile.
export async function bringBitmap(state, jpeg) {
  const { id } = state;
  const bitmap = await decodeJpeg(jpeg);
  if (state.id !== id) return;
  state.bitmap = bitmap;
  state.stage.redraw();
}

// A new canvas height that keeps the picture's aspect. size: [height, width]
export const heightFor = (canvas, [height, width]) => Math.round((canvas.clientWidth * height) / width);

// Draws the photograph lit by values[start], …; marks: as `shown` of drawPicture. The print is kept in `lit` until
// photograph or size change.
export function paintLit(lit, canvas, bitmap, size, values, start, domain, marks) {
  const { context, width, height, ratio } = sheetOf(canvas, heightFor(canvas, size));
  if (lit.print?.photo.image !== bitmap || lit.print.photo.width !== canvas.width)
    lit.print = makePrint(makePhoto(bitmap, width * ratio, height * ratio));
  printHeat(lit.print, values, start, marks.rows, marks.columns, domain);
  drawPicture(context, width, height, lit.print.canvas, { grid: false, tag: null, ...marks }, 1);
}
