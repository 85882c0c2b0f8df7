"""How fast pitch correlation is: F0 by Praat beside real time and WORLD's, and the correlation.

    python benchmarks/pitch.py [--rounds N] [FILE.flac ...]

WORLD's F0 is DIO refined by StoneMask, as `harness.anonymizers.world` has it. Without files it
takes synthetic speech. What is compared is measured in turn in one run on one core, so that the
ratios mean something on a busy machine; the absolute speeds do not. Budget: Praat at 20 times real
time, and both correlations within a tenth of the time that their two tracks take.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
HERE = Path(__file__).resolve().parent
# Not this folder: its `coverage` is no package.
sys.path = [path for path in sys.path if Path(path).resolve() != HERE]
sys.path.insert(0, str(HERE.parent / "tests" / "anonymizers"))

import pyworld  # noqa: E402
import soundfile  # noqa: E402
from reference_mcadams import speech_like  # noqa: E402

from harness.anonymizers.world import F0_CEILING, F0_FLOOR  # noqa: E402
from harness.corpora.audio import FULL_SCALE  # noqa: E402
from harness.corpora.store import SAMPLE_RATE, Samples  # noqa: E402
from harness.metrics.pitch_correlation import (  # noqa: E402
    STEP_SECONDS,
    Track,
    official_2022,
    voiced_only,
)
from harness.utility.praat import f0_track  # noqa: E402

ROUNDS = 5


def praat(speech: Sequence[Samples]) -> list[Track]:
    return [f0_track(samples) for samples in speech]


def world(speech: Sequence[Samples]) -> list[Track]:
    tracks = []
    for samples in speech:
        wave = samples / FULL_SCALE
        step = 1_000 * STEP_SECONDS
        coarse, times = pyworld.dio(wave, SAMPLE_RATE, F0_FLOOR, F0_CEILING, frame_period=step)
        tracks.append(pyworld.stonemask(wave, coarse, times, SAMPLE_RATE))
    return tracks


def correlations(tracks: Sequence[Track]) -> None:
    for track in tracks:
        for correlation in (official_2022, voiced_only):
            # An anonymized one is as long, which is all that time depends on.
            correlation(track, track)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def told(pairs: Sequence[tuple[float, float]]) -> str:
    """The median ratio of the first to the second, and its range."""
    ratios = sorted(first / second for first, second in pairs)
    middle = statistics.median(ratios)
    return f"{middle:.3g} ({ratios[0]:.3g} to {ratios[-1]:.3g} in {len(ratios)} rounds)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="mono 16 kHz audio")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    speech = [soundfile.read(file, dtype="int16")[0] for file in arguments.files]
    speech = speech or [speech_like(10, seed=seed) for seed in range(4)]
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    works = {
        "praat": partial(praat, speech),
        "world": partial(world, speech),
        "both": partial(correlations, praat(speech)),
    }
    rounds = [
        {name: seconds(work) for name, work in works.items()} for _ in range(arguments.rounds)
    ]

    length = sum(map(len, speech)) / SAMPLE_RATE
    fastest = min(took["praat"] for took in rounds)
    print(f"speech      {length:.1f} s in {len(speech)} utterances")
    print(
        f"praat       {length / fastest:.0f} x real time on one core, "
        f"{len(speech) / fastest:.1f} utterances a second"
    )
    print(f"beside      {told([(took['praat'], took['world']) for took in rounds])} x WORLD's time")
    shares = told([(took["both"], 2 * took["praat"]) for took in rounds])
    print(f"correlation {shares} x the time of two tracks")


if __name__ == "__main__":
    main()
