"""Training items: which utterance, which crop, in which order; a pure function of seed and epoch.

So a training that was killed goes on with the very next batch, and the number of loader processes
cannot change a result.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import soundfile
import torch
from torch.utils.data import Dataset, Sampler

from harness.attackers.ecapa.settings import Settings
from harness.corpora.opaque import Recording, Speech
from harness.corpora.store import SAMPLE_RATE, read_stored
from harness.errors import DataError
from harness.runtime.seeds import derived_seed

# Decoded audio kept in memory; beyond it crops are decoded from the store by seeking.
CACHE_BYTES = 1 << 30


@dataclass(frozen=True)
class Item:
    """An utterance with the index of its speaker."""

    utterance: str
    recording: Recording
    label: int


@dataclass(frozen=True)
class Split:
    """Training and validation items, and the number of speakers."""

    training: tuple[Item, ...]
    validation: tuple[Item, ...]
    speakers: int


def split(speech: Speech, settings: Settings, seed: int) -> Split:
    """Utterances long enough, split at random by utterance.

    Raises DataError when fewer than two speakers or no training utterance is left.
    """
    shortest = max(settings.min_seconds, settings.crop_seconds) * SAMPLE_RATE
    kept = {u: r for u, r in speech.recordings.items() if r.samples >= shortest}
    names = sorted({speech.speakers[utterance] for utterance in kept})
    labels = {name: number for number, name in enumerate(names)}
    items = [Item(u, r, labels[speech.speakers[u]]) for u, r in kept.items()]
    if len(names) < 2:
        raise DataError(
            f"{len(kept)} of {len(speech)} utterances of {len(names)} speakers are at least "
            f"{shortest / SAMPLE_RATE:g} s long",
            where="training set",
            fix="lower min_seconds and crop_seconds, or give more speech",
        )
    order = np.random.default_rng(derived_seed(seed, "split")).permutation(len(items))
    held_out = round(settings.validation_fraction * len(items))
    return Split(
        training=tuple(items[index] for index in sorted(order[held_out:])),
        validation=tuple(items[index] for index in sorted(order[:held_out])),
        speakers=len(names),
    )


class Crops(Dataset[tuple[torch.Tensor, int]]):
    """Random crops. An index is (epoch, item): the place of the crop follows from both."""

    def __init__(self, items: Sequence[Item], settings: Settings, seed: int) -> None:
        self.items = items
        self.length = round(settings.crop_seconds * SAMPLE_RATE)
        self.seed = seed
        self._cache: dict[int, np.ndarray] = {}
        total = sum(item.recording.samples for item in items)
        self._caching = total * np.dtype(np.int16).itemsize <= CACHE_BYTES

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: tuple[int, int]) -> tuple[torch.Tensor, int]:
        epoch, number = index
        item = self.items[number]
        place = derived_seed(self.seed, "crop", epoch, item.utterance)
        start = place % (item.recording.samples - self.length + 1)
        samples = self._read(number, start)
        return torch.from_numpy(samples.astype(np.float32) / 32768), item.label

    def _read(self, number: int, start: int) -> np.ndarray:
        recording = self.items[number].recording
        if self._caching:
            if number not in self._cache:
                self._cache[number] = recording.read()
            return self._cache[number][start : start + self.length]
        data = read_stored(recording.shard, recording.offset, recording.nbytes, recording.sha256)
        with soundfile.SoundFile(io.BytesIO(data)) as stream:
            stream.seek(start)
            return np.asarray(stream.read(self.length, dtype="int16"))


class Batches(Sampler[list[tuple[int, int]]]):
    """Batches of an epoch in a seeded order, from batch `start` on; the last may be smaller.

    A last batch of one item is left out: batch normalisation needs two.
    """

    def __init__(self, items: int, batch_size: int, seed: int, shuffle: bool) -> None:
        self.items = items
        self.batch_size = batch_size
        self.seed = seed
        self.shuffle = shuffle
        self.epoch = 0
        self.start = 0

    def __len__(self) -> int:
        full, rest = divmod(self.items, self.batch_size)
        return full + (rest > 1 or (not self.shuffle and rest == 1))

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        order = np.arange(self.items)
        if self.shuffle:
            rng = np.random.default_rng(derived_seed(self.seed, "order", self.epoch))
            order = rng.permutation(self.items)
        for batch in range(self.start, len(self)):
            chosen = order[batch * self.batch_size : (batch + 1) * self.batch_size]
            yield [(self.epoch, int(number)) for number in chosen]
