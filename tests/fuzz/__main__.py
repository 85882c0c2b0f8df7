"""Coverage-guided fuzzing: `tox run -e fuzz -- fuzz_archive -max_total_time=60`.

The first argument names a target, a module here with `seeds()` and `one_input(data)`; the others
are libFuzzer's. An input that raises is kept as `crash-…` in the working folder; give its path as
an argument to run it again. Without a target, each runs for a minute.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from pathlib import Path

import atheris

HERE = Path(__file__).resolve().parent
TARGETS = ("fuzz_archive", "fuzz_scores")


def fuzz(name: str, options: list[str], corpus: str) -> None:
    """Does not return: the library ends the process."""
    with atheris.instrument_imports(include=["harness"]):
        target = importlib.import_module(name)
    for i, seed in enumerate(target.seeds()):
        (Path(corpus) / f"seed-{i:03d}").write_bytes(seed)
    atheris.Setup([name, *options, corpus], target.one_input)
    atheris.Fuzz()


def main(arguments: list[str]) -> int:
    """In a child process, as the corpus is removed behind it."""
    if arguments[:1] == ["--corpus"]:
        sys.path.append(str(HERE.parent / "submissions"))
        fuzz(arguments[2], arguments[3:], arguments[1])
    runs = [arguments] if arguments else [[name, "-max_total_time=60"] for name in TARGETS]
    status = 0
    for run in runs:
        with tempfile.TemporaryDirectory() as corpus:
            command = [sys.executable, str(HERE), "--corpus", corpus, *run]
            status = subprocess.run(command, check=False).returncode or status
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
