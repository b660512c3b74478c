// A picture of one's own: chosen, photographed, dropped or pasted; or a small one by its number. A large one is made
// smaller before it is sent.

import { MOST } from "./own.js";
import { createIcon } from "./toolbarparts.js";

// A photograph from the camera of a computer. Nobody is asked for their camera who has not pressed the button.
// (A phone has a better way: an input with `capture`, see openpicture.js.)

export const hasCamera = () => Boolean(navigator.mediaDevices?.getUserMedia); // none on a page without https

// Turns `button` into the camera's picture with a button to take it. `take` gets a file.
export async function startCamera(button, take, signal) {
  button.disabled = true;
  let stream = null;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch {
    const trouble = document.createElement("p");
    trouble.className = "trouble";
    trouble.setAttribute("role", "alert");
    trouble.textContent = "The camera can't be used: the browser has none, or is not allowed to use it.";
    return button.replaceWith(trouble);
  }
  const stop = () => stream.getTracks().forEach((track) => track.stop());
  if (signal.aborted) return stop(); // the sheet was closed meanwhile
  signal.addEventListener("abort", stop);
  const video = document.createElement("video");
  Object.assign(video, { srcObject: stream, autoplay: true, muted: true, playsInline: true, className: "camera" });
  const shoot = document.createElement("button");
  Object.assign(shoot, { type: "button", className: "wide main", textContent: "Take the photo", disabled: true });
  video.addEventListener("loadeddata", () => [(shoot.disabled = false), shoot.focus({ preventScroll: true })]);
  shoot.addEventListener("click", () => fileOfFrame(video).then(take));
  button.replaceWith(video, shoot);
}

async function fileOfFrame(video) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: video.videoWidth, height: video.videoHeight });
  canvas.getContext("2d").drawImage(video, 0, 0);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.92));
  return new File([blob], "camera.jpg", { type: blob.type });
}

const ACCEPTED = "image/*,.heic,.heif,.avif";
const PICTURE = /^image\//,
  PICTURE_NAME = /\.(heic|heif|avif)$/i; // a browser that does not know these gives them no type

// Those of some files that are opened. If none seems to be a picture, the server says what is wrong with the first.
export function picturesAmong(files) {
  const all = [...(files ?? [])];
  const pictures = all.filter((file) => PICTURE.test(file.type) || PICTURE_NAME.test(file.name));
  return (pictures.length ? pictures : all.slice(0, 1)).slice(0, MOST);
}

const WHERE_KEPT = "Your pictures are kept in this browser only. The server forgets them soon after you have left.";

// take(files) opens them. `labelled`: {count, what} of those with a number, takeLabelled(number) opens one of them and
// gives a promise. `kept` says where a picture goes. `live`: {camera(), film(file)}, where frame
// after frame can be looked at.
export function fillOpenPicture(box, { take, labelled, takeLabelled, kept = WHERE_KEPT, live, signal }) {
  const onPhone = matchMedia("(pointer: coarse)").matches;
  const choose = fileButton(onPhone ? "Choose pictures" : "Choose files", "picture", take);
  choose.input.multiple = true;
  if (onPhone) {
    const photograph = fileButton("Take a photo", "camera", take);
    photograph.input.setAttribute("capture", "environment");
    box.append(photograph.label, choose.label);
  } else {
    box.append(choose.label);
    if (hasCamera()) box.append(cameraButton(take, signal));
    box.append(noteLine("Or drop one on this page, or paste it."));
  }
  if (live) box.append(...liveButtons(live));
  if (labelled?.count) box.append(byNumber(labelled, takeLabelled));
  box.append(noteLine(kept));
}

function fileButton(words, icon, take) {
  const label = document.createElement("label");
  label.className = "wide";
  const input = document.createElement("input");
  Object.assign(input, { type: "file", accept: ACCEPTED, className: "unseen" });
  input.addEventListener("change", () => take([...input.files]));
  label.append(createIcon(icon), words, input);
  return { label, input };
}

function cameraButton(take, signal) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "wide" });
  button.append(createIcon("camera"), "Use the camera");
  button.addEventListener("click", () => startCamera(button, (file) => take([file]), signal));
  return button;
}

function liveButtons({ camera, film }) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "wide" });
  button.append(createIcon("camera"), "Live: what the camera sees, while you move");
  button.addEventListener("click", camera);
  const chosen = fileButton("A film, frame by frame", "picture", ([file]) => file && film(file));
  chosen.input.accept = "video/*";
  return [...(hasCamera() ? [button] : []), chosen.label];
}

function noteLine(words) {
  const line = document.createElement("p");
  line.className = "note";
  line.textContent = words;
  return line;
}

// A slider goes far, its arrow keys go from one picture to the next; a number may be typed.
function byNumber({ count, what }, takeLabelled) {
  const part = document.createElement("fieldset");
  const legend = document.createElement("legend");
  legend.textContent = `Or by its number: ${count.toLocaleString("en")} ${what}`;
  const said = noteLine("");
  said.setAttribute("role", "status");
  const inputs = ["range", "number"].map((type) => {
    const input = document.createElement("input");
    Object.assign(input, { type, min: 0, max: count - 1, step: 1, value: 0 });
    input.setAttribute("aria-label", type === "range" ? "Slider of their numbers" : "Number of a picture");
    return input;
  });
  // While one is on its way only the last that is asked for matters.
  let [wanted, busy] = [null, false];
  const askForIt = async () => {
    busy = true;
    while (wanted !== null) {
      const number = wanted;
      wanted = null;
      said.textContent = await takeLabelled(number).then(
        ({ title }) => title,
        (trouble) => trouble.says ?? "The picture did not come: the server can't be reached.",
      );
    }
    busy = false;
  };
  for (const input of inputs) {
    const write = () => inputs.forEach((other) => other !== input && (other.value = input.value));
    input.addEventListener("input", write);
    input.addEventListener("change", () => {
      wanted = Math.max(0, Math.min(count - 1, Math.round(Number(input.value)) || 0));
      for (const each of inputs) each.value = wanted;
      if (!busy) askForIt();
    });
  }
  part.append(legend, ...inputs, said);
  return part;
}

// Anywhere on the page. While a file is dragged over it the page says so, see dropping.css.
export function takeDroppedAndPasted(take, wanted, signal) {
  const invite = (on) => document.documentElement.classList.toggle("takes-a-picture", on);
  const given = (transfer, event) => {
    if (!wanted() || event.defaultPrevented || !transfer?.files.length) return;
    event.preventDefault();
    event.stopPropagation();
    take([...transfer.files], transfer);
  };
  const over = (event) => {
    if (!wanted() || ![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault(); // else the browser would leave the page for the file
    invite(true);
  };
  document.addEventListener("dragover", over, { signal });
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? invite(false), { signal });
  document.addEventListener("drop", () => invite(false), { signal, capture: true });
  document.addEventListener("drop", (event) => given(event.dataTransfer, event), { signal });
  document.addEventListener("paste", (event) => given(event.clipboardData, event), { signal });
  signal.addEventListener("abort", () => invite(false));
}

// A person's file as the pixels that Python reads from it (playground/pictures/images.py): what shines through lies on
// white, and of sixteen bits the upper eight count. Browsers round both in ways of their own, by up to a level.

// A PNG of sixteen bits a channel as one of eight, without decoding it: its filters work on each byte beside the same
// byte of a neighbour, so the upper bytes of all numbers are a PNG too.

const COLOURS = ["IHDR", "sRGB", "gAMA", "cHRM", "iCCP", "cICP", "eXIf"]; // what is kept, but for the pixels
const NUMBERS = { 0: 1, 2: 3, 4: 2, 6: 4 }; // of a pixel, by its kind
const SIGNATURE = "\x89PNG\r\n\x1a\n";
const IHDR = { at: 16, depth: 8, pixels: 9, interlaced: 12 }; // where it lies, and its bytes

// Of its first bytes; null: it is no PNG. `keyed`: what in it is transparent is listed apart from the pixels.
export function headerOf(head) {
  const text = new TextDecoder("latin1").decode(head);
  if (text.slice(1, 4) !== "PNG") return null;
  const [depth, pixels, interlaced] = [IHDR.depth, IHDR.pixels, IHDR.interlaced].map((place) => head[IHDR.at + place]);
  return { depth, pixels, interlaced: interlaced > 0, keyed: text.includes("tRNS") };
}

// The file itself where it is damaged.
export async function inEightBits(file) {
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
  const rowBytes = 1 + 2 * NUMBERS[header[IHDR.pixels]] * width;
  header[IHDR.depth] = 8;
  const packed = new Blob(chunks.filter(({ name }) => name === "IDAT").map(({ data }) => data));
  const pixels = packed
    .stream()
    .pipeThrough(new DecompressionStream("deflate"))
    .pipeThrough(upperBytes(rowBytes, height))
    .pipeThrough(new CompressionStream("deflate"));
  const kept = chunks.filter(({ name }) => COLOURS.includes(name)).map(({ name, data }) => chunk(name, data));
  kept[0] = chunk("IHDR", header);
  const packedAgain = new Uint8Array(await new Response(pixels).arrayBuffer());
  const parts = [latin1(SIGNATURE), ...kept, chunk("IDAT", packedAgain), chunk("IEND", new Uint8Array(0))];
  return new Blob(parts, { type: "image/png" });
}

function* chunksOf(bytes) {
  for (let at = SIGNATURE.length; at < bytes.length; ) {
    const length = numberAt(bytes, at);
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    yield { name, data: bytes.subarray(at + 8, at + 8 + length) };
    at += 12 + length;
  }
}

// Of each row the byte that names its filter, and the first of two of each number.
function upperBytes(rowBytes, rows) {
  let [place, left] = [0, rows * rowBytes];
  const transform = (bytes, stream) => {
    left -= bytes.length;
    if (left < 0) throw new RangeError("There are more pixels than the header says.");
    const upper = new Uint8Array(bytes.length);
    let count = 0;
    for (const byte of bytes) {
      if (place === 0 || place % 2 === 1) upper[count++] = byte;
      place = (place + 1) % rowBytes;
    }
    stream.enqueue(upper.subarray(0, count));
  };
  return new TransformStream({ transform });
}

function chunk(name, data) {
  const bytes = new Uint8Array(12 + data.length);
  const view = new DataView(bytes.buffer);
  bytes.set(latin1(name), 4);
  bytes.set(data, 8);
  view.setUint32(0, data.length);
  view.setUint32(8 + data.length, checksum(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

function checksum(bytes) {
  let sum = ~0;
  for (const byte of bytes) sum = CHECKS[(sum ^ byte) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

const CHECKS = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

const latin1 = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const numberAt = (bytes, at) => new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0);

const UPRIGHT = { imageOrientation: "from-image" };
const HEAD = 2 ** 16; // bytes, in which a PNG says what in it is transparent
const OPACITY_TOO = 4; // a bit of a PNG's kind of pixels
const JPEG_BEGINS = 0xff;

// A bitmap of it, turned upright, whose colours are the file's: multiplied by their opacity, eight bits would be too
// few for a colour profile. A frame of a camera is a bitmap already.
export const toBitmap = async (file) =>
  createImageBitmap(await readable(file), { ...UPRIGHT, premultiplyAlpha: "none" });

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

// A large photograph is made smaller before it is sent: that takes less time than to send it.

const SENT_AS_IT_IS = 8e6; // bytes
const MOST_SENT = 32e6; //    as large as an upload may be
const LONGEST_SIDE = 2048; // pixels

// A file under the same name. What the browser can't open goes as it is, and the server says what is wrong with it.
export async function smallEnough(file) {
  if (file.size <= SENT_AS_IT_IS) return file;
  const smaller = await shrunk(file).catch(() => file);
  if (smaller.size <= MOST_SENT) return smaller;
  const says = `The file has ${Math.round(file.size / 1e6)} MB. At most ${MOST_SENT / 1e6} MB can be opened.`;
  throw Object.assign(new Error(says), { says });
}

async function shrunk(file) {
  const bitmap = await createImageBitmap(file);
  const factor = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = new OffscreenCanvas(Math.round(bitmap.width * factor), Math.round(bitmap.height * factor));
  const context = canvas.getContext("2d", { alpha: false });
  Object.assign(context, { fillStyle: "white", imageSmoothingQuality: "high" });
  context.fillRect(0, 0, canvas.width, canvas.height); // a JPEG has no gaps
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const blob = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.92 });
  return new File([blob], file.name, { type: blob.type });
}
