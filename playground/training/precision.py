"""Where half as many bits are faster."""

import torch


def half(device: str) -> torch.autocast:
    """Matrices are multiplied in bfloat16 where that is faster: on GPUs, and on processors with AMX (there 3 ×). On
    others it is slower than float32."""
    kind = torch.device(device).type
    return torch.autocast(kind, torch.bfloat16, enabled=kind != "cpu" or torch.cpu._is_amx_tile_supported())
