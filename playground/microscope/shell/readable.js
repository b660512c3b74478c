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
