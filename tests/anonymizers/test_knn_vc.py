"""kNN-VC on WORLD: synthetic speakers turn into each other (tests/anonymizers/speakers.py).

What a target sounds like is known from how it was made, and measured without WORLD.
"""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from anonymizers.speakers import RECORDINGS, SPEAKERS, VOWELS, say, stored
from anonymizers.vowels import mean_f0, spectrum_of
from harness.anonymizers import knn_world, world
from harness.anonymizers.base import (
    Anonymizer,
    BatchAnonymizer,
    Device,
    Job,
    Source,
    Targeted,
    batch_of,
    load,
)
from harness.anonymizers.knn_targets import Target
from harness.anonymizers.knn_vc import Aimed, KnnVc
from harness.corpora.manifest import read_manifest
from harness.corpora.opaque import Recording
from harness.corpora.store import Corpus, Samples
from harness.errors import AudioError, ConfigError, DataError, IntegrityError
from harness.runtime.events import Events
from harness.runtime.pool import Pool

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    return stored(folder / "train", folder / "work")


def job(seed: int, utterance: str = "u000001") -> Job:
    return Job(utterance=utterance, seed=seed)


def seed_for(system: Aimed, samples: Samples, speaker: str) -> int:
    return next(n for n in range(500) if system.target(samples, n).speaker == speaker)


def recordings_of(corpus: Path) -> dict[str, Recording]:
    return {
        row.utterance: Recording(
            corpus / row.shard, row.offset, row.nbytes, row.sha256, row.samples
        )
        for row in read_manifest(corpus / "manifest.tsv").itertuples()
    }


# What is heard


@pytest.mark.parametrize("speaker", ["high", "deep"])
def test_speech_gets_the_voice_of_its_target_and_says_the_same(corpus: Path, speaker: str) -> None:
    system = KnnVc().aimed(corpus)
    spoken = say("low", "iau")
    result = system.anonymize(spoken, job(seed_for(system, spoken, speaker)))
    assert mean_f0(result) == pytest.approx(SPEAKERS[speaker][0], rel=0.03)
    for place, one in enumerate("iau"):
        heard = spectrum_of(result[place * 8_000 : (place + 1) * 8_000])
        apart = {
            (who, vowel): np.abs(heard - spectrum_of(say(who, vowel))).mean()
            for who in ("low", speaker)
            for vowel in VOWELS
        }
        assert min(apart, key=apart.__getitem__) == (speaker, one)


def test_the_level_is_gone_and_the_course_of_power_stays(corpus: Path) -> None:
    system = KnnVc().aimed(corpus)
    spoken = say("low", "aa").astype(float)
    spoken[8_000:] /= 10
    result = system.anonymize(spoken.astype(np.int16), job(1)).astype(float)
    assert np.abs(result).max() == 32_766
    ratio = np.std(result[1_600:6_400]) / np.std(result[9_600:14_400])
    assert ratio == pytest.approx(10, rel=0.2)


def test_the_range_of_f0_becomes_the_targets() -> None:
    turns = np.sin(2 * np.pi * 2 * np.arange(32_000) / 16_000)
    flat = knn_world.voice([say("high", "a", 2)])
    lively = dataclasses.replace(flat, spread=0.15)
    spoken = say("low", "a", 2)
    # The contour of `say` is a line: from its ends to its standard deviation by the root of 12.
    assert flat.spread == pytest.approx(0.12 / np.sqrt(12), rel=0.1)
    assert flat.mean_hz == pytest.approx(200, rel=0.02)
    assert turns.std() == pytest.approx(np.sqrt(0.5), rel=0.01)
    factors = [knn_world._spread_factor(np.exp(5 + 0.05 * turns), v.spread) for v in (flat, lively)]
    assert factors[0] == pytest.approx(flat.spread / (0.05 * np.sqrt(0.5)), rel=0.01)
    # Never more than threefold: what looks flat may be an error of the analysis.
    assert factors[1] == 3
    assert knn_world._spread_factor(np.full(9, 120.0), 0.2) == 1
    assert knn_world._spread_factor(np.zeros(9), 0.2) == 1
    assert knn_world.converted(spoken, lively, 4).shape == spoken.shape


# The nearest frames


def test_the_nearest_are_those_of_largest_cosine() -> None:
    generator = np.random.default_rng(4)
    source, target = generator.normal(size=(3_000, 16)), generator.normal(size=(700, 16))
    compared = [knn_world._compared(x, np.ones(len(x))) for x in (source, target)]
    nearest = knn_world._nearest(compared[0], compared[1], 4)
    weights = 1 + 3 * np.sin(np.pi * np.arange(1, 17) / 22)
    centred = [weights * (x - x.mean(axis=0)) for x in (source, target)]
    units = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in centred]
    exact = np.argsort(-(units[0] @ units[1].T), axis=1)[:, :4]
    same = [set(a) == set(b) for a, b in zip(nearest.tolist(), exact.tolist(), strict=True)]
    # Rounding to whole numbers may swap two that are equally near.
    assert np.mean(same) > 0.99


def test_sums_of_products_are_exact() -> None:
    generator = np.random.default_rng(5)
    frames = generator.normal(size=(400, 16)) * 10
    compared = knn_world._compared(frames, np.ones(400))
    assert compared.dtype == np.float32
    whole = compared.astype(np.int64)
    assert np.array_equal(compared, whole)
    products = compared @ compared.T
    assert np.array_equal(products.astype(np.int64), whole @ whole.T)
    assert np.abs(products).max() < 2**24


def test_the_mean_is_that_of_loud_frames() -> None:
    frames = np.vstack([np.full((50, 16), 2.0), np.full((50, 16), 4.0), np.full((100, 16), 99.0)])
    power = np.concatenate([np.ones(100), np.full(100, 1e-6)])
    compared = knn_world._compared(frames, power)
    # Loud ones lie around 3, as far to either side.
    assert (compared[:50] < 0).all()
    np.testing.assert_array_equal(compared[:50], -compared[50:100])
    assert np.linalg.norm(compared, axis=1) == pytest.approx(4_000, abs=2)
    assert not knn_world._compared(np.ones((5, 16)), np.ones(5)).any()


@pytest.mark.parametrize(
    ("source", "target", "least", "most"),
    [("high", "low", 0.8, 0.87), ("low", "high", 1.15, 1.25), ("low", "low", 0.96, 1.04)],
)
def test_vocal_tracts_are_made_equal(source: str, target: str, least: float, most: float) -> None:
    # Formants of `high` are 1.2 times those of `low`.
    analysis = world.analyse(say(source, "aiu"))
    envelope, power = world.coded_envelope(analysis.envelope, 60), analysis.envelope.sum(axis=1)
    fitting = knn_world._fitting(envelope, power, knn_world.voice([say(target, "uia")]))
    fits = [
        factor
        for factor, warp in zip(knn_world.FACTORS, knn_world._warps(), strict=True)
        if np.array_equal(knn_world._compared(envelope @ warp, power), fitting)
    ]
    assert len(fits) == 1
    assert least < fits[0] < most


def test_a_warp_of_cepstra_is_one_of_spectra() -> None:
    analysis = world.analyse(say("mid", "aiu"))
    coded = world.coded_envelope(analysis.envelope, 60)
    spectra = np.log(world.decoded_envelope(coded))
    for factor, warp in zip(knn_world.FACTORS, knn_world._warps(), strict=True):
        expected = world.coded_envelope(np.exp(world.warped(spectra, factor)), 60)[:, 1:17]
        np.testing.assert_allclose(coded @ warp, expected, atol=1e-9)


def test_more_neighbours_than_frames_are_all_of_them() -> None:
    short = knn_world.voice([say("high", "a", 0.3)])
    assert len(short.compared) == 31
    assert knn_world.converted(say("low", "a"), short, 100).shape == (8_000,)


# Targets


def test_targets_follow_from_the_corpus_and_are_as_many_as_asked_for(corpus: Path) -> None:
    everyone = KnnVc().aimed(corpus).targets()
    assert sorted(target.speaker for target in everyone) == sorted(SPEAKERS)
    assert all(len(target.recordings) == 3 for target in everyone)
    two = KnnVc(target_speakers=2).aimed(corpus).targets()
    assert two == everyone[:2]
    drawn = {KnnVc(target_speakers=2).aimed(corpus).target(say("mid", "ai"), n) for n in range(50)}
    assert drawn == set(two)


def test_targets_are_of_the_half_that_says_most(tmp_path: Path) -> None:
    seconds = {"a": 1.0, "b": 3.0, "c": 2.0, "d": 3.5, "e": 1.5, "f": 1.2, "g": 0.5, "h": 0.4}
    said = {f"{name}-0": np.full(int(16_000 * s), 7, np.int16) for name, s in seconds.items()}
    folder = stored(tmp_path / "train", tmp_path / "work", said)

    def drawn(count: int, enough: float) -> set[str]:
        system = KnnVc(target_speakers=count, target_seconds=enough).aimed(folder)
        return {target.speaker for target in system.targets()}

    assert drawn(4, 60) == {"b", "c", "d", "e"}
    assert drawn(5, 60) == {"b", "c", "d", "e", "f"}
    assert len(drawn(2, 60)) == 2
    assert drawn(2, 60) < {"b", "c", "d", "e"}
    # Whoever says enough is as good as another: of this draw, some who say less.
    assert len(drawn(4, 1.0)) == 4
    assert drawn(4, 1.0) < set("abcdef")
    assert drawn(4, 1.0) & set("af")
    assert drawn(64, 60) == set(seconds)


def test_every_target_is_as_likely(corpus: Path) -> None:
    system, spoken = KnnVc().aimed(corpus), say("low", "au")
    drawn = [system.target(spoken, seed).speaker for seed in range(2_000)]
    for speaker in SPEAKERS:
        assert drawn.count(speaker) / 2_000 == pytest.approx(0.25, abs=0.04)


def test_nobody_becomes_themselves(corpus: Path) -> None:
    for target_speakers in (2, 4):
        system = KnnVc(target_speakers=target_speakers).aimed(corpus)
        for name, samples in RECORDINGS.items():
            drawn = {system.target(samples, seed).speaker for seed in range(60)}
            assert name.split("-")[0] not in drawn
            assert len(drawn) >= target_speakers - 1


def test_a_speaker_with_one_seed_gets_one_target(corpus: Path) -> None:
    system = KnnVc(level="speaker").aimed(corpus)
    assert system.level == "speaker"
    for seed in range(30):
        for speaker in SPEAKERS:
            own = [RECORDINGS[f"{speaker}-{number}"] for number in range(3)]
            assert len({system.target(samples, seed) for samples in own}) == 1


def test_target_speech_is_cut(corpus: Path) -> None:
    target = KnnVc().aimed(corpus).targets()[0]
    assert [len(samples) for samples in target.speech(1.0)] == [16_000]
    assert [len(samples) for samples in target.speech(1.5)] == [24_000]
    assert [len(samples) for samples in target.speech(2.0)] == [24_000, 8_000]
    assert [len(samples) for samples in target.speech(600)] == [24_000] * 3


def test_only_what_is_needed_is_read(tmp_path: Path) -> None:
    folder = stored(tmp_path / "train", tmp_path / "work")
    system = KnnVc(target_seconds=1.5).aimed(folder)
    spoken = say("low", "aii", 0.4)
    target = system.target(spoken, 1)
    with target.recordings[0].shard.open("r+b") as stream:
        for recording in recordings_of(folder).values():
            if recording != target.recordings[0]:
                stream.seek(recording.offset)
                stream.write(b"spoilt")
    assert system.anonymize(spoken, job(1)).shape == spoken.shape
    other = next(n for n in range(99) if system.target(spoken, n) != target)
    with pytest.raises(IntegrityError, match="stored audio differs from its manifest"):
        system.anonymize(spoken, job(other))


def test_a_target_that_is_never_voiced_is_refused(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(-3_000, 3_000, 16_000).astype(np.int16)
    folder = stored(tmp_path / "train", tmp_path / "work", {"one-0": noise, "two-0": noise[::-1]})
    with pytest.raises(DataError, match="nothing that the target speaker says is voiced"):
        KnnVc().aimed(folder).anonymize(say("low", "ai"), job(1))


def test_an_utterance_that_all_say_is_refused(tmp_path: Path) -> None:
    same = say("low", "ai")
    folder = stored(tmp_path / "train", tmp_path / "work", {"one-0": same, "two-0": same})
    with pytest.raises(DataError, match="every target speaker says this very utterance"):
        KnnVc().aimed(folder).anonymize(same, job(1))


def test_one_speaker_is_too_few(tmp_path: Path) -> None:
    folder = stored(tmp_path / "train", tmp_path / "work", {"one-0": say("low", "ai")})
    with pytest.raises(ConfigError, match="has fewer than two speakers"):
        KnnVc().aimed(folder)


def test_a_corpus_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such manifest"):
        KnnVc().aimed(tmp_path / "train")


def test_without_targets_it_says_so() -> None:
    with pytest.raises(ConfigError, match=r"it has no target speakers; call aimed\(\)"):
        KnnVc().anonymize(say("low", "a"), job(1))


# Independence


def test_only_samples_seed_and_training_set_count(corpus: Path) -> None:
    system, spoken = KnnVc().aimed(corpus), say("mid", "iu")
    before = spoken.copy()
    first = system.anonymize(spoken, job(3))
    for seed in range(4, 9):
        system.anonymize(say("low", "ua"), job(seed))
    strided = np.stack([spoken, spoken], axis=1)[:, 0]
    np.testing.assert_array_equal(system.anonymize(strided, job(3, "u000777")), first)
    np.testing.assert_array_equal(spoken, before)
    other = next(n for n in range(99) if system.target(spoken, n) != system.target(spoken, 3))
    assert not np.array_equal(system.anonymize(spoken, job(other)), first)


def read(made: partial[Samples]) -> Samples:
    return made()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_batch_in_other_processes_gives_the_same(
    corpus: Path, tmp_path: Path, device: Device
) -> None:
    # WORLD has no use for a GPU, though a system that it is a part of may.
    system = KnnVc().aimed(corpus)
    assert not system.gpu
    kept = recordings_of(corpus)
    speech = [(job(n, f"u{n:06d}"), kept[name]) for n, name in enumerate(sorted(kept))][:4]
    alone = [system.anonymize(recording.read(), one) for one, recording in speech]
    batch = batch_of(system, speech, work=tmp_path, threads=2, device=device, events=Events())
    with batch as made, Pool(2) as pool:
        assert list(made) == [one.utterance for one, _ in speech]
        # Nothing is made before it is read: four utterances have 192,000 bytes.
        assert len(pickle.dumps(dict(made))) < 20_000
        # Largest first, so that the workers' histories differ from this process's.
        results = list(pool.map(read, [made[one.utterance] for one, _ in speech[::-1]], chunk=1))
    for result, expected in zip(results, alone[::-1], strict=True):
        np.testing.assert_array_equal(result, expected)


def test_the_same_corpus_elsewhere_makes_the_same_system(corpus: Path, tmp_path: Path) -> None:
    system = KnnVc().aimed(corpus)
    other = KnnVc().aimed(stored(tmp_path / "train", tmp_path / "work"))
    # The work of a stage is known by it: no place may stand in it.
    assert repr(other) == repr(system)
    assert Corpus(corpus).digest() in repr(system)
    assert str(corpus) not in repr(system)
    spoken = say("low", "ai")
    result = other.anonymize(spoken, job(2))
    np.testing.assert_array_equal(result, system.anonymize(spoken, job(2)))
    assert pickle.loads(pickle.dumps(system)) == system


# Edges


@pytest.mark.parametrize("length", [0, 1, 79, 160, 320])
def test_short_utterances_keep_their_length(corpus: Path, length: int) -> None:
    result = KnnVc().aimed(corpus).anonymize(say("low", "a")[4_000 : 4_000 + length], job(1))
    assert result.dtype == np.int16
    assert result.shape == (length,)


def test_silence_stays_silence(corpus: Path) -> None:
    result = KnnVc().aimed(corpus).anonymize(np.zeros(1_000, dtype=np.int16), job(1))
    assert result.dtype == np.int16
    assert result.shape == (1_000,)
    assert not result.any()


@pytest.mark.parametrize("name", ["constant", "extremes", "clipped", "one bit", "gap"])
def test_extreme_signals_come_through(corpus: Path, name: str) -> None:
    generator = np.random.default_rng(3)
    spoken = say("low", "ai").astype(int)
    samples = {
        "constant": np.full(8_000, -32_768),
        "extremes": generator.choice([-32_768, 32_767], 8_000),
        "clipped": np.clip(spoken * 20, -32_768, 32_767),
        "one bit": generator.integers(-1, 2, 8_000),
        "gap": np.where(np.abs(np.arange(16_000) - 8_000) < 3_000, 0, spoken),
    }[name].astype(np.int16)
    result = KnnVc().aimed(corpus).anonymize(samples, job(2))
    assert result.shape == samples.shape
    assert np.abs(result.astype(int)).max() == (0 if name == "constant" else 32_766)
    if name == "gap":
        assert np.abs(result[6_000:10_000].astype(int)).max() < 10


def test_a_minute_comes_through(corpus: Path) -> None:
    system = KnnVc().aimed(corpus)
    spoken = np.tile(say("low", "aiu"), 40)
    result = system.anonymize(spoken, job(seed_for(system, spoken, "high")))
    assert result.shape == (960_000,)
    assert mean_f0(result[-24_000:]) == pytest.approx(200, rel=0.05)


@pytest.mark.parametrize(
    "samples", [np.zeros(1_000), np.zeros((500, 2), dtype=np.int16)], ids=["float", "stereo"]
)
def test_other_audio_is_refused(corpus: Path, samples: np.ndarray) -> None:
    with pytest.raises(AudioError, match="utterance u000001: .* not mono 16-bit"):
        KnnVc().aimed(corpus).anonymize(samples, job(1))


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"level": "set"}, "level is 'set'; choose one of: utterance, speaker"),
        ({"backend": "hubert"}, "backend is 'hubert'; choose one of: world, wavlm"),
        ({"k": 0}, "k is 0; give a number from 1 to 100"),
        ({"target_speakers": 1}, "target_speakers is 1; give a number from 2 to 64"),
        ({"target_speakers": 65}, "target_speakers is 65"),
        ({"target_seconds": 0.5}, "target_seconds is 0.5; give a number from 1 to 600"),
        ({"target_seconds": float("nan")}, "target_seconds is nan"),
        ({"weights": "models"}, "weights is 'models' with backend world"),
        ({"backend": "wavlm"}, "weights is missing with backend wavlm; name a folder with wavlm/"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        KnnVc(**parameters)  # type: ignore[arg-type]


def test_is_found_by_name(corpus: Path) -> None:
    system = load("knn", {"type": "knn-vc", "level": "speaker", "k": 8})
    assert isinstance(system, Anonymizer)
    assert isinstance(system, Targeted)
    assert system == KnnVc(level="speaker", k=8)
    aimed = system.aimed(corpus)
    assert isinstance(aimed, BatchAnonymizer)
    assert aimed.name == system.name
    sources = [Source("a-1", "a"), Source("b-1", "b")]
    assert system.alphas(sources, [1, 2]) == aimed.alphas(sources, [1, 2]) == [None, None]


def test_a_target_is_hashable_and_knows_its_words(corpus: Path) -> None:
    target: Target = KnnVc().aimed(corpus).targets()[0]
    assert len({target, dataclasses.replace(target)}) == 1
    own = RECORDINGS[f"{target.speaker}-1"]
    assert target.says(own)
    assert not target.says(own[:-1])
    assert not target.says(own[::-1])


def test_parameters_are_checked_without_the_heavy_imports() -> None:
    program = (
        "import sys; from harness.anonymizers.knn_vc import KnnVc; KnnVc(); "
        "print(sorted({'torch', 'pyworld', 'transformers', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
