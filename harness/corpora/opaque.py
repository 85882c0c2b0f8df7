"""Opaque names: what an attacker or an anonymizer sees instead of official ones.

An official utterance name carries its speaker, and an official order groups by speaker; so a
system under test gets ids like `t00017`, drawn from a shuffle, and the host maps back.

A recording still says where its bytes are stored, under official names: code that runs in this
process is trusted not to look there. Code that is not trusted gets re-encoded copies, in a
container.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.corpora.store import Corpus, Samples, decode, read_stored


def opaque_ids(names: Iterable[str], prefix: str, seed: int) -> dict[str, str]:
    """Official name to opaque id; the numbering follows a shuffle that `seed` determines."""
    shuffled = sorted(set(names), key=lambda name: name.encode("utf-8"))
    random.Random(seed).shuffle(shuffled)
    width = max(4, len(str(len(shuffled))))
    return {name: f"{prefix}{number:0{width}d}" for number, name in enumerate(shuffled)}


@dataclass(frozen=True)
class Recording:
    """Where an utterance is stored, under its opaque id. samples: its length."""

    shard: Path
    offset: int
    nbytes: int
    sha256: str
    samples: int

    def read(self) -> Samples:
        """Mono 16 kHz int16 samples. Raises IntegrityError when the bytes are not the recorded."""
        return decode(read_stored(self.shard, self.offset, self.nbytes, self.sha256))


@dataclass(frozen=True)
class Speech:
    """Recordings by opaque id, in the order of the ids; picklable.

    speakers: opaque speaker of each recording; empty where the receiver must not know.
    """

    recordings: dict[str, Recording]
    speakers: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.recordings)


def speech(
    corpus: Corpus, ids: dict[str, str], speaker_ids: dict[str, str] | None = None
) -> Speech:
    """The utterances of a corpus that `ids` names, under their opaque ids.

    speaker_ids: opaque ids of the speakers, for training only.
    """
    recordings = {}
    speakers = {}
    row: Any
    for row in corpus.manifest.itertuples(index=False):
        if row.utterance not in ids:
            continue
        opaque = ids[row.utterance]
        recordings[opaque] = Recording(
            shard=corpus.path / row.shard,
            offset=int(row.offset),
            nbytes=int(row.nbytes),
            sha256=row.sha256,
            samples=int(row.samples),
        )
        if speaker_ids is not None:
            speakers[opaque] = speaker_ids[row.speaker]
    return Speech(
        recordings=dict(sorted(recordings.items())), speakers=dict(sorted(speakers.items()))
    )
