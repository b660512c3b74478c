// A picture as pixels of sRGB, in bands, on white. A worker keeps for long what it throws away, so all bands come into
// the same bytes, where the browser can.

import { createResizer } from "./bicubic.js";

const ROWS = 128;

let context = null; // a new one takes longer than a film's frame is drawn
let band = new Uint8Array(0);

// (H, W, 4) bytes of the picture in this size, of which the last of a pixel says nothing; `t`: tensors.js. Closes it.
export async function displayed(t, bitmap, height, width) {
  const resizer = createResizer(t, bitmap.width, bitmap.height, width, height);
  const frame = plainFrame(bitmap);
  try {
    const read = frame ? copied(frame, bitmap) : drawn(bitmap);
    for (let y = 0; y < bitmap.height; y += ROWS) resizer.band(await read(y, Math.min(ROWS, bitmap.height - y)));
    const pixels = resizer.end();
    if (frame?.format === "BGRX")
      for (let i = 0; i < pixels.length; i += 4) [pixels[i], pixels[i + 2]] = [pixels[i + 2], pixels[i]];
    return pixels;
  } finally {
    frame?.close();
    bitmap.close();
  }
}

// null: it has gaps, other colours than sRGB, lies on its side or is too long a strip; or no frame says so here.
function plainFrame(bitmap) {
  let frame;
  try {
    frame = new VideoFrame(bitmap, { timestamp: 0 });
    const { format, rotation, flip, colorSpace } = frame;
    const { primaries, transfer } = colorSpace;
    if (format.endsWith("X") && rotation === 0 && !flip && primaries === "bt709" && transfer === "iec61966-2-1")
      return frame;
  } catch {}
  frame?.close();
  return null;
}

function copied(frame, { width }) {
  const stride = 4 * width;
  if (band.length < stride * ROWS) band = new Uint8Array(stride * ROWS);
  return async (y, height) => {
    await frame.copyTo(band, { rect: { x: 0, y, width, height }, layout: [{ offset: 0, stride }] });
    return band.subarray(0, stride * height);
  };
}

function drawn(bitmap) {
  const { width } = bitmap;
  context ??= new OffscreenCanvas(1, ROWS).getContext("2d", { willReadFrequently: true });
  if (context.canvas.width !== width) context.canvas.width = width;
  context.fillStyle = "white";
  return (y, height) => {
    context.fillRect(0, 0, width, ROWS);
    context.drawImage(bitmap, 0, -y);
    return context.getImageData(0, 0, width, height).data;
  };
}
