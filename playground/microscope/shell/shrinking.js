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
