// A file as pixels, by the browser's own decoder: upright, what is transparent on white. A large picture is never in
// memory as four bytes a pixel: it is read in bands.

import { createResizer } from "./bicubic.js";

const BAND = 256; // rows

// (H, W, 3) bytes of the picture in this size.
export async function displayed(blob, height, width) {
  const bitmap = await createImageBitmap(blob, { imageOrientation: "from-image" });
  const resizer = createResizer(bitmap.width, bitmap.height, width, height);
  const context = new OffscreenCanvas(bitmap.width, Math.min(BAND, bitmap.height)).getContext("2d", {
    willReadFrequently: true,
  });
  context.fillStyle = "white";
  for (let row = 0; row < bitmap.height; row += BAND) {
    const rows = Math.min(BAND, bitmap.height - row);
    context.fillRect(0, 0, bitmap.width, rows);
    context.drawImage(bitmap, 0, -row);
    resizer.band(context.getImageData(0, 0, bitmap.width, rows).data, 4);
  }
  bitmap.close();
  return resizer.end();
}
