"""Opaque names tell nothing, and lead back to the same audio."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from harness.corpora.opaque import opaque_ids, speech
from harness.corpora.store import Corpus, Made, Utterance, build
from harness.errors import IntegrityError
from harness.runtime.pool import Pool

NAMES = [f"{speaker}-1-{number:04d}" for speaker in ("84", "174", "1272") for number in range(20)]


def make(utterance: Utterance) -> Made:
    seed = int.from_bytes(utterance.utterance.encode()[-6:], "big")
    return Made(np.random.default_rng(seed).integers(-99, 99, 800).astype(np.int16))


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    utterances = [Utterance(name, name.split("-")[0], "f", "", 800, None) for name in sorted(NAMES)]
    build(tmp_path / "c", [utterances], make, work=tmp_path / "work", pool=Pool(1))
    return Corpus(tmp_path / "c")


def test_ids_are_dense_and_follow_the_seed() -> None:
    ids = opaque_ids(NAMES, "u", 5)
    assert sorted(ids.values()) == [f"u{number:04d}" for number in range(len(NAMES))]
    assert ids == opaque_ids(reversed(NAMES), "u", 5)
    assert ids != opaque_ids(NAMES, "u", 6)
    assert opaque_ids(["b", "a", "b"], "s", 1).keys() == {"a", "b"}


def test_ids_are_wide_enough_to_sort() -> None:
    ids = opaque_ids((str(number) for number in range(12_000)), "u", 5)
    assert {len(opaque) for opaque in ids.values()} == {6}


def test_order_of_ids_hides_speakers() -> None:
    ids = opaque_ids(NAMES, "u", 5)
    in_order = [name.split("-")[0] for name in sorted(NAMES, key=ids.__getitem__)]
    neighbours = sum(a == b for a, b in pairwise(in_order))
    # 59 neighbouring pairs: 57 share the speaker in the official order, 19 by chance.
    assert neighbours < 30


def test_speech_is_the_same_audio_in_the_order_of_the_ids(corpus: Corpus) -> None:
    chosen = NAMES[::2]
    ids = opaque_ids(chosen, "u", 5)
    found = speech(corpus, ids)
    assert len(found) == len(chosen)
    assert list(found.recordings) == sorted(ids.values())
    assert found.speakers == {}
    for name, opaque in ids.items():
        recording = found.recordings[opaque]
        np.testing.assert_array_equal(recording.read(), corpus.read(name))
        assert recording.samples == 800


def test_nothing_official_is_in_what_an_attacker_gets(corpus: Corpus) -> None:
    ids = opaque_ids(NAMES, "u", 5)
    speaker_ids = opaque_ids({name.split("-")[0] for name in NAMES}, "s", 5)
    found = speech(corpus, ids, speaker_ids)
    assert {found.speakers[ids[name]] for name in NAMES[:20]} == {speaker_ids["84"]}
    sent = pickle.dumps(found)
    assert not any(name.encode() in sent for name in NAMES)
    assert pickle.loads(sent) == found


def test_damaged_audio_is_refused(corpus: Corpus) -> None:
    recording = speech(corpus, opaque_ids(NAMES, "u", 5)).recordings["u0007"]
    with recording.shard.open("r+b") as stream:
        stream.seek(recording.offset + 100)
        byte = stream.read(1)
        stream.seek(recording.offset + 100)
        stream.write(bytes([byte[0] ^ 1]))
    with pytest.raises(IntegrityError, match=r"c-000000\.tar at byte \d+: stored audio differs"):
        recording.read()
