// A picture as pixels: what is transparent on white. A large one is never in memory as four bytes a pixel twice: it is
// read in bands. What a worker throws away stays in memory for long, so the bands of a picture without gaps come into
// the same bytes again and again, where the browser can do that.

import { createResizer } from "./bicubic.js";

const BAND = 128; // rows
const PIXEL_BYTES = 4;
const OPAQUE = ["RGBX", "BGRX"];

let context = null; // a new one for each frame of a film would take longer than all that is drawn in it
let band = new Uint8Array(0);

// (H, W, 4) bytes of the picture in this size, of which the last of a pixel says nothing; `t`: tensors.js. The bitmap
// is closed.
export async function displayed(t, bitmap, height, width) {
  const resizer = createResizer(t, bitmap.width, bitmap.height, width, height);
  const frame = opaqueFrame(bitmap);
  try {
    const read = frame ? bandsOfFrame(frame, bitmap) : bandsOfCanvas(bitmap);
    for (let row = 0; row < bitmap.height; row += BAND)
      resizer.band(await read(row, Math.min(BAND, bitmap.height - row)));
    const pixels = resizer.end();
    if (frame?.format === "BGRX") swapRedAndBlue(pixels);
    return pixels;
  } finally {
    frame?.close();
    bitmap.close();
  }
}

// null: the picture has gaps, or is too long a strip, or lies on its side (a frame gives it as it lies in the file), or
// the browser knows no frames, or not how they lie.
function opaqueFrame(bitmap) {
  let frame = null;
  try {
    frame = new VideoFrame(bitmap, { timestamp: 0 });
  } catch {}
  if (OPAQUE.includes(frame?.format) && frame.rotation === 0 && !frame.flip) return frame;
  frame?.close();
  return null;
}

function bandsOfFrame(frame, { width }) {
  const stride = PIXEL_BYTES * width;
  if (band.length < stride * BAND) band = new Uint8Array(stride * BAND);
  return async (y, height) => {
    await frame.copyTo(band, { rect: { x: 0, y, width, height }, layout: [{ offset: 0, stride }] });
    return band.subarray(0, stride * height);
  };
}

function bandsOfCanvas(bitmap) {
  const { width } = bitmap;
  const height = Math.min(BAND, bitmap.height);
  context ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  if (context.canvas.width !== width || context.canvas.height !== height)
    Object.assign(context.canvas, { width, height });
  context.fillStyle = "white";
  return (row, rows) => {
    context.fillRect(0, 0, width, rows);
    context.drawImage(bitmap, 0, -row);
    return context.getImageData(0, 0, width, rows).data;
  };
}

function swapRedAndBlue(pixels) {
  for (let i = 0; i < pixels.length; i += PIXEL_BYTES) [pixels[i], pixels[i + 2]] = [pixels[i + 2], pixels[i]];
}
