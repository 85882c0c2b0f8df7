"""The fuzz targets hold on their own seeds; with atheris they go on from there."""

from __future__ import annotations

from types import ModuleType

import pytest

from . import fuzz_archive, fuzz_scores


@pytest.mark.parametrize("target", [fuzz_archive, fuzz_scores], ids=lambda t: t.__name__)
def test_seeds(target: ModuleType) -> None:
    seeds = list(target.seeds())
    assert len(seeds) > 20
    for seed in seeds:
        target.one_input(seed)
        target.one_input(seed[: len(seed) // 2])
