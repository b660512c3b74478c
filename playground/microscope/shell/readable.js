// A person's file as the pixels that Python reads from it (playground/pictures/upright.py): what shines through lies on
// white, and of sixteen bits the upper eight count. Browsers round both in ways of their own, by up to a level.

import { headerOf, inEightBits } from "./sixteenbits.js";

const UPRIGHT = { imageOrientation: "from-image" };
const HEAD = 2 ** 16; // bytes, in which a PNG says what in it is transparent
const OPACITY_TOO = 4; // a bit of a PNG's kind of pixels
const JPEG_BEGINS = 0xff;

// A bitmap of it, turned upright. A frame of a camera is a bitmap already.
export const toBitmap = async (file) => createImageBitmap(await readable(file), UPRIGHT);

// What createImageBitmap makes these pixels of: the file itself where it can.
export async function readable(file) {
  if (!(file instanceof Blob)) return file;
  const head = new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
  const png = headerOf(head);
  const whole = png?.depth === 16 && !png.keyed && !png.interlaced ? await inEightBits(file) : file;
  const isOpaque = png ? !png.keyed && !(png.pixels & OPACITY_TOO) : head[0] === JPEG_BEGINS;
  return isOpaque ? whole : ((await onWhite(whole)) ?? whole);
}

// null: nothing shines through; or no frame gives its colours as they lie in the file, and a canvas has to do.
async function onWhite(file) {
  const bitmap = await createImageBitmap(file, { ...UPRIGHT, premultiplyAlpha: "none" });
  let frame;
  try {
    frame = new VideoFrame(bitmap, { timestamp: 0 });
    const { format, rotation, flip, colorSpace } = frame;
    const { primaries, transfer } = colorSpace;
    if (!format.endsWith("A") || rotation || flip || primaries !== "bt709" || transfer !== "iec61966-2-1") return null;
    const { width, height } = bitmap;
    const pixels = new Uint8ClampedArray(4 * width * height);
    await frame.copyTo(pixels, { layout: [{ offset: 0, stride: 4 * width }] });
    const [red, blue] = format === "BGRA" ? [2, 0] : [0, 2];
    for (let i = 0; i < pixels.length; i += 4) {
      const opacity = pixels[i + 3] / 255;
      const [r, g, b] = [pixels[i + red], pixels[i + 1], pixels[i + blue]];
      pixels[i] = 255 + (r - 255) * opacity;
      pixels[i + 1] = 255 + (g - 255) * opacity;
      pixels[i + 2] = 255 + (b - 255) * opacity;
      pixels[i + 3] = 255;
    }
    return await createImageBitmap(new ImageData(pixels, width, height));
  } catch {
    return null;
  } finally {
    frame?.close();
    bitmap.close();
  }
}
