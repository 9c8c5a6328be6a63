"""Trains what the store lacks: on this machine's cores or GPUs, or on a Dask cluster.

In: specifications of runs. Out: stored runs, verified; whatever is interrupted continues where it stopped.
"""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.runs import compute, ensuring, store
    from xling_utils.runs.compute import Compute
    from xling_utils.runs.ensuring import RunsFailed, ensure
    from xling_utils.runs.keys import key_of
    from xling_utils.runs.store import Run, RunStore
    from xling_utils.runs.training import train
else:
    __getattr__, __all__ = late(__file__)
