// Reads a person's file upright, with transparent pixels on white, as Python does (playground/pictures/images.py).

/** @type {ImageBitmapOptions} */
const UPRIGHT = { imageOrientation: "from-image" };
const SHOWN_SIDE = 1024; // pixels of a picture on the page; the network gets the whole picture
const DECODED_LIFETIME = 2000; // ms
const LONGEST_TURN = 20_000; // ms; hostile files may take forever to decode

// A photograph of 48 megapixels takes 192 MB, so one decoded picture is in memory at a time. It stays until another
// file is asked for, or nobody has used it for a while.
let kept = { file: null, source: null, timer: 0 };
let turn = Promise.resolve();

function dropDecoded() {
  clearTimeout(kept.timer);
  kept.source?.close();
  kept = { file: null, source: null, timer: 0 };
}

function withDecoded(file, use) {
  const result = turn.then(async () => {
    clearTimeout(kept.timer);
    if (kept.file !== file) {
      dropDecoded();
      kept = { file, source: await decode(file), timer: 0 };
    }
    try {
      return await use(kept.source);
    } finally {
      clearTimeout(kept.timer);
      kept.timer = setTimeout(dropDecoded, DECODED_LIFETIME);
    }
  });
  const timeout = new Promise((resolve) => setTimeout(resolve, LONGEST_TURN));
  turn = Promise.race([result, timeout]).catch(() => {});
  return result;
}

// {drawable, width, height, close()}. A camera's frame is a bitmap already.
async function decode(file) {
  // WebKit, which alone has no ImageDecoder, makes three copies of a bitmap whose pixels are read, and one of an image.
  if (file instanceof Blob && !("ImageDecoder" in globalThis)) {
    const image = await loadImage(file);
    await image.decode();
    const { naturalWidth: width, naturalHeight: height } = image;
    return { drawable: image, width, height, close: () => closeImage(image) };
  }
  const bitmap = await createImageBitmap(file, file instanceof Blob ? UPRIGHT : {});
  const { width, height } = bitmap;
  return { drawable: bitmap, width, height, close: () => bitmap.close() };
}

const sizes = ({ width, height }) => [width, height];
export const sizeOf = (file) => withDecoded(file, sizes);

// The picture at the size in which the page shows it.
export const toBitmap = (file, side = SHOWN_SIDE) => withDecoded(file, (source) => shrink(source, side));

function shrink(source, side) {
  const factor = Math.min(1, side / Math.max(...sizes(source)));
  const [width, height] = sizes(source).map((pixels) => Math.max(1, Math.round(pixels * factor)));
  const context = whiteCanvas(width, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(source.drawable, 0, 0, width, height);
  return context.canvas.transferToImageBitmap();
}

function whiteCanvas(width, height) {
  const context = new OffscreenCanvas(width, height).getContext("2d", { alpha: false, willReadFrequently: true });
  context.fillStyle = "white";
  context.fillRect(0, 0, width, height);
  return context;
}

// `count` rows of the picture from row y on: {pixels: 4 bytes each, the last unused, order: "RGBX" or the like}.
// used: a buffer of former rows.
export const rowsOf = (file, y, count, used) =>
  withDecoded(file, async (source) => {
    const { drawable, width } = source;
    if (!(source.context?.canvas.height >= count)) source.context = whiteCanvas(width, count);
    source.context.fillRect(0, 0, width, count);
    source.context.drawImage(drawable, 0, -y);
    return readCanvas(source.context, count, used);
  });

// A VideoFrame copies into memory that is there; getImageData takes new memory for each band, which is freed late.
async function readCanvas(context, count, used = new ArrayBuffer(0)) {
  const { width } = context.canvas;
  if (!("VideoFrame" in globalThis)) return { pixels: context.getImageData(0, 0, width, count).data, order: "RGBX" };
  const [stride, size] = [4 * width, 4 * width * count];
  const pixels = new Uint8Array(used.byteLength < size ? new ArrayBuffer(size) : used, 0, size);
  const frame = new VideoFrame(context.canvas, { timestamp: 0 });
  await frame.copyTo(pixels, { rect: { x: 0, y: 0, width, height: count }, layout: [{ offset: 0, stride }] });
  const order = frame.format;
  frame.close();
  return { pixels, order };
}

async function loadImage(blob) {
  const image = new Image();
  // any type of image will do, because the browser looks at the bytes
  image.src = URL.createObjectURL(blob.slice(0, blob.size, "image/jpeg"));
  await new Promise((resolve, reject) => Object.assign(image, { onload: resolve, onerror: reject })).catch((error) => {
    closeImage(image);
    throw error;
  });
  return image;
}

function closeImage(image) {
  URL.revokeObjectURL(image.src);
  image.src = "";
}

// [width, height] from the picture's header, or null. The header is read before decoding, because a small file may
// claim more pixels than memory holds.
export async function claimedSizeOf(blob) {
  const image = await loadImage(blob).catch(() => null);
  if (!image) return null;
  const { naturalWidth: width, naturalHeight: height } = image;
  closeImage(image);
  return width ? [width, height] : null;
}

// An id that is equal for equal files.
export async function idOf(blob) {
  const digest = await globalThis.crypto?.subtle?.digest("SHA-256", await blob.arrayBuffer());
  return hexOf(digest ?? crypto.getRandomValues(new Uint8Array(8)).buffer).slice(0, 16);
}

const THUMBNAIL_SIDE = 96; // pixels of a thumbnail, twice its size on the page

export async function smallPicture(bitmap) {
  const side = Math.min(bitmap.width, bitmap.height);
  const canvas = new OffscreenCanvas(THUMBNAIL_SIDE, THUMBNAIL_SIDE);
  const context = canvas.getContext("2d");
  context.fillStyle = "white";
  context.fillRect(0, 0, THUMBNAIL_SIDE, THUMBNAIL_SIDE);
  const [left, top] = [(bitmap.width - side) / 2, (bitmap.height - side) / 2];
  context.drawImage(bitmap, left, top, side, side, 0, 0, THUMBNAIL_SIDE, THUMBNAIL_SIDE);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/jpeg", quality: 0.8 })).arrayBuffer());
  return `data:image/jpeg;base64,${btoa(String.fromCharCode(...bytes))}`;
}

export const hexOf = (buffer) =>
  Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
