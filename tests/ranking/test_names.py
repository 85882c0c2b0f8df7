"""Spellings of one name."""

from __future__ import annotations

import pytest

from harness.ranking.names import folded


@pytest.mark.parametrize(
    "spelling",
    [
        "the fine team",
        "  The\tFINE\u3000team\n",
        # A ligature, full-width letters, and a letter with its accent apart.
        "The \ufb01ne Team",
        "\uff34\uff48\uff45 fine team",
    ],
)
def test_spellings_of_one_name(spelling: str) -> None:
    assert folded(spelling) == "the fine team"


def test_an_accent_apart_is_the_same_letter() -> None:
    assert folded("E\u0301quipe") == folded("\u00e9quipe") != folded("equipe")
