"""Ordered parallel maps over processes: the result never depends on the number of workers."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from harness.errors import ResourceError

Item = TypeVar("Item")
Result = TypeVar("Result")

# One thread a worker: with more, the workers' linear algebra competes for the same cores.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
# Work handed out ahead of the slowest worker, per worker: bounds memory on long inputs.
CHUNKS_AHEAD = 4


def usable_cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0))


def _apply(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return [function(item) for item in items]


def _chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    chunk: list[Item] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _become_worker() -> None:
    # Set before anything numeric is imported: a spawned worker starts as a fresh interpreter.
    for variable in THREAD_VARIABLES:
        os.environ[variable] = "1"
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # Workers hold both ends of the queue they read, so a killed parent does not end it.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class Pool:
    """A pool of worker processes; with one worker the work happens in this process."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or usable_cores()
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item], chunk: int = 8
    ) -> Iterator[Result]:
        """Results in the order of `items`; `function` must be importable by name (picklable)."""
        if self.workers == 1:
            yield from map(function, items)
            return
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                self.workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_become_worker,
            )
        try:
            yield from self._ordered(self._executor, function, items, chunk)
        except BrokenProcessPool as error:
            raise ResourceError(
                "a worker process died, probably for lack of memory",
                fix="run again with fewer workers (runtime.workers in params.yaml)",
            ) from error

    def _ordered(
        self,
        executor: ProcessPoolExecutor,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        chunk: int,
    ) -> Iterator[Result]:
        pending: deque[Future[list[Result]]] = deque()
        for part in _chunks(items, chunk):
            pending.append(executor.submit(_apply, function, part))
            if len(pending) > self.workers * CHUNKS_AHEAD:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()
