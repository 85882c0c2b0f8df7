"""Independent jobs side by side, each in a process of its own: what ends one ends no other.

Ctrl-C and SIGTERM end all of them, each once and as Ctrl-C would, so that a job that runs a
container removes it; so does the death of the process that started them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import TypeVar

from harness.errors import HarnessError

DIED = "its process died"
Item = TypeVar("Item")
Result = TypeVar("Result")


def run_all(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    at_once: int,
    failed: Callable[[Item, str], Result],
    ended: Callable[[Item, Result], None],
) -> list[Result]:
    """What `work` makes of each item, in the order of the items.

    work: is called in a process forked from this one; its result is pickled. at_once: jobs that run
    at the same time. failed: what an item's result is, given what went wrong: the error that `work`
    raised, or that its process died. ended: called here with the item and the result of each job
    when it ends.
    """
    results: dict[int, Result] = {}
    waiting = list(range(len(items)))[::-1]
    running: dict[Connection, tuple[int, multiprocessing.process.BaseProcess]] = {}
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                place = waiting.pop()
                here, process = _start(work, failed, items[place])
                running[here] = place, process
            for here in set(running).intersection(wait(list(running))):
                place, process = running.pop(here)
                try:
                    results[place] = here.recv()
                except EOFError:
                    results[place] = failed(items[place], DIED)
                process.join()
                ended(items[place], results[place])
    finally:
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.join()
        signal.signal(signal.SIGTERM, before)
    return [results[place] for place in range(len(items))]


def _start(
    work: Callable[[Item], Result], failed: Callable[[Item, str], Result], item: Item
) -> tuple[Connection, multiprocessing.process.BaseProcess]:
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_job, args=(work, failed, item, there))
    process.start()
    # The job holds the only end that is written to: when it dies, reading ends.
    there.close()
    return here, process


def _job(
    work: Callable[[Item], Result],
    failed: Callable[[Item, str], Result],
    item: Item,
    there: Connection,
) -> None:
    # A terminal sends Ctrl-C to all processes; this one hears of it from the one that started it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _interrupt)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(KeyboardInterrupt):
        try:
            result = work(item)
        except (HarnessError, OSError) as error:
            result = failed(item, str(error))
        there.send(result)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
