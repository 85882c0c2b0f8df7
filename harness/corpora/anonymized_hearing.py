"""One file of imported speech beside its original: is it usable, silent, or the original itself?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from harness.corpora.audio import SILENCE_LIMIT, duration_16k, read_audio
from harness.corpora.opaque import Recording
from harness.corpora.store import SAMPLE_RATE, Corpus, Samples
from harness.errors import AudioError
from harness.runtime.files import sha256_bytes

# A longer file is not decoded: a stranger's header decides no amount of memory.
LONGEST_SHARE = 10
# Cosine of two signals of one length. Rounding and level leave more, no anonymizer comes near.
SAME_COSINE = 0.999


@dataclass(frozen=True)
class Pair:
    """An utterance's file and its original; picklable."""

    utterance: str
    path: Path
    original: Recording


@dataclass(frozen=True)
class Heard:
    """What was found of one pair.

    samples: how many; None where the file cannot be used, or is not at 16 kHz. original, content:
    SHA-256 of the original samples and of the file's (empty where not decoded or silent). fault:
    its code and what to say of it.
    """

    utterance: str
    samples: int | None
    original: str
    content: str = ""
    fault: tuple[str, str] | None = None


def pairs(original: Corpus, files: Mapping[str, Path]) -> list[Pair]:
    """The utterances of a set that have a file, in C order."""
    rows: Iterator[Any] = original.manifest.itertuples(index=False)
    return [
        Pair(
            row.utterance,
            files[row.utterance],
            Recording(
                original.path / row.shard, int(row.offset), int(row.nbytes), row.sha256, row.samples
            ),
        )
        for row in rows
        if row.utterance in files
    ]


def hear(pair: Pair) -> Heard:
    """Decode a file and compare it with its original. Raises IntegrityError for a bad original."""
    original = pair.original.read()
    key = hash_of(original)
    try:
        length = duration_16k(pair.path)
        info = soundfile.info(str(pair.path))
        if info.samplerate != SAMPLE_RATE:
            return Heard(pair.utterance, None, key, fault=("rate", f"{info.samplerate} Hz"))
        if info.channels != 1:
            return Heard(pair.utterance, length, key, fault=("channels", str(info.channels)))
        if length > LONGEST_SHARE * len(original) + SAMPLE_RATE:
            told = f"{seconds(length)}, the original {seconds(len(original))}"
            return Heard(pair.utterance, None, key, fault=("audio", told))
        samples = read_audio(pair.path).samples
    except AudioError as error:
        return Heard(pair.utterance, None, key, fault=("audio", error.what))
    if _silent(samples) and not _silent(original):
        return Heard(pair.utterance, length, key, fault=("silent", seconds(length)))
    content = "" if _silent(samples) else hash_of(samples)
    if content and _same(samples, original):
        return Heard(pair.utterance, length, key, content, ("original", "its own"))
    return Heard(pair.utterance, length, key, content)


def hash_of(samples: Samples) -> str:
    """SHA-256 of samples as 16-bit little-endian numbers: the same however they were stored."""
    return sha256_bytes(samples.astype("<i2").tobytes())


def seconds(samples: int) -> str:
    """A duration as people read it."""
    return f"{samples / SAMPLE_RATE:.2f} s"


def _silent(samples: Samples) -> bool:
    mean = float(samples.mean(dtype=np.float64))
    return bool(np.abs(samples - mean).max() < SILENCE_LIMIT)


def _same(samples: Samples, original: Samples) -> bool:
    if len(samples) != len(original):
        return False
    one, other = samples - samples.mean(), original - original.mean()
    return bool(one @ other > SAME_COSINE * np.linalg.norm(one) * np.linalg.norm(other))
