"""How fast the McAdams anonymizer is: on one core, on all of them, and what bounds it.

    python benchmarks/mcadams.py [--workers N] [FILE.flac ...]

Beside it stands its transcription of the tests, which takes about as long as the published script:
Burg's method for all frames at once, then numpy.roots and scipy's filters frame by frame. Without
files it takes synthetic speech. What is compared is measured in turn in one run, so that the ratios
mean something on a busy machine; the absolute speeds do not, and several workers need idle cores.
Memory is the peak of a fresh process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
HERE = Path(__file__).resolve().parent
# Not this folder: its `coverage` is no package that numba could use.
sys.path = [path for path in sys.path if Path(path).resolve() != HERE]
sys.path.insert(0, str(HERE.parent / "tests" / "anonymizers"))

import numpy as np  # noqa: E402
import reference_mcadams as reference  # noqa: E402
import soundfile  # noqa: E402

from harness.anonymizers import lpc, stage  # noqa: E402
from harness.anonymizers.base import Job  # noqa: E402
from harness.anonymizers.mcadams import McAdams  # noqa: E402
from harness.corpora import store  # noqa: E402
from harness.corpora.store import SAMPLE_RATE, Made, Samples, Utterance  # noqa: E402
from harness.runtime.events import Events  # noqa: E402
from harness.runtime.pool import Pool, usable_cores  # noqa: E402

ROUNDS = 5
ALPHA = 0.7
JOB = Job(utterance="u000000", seed=0, alpha=ALPHA)
# Of the stage's corpora: enough to keep workers busy, and four times as many to see memory grow.
FEW, MANY = 24, 96
PARTS = {"burg": "Burg", "poles": "poles", "shifted": "moved poles", "resynthesize": "filters"}


def fast(speech: Sequence[Samples]) -> list[Samples]:
    return [McAdams().anonymize(samples, JOB) for samples in speech]


def slow(speech: Sequence[Samples]) -> list[Samples]:
    return [reference.mcadams(samples, ALPHA) for samples in speech]


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    start = clock()
    work()
    return clock() - start


def told(pairs: Sequence[tuple[float, float]]) -> str:
    """The median ratio of the first to the second, and its range."""
    ratios = sorted(first / second for first, second in pairs)
    middle = statistics.median(ratios)
    return f"{middle:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f} in {len(ratios)} rounds)"


def shares(speech: Sequence[Samples]) -> dict[str, float]:
    """Which share of the time each part takes, the largest first."""
    spent = dict.fromkeys(PARTS.values(), 0.0)

    def timed(kernel: Callable[..., Any], part: str, *arguments: Any) -> Any:
        start = time.perf_counter()
        result = kernel(*arguments)
        spent[part] += time.perf_counter() - start
        return result

    kernels = {name: getattr(lpc, name) for name in PARTS}
    for name, kernel in kernels.items():
        setattr(lpc, name, partial(timed, kernel, PARTS[name]))
    whole = seconds(partial(fast, speech), time.perf_counter)
    for name, kernel in kernels.items():
        setattr(lpc, name, kernel)
    spent["the rest"] = whole - sum(spent.values())
    return {part: spent[part] / whole for part in sorted(spent, key=spent.__getitem__)[::-1]}


def corpus(path: Path, speech: Sequence[Samples], count: int) -> Path:
    """A stored corpus of `count` utterances: the speech that is there, again and again."""
    utterances = [
        Utterance(f"a-{n:05d}", "a", "f", "", len(samples), samples)
        for n, samples in zip(range(count), cycle(speech), strict=False)
    ]
    store.build(path, [utterances], lambda u: Made(u.recipe), work=Path("work"), pool=Pool(1))
    return path


def anonymize(source: Path, pool: Pool) -> None:
    """The stage, into a folder that is new each time."""
    systems = {source.name: McAdams()}
    with tempfile.TemporaryDirectory(dir=".") as target:
        made = Path(target, "out")
        stage.anonymize(systems, "b2", [source], made, seed=1, pool=pool, events=Events())


def peak_megabytes(source: Path, folder: str) -> float:
    """The most memory that this process ever held, after the stage has run in it."""
    os.chdir(folder)
    anonymize(source, Pool(1))
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def one_core(speech: Sequence[Samples]) -> None:
    fast(speech[:1])
    apart = max(
        np.abs(ours.astype(int) - theirs).max()
        for ours, theirs in zip(fast(speech), slow(speech), strict=True)
    )
    pairs = [(seconds(lambda: slow(speech)), seconds(lambda: fast(speech))) for _ in range(ROUNDS)]
    length = sum(map(len, speech)) / SAMPLE_RATE
    theirs, ours = (length / min(times) for times in zip(*pairs, strict=True))
    print(f"speech      {length:.1f} s in {len(speech)} utterances, alpha {ALPHA}")
    print(f"published   {theirs:.0f} x real time on one core")
    print(f"harness     {ours:.0f} x real time, {told(pairs)} times as fast")
    print(f"difference  at most {apart} LSB")


def all_cores(speech: Sequence[Samples], workers: int) -> float:
    """The share of the work that does not go to the workers."""
    few, many = corpus(Path("few"), speech, FEW), corpus(Path("many"), speech, MANY)
    pairs, stays = [], []
    with Pool(workers) as several:
        anonymize(many, several)  # starts the workers
        for _ in range(ROUNDS):
            own, took = [time.process_time()], [time.perf_counter()]
            for pool in (Pool(1), several):
                anonymize(many, pool)
                own.append(time.process_time())
                took.append(time.perf_counter())
            pairs.append((took[1] - took[0], took[2] - took[1]))
            stays.append((own[2] - own[1]) / (own[1] - own[0]))
    print(f"all cores   {workers} workers are {told(pairs)} times as fast as one, FLAC in and out")
    peaks = []
    for source in (few, many):
        # Started anew: what this process holds does not count.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
            peaks.append(fresh.submit(peak_megabytes, source.resolve(), os.getcwd()).result())
    held = [f"{peak:.0f} MB for {count}" for peak, count in zip(peaks, (FEW, MANY), strict=True)]
    print(f"memory      {', '.join(held)} utterances: {peaks[1] / peaks[0]:.2f} times as much")
    return statistics.median(stays)


def on_a_gpu(speech: Sequence[Samples]) -> None:
    import torch

    if torch.cuda.is_available():
        together = partial(McAdams().together, [(JOB, samples) for samples in speech], "cuda")
        together()
        works = (partial(fast, speech), together)
        times = [[seconds(work, time.perf_counter) for work in works] for _ in range(ROUNDS)]
        ratio = told([(one, other) for one, other in times])
        print(f"cuda        {ratio} times as fast as one core")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="mono 16 kHz audio")
    parser.add_argument("--workers", type=int, default=usable_cores())
    arguments = parser.parse_args()
    speech = [soundfile.read(file, dtype="int16")[0] for file in arguments.files]
    speech = speech or [reference.speech_like(10, seed=seed) for seed in range(4)]
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    one_core(speech)
    parts = shares(speech)
    on_a_gpu(speech)
    os.sched_setaffinity(0, cores)
    print("time        " + ", ".join(f"{part} {share:.0%}" for part, share in parts.items()))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        stays = all_cores(speech, arguments.workers)
        os.chdir(HERE)
    part, share = next(iter(parts.items()))
    print(
        f"bound by    arithmetic, above all {part} ({share:.0%} of a core's time); from about "
        f"{1 / stays:.0f} workers on, the process that stores ({stays:.1%} of the work)"
    )


if __name__ == "__main__":
    main()
