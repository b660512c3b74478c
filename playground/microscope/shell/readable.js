// Reads a person's file upright, with transparent pixels on white, as Python does (playground/pictures/images.py).

/** @type {ImageBitmapOptions} */
const UPRIGHT = { imageOrientation: "from-image" };

function onWhite(bitmap) {
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d", { alpha: false });
  context.fillStyle = "white";
  context.fillRect(0, 0, bitmap.width, bitmap.height);
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return context.canvas;
}

// Decoding a large JPEG takes long, and several parts of the page need the bitmap at almost the same time. They get
// copies of one bitmap, which is kept until another file comes or nobody has used it for a while.
const JPEG_FIRST_BYTE = 0xff;
const DECODED_LIFETIME = 2000; // ms
let lastDecoded = { file: null, promise: null, timer: 0 };

function dropDecoded() {
  lastDecoded.promise?.then((bitmap) => bitmap.close()).catch(() => {});
  clearTimeout(lastDecoded.timer);
  lastDecoded = { file: null, promise: null, timer: 0 };
}

const isJpeg = async (file) => new Uint8Array(await file.slice(0, 1).arrayBuffer())[0] === JPEG_FIRST_BYTE;

// options: as for createImageBitmap, such as resizeWidth. A camera's frame is a bitmap already.
export async function toBitmap(file, options = {}) {
  if (!(file instanceof Blob)) return createImageBitmap(file, options);
  if (!(await isJpeg(file))) return createImageBitmap(onWhite(await createImageBitmap(file, UPRIGHT)), options);
  if (lastDecoded.file !== file) {
    dropDecoded();
    lastDecoded = { file, promise: createImageBitmap(file, UPRIGHT), timer: 0 };
    lastDecoded.promise.catch(dropDecoded);
  }
  const entry = lastDecoded;
  clearTimeout(entry.timer);
  const bitmap = await entry.promise;
  const copy = createImageBitmap(bitmap, options);
  clearTimeout(entry.timer);
  entry.timer = setTimeout(() => entry === lastDecoded && dropDecoded(), DECODED_LIFETIME);
  return copy;
}

// [width, height] from the picture's header, or null. The header is read before decoding, because a small file may
// claim more pixels than memory holds.
export async function claimedSizeOf(blob) {
  const image = new Image();
  // any type of image will do, because the browser looks at the bytes
  const src = URL.createObjectURL(blob.slice(0, blob.size, "image/jpeg"));
  const size = new Promise((resolve) => {
    image.onload = () => resolve(image.naturalWidth ? [image.naturalWidth, image.naturalHeight] : null);
    image.onerror = () => resolve(null);
  });
  image.src = src;
  return size.finally(() => URL.revokeObjectURL(src));
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
