"""Original corpora of noise, and trees of "anonymized" speech: the same, backwards in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import soundfile

from harness.corpora.store import Corpus, Made, Samples, Utterance, build
from harness.runtime.pool import Pool

ENROLS, TRIALS = "libri_dev_enrolls", "libri_dev_trials_f"
# Samples by utterance: 0.5 to 1.1 s, each 0.2 s longer than the last.
LENGTHS = {f"{speaker}-1-{n}": 8_000 + 3_200 * n for speaker in (1, 2) for n in range(4)}
SETS = (ENROLS, TRIALS)


def speech(name: str, length: int) -> Samples:
    """Noise that its name determines."""
    seed = int.from_bytes(name.encode(), "big")
    return np.random.default_rng(seed).integers(-9_000, 9_000, length).astype(np.int16)


def make(utterance: Utterance) -> Made:
    """The maker of the originals; the set's name is the recipe."""
    return Made(speech(f"{utterance.recipe}{utterance.utterance}", utterance.samples))


def originals(folder: Path, sets: Sequence[str] = SETS) -> dict[str, Corpus]:
    """The corpora `sets` below `folder`, each with the utterances of LENGTHS."""
    found = {}
    for name in sets:
        made = [Utterance(u, u[0], "f", "A WORD", n, name) for u, n in sorted(LENGTHS.items())]
        build(folder / name, [made], make, work=folder / f"work-{name}", pool=Pool(1))
        found[name] = Corpus(folder / name)
    return found


def write(path: Path, samples: Samples, rate: int = 16_000) -> Path:
    """A file, and the folders it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(str(path), samples, rate)
    return path


def tree(
    root: Path, corpora: Mapping[str, Corpus], suffix: str = "_anon", nested: bool = False
) -> Path:
    """All utterances backwards, in one of the two layouts."""
    for name, corpus in corpora.items():
        for utterance in corpus.manifest["utterance"]:
            inner = Path(utterance) if nested else Path()
            path = root / f"{name}{suffix}" / "wav" / inner / f"{utterance}.wav"
            write(path, corpus.read(utterance)[::-1])
    return root
