// Opens a model from dropped files: the weights and the files beside them. The kind of file is recognised as in
// playground/models/model_file.py.

import {
  baseOf,
  checkedConfig,
  checkFit,
  configOfState,
  huggingFaceConfig,
  huggingFaceFacts,
  shapesOf,
  timmBase,
} from "./architecture.js";
import { toEngine } from "./blocks.js";
import { checkNoAdapters, fromEva, fromHuggingFace, isHuggingFace, unwrapState } from "./layouts.js";
import { openSafetensors, pickledFile, shortened, WrongFile } from "./safetensors.js";
import { TIMM } from "./timmtable.js";

const LONGEST_JSON = 4 * 2 ** 20; // bytes
const LONGEST_NAME = 80; // letters
const PICKLE_SUFFIX = /\.(bin|pt|pth|ckpt|pkl)$/;
const WEIGHTS_SUFFIX = ".safetensors";
const COMMON_NAME = "model.safetensors"; // so common a name that the folder's name is shown instead
const SHARD = /-\d{5}-of-\d{5}(?=\.safetensors$)/;

const isWeights = ({ name }) => name.endsWith(WEIGHTS_SUFFIX);

// Returns the dropped files of one model, by their roles. Throws a WrongFile that says what is missing.
function groupFiles(files) {
  const weights = files.filter(isWeights);
  const fileNamed = (name) => files.find((file) => file.name === name);
  if (!weights.length) {
    const [pickled] = files.filter(({ name }) => PICKLE_SUFFIX.test(name));
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
  const sidecars = ["config.json", "preprocessor_config.json", `${name.slice(0, -WEIGHTS_SUFFIX.length)}.json`].map(
    fileNamed,
  );
  return { weights, index: fileNamed(`${name}.index.json`), beside: sidecars, name };
}

async function readJson(file) {
  if (!file || file.size > LONGEST_JSON) return {};
  try {
    const parsed = JSON.parse(await file.text());
    return parsed && typeof parsed === "object" && !Array.isArray(parsed) ? parsed : {};
  } catch {
    return {}; // as in Python: an unreadable file gives no facts
  }
}

async function openWeights({ weights, index, name }) {
  const shards = new Set(Object.values((await readJson(index)).weight_map ?? {}));
  const missingShard = [...shards].find((shard) => !weights.some((file) => file.name === shard));
  const [, shardCount] = /-of-0*(\d+)\.safetensors$/.exec(weights[0].name) ?? [];
  if (missingShard || (shardCount && Number(shardCount) !== weights.length))
    throw new WrongFile(
      `${name} lies in ${shards.size || shardCount} files, and ${weights.length} were dropped: ` +
        "drop all of them together.",
    );
  const openFiles = await Promise.all(weights.map((file) => openSafetensors(file)));
  const tensors = new Map(openFiles.flatMap((part) => [...part.tensors]));
  return { metadata: openFiles[0].metadata, tensors: withFileName(name, () => unwrapState(tensors)) };
}

// Runs `compute`, and puts the file's name into an error about the model.
function withFileName(name, compute) {
  try {
    return compute();
  } catch (error) {
    const reason = error.message.replace(/\.$/, "");
    if (error instanceof WrongFile) throw new WrongFile(`${name} can't be loaded: ${reason}.`);
    throw new WrongFile(`The architecture of ${name} can't be told: ${reason}.`);
  }
}

// Describes the model: {config, state, known: names of facts that need not be assumed, or null, unlike: the model's
// difference from ours, or ""}.
function describeModel({ name, metadata, tensors, configFile, pixels, given }) {
  if ("config" in metadata) {
    const config = withFileName(name, () => checkedConfig(JSON.parse(metadata.config)));
    return { config: { ...config, ...overrides(given) }, state: tensors, known: null, unlike: "" };
  }
  checkNoAdapters(tensors);
  return isHuggingFace(tensors)
    ? describeHuggingFace({ name, tensors, configFile, pixels, given })
    : describeTimm({ name, metadata, tensors, configFile, given });
}

const overrides = ({ mean, std, num_heads: heads, act_layer: activation, global_pool: pool }) => ({
  ...(mean && { mean }),
  ...(std && { std }),
  ...(heads && { heads }),
  ...(activation && { activation }),
  // Of the other pools, the weights show "map"; with "max" and "avgmax" a model gives no labels
  ...(["token", "avg"].includes(pool) && { pool }),
});

function describeHuggingFace({ name, tensors, configFile, pixels, given }) {
  const settings = given.num_heads ? { ...configFile, num_attention_heads: given.num_heads } : configFile;
  return withFileName(name, () => {
    const { config, state } = huggingFaceConfig([...tensors.keys()], fromHuggingFace(tensors), settings, pixels);
    const knownNames = [...huggingFaceFacts(settings, pixels), ...Object.keys(given)];
    return {
      config: checkedConfig({ ...config, ...overrides(given) }),
      state,
      known: knownNames,
      unlike: poolDifference(given.global_pool),
    };
  });
}

function describeTimm({ name, metadata, tensors, configFile, given }) {
  const architecture = configFile.architecture ?? metadata.arch;
  return withFileName(name, () => {
    const architectureRow =
      architecture === undefined ? null : TIMM.find((entry) => entry.names.split(/\s+/).includes(architecture));
    if (architectureRow === undefined)
      throw new WrongFile(
        `its config.json names ${String(architecture).slice(0, 60)}, which is no plain Vision Transformer of timm`,
      );
    const base = architectureRow ? timmBase(architectureRow.is) : (baseOf(tensors) ?? timmBase(null));
    const state = fromEva(tensors);
    const knownFacts = { ...factsOfTimmConfig(configFile), ...given };
    const config = checkedConfig({ ...configOfState(base, state, knownFacts, configFile), ...overrides(given) });
    const knownNames = [
      ...Object.keys(knownFacts),
      ...(architectureRow ? ["num_heads", "act_layer"] : []),
      ...(config.qk_norm ? ["num_heads"] : []),
    ];
    return { config, state, known: knownNames, unlike: config.classes ? poolDifference(knownFacts.global_pool) : "" };
  });
}

// files: the dropped files, of one folder; folder: the folder's name or ""; given: {word: value} stated by a person;
// numbers: "int8" or "float32". Returns a promise of {name, bytes, config, assumed: {word: the assumption}, notice}.
export async function openModel(files, { folder = "", given = {}, numbers = "int8", tell: onProgress } = {}) {
  const group = groupFiles(files);
  const [configFile, pixels, sidecar] = await Promise.all(group.beside.map(readJson));
  const { metadata, tensors } = await openWeights(group);
  const stem = group.name.slice(0, -WEIGHTS_SUFFIX.length);
  const givenName = String(
    metadata.name ?? configFile._name_or_path ?? configFile.architecture ?? configFile.model_type ?? stem,
  );
  const name = (group.name === COMMON_NAME ? folder || givenName : stem).slice(0, LONGEST_NAME);
  const facts = { ...readFacts(sidecar), ...readFacts(given) };
  const {
    config,
    state,
    known: knownNames,
    unlike: difference,
  } = describeModel({
    name: group.name,
    metadata,
    tensors,
    configFile,
    pixels,
    given: facts,
  });
  checkFit(state, config, group.name);
  const assumptions = knownNames ? assumedOf(config, knownNames) : {};
  const noLabelsReason = whyNoLabels(config, assumptions, difference);
  const finalConfig = noLabelsReason ? { ...config, labels: [] } : config;
  const names = [...shapesOf(config).keys()];
  const { bytes, header } = await toEngine(state, names, finalConfig, { title: name, numbers, tell: onProgress });
  return {
    name,
    bytes,
    config: header.config,
    assumed: assumptions,
    notice: noticeOf(name, assumptions, noLabelsReason),
  };
}

// Completes a model with facts that a file of weights lacks. A person states these facts, or else they are assumed, by
// the rules of playground/models/given.py and source.py. Their names are those of the arguments of `playground.load`.

const READOUT_WORDS = { token: "the class token", avg: "the mean of the patches" }; // the weights don't show which one
const POOLS = [...Object.keys(READOUT_WORDS), "map", "max", "avgmax"]; // "max" and "avgmax" give rows, but no labels
const ACTIVATION_NAMES = ["relu", "gelu", "gelu_tanh", "quick_gelu", "silu"];
const FACT_NAMES = ["mean", "std", "num_heads", "act_layer", "global_pool"];

function readColours(word, colours) {
  const parts = (typeof colours === "string" ? colours.split(/[\s,]+/) : Array.isArray(colours) ? colours : []).map(
    Number,
  );
  const [smallest, example] =
    word === "std" ? [0, "0.229,0.224,0.225, all greater than 0"] : [-10, "0.485,0.456,0.406"];
  if (parts.length !== 3 || !parts.every((part) => smallest < part && part <= 10))
    throw new WrongFile(
      `${word} is a number for red, green and blue, such as ${example}; given was ${shortened(colours)}.`,
    );
  return parts;
}

function readCount(word, count) {
  const number = typeof count === "string" && /^\d{1,5}$/.test(count) ? Number(count) : count;
  if (!Number.isInteger(number) || number < 1 || number > 256)
    throw new WrongFile(`${word} goes from 1 to 256; given was ${shortened(count)}.`);
  return number;
}

const readOneOf = (names) => (word, given) => {
  if (names.includes(given)) return given;
  throw new WrongFile(`${word} is one of ${names.join(", ")}; given was ${shortened(given)}.`);
};

const READERS = {
  mean: readColours,
  std: readColours,
  num_heads: readCount,
  act_layer: readOneOf(ACTIVATION_NAMES),
  global_pool: readOneOf(POOLS),
};

// The facts of FACT_NAMES, {name: value}, in a person's answers or a config file.
function readFacts(source) {
  const names = FACT_NAMES.filter((word) => source[word] !== undefined && source[word] !== null && source[word] !== "");
  return Object.fromEntries(names.map((word) => [word, READERS[word](word, source[word])]));
}

// The facts of FACT_NAMES in a config.json of `timm.models.save_for_hf`.
function factsOfTimmConfig({ model_args: built, pretrained_cfg: pixels, global_pool: pool }) {
  const { mean, std } = pixels ?? {};
  return readFacts({ mean, std, num_heads: built?.num_heads, act_layer: built?.act_layer, global_pool: pool });
}

const numbersText = (values) => values.map((value) => String(Number(value.toPrecision(6)))).join(" ");

// The assumptions about facts that nobody stated: {name: the assumption in words}.
function assumedOf(config, knownNames) {
  const { mean, std, heads, width, activation, classes, pool, dist_token: dist } = config;
  const possible = {
    ...{
      mean: `mean ${numbersText(mean)}`,
      std: `std ${numbersText(std)}`,
      num_heads: `${heads} heads of ${width / heads}`,
    },
    act_layer: `the activation ${activation}`,
    ...(classes && pool in READOUT_WORDS && !dist && { global_pool: `${READOUT_WORDS[pool]} read out` }),
  };
  return Object.fromEntries(Object.entries(possible).filter(([word]) => !knownNames.includes(word)));
}

const poolDifference = (pool) =>
  ["", "token", "avg", "map"].includes(pool ?? "")
    ? ""
    : `they are read out by ${shortened(pool)}, which the playground's ViT does not compute`;

// Why the model's labels may be wrong; "" if there is no reason.
function whyNoLabels(config, assumptions, difference) {
  if (difference || !config.classes) return difference;
  const values = { act_layer: config.activation, global_pool: config.pool };
  const missingWords = Object.keys(values).filter((word) => word in assumptions);
  if (!missingWords.length) return "";
  const exampleText = missingWords.map((word) => `${word}=${shortened(values[word]).replaceAll('"', "'")}`).join(", ");
  const wordList = missingWords.map((word) => `${word}=`).join(" and ");
  return `they depend on ${wordList}, which no weight tells; say it, such as ${exampleText}`;
}

// A notice about assumptions and missing labels; "" if everything is known.
function noticeOf(name, assumptions, noLabelsReason) {
  const sentences = [];
  if (Object.keys(assumptions).length) {
    const words = Object.keys(assumptions).map((word) => `${word}=`);
    sentences.push(`Assumed of ${name}: ${Object.values(assumptions).join(", ")}. ${words.join(", ")} say otherwise.`);
  }
  if (noLabelsReason) sentences.push(`Its rows are shown, its labels are not: ${noLabelsReason}.`);
  return sentences.join(" ");
}
