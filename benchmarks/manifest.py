"""How long a manifest of 104,014 utterances takes to open, and how much memory.

    python benchmarks/manifest.py

The number of rows is that of the challenge's largest data set. Time and memory are of a fresh
process and include importing pandas. Budget: under one second and 200 MB.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS = 104_014
SHARDS = 250
# The mean length of a LibriSpeech transcript.
TEXT = " ".join(["THE LAST TWO DAYS OF THE VOYAGE"] * 6)

OPEN = """
import re, sys, time
began = time.perf_counter()
from pathlib import Path
from harness.corpora.manifest import read_manifest
imported = time.perf_counter()
rows = len(read_manifest(Path(sys.argv[1])))
ended = time.perf_counter()
# Not getrusage: its peak includes the parent's before exec.
status = Path("/proc/self/status").read_text()
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", status).group(1)) / 1024
print(f"open {rows} rows: {ended - began:.2f} s "
      f"(import {imported - began:.2f} s, read {ended - imported:.2f} s), peak {peak:.0f} MB")
"""


def make(path: Path) -> None:
    """Write the manifest; the rows are invented but have the size of real ones."""
    import time

    import pandas as pd

    from harness.corpora.manifest import write_manifest

    numbers = range(ROWS)
    manifest = pd.DataFrame(
        {
            "utterance": [f"{n // 100 + 100}-{n // 20 + 100_000}-{n % 20:04d}" for n in numbers],
            "speaker": [str(n // 100 + 100) for n in numbers],
            "gender": ["fm"[n // 100 % 2] for n in numbers],
            "shard": [f"train-{n * SHARDS // ROWS:06d}.tar" for n in numbers],
            "offset": [n * 200_000 for n in numbers],
            "nbytes": 190_000,
            "samples": 196_800,
            "sample_rate": 16_000,
            "sha256": [hashlib.sha256(str(n).encode()).hexdigest() for n in numbers],
            "text": [f"{TEXT} {n}" for n in numbers],
            "note": "",
        }
    )
    began = time.perf_counter()
    write_manifest(manifest, path)
    seconds = time.perf_counter() - began
    print(f"write {ROWS} rows: {seconds:.2f} s, {path.stat().st_size / 1e6:.0f} MB")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "manifest.tsv"
        make(path)
        for _ in range(3):
            subprocess.run([sys.executable, "-c", OPEN, str(path)], check=True)


if __name__ == "__main__":
    main()
