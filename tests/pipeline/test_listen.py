"""The page to listen to: which utterances, of which corpora, and one clear line where one lacks."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import scored_demo

from harness.corpora.store import Corpus, Made, Samples, Utterance, build
from harness.errors import ConfigError, DataError
from harness.pipeline.listen import MOST_SECONDS, Choice, page_of
from harness.reports.html.listen import render
from harness.reports.listening import Listening
from harness.runtime.pool import Pool

pytestmark = pytest.mark.heavy

FEMALE, MALE, ENROLLED = "demo_test_trials_f", "demo_test_trials_m", "demo_test_enrolls"
# Two speakers of each gender, two utterances each; another who only enrols.
NAMES = {
    "train": ["t1-1"],
    ENROLLED: ["e1-1", "e1-2"],
    FEMALE: ["f1-1", "f1-2", "f2-1", "f2-2"],
    MALE: ["m1-1", "m1-2", "m2-1", "m2-2"],
}
SHORT = 4_000


def pulses(hertz: float, samples: int = SHORT, peak: int = 12_000) -> Samples:
    """A voice without a mouth: a sum of ten harmonics."""
    time = np.arange(samples) / 16_000
    wave = sum(np.cos(2 * np.pi * hertz * number * time) for number in range(1, 11))
    return np.rint(wave / 10 * peak).astype(np.int16)


@dataclass(frozen=True)
class Fixed:
    """Gives the speech of its table, or a voice of that pitch."""

    hertz: float
    special: Mapping[str, Samples]
    note: str = ""

    def __call__(self, utterance: Utterance) -> Made:
        name = utterance.utterance
        extra = {"note": self.note} if self.note else {}
        return Made(self.special.get(name, pulses(self.hertz)), extra)


def store(folder: Path, make: Fixed, names: Mapping[str, list[str]] = NAMES) -> None:
    """All sets of the demo under a folder."""
    for dataset, utterances in names.items():
        rows = [
            Utterance(n, n[:2], "m" if n[0] == "m" else "f", f"TEXT OF {n}", SHORT, None)
            for n in utterances
        ]
        work = Path("work", dataset)
        build(folder / dataset, [rows], make, work=work, pool=Pool(1))


def make(
    original: Mapping[str, Samples] | None = None, b2: Mapping[str, Samples] | None = None
) -> None:
    """A repository in which the demo has voices of 150 Hz, b2 ones of 220 Hz, and b9 nothing."""
    scored_demo.parameters(systems=["orig", "b2", "b9"])
    store(Path("data/demo/corpus"), Fixed(150.0, original or {}))
    store(Path("data/demo/anonymized/b2"), Fixed(220.0, b2 or {}, note="clipped"))


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def names(page: Listening) -> list[str]:
    return [heard.utterance for heard in page.utterances]


def test_speech_is_that_of_the_corpora() -> None:
    make()
    page = page_of(None, ["b2"], Choice())
    assert (page.benchmark, page.systems) == ("demo", ("b2",))
    heard = page.utterances[0]
    assert (heard.utterance, heard.speaker, heard.gender) == ("f1-1", "f1", "f")
    assert (heard.dataset, heard.text) == (FEMALE, "TEXT OF f1-1")
    original, anonymized = heard.versions
    assert (original.name, anonymized.name) == ("original", "b2")
    assert np.array_equal(original.samples, pulses(150))
    assert np.array_equal(anonymized.samples, pulses(220))
    assert (original.note, anonymized.note) == ("", "clipped")
    for version, hertz in ((original, 150), (anonymized, 220)):
        assert version.seconds == 0.25
        assert len(version.f0) == 51
        assert np.median(version.f0[version.f0 > 0]) == pytest.approx(hertz, rel=0.01)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        # Different speakers first, in C order; women before men, as in the lists.
        (Choice(each=1), "f1-1 m1-1"),
        (Choice(), "f1-1 f2-1 m1-1 m2-1"),
        (Choice(each=3), "f1-1 f2-1 f1-2 m1-1 m2-1 m1-2"),
        (Choice(each=9), "f1-1 f2-1 f1-2 f2-2 m1-1 m2-1 m1-2 m2-2"),
        (Choice(dataset=MALE), "m1-1 m2-1"),
        (Choice(dataset=ENROLLED), "e1-1 e1-2"),
        (Choice(utterances=("m2-2", "t1-1", "m2-2", "e1-1")), "m2-2 t1-1 e1-1"),
        (Choice(utterances=("f2-2",), dataset=FEMALE), "f2-2"),
    ],
)
def test_which_utterances(choice: Choice, expected: str) -> None:
    make()
    assert names(page_of("demo", ["b2"], choice)) == expected.split()


def test_the_original_is_there_once() -> None:
    make()
    assert page_of("demo", ["orig", "b2", "b2"], Choice()).systems == ("b2",)
    (heard, *_) = page_of("demo", ["orig"], Choice()).utterances
    assert [version.name for version in heard.versions] == ["original"]


def test_sources_are_named_by_their_manifests() -> None:
    make()
    page = page_of("demo", ["b2"], Choice())
    assert [(one.name, one.dataset) for one in page.sources] == [
        ("original", FEMALE),
        ("b2", FEMALE),
        ("original", MALE),
        ("b2", MALE),
    ]
    manifest = Path("data/demo/anonymized/b2", FEMALE, "manifest.tsv").read_bytes()
    assert page.sources[1].sha256 == hashlib.sha256(manifest).hexdigest()
    assert page.sources[1].entry == "{alphas_from: seed, level: utterance, type: mcadams}"


def test_speech_of_every_kind() -> None:
    noise = np.random.default_rng(1).integers(-900, 900, 16_000).astype(np.int16)
    special = {
        "f1-1": np.zeros(16_000, dtype=np.int16),
        "f1-2": pulses(150, 160),
        "f2-1": noise,
        "f2-2": pulses(150, 960_000),
        "m1-1": pulses(150, 1),
    }
    make(original=special)
    page = page_of("demo", ["b2"], Choice(tuple(special), seconds=60))
    seconds = [heard.versions[0].seconds for heard in page.utterances]
    assert seconds == [1.0, 0.01, 1.0, 60.0, 1 / 16_000]
    silent, _, unvoiced, long, _ = (heard.versions[0] for heard in page.utterances)
    assert not silent.f0.any()
    assert np.mean(unvoiced.f0 > 0) < 0.5
    assert len(long.samples) == 960_000
    html = render(page)
    for text in ("silence", "60.00 s", "0.01 s"):
        assert text in html


def test_a_long_utterance_is_cut() -> None:
    make(original={"f1-1": pulses(150, 960_000)})
    (heard,) = page_of("demo", ["b2"], Choice(("f1-1",), seconds=1.5)).utterances
    original, other = heard.versions
    assert (len(original.samples), original.seconds, len(original.f0)) == (24_000, 60.0, 301)
    assert np.array_equal(original.samples, pulses(150, 960_000)[:24_000])
    assert len(other.samples) == SHORT


def test_the_same_page_each_time() -> None:
    make()
    pages = [render(page_of("demo", ["b2"], Choice())) for _ in range(2)]
    assert pages[0] == pages[1]


def test_a_page_of_the_default_length_is_a_few_megabytes() -> None:
    rng = np.random.default_rng(1)
    loud = rng.integers(-20_000, 20_000, 160_000).astype(np.int16)
    make(original=dict.fromkeys(("f1-1", "f2-1", "m1-1", "m2-1"), loud))
    page = page_of("demo", ["orig"], Choice())
    assert [len(heard.versions[0].samples) for heard in page.utterances] == [128_000] * 4
    # Noise, which no picture can shorten: less than 75 kB a second, of which 43 are the sound.
    assert len(render(page)) < 75_000 * 4 * 8


@pytest.mark.parametrize(
    ("systems", "choice", "said"),
    [
        (["b3"], Choice(), "system 'b3' is not part of benchmark demo; known are: b2, b9, orig"),
        (["b2"], Choice(dataset="demo_test_trial_f"), "no set .*; did you mean 'demo_test_trials"),
        (["b2"], Choice(("f9-1",)), "data/demo/corpus: no utterance 'f9-1'; give a name"),
        (["b2"], Choice(("f1-1",), dataset=MALE), f"corpus/{MALE}: no utterance 'f1-1'"),
        (["b2"], Choice(each=0), "0 utterances of 8 s make no page"),
        (["b2"], Choice(seconds=0), "2 utterances of 0 s make no page"),
        (["b2"], Choice(seconds=float("nan")), "2 utterances of nan s make no page"),
        (["b2"], Choice(seconds=float("inf")), "up to inf s of sound, more than the 600"),
        (["b2"], Choice(seconds=MOST_SECONDS / 8 + 1), "up to 608 s of sound, more than the 600"),
    ],
)
def test_what_cannot_be(systems: list[str], choice: Choice, said: str) -> None:
    make()
    with pytest.raises(ConfigError, match=said):
        page_of("demo", systems, choice)


def test_a_benchmark_that_is_not_there() -> None:
    make()
    with pytest.raises(ConfigError, match="no benchmark 'dem'; did you mean 'demo'"):
        page_of("dem", ["b2"], Choice())


def test_speech_that_was_not_made() -> None:
    make()
    command = "run `dvc repro`, or `harness stage anonymize demo b9`"
    with pytest.raises(DataError, match=f"data/demo/anonymized/b9: not made yet; {command}"):
        page_of("demo", ["b2", "b9"], Choice())
    scored_demo.parameters()
    Path("data/demo/corpus").rename("elsewhere")
    with pytest.raises(
        DataError, match="demo/corpus: not made yet; .* `harness stage corpus demo`"
    ):
        page_of("demo", ["b2"], Choice())


def test_an_utterance_that_a_system_lacks() -> None:
    make()
    store(
        Path("data/demo/anonymized/b9"), Fixed(300.0, {}), {**NAMES, MALE: ["m1-1", "m1-2", "m2-2"]}
    )
    assert len(Corpus(Path("data/demo/anonymized/b9", MALE))) == 3
    with pytest.raises(DataError, match=f"anonymized/b9/{MALE}: utterance m2-1 is missing"):
        page_of("demo", ["b9"], Choice())
    assert names(page_of("demo", ["b9"], Choice(each=1))) == ["f1-1", "m1-1"]


def test_without_pyworld(monkeypatch: pytest.MonkeyPatch) -> None:
    make()
    # Python takes it for a module that is not there.
    monkeypatch.setitem(sys.modules, "pyworld", None)
    with pytest.raises(ConfigError, match="the module pyworld is not installed; pip install"):
        page_of("demo", ["b2"], Choice())
