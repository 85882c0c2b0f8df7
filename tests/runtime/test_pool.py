"""Parallel maps: as one process would do it, in the same order, or one clear error."""

from __future__ import annotations

import math
import operator
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import ConfigError, ResourceError
from harness.runtime.parameters import load
from harness.runtime.pool import THREAD_VARIABLES, Pool, usable_cores

# Keeps two workers, tells who they are and waits.
PARENT = """
import os, time
from harness.runtime.pool import Pool
if __name__ == "__main__":
    with Pool(2) as pool:
        list(pool.map(time.sleep, [0.3] * 4, chunk=1))
        print(*[process.pid for process in pool._executor._processes.values()], flush=True)
        time.sleep(60)
"""


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Pool]:
    with Pool(2) as pool:
        yield pool


def test_results_come_in_order_however_long_each_takes(two_workers: Pool) -> None:
    # The large factorials come first and take longest.
    numbers = [20_000, 1, 2, 9_000, 3, 4, 5]
    found = two_workers.map(math.factorial, numbers, chunk=1)
    assert list(found) == [math.factorial(number) for number in numbers]


@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_one_and_two_workers_agree(two_workers: Pool, chunk: int) -> None:
    items = range(50)
    assert list(two_workers.map(operator.neg, items, chunk)) == list(
        Pool(1).map(operator.neg, items, chunk)
    )


def test_nothing_to_do(two_workers: Pool) -> None:
    assert list(two_workers.map(operator.neg, [])) == list(Pool(1).map(operator.neg, [])) == []


def test_input_is_taken_only_a_little_ahead(two_workers: Pool) -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(10_000):
            taken.append(number)
            yield number

    assert next(two_workers.map(operator.neg, items(), chunk=1)) == 0
    assert len(taken) < 20


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_pass_through_whole(tmp_path: Path, workers: int) -> None:
    with Pool(workers) as pool:
        with pytest.raises(ValueError, match="invalid literal for int.*'x'"):
            list(pool.map(int, ["1", "x", "3"], chunk=1))
        with pytest.raises(ConfigError, match="none: no such file; run from") as caught:
            list(pool.map(load, [tmp_path / "none"]))
        # The parts survive the way between processes, not only the text.
        assert caught.value.where == str(tmp_path / "none")
        assert caught.value.what == "no such file"
        assert list(pool.map(int, ["4"])) == [4]


def test_dead_worker_is_a_clear_error() -> None:
    with (
        Pool(2) as pool,
        pytest.raises(
            ResourceError, match=r"a worker process died.*; run again with fewer workers"
        ),
    ):
        list(pool.map(os._exit, [1]))


def test_workers_use_one_thread_each(two_workers: Pool) -> None:
    assert set(two_workers.map(os.getenv, THREAD_VARIABLES)) == {"1"}


def test_default_is_all_cores() -> None:
    assert Pool().workers == usable_cores() == len(os.sched_getaffinity(0))


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="no /proc")
def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout is not None
        workers = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(workers) == 2
        assert all(alive(pid) for pid in workers)
        parent.kill()
    deadline = time.monotonic() + 10
    while (left := [pid for pid in workers if alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "workers outlived their parent"
