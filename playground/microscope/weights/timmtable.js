// Facts about timm's plain ViTs that no weight shows and that differ from the defaults in architecture.js.
// `head`: numbers of a head. Written by python -m workshop.timm_table.

export const TIMM = [
  { is: {"eps": 1e-05, "activation": "quick_gelu", "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954,
    0.26130258, 0.27577711]}, names: `vit_base_patch16_clip_quickgelu_224 vit_base_patch32_clip_quickgelu_224
    vit_large_patch14_clip_quickgelu_224` },
  { is: {"eps": 1e-05, "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]},
    names: `vit_base_patch16_clip_224 vit_base_patch32_clip_224 vit_betwixt_patch32_clip_224
    vit_medium_patch16_clip_224 vit_medium_patch32_clip_224 vit_xsmall_patch16_clip_224` },
  { is: {"eps": 1e-05}, names: `vit_large_patch14_clip_224` },
  { is: {"head": 104, "eps": 1e-05, "activation": "quick_gelu", "mean": [0.48145466, 0.4578275, 0.40821073], "std":
    [0.26862954, 0.26130258, 0.27577711]}, names: `vit_gigantic_patch14_clip_quickgelu_224` },
  { is: {"head": 104, "eps": 1e-05, "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258,
    0.27577711]}, names: `vit_gigantic_patch14_clip_224` },
  { is: {"head": 104, "image_size": [378, 378], "eps": 1e-05, "mean": [0.48145466, 0.4578275, 0.40821073], "std":
    [0.26862954, 0.26130258, 0.27577711]}, names: `vit_gigantic_patch14_clip_378` },
  { is: {"head": 104}, names: `vit_gigantic_patch14_224` },
  { is: {"head": 128, "image_size": [256, 256], "eps": 1e-05, "activation": "silu", "positions": "rotary", "pool":
    "avg", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}, names: `vit_7b_patch16_dinov3` },
  { is: {"head": 32, "image_size": [160, 160], "pool": "avg", "norm_place": "pooled"}, names: `test_vit2` },
  { is: {"head": 32, "image_size": [160, 160]}, names: `test_vit` },
  { is: {"head": 48, "pool": "avg"}, names: `vit_base_patch16_gap_224` },
  { is: {"head": 72, "image_size": [256, 256], "activation": "gelu_tanh", "pool": "avg"}, names:
    `vit_so400m_patch16_siglip_gap_256` },
  { is: {"head": 72, "image_size": [256, 256], "activation": "gelu_tanh", "pool": "map"}, names:
    `vit_so400m_patch16_siglip_256` },
  { is: {"head": 72, "image_size": [378, 378], "pool": "avg"}, names: `vit_so400m_patch14_siglip_gap_378
    vit_so400m_patch14_siglip_gap_384` },
  { is: {"head": 72, "image_size": [378, 378], "pool": "map"}, names: `vit_so400m_patch14_siglip_378
    vit_so400m_patch14_siglip_384` },
  { is: {"head": 72, "image_size": [384, 384], "activation": "gelu_tanh", "pool": "avg"}, names:
    `vit_so400m_patch16_siglip_gap_384` },
  { is: {"head": 72, "image_size": [384, 384], "activation": "gelu_tanh", "pool": "map"}, names:
    `vit_so400m_patch16_siglip_384` },
  { is: {"head": 72, "image_size": [448, 448], "pool": "avg"}, names: `vit_so400m_patch14_siglip_gap_448` },
  { is: {"head": 72, "image_size": [448, 448], "positions": "patches", "mean": [0.0, 0.0, 0.0], "std": [1.0, 1.0,
    1.0]}, names: `vit_so400m_patch14_reg1_tipsv2` },
  { is: {"head": 72, "image_size": [512, 512], "activation": "gelu_tanh", "pool": "avg"}, names:
    `vit_so400m_patch16_siglip_gap_512` },
  { is: {"head": 72, "image_size": [512, 512], "activation": "gelu_tanh", "pool": "map"}, names:
    `vit_so400m_patch16_siglip_512` },
  { is: {"head": 72, "image_size": [512, 512], "positions": "patches", "norm_place": "nowhere", "mean": [0.48145466,
    0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]}, names: `vit_so400m_patch16_radio_v4` },
  { is: {"head": 72, "image_size": [896, 896], "pool": "avg"}, names: `vit_so400m_patch14_siglip_gap_896` },
  { is: {"head": 72, "pool": "avg"}, names: `vit_so400m_patch14_siglip_gap_224` },
  { is: {"head": 72, "pool": "map"}, names: `vit_so400m_patch14_siglip_224` },
  { is: {"head": 80, "eps": 1e-05, "activation": "quick_gelu", "mean": [0.48145466, 0.4578275, 0.40821073], "std":
    [0.26862954, 0.26130258, 0.27577711]}, names: `vit_huge_patch14_clip_quickgelu_224` },
  { is: {"head": 80, "eps": 1e-05, "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258,
    0.27577711]}, names: `vit_huge_patch14_clip_224` },
  { is: {"head": 80, "image_size": [336, 336], "eps": 1e-05, "mean": [0.48145466, 0.4578275, 0.40821073], "std":
    [0.26862954, 0.26130258, 0.27577711]}, names: `vit_huge_patch14_clip_336` },
  { is: {"head": 80, "image_size": [378, 378], "eps": 1e-05, "activation": "quick_gelu", "mean": [0.48145466,
    0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]}, names: `vit_huge_patch14_clip_quickgelu_378`
    },
  { is: {"head": 80, "image_size": [378, 378], "eps": 1e-05, "mean": [0.48145466, 0.4578275, 0.40821073], "std":
    [0.26862954, 0.26130258, 0.27577711]}, names: `vit_huge_patch14_clip_378` },
  { is: {"head": 80, "image_size": [448, 448], "pool": "avg", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224,
    0.225]}, names: `vit_huge_patch16_gap_448` },
  { is: {"head": 80, "image_size": [512, 512], "positions": "patches", "norm_place": "nowhere", "mean": [0.48145466,
    0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]}, names: `vit_huge_patch16_radio_v3
    vit_huge_patch16_radio_v4` },
  { is: {"head": 80, "pool": "avg", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}, names:
    `vit_huge_patch14_gap_224` },
  { is: {"head": 80, "positions": "patches", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}, names:
    `deit3_huge_patch14_224` },
  { is: {"head": 80}, names: `vit_huge_patch14_224` },
  { is: {"head": 88, "eps": 1e-05, "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258,
    0.27577711]}, names: `vit_giant_patch14_clip_224` },
  { is: {"head": 88, "image_size": [336, 336], "pool": "avg", "norm_place": "pooled", "mean": [0.48145466, 0.4578275,
    0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]}, names: `eva_giant_patch14_336` },
  { is: {"head": 88, "image_size": [560, 560], "pool": "avg", "norm_place": "pooled", "mean": [0.485, 0.456, 0.406],
    "std": [0.229, 0.224, 0.225]}, names: `eva_giant_patch14_560` },
  { is: {"head": 88, "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]}, names:
    `eva_giant_patch14_clip_224` },
  { is: {"head": 88, "pool": "avg", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}, names:
    `vit_giant_patch16_gap_224` },
  { is: {"head": 88, "pool": "avg", "norm_place": "pooled", "mean": [0.48145466, 0.4578275, 0.40821073], "std":
    [0.26862954, 0.26130258, 0.27577711]}, names: `eva_giant_patch14_224` },
  { is: {"head": 88}, names: `vit_giant_patch14_224` },
  { is: {"head": 96, "image_size": [256, 256], "activation": "gelu_tanh", "pool": "avg"}, names:
    `vit_giantopt_patch16_siglip_gap_256` },
  { is: {"head": 96, "image_size": [256, 256], "activation": "gelu_tanh", "pool": "map"}, names:
    `vit_giantopt_patch16_siglip_256` },
  { is: {"head": 96, "image_size": [384, 384], "activation": "gelu_tanh", "pool": "avg"}, names:
    `vit_giantopt_patch16_siglip_gap_384` },
  { is: {"head": 96, "image_size": [384, 384], "activation": "gelu_tanh", "pool": "map"}, names:
    `vit_giantopt_patch16_siglip_384` },
  { is: {"image_size": [196, 196], "pool": "avg", "norm_place": "pooled", "mean": [0.48145466, 0.4578275, 0.40821073],
    "std": [0.26862954, 0.26130258, 0.27577711]}, names: `eva_large_patch14_196` },
  { is: {"image_size": [240, 240], "eps": 1e-05, "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954,
    0.26130258, 0.27577711]}, names: `vit_base_patch16_plus_clip_240` },
  { is: {"image_size": [240, 240], "pool": "avg"}, names: `vit_medium_patch16_gap_240` },
  { is: {"image_size": [240, 240], "positions": "patches"}, names: `flexivit_base flexivit_large flexivit_small` },
  { is: {"image_size": [240, 240]}, names: `vit_base_patch16_plus_240` },
  { is: {"image_size": [256, 256], "activation": "gelu_tanh", "pool": "avg"}, names: `vit_base_patch32_siglip_gap_256`
    },
  { is: {"image_size": [256, 256], "activation": "gelu_tanh", "pool": "map"}, names: `vit_base_patch32_siglip_256` },
  { is: {"image_size": [256, 256], "eps": 1e-05, "activation": "silu", "positions": "rotary", "pool": "avg", "mean":
    [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}, names: `vit_huge_plus_patch16_dinov3
    vit_huge_plus_patch16_dinov3_qkvb vit_small_plus_patch16_dinov3 vit_small_plus_patch16_dinov3_qkvb` },
  { is: {"image_size": [256, 256], "eps": 1e-05, "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954,
    0.26130258, 0.27577711]}, names: `vit_base_patch32_clip_256` },
  { is: {"image_size": [256, 256], "eps": 1e-05, "positions": "rotary", "pool": "avg", "mean": [0.485, 0.456, 0.406],
    "std": [0.229, 0.224, 0.225]}, names: `vit_base_patch16_dinov3 vit_base_patch16_dinov3_qkvb
    vit_large_patch16_dinov3 vit_large_patch16_dinov3_qkvb vit_small_patch16_dinov3 vit_small_patch16_dinov3_qkvb
    vit_tiny_patch16_dinov3_qkvb` },
  { is: {"image_size": [256, 256], "pool": "avg", "norm_place": "pooled"}, names: `vit_so150m2_patch16_reg1_gap_256`
    },
  { is: {"image_size": [256, 256], "pool": "avg"}, names: `vit_base_patch16_siglip_gap_256 vit_betwixt_patch16_gap_256
    vit_large_patch16_siglip_gap_256 vit_medium_patch16_gap_256 vit_so150m_patch16_reg4_gap_256` },
  { is: {"image_size": [256, 256], "pool": "map"}, names: `vit_base_patch16_siglip_256 vit_large_patch16_siglip_256
    vit_so150m_patch16_reg4_map_256` },
  { is: {"image_size": [256, 256], "positions": "patches", "pool": "avg", "norm_place": "pooled"}, names:
    `vit_base_patch16_reg4_gap_256 vit_betwixt_patch16_reg1_gap_256 vit_betwixt_patch16_reg4_gap_256
    vit_little_patch16_reg1_gap_256 vit_little_patch16_reg4_gap_256 vit_medium_patch16_reg1_gap_256
    vit_medium_patch16_reg4_gap_256 vit_mediumd_patch16_reg4_gap_256 vit_wee_patch16_reg1_gap_256` },
  { is: {"image_size": [256, 256]}, names: `vit_base_patch32_plus_256` },
  { is: {"image_size": [336, 336], "eps": 1e-05, "activation": "quick_gelu", "mean": [0.48145466, 0.4578275,
    0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]}, names: `vit_large_patch14_clip_quickgelu_336` },
  { is: {"image_size": [336, 336], "eps": 1e-05}, names: `vit_large_patch14_clip_336` },
  { is: {"image_size": [336, 336], "pool": "avg", "norm_place": "pooled", "mean": [0.48145466, 0.4578275, 0.40821073],
    "std": [0.26862954, 0.26130258, 0.27577711]}, names: `eva_large_patch14_336` },
  { is: {"image_size": [384, 384], "eps": 1e-05, "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954,
    0.26130258, 0.27577711]}, names: `vit_base_patch16_clip_384 vit_base_patch32_clip_384` },
  { is: {"image_size": [384, 384], "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}, names:
    `deit_base_distilled_patch16_384 deit_base_patch16_384` },
  { is: {"image_size": [384, 384], "pool": "avg", "norm_place": "pooled"}, names: `vit_so150m2_patch16_reg1_gap_384`
    },
  { is: {"image_size": [384, 384], "pool": "avg"}, names: `vit_base_patch16_siglip_gap_384
    vit_large_patch16_siglip_gap_384 vit_medium_patch16_gap_384 vit_so150m_patch16_reg4_gap_384` },
  { is: {"image_size": [384, 384], "pool": "map"}, names: `vit_base_patch16_siglip_384 vit_large_patch16_siglip_384`
    },
  { is: {"image_size": [384, 384], "positions": "patches", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224,
    0.225]}, names: `deit3_base_patch16_384 deit3_large_patch16_384 deit3_small_patch16_384` },
  { is: {"image_size": [384, 384], "positions": "patches", "pool": "avg", "norm_place": "pooled"}, names:
    `vit_betwixt_patch16_reg4_gap_384 vit_mediumd_patch16_reg4_gap_384` },
  { is: {"image_size": [384, 384]}, names: `vit_base_patch16_384 vit_base_patch32_384 vit_large_patch16_384
    vit_large_patch32_384 vit_small_patch16_384 vit_small_patch32_384 vit_tiny_patch16_384` },
  { is: {"image_size": [448, 448], "activation": "silu", "positions": "patches", "mean": [0.0, 0.0, 0.0], "std": [1.0,
    1.0, 1.0]}, names: `vit_giant_patch14_reg1_tipsv2` },
  { is: {"image_size": [448, 448], "eps": 1e-05, "mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954,
    0.26130258, 0.27577711]}, names: `vit_base_patch32_clip_448` },
  { is: {"image_size": [448, 448], "norm_place": "nowhere", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224,
    0.225]}, names: `vit_intern300m_patch14_448` },
  { is: {"image_size": [448, 448], "pool": "avg", "norm_place": "pooled"}, names: `vit_so150m2_patch16_reg1_gap_448`
    },
  { is: {"image_size": [448, 448], "positions": "patches", "mean": [0.0, 0.0, 0.0], "std": [1.0, 1.0, 1.0]}, names:
    `vit_base_patch14_reg1_tipsv2 vit_large_patch14_reg1_tipsv2` },
  { is: {"image_size": [512, 512], "activation": "gelu_tanh", "pool": "avg"}, names:
    `vit_large_patch16_siglip_gap_512` },
  { is: {"image_size": [512, 512], "activation": "gelu_tanh", "pool": "map"}, names: `vit_large_patch16_siglip_512` },
  { is: {"image_size": [512, 512], "eps": 1e-05, "activation": "silu", "positions": "rotary", "interpolation":
    "bilinear", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}, names: `vit_giant_patch16_lingbot` },
  { is: {"image_size": [512, 512], "eps": 1e-05, "positions": "rotary", "interpolation": "bilinear", "mean": [0.485,
    0.456, 0.406], "std": [0.229, 0.224, 0.225]}, names: `vit_base_patch16_lingbot vit_large_patch16_lingbot
    vit_small_patch16_lingbot` },
  { is: {"image_size": [512, 512], "pool": "avg"}, names: `vit_base_patch16_siglip_gap_512` },
  { is: {"image_size": [512, 512], "pool": "map"}, names: `vit_base_patch16_siglip_512` },
  { is: {"image_size": [512, 512], "positions": "patches", "norm_place": "nowhere", "mean": [0.48145466, 0.4578275,
    0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]}, names: `vit_base_patch16_radio_v3
    vit_giant_patch16_radio_v3 vit_large_patch16_radio_v3` },
  { is: {"image_size": [518, 518], "activation": "silu", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]},
    names: `vit_giant_patch14_dinov2` },
  { is: {"image_size": [518, 518], "activation": "silu", "positions": "patches", "mean": [0.485, 0.456, 0.406], "std":
    [0.229, 0.224, 0.225]}, names: `vit_giant_patch14_reg4_dinov2` },
  { is: {"image_size": [518, 518], "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}, names:
    `vit_base_patch14_dinov2 vit_large_patch14_dinov2 vit_small_patch14_dinov2` },
  { is: {"image_size": [518, 518], "positions": "patches", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224,
    0.225]}, names: `vit_base_patch14_reg4_dinov2 vit_large_patch14_reg4_dinov2 vit_small_patch14_reg4_dinov2` },
  { is: {"interpolation": "bilinear", "mean": [0.0, 0.0, 0.0], "std": [1.0, 1.0, 1.0]}, names:
    `vit_base_patch16_224_miil` },
  { is: {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}, names: `deit_base_distilled_patch16_224
    deit_base_patch16_224 deit_small_distilled_patch16_224 deit_small_patch16_224 deit_tiny_distilled_patch16_224
    deit_tiny_patch16_224 vit_small_patch8_224` },
  { is: {"pool": "avg"}, names: `vit_base_patch16_siglip_gap_224` },
  { is: {"pool": "map"}, names: `vit_base_patch16_siglip_224` },
  { is: {"positions": "patches", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}, names:
    `deit3_base_patch16_224 deit3_large_patch16_224 deit3_medium_patch16_224 deit3_small_patch16_224` },
  { is: {}, names: `vit_base_patch16_224 vit_base_patch32_224 vit_base_patch8_224 vit_large_patch14_224
    vit_large_patch16_224 vit_large_patch32_224 vit_small_patch16_224 vit_small_patch16_36x1_224 vit_small_patch32_224
    vit_tiny_patch16_224` },
];
