"""A level for each set, as in 2022: evaluation by speaker, training by utterance."""

from __future__ import annotations

from typing import Any

import pytest

from harness.anonymizers.base import load
from harness.anonymizers.mcadams import McAdams
from harness.anonymizers.original import Original
from harness.errors import ConfigError
from harness.protocols import protocol

LIKE_2022 = {"train": "utterance", "enrolment": "speaker-in-set", "trial": "speaker-in-set"}


def levels(level: Any, **parameters: Any) -> dict[str, str]:
    """Of each set of the demo."""
    entry = {"type": "mcadams", "level": level, **parameters}
    return {one.name: load("b2", entry, one).level for one in protocol.load("demo").sets}


def test_by_role() -> None:
    found = levels(LIKE_2022)
    assert found.pop("train") == "utterance"
    assert found == dict.fromkeys(found, "speaker-in-set")
    assert len(found) == 3


def test_a_set_of_its_own_name_wins() -> None:
    found = levels({**LIKE_2022, "demo_test_trials_f": "utterance"})
    assert [found[f"demo_test_trials_{gender}"] for gender in "fm"] == [
        "utterance",
        "speaker-in-set",
    ]


def test_one_level_is_that_of_all_sets() -> None:
    assert set(levels("speaker").values()) == {"speaker"}
    assert load("o", {"type": "original"}, protocol.load("demo").training_set()) == Original()


def test_the_other_parameters_stay() -> None:
    trained = protocol.load("demo").training_set()
    entry = {"type": "mcadams", "level": LIKE_2022, "alpha_max": 0.8}
    assert load("b2", entry, trained) == McAdams(alpha_max=0.8)
    assert entry["level"] == LIKE_2022


@pytest.mark.parametrize(
    ("level", "message"),
    [
        (
            {**LIKE_2022, "enrollment": "speaker"},
            r"anonymizers\.b2\.level: no role or set 'enrollment'; keys are roles "
            r"\(train, enrolment, trial\) or sets; did you mean 'enrolment'",
        ),
        (
            {"train": "utterance", "trial": "speaker"},
            "level: 'enrolment' has none; add `enrolment:`",
        ),
        ({}, "level: 'train' has none"),
        ({**LIKE_2022, "trial": "set"}, "'set'"),
        ({**LIKE_2022, "libri_dev_enrolls": "none"}, "'none'"),
    ],
)
def test_levels_are_checked_before_any_set_is_made(level: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load("b2", {"type": "mcadams", "level": level})


def test_levels_of_one_set_are_checked_whole() -> None:
    entry = {"type": "mcadams", "level": {"train": "utterance", "trial": "speaker"}}
    with pytest.raises(ConfigError, match="'enrolment' has none"):
        load("b2", entry, protocol.load("demo").sets[1])


def test_a_system_without_levels_takes_none() -> None:
    with pytest.raises(ConfigError, match="unknown name 'level'"):
        load("i", {"type": "imported", "folder": "x", "sha256": "0" * 64, "level": LIKE_2022})
