"""How long `harness verify` takes for seven systems on the official lists, and how much memory.

    python benchmarks/verify.py [--rounds N] [--trials]

The scores are simulated, 28 files with 352,520 lines in one zip. Every measurement is of a fresh
process, start of Python included; beside it, in the same rounds, a plain loop that splits the same
lines, and what it costs to import NumPy. Budget: 3 seconds on two cores and 400 MB. The official
lists are looked for where the tests do, in HARNESS_TEST_DATA.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
DATA = REPOSITORY / os.environ.get("HARNESS_TEST_DATA", "../shared")
sys.path.insert(0, str(REPOSITORY / "tests" / "submissions"))

ROUNDS = 5

# Not getrusage: its peak includes the parent's before exec.
VERIFY = """
import re, sys
from pathlib import Path
from harness.cli.main import main
status = main(["verify", *sys.argv[1:]])
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text()).group(1)
print(int(peak) / 1024, file=sys.stderr)
sys.exit(status)
"""
SPLIT = """
import sys, zipfile
lines = 0
with zipfile.ZipFile(sys.argv[1]) as archive:
    for name in archive.namelist():
        if not name.endswith("/scores"):
            continue
        with archive.open(name) as stream:
            for line in stream:
                line.split()
                lines += 1
print(lines, file=sys.stderr)
"""
NUMPY = "import numpy, sys; print(0, file=sys.stderr)"


def build(folder: Path) -> Path:
    """A zip of seven systems, without fault."""
    from making import archive
    from test_real_lists import PROTOCOL, write

    submission = write(folder / "team", DATA / "vpc-lists", systems=tuple(PROTOCOL.systems))
    return archive(submission, ".zip")


def timed(code: str, *arguments: str) -> tuple[float, float]:
    """Seconds of a fresh process that must succeed, and the number that it prints."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    return time.perf_counter() - start, float(done.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--trials", action="store_true", help="with the lists from their folder, not generated"
    )
    arguments = parser.parse_args()
    lists = ("--trials", str(DATA / "vpc-lists")) if arguments.trials else ()
    os.environ.pop("HARNESS_LISTS", None)
    commands = {"harness verify": VERIFY, "plain split": SPLIT, "import numpy": NUMPY}
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder))
        size = path.stat().st_size / 1e6
        for _ in range(arguments.rounds):
            for name, code in commands.items():
                extra = (str(path), *lists) if code == VERIFY else (str(path),)
                rounds[name].append(timed(code, *extra))
    best = {name: min(seconds for seconds, _ in times) for name, times in rounds.items()}
    print(f"{'':16}{'best':>8}{'median':>8}  {arguments.rounds} rounds, seconds")
    for name, times in rounds.items():
        median = statistics.median(seconds for seconds, _ in times)
        print(f"{name:16}{best[name]:8.2f}{median:8.2f}")
    lines = rounds["plain split"][0][1]
    print(f"peak memory      {max(peak for _, peak in rounds['harness verify']):.0f} MB")
    print(
        f"lines            {lines:,.0f} in {size:.1f} MB, "
        f"{lines / best['harness verify']:,.0f} a second"
    )
    print(
        f"ratios           {best['harness verify'] / best['plain split']:.1f} x plain split, "
        f"{best['harness verify'] / best['import numpy']:.1f} x import numpy"
    )


if __name__ == "__main__":
    main()
