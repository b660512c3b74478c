// The photographs and what is drawn on them: which there are at this size, and in which of the two ways to draw.

import { canBeLit } from "../core/ways.js";
import { makePhoto, makePrint, printHeat, printLight } from "../drawing/light.js";
import { otherSize } from "./layout.js";

// The photograph that an entry's picture is drawn on, and the print on it: made when first needed at this size, and
// again when the image arrives.
export function photoOf(lens, entry) {
  const image = entry.picture.bitmap;
  const second = entry !== lens.main && entry === lens.other;
  const { width, height } = second ? otherSize(lens, entry) : lens.refs.picture;
  const [photoKey, printKey] = second ? ["otherPhoto", "otherPrint"] : ["photo", "print"];
  const made = lens[photoKey];
  if (made && made.image === image && made.width === width && made.height === height) return made;
  lens[photoKey] = makePhoto(image, width, height);
  lens[printKey] = makePrint(lens[photoKey]);
  if (!second) lens.thumbPhoto = lens.patchPhoto = null;
  return lens[photoKey];
}

const isLit = (view) => view.draw === "light" && canBeLit(view);

// The 256 colours of the large picture, for bars and charts beside it.
export const rampOf = ({ view, ramps }) => ramps[isLit(view) ? "light" : "heat"];

export function printPatches(lens, print, values, from, { rows, columns }, domain) {
  const { view } = lens;
  if (isLit(view)) printLight(print, values, from, rows, columns, domain, lens.unit);
  else printHeat(print, values, from, rows, columns, domain, view.smooth);
}

// All thumbnails have one size, and share one small photograph.
export function readyThumb(lens, thumb) {
  if (!lens.thumbPhoto) {
    const { image } = lens.photo;
    const { clientWidth, clientHeight } = thumb.canvas; // asked once: between two writings it would cost a layout
    lens.thumbPhoto = makePhoto(image, (clientWidth || 1) * lens.ratio, (clientHeight || 1) * lens.ratio);
  }
  if (thumb.print?.photo !== lens.thumbPhoto) thumb.print = makePrint(lens.thumbPhoto, thumb.canvas);
}
