"""Training runs as tasks of Dask's distributed scheduler, when one machine is not enough.

The store and the data directory must be on a file system that all workers share. A worker that dies takes
its training process with it; the run continues from its checkpoint on another worker. A scheduler that dies
takes its list of tasks with it; when it is back, those that are not done are sent again.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from xling_utils.core.errors import UserError
from xling_utils.core.progress import Progress
from xling_utils.runs.processes import Children, Failure, Task, Trainer

if TYPE_CHECKING:
    from dask.typing import Key
    from distributed import Client, Worker

RETRIES = 2
SECONDS_TO_ANSWER = 10.0
SECONDS_TO_COME_BACK = 600.0
SECONDS_BETWEEN_LOOKS = 0.5


def train_on_dask(
    tasks: Sequence[Task], scheduler: str | None, jobs: int, worker: Sequence[str] | None, bar: Progress
) -> dict[str, Failure]:
    """Trains each of ``tasks`` as one task at ``scheduler``, which knows of ``jobs`` at a time, or on a cluster of
    ``jobs`` workers on this machine. Returns the failures by key. Raises :class:`UserError` if no scheduler answers, or
    if one that went away is not back in ten minutes."""
    from distributed import LocalCluster

    with ExitStack() as stack:
        stack.enter_context(_quiet())
        address = scheduler
        if address is None:
            cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
            address = stack.enter_context(cluster).scheduler_address
        failures: dict[str, Failure] = {}
        left = {task.key: task for task in tasks}

        def ended(key: str, failure: Failure | None) -> None:
            del left[key]
            if failure is None:
                bar.finished(key)
            else:
                failures[key] = failure

        with _connected(address) as client:
            if not client.nthreads():
                bar.say(f"the Dask scheduler has no worker yet; `dask worker {address}` starts one")
            _train(client, list(left.values()), jobs, worker, ended)
        while left:
            bar.say(f"the Dask scheduler at {address} went away; {len(left)} runs wait for it to come back")
            with _connected(address, SECONDS_TO_COME_BACK) as client:
                bar.say("the Dask scheduler is back")
                _train(client, list(left.values()), jobs, worker, ended)
    return failures


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the tracebacks that a client logs when its scheduler goes away: one line of ours says so."""
    logger = logging.getLogger("distributed.client")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _connected(address: str, patience: float = 0.0) -> Client:
    """A client of the scheduler at ``address``, which has ``patience`` seconds to begin to listen."""
    from distributed import Client
    from distributed.comm import get_address_host_port

    end = time.monotonic() + patience
    while True:
        try:
            if patience:  # a client that waits is deaf to interrupts
                socket.create_connection(get_address_host_port(address), SECONDS_TO_ANSWER).close()
            return Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False)
        except (OSError, ValueError) as error:
            if time.monotonic() >= end:
                waited = f" for {patience:.0f} s (what was finished is kept)" if patience else ""
                line = f"no Dask scheduler answers at {address}{waited}: start one with `dask scheduler`"
                raise UserError(line) from error
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _train(
    client: Client,
    tasks: Sequence[Task],
    jobs: int,
    worker: Sequence[str] | None,
    ended: Callable[[str, Failure | None], None],
) -> None:
    """Tells of each task that has ``ended``; returns when all have, or when the scheduler has gone away."""
    from distributed import CancelledError, Future, as_completed

    futures: dict[Future, Task] = {}
    waiting = iter(tasks)

    def sent(most: int) -> list[Future]:
        several = {client.submit(train_task, t, worker, retries=RETRIES, pure=False): t for t in islice(waiting, most)}
        futures.update(several)
        return list(several)

    try:
        under_way = as_completed(sent(jobs), loop=client.loop)
        for future in under_way:
            try:
                failure = future.result()
            except CancelledError:  # not by us: with the connection, all of them are lost
                return
            except Exception as error:
                failure = Failure(f"{error}" or type(error).__name__, user=False)
            ended(futures[future].key, failure)
            under_way.update(sent(1))
    except BaseException:
        client.cancel(list(futures))
        raise


def train_task(task: Task, worker: Sequence[str] | None) -> Failure | None:
    """Runs on a Dask worker. A mistake of the caller is returned, any other failure raised: Dask then tries
    again."""
    from distributed import get_worker

    here, children, over = get_worker(), Children(), threading.Event()
    threading.Thread(target=_end_unwanted, args=(here, here.get_current_task(), children, over), daemon=True).start()
    trainer = Trainer(children, worker)
    try:
        failure = trainer.train([task], lambda event: None)
    except UserError as error:
        return Failure(str(error), user=True)
    finally:
        over.set()
        trainer.close()
    if failure is not None and not failure.user:
        raise RuntimeError(failure.message)
    return failure


def _end_unwanted(here: Worker, key: Key, children: Children, over: threading.Event) -> None:
    """Ends the training process when nobody waits for it any more: the caller was interrupted or is dead, or the
    worker has lost its scheduler. Dask itself lets the thread of such a task run on."""
    from distributed.core import Status

    while not over.wait(SECONDS_BETWEEN_LOOKS):
        state = here.state.tasks.get(key)
        if state is None or state.state == "cancelled" or here.status in (Status.closing, Status.closed):
            children.end()
            return
