"""What is trained: word pieces, the encoder and its ``transformers`` format, static vectors, optimizers.

In: text and a specification. Out: models as PyTorch modules or arrays, before and after training.
"""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.models import (
        encoder,
        optimizers,
        parameters,
        precision,
        static_vectors,
        tokenization,
        transformers_format,
    )
else:
    __getattr__, __all__ = late(__file__)
