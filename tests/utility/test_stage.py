"""From two corpora to values: who is compared, what a kill costs, what cannot change a result."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harness.corpora.store import Corpus
from harness.errors import AudioError, DataError, IntegrityError
from harness.protocols.values import Value
from harness.runtime.events import Event, Events
from harness.runtime.pool import Pool
from harness.utility import stage
from harness.utility.stage import Part, evaluate, kept_folder, pairs
from utility.counting import Counting, measured, processes
from utility.sets import Said, stored

NAMES = tuple(f"u{number}" for number in range(8))


def loudest(peak: int) -> np.ndarray:
    return np.array([0, peak, -peak, 3], dtype=np.int16)


def spoken(names: Sequence[str] = NAMES, peak: int = 300) -> dict[str, Said]:
    """Women and men in turn; the n-th is n louder than the first."""
    return {
        name: Said(loudest(peak + n), f"s{n % 2}", "fm"[n % 2], f"TEXT {name}")
        for n, name in enumerate(names)
    }


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stage, "code_fingerprint", lambda: "of this code")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "book"


def part(names: Sequence[str] = NAMES, name: str = "set", peak: int = 100) -> Part:
    """The names before and after anonymization, which makes them softer."""
    stored(Path("original", name), spoken(names))
    stored(Path("anonymized", name), spoken(names, peak))
    return Part("libri", "test", Path("original", name), Path("anonymized", name))


def run(
    book: Path,
    *parts: Part,
    workers: int = 1,
    times: int = 1,
    heard: list[Event] | None = None,
) -> tuple[pd.DataFrame, list[Value]]:
    events = Events(*([] if heard is None else [heard.append]))
    evaluator = Counting(str(book), times)
    with Pool(workers) as pool:
        found = evaluate(evaluator, parts, system="b2", name="loud", pool=pool, events=events)
    # As who has stored the values does.
    shutil.rmtree(kept_folder(evaluator, parts, "b2", "loud"))
    return found


def levels(names: Sequence[str]) -> list[float]:
    return [(100 + n) / (300 + n) for n in range(len(names))]


def stop_at(book: Path, *names: str) -> None:
    Path(f"{book}.stop").write_text(" ".join(names), encoding="utf-8")


def left_over() -> list[Path]:
    return [path for path in Path().glob(".work/**/*") if path.is_file()]


# Pairs


def labelled(names: Mapping[str, str]) -> dict[str, Said]:
    return {
        name: replace(one, labels={"emotion": names[name], "fold": "03"})
        for name, one in spoken(list(names)).items()
    }


def test_a_pair_is_what_the_original_says_of_it() -> None:
    original = stored(Path("original"), labelled({"B": "sad", "a": "angry", "é": "sad"}))
    # Who speaks and what, is a matter of the original.
    other = {name: Said(loudest(5), "x", "f", "OTHER") for name in ("B", "a", "é")}
    anonymized = stored(Path("anonymized"), other)
    found = pairs(original, anonymized)
    assert [
        (one.utterance, one.speaker, one.gender, one.text, one.labels["emotion"]) for one in found
    ] == [
        ("B", "s0", "f", "TEXT B", "sad"),
        ("a", "s1", "m", "TEXT a", "angry"),
        ("é", "s0", "f", "TEXT é", "sad"),
    ]
    assert {tuple(one.labels) for one in found} == {("emotion", "fold")}
    assert {one.labels["fold"] for one in found} == {"03"}
    for n, one in enumerate(found):
        np.testing.assert_array_equal(one.original.read(), loudest(300 + n))
        np.testing.assert_array_equal(one.anonymized.read(), loudest(5))
        assert one.original.samples == 4


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (NAMES[:7], r"1 utterances are not in both it and original: u7; anonymize the set again"),
        ((*NAMES, "z"), r"1 utterances are not in both it and original: z; anonymize the set"),
        (("u0", "z"), r"8 utterances are not in both it and original: u1, u2, u3; anonymize"),
    ],
)
def test_sets_that_differ_are_told_in_one_line(there: Sequence[str], said: str) -> None:
    original, anonymized = stored(Path("original"), spoken()), spoken(there)
    with pytest.raises(DataError, match=f"^anonymized: {said}") as told:
        pairs(original, stored(Path("anonymized"), anonymized))
    assert "\n" not in str(told.value)


# Values and table


def test_values_and_table_by_hand(book: Path) -> None:
    names = ("a", "b", "c")
    table, values = run(book, part(names))
    assert table.to_csv(sep="\t", index=False) == (
        "dataset\tsplit\tutterance\tspeaker\ttext\tlevel\n"
        f"libri\ttest\ta\ts0\tTEXT a\t{100 / 300}\n"
        f"libri\ttest\tb\ts1\tTEXT b\t{101 / 301}\n"
        f"libri\ttest\tc\ts0\tTEXT c\t{102 / 302}\n"
    )
    women, man = 100 / 300 + 102 / 302, 101 / 301
    assert values == [
        Value("b2", "loud", "", "LEVEL", "libri", "test", "", 3, women + man, 0, 1),
        Value("b2", "loud", "", "LEVEL", "libri", "test", "f", 2, women, 0, 1),
        Value("b2", "loud", "", "LEVEL", "libri", "test", "m", 1, man, 0, 1),
    ]
    assert left_over() == []


def test_parts_of_a_data_set_and_split_are_measured_as_one(book: Path) -> None:
    women, men = part(("a", "b"), "women"), part(("c",), "men")
    other = replace(part(("d", "e"), "other"), split="dev")
    vctk = replace(part(("a",), "vctk"), dataset="vctk")
    table, values = run(book, women, other, men, vctk)
    assert table["utterance"].tolist() == ["a", "b", "c", "d", "e", "a"]
    assert [(one.dataset, one.split, one.gender, one.n) for one in values] == [
        ("libri", "test", "", 3),
        ("libri", "test", "f", 2),
        ("libri", "test", "m", 1),
        ("libri", "dev", "", 2),
        ("libri", "dev", "f", 1),
        ("libri", "dev", "m", 1),
        # One gender.
        ("vctk", "test", "", 1),
    ]


def test_original_speech_is_compared_with_itself(book: Path) -> None:
    one = part(("a", "b"))
    table, _ = run(book, replace(one, anonymized=one.original))
    assert table["level"].tolist() == [1.0, 1.0]


def test_progress_is_told(book: Path) -> None:
    heard: list[Event] = []
    run(book, part(("a", "b"), "one"), part(("c",), "two"), heard=heard)
    assert [(one["done"], one["total"]) for one in heard] == [(1, 3), (2, 3), (3, 3)]
    assert {one["task"] for one in heard} == {"loud b2"}


def test_warnings_are_told_with_the_set(book: Path) -> None:
    quiet = spoken(("a", "b"))
    quiet["b"] = replace(quiet["b"], text="quiet")
    one = part(("a", "b"))
    stored(one.original, quiet)
    heard: list[Event] = []
    run(book, one, heard=heard)
    assert [event["message"] for event in heard if event["event"] == "warning"] == [
        "loud b2: libri test: b is quiet"
    ]


# What a kill costs


def test_what_was_measured_before_a_kill_is_kept(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "KEPT_AT_ONCE", 3)
    parts = part(), part(("a", "b"), "other")
    stop_at(book, "u7")
    with pytest.raises(AudioError, match="utterance u7"):
        run(book, *parts)
    assert measured(book) == list(NAMES)
    # Two blocks of three are whole.
    Path(f"{book}.stop").unlink()
    table, values = run(book, *parts)
    assert measured(book)[8:] == ["u6", "u7", "a", "b"]
    assert table["level"].tolist() == levels(NAMES) + levels("ab")
    assert left_over() == []
    # Nothing is left: all is measured anew, and it is the same to the last digit.
    whole, others = run(book, *parts)
    assert measured(book)[12:] == [*NAMES, "a", "b"]
    pd.testing.assert_frame_equal(table, whole, check_exact=True)
    assert values == others


def test_a_set_that_was_measured_is_not_again(book: Path) -> None:
    parts = part(("a", "b"), "one"), part(("c", "d"), "two")
    stop_at(book, "c")
    with pytest.raises(AudioError, match="utterance c"):
        run(book, *parts)
    Path(f"{book}.stop").unlink()
    run(book, *parts)
    assert measured(book) == ["a", "b", "c", "c", "d"]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 7])
def test_blocks_end_where_utterances_do(
    book: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(stage, "KEPT_AT_ONCE", 3)
    names = NAMES[:count]
    table, _ = run(book, part(names))
    assert measured(book) == table["utterance"].tolist() == list(names)
    assert table["level"].tolist() == levels(names)


def test_other_parameters_speech_or_code_void_what_was_kept(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "KEPT_AT_ONCE", 1)
    whole = part(("a", "b"))
    stop_at(book, "b")

    def stopped(times: int = 1) -> list[str]:
        """What is measured until the stop."""
        before = len(measured(book))
        with pytest.raises(AudioError, match="utterance b"):
            run(book, whole, times=times)
        return measured(book)[before:]

    assert stopped() == ["a", "b"]
    assert stopped() == ["b"]
    assert stopped(times=2) == ["a", "b"]
    stored(whole.anonymized, spoken(("a", "b"), peak=50))
    assert stopped() == ["a", "b"]
    monkeypatch.setattr(stage, "code_fingerprint", lambda: "of other code")
    assert stopped() == ["a", "b"]
    Path(f"{book}.stop").unlink()
    table, _ = run(book, whole, times=2)
    assert table["level"].tolist() == [2 * 50 / 300, 2 * 51 / 301]


# What cannot change a result


def test_the_number_of_workers_changes_nothing(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "KEPT_AT_ONCE", 5)
    one = part()
    table, values = run(book, one)
    assert len(processes(book)) == 1
    others, same = run(book, one, workers=2)
    # Two did it, neither of them this one.
    assert len(processes(book)) == 3
    pd.testing.assert_frame_equal(table, others, check_exact=True)
    assert values == same
    assert sorted(measured(book)[8:]) == sorted(NAMES)


# Errors


def test_an_error_names_the_utterance(book: Path) -> None:
    stop_at(book, "b")
    with pytest.raises(AudioError, match=r"^utterance b: cannot be heard; speak up$"):
        run(book, part(("a", "b", "c")))


def test_an_error_of_a_worker_does_too(book: Path) -> None:
    stop_at(book, "b")
    with pytest.raises(AudioError, match=r"^utterance b: cannot be heard; speak up$"):
        run(book, part(("a", "b", "c")), workers=2)


def test_an_error_with_a_place_keeps_it(book: Path) -> None:
    one = part(("a", "b"))
    (shard,) = one.anonymized.glob("*.tar")
    row = Corpus(one.anonymized).manifest.set_index("utterance").loc["b"]
    data = bytearray(shard.read_bytes())
    data[int(row["offset"] + row["nbytes"]) - 1] ^= 1
    shard.write_bytes(data)
    match = rf"^utterance b \(anonymized/set/{shard.name} at byte \d+\): stored audio differs"
    with pytest.raises(IntegrityError, match=match):
        run(book, one)


def test_sets_are_compared_before_anything_is_measured(book: Path) -> None:
    whole, lacking = part(("a", "b"), "whole"), part(("c", "d"), "lacking")
    stored(lacking.anonymized, spoken(("c",)))
    with pytest.raises(
        DataError, match=r"^anonymized/lacking: 1 utterances are not in both .*: d;"
    ):
        run(book, whole, lacking)
    assert measured(book) == []


def test_an_evaluator_that_refuses_a_group_leaves_its_measurements(book: Path) -> None:
    silent = spoken(("a", "b"))
    silent["b"] = replace(silent["b"], text="silent")
    one = part(("a", "b"))
    stored(one.original, silent)
    for _ in range(2):
        with pytest.raises(DataError, match="libri test: is silent; speak up"):
            run(book, one)
    assert measured(book) == ["a", "b"]


def test_a_corpus_that_is_not_there(book: Path) -> None:
    with pytest.raises(DataError, match=r"none/manifest\.tsv: no such manifest"):
        run(book, Part("libri", "test", Path("none"), Path("none")))
