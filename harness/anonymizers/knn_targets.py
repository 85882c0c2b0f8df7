"""Who the speakers of the training set are that others can be turned into, and what they say.

They follow from the manifest and a fixed seed: the speakers are drawn, in C order, from the half
that says most, for too little speech lacks phones; the recordings of each are shuffled. Only
recordings that are asked for are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from harness.corpora.anonymized_hearing import hash_of
from harness.corpora.opaque import Recording
from harness.corpora.store import SAMPLE_RATE, Corpus, Samples
from harness.runtime.seeds import derived_seed

# Of the draws that are the same in every run.
SEED = derived_seed("knn-vc", "targets")


@dataclass(frozen=True)
class Target:
    """A speaker that others are turned into. recordings: all of them, in the order of the draw."""

    speaker: str
    recordings: tuple[Recording, ...]

    def speech(self, seconds: float) -> list[Samples]:
        """The first `seconds` of the recordings; the last is cut."""
        left = int(seconds * SAMPLE_RATE)
        heard = []
        for recording in self.recordings:
            heard.append(recording.read()[:left])
            left -= len(heard[-1])
            if left <= 0:
                break
        return heard

    def says(self, samples: Samples) -> bool:
        """Whether the very samples are one of the recordings."""
        return hash_of(samples) in _contents(self, len(samples))


@lru_cache(maxsize=4)
def targets(folder: Path, sha256: str, count: int, seconds: float) -> tuple[Target, ...]:
    """`count` speakers of the corpus in `folder`, or all where there are fewer.

    sha256: of its manifest, so that what is kept is of this corpus. seconds: what is enough of a
    speaker; who says more counts as if it were this. Raises DataError as the store.
    """
    manifest = Corpus(folder).manifest
    said = manifest.groupby("speaker")["samples"].sum().clip(upper=int(seconds * SAMPLE_RATE))
    enough = said.sort_values(ascending=False).iloc[: max(count, len(said) // 2)].min()
    names = sorted(said.index[said >= enough], key=lambda name: str(name).encode("utf-8"))
    order = np.random.default_rng(SEED).permutation(len(names))[:count]
    chosen = [str(names[place]) for place in order]
    rows = manifest[manifest["speaker"].isin(chosen)]
    recordings: dict[str, list[Recording]] = {name: [] for name in chosen}
    row: Any
    for row in rows.itertuples(index=False):
        recordings[row.speaker].append(
            Recording(
                folder / row.shard, int(row.offset), int(row.nbytes), row.sha256, int(row.samples)
            )
        )
    return tuple(Target(name, _shuffled(name, kept)) for name, kept in recordings.items())


def _shuffled(speaker: str, recordings: Sequence[Recording]) -> tuple[Recording, ...]:
    # Not in the manifest's order: that may be one chapter.
    order = np.random.default_rng(derived_seed(SEED, speaker)).permutation(len(recordings))
    return tuple(recordings[place] for place in order)


@lru_cache(maxsize=4_096)
def _contents(target: Target, length: int) -> frozenset[str]:
    """Hashes of the recordings of a length: others need not be read to know that they differ."""
    same = (recording for recording in target.recordings if recording.samples == length)
    return frozenset(hash_of(recording.read()) for recording in same)
