from __future__ import annotations

import random

import pytest

from harness.corpora.anonymized_swaps import swapped

# Durations in samples by utterance.
ORIGINALS = {"a": 10_000, "b": 20_000, "c": 30_000, "d": 40_000, "e": 50_000}
MORE = ORIGINALS | {"f": 60_000, "g": 70_000}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {}),
        # Two swapped, and each says whose it is.
        ({"a": 20_000, "b": 10_000}, {"a": "b", "b": "a"}),
        # The system drops its last 100 ms: what is swapped lost them too.
        ({n: s - 1_600 for n, s in (ORIGINALS | {"a": 20_000, "b": 10_000}).items()},
         {"a": "b", "b": "a"}),
        # All of them, moved on by one.
        (dict(zip("abcde", [20_000, 30_000, 40_000, 50_000, 10_000], strict=True)),
         {"a": "b", "b": "c", "c": "d", "d": "e", "e": "a"}),
        # Shortened, and as long as no other.
        ({"c": 25_000}, {}),
        # As long as another whose own file is in place: shortened, not swapped.
        ({"c": 20_000}, {}),
        # As long as another that is out of line too, which is not as long as this one.
        ({"c": 20_000, "b": 14_000}, {}),
        # A system that speaks at its own pace: durations tell nothing.
        ({"a": 14_000, "b": 13_000, "c": 52_000, "d": 30_000, "e": 41_000}, {}),
    ],
)  # fmt: skip
def test_swapped_by_duration(change: dict[str, int], expected: dict[str, str]) -> None:
    assert swapped(ORIGINALS | change, ORIGINALS) == expected


def test_three_in_a_cycle_beside_one_that_was_cut() -> None:
    # g was cut to the length of a's original, which is as if it had joined.
    lengths = MORE | {"a": 20_000, "b": 30_000, "c": 10_000, "g": 10_000}
    lengths |= {"h": 80_000, "i": 90_000}
    originals = MORE | {"h": 80_000, "i": 90_000}
    assert swapped(lengths, originals) == {"a": "b", "b": "c", "c": "a"}


def test_a_pair_among_many_that_were_cut_is_chance() -> None:
    originals = {f"{n:02}": 20_000 + 3_000 * n for n in range(21)}
    cut = {f"{n:02}": 12_000 + 500 * n for n in range(5)}
    lengths = originals | cut | {"10": originals["12"], "12": originals["10"]}
    assert swapped(lengths, originals) == {}
    lengths |= {name: originals[name] for name in ("00", "01", "02")}
    assert swapped(lengths, originals) == {"10": "12", "12": "10"}


@pytest.mark.parametrize("count", [40, 120, 400, 2_000])
@pytest.mark.parametrize("seed", range(5))
def test_a_system_with_its_own_pace_in_part_of_the_files(count: int, seed: int) -> None:
    # A bit more than half keep their durations of 2 to 16 s, the rest are up to 30 % off.
    draw = random.Random(seed)
    originals = {str(n): draw.randint(32_000, 256_000) for n in range(count)}
    lengths = {
        name: length if int(name) <= count // 2 else round(length * draw.uniform(0.7, 1.3))
        for name, length in originals.items()
    }
    assert swapped(lengths, originals) == {}


@pytest.mark.parametrize("seed", range(5))
def test_a_tenth_of_a_large_set_is_exchanged_in_pairs(seed: int) -> None:
    draw = random.Random(seed)
    originals = {str(n): draw.randint(32_000, 256_000) for n in range(1_000)}
    pairs = [(str(n), str(n + 50)) for n in range(50)]
    lengths = dict(originals)
    for one, other in pairs:
        lengths[one], lengths[other] = originals[other], originals[one]
    found = swapped(lengths, originals)
    # 40 ms or less apart is no difference: an expected 0.3 pairs of 50.
    assert len(found) >= 96
    assert all(abs(originals[other] - lengths[name]) <= 640 for name, other in found.items())
    assert set(found) <= {name for pair in pairs for name in pair}


def test_a_file_that_took_a_missing_ones_name_is_no_exchange() -> None:
    lengths = {name: length for name, length in ORIGINALS.items() if name != "e"}
    assert swapped(lengths | {"a": 50_000}, ORIGINALS) == {}


def test_no_file_is_not_swapped() -> None:
    assert swapped({}, ORIGINALS) == {}
