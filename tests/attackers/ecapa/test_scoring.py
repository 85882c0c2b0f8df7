"""Scoring against hand arithmetic, pyloudnorm's own meter, and SpeechBrain's network run alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.attackers.base import Machine, Pair
from harness.attackers.ecapa.attacker import Ecapa
from harness.corpora.opaque import Recording, Speech, opaque_ids, speech
from harness.corpora.store import Corpus, Made, Utterance, build, partition
from harness.errors import IntegrityError
from harness.runtime.events import Events
from harness.runtime.pool import Pool

pytestmark = pytest.mark.heavy

SETTINGS = Ecapa(channels=(8, 8, 8, 8, 24), attention_channels=8, embedding_dim=16, n_mels=24)
MACHINE = Machine(1, "cpu")


def noise(utterance: Utterance) -> Made:
    rng = np.random.default_rng(utterance.recipe)
    return Made((rng.normal(0, 2000, 20_000 + 1000 * utterance.recipe)).astype(np.int16))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    from harness.attackers.ecapa.model import Embedder, prepare, write_model

    prepare(MACHINE, 5)
    write_model(tmp_path / "model", SETTINGS, Embedder(SETTINGS), {})
    return tmp_path / "model"


@pytest.fixture
def recordings(tmp_path: Path) -> Speech:
    made = [Utterance(f"u{n}", "s", "f", "", 20_000, n) for n in range(5)]
    with Pool(1) as pool:
        build(tmp_path / "c", partition(made), noise, work=tmp_path / "w", pool=pool)
    corpus = Corpus(tmp_path / "c")
    return speech(corpus, {name: name for name in opaque_ids(corpus.manifest["utterance"], "u", 0)})


def test_scores_are_cosines_to_the_plain_mean(model: Path, recordings: Speech) -> None:
    import torch
    from speechbrain.lobes.features import Fbank

    from harness.attackers.ecapa.model import prepare, read_model
    from harness.attackers.ecapa.scoring import condition

    pairs = [Pair("a", "u3"), Pair("b", "u4"), Pair("a", "u4"), Pair("b", "u3")]
    scores = SETTINGS.score(
        model, recordings, {"a": ["u0", "u1"], "b": ["u2"]}, pairs, machine=MACHINE, events=Events()
    )
    _, embedder = read_model(model, prepare(MACHINE, 0))
    fbank = Fbank(n_mels=24)
    embeddings = {}
    with torch.no_grad():
        for name, recording in recordings.recordings.items():
            features = fbank(torch.from_numpy(condition(recording.read(), -30.0))[None])
            features = features - features.mean(1, keepdim=True)
            embeddings[name] = embedder.network(features)[0, 0].numpy().astype(float)
    mean = (embeddings["u0"] + embeddings["u1"]) / 2
    enrolled = {"a": mean, "b": embeddings["u2"]}
    for pair, score in zip(pairs, scores, strict=True):
        one, other = enrolled[pair.enrolment], embeddings[pair.trial]
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert score == pytest.approx(cosine, abs=1e-5)
    assert scores.dtype == np.float32


def test_by_hand() -> None:
    from harness.attackers.ecapa.scoring import cosine_scores, mean_embeddings

    vectors = {"a": np.float32([6, 0]), "b": np.float32([0, 2])}
    enrolled = mean_embeddings(vectors, {"s": ["a", "b"]})
    assert enrolled["s"].tolist() == [3, 1]  # of unit vectors it would be (1, 1) / 2
    scores = cosine_scores(enrolled, {"t": np.float32([4, 0])}, [Pair("s", "t")])
    assert scores[0] == pytest.approx(3 / 10**0.5)


def test_an_embedding_does_not_depend_on_other_utterances(model: Path, recordings: Speech) -> None:
    few = Speech({n: r for n, r in recordings.recordings.items() if n in ("u0", "u3")})
    arguments = ({"a": ["u0"]}, [Pair("a", "u3")])
    alone = SETTINGS.score(model, few, *arguments, machine=MACHINE, events=Events())
    among = SETTINGS.score(model, recordings, *arguments, machine=MACHINE, events=Events())
    assert alone == among


def test_conditioning_has_peak_one_and_trims_zeros_only() -> None:
    from harness.attackers.ecapa.scoring import condition

    rng = np.random.default_rng(0)
    body = rng.normal(0, 3000, 16_000).astype(np.int16)
    body[[0, -1]] = 100
    body[5000:5100] = 0
    found = condition(np.r_[np.zeros(500, np.int16), body, np.zeros(300, np.int16)], -30.0)
    assert len(found) == len(body)
    assert np.abs(found).max() == pytest.approx(1.0)
    # Loudness and peak are scalings: the shape is the signal's own.
    assert found == pytest.approx(body / np.abs(body.astype(float)).max(), abs=1e-6)


@pytest.mark.parametrize("samples", [np.zeros(9000, np.int16), np.zeros(0, np.int16)])
def test_silence_is_zeros(samples: np.ndarray) -> None:
    from harness.attackers.ecapa.scoring import condition

    assert not condition(samples, -30.0).any()


def test_a_very_short_utterance_is_repeated() -> None:
    from harness.attackers.ecapa.scoring import SHORTEST, condition

    found = condition(np.array([5, -10, 5], np.int16), -30.0)
    assert len(found) >= SHORTEST
    assert found[:6] == pytest.approx([0.5, -1, 0.5, 0.5, -1, 0.5])


def test_a_model_with_a_lost_byte_is_refused(model: Path, recordings: Speech) -> None:
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(IntegrityError, match=r"model: not a whole ECAPA model.*; train it again"):
        SETTINGS.score(
            model, recordings, {"a": ["u0"]}, [Pair("a", "u3")], machine=MACHINE, events=Events()
        )


def test_the_same_weights_give_the_same_file(tmp_path: Path) -> None:
    from harness.attackers.ecapa.model import Embedder, prepare, write_model

    for name in ("one", "two"):
        prepare(MACHINE, 5)
        write_model(tmp_path / name, SETTINGS, Embedder(SETTINGS), {"speakers": 2})
    for file in ("model.safetensors", "model.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_damaged_audio_is_found(model: Path, recordings: Speech) -> None:
    damaged = {
        name: Recording(r.shard, r.offset, r.nbytes, "0" * 64, r.samples)
        for name, r in recordings.recordings.items()
    }
    with pytest.raises(IntegrityError, match="stored audio differs from its manifest"):
        SETTINGS.score(
            model,
            Speech(damaged),
            {"a": ["u0"]},
            [Pair("a", "u3")],
            machine=MACHINE,
            events=Events(),
        )
