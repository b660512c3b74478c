// Models from a person's files: a .safetensors file, alone or with its config.json, several such files, or a folder of
// them. A worker of its own reads them (weights/worker.js) and then ends; nothing is sent. Facts that the files lack
// are assumed and listed, and the person can change them.

import { make } from "../drawing/dom.js";
import { fillModels } from "./models.js";
import { notify } from "./notice.js";

const WEIGHTS_FILE = /\.(safetensors|bin|pt|pth|ckpt)$/i; // pickled files are refused with a sentence
const JSON_FILE = /\.json$/i;
const MOST_MODELS = 3; // opened models that stay in memory
const MOST_PATCHES_HERE = 1600; // with more patches a pass takes a browser half a minute
const FIRST_GRID = [16, 16]; // grid of the first pass, for models with more patches
const MOST_BYTES = 2e9; // maximum for a file from another address
const FROM_YOUR_FILE = "from a file of yours, which stays in this browser";
const OPENER_LOST = "What opens models has stopped: this browser may have too little memory. Try it again.";
const VERSION_SUFFIX = / \(\d+\)$/;

// Whether these files contain a model.
export const areModel = (files) => files.some(({ name }) => WEIGHTS_FILE.test(name));

const NO_MODEL_IN_IT = "There is no .safetensors in that folder: a model is one, alone or with its config.json.";
const FOLDER_GONE = "That folder can't be read: it is gone, or this browser may not read it.";

const isFolder = (item) => item.webkitGetAsEntry?.()?.isDirectory;

// Returns the toolbar's `models`, which open dropped models and fill the sheet of models. getOwnModels(): a promise of
// createOwnModels's result.
export function createModelOpener(getOwnModels, choice) {
  return {
    takes: ({ files, items }) => areModel([...files]) || [...(items ?? [])].some(isFolder),
    async open(transfer) {
      const droppedFiles = await readDrop(transfer).catch(() => null);
      if (!droppedFiles) notify(FOLDER_GONE);
      else if (!areModel(droppedFiles.files)) notify(NO_MODEL_IN_IT);
      else await (await getOwnModels()).open(droppedFiles);
    },
    sheet(box, host) {
      fillModels(box, host);
      if (host.choice === choice)
        getOwnModels().then(
          (models) => fillOwnModels(box, models, host),
          () => {},
        );
    },
  };
}

// The dropped files: {files, folder: the folder's name, or ""}. They are read during the event, because the browser
// deletes a drop's data after it.
export function readDrop({ files, items }) {
  const entry = [...(items ?? [])].find(isFolder)?.webkitGetAsEntry();
  if (!entry) return Promise.resolve({ files: [...files], folder: "" });
  return filesWithin(entry).then((files) => ({ files: files, folder: entry.name }));
}

async function filesWithin(entry) {
  const [reader, entries] = [entry.createReader(), []];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // at most 100
    if (!batch.length) break;
    entries.push(...batch);
  }
  const modelFiles = entries.filter(({ isFile, name }) => isFile && (WEIGHTS_FILE.test(name) || JSON_FILE.test(name)));
  return Promise.all(modelFiles.map((entry) => new Promise((resolve, reject) => entry.file(resolve, reject))));
}

// The facts about a model that workersource.js needs before the model runs.
export function cardOfOpened({ config, name, bytes, notice }) {
  const {
    patch_size: patch,
    depth: layers,
    heads,
    width,
    prefix,
    labels,
    multi_label,
    native_grid: nativeGrid,
  } = config;
  const patches = nativeGrid[0] * nativeGrid[1];
  const shrinkFactor = Math.min(1, Math.sqrt(MOST_PATCHES_HERE / patches));
  return {
    ...{ title: name, patch, layers, heads, head_dim: width / heads, prefix, labels, multi_label, own: true },
    grid: nativeGrid.map((side) => Math.max(1, Math.floor(side * shrinkFactor))),
    first: patches > FIRST_GRID[0] * FIRST_GRID[1] ? FIRST_GRID : null,
    details: [1, 2, 3, 4].filter((detail) => detail === 1 || patches * detail ** 2 <= MOST_PATCHES_HERE),
    ...{
      megabytes: Math.max(1, Math.round(bytes / 1e6)),
      asked: false,
      good_for: FROM_YOUR_FILE,
      licence: "",
      suits: "",
    },
    assumed: notice,
  };
}

// beginWorker(): returns a new worker; taken(name): whether a model has this name; add(name, card, weights: a Blob) and
// remove(name): change the page's list; choose(name): shows a model.
export function createOwnModels({ beginWorker, taken: isTaken, add, remove, choose }) {
  const openedModels = new Map(); // name → {files, folder, assumed, given, numbers}
  let openingWorker = null; // the worker that is opening a model

  // Opens a model. Returns a promise of its name, or null if the model can't be opened; the reason is shown.
  async function openFiles({ files, folder = "" }, options = {}) {
    stopOpening();
    const worker = (openingWorker = beginWorker());
    try {
      const model = await openIn(worker, { files, folder, ...options });
      if (worker !== openingWorker) return null; // another model is being opened meanwhile
      const name = freeName(model.name); // each opening gets a new name, since cached pictures belong to a name
      if (options.replacedName) dropModel(options.replacedName);
      for (const oldestName of [...openedModels.keys()].slice(0, Math.max(0, openedModels.size + 1 - MOST_MODELS)))
        dropModel(oldestName);
      openedModels.set(name, {
        files,
        folder,
        assumed: model.assumed,
        given: options.given ?? {},
        numbers: options.numbers ?? "int8",
      });
      const weights = new Blob([model.bytes]);
      add(name, cardOfOpened({ ...model, name, bytes: weights.size }), weights);
      notify(model.notice || `${name} is here: read from your file, sent to nobody.`, { holds: Boolean(model.notice) });
      choose(name);
      return name;
    } catch (error) {
      if (worker === openingWorker) notify(error.message, { holds: true });
      return null;
    } finally {
      worker.terminate();
      if (worker === openingWorker) openingWorker = null;
    }
  }

  function stopOpening() {
    openingWorker?.terminate();
    openingWorker = null;
  }

  function dropModel(name) {
    openedModels.delete(name);
    remove(name);
  }

  function freeName(modelName) {
    const baseName = modelName.replace(VERSION_SUFFIX, "");
    let name = modelName;
    for (let number = 2; isTaken(name); number++) name = `${baseName} (${number})`;
    return name;
  }

  // Opens a file of weights at another address, with the JSON files beside it. allowed: origins that models may come
  // from.
  async function openFromAddress(address, allowed) {
    const { origin, pathname, href } = new URL(address);
    if (!allowed.includes(origin)) {
      const hint = "whoever writes this page allows it with site --models-from";
      return notify(`This page takes no models from ${origin}: ${hint} ${origin}.`, { holds: true });
    }
    const pathParts = pathname.split("/");
    const file = decodeURIComponent(pathParts.at(-1));
    notify(`Fetching ${file} …`, { holds: true });
    try {
      const weights = await fetchWeights(href, file);
      const sidecars = ["config.json", "preprocessor_config.json"].map(
        (name) => fetchWeights(new URL(name, href).href, name).catch(() => null), // some models lack these files
      );
      const files = [weights, ...(await Promise.all(sidecars)).filter(Boolean)];
      // on the Hugging Face hub: NAME/resolve/main/model.safetensors
      const folder = decodeURIComponent(pathParts.at(-2) ?? "");
      return await openFiles({
        files,
        folder: folder === "main" ? decodeURIComponent(pathParts.at(-4) ?? "") : folder,
      });
    } catch (error) {
      return notify(`${href} did not arrive (${error.message}).`, { holds: true });
    }
  }

  return { open: openFiles, bring: openFromAddress, stop: stopOpening, kept: openedModels };
}

// createOwnModels for a page that computes. `opener`: the address of the worker's script; choose(name) shows a model.
export const ownModelsWithin =
  ({ opener, cards, networks, kept: store, computing }) =>
  (choose) =>
    createOwnModels({
      beginWorker: () => new Worker(opener, { type: "module" }),
      taken: (name) => name in cards,
      add(name, card, blob) {
        cards[name] = networks[name] = card;
        store.hold(name, blob);
      },
      remove(name) {
        delete cards[name];
        delete networks[name];
        store.hold(name, null);
        computing.forgetNetwork(name);
      },
      choose,
    });

function openIn(worker, message) {
  return new Promise((resolve, reject) => {
    worker.addEventListener("message", ({ data: { share, model, error } }) => {
      if (model) resolve(model);
      else if (error) reject(new Error(error));
      else notify(`Opening it: ${Math.round(100 * share)} %`, { holds: true });
    });
    worker.addEventListener("error", () => reject(new Error(OPENER_LOST)));
    notify("Opening it …", { holds: true });
    worker.postMessage(message);
  });
}

async function fetchWeights(address, name) {
  const response = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer" });
  if (!response.ok) throw new Error(`the host answers with ${response.status}`);
  if (Number(response.headers.get("Content-Length")) > MOST_BYTES) throw new Error("it is too large");
  return new File([await response.blob()], name);
}

// ---------------------------------------------------------------------------------------------- in the sheet of models

const FIELD_LABELS = {
  mean: "mean of red, green, blue",
  std: "deviation of red, green, blue",
  num_heads: "heads",
  act_layer: "activation",
  global_pool: "read out",
};
const FIELD_OPTIONS = {
  act_layer: ["gelu", "gelu_tanh", "quick_gelu", "silu", "relu"],
  global_pool: ["token", "avg"],
  numbers: ["int8", "float32"],
};
const NUMBERS_WORDS = { int8: "8 bits a number", float32: "as they are, four times the memory" };

// Draws the fields that choose files, and the options of the shown model.
function fillOwnModels(box, models, { choice, done: onOpened }) {
  const input = make("input", { type: "file", multiple: true, accept: ".safetensors,.json", className: "unseen" });
  input.onchange = () => [onOpened(), models.open({ files: [...input.files] })];
  const note = "Or drop its files or its folder on this page. It runs here, and is sent to nobody.";
  const label = make("label", "wide own-model", "Open a model: .safetensors, with its config.json", input);
  box.append(label, make("p", "note", note));
  const { model } = choice.now;
  if (models.kept.has(model)) box.append(formOf(model, models.kept.get(model), models, onOpened));
}

function formOf(name, { files, folder, assumed, given, numbers }, models, onOpened) {
  const title = make("b", "", `What the files of ${name} do not say`);
  const askedNames = Object.keys(FIELD_LABELS).filter((word) => word in assumed || word in given);
  const fields = askedNames.map((word) => fieldOf(word, FIELD_LABELS[word], given[word], assumed[word]));
  fields.push(fieldOf("numbers", "numbers", numbers));
  const button = make("button", { type: "submit", className: "wide" }, "Open it again");
  const form = make("form", "own-model-words", title, ...fields.map(({ line }) => line), button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { numbers: kind, ...answers } = Object.fromEntries(
      fields.map(({ word, element }) => [word, element.value.trim()]),
    );
    onOpened();
    models.open({ files, folder }, { given: answers, numbers: kind, replacedName: name });
  });
  return form;
}

function fieldOf(word, title, value = "", assumed = "") {
  const isList = word in FIELD_OPTIONS;
  const blankOption = assumed && make("option", { value: "" }, assumed);
  const optionOf = (option) => make("option", { value: option }, NUMBERS_WORDS[option] ?? option);
  const element = isList
    ? make("select", "", blankOption, ...FIELD_OPTIONS[word].map(optionOf))
    : make("input", { type: "text", placeholder: assumed, spellcheck: false });
  element.value = Array.isArray(value) ? value.join(" ") : value;
  return { word, line: make("label", "", title, element), element };
}
