"""Anonymizers are found by name through entry points, those of strangers too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.anonymizers.base import Anonymizer, Job, load
from harness.anonymizers.mcadams import McAdams
from harness.anonymizers.original import Original
from harness.errors import ConfigError

PLUGIN = """
from dataclasses import dataclass
from typing import ClassVar

@dataclass(frozen=True)
class Reverse:
    name: ClassVar[str] = "reverse"
    level: str = "utterance"
    gain: float = 1.0

    def alphas(self, sources, seeds):
        return [None] * len(sources)

    def anonymize(self, samples, job):
        return (samples[::-1] * self.gain).astype(samples.dtype)

@dataclass(frozen=True)
class Silent:
    level: str = "utterance"

class Plain:
    name = "plain"
    level = "utterance"
    def alphas(self, sources, seeds): ...
    def anonymize(self, samples, job): ...

def function(samples): ...
"""
ENTRY_POINTS = """
[harness.anonymizers]
reverse = backwards_plugin:Reverse
silent = backwards_plugin:Silent
plain = backwards_plugin:Plain
function = backwards_plugin:function
absent = backwards_plugin:Absent
needy = a_module_that_is_not_installed:X
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's installed distribution that registers anonymizers."""
    (tmp_path / "backwards_plugin.py").write_text(PLUGIN)
    info = tmp_path / "backwards-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: backwards\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"type": "original"}, Original()),
        ({"type": "mcadams", "level": "speaker", "alpha_min": 0.6}, McAdams("speaker", 0.6)),
    ],
)
def test_own_anonymizers(entry: dict[str, Any], expected: Anonymizer) -> None:
    assert load("b2", entry) == expected
    assert isinstance(load("b2", entry), Anonymizer)


def test_strangers_anonymizer_is_found_by_name(plugin: None) -> None:
    found = load("mine", {"type": "reverse", "gain": 2})
    samples = found.anonymize(np.array([1, 2, 3], dtype=np.int16), Job("u0000", 1))
    assert samples.tolist() == [6, 4, 2]
    assert load("b2", {"type": "original"}) == Original()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"type": "mcadam"},
            r"^params\.yaml: anonymizers\.b2: unknown anonymizer type 'mcadam'; did you mean",
        ),
        (
            {},
            r"unknown anonymizer type ''; known are: admixture, asr-tts, formant-pitch, image, "
            r"imported, knn-vc, mcadams, original, pitch-smoothing$",
        ),
        (
            {"type": "mcadams", "alpha_mim": 0.5},
            r"params\.yaml: anonymizers\.b2: unknown name 'alpha_mim'; did you mean 'alpha_min'",
        ),
        (
            {"type": "original", "alpha": 1},
            "anonymizers.b2: unknown name 'alpha'; known are: level",
        ),
        (
            {"type": "mcadams", "level": "speeker"},
            r"anonymizers\.b2\.level: 'speeker' is not possible; use one of 'utterance', 'speaker'",
        ),
        ({"type": "mcadams", "lp_order": 2.5}, r"anonymizers\.b2\.lp_order: expected int"),
        ({"type": "mcadams", "alpha_min": 2.0}, r"alpha_min 2\.0 is above alpha_max 0\.9"),
    ],
)
def test_mistake_is_named(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load("b2", entry)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("silent", r"x: backwards_plugin:Silent is no anonymizer; make it a frozen dataclass with"),
        ("plain", "backwards_plugin:Plain is no anonymizer"),
        ("function", "backwards_plugin:function is no anonymizer"),
        ("absent", r"backwards_plugin:Absent cannot be imported \(.*'Absent'\); install what it"),
        ("needy", r"cannot be imported \(No module named 'a_module_that_is_not_installed'\)"),
    ],
)
def test_registered_class_that_is_of_no_use(plugin: None, name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load("x", {"type": name})
