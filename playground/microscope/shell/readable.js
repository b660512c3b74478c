// Reads a person's file into the same pixels as Python (playground/pictures/images.py): transparent pixels are put on
// white, and 16-bit channels are cut to their upper eight bits. Browsers' own conversions differ by up to one level.

import { crc32 } from "../core/container.js";

// Converts a PNG of 16 bits a channel to 8 bits without decoding it: PNG's filters combine each byte with the same byte
// of a neighbour, so the upper bytes of all numbers form a valid PNG.

const COPIED_CHUNKS = ["IHDR", "sRGB", "gAMA", "cHRM", "iCCP", "cICP", "eXIf"]; // besides the pixels
const NUMBERS_PER_PIXEL = { 0: 1, 2: 3, 4: 2, 6: 4 }; // colour type → numbers in each pixel
const SIGNATURE = "\x89PNG\r\n\x1a\n";
const IHDR = { at: 16, depth: 8, pixels: 9, interlaced: 12 }; // the chunk's offset, and offsets of its fields

// Reads a PNG's header; null for other files. keyed: transparency is a list of colours (tRNS), not a channel.
export function headerOf(head) {
  const text = new TextDecoder("latin1").decode(head);
  if (text.slice(1, 4) !== "PNG") return null;
  const [depth, pixels, interlaced] = [IHDR.depth, IHDR.pixels, IHDR.interlaced].map((place) => head[IHDR.at + place]);
  return { depth, pixels, interlaced: interlaced > 0, keyed: text.includes("tRNS") };
}

// The file with 8 bits a channel; a damaged file is returned unchanged.
export async function toEightBits(file) {
  try {
    return await withUpperBytes(new Uint8Array(await file.arrayBuffer()));
  } catch {
    return file;
  }
}

async function withUpperBytes(bytes) {
  const chunks = [...chunksOf(bytes)];
  const header = chunks[0].data.slice();
  const [width, height] = [numberAt(header, 0), numberAt(header, 4)];
  const rowBytes = 1 + 2 * NUMBERS_PER_PIXEL[header[IHDR.pixels]] * width;
  header[IHDR.depth] = 8;
  const zippedPixels = new Blob(chunks.filter(({ name }) => name === "IDAT").map(({ data }) => data));
  const pixels = zippedPixels
    .stream()
    .pipeThrough(new DecompressionStream("deflate"))
    .pipeThrough(upperBytes(rowBytes, height))
    .pipeThrough(new CompressionStream("deflate"));
  const keptChunks = chunks
    .filter(({ name }) => COPIED_CHUNKS.includes(name))
    .map(({ name, data }) => chunk(name, data));
  keptChunks[0] = chunk("IHDR", header);
  const newPixels = new Uint8Array(await new Response(pixels).arrayBuffer());
  const parts = [latin1(SIGNATURE), ...keptChunks, chunk("IDAT", newPixels), chunk("IEND", new Uint8Array(0))];
  return new Blob(parts, { type: "image/png" });
}

function* chunksOf(bytes) {
  for (let start = SIGNATURE.length; start < bytes.length; ) {
    const length = numberAt(bytes, start);
    const name = String.fromCharCode(...bytes.subarray(start + 4, start + 8));
    yield { name, data: bytes.subarray(start + 8, start + 8 + length) };
    start += 12 + length;
  }
}

// A stream transformer that keeps each row's filter byte, and the upper byte of each 16-bit number.
function upperBytes(rowBytes, rows) {
  let [rowOffset, bytesLeft] = [0, rows * rowBytes];
  const transform = (bytes, stream) => {
    bytesLeft -= bytes.length;
    if (bytesLeft < 0) throw new RangeError("There are more pixels than the header says.");
    const halfBytes = new Uint8Array(bytes.length);
    let count = 0;
    for (const byte of bytes) {
      if (rowOffset === 0 || rowOffset % 2 === 1) halfBytes[count++] = byte;
      rowOffset = (rowOffset + 1) % rowBytes;
    }
    stream.enqueue(halfBytes.subarray(0, count));
  };
  return new TransformStream({ transform });
}

function chunk(name, data) {
  const bytes = new Uint8Array(12 + data.length);
  const view = new DataView(bytes.buffer);
  bytes.set(latin1(name), 4);
  bytes.set(data, 8);
  view.setUint32(0, data.length);
  view.setUint32(8 + data.length, crc32(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

const latin1 = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const numberAt = (bytes, offset) => new DataView(bytes.buffer, bytes.byteOffset + offset).getUint32(0);

const UPRIGHT_OPTION = { imageOrientation: "from-image" };
const HEAD_BYTES = 2 ** 16; // bytes read from a file's beginning: a PNG lists its transparent colours there
const OPACITY_BIT = 4; // the bit for opacity in a PNG's colour type

// Decodes a file to an upright bitmap. Its colours are not multiplied by their opacity, because eight bits would then
// be too few for a colour profile. A camera's frame is a bitmap already.
const decodeUpright = async (file, options) =>
  createImageBitmap(await toReadable(file), { ...UPRIGHT_OPTION, premultiplyAlpha: "none", ...options });

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

// options: as for createImageBitmap, such as resizeWidth.
export async function toBitmap(file, options = {}) {
  if (!(file instanceof Blob) || !(await isJpeg(file))) return decodeUpright(file, options);
  if (lastDecoded.file !== file) {
    dropDecoded();
    lastDecoded = { file, promise: decodeUpright(file), timer: 0 };
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

// The input for createImageBitmap: the file itself where possible, else its pixels on white.
export async function toReadable(file) {
  if (!(file instanceof Blob)) return file;
  const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const header = headerOf(head);
  const eightBitFile = header?.depth === 16 && !header.keyed && !header.interlaced ? await toEightBits(file) : file;
  const isOpaque = header ? !header.keyed && !(header.pixels & OPACITY_BIT) : head[0] === JPEG_FIRST_BYTE;
  return isOpaque ? eightBitFile : ((await bitmapOnWhite(eightBitFile)) ?? eightBitFile);
}

// A bitmap of the file's pixels on white; null if all pixels are opaque, or if this browser can't read the file's own
// colours.
async function bitmapOnWhite(file) {
  const bitmap = await createImageBitmap(file, { ...UPRIGHT_OPTION, premultiplyAlpha: "none" });
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

// Below: makes a large photograph smaller before it is sent, because sending the whole file would take longer.

const SHRUNK_FROM_BYTES = 8e6; // bytes: smaller files are not resized
const MOST_UPLOAD = 32e6; //       bytes: the limit of an upload
const LONGEST_SIDE = 2048; // pixels

// Returns the file, or a smaller one of the same name if the file is large. A file that the browser can't open is
// returned unchanged; the server then reports the error.
export async function shrinkIfLarge(file) {
  if (file.size <= SHRUNK_FROM_BYTES) return file;
  const shrunkFile = await shrinkFile(file).catch(() => file);
  if (shrunkFile.size <= MOST_UPLOAD) return shrunkFile;
  const sentence = `The file has ${Math.round(file.size / 1e6)} MB. At most ${MOST_UPLOAD / 1e6} MB can be opened.`;
  throw Object.assign(new Error(sentence), { says: sentence });
}

async function shrinkFile(file) {
  const bitmap = await createImageBitmap(file);
  const factor = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = new OffscreenCanvas(Math.round(bitmap.width * factor), Math.round(bitmap.height * factor));
  const context = canvas.getContext("2d", { alpha: false });
  Object.assign(context, { fillStyle: "white", imageSmoothingQuality: "high" });
  context.fillRect(0, 0, canvas.width, canvas.height); // a JPEG has no transparency
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const blob = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.92 });
  return new File([blob], file.name, { type: blob.type });
}
