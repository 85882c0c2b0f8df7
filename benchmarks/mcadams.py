"""How many times faster the McAdams anonymizer is than its slow transcription, on one core.

    python benchmarks/mcadams.py [FILE.flac ...]

Without files it takes ten seconds of synthetic speech. Both are measured in turn in one process,
so that the ratio means something on a busy machine; the absolute speeds do not.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "anonymizers"))

import numpy as np  # noqa: E402
import reference_mcadams as reference  # noqa: E402
import soundfile  # noqa: E402

from harness.anonymizers.base import Job  # noqa: E402
from harness.anonymizers.mcadams import McAdams  # noqa: E402
from harness.corpora.store import SAMPLE_RATE, Samples  # noqa: E402

ROUNDS = 3
ALPHA = 0.7


def seconds(work: Callable[[Samples], Samples], speech: list[Samples]) -> float:
    """Processor time of one pass."""
    start = time.process_time()
    for samples in speech:
        work(samples)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="mono 16 kHz audio")
    files = parser.parse_args().files
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    speech = [soundfile.read(file, dtype="int16")[0] for file in files]
    speech = speech or [reference.speech_like(10, seed=1)]
    job = Job(utterance="u000000", seed=0, alpha=ALPHA)
    system = McAdams()

    def fast(samples: Samples) -> Samples:
        return system.anonymize(samples, job)

    def slow(samples: Samples) -> Samples:
        return reference.mcadams(samples, ALPHA)

    fast(speech[0][:SAMPLE_RATE])
    apart = max(np.abs(fast(samples).astype(int) - slow(samples)).max() for samples in speech)
    pairs = [(seconds(slow, speech), seconds(fast, speech)) for _ in range(ROUNDS)]
    ratios = sorted(of_slow / of_fast for of_slow, of_fast in pairs)
    length = sum(map(len, speech)) / SAMPLE_RATE
    print(f"speech      {length:.1f} s in {len(speech)} utterances, alpha {ALPHA}")
    print(f"reference   {length / min(of_slow for of_slow, _ in pairs):.0f} x real time")
    print(f"harness     {length / min(of_fast for _, of_fast in pairs):.0f} x real time")
    print(
        f"ratio       {statistics.median(ratios):.1f} "
        f"({ratios[0]:.1f} to {ratios[-1]:.1f} in {ROUNDS} rounds)"
    )
    print(f"difference  at most {apart} LSB")


if __name__ == "__main__":
    main()
