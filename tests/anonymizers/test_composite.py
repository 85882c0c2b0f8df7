"""Systems made of others: what a part makes of an utterance is what it would make of it alone."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.anonymizers.admixture import Admixture
from harness.anonymizers.base import (
    BatchAnonymizer,
    Composed,
    Job,
    Source,
    Targeted,
    aimed,
    batch_of,
    everything_of,
    load,
)
from harness.anonymizers.mcadams import McAdams
from harness.anonymizers.original import Original
from harness.contracts.anonymizer.image import ImageAnonymizer
from harness.corpora.opaque import Recording
from harness.corpora.store import Corpus, Made, Samples, Utterance, build
from harness.errors import ConfigError
from harness.runtime.events import Events
from harness.runtime.pool import Pool

pytestmark = pytest.mark.heavy

B2 = {"type": "mcadams"}
ORIGINAL = {"type": "original"}
IMAGE = {"type": "image", "image": f"sha256:{'0' * 64}"}


def mixed(p: float, **more: Any) -> Admixture:
    return Admixture(first=ORIGINAL, second=B2, p=p, **more)


def noise(seed: int = 0, length: int = 2_000) -> Samples:
    return np.random.default_rng(seed).integers(-9_000, 9_000, length).astype(np.int16)


def job(seed: int, alpha: float | None = 0.7) -> Job:
    return Job(f"u{seed:06d}", seed, alpha)


def second(system: Admixture, seed: int) -> bool:
    """Whether the second system made it: the first changes nothing."""
    return not np.array_equal(system.anonymize(noise(), job(seed)), noise())


def test_p_is_the_probability_of_the_second() -> None:
    # T8-5: ASR-TTS first, kNN-VC second, p = 0.4 "for the second method".
    assert Admixture(first=ORIGINAL, second=B2).p == 0.4
    share = np.mean([second(mixed(0.4), seed) for seed in range(400)])
    # Four standard deviations of a mean of 400.
    assert share == pytest.approx(0.4, abs=4 * (0.4 * 0.6 / 400) ** 0.5)
    assert not any(second(mixed(0), seed) for seed in range(20))
    assert all(second(mixed(1), seed) for seed in range(20))


def test_the_choice_follows_from_the_seed_alone() -> None:
    system = mixed(0.5)
    chosen = [second(system, seed) for seed in range(30)]
    assert [second(system, seed) for seed in reversed(range(30))] == chosen[::-1]
    assert [second(mixed(0.5, level="speaker"), seed) for seed in range(30)] == chosen
    # A larger p only adds to those of the second.
    assert all(
        b >= a for a, b in zip(chosen, [second(mixed(0.8), s) for s in range(30)], strict=True)
    )


def test_a_part_makes_what_it_would_make_alone() -> None:
    made = mixed(1).anonymize(noise(), job(5, 0.6))
    np.testing.assert_array_equal(made, McAdams().anonymize(noise(), job(5, 0.6)))


def test_coefficients_are_those_of_the_system_that_is_chosen() -> None:
    system, seeds = mixed(0.5), list(range(40))
    sources = [Source(f"a-{seed}", "a") for seed in seeds]
    drawn = system.alphas(sources, seeds)
    alone = McAdams().alphas(sources, seeds)
    for seed in seeds:
        assert drawn[seed] == (alone[seed] if second(system, seed) else None)
    assert {alpha is None for alpha in drawn} == {True, False}


def test_parts_have_the_level_of_the_whole() -> None:
    parts = mixed(0.5, level="speaker").parts
    assert parts == (Original(level="speaker"), McAdams(level="speaker"))
    with pytest.raises(
        ConfigError,
        match="^second: the level of a part is 'speaker', that of the whole 'ut",
    ):
        Admixture(first=ORIGINAL, second={**B2, "level": "speaker"})
    # Imported speech has none.
    entry = {"type": "imported", "folder": "x", "sha256": "0" * 64}
    assert Admixture(first=entry, second=B2, level="speaker").parts[0].level == "utterance"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"p": 1.1}, r"anonymizers\.x \(admixture\): p is 1.1; give a number from 0 to 1"),
        ({"p": float("nan")}, "p is nan"),
        (
            {"second": {"type": "mcadam"}},
            r"^params\.yaml: anonymizers\.x \(second\): unknown anonymizer type 'mcadam'; did",
        ),
        ({"first": {**B2, "alpha_min": 2.0}}, "alpha_min 2.0 is above"),
        (
            {"first": "b2"},
            r"anonymizers\.x \(first\): expected the entry of a system, found 'b2'; write `{type: ",
        ),
        ({"parts": []}, "unknown name 'parts'"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load("x", {"type": "admixture", "first": ORIGINAL, "second": B2, **parameters})


def test_a_part_deep_down_has_the_level_of_the_whole() -> None:
    inner = {"type": "pitch-smoothing", "system": {**B2, "level": "speaker"}}
    entry = {"type": "admixture", "level": "speaker", "first": inner, "second": ORIGINAL}
    levels = {part.level for part in everything_of(load("x", entry))}
    assert levels == {"speaker"}
    with pytest.raises(
        ConfigError, match=r"anonymizers\.x \(first \(system\)\): the level of a part"
    ):
        load("x", {**entry, "level": "utterance"})


def test_a_system_cannot_be_a_part_of_itself() -> None:
    entry: dict[str, Any] = {"type": "pitch-smoothing"}
    entry["system"] = entry
    with pytest.raises(ConfigError, match="a system is a part of itself"):
        load("x", entry)


def test_an_admixture_in_an_admixture_draws_by_itself() -> None:
    # Half of the utterances, and of the others a half each: 1/2, 1/4, 1/4.
    inner = {"type": "admixture", "p": 0.5, "first": B2, "second": {**B2, "lp_order": 10}}
    system = load("x", {"type": "admixture", "p": 0.5, "first": ORIGINAL, "second": inner})
    alone = [Original(), McAdams(), McAdams(lp_order=10)]
    counts = [0, 0, 0]
    for seed in range(400):
        made = system.anonymize(noise(), job(seed))
        counts[
            [np.array_equal(made, one.anonymize(noise(), job(seed))) for one in alone].index(True)
        ] += 1
    # Four standard deviations.
    assert counts == [pytest.approx(share * 400, abs=40) for share in (0.5, 0.25, 0.25)]


def test_a_parameter_of_a_part_moves_no_utterance() -> None:
    other = Admixture(first=ORIGINAL, second={**B2, "lp_order": 10}, p=0.5)
    assert [second(other, s) for s in range(30)] == [second(mixed(0.5), s) for s in range(30)]


def test_parts_are_found_at_any_depth() -> None:
    inner = {"type": "admixture", "first": IMAGE, "second": B2}
    system = load("x", {"type": "admixture", "first": ORIGINAL, "second": inner})
    assert isinstance(system, BatchAnonymizer)
    assert isinstance(system, Composed)
    found = [type(one) for one in everything_of(system)]
    assert found == [Admixture, Original, Admixture, ImageAnonymizer, McAdams]


class Aimed(Original):
    """Remembers its targets."""

    at: Path | None = None

    def aimed(self, targets: Path) -> Aimed:
        other = Aimed()
        object.__setattr__(other, "at", targets)
        return other


def test_targets_reach_the_parts_in_every_process(tmp_path: Path) -> None:
    plain, system = mixed(0.5), mixed(0.5)
    system._set_parts([Aimed(), McAdams()])
    assert isinstance(system, Targeted)
    there = pickle.loads(pickle.dumps(aimed(system, tmp_path)))
    assert there.parts[0].at == tmp_path
    assert there.parts[1] == McAdams()
    assert system.parts[0].at is None
    assert aimed(plain, tmp_path).parts == plain.parts
    assert aimed(Original(), tmp_path) == Original()


def make(utterance: Utterance) -> Made:
    return Made(noise(utterance.recipe))


def recordings(folder: Path) -> list[Recording]:
    """Six stored utterances."""
    names = [f"a-{seed}" for seed in range(6)]
    utterances = [Utterance(n, "a", "f", "", 2_000, seed) for seed, n in enumerate(names)]
    build(folder / "c", [utterances], make, work=folder / "work", pool=Pool(1))
    rows = Corpus(folder / "c").manifest.itertuples()
    return [
        Recording(folder / "c" / row.shard, row.offset, row.nbytes, row.sha256, row.samples)
        for row in rows
    ]


def test_what_takes_no_gpu_gets_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    @contextmanager
    def batch(self: Admixture, speech: Any, **more: Any) -> Iterator[dict[str, Any]]:
        given.append(more["device"])
        yield {}

    monkeypatch.setattr(McAdams, "batch", batch)
    for gpu in (True, False):
        monkeypatch.setattr(McAdams, "gpu", gpu)
        with batch_of(
            mixed(1), [(job(1), None)], work=tmp_path, threads=1, device="cuda", events=Events()
        ):
            pass
    # Without one it is given no batch at all: each utterance is left to who reads it.
    assert given == ["cuda"]


def test_a_batch_gives_what_single_utterances_give(tmp_path: Path) -> None:
    system = mixed(0.5)
    speech = [(job(seed), one) for seed, one in enumerate(recordings(tmp_path))]
    given: dict[str, Any] = {"threads": 1, "device": "cpu", "events": Events()}
    with batch_of(system, speech, work=tmp_path / "batch", **given) as made:
        read = pickle.loads(pickle.dumps(dict(made)))
        assert sorted(read) == [one.utterance for one, _ in speech]
        for one, recording in speech:
            alone = system.anonymize(recording.read(), one)
            np.testing.assert_array_equal(read[one.utterance](), alone)
