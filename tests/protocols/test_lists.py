"""Trial lists: the official ones come out byte for byte, and nothing malformed goes in."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from harness.errors import DataError, ListError
from harness.protocols.lists import Trial, cross_product, read_trials, require, sha256_text, to_text
from harness.protocols.protocol import TrialList, load

# sha256 of the official files.
OFFICIAL = {
    "libri_dev_trials_f": "898c53ef8b2661cf44a6698e3823170d9a40503714d820e06e1ecb37fe660f8f",
    "libri_dev_trials_m": "1b9cee038935497831a7851bf8ea9c0394287112a82861bf055e48a48963693e",
    "libri_test_trials_f": "9e4042b057124c588b01f116caa5c01768156de8e603c05da8dc26b73c1a7637",
    "libri_test_trials_m": "dde784ccca67b484fc46911fee53c99047f9848e354d5684d4b12d873eb391f1",
}
SMALL = "1272 1272-1-0000 target\n1272 84-1-0000 nontarget\n"
SMALL_TRIALS = [Trial("1272", "1272-1-0000", True), Trial("1272", "84-1-0000", False)]


def columns(path: Path) -> dict[str, str]:
    return dict(line.split() for line in path.read_text().splitlines())


def test_cross_product_is_in_c_order() -> None:
    # `Z` sorts before `a` and `é` last by bytes; a locale would put them elsewhere.
    trials = cross_product({"é", "a", "Z"}, {"a-2": "a", "Z-1": "Z", "b-1": "b"})
    assert to_text(trials) == (
        "Z Z-1 target\nZ a-2 nontarget\nZ b-1 nontarget\n"
        "a Z-1 nontarget\na a-2 target\na b-1 nontarget\n"
        "é Z-1 nontarget\né a-2 nontarget\né b-1 nontarget\n"
    )


@pytest.mark.parametrize("name", OFFICIAL)
def test_official_lists_byte_for_byte(test_data: Path, name: str) -> None:
    split, gender = name.split("_")[1], name[-1]
    lists = test_data / "vpc-lists"
    enrolments = lists / f"libri_{split}_enrolls"
    speakers = columns(enrolments / "utt2spk")
    genders = columns(enrolments / "spk2gender")
    enrolled = {
        speakers[utterance]
        for utterance in (enrolments / "enrolls").read_text().splitlines()
        if genders[speakers[utterance]] == gender
    }
    text = to_text(cross_product(enrolled, columns(lists / name / "utt2spk")))
    official = (lists / name / "trials").read_bytes()
    assert text.encode() == official
    assert hashlib.sha256(official).hexdigest() == OFFICIAL[name]
    assert to_text(read_trials(lists / name / "trials")).encode() == official


def test_protocol_has_the_official_hashes() -> None:
    assert {listed.trials: listed.sha256 for listed in load("vpac2025").lists} == OFFICIAL


def test_read(tmp_path: Path) -> None:
    path = tmp_path / "trials"
    path.write_text(SMALL)
    assert read_trials(path) == SMALL_TRIALS
    path.write_text(SMALL.removesuffix("\n"))
    assert read_trials(path) == SMALL_TRIALS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"trials:1: expected `speaker utterance target\|nontarget`, found ''"),
        (SMALL.encode() + b"\n", "trials:3: expected .*, found ''"),
        (b"1272 1272-1-0000 target\r\n", r"trials:1: expected .*, found '.* target\\r'"),
        (b"1272  1272-1-0000 target\n", "trials:1: expected"),
        (b"1272 1272-1-0000 Target\n", "trials:1: expected"),
        (b"1272 1272-1-0000\n", "trials:1: expected"),
        (b" 1272-1-0000 target\n", "trials:1: expected"),
        (b"1272 1272-1-0000 target x\n", "trials:1: expected"),
        (b"1272\t1272-1-0000\ttarget\n", "trials:1: expected"),
        (SMALL.encode() + b"1272 84-1-0000 target\n", "trials:3: the pair 1272 84-1-0000 stands"),
        (b"1272 \xff target\n", "trials: not UTF-8"),
    ],
)
def test_malformed_list_is_named_by_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "trials"
    path.write_bytes(content)
    with pytest.raises(ListError, match=message):
        read_trials(path)


def test_missing_list(tmp_path: Path) -> None:
    with pytest.raises(ListError, match="none: no such trial list"):
        read_trials(tmp_path / "none")


def small_list(target: int = 1, nontarget: int = 1, text: str = SMALL) -> TrialList:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return TrialList("trials_f", "enrolls", "libri", "dev", "f", target, nontarget, sha256)


def test_require_returns_the_text() -> None:
    assert require(small_list(), SMALL_TRIALS) == SMALL
    assert sha256_text("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_require_shows_what_differs_side_by_side() -> None:
    with pytest.raises(DataError, match=r"trials_f: .*: target 1 \(expected 2\); use the official"):
        require(small_list(target=2), SMALL_TRIALS)
    with pytest.raises(DataError, match=r"nontarget 1 \(expected 5\), sha256 \w{64} \(expected"):
        require(small_list(nontarget=5, text="other"), SMALL_TRIALS)
