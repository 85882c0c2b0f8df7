from __future__ import annotations

from pathlib import Path

import pytest

from harness.attackers.base import Attacker, load
from harness.errors import ConfigError

PLUGIN = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Deaf:
    size: int = 3
    def train(self, speech, model, *, seed, work, machine, events): ...
    def score(self, model, speech, enrolments, pairs, *, machine, events): ...
@dataclass(frozen=True)
class Silent:
    def train(self, speech, model, *, seed, work, machine, events): ...
"""
ENTRY_POINTS = """
[harness.attackers]
deaf = deaf_plugin:Deaf
silent = deaf_plugin:Silent
needy = a_module_that_is_not_installed:X
"""


@pytest.fixture(autouse=True)
def _plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's installed distribution that registers attackers."""
    (tmp_path / "deaf_plugin.py").write_text(PLUGIN)
    info = tmp_path / "deaf-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: deaf\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)


def test_a_strangers_attacker_is_found_by_name() -> None:
    found = load("mine", {"type": "deaf", "size": 5})
    assert isinstance(found, Attacker)
    assert repr(found) == "Deaf(size=5)"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"type": "daef"}, r"^params\.yaml: attackers\.x: unknown attacker type 'daef'; did you"),
        ({"type": "deaf", "sice": 1}, r"attackers\.x: unknown name 'sice'; did you mean 'size'"),
        ({"type": "silent"}, r"deaf_plugin:Silent is no attacker; make it a frozen dataclass with"),
        ({"type": "needy"}, r"cannot be imported \(No module named 'a_module_that_is_not_in"),
    ],
)
def test_mistake_is_named(entry: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load("x", entry)
