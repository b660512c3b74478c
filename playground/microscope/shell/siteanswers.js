// What the toolbar asks a server for, answered by the page itself: the list of samples, the models, bringing one of
// them, and a person's own pictures, which stay where they are.

import { hexOf } from "./keptweights.js";

const SMALL_SIDE = 96; // pixels of a small picture: two to a point
const MOST_PIXELS = 120e6; // of a picture; more would fill the memory of a phone
const OPENING_TIME = 20_000; // ms; a file may be made so that decoding it never ends
const UNREADABLE =
  "This browser can't open that file as a picture. JPEG, PNG, WebP, AVIF and GIF work everywhere; HEIC and TIFF only " +
  "in some browsers.";

const SLOW_FILE = "This browser takes too long to open that file.";
const SAMPLES_ALONE = "This page was written without a network, and shows its samples alone.";

const answered = (body, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
const sorry = (says, status = 400) => answered({ says }, status);

// `models`: as preparedsource.js has them, each with {good_for, licence, suits} for its card; `kept`: keptweights.js;
// `catalogueFrom(found)` completes the list of samples; `arrived(model)` is told when one is here; `without` is
// said where there is none.
export function createPageAnswers({ models, kept, catalogueFrom, arrived, read, without = SAMPLES_ALONE }) {
  const routes = {
    "api/models": async () => {
      const cards = Object.entries(models).map(async ([name, { title, good_for, licence, suits, megabytes }]) => {
        const here = await kept.isKept(name);
        return { name, title, good_for, licence, suits, megabytes, here, quick: false };
      });
      return answered({ open: false, cards: await Promise.all(cards) });
    },
    "api/fetching": async (words, { method }) => {
      const model = words.get("model");
      if (!models[model]) return sorry("This page has no such model.", 404);
      if (method === "DELETE") return answered([kept.end(model)]);
      const told = method === "POST" ? kept.begin(model) : kept.state(model);
      if (!told) return sorry("It is not on its way.", 404);
      if (told.arrived) arrived(model);
      return answered(told);
    },
    "api/pictures": async (_, { method, body, headers }) => {
      if (method === "DELETE") return answered({});
      if (!Object.keys(models).length) return sorry(without);
      const opened = openHere(body, decodeURIComponent(headers["X-Playground-Name"] ?? "a picture"));
      return Promise.race([opened, new Promise((go) => setTimeout(() => go(sorry(SLOW_FILE, 415)), OPENING_TIME))]);
    },
  };

  return (path, asked) => {
    const [name, query] = path.split("?");
    if (routes[name]) return routes[name](new URLSearchParams(query), asked);
    if (name.split("/")[0] === "api") return Promise.resolve(sorry("This page has no server that could answer.", 404));
    return read(name, asked).then(async (bytes) =>
      answered(await catalogueFrom(JSON.parse(new TextDecoder().decode(bytes)))),
    );
  };
}

async function openHere(blob, name) {
  const pixels = await pixelsClaimed(blob);
  if (!pixels) return sorry(UNREADABLE, 415);
  if (pixels > MOST_PIXELS)
    return sorry(`The picture has ${Math.round(pixels / 1e6)} million pixels: make it smaller first.`, 413);
  const bitmap = await createImageBitmap(blob, { imageOrientation: "from-image" }).catch(() => null);
  if (!bitmap) return sorry(UNREADABLE, 415);
  const { width, height } = bitmap;
  const thumb = await smallPicture(bitmap);
  bitmap.close();
  return answered({ id: await idOf(blob), title: name, thumb, width, height });
}

// How many pixels the header claims, read before decoding: a small file may claim more than memory holds. 0: none.
async function pixelsClaimed(blob) {
  const image = new Image();
  const src = URL.createObjectURL(blob.slice(0, blob.size, "image/jpeg")); // told by its bytes
  const size = new Promise((found) => {
    image.onload = () => found(image.naturalWidth * image.naturalHeight);
    image.onerror = () => found(0);
  });
  image.src = src;
  return size.finally(() => URL.revokeObjectURL(src));
}

// The same for the same file.
async function idOf(blob) {
  const digest = await globalThis.crypto?.subtle?.digest("SHA-256", await blob.arrayBuffer());
  return hexOf(digest ?? crypto.getRandomValues(new Uint8Array(8)).buffer).slice(0, 16);
}

async function smallPicture(bitmap) {
  const side = Math.min(bitmap.width, bitmap.height);
  const canvas = new OffscreenCanvas(SMALL_SIDE, SMALL_SIDE);
  const context = canvas.getContext("2d");
  context.fillStyle = "white";
  context.fillRect(0, 0, SMALL_SIDE, SMALL_SIDE);
  const [left, top] = [(bitmap.width - side) / 2, (bitmap.height - side) / 2];
  context.drawImage(bitmap, left, top, side, side, 0, 0, SMALL_SIDE, SMALL_SIDE);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/jpeg", quality: 0.8 })).arrayBuffer());
  return `data:image/jpeg;base64,${btoa(String.fromCharCode(...bytes))}`;
}
