// Opens a model from dropped files: its weights and the files beside them. Their kind is found as in
// playground/models/model_file.py.

import {
  baseOf,
  changed,
  checkedConfig,
  checkFit,
  huggingFaceConfig,
  huggingFaceWords,
  shapesOf,
  timmBase,
} from "./architecture.js";
import { toEngine } from "./blocks.js";
import { fromEva, fromHuggingFace, isHuggingFace, noAdapters, unwrapped } from "./layouts.js";
import { openSafetensors, pickledFile, shown, WrongFile } from "./safetensors.js";
import { TIMM } from "./timmtable.js";

const LONGEST_JSON = 4 * 2 ** 20; // bytes
const LONGEST_NAME = 80; // letters
const PICKLED = /\.(bin|pt|pth|ckpt|pkl)$/;
const KIND = ".safetensors";
const EVERY_FILE_S_NAME = "model.safetensors"; // for a file of this name, the folder's name is shown
const SHARD = /-\d{5}-of-\d{5}(?=\.safetensors$)/;

const isWeights = ({ name }) => name.endsWith(KIND);

// The files of one model among the dropped ones. Throws a WrongFile that says what is missing.
function sorted(files) {
  const weights = files.filter(isWeights);
  const json = (name) => files.find((file) => file.name === name);
  if (!weights.length) {
    const [pickled] = files.filter(({ name }) => PICKLED.test(name));
    throw new WrongFile(
      pickled
        ? pickledFile(pickled.name)
        : "There is no file of weights among them: a model is a .safetensors file, alone or with its config.json.",
    );
  }
  const stems = new Set(weights.map(({ name }) => name.replace(SHARD, "")));
  if (stems.size > 1)
    throw new WrongFile(
      `${weights.length} models were dropped, ${weights
        .map(({ name }) => name)
        .slice(0, 5)
        .join(", ")}: drop one at a time.`,
    );
  const [name] = stems;
  const beside = ["config.json", "preprocessor_config.json", `${name.slice(0, -KIND.length)}.json`].map(json);
  return { weights, index: json(`${name}.index.json`), beside, name };
}

async function readJson(file) {
  if (!file || file.size > LONGEST_JSON) return {};
  try {
    const found = JSON.parse(await file.text());
    return found && typeof found === "object" && !Array.isArray(found) ? found : {};
  } catch {
    return {}; // as in Python: what can't be read says nothing
  }
}

async function openAll({ weights, index, name }) {
  const wanted = new Set(Object.values((await readJson(index)).weight_map ?? {}));
  const missing = [...wanted].find((shard) => !weights.some((file) => file.name === shard));
  const [, of] = /-of-0*(\d+)\.safetensors$/.exec(weights[0].name) ?? [];
  if (missing || (of && Number(of) !== weights.length))
    throw new WrongFile(
      `${name} lies in ${wanted.size || of} files, and ${weights.length} were dropped: drop all of them together.`,
    );
  const parts = await Promise.all(weights.map((file) => openSafetensors(file)));
  const tensors = new Map(parts.flatMap((part) => [...part.tensors]));
  return { metadata: parts[0].metadata, tensors: possible(name, () => unwrapped(tensors)) };
}

// Runs `describe`; an error about the model gets the file's name.
function possible(name, describe) {
  try {
    return describe();
  } catch (error) {
    const why = error.message.replace(/\.$/, "");
    if (error instanceof WrongFile) throw new WrongFile(`${name} can't be loaded: ${why}.`);
    throw new WrongFile(`The architecture of ${name} can't be told: ${why}.`);
  }
}

// {config, state, known: words that need not be assumed, unlike}
function described({ name, metadata, tensors, said, pixels, given }) {
  if ("config" in metadata) {
    const config = possible(name, () => checkedConfig(JSON.parse(metadata.config)));
    return { config: { ...config, ...overrides(given) }, state: tensors, known: null, unlike: "" };
  }
  noAdapters(tensors);
  return isHuggingFace(tensors)
    ? ofHuggingFace({ name, tensors, said, pixels, given })
    : ofTimm({ name, metadata, tensors, said, given });
}

const overrides = ({ mean, std, num_heads: heads, act_layer: activation, global_pool: pool }) => ({
  ...(mean && { mean }),
  ...(std && { std }),
  ...(heads && { heads }),
  ...(activation && { activation }),
  ...(["token", "avg"].includes(pool) && { pool }), // "map" shows in the weights; with others there are no labels
});

function ofHuggingFace({ name, tensors, said, pixels, given }) {
  const told = given.num_heads ? { ...said, num_attention_heads: given.num_heads } : said;
  return possible(name, () => {
    const { config, state } = huggingFaceConfig([...tensors.keys()], fromHuggingFace(tensors), told, pixels);
    const known = [...huggingFaceWords(told, pixels), ...Object.keys(given)];
    return {
      config: checkedConfig({ ...config, ...overrides(given) }),
      state,
      known,
      unlike: unlikeOurs(given.global_pool),
    };
  });
}

function ofTimm({ name, metadata, tensors, said, given }) {
  const architecture = said.architecture ?? metadata.arch;
  return possible(name, () => {
    const row = architecture === undefined ? null : TIMM.find((one) => one.names.split(/\s+/).includes(architecture));
    if (row === undefined)
      throw new WrongFile(
        `its config.json names ${String(architecture).slice(0, 60)}, which is no plain Vision Transformer of timm`,
      );
    const base = row ? timmBase(row.is) : (baseOf(tensors) ?? timmBase(null));
    const state = fromEva(tensors);
    const known = { ...toldByTimm(said), ...given };
    const config = checkedConfig({ ...changed(base, state, known, said), ...overrides(given) });
    const sure = [
      ...Object.keys(known),
      ...(row ? ["num_heads", "act_layer"] : []),
      ...(config.qk_norm ? ["num_heads"] : []),
    ];
    return { config, state, known: sure, unlike: config.classes ? unlikeOurs(known.global_pool) : "" };
  });
}

// `files`: as dropped, of one folder; `folder`: its name, or "". `given`: {word: value} that a
// person has said; `numbers`: "int8" or "float32". Gives a promise of {name, bytes, config, assumed: {word: what is
// taken}, notice}.
export async function openModel(files, { folder = "", given = {}, numbers = "int8", tell } = {}) {
  const group = sorted(files);
  const [said, pixels, sidecar] = await Promise.all(group.beside.map(readJson));
  const { metadata, tensors } = await openAll(group);
  const stem = group.name.slice(0, -KIND.length);
  const told = String(metadata.name ?? said._name_or_path ?? said.architecture ?? said.model_type ?? stem);
  const name = (group.name === EVERY_FILE_S_NAME ? folder || told : stem).slice(0, LONGEST_NAME);
  const words = { ...readGiven(sidecar), ...readGiven(given) };
  const { config, state, known, unlike } = described({
    name: group.name,
    metadata,
    tensors,
    said,
    pixels,
    given: words,
  });
  checkFit(state, config, group.name);
  const assumed = known ? assumedOf(config, known) : {};
  const noAnswer = whyNoAnswer(config, assumed, unlike);
  const shown = noAnswer ? { ...config, labels: [] } : config;
  const names = [...shapesOf(config).keys()];
  const { bytes, header } = await toEngine(state, names, shown, { title: name, numbers, tell });
  return { name, bytes, config: header.config, assumed, notice: noticeOf(name, assumed, noAnswer) };
}

// ---------------------------------------------------------------------------------------------------- what nobody says

// Facts about a model that a file of weights lacks: given by a person, or else assumed. As in
// playground/models/given.py and source.py, in the words of `playground.load`.

const READ_OUT = { token: "the class token", avg: "the mean of the patches" }; // weights can't tell these two apart
const POOLS = [...Object.keys(READ_OUT), "map", "max", "avgmax"]; // with the last two there are rows, but no labels
const ACTS = ["relu", "gelu", "gelu_tanh", "quick_gelu", "silu"];
const WORDS_GIVEN = ["mean", "std", "num_heads", "act_layer", "global_pool"];

function colours(word, given) {
  const parts = (typeof given === "string" ? given.split(/[\s,]+/) : Array.isArray(given) ? given : []).map(Number);
  if (parts.length !== 3 || parts.some(Number.isNaN))
    throw new WrongFile(
      `${word} is a number for red, green and blue, such as 0.485,0.456,0.406; given was ${shown(given)}.`,
    );
  if (!parts.every((part) => Math.abs(part) <= 10))
    throw new WrongFile(`${word} is of pixels between 0 and 1; given was ${shown(given)}.`);
  if (word === "std" && Math.min(...parts) <= 0)
    throw new WrongFile(`std divides the pixels: its numbers are greater than 0; given was ${shown(given)}.`);
  return parts;
}

function count(word, given) {
  const whole = typeof given === "string" && /^\d{1,5}$/.test(given) ? Number(given) : given;
  if (!Number.isInteger(whole) || whole < 1 || whole > 256)
    throw new WrongFile(`${word} goes from 1 to 256; given was ${shown(given)}.`);
  return whole;
}

const oneOf = (names) => (word, given) => {
  if (names.includes(given)) return given;
  throw new WrongFile(`${word} is one of ${names.join(", ")}; given was ${shown(given)}.`);
};

const READ = { mean: colours, std: colours, num_heads: count, act_layer: oneOf(ACTS), global_pool: oneOf(POOLS) };

// {word: value} of the words that a person has given.
function readGiven(said) {
  const words = WORDS_GIVEN.filter((word) => said[word] !== undefined && said[word] !== null && said[word] !== "");
  return Object.fromEntries(words.map((word) => [word, READ[word](word, said[word])]));
}

// The words that a config.json of `timm.models.save_for_hf` gives.
function toldByTimm({ model_args: built, pretrained_cfg: pixels, global_pool: pool }) {
  const { mean, std } = pixels ?? {};
  return readGiven({ mean, std, num_heads: built?.num_heads, act_layer: built?.act_layer, global_pool: pool });
}

const numbers = (values) => values.map((value) => String(Number(value.toPrecision(6)))).join(" ");

// What is assumed for words that are not known: {word: the assumption in words}.
function assumedOf(config, known) {
  const { mean, std, heads, width, activation, classes, pool, dist_token: dist } = config;
  const every = {
    ...{ mean: `mean ${numbers(mean)}`, std: `std ${numbers(std)}`, num_heads: `${heads} heads of ${width / heads}` },
    act_layer: `the activation ${activation}`,
    ...(classes && pool in READ_OUT && !dist && { global_pool: `${READ_OUT[pool]} read out` }),
  };
  return Object.fromEntries(Object.entries(every).filter(([word]) => !known.includes(word)));
}

const unlikeOurs = (pool) =>
  ["", "token", "avg", "map"].includes(pool ?? "")
    ? ""
    : `they are read out by ${shown(pool)}, which the playground's ViT does not compute`;

// Why the model's labels may be wrong; "" if there is no reason.
function whyNoAnswer(config, assumed, unlike) {
  if (unlike || !config.classes) return unlike;
  const usual = { act_layer: config.activation, global_pool: config.pool };
  const unsaid = Object.keys(usual).filter((word) => word in assumed);
  if (!unsaid.length) return "";
  const such = unsaid.map((word) => `${word}=${shown(usual[word]).replaceAll('"', "'")}`).join(", ");
  const asked = unsaid.map((word) => `${word}=`).join(" and ");
  return `they depend on ${asked}, which no weight tells; say it, such as ${such}`;
}

// A notice about assumptions and missing labels; "" if everything is known.
function noticeOf(name, assumed, noAnswer) {
  const said = [];
  if (Object.keys(assumed).length) {
    const words = Object.keys(assumed).map((word) => `${word}=`);
    said.push(`Assumed of ${name}: ${Object.values(assumed).join(", ")}. ${words.join(", ")} say otherwise.`);
  }
  if (noAnswer) said.push(`Its rows are shown, its labels are not: ${noAnswer}.`);
  return said.join(" ");
}
