"""Training runs as tasks of Dask's distributed scheduler, when one machine is not enough.

The store and the data directory must be on a file system that all workers share. A worker that dies takes
its training process with it; the run continues from its checkpoint on another worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from xling_utils.children import Children, Failure, Task, run_worker
from xling_utils.errors import UserError
from xling_utils.progress import Progress

RETRIES = 2


def train_on_dask(
    tasks: Sequence[Task], scheduler: str | None, jobs: int, worker: Sequence[str] | None, bar: Progress
) -> dict[str, Failure]:
    """Trains each of ``tasks`` as one task at ``scheduler``, or on a cluster of ``jobs`` workers on this
    machine. Returns the failures by key. Raises :class:`UserError` if no scheduler answers."""
    from distributed import Client, LocalCluster, as_completed

    failures = {}
    with ExitStack() as stack:
        address = scheduler
        if address is None:
            cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
            address = stack.enter_context(cluster).scheduler_address
        try:
            client = stack.enter_context(Client(address, timeout="5s", set_as_default=False))
        except (OSError, ValueError) as error:
            raise UserError(f"no Dask scheduler answers at {address}: start one with `dask scheduler`") from error
        futures = {client.submit(train_task, t, worker, retries=RETRIES, pure=False): t for t in tasks}
        try:
            for future in as_completed(futures, loop=client.loop):
                key = futures[future].key
                try:
                    failure = future.result()
                except Exception as error:
                    failure = Failure(f"{error}" or type(error).__name__, user=False)
                if failure is not None:
                    failures[key] = failure
                bar.finished(key)
        except BaseException:
            client.cancel(list(futures))
            raise
    return failures


def train_task(task: Task, worker: Sequence[str] | None) -> Failure | None:
    """Runs on a Dask worker. A mistake of the caller is returned, any other failure raised: Dask then tries
    again."""
    try:
        failure = run_worker(task, Children(), lambda event: None, worker)
    except UserError as error:
        return Failure(str(error), user=True)
    if failure is not None and not failure.user:
        raise RuntimeError(failure.message)
    return failure
