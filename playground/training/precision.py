"""Where half as many bits are faster."""

import torch


def half(device: str) -> torch.autocast:
    """Matrices are multiplied in bfloat16 where that is faster: on GPUs, and on processors that multiply it (with AMX
    3 ×, with AVX-512 BF16 2 × for a training step). On others it is slower than float32."""
    kind = torch.device(device).type
    fast = torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()
    return torch.autocast(kind, torch.bfloat16, enabled=kind != "cpu" or fast)
