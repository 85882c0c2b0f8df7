"""Which files of imported speech were exchanged: told by durations alone.

Nothing is decoded, so nothing is told of files of one length, or where a system does not keep
durations.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from harness.corpora.store import SAMPLE_RATE

# What a duration may differ by in any case (clause A5 of docs/contracts.md).
DURATION_SAMPLES = SAMPLE_RATE // 10
# An analysis window: systems that keep durations differ by less, once a constant is taken off.
FIT_SAMPLES = SAMPLE_RATE // 50

Lengths = npt.NDArray[np.int64]
Unlike = npt.NDArray[np.bool_]


def swapped(lengths: Mapping[str, int], originals: Mapping[str, int]) -> dict[str, str]:
    """Utterances whose files were exchanged, each with the one whose original its file is like.

    lengths: of files, originals: of all originals, in samples. A system adds a constant (the
    median) and varies about it: durations are alike within six times what half of the files vary,
    at least two analysis windows. Exchanged are files unlike their own originals that are, in
    another order, like those originals: two of them, or a cycle. A system that keeps the durations
    of a part alone brings such pairs about by chance, so nothing is told unless the exchanged are
    half of the files that are unlike. Where half of the files vary by more than 33 ms, or the
    constant is above 0.1 s, nothing is told unless all of them are the originals in another order.
    """
    if not lengths:
        return {}
    change = {name: length - originals[name] for name, length in lengths.items()}
    centre = sorted(change.values())[(len(change) - 1) // 2]
    usual = sorted(abs(c - centre) for c in change.values())[(len(change) - 1) // 2]
    fit = max(FIT_SAMPLES, 3 * usual)
    names = list(lengths)
    given = np.array([lengths[name] for name in names], dtype=np.int64)
    own = np.array([originals[name] for name in names], dtype=np.int64)
    whole = max(fit, abs(centre)) > DURATION_SAMPLES
    if whole:
        if not _alike(given, own, FIT_SAMPLES):
            return {}
        centre, fit = 0, FIT_SAMPLES
    given, alike = given - centre, 2 * fit
    unlike = np.abs(given - own) > alike
    left = unlike if whole else _exchanged(given, own, unlike, alike)
    places = np.flatnonzero(left)[np.argsort(own[left], kind="stable")]
    nearest = places[_nearest(own[places], given[left])]
    return {
        names[one]: names[other]
        for one, other in zip(np.flatnonzero(left), nearest, strict=True)
        if abs(own[other] - given[one]) <= alike
    }


def _exchanged(given: Lengths, own: Lengths, unlike: Unlike, alike: int) -> Unlike:
    """Of files unlike their own originals, those that are these originals in another order.

    Taken away, again and again: a file like none of the originals that are left, and one whose
    original is like none of the files that are left. None is left where the rest is no order of
    its originals, or fewer than half.
    """
    left = unlike
    while left.any():
        files, places = np.sort(given[left]), np.sort(own[left])
        stays = left & (np.abs(places[_nearest(places, given)] - given) <= alike)
        stays &= np.abs(files[_nearest(files, own)] - own) <= alike
        if stays.sum() == left.sum():
            break
        left = stays
    if 2 * left.sum() < unlike.sum() or not _alike(given[left], own[left], alike):
        return np.zeros_like(left)
    return left


def _nearest(places: Lengths, values: Lengths) -> Lengths:
    """Where in sorted `places` the nearest to each value stands."""
    after = np.searchsorted(places, values).clip(1, max(len(places) - 1, 1))
    before = after - 1
    after = after.clip(0, len(places) - 1)
    closer = np.abs(places[before] - values) <= np.abs(places[after] - values)
    return np.where(closer, before, after)


def _alike(given: Lengths, own: Lengths, within: int) -> bool:
    """Whether durations are others in another order, each within some samples."""
    away = np.abs(np.sort(given) - np.sort(own))
    return bool((away <= within).all())
