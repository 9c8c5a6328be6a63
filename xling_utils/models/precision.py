"""How precisely products are computed: in single precision, or in bfloat16 where there are instructions for it."""

from __future__ import annotations

import torch

from xling_utils.core.specs import TrainingSpec


def in_precision(training: TrainingSpec, device: torch.device) -> torch.autocast:
    """Within it products are computed as precisely as ``training`` says."""
    return torch.autocast(device.type, torch.bfloat16, enabled=training.precision == "bf16")


def has_bfloat16(device: torch.device) -> bool:
    """Whether ``device`` has instructions for bfloat16; without them its products take several times longer."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.ops.mkldnn._is_mkldnn_bf16_supported()
