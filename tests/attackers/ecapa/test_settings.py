"""Settings that would fail hours later are refused at once, by name and value."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from harness.attackers.ecapa.settings import RANGES, Settings
from harness.errors import ConfigError

NAN, INF = math.nan, math.inf


def test_official_recipe_and_smaller_ones_are_possible() -> None:
    Settings()
    Settings(channels=(8, 8, 8, 8, 24), crop_seconds=0.5, min_seconds=0.0, loudness=-23)
    Settings(channels=(16, 8, 8, 24), kernel_sizes=(5, 3, 3, 1), dilations=(1, 2, 3, 1))
    Settings(keep="best", min_lr=0.01, max_lr=0.01, margin=0, weight_decay=0.0, epochs=0)
    Settings(validation_fraction=0.0, batch_size=2, loader_workers=3)


def test_every_number_has_a_range() -> None:
    assert set(RANGES) == set(Settings.__dataclass_fields__) - {"keep"}


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("weight_decay", -1.0, "0 or more"),
        ("weight_decay", NAN, "0 or more"),
        ("min_lr", -1.0, "0 or more"),
        ("min_lr", 0.02, "at most max_lr, 0.01"),
        ("max_lr", 0.0, "a number above 0"),
        ("max_lr", INF, "a number above 0"),
        ("attention_channels", 0, "1 or more"),
        ("n_mels", 0, "1 or more"),
        ("embedding_dim", 0, "1 or more"),
        ("dilations", (1, 2, 0, 4, 1), "1 or more"),
        ("dilations", (1, 2, 3, 4), "give 5 values, one for each of channels"),
        ("kernel_sizes", (5, 3, 0, 3, 1), "1 or more"),
        ("kernel_sizes", (5, 3, 2, 3, 1), "odd numbers"),
        ("kernel_sizes", (5, 3, 3, 3, 1, 1), "give 5 values"),
        ("channels", (64, 64, 32, 64, 192), "one width between"),
        ("channels", (60, 64, 64, 64, 192), "multiples of 8"),
        ("channels", (0, 64, 64, 64, 192), "8 or more"),
        ("channels", (8, 8), "3 to 6 frame layers"),
        ("channels", (8,) * 7, "3 to 6 frame layers"),
        ("channels", (), "3 to 6 frame layers"),
        ("crop_seconds", NAN, "0.1 or more"),
        ("crop_seconds", INF, "0.1 or more"),
        ("crop_seconds", 0.05, "0.1 or more"),
        ("min_seconds", NAN, "0 or more"),
        ("min_seconds", -1.0, "0 or more"),
        ("batch_size", 1, "2 or more"),
        ("loudness", NAN, "-70 or more, at most 0"),
        ("loudness", -INF, "-70 or more, at most 0"),
        ("scale", 0.0, "a number above 0"),
        ("scale", -30.0, "a number above 0"),
        ("margin", -0.1, "0 or more, below 1.5708"),
        ("margin", math.pi / 2, "0 or more, below 1.5708"),
        ("loader_workers", -1, "0 or more"),
        ("validation_fraction", 1.0, "0 or more, below 1"),
        ("validation_fraction", -0.1, "0 or more, below 1"),
        ("epochs", -1, "0 or more"),
        ("step_size", 0, "1 or more"),
        ("checkpoint_steps", 0, "1 or more"),
    ],
)
def test_impossible_value_is_named(name: str, value: Any, fix: str) -> None:
    shown = re.escape(str(list(value)) if isinstance(value, tuple) else str(value))
    with pytest.raises(
        ConfigError, match=rf"^params\.yaml: attackers: {name} is {shown}; .*{re.escape(fix)}"
    ):
        Settings(**{name: value})


def test_best_epoch_needs_validation() -> None:
    with pytest.raises(ConfigError, match=r"keep is 'best', but validation_fraction is 0; hold"):
        Settings(keep="best", validation_fraction=0.0)


def test_crop_must_be_longer_than_the_layers_reach() -> None:
    with pytest.raises(ConfigError, match=r"crop_seconds is 0\.2; use more than .* 24 frames"):
        Settings(crop_seconds=0.2, dilations=(1, 2, 3, 24, 1))
