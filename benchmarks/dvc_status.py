"""`dvc add` and `dvc status` on a corpus of 104,014 generated utterances, and on the same as files.

    python benchmarks/dvc_status.py [--utterances N] [--files]

Prints the time of `dvc status` (the second call, as a user sees it) for shards plus manifest, the
time of `dvc --version` in the same run (what DVC needs to start), and with --files the time for one
file per utterance.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from harness.corpora.store import Made, Utterance, build, partition
from harness.runtime.pool import Pool

UTTERANCES = 104_014
SAMPLES = 800
SHARD_SECONDS = 60.0  # about 90 shards, as many as the real audio makes


def make(utterance: Utterance) -> Made:
    """A short noise that differs between utterances."""
    rng = np.random.default_rng(utterance.recipe)
    return Made(rng.integers(-3000, 3000, SAMPLES).astype(np.int16))


def timed(folder: Path, *command: str) -> float:
    """Wall-clock seconds of a command that must succeed."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--utterances", type=int, default=UTTERANCES)
    parser.add_argument("--files", action="store_true", help="also one file per utterance")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timed(folder, "git", "init", "-q")
        timed(folder, "dvc", "init", "-q")
        made = [
            Utterance(f"{n % 921:04d}-{n:06d}", f"{n % 921:04d}", "f", "WORDS " * 30, SAMPLES, n)
            for n in range(arguments.utterances)
        ]
        made.sort(key=lambda u: u.utterance)
        with Pool() as pool:
            build(
                folder / "train", partition(made, SHARD_SECONDS), make, work=folder / "w", pool=pool
            )
        shards = len(list((folder / "train").glob("*.tar")))
        print(f"dvc --version           {timed(folder, 'dvc', '--version'):6.2f} s")
        print(
            f"dvc add, {shards:3d} shards     {timed(folder, 'dvc', 'add', '-q', 'train'):6.2f} s"
        )
        timed(folder, "dvc", "status")
        print(f"dvc status, shards      {timed(folder, 'dvc', 'status'):6.2f} s")
        if arguments.files:
            loose = folder / "loose"
            loose.mkdir()
            for utterance in made:
                (loose / f"{utterance.utterance}.flac").write_bytes(os.urandom(64))
            print(f"dvc add, files          {timed(folder, 'dvc', 'add', '-q', 'loose'):6.2f} s")
            timed(folder, "dvc", "status", "loose.dvc")
            print(f"dvc status, files       {timed(folder, 'dvc', 'status', 'loose.dvc'):6.2f} s")


if __name__ == "__main__":
    main()
