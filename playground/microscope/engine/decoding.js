// A file as pixels, by the browser's own decoder: upright, what is transparent on white. A large picture is never in
// memory as four bytes a pixel twice: it is read in bands.

import { createResizer } from "./bicubic.js";

const BAND = 128; // rows

let context = null; // a new one for each frame of a film would take longer than all that is drawn in it

// (H, W, 4) bytes of the picture in this size, of which the last of a pixel says nothing; `t`: tensors.js.
export async function displayed(t, blob, height, width) {
  const bitmap = await createImageBitmap(blob, { imageOrientation: "from-image" });
  const resizer = createResizer(t, bitmap.width, bitmap.height, width, height);
  const size = { width: bitmap.width, height: Math.min(BAND, bitmap.height) };
  context ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  if (context.canvas.width !== size.width || context.canvas.height !== size.height) Object.assign(context.canvas, size);
  context.fillStyle = "white";
  for (let row = 0; row < bitmap.height; row += BAND) {
    const rows = Math.min(BAND, bitmap.height - row);
    context.fillRect(0, 0, bitmap.width, rows);
    context.drawImage(bitmap, 0, -row);
    resizer.band(context.getImageData(0, 0, bitmap.width, rows).data);
  }
  bitmap.close();
  return resizer.end();
}
