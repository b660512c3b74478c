// Renames weights of timm, `transformers`, Meta and torchvision to our names, which are timm's, by the rules of
// playground/models/layouts.py. Functions take a Map from name to tensor
// and return a new Map, without reading numbers. Weights that a pass does not use are left out.

import { added, joined, reshaped, somePositions, thirdsOf, WrongFile, zeros } from "./safetensors.js";

const PATCH_WEIGHT = "patch_embed.proj.weight";
const renamed = (state, name) => new Map([...state].map(([key, x]) => [name(key), x]));

// Removes the prefixes that DistributedDataParallel, Lightning and users' own classes put before each name.
export function unwrapState(tensors) {
  let state = tensors;
  const firstPart = (name) => name.split(".")[0];
  while (new Set([...state.keys()].map(firstPart)).size === 1 && [...state.keys()].every((name) => name.includes(".")))
    state = renamed(state, (name) => name.slice(firstPart(name).length + 1));
  const wrappers = [...state.keys()].filter((name) => name.endsWith(`.${PATCH_WEIGHT}`));
  if (state.has(PATCH_WEIGHT) || !wrappers.length) return state;
  const prefixes = wrappers.map((name) => name.slice(0, -PATCH_WEIGHT.length));
  if (prefixes.length > 1)
    throw new WrongFile(
      `it holds several models, ${prefixes.map((prefix) => prefix.slice(0, -1)).join(", ")}: save one of them`,
    );
  const entries = [...state].filter(([name]) => name.startsWith(prefixes[0]));
  return renamed(new Map(entries), (name) => name.slice(prefixes[0].length));
}

// ------------------------------------------------------------------------------------- timm, Meta and torchvision

const UNUSED_NAMES =
  /^(mask_token|rope_embed\.periods|.*\.attn\.qkv\.bias_mask|local_cls_norm\..*|dino_head\..*|ibot_head\..*)$/;
const TORCHVISION_LAYER = /^encoder\.layers\.encoder_layer_(\d+)\./;
const TORCHVISION_NAMES = [
  [/^conv_proj\./, "patch_embed.proj."],
  [/^class_token/, "cls_token"],
  [/^encoder\.pos_embedding/, "pos_embed"],
  [/^encoder\.ln\./, "norm."],
  [/^heads\.head\./, "head."],
];
const TORCHVISION_LAYER_NAMES = [
  [/^ln_1\./, "norm1."],
  [/^ln_2\./, "norm2."],
  [/^self_attention\.in_proj_/, "attn.qkv."],
  [/^self_attention\.out_proj\./, "attn.proj."],
  [/^mlp\.(0|linear_1)\./, "mlp.fc1."],
  [/^mlp\.(3|linear_2)\./, "mlp.fc2."],
];

export const isTorchvision = (state) => ["conv_proj.weight", "encoder.pos_embedding"].every((name) => state.has(name));

// Whether this is a file of DINOv2 or DINOv3 from Meta. Both kinds of files contain the mask token of training.
export const isMeta = (state) => ["mask_token", PATCH_WEIGHT, "blocks.0.ls1.gamma"].every((name) => state.has(name));

export function checkNoAdapters(state) {
  const name = [...state.keys()].find((key) => key.includes(".lora_") || key.includes(".modules_to_save."));
  if (name)
    throw new WrongFile(
      `Adapters lie beside the weights here (${name.slice(0, 60)}): save what model.merge_and_unload() returns.`,
    );
}

export function fromOthers(state) {
  checkNoAdapters(state);
  if (isTorchvision(state)) return renamed(state, torchvisionName);
  const ourState = new Map([...state].filter(([name]) => !UNUSED_NAMES.test(name)));
  for (const theirName of ["register_tokens", "storage_tokens"]) {
    if (!ourState.has(theirName)) continue;
    ourState.set("reg_token", ourState.get(theirName));
    ourState.delete(theirName);
    if (isMeta(state)) addClassPosition(ourState); // Meta's model inserts registers after adding positions
  }
  for (const name of [...ourState.keys()].filter((key) => key.endsWith(".attn.qkv.bias") && state.has(`${key}_mask`))) {
    const [q, k, v] = thirdsOf(ourState.get(name));
    ourState.set(name, joined(q, zeros(...k.shape), v)); // the mask sets the bias of keys to 0
  }
  return unwrapHead(withGateFirst(ourState));
}

function torchvisionName(name) {
  const [layerPrefix, layer] = TORCHVISION_LAYER.exec(name) ?? [];
  const [suffix, rules] = layerPrefix
    ? [name.slice(layerPrefix.length), TORCHVISION_LAYER_NAMES]
    : [name, TORCHVISION_NAMES];
  const rule = rules.find(([pattern]) => pattern.test(suffix));
  return rule ? `${layerPrefix ? `blocks.${layer}.` : ""}${suffix.replace(...rule)}` : name;
}

// Adds the class token's position to the token. Registers have no position.
function addClassPosition(ourState) {
  if (!["cls_token", "pos_embed", "reg_token"].every((name) => ourState.has(name))) return;
  ourState.set("cls_token", added(ourState.get("cls_token"), somePositions(ourState.get("pos_embed"), 0, 1)));
  ourState.set("pos_embed", somePositions(ourState.get("pos_embed"), 1));
}

// Joins the weights of Meta's SwiGLU, with the gate first, as in our model.
function withGateFirst(state) {
  const ourState = new Map();
  for (const [name, x] of state) {
    const [, prefix, part, kind] = /^(blocks\.\d+\.mlp\.)(w12|w1|w2|w3)\.(weight|bias)$/.exec(name) ?? [];
    if (!part) ourState.set(name, x);
    else if (part === "w12") ourState.set(`${prefix}fc1.${kind}`, x);
    else if (part === "w3") ourState.set(`${prefix}fc2.${kind}`, x);
    else if (part === "w1") ourState.set(`${prefix}fc1.${kind}`, joined(x, otherPart(state, `${prefix}w2.${kind}`)));
  }
  return ourState;
}

function otherPart(state, name) {
  if (!state.has(name)) throw new WrongFile(`it lacks ${name}`);
  return state.get(name);
}

// If the head is a Sequential(Dropout, Linear), renames its only matrix to "head".
function unwrapHead(state) {
  const matrices = [...state].filter(([name, x]) => /^head\.\d+\.weight$/.test(name) && x.shape.length === 2);
  if (state.has("head.weight") || matrices.length !== 1) return state;
  const prefix = matrices[0][0].slice(0, -"weight".length);
  return renamed(state, (name) => (name.startsWith(prefix) ? `head.${name.slice(prefix.length)}` : name));
}

// Converts timm's Eva (DINOv3), which stores some tensors in two parts; weights with our names pass unchanged.
export function fromEva(tensors) {
  const [state, ourState] = [fromOthers(tensors), new Map()];
  for (const [name, x] of state) {
    if (/attn\.v_bias$|mlp\.fc1_x\.(weight|bias)$/.test(name)) continue; // joined with the other part of the tensor
    if (name.endsWith("attn.q_bias")) {
      const v = otherPart(state, name.replace("q_bias", "v_bias")); // keys have no bias
      ourState.set(name.replace("q_bias", "qkv.bias"), joined(x, zeros(...x.shape), v));
    } else if (name.includes(".mlp.fc1_g."))
      ourState.set(name.replace("fc1_g", "fc1"), joined(x, otherPart(state, name.replace("fc1_g", "fc1_x"))));
    else ourState.set(name.replace(/\.gamma_([12])$/, ".ls$1.gamma"), x);
  }
  return ourState;
}

// ------------------------------------------------------------------------------------------------------- transformers

const PATCH_NAME = /embeddings\.(patch_embeddings\.projection|patch_embeddings|patch_embedding)\.weight$/;
const WRAPPER_PREFIX = /^(vit|deit|dinov2|dinov2_with_registers|backbone|vision_model|model)\./;
const TEXT_MODEL = /^(text_model|text_projection|logit_scale|logit_bias)/; // the text half of CLIP and SigLIP
const UNUSED_BY_TRANSFORMERS = ["embeddings.mask_token", "pooler.dense.weight", "pooler.dense.bias"];
const OUTSIDE_LAYERS = {
  "embeddings.cls_token": "cls_token",
  "embeddings.class_embedding": "cls_token",
  "embeddings.distillation_token": "dist_token",
  "embeddings.register_tokens": "reg_token",
  "embeddings.position_embeddings": "pos_embed",
  "embeddings.position_embedding.weight": "pos_embed",
  "cls_classifier.weight": "head.weight",
  "cls_classifier.bias": "head.bias",
  "visual_projection.weight": "head.weight",
  "head.probe": "attn_pool.latent",
};
const NAME_BEGINNINGS = [
  [/^embeddings\.patch_embeddings\.projection\./, "patch_embed.proj."],
  [/^embeddings\.patch_embeddings?\./, "patch_embed.proj."],
  [/^(layernorm|norm|post_layernorm)\./, "norm."],
  [/^pre_layrnorm\./, "norm_pre."],
  [/^distillation_classifier\./, "head_dist."],
  [/^head\.attention\.out_proj\./, "attn_pool.proj."],
  [/^head\.layernorm\./, "attn_pool.norm."],
  [/^head\.mlp\./, "attn_pool.mlp."],
  [/^classifier\./, "head."],
];
const LAYER_WEIGHT = /^(?:encoder\.)?layers?\.(\d+)\.(.+)\.(weight|bias|lambda1)$/;
const QKV = /^(?:attention\.attention\.(query|key|value)|(?:attention|self_attn)\.([qkv])_proj)$/;
const LAYER_NAMES = [
  [/^(attention\.output\.dense|attention\.o_proj|self_attn\.out_proj)$/, "attn.proj"],
  [/^(layernorm_before|norm1|layer_norm1)$/, "norm1"],
  [/^(layernorm_after|norm2|layer_norm2)$/, "norm2"],
  [/^(intermediate\.dense|mlp\.fc1|mlp\.up_proj|mlp\.weights_in)$/, "mlp.fc1"],
  [/^(output\.dense|mlp\.fc2|mlp\.down_proj|mlp\.weights_out)$/, "mlp.fc2"],
  [/^layer_scale1$/, "ls1"],
  [/^layer_scale2$/, "ls2"],
];

export const isHuggingFace = (state) => [...state.keys()].some((name) => PATCH_NAME.test(name));

// Converts weights of `transformers`. Unknown names stay, so that the check of names can report them.
export function fromHuggingFace(state) {
  const [ourState, thirds, gates] = [new Map(), new Map(), new Map()];
  for (const [key, x] of state) {
    const name = key.replace(WRAPPER_PREFIX, "");
    if (UNUSED_BY_TRANSFORMERS.includes(name) || TEXT_MODEL.test(key)) continue;
    const [, layer, part, kind] = LAYER_WEIGHT.exec(name) ?? [];
    if (!part) {
      ourState.set(outsideName(name), x);
      continue;
    }
    const match = QKV.exec(part);
    const target = LAYER_NAMES.find(([pattern]) => pattern.test(part))?.[1];
    if (match) {
      const qkvName = `blocks.${layer}.attn.qkv.${kind}`;
      thirds.set(qkvName, { ...thirds.get(qkvName), [(match[1] ?? match[2])[0]]: x });
    } else if (part === "mlp.gate_proj") gates.set(`blocks.${layer}.mlp.fc1.${kind}`, x);
    else ourState.set(target ? `blocks.${layer}.${target}.${kind}`.replace(".lambda1", ".gamma") : name, x);
  }
  for (const [key, qkvParts] of thirds) {
    if (key.includes("weight") && Object.keys(qkvParts).length < 3) continue;
    const [anyPart] = Object.values(qkvParts);
    const parts = ["q", "k", "v"].map((part) => qkvParts[part] ?? zeros(...anyPart.shape)); // a bias may be left out
    ourState.set(key, joined(...parts));
  }
  // the gate comes first, as in our model
  for (const [key, gate] of gates) if (ourState.has(key)) ourState.set(key, joined(gate, ourState.get(key)));
  return completeState(ourState);
}

const outsideName = (name) => {
  if (Object.hasOwn(OUTSIDE_LAYERS, name)) return OUTSIDE_LAYERS[name];
  const rule = NAME_BEGINNINGS.find(([pattern]) => pattern.test(name));
  return rule ? name.replace(...rule) : name;
};

// Gives all weights the shapes of our model, and adds zeros for biases that are missing in the file.
function completeState(ourState) {
  const cls = ourState.get("cls_token");
  if (cls)
    ourState.set(
      "cls_token",
      reshaped(
        cls,
        1,
        1,
        cls.shape.reduce((product, n) => product * n, 1),
      ),
    );
  const positions = ourState.get("pos_embed");
  if (positions?.shape.length === 2) ourState.set("pos_embed", reshaped(positions, 1, ...positions.shape));
  if (ourState.get("reg_token")?.shape.includes(0)) ourState.delete("reg_token");
  for (const kind of ["weight", "bias"]) {
    const inProjection = ourState.get(`head.attention.in_proj_${kind}`);
    if (!inProjection) continue;
    const [q, k, v] = thirdsOf(inProjection);
    ourState.delete(`head.attention.in_proj_${kind}`);
    ourState.set(`attn_pool.q.${kind}`, q);
    ourState.set(`attn_pool.kv.${kind}`, joined(k, v));
  }
  for (const [key, { shape }] of [...ourState]) {
    const bias = key.replace("weight", "bias");
    if (/^(head|blocks\.\d+\.(attn\.proj|mlp\.fc[12]))\.weight$/.test(key) && !ourState.has(bias))
      ourState.set(bias, zeros(shape[0]));
  }
  addClassPosition(ourState);
  return ourState;
}
