// What the toolbar asks a server for, answered by the page itself: the list of samples, the models, bringing one of
// them, and a person's own pictures, which stay where they are.
import { linkTo, viewNow } from "./address.js";
import { catalogue, choice } from "./choice.js";
import { computeHere, hexOf, ownPicture } from "./computing.js";
import { pageSays } from "./early.js";
import { addressOf, answerHere, ask } from "./http.js";
import { askNearer } from "./httpsource.js";
import { notify } from "./notice.js";
import { ownPictures } from "./own.js";
import { createPreparedSource } from "./preparedsource.js";
import { visit } from "./visit.js";

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

// `models`: as preparedsource.js has them, each with {good_for, licence, suits} for its card; `kept`: computing.js;
// `catalogueFrom(found)` completes the list of samples; `arrived(model)` is told when one is here; `without` is
// said where there is none; `wall` is the file of the wall of moments.
export function createPageAnswers({ models, kept, catalogueFrom, arrived, read, wall, without = SAMPLES_ALONE }) {
  const readJson = (name, asked) => read(name, asked).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
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
    "api/moments": async (_, asked) => answered(await readJson(wall, asked)),
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
    return readJson(name, asked).then(async (found) => answered(await catalogueFrom(found)));
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

// What can be taken away from a page without a server: the picture, a loop, a link. Figures are made by the app.

const FACTOR = 4; // times its size on the page

export function fillTakeAway(box, { done, share }) {
  const line = (words, act) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "wide", textContent: words });
    button.addEventListener("click", act);
    return button;
  };
  const note = document.createElement("p");
  note.className = "note";
  const { command, where } = pageSays().app;
  const made = "Figures for print, as SVG and PDF, numbers and living files are made by the app";
  note.textContent = `${made}: ${command} ${where}.`;
  const link = line("Copy the link to this view", async () => {
    const copied = await navigator.clipboard.writeText(linkTo(viewNow())).then(
      () => true,
      () => false,
    );
    link.textContent = copied ? "Copied" : "This browser does not let a page copy: take the address above";
  });
  box.append(line("Save the picture as PNG", () => saveAsPng().then(done)));
  if (share) box.append(line("A loop of three seconds, or a still picture", share));
  box.append(link, note);
}

async function saveAsPng() {
  const blob = await new Promise((kept) => visit.picture(FACTOR).toBlob(kept, "image/png"));
  const link = document.createElement("a");
  const { sample, model } = choice.now;
  Object.assign(link, { href: URL.createObjectURL(blob), download: `attention-${sample ?? "mine"}-${model}.png` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// Where the operator wants it, a person's own photographs are computed by their own browser, and do not travel. What
// needs Python asks before one does.

const ENGINE = "api/engine";
const WOULD_TRAVEL = "This is computed by the server: your photograph would travel to it.";
const COMPUTED_HERE = ["open", "layers", "picture", "features", "flows", "rollout", "whole", "moved", "names"];

// `models`: names of those that this browser can run.
export function computeOwnHere(models) {
  const mayGo = new Set(); // photographs that may travel
  let coming = null;
  const begun = () => {
    coming ??= begin();
    coming.catch(() => {
      coming = null; // the next question tries again
    });
    return coming;
  };

  async function begin() {
    const told = await (await ask(ENGINE)).json();
    const { kept, networks, computing } = computeHere(told, addressOf, ({ mine }) => ownPicture(mine));
    const source = createPreparedSource({ computing, models: networks, isKept: kept.isKept, preparedOf: () => null });
    const arrived = (model) => {
      catalogue.own = { model, detail: 1 };
    };
    const answers = createPageAnswers({ models: networks, kept, arrived });
    const small = Object.keys(networks).find((name) => !networks[name].asked);
    if (small && !(await kept.isKept(catalogue.own.model))) catalogue.own = { model: small, detail: 1 };
    return { source, answers };
  }

  const isOurs = (path, { method, travels }) =>
    (path === "api/pictures" && method === "POST" && !travels) ||
    (path.startsWith("api/fetching?") && models.includes(new URLSearchParams(path.split("?")[1]).get("model")));
  answerHere((path, asked) => (isOurs(path, asked) ? begun().then(({ answers }) => answers(path, asked)) : null));

  const late =
    (name) =>
    async (...asked) =>
      (await begun()).source[name](...asked);
  const has = (what) => Boolean((what.words ?? what).mine) && models.includes(what.model);
  askNearer({ has, ...Object.fromEntries(COMPUTED_HERE.map((name) => [name, late(name)])), beginWith: async () => {} });

  ownPictures.mayTravel = async (id) => {
    if (!mayGo.has(id) && (await asksWhetherItMay())) mayGo.add(id);
    return mayGo.has(id);
  };
}

const asksWhetherItMay = () =>
  new Promise((go) => {
    const action = { label: "Send it", act: () => go(true) };
    notify(WOULD_TRAVEL, { action, closed: () => go(false) });
  });
