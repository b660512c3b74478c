// Finds the architecture of a ViT from its weights' names and shapes (already renamed, see layouts.js), and from the
// config.json and preprocessor_config.json beside them. The rules and errors are those of hugging_face.py,
// playground/models/architecture.py. A config has the fields of the one in playground/vit.py.

import { isMeta, isTorchvision } from "./layouts.js";
import { shortened, times, WrongFile, zeros } from "./safetensors.js";

const IMAGENET = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };
const OPENAI = { mean: [0.48145466, 0.4578275, 0.40821073], std: [0.26862954, 0.26130258, 0.27577711] };
const HALVES = { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] };
const HEAD_WIDTH = 64; // default width of a head

// The defaults of timm's models.
const TIMM_DEFAULTS = {
  ...{ image_size: [224, 224], head: HEAD_WIDTH, eps: 1e-6, activation: "gelu", positions: "learned", pool: "token" },
  ...{ norm_place: "tokens", interpolation: "bicubic", stretching: "antialiased" },
  ...{ multi_label: false, labels: [], ...HALVES },
};

const rowsOf = (state, name) => state.get(name)?.shape[0] ?? 0;
const depthOf = (state) =>
  1 +
  Math.max(...[...state.keys()].filter((name) => name.startsWith("blocks.")).map((name) => Number(name.split(".")[1])));

// The facts that the weights alone show.
function factsFromWeights(state) {
  const [width, , patch] = state.get("patch_embed.proj.weight").shape;
  const mlp = state.get("blocks.0.mlp.fc2.weight").shape[1];
  return {
    ...{ patch_size: patch, depth: depthOf(state), width, mlp_width: mlp, classes: rowsOf(state, "head.weight") },
    cls_token: state.has("cls_token"),
    dist_token: state.has("dist_token"),
    registers: state.get("reg_token")?.shape[1] ?? 0,
    pre_norm: state.has("norm_pre.weight"),
    qk_norm: state.has("blocks.0.attn.q_norm.weight"),
    qkv_bias: state.has("blocks.0.attn.qkv.bias"),
    layer_scale: state.has("blocks.0.ls1.gamma"),
    gated_mlp: rowsOf(state, "blocks.0.mlp.fc1.weight") === 2 * mlp,
  };
}

// ------------------------------------------------------------------------------------------------------- transformers

const FAMILIES = {
  vit: { ...HALVES, eps: 1e-12, interpolation: "bilinear" },
  deit: { ...IMAGENET, eps: 1e-12, interpolation: "bicubic" },
  dinov2: { ...IMAGENET, eps: 1e-6, interpolation: "bicubic" },
  dinov3: { ...IMAGENET, eps: 1e-5, interpolation: "bilinear" },
  clip: { ...OPENAI, eps: 1e-5, interpolation: "bicubic", act: "quick_gelu" },
  siglip: { ...HALVES, eps: 1e-6, interpolation: "bicubic", act: "gelu_pytorch_tanh" },
};
const ACTIVATIONS = {
  ...{ gelu: "gelu", gelu_new: "gelu_tanh", gelu_pytorch_tanh: "gelu_tanh", quick_gelu: "quick_gelu" },
  ...{ relu: "relu", silu: "silu" },
};
const RESAMPLING = ["nearest", "lanczos", "bilinear", "bicubic"]; // the index is Pillow's number of the filter

// names: the names of the file's weights; renamedState: the renamed weights; configFile, pixels: config.json and
// preprocessor_config.json. Returns {config, state: the renamed weights that our model uses}.
export function huggingFaceConfig(names, renamedState, configFile, pixels) {
  const reason = unsupportedReason(names, renamedState);
  if (reason) {
    const kind = configFile.model_type ? ` (${configFile.model_type})` : "";
    throw new WrongFile(`${reason}: it is no plain Vision Transformer${kind}`);
  }
  const family = familyOf(names, renamedState);
  const defaults = FAMILIES[family];
  const visionConfig = configFile.vision_config;
  const settings =
    visionConfig && typeof visionConfig === "object"
      ? { ...configFile, ...visionConfig, id2label: configFile.id2label ?? {} }
      : configFile;
  const [width, channels, patch, patchWidth] = renamedState.get("patch_embed.proj.weight").shape;
  if (channels !== 3 || patch !== patchWidth)
    throw new WrongFile("it does not cut an RGB picture into square patches of one size");
  if (family === "dinov3" && Number(settings.rope_theta ?? 100) !== 100)
    throw new WrongFile("it turns queries and keys at another pace than DINOv3 (rope_theta)");
  // the model projects into the space of captions
  const projectsToCaptions = names.some((name) => name.startsWith("visual_projection."));
  const { reads: readoutConfig, state } = readout(family, renamedState, width, projectsToCaptions);
  const stateConfig = factsFromWeights(state);
  const { classes, registers } = stateConfig;
  const activation =
    stateConfig.gated_mlp && family === "dinov2" ? "silu" : (settings.hidden_act ?? defaults.act ?? "gelu");
  const { id2label = {} } = settings;
  if (id2label === null || typeof id2label !== "object") throw new Error("its id2label is no list of labels");
  const labels = Object.entries(id2label).sort(([a], [b]) => a - b);
  const positions = !state.has("pos_embed") ? "rotary" : registers ? "patches" : "learned";
  return {
    state,
    config: {
      ...{
        ...stateConfig,
        qk_norm: false,
        pool: "token",
        norm_place: "tokens",
        ...readoutConfig,
        positions,
        stretching: names.some((name) => name.includes("register_tokens")) ? "antialiased" : "plain",
      },
      image_size: imageSize(state, settings, patch, registers),
      heads: headsOfConfig(settings, width),
      activation: ACTIVATIONS[activation],
      eps: Number(settings.layer_norm_eps ?? defaults.eps),
      mean: (pixels.image_mean ?? defaults.mean).map(Number),
      std: (pixels.image_std ?? defaults.std).map(Number),
      interpolation: RESAMPLING[pixels.resample] ?? defaults.interpolation,
      labels: labels.length === classes ? labels.map(([, label]) => String(label)) : [],
      multi_label: false,
    },
  };
}

// Returns the values that these files give for mean, std, num_heads, act_layer and global_pool. A person is asked for
// the missing ones.
export function huggingFaceFacts(configFile, pixels) {
  const facts = {
    mean: pixels.image_mean,
    std: pixels.image_std,
    num_heads: configFile.num_attention_heads || configFile.model_type,
  };
  facts.act_layer = configFile.model_type || configFile.hidden_act;
  return ["global_pool", ...Object.keys(facts).filter((word) => facts[word])];
}

function unsupportedReason(names, state) {
  if (!["attn.qkv", "mlp.fc1", "mlp.fc2"].every((part) => state.has(`blocks.0.${part}.weight`)))
    return "its layers are others";
  if (names.some((name) => name.includes("relative_position")))
    return "it adds a number for the distance between two patches to each score";
  return null;
}

function familyOf(names, state) {
  if (names.some((name) => name.includes("embeddings.patch_embedding.")))
    return state.has("cls_token") ? "clip" : "siglip";
  if (!state.has("pos_embed")) return "dinov3";
  return state.has("blocks.0.ls1.gamma") ? "dinov2" : state.has("dist_token") ? "deit" : "vit";
}

// {reads: the pooling that gives a family's classifier its input, state: the weights that our model uses}. Without a
// classifier, the pooling is that of the pooled output of `transformers`.
function readout(family, state, width, projectsToCaptions) {
  const classes = rowsOf(state, "head.weight");
  const stateWithout = (beginning) => new Map([...state].filter(([name]) => !name.startsWith(beginning)));
  if (family === "siglip") {
    if (classes || !state.has("attn_pool.latent")) return { reads: { pool: "avg" }, state: stateWithout("attn_pool.") };
    return { reads: { pool: "map" }, state };
  }
  if (family === "clip" && classes && !projectsToCaptions)
    return { reads: { pool: "avg", norm_place: "nowhere" }, state: stateWithout("norm.") };
  if (classes && state.get("head.weight").shape[1] === 2 * width) return { reads: { pool: "token+avg" }, state };
  if (classes && state.has("dist_token") && !state.has("head_dist.weight")) {
    // The file has one classifier, for the class token. Our model averages two, so this classifier's weights are
    // doubled, and the other classifier's weights are 0
    const doubledState = new Map(state);
    for (const kind of ["weight", "bias"]) {
      const tensor = state.get(`head.${kind}`);
      doubledState.set(`head.${kind}`, times(tensor, 2)).set(`head_dist.${kind}`, zeros(...tensor.shape));
    }
    return { reads: {}, state: doubledState };
  }
  return { reads: {}, state };
}

function imageSize(state, configFile, patch, registers) {
  const size = configFile.image_size ?? 224;
  const imageSides = (Array.isArray(size) ? size : [size, size]).map((side) => Math.floor(side / patch) * patch);
  if (!imageSides.every(Number.isInteger)) throw new Error("its image_size is no number of pixels");
  if (!state.has("pos_embed")) return imageSides;
  const prefix = registers ? 0 : state.has("cls_token") + state.has("dist_token");
  const patches = state.get("pos_embed").shape[1] - prefix;
  if (imageSides[0] * imageSides[1] === patches * patch ** 2) return imageSides;
  return Array(2).fill(patch * Math.floor(Math.sqrt(patches)));
}

function headsOfConfig({ num_attention_heads: heads }, width) {
  if (!heads && width % HEAD_WIDTH)
    throw new WrongFile(
      `nothing says how many heads share its width of ${width}; drop the config.json that was saved with it together ` +
        "with the file",
    );
  return Number(heads ?? width / HEAD_WIDTH);
}

// ---------------------------------------------------------------------------------------- timm, Meta and torchvision

const IGNORED_ARGUMENTS = // of timm's models: the weights show them, or they change nothing once a model is trained
  "img_size patch_size in_chans embed_dim depth num_heads mlp_ratio num_classes global_pool class_token reg_tokens " +
  "no_embed_class pos_embed pre_norm qk_norm qkv_bias init_values fc_norm final_norm act_layer dynamic_img_size " +
  "dynamic_img_pad strict_img_size weight_init fix_init drop_rate pos_drop_rate patch_drop_rate proj_drop_rate " +
  "attn_drop_rate drop_path_rate";

// The config of a file from Meta or torchvision, before its weights correct it; null for other files.
export function baseOf(state) {
  if (isTorchvision(state)) return { ...TIMM_DEFAULTS, interpolation: "bilinear", ...IMAGENET };
  if (!isMeta(state)) return null;
  const gated = [...state.keys()].some((name) => name.includes(".mlp.w3."));
  const base = { ...TIMM_DEFAULTS, image_size: [518, 518], ...IMAGENET, ...(gated && { activation: "silu" }) };
  if (!state.has("pos_embed")) return { ...base, positions: "rotary", eps: 1e-5, image_size: [256, 256] };
  return state.has("register_tokens") ? base : { ...base, stretching: "offset" }; // with them as timm does
}

// The config of one of timm's architectures; `parts`: a row of timmtable.js, or null if the architecture is unknown.
export const timmBase = (parts) => ({ ...TIMM_DEFAULTS, ...parts });

// The config: `base`, corrected by the weights, by `knownFacts` (see opening.js) and by config.json (`configFile`).
export function configOfState(base, state, knownFacts, configFile) {
  const patchWeights = state.get("patch_embed.proj.weight");
  if (!patchWeights || !state.has("blocks.0.mlp.fc2.weight"))
    throw new WrongFile("its layers are others: it is no plain Vision Transformer");
  const supported = new Set(IGNORED_ARGUMENTS.split(" "));
  const unsupported = Object.entries(configFile.model_args ?? {}).find(
    ([name, value]) => !supported.has(name) && value !== null,
  );
  if (unsupported)
    throw new WrongFile(`its config.json asks for ${unsupported[0]}, which the playground's ViT has not`);
  if (patchWeights.shape.length !== 4 || patchWeights.shape[1] !== 3)
    throw new WrongFile(
      `its pictures have ${patchWeights.shape[1]} channels; the playground's have 3: red, green, blue`,
    );
  const stateConfig = factsFromWeights(state);
  const norm = state.has("fc_norm.weight") ? "pooled" : state.has("norm.weight") ? "tokens" : "nowhere";
  const labels = labelsOfConfig(configFile, stateConfig.classes);
  return {
    ...stateConfig,
    ...positionsOf(base, state, stateConfig, sizeOfConfig(configFile)),
    heads: knownFacts.num_heads ?? headsOfWeights(base, state, stateConfig.width),
    pool: poolOf(base, state, norm, knownFacts.global_pool),
    norm_place: norm,
    activation: knownFacts.act_layer ?? base.activation,
    eps: base.eps,
    mean: knownFacts.mean ?? base.mean,
    std: knownFacts.std ?? base.std,
    interpolation: configFile.pretrained_cfg?.interpolation || base.interpolation,
    stretching: base.stretching,
    labels,
    multi_label: base.multi_label,
  };
}

// The number of heads. A head is as wide as the queries' norm is long, or else has the width `base.head`.
const headsOfWeights = (base, state, width) =>
  Math.max(1, Math.floor(width / (rowsOf(state, "blocks.0.attn.q_norm.weight") || base.head)));

// Checks the rows of learned positions: one for each patch, and perhaps for each prefix token.
function positionsOf(base, state, { patch_size: patch, cls_token, dist_token, registers }, givenSize) {
  const imageSides = (givenSize ?? base.image_size).map((side) => Math.floor(side / patch) * patch);
  const areLearned = ["learned", "patches"].includes(base.positions);
  if (!state.has("pos_embed")) return { positions: areLearned ? "none" : base.positions, image_size: imageSides };
  const rows = state.get("pos_embed").shape[1];
  const tokens = cls_token + dist_token + registers;
  let candidates = [
    ["learned", rows - tokens],
    ["patches", rows],
  ];
  if (!tokens) candidates = [[areLearned ? base.positions : "learned", rows]];
  else if (base.positions === "patches") candidates.reverse();
  for (const [positions, patches] of candidates)
    if (patches === (imageSides[0] * imageSides[1]) / patch ** 2) return { positions, image_size: imageSides };
  for (const [positions, patches] of candidates)
    if (patches > 0 && Number.isInteger(Math.sqrt(patches)))
      return { positions, image_size: Array(2).fill(Math.sqrt(patches) * patch) };
  throw new WrongFile(
    `its ${rows.toLocaleString("en")} positions make no square of patches, and no config.json says its input size; ` +
      "save it with timm.models.save_for_hf, and drop both files",
  );
}

function poolOf(base, state, norm, givenPool) {
  if (state.has("attn_pool.latent")) return "map";
  if (givenPool === "token" || givenPool === "avg") return givenPool;
  if (!state.has("cls_token") || norm === "pooled") return "avg"; // timm norms the pooled vector
  return base.pool === "map" || base.norm_place === "pooled" ? "token" : base.pool;
}

function sizeOfConfig(configFile) {
  const size = configFile.model_args?.img_size ?? configFile.pretrained_cfg?.input_size;
  if (Number.isInteger(size)) return [size, size];
  return Array.isArray(size) && size.length >= 2 && size.every(Number.isInteger) ? size.slice(-2) : null;
}

function labelsOfConfig({ label_names: labelNames, label_descriptions: descriptions }, classes) {
  const numbers = Array.from({ length: classes }, (_, i) => String(i));
  const names = Array.isArray(labelNames)
    ? labelNames
    : labelNames
      ? numbers.map((number) => labelNames[number] ?? number)
      : [];
  return names.length === classes ? names.map((name) => String(descriptions?.[name] ?? name)) : [];
}

// The shapes of all weights by name, as in VisionTransformer of playground/vit.py.
export function shapesOf(config) {
  const { width: D, mlp_width: mlpWidth, heads, patch_size: P } = config;
  const shapes = new Map();
  const addShape = (name, ...shape) => shapes.set(name, shape);
  const linear = (name, inputs, outputs, bias = true) => {
    addShape(`${name}.weight`, outputs, inputs);
    if (bias) addShape(`${name}.bias`, outputs);
  };
  const norm = (name, size = D) => [addShape(`${name}.weight`, size), addShape(`${name}.bias`, size)];
  const mlp = (name) => [
    linear(`${name}.fc1`, D, mlpWidth * (config.gated_mlp ? 2 : 1)),
    linear(`${name}.fc2`, mlpWidth, D),
  ];
  const tokens = config.cls_token + config.dist_token + config.registers;
  const rows = { learned: tokens, patches: 0 }[config.positions];
  if (config.cls_token) addShape("cls_token", 1, 1, D);
  if (config.dist_token) addShape("dist_token", 1, 1, D);
  if (config.registers) addShape("reg_token", 1, config.registers, D);
  if (rows !== undefined) addShape("pos_embed", 1, rows + (config.image_size[0] / P) * (config.image_size[1] / P), D);
  addShape("patch_embed.proj.weight", D, 3, P, P);
  if (!config.pre_norm) addShape("patch_embed.proj.bias", D);
  if (config.pre_norm) norm("norm_pre");
  for (let layer = 0; layer < config.depth; layer++) {
    const name = `blocks.${layer}`;
    norm(`${name}.norm1`);
    linear(`${name}.attn.qkv`, D, 3 * D, config.qkv_bias);
    if (config.qk_norm) for (const part of ["q_norm", "k_norm"]) norm(`${name}.attn.${part}`, D / heads);
    linear(`${name}.attn.proj`, D, D);
    if (config.layer_scale) for (const part of ["ls1", "ls2"]) addShape(`${name}.${part}.gamma`, D);
    norm(`${name}.norm2`);
    mlp(`${name}.mlp`);
  }
  if (config.norm_place === "tokens") norm("norm");
  if (config.pool === "map") {
    addShape("attn_pool.latent", 1, 1, D);
    for (const [part, outputs] of Object.entries({ q: D, kv: 2 * D, proj: D })) linear(`attn_pool.${part}`, D, outputs);
    norm("attn_pool.norm");
    mlp("attn_pool.mlp");
  }
  if (config.norm_place === "pooled") norm("fc_norm");
  if (config.classes) linear("head", config.pool === "token+avg" ? 2 * D : D, config.classes);
  if (config.classes && config.dist_token) linear("head_dist", D, config.classes);
  return shapes;
}

// Throws if the weights don't fit the config, with the same sentences as source.py.
export function checkFit(state, config, file) {
  const expectedShapes = shapesOf(config);
  const text = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
  const misshapen = [...expectedShapes].filter(
    ([name, shape]) => state.has(name) && text(state.get(name).shape) !== text(shape),
  );
  const problems = [
    [[...expectedShapes.keys()].filter((name) => !state.has(name)), "lacks"],
    [[...state.keys()].filter((name) => !expectedShapes.has(name)), "has, and the model has not,"],
    [
      misshapen.map(([name, shape]) => `${name} ${text(state.get(name).shape)} for ${text(shape)}`),
      "holds other shapes:",
    ],
  ];
  for (const [wrongNames, problem] of problems) {
    if (!wrongNames.length) continue;
    const firstNames = wrongNames.sort().slice(0, 3).join(", ").slice(0, 300);
    const restWords = wrongNames.length > 3 ? ` and ${wrongNames.length - 3} more` : "";
    throw new WrongFile(`${file} doesn't fit this model: it ${problem} ${firstNames}${restWords}.`);
  }
}

// The allowed values of an architecture's description, as in CHOICES of models/architecture.py; a file may come from
// anybody.

const RANGES = {
  ...{ patch_size: [1, 224], depth: [1, 100], width: [1, 8192], mlp_width: [1, 65_536], heads: [1, 256] },
  ...{ classes: [0, 100_000], registers: [0, 64] },
};
const CHOICES = {
  positions: ["learned", "patches", "sinusoidal", "rotary", "none"],
  stretching: ["antialiased", "plain", "offset"],
  pool: ["token", "avg", "map", "token+avg"],
  norm_place: ["tokens", "pooled", "nowhere"],
  activation: ["relu", "gelu", "gelu_tanh", "quick_gelu", "silu"],
  interpolation: ["bicubic", "bilinear", "nearest", "lanczos"],
};
const FLAGS = "cls_token dist_token pre_norm qk_norm qkv_bias layer_scale gated_mlp multi_label".split(" ");
const MOST_SIDE = 4096;
const LONGEST_LABEL = 200;
const PAPER_DEFAULTS = {
  cls_token: true,
  dist_token: false,
  registers: 0,
  pre_norm: false,
  qk_norm: false,
  qkv_bias: true,
};
const DEFAULTS = { ...TIMM_DEFAULTS, ...PAPER_DEFAULTS, layer_scale: false, gated_mlp: false };
const isOff = (value) => !value || (Array.isArray(value) && !value.length); // a field of an older version

// Returns the config, or throws an Error that says what is impossible.
export function checkedConfig(candidate) {
  if (candidate === null || typeof candidate !== "object") throw new Error("it is no list of names and values");
  const known = (name) => name in RANGES || name in DEFAULTS;
  const unknownName = Object.keys(candidate).find((name) => !known(name) && !isOff(candidate[name]));
  if (unknownName) throw new Error(`there is no '${unknownName.slice(0, 60)}'`);
  const { head: _head, ...config } = { ...DEFAULTS, ...candidate };
  for (const name of Object.keys(config)) if (!known(name)) delete config[name];
  for (const [name, [minimum, maximum]] of Object.entries(RANGES)) {
    const value = config[name];
    if (!Number.isInteger(value) || value < minimum || value > maximum)
      throw new Error(
        `${name} goes from ${minimum} to ${maximum.toLocaleString("en")}, and ${shortened(value)} stands there`,
      );
  }
  for (const [name, words] of Object.entries(CHOICES))
    if (!words.includes(config[name]))
      throw new Error(`${name} is one of ${words.join(", ")}, not ${shortened(config[name])}`);
  for (const name of FLAGS)
    if (typeof config[name] !== "boolean") throw new Error(`${name} is yes or no, not ${shortened(config[name])}`);
  const { eps, image_size: size, labels, classes, patch_size: patch, width, heads } = config;
  if (!(eps > 0 && eps <= 1)) throw new Error(`eps lies between 0 and 1, and ${shortened(eps)} stands there`);
  if (
    !Array.isArray(size) ||
    size.length !== 2 ||
    !size.every((side) => Number.isInteger(side) && side >= 1 && side <= MOST_SIDE)
  )
    throw new Error(
      `image_size is two sides of at most ${MOST_SIDE.toLocaleString("en")} pixels, not ${shortened(size)}`,
    );
  for (const name of ["mean", "std"]) {
    const isValid = (n) => Number.isFinite(n) && Math.abs(n) <= 10 && (name === "mean" || n > 0);
    if (!Array.isArray(config[name]) || config[name].length !== 3 || !config[name].every(isValid))
      throw new Error(`${name} is a number for red, green and blue, not ${shortened(config[name])}`);
  }
  if (!Array.isArray(labels) || !labels.every((label) => typeof label === "string" && label.length <= LONGEST_LABEL))
    throw new Error(`labels are words of at most ${LONGEST_LABEL} letters`);
  if (labels.length && labels.length !== classes)
    throw new Error(`${labels.length} labels stand there for ${classes} classes`);
  if (size.some((side) => side % patch)) throw new Error(`patches of ${patch} pixels don't fill ${shortened(size)}`);
  if (width % heads)
    throw new WrongFile(
      `A width of ${width} can't be shared out evenly among ${heads} heads; choose a width that is a multiple of ` +
        heads,
    );
  if (width % 4 || ((config.qk_norm || config.positions === "rotary") && (width / heads) % 4))
    throw new WrongFile(
      `it has a width of ${width} in ${heads} heads, and what computes in a browser takes multiples of four; the app ` +
        "takes any",
    );
  return config;
}
