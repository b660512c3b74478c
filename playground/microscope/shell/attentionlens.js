// <attention-lens model="…" picture="…" view="…"> for other people's pages, and load() for their scripts, in one
// self-contained file. playground/figures/bundle.py appends worker, kernels and styles to this script.
import { openContainer, rowInto, unpack } from "../core/core.js";
import { CHOICES, DEFAULT_VIEW, tokenOf } from "../core/view.js";
import { languageOf } from "../words/languages.js";
import { aloneIn, bringFromPage, defineLens, LensError } from "./element.js";
import { rowsOf, sizeOf } from "./readable.js";
import { createWorkerSource, lateWorker } from "./workersource.js";

// ---- networks in other people's pages

// Runs networks in other people's pages, without a server, in one worker for the whole page. Weights are files of
// playground/models/engine_file.py at an address of the page's choice; nothing is sent or stored.
//
//   const lens = await load("https://…/bundled.bin");
//   const seen = await lens.run(image);      // an address, a file, or what createImageBitmap takes
//   seen.row(layer, head, [row, column]);    // float32, of all tokens, sums to 1
//
// Errors are LensErrors, whose messages are sentences.

const WEIGHTS_FORMAT = "attention-playground/weights-1";
const NO_WORKER =
  "No worker may start in this page, and networks run in one: its policy has to allow worker-src blob: and " +
  "script-src 'wasm-unsafe-eval'.";

const engineParts = { worker: "", kernels: "" }; // the worker's script, and base64 of the kernels

const cards = {}; //                address of a model → the model's card for workersource.js
const byteRequests = new Map(); //       address → a promise of the bytes, deleted when the worker has them
const pictures = new Map(); //      id → a picture in the form that workersource.js takes
let sharedEngine = null;
let pictureCount = 0; // number of pictures so far

// The source that all elements of this page and load() share.
function sharedSource() {
  sharedEngine ??= createWorkerSource({
    worker: lateWorker(startWorker, NO_WORKER),
    compiled: () =>
      WebAssembly.compile(Uint8Array.from(atob(engineParts.kernels), (letter) => letter.charCodeAt(0))).catch(() => {
        throw new LensError(NO_WORKER);
      }),
    models: cards,
    weightsOf: async (address) => {
      const bytes = byteRequests.get(address) ?? bytesOf(address, "model");
      byteRequests.delete(address); // the bytes move into the worker; a new worker requests them again
      return bytes;
    },
    pictureOf: ({ picture }) => pictures.get(picture),
  });
  return sharedEngine;
}

function startWorker() {
  const address = URL.createObjectURL(new Blob([engineParts.worker], { type: "text/javascript" }));
  return new Worker(address);
}

async function bytesOf(address, kind) {
  const response = await fetch(address).catch(() => null);
  if (!response)
    throw new LensError(
      `The ${kind} ${address} can't be read: it is not there, or its host does not let this page read it (CORS).`,
    );
  if (!response.ok)
    throw new LensError(`The ${kind} ${address} is not there: its host answers with ${response.status}.`);
  return new Uint8Array(await response.arrayBuffer());
}

// Fetches a model and returns its address. The source uses this address as the model's name.
async function bringModel(model) {
  if (!model) throw new LensError("No model is named: model is the address of its weights.");
  const address = new URL(model, document.baseURI).href;
  if (cards[address]) return address;
  if (!byteRequests.has(address)) byteRequests.set(address, bytesOf(address, "model"));
  try {
    cards[address] ??= cardOf(await byteRequests.get(address), address);
  } catch (error) {
    byteRequests.delete(address); // a later request starts again
    throw error;
  }
  return address;
}

const MOST_PATCHES = 1600; // a browser needs half a minute for a finer grid

function cardOf(bytes, address) {
  let header = null;
  try {
    ({ header } = openContainer(bytes));
  } catch {
    // the check below reports the error
  }
  if (header?.format !== WEIGHTS_FORMAT)
    throw new LensError(
      `${address} holds no weights that the attention lens reads: it has to be a .bin of the playground.`,
    );
  const { config, title } = header;
  return {
    title,
    patch: config.patch_size,
    grid: config.native_grid,
    first: null,
    details: [1, 2, 3, 4].filter(
      (detail) => config.native_grid[0] * config.native_grid[1] * detail ** 2 <= MOST_PATCHES,
    ),
    layers: config.depth,
    heads: config.heads,
    head_dim: config.width / config.heads,
    prefix: config.prefix,
    labels: config.labels,
    multi_label: config.multi_label,
  };
}

// `image`: an address, a file, or anything that createImageBitmap takes. Returns its id for the source.
async function bringPicture(image, title = "") {
  if (!image) throw new LensError("No picture is named: picture is its address.");
  const isAddress = typeof image === "string" || image instanceof URL;
  const blob = isAddress ? new Blob([await bytesOf(new URL(image, document.baseURI).href, "picture")]) : image;
  let size = null;
  try {
    size = await sizeOf(blob);
    if (!(blob instanceof Blob)) await rowsOf(blob, 0, 1); // throws if its site does not let it be read
  } catch (error) {
    if (error.name === "SecurityError") throw new LensError(TAINTED_PICTURE);
    throw new LensError(`${isAddress ? `The picture ${image}` : "What was given"} can't be read as a picture.`);
  }
  const id = `picture${++pictureCount}`;
  const [width, height] = size;
  pictures.set(id, { id, title, credit: "", hint: "", start: undefined, width, height, file: async () => blob });
  return id;
}
const TAINTED_PICTURE = "The picture comes from a host that does not let this page read it (CORS).";

// ------------------------------------------------------------------------------------------------------- for a script

export async function load(model) {
  const address = await bringModel(model);
  const { title, layers, heads, patch, prefix, labels } = cards[address];
  return Object.freeze({
    title,
    layers,
    heads,
    patch,
    prefix,
    labels,
    run: (image, options) => runModel(address, image, options),
  });
}

/** @param {string} model @param {any} image @param {{signal?: AbortSignal, detail?: number}} [options] */
async function runModel(model, image, { signal, detail = 1 } = {}) {
  checkDetail(detail, model);
  const id = await bringPicture(image);
  try {
    const source = sharedSource();
    const trace = await source.open({ picture: id, model, detail }, { signal });
    const layerNumbers = Array.from({ length: trace.layers }, (_, layer) => layer);
    return seenIn(unpack(await source.layers(trace, layerNumbers, { signal })));
  } catch (error) {
    throw error.name === "AbortError" || error instanceof LensError ? error : new LensError(error.says ?? NO_WORKER);
  } finally {
    pictures.delete(id);
  }
}

// What a forward pass returns: its shape, and row(), which computes a row from queries and keys.
function seenIn(pack) {
  const { layers, heads, tokens, prefix, rows, columns, scale } = pack;
  return Object.freeze({
    layers,
    heads,
    tokens,
    prefix,
    grid: Object.freeze([rows, columns]),
    row(layer, head, query) {
      const [token] = [tokenIn(pack, query), inBounds("layer", layer, layers), inBounds("head", head, heads)];
      const row = new Float32Array(tokens);
      rowInto(row, 0, pack, layer, head, token, scale);
      return row;
    },
  });
}

// ---- arguments

function inBounds(name, number, count) {
  if (Number.isInteger(number) && number >= 0 && number < count) return number;
  throw new LensError(
    `The ${name} is a whole number from 0 to ${count - 1}; given was ${String(number).slice(0, 40)}.`,
  );
}

function checkDetail(detail, model) {
  const { details } = cards[model];
  if (details.includes(Number(detail))) return;
  throw new LensError(`The detail is ${details.join(", ")} for this model; given was ${String(detail).slice(0, 40)}.`);
}

// [row, column] of a patch, the name of a prefix token, "row,column", or a token's number.
function tokenIn(shape, query) {
  const { prefix, rows, columns } = shape;
  if (Number.isInteger(query)) return inBounds("token", query, prefix.length + rows * columns);
  const text = Array.isArray(query) ? query.join(",") : String(query);
  const token = tokenOf(text, { ...shape, prefixCount: prefix.length });
  if (token >= 0) return token;
  const prefixHint = prefix.length ? `, or ${prefix.join(", ")}` : "";
  throw new LensError(
    `The query is a row below ${rows} and a column below ${columns}${prefixHint}; given was ${text.slice(0, 40)}.`,
  );
}

// Parses "layer=4&head=0&query=7,5", a view as in an address of the playground.
function viewIn(text) {
  /** @type {any} */
  const view = {};
  for (const [name, value] of new URLSearchParams(text.replace(/^[?#]/, ""))) {
    if (!(name in DEFAULT_VIEW))
      throw new LensError(`A view has no ${name.slice(0, 40)}: it may say ${Object.keys(DEFAULT_VIEW).join(", ")}.`);
    const choices = CHOICES[name]?.map(String);
    if (choices && !choices.includes(value))
      throw new LensError(`In a view ${name} is ${choices.join(", ")}; given was ${value.slice(0, 40)}.`);
    view[name] = value;
  }
  return view;
}

// `shape`: {layers, heads, prefix, rows, columns}.
function checkView({ layer, head, query }, shape) {
  const toNumber = (text) => (/^\d+$/.test(text) ? Number(text) : text);
  if (layer !== undefined) inBounds("layer", toNumber(layer), shape.layers);
  if (head !== undefined) inBounds("head", toNumber(head), shape.heads);
  if (query !== undefined) tokenIn(shape, query);
}

// ---- the element

const language = () => languageOf([document.documentElement.lang]);

// `face` is read once, when the element is made; all other attributes may change later.
async function bringContent(element) {
  const face = element.getAttribute("face") ?? "see";
  if (!["see", "lab"].includes(face)) throw new LensError(`face is see or lab; given was ${face.slice(0, 40)}.`);
  const options = { see: aloneIn(language, face), ui: { guest: true } };
  return { ...(await bringTrace(element)), options };
}

async function bringTrace(element) {
  const view = viewIn(element.getAttribute("view") ?? "");
  const opensAtBest = view.layer === undefined && view.head === undefined;
  if (element.hasAttribute("numbers")) {
    const { pack, ...content } = await bringFromPage(element);
    checkView(view, unpack(pack));
    return { ...content, view, best: opensAtBest };
  }
  const model = await bringModel(element.getAttribute("model"));
  const detail = element.getAttribute("detail") ?? "1";
  checkDetail(detail, model);
  const picture = await bringPicture(element.getAttribute("picture"), element.getAttribute("title") ?? "");
  const forgetPicture = () => pictures.delete(picture);
  try {
    const source = sharedSource();
    const trace = await source.open({ picture, model, detail });
    const [rows, columns] = trace.grid;
    const { heads, prefix } = cards[model];
    checkView(view, { layers: trace.layers, heads, prefix, rows, columns });
    return { source, trace, view, best: opensAtBest, forget: forgetPicture };
  } catch (error) {
    forgetPicture();
    throw error;
  }
}

// styles: the lens's styles; worker, kernels: see `engineParts`.
export function beginAttentionLens({ styles, ...engine }) {
  Object.assign(engineParts, engine);
  if (!globalThis.customElements || customElements.get("attention-lens")) return;
  defineLens(bringContent, styles);
}
