from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ContainerError
from harness.runtime.jobs import run_all


def refuse(item: int, why: str) -> Any:
    raise AssertionError(f"{item}: {why}")


def test_results_are_in_the_order_of_the_items() -> None:
    ended: list[int] = []

    def work(item: int) -> tuple[int, int]:
        time.sleep(0.2 if item == 0 else 0)
        return item, os.getpid()

    results = run_all(work, [0, 1, 2], 3, refuse, lambda item, result: ended.append(item))
    assert [result[0] for result in results] == [0, 1, 2]
    assert sorted(ended) == [0, 1, 2]
    # A process each, and none of them this one.
    assert len({os.getpid(), *(result[1] for result in results)}) == 4


def test_a_job_that_dies_has_no_result_and_the_others_go_on() -> None:
    def work(item: int) -> int:
        if item == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    def failed(item: int, why: str) -> str:
        return f"{item}: {why}"

    told: dict[int, int | str] = {}
    assert run_all(work, [0, 1, 2], 2, failed, told.__setitem__) == [0, "1: its process died", 2]
    assert told == {0: 0, 1: "1: its process died", 2: 2}


def test_an_error_of_a_job_is_its_result() -> None:
    def work(item: int) -> str:
        if item == 1:
            raise ContainerError("no such image", where="one", fix="build it")
        return (Path(os.devnull) / str(item)).read_text()

    assert run_all(work, [1, 2], 1, lambda item, why: why, lambda item, result: None) == [
        "one: no such image; build it",
        "[Errno 20] Not a directory: '/dev/null/2'",
    ]


def test_no_more_at_once_than_asked_for(tmp_path: Path) -> None:
    def work(item: int) -> int:
        (tmp_path / str(item)).touch()
        time.sleep(0.1)
        count = len(list(tmp_path.iterdir()))
        (tmp_path / str(item)).unlink()
        return count

    assert run_all(work, range(5), 1, refuse, lambda item, result: None) == [1] * 5
    assert max(run_all(work, range(6), 3, refuse, lambda item, result: None)) <= 3


@pytest.mark.parametrize(
    ("sent", "to"),
    [
        # A terminal sends Ctrl-C to the whole group of processes.
        (signal.SIGINT, os.killpg),
        (signal.SIGTERM, os.kill),
        (signal.SIGKILL, os.kill),
    ],
)
def test_a_signal_ends_all_jobs_as_ctrl_c_would(
    sent: signal.Signals, to: Callable[[int, int], None], tmp_path: Path
) -> None:
    """Each has the time to clean up; also where the process that started them is killed."""
    code = (
        "import sys, time, pathlib\n"
        "from harness.runtime.jobs import run_all\n"
        "def work(item):\n"
        "    place = pathlib.Path(sys.argv[1], str(item))\n"
        "    place.write_text('works')\n"
        "    try:\n"
        "        time.sleep(60)\n"
        "    finally:\n"
        "        time.sleep(0.3)\n"
        "        place.write_text('cleaned up')\n"
        "run_all(work, [1, 2, 3, 4], 2, lambda item, why: why, lambda item, result: None)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert waited(lambda: len(said(tmp_path)) == 2)
        assert said(tmp_path) == ["works", "works"]
        to(process.pid, sent)
        process.wait(30)
    assert waited(lambda: said(tmp_path) == ["cleaned up", "cleaned up"])
    assert process.returncode != 0


def said(folder: Path) -> list[str]:
    return [path.read_text() for path in sorted(folder.iterdir()) if path.read_text()]


def waited(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False
