"""What is written for an attacker is read as it was; what an attacker writes is read strictly."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.attackers.base import Pair
from harness.contracts.attacker import tiny
from harness.contracts.attacker.exchange import (
    read_scores,
    read_task,
    read_training,
    write_scores,
    write_scoring,
    write_training,
)
from harness.contracts.inputs import Circumstances, read_circumstances, read_parameters
from harness.contracts.wav import read_wav
from harness.errors import ConfigError, DataError, ListError, ScoreError

PAIRS = [Pair("s1", "t1"), Pair("s1", "t2"), Pair("s2", "t1")]
CIRCUMSTANCES = Circumstances(threads=3, device="cuda", seed=(1 << 63) - 1, system="T8-5")
HEADER = "enrolment\ttrial\tscore\n"
WHOLE = f"{HEADER}s1\tt1\t1\ns1\tt2\t2\ns2\tt1\t3\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "trained"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "weights").write_bytes(b"\0\1")
    (folder / "name").write_text("m", encoding="utf-8")
    return folder


def written(folder: Path, model: Path | None) -> dict[str, Path]:
    asked = tiny.scoring()
    return write_scoring(
        folder, model, asked.sounds, asked.enrolments, asked.pairs, {"a": [1, 2.5]}, CIRCUMSTANCES
    )


def test_what_is_trained_on_is_read_as_it_was_written(tmp_path: Path) -> None:
    sounds, speakers = tiny.training()
    mounts = write_training(tmp_path, sounds, speakers, {"epochs": 1}, CIRCUMSTANCES)
    assert mounts == {name: tmp_path / name for name in ("train", "params.json", "run.json")}
    places = read_training(tmp_path)
    assert {place.utterance: place.speaker for place in places} == speakers
    for place in places:
        assert np.array_equal(read_wav(place.path), sounds[place.utterance].samples)
    assert read_parameters(tmp_path / "params.json") == {"epochs": 1}
    assert read_circumstances(tmp_path / "run.json") == CIRCUMSTANCES


def test_what_is_scored_is_read_as_it_was_written(tmp_path: Path, model: Path) -> None:
    asked = tiny.scoring()
    mounts = written(tmp_path / "in", model)
    assert set(mounts) == {
        *("model", "enrolments", "trials", "pairs.tsv", "params.json", "run.json"),
    }
    task = read_task(tmp_path / "in")
    assert (task.enrolments, task.pairs) == (asked.enrolments, asked.pairs)
    for name, sound in asked.sounds.items():
        assert np.array_equal(read_wav(task.places[name].path), sound.samples)
    assert (mounts["model"] / "below" / "weights").read_bytes() == b"\0\1"
    trials = (tmp_path / "in" / "trials" / "manifest.tsv").read_text(encoding="utf-8")
    assert trials.splitlines()[0] == "utterance\tpath"
    assert "model" not in written(tmp_path / "untrained", None)


def test_no_time_and_no_mode_tells_one_file_from_another(tmp_path: Path, model: Path) -> None:
    (model / "name").chmod(0o600)
    for path in written(tmp_path / "in", model).values():
        for one in (path, *path.rglob("*")):
            found = one.stat()
            assert found.st_mtime == 0, one
            assert found.st_mode & 0o777 == (0o755 if one.is_dir() else 0o644), one


def test_only_speech_of_the_pairs_is_given(tmp_path: Path) -> None:
    one = tiny.scoring().pairs[0]
    alone = tiny.scoring().only(lambda pair: pair == one)
    write_scoring(tmp_path, None, alone.sounds, alone.enrolments, alone.pairs, {}, Circumstances())
    audio = [path.stem for path in tmp_path.rglob("*.wav")]
    assert sorted(audio) == sorted([*alone.enrolments[one.enrolment], one.trial])


def test_nothing_is_followed_out_of_a_model(tmp_path: Path, model: Path) -> None:
    (model / "link").symlink_to("/etc/passwd")
    with pytest.raises(DataError, match="link: neither a file nor a folder"):
        written(tmp_path / "in", model)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("enrolment\ttrial\ns0000\tt0000\ns0009\tt0000\n", "tsv:3: no speech of s0009 or t0000"),
        ("enrolment\ttrial\ns0000\te0000\n", "tsv:2: no speech of s0000 or e0000"),
        ("enrolment\ttrial\ns0000\t../t0000\n", "tsv:2: '../t0000' is no opaque name"),
        ("enrolment\ttrial\n", "has no row"),
        ("trial\ns0000\n", "has no column enrolment"),
        ("enrolment\ttrial\ttrial\ns0000\tt0000\tt0001\n", "a column stands twice"),
    ],
)
def test_malformed_pairs_are_refused(text: str, said: str, tmp_path: Path) -> None:
    written(tmp_path, None)
    (tmp_path / "pairs.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(ListError, match=said):
        read_task(tmp_path)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    scores=st.lists(
        st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=30
    ),
    order=st.randoms(use_true_random=False),
)
def test_scores_come_back_bit_for_bit_in_any_order(
    scores: list[float], order: random.Random, tmp_path: Path
) -> None:
    pairs = [Pair(f"s{number % 3}", f"t{number}") for number in range(len(scores))]
    shuffled = list(zip(pairs, np.array(scores, np.float32), strict=True))
    order.shuffle(shuffled)
    path = tmp_path / "scores.tsv"
    write_scores(path, [pair for pair, _ in shuffled], np.array([score for _, score in shuffled]))
    assert read_scores(path, pairs).tobytes() == np.array(scores, np.float32).tobytes()


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        "note\tscore\ttrial\tenrolment\n-\t2\tt2\ts1\n-\t3.0\tt1\ts2\n-\t1e0\tt1\ts1",
        WHOLE.replace("\n", "\r\n"),
    ],
)
def test_scores_in_any_order(text: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text(text, encoding="utf-8", newline="")
    assert read_scores(path, PAIRS).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "scores.tsv: has no column enrolment, trial, score"),
        (HEADER, "scores.tsv: has no row"),
        ("enrolment\ttrial\ns1\tt1\n", "scores.tsv: has no column score"),
        (WHOLE.replace("enrolment", "score"), "scores.tsv: has no column enrolment"),
        (WHOLE.replace("\tscore", "\tscore\tscore"), "scores.tsv: a column stands twice"),
        (WHOLE.replace("s1\tt2\t2\n", ""), "scores.tsv: 1 of 3 pairs have no score"),
        (WHOLE + "s1\tt1\t1\n", "scores.tsv:5: s1 t1 stands twice"),
        (WHOLE + "s2\tt2\t1\n", "scores.tsv:5: a pair that was not asked for"),
        (WHOLE.replace("s2\tt1", "t1\ts2"), "scores.tsv:4: a pair that was not asked for"),
        (WHOLE.replace("t2\t2", "t2"), "scores.tsv:3: 2 fields under 3 columns"),
        (WHOLE.replace("t2\t2", "t2\t2\t2"), "scores.tsv:3: 4 fields under 3 columns"),
        (WHOLE.replace("s1\tt2", "s1 t2"), "scores.tsv:3: 2 fields under 3 columns"),
        (WHOLE.replace("\n", "\n\n"), "scores.tsv:2: 1 fields under 3 columns"),
        *(
            (WHOLE.replace("t2\t2", f"t2\t{score}"), "scores.tsv:3: a score is no finite number")
            for score in ("", "nan", "inf", "-Infinity", "1e39", "1_0", "0x1", "x", "1,5", "٣")
        ),
        (WHOLE.replace("t2\t2", "t2\t" + "1" * 2000), "scores.tsv: too large for 3 pairs"),
        (WHOLE.replace("s1\tt2", "s1\udcff\tt2"), "scores.tsv: cannot be read as text"),
    ],
)
def test_malformed_scores_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ScoreError, match=f"^{said}"):
        read_scores(path, PAIRS)


def test_scores_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "scores.tsv").mkdir()
    with pytest.raises(ScoreError, match=r"^scores\.tsv: there is no such file"):
        read_scores(tmp_path / "scores.tsv", PAIRS)


def test_circumstances_of_a_later_harness_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"threads": 4, "weather": "rain"}', encoding="utf-8")
    assert read_circumstances(path) == Circumstances(threads=4)
    assert read_circumstances(tmp_path / "absent") == Circumstances()
    path.write_text('{"device": "tpu"}', encoding="utf-8")
    with pytest.raises(ConfigError, match="'tpu' is not possible"):
        read_circumstances(path)
