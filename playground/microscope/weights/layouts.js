// Renames weights of timm, `transformers`, Meta and torchvision to our names, which are timm's; as checkpoints.py,
// hugging_face.py and others_files.py of playground/models do. A Map of name → tensor goes in and a new one comes out;
// no numbers are read. Weights that play no part in a pass are left out.

import { added, inThree, joined, places, reshaped, WrongFile, zeros } from "./safetensors.js";

const BEGINS = "patch_embed.proj.weight";
const renamed = (state, name) => new Map([...state].map(([key, x]) => [name(key), x]));

// Removes the prefixes that DistributedDataParallel, Lightning and users' own classes put before each name.
export function unwrapped(given) {
  let state = given;
  const first = (name) => name.split(".")[0];
  while (new Set([...state.keys()].map(first)).size === 1 && [...state.keys()].every((name) => name.includes(".")))
    state = renamed(state, (name) => name.slice(first(name).length + 1));
  const wrappers = [...state.keys()].filter((name) => name.endsWith(`.${BEGINS}`));
  if (state.has(BEGINS) || !wrappers.length) return state;
  const starts = wrappers.map((name) => name.slice(0, -BEGINS.length));
  if (starts.length > 1)
    throw new WrongFile(
      `it holds several models, ${starts.map((start) => start.slice(0, -1)).join(", ")}: save one of them`,
    );
  const inside = [...state].filter(([name]) => name.startsWith(starts[0]));
  return renamed(new Map(inside), (name) => name.slice(starts[0].length));
}

// ------------------------------------------------------------------------------------- timm, Meta and torchvision

const UNUSED =
  /^(mask_token|rope_embed\.periods|.*\.attn\.qkv\.bias_mask|local_cls_norm\..*|dino_head\..*|ibot_head\..*)$/;
const IN_TORCHVISION = /^encoder\.layers\.encoder_layer_(\d+)\./;
const TORCHVISION = [
  [/^conv_proj\./, "patch_embed.proj."],
  [/^class_token/, "cls_token"],
  [/^encoder\.pos_embedding/, "pos_embed"],
  [/^encoder\.ln\./, "norm."],
  [/^heads\.head\./, "head."],
];
const IN_A_TORCHVISION_LAYER = [
  [/^ln_1\./, "norm1."],
  [/^ln_2\./, "norm2."],
  [/^self_attention\.in_proj_/, "attn.qkv."],
  [/^self_attention\.out_proj\./, "attn.proj."],
  [/^mlp\.(0|linear_1)\./, "mlp.fc1."],
  [/^mlp\.(3|linear_2)\./, "mlp.fc2."],
];

export const isTorchvision = (state) => ["conv_proj.weight", "encoder.pos_embedding"].every((name) => state.has(name));

// DINOv2's or DINOv3's file, as Meta publishes it: both keep the token that stood for hidden patches.
export const isMeta = (state) => ["mask_token", BEGINS, "blocks.0.ls1.gamma"].every((name) => state.has(name));

export function noAdapters(state) {
  const name = [...state.keys()].find((key) => key.includes(".lora_") || key.includes(".modules_to_save."));
  if (name)
    throw new WrongFile(
      `Adapters lie beside the weights here (${name.slice(0, 60)}): save what model.merge_and_unload() returns.`,
    );
}

export function fromOthers(state) {
  noAdapters(state);
  if (isTorchvision(state)) return renamed(state, torchvisionName);
  const ours = new Map([...state].filter(([name]) => !UNUSED.test(name)));
  for (const theirs of ["register_tokens", "storage_tokens"]) {
    if (!ours.has(theirs)) continue;
    ours.set("reg_token", ours.get(theirs));
    ours.delete(theirs);
    if (isMeta(state)) placeTheClassToken(ours); // in this model registers are inserted after positions are added
  }
  for (const name of [...ours.keys()].filter((key) => key.endsWith(".attn.qkv.bias") && state.has(`${key}_mask`))) {
    const [q, k, v] = inThree(ours.get(name));
    ours.set(name, joined(q, zeros(...k.shape), v)); // the mask sets the bias of keys to 0
  }
  return plainHead(gated(ours));
}

function torchvisionName(name) {
  const [start, layer] = IN_TORCHVISION.exec(name) ?? [];
  const [rest, known] = start ? [name.slice(start.length), IN_A_TORCHVISION_LAYER] : [name, TORCHVISION];
  const found = known.find(([theirs]) => theirs.test(rest));
  return found ? `${start ? `blocks.${layer}.` : ""}${rest.replace(...found)}` : name;
}

// Registers then have no positions, and the class token has its own in it.
function placeTheClassToken(ours) {
  if (!["cls_token", "pos_embed", "reg_token"].every((name) => ours.has(name))) return;
  ours.set("cls_token", added(ours.get("cls_token"), places(ours.get("pos_embed"), 0, 1)));
  ours.set("pos_embed", places(ours.get("pos_embed"), 1));
}

// Meta's SwiGLU: its gate first, as in ours.
function gated(state) {
  const ours = new Map();
  for (const [name, x] of state) {
    const [, start, part, kind] = /^(blocks\.\d+\.mlp\.)(w12|w1|w2|w3)\.(weight|bias)$/.exec(name) ?? [];
    if (!part) ours.set(name, x);
    else if (part === "w12") ours.set(`${start}fc1.${kind}`, x);
    else if (part === "w3") ours.set(`${start}fc2.${kind}`, x);
    else if (part === "w1") ours.set(`${start}fc1.${kind}`, joined(x, partner(state, `${start}w2.${kind}`)));
  }
  return ours;
}

function partner(state, name) {
  if (!state.has(name)) throw new WrongFile(`it lacks ${name}`);
  return state.get(name);
}

// head = Sequential(Dropout, Linear): its one matrix is the head.
function plainHead(state) {
  const matrices = [...state].filter(([name, x]) => /^head\.\d+\.weight$/.test(name) && x.shape.length === 2);
  if (state.has("head.weight") || matrices.length !== 1) return state;
  const start = matrices[0][0].slice(0, -"weight".length);
  return renamed(state, (name) => (name.startsWith(start) ? `head.${name.slice(start.length)}` : name));
}

// Converts timm's Eva (DINOv3), which stores some tensors in two parts; weights with our names pass unchanged.
export function fromEva(given) {
  const [state, ours] = [fromOthers(given), new Map()];
  for (const [name, x] of state) {
    if (/attn\.v_bias$|mlp\.fc1_x\.(weight|bias)$/.test(name)) continue; // joined when its partner comes
    if (name.endsWith("attn.q_bias")) {
      const v = partner(state, name.replace("q_bias", "v_bias")); // keys have no bias
      ours.set(name.replace("q_bias", "qkv.bias"), joined(x, zeros(...x.shape), v));
    } else if (name.includes(".mlp.fc1_g."))
      ours.set(name.replace("fc1_g", "fc1"), joined(x, partner(state, name.replace("fc1_g", "fc1_x"))));
    else ours.set(name.replace(/\.gamma_([12])$/, ".ls$1.gamma"), x);
  }
  return ours;
}

// ------------------------------------------------------------------------------------------------------- transformers

const PATCHES = /embeddings\.(patch_embeddings\.projection|patch_embeddings|patch_embedding)\.weight$/;
const WRAPPED = /^(vit|deit|dinov2|dinov2_with_registers|backbone|vision_model|model)\./;
const NOT_THE_IMAGE = /^(text_model|text_projection|logit_scale|logit_bias)/; // the other half of CLIP and SigLIP
const UNUSED_THERE = ["embeddings.mask_token", "pooler.dense.weight", "pooler.dense.bias"];
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
const BEGINNINGS = [
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
const IN_LAYERS = /^(?:encoder\.)?layers?\.(\d+)\.(.+)\.(weight|bias|lambda1)$/;
const QKV = /^(?:attention\.attention\.(query|key|value)|(?:attention|self_attn)\.([qkv])_proj)$/;
const IN_A_LAYER = [
  [/^(attention\.output\.dense|attention\.o_proj|self_attn\.out_proj)$/, "attn.proj"],
  [/^(layernorm_before|norm1|layer_norm1)$/, "norm1"],
  [/^(layernorm_after|norm2|layer_norm2)$/, "norm2"],
  [/^(intermediate\.dense|mlp\.fc1|mlp\.up_proj|mlp\.weights_in)$/, "mlp.fc1"],
  [/^(output\.dense|mlp\.fc2|mlp\.down_proj|mlp\.weights_out)$/, "mlp.fc2"],
  [/^layer_scale1$/, "ls1"],
  [/^layer_scale2$/, "ls2"],
];

export const isHuggingFace = (state) => [...state.keys()].some((name) => PATCHES.test(name));

// Unknown names stay, so that whoever compares them can name them.
export function fromHuggingFace(state) {
  const [ours, thirds, gates] = [new Map(), new Map(), new Map()];
  for (const [key, x] of state) {
    const name = key.replace(WRAPPED, "");
    if (UNUSED_THERE.includes(name) || NOT_THE_IMAGE.test(key)) continue;
    const [, layer, part, kind] = IN_LAYERS.exec(name) ?? [];
    if (!part) {
      ours.set(outsideName(name), x);
      continue;
    }
    const third = QKV.exec(part);
    const known = IN_A_LAYER.find(([theirs]) => theirs.test(part))?.[1];
    if (third) {
      const whole = `blocks.${layer}.attn.qkv.${kind}`;
      thirds.set(whole, { ...thirds.get(whole), [(third[1] ?? third[2])[0]]: x });
    } else if (part === "mlp.gate_proj") gates.set(`blocks.${layer}.mlp.fc1.${kind}`, x);
    else ours.set(known ? `blocks.${layer}.${known}.${kind}`.replace(".lambda1", ".gamma") : name, x);
  }
  for (const [key, three] of thirds) {
    if (key.includes("weight") && Object.keys(three).length < 3) continue;
    const [some] = Object.values(three);
    const parts = ["q", "k", "v"].map((one) => three[one] ?? zeros(...some.shape)); // a bias may be left out
    ours.set(key, joined(...parts));
  }
  for (const [key, gate] of gates) if (ours.has(key)) ours.set(key, joined(gate, ours.get(key))); // the gate first
  return complete(ours);
}

const outsideName = (name) => {
  if (Object.hasOwn(OUTSIDE_LAYERS, name)) return OUTSIDE_LAYERS[name];
  const found = BEGINNINGS.find(([theirs]) => theirs.test(name));
  return found ? name.replace(...found) : name;
};

// Gives all weights the shapes of our model, and adds zeros for biases that the file lacks.
function complete(ours) {
  const cls = ours.get("cls_token");
  if (cls)
    ours.set(
      "cls_token",
      reshaped(
        cls,
        1,
        1,
        cls.shape.reduce((product, n) => product * n, 1),
      ),
    );
  const positions = ours.get("pos_embed");
  if (positions?.shape.length === 2) ours.set("pos_embed", reshaped(positions, 1, ...positions.shape));
  if (ours.get("reg_token")?.shape.includes(0)) ours.delete("reg_token");
  for (const kind of ["weight", "bias"]) {
    const whole = ours.get(`head.attention.in_proj_${kind}`);
    if (!whole) continue;
    const [q, k, v] = inThree(whole);
    ours.delete(`head.attention.in_proj_${kind}`);
    ours.set(`attn_pool.q.${kind}`, q);
    ours.set(`attn_pool.kv.${kind}`, joined(k, v));
  }
  for (const [key, { shape }] of [...ours]) {
    const bias = key.replace("weight", "bias");
    if (/^(head|blocks\.\d+\.(attn\.proj|mlp\.fc[12]))\.weight$/.test(key) && !ours.has(bias))
      ours.set(bias, zeros(shape[0]));
  }
  placeTheClassToken(ours);
  return ours;
}
