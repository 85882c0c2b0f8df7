"""Seeds: a name gives a seed, and nothing else does."""

from __future__ import annotations

import hashlib

from harness.runtime.seeds import derived_seed


def test_definition() -> None:
    digest = hashlib.sha256(b"1986/train/103-1240-0000").hexdigest()
    assert derived_seed(1986, "train", "103-1240-0000") == int(digest[:16], 16) // 2


def test_range_and_spread() -> None:
    seeds = [derived_seed(1, name) for name in range(1000)]
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert len(set(seeds)) == 1000
    # Both halves of the range are used.
    assert 400 < sum(seed >= 2**62 for seed in seeds) < 600


def test_every_part_counts() -> None:
    assert derived_seed(1, "a", "b") != derived_seed(1, "b", "a")
    assert derived_seed(1) != derived_seed(1, "")
