"""The evaluator `pitch-correlation`: how much of the intonation anonymization leaves.

Both definitions of `harness.metrics.pitch_correlation`, of F0 tracks by Praat: `pitch-correlation`
is the one that the official script of 2022 computes, `pitch-correlation-voiced` is the plan's.
`length-gap` is the share of utterances, in percent, whose length differs from the original's by
more than the plan allows: the correlation of such a pair says little, and counts all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from harness.corpora.store import SAMPLE_RATE
from harness.metrics.pitch_correlation import LONGEST_GAP, length_gap, official_2022, voiced_only
from harness.metrics.resampling import Sampling
from harness.metrics.speaker_interval import mean_interval
from harness.utility.base import Evaluation, Group, Measured, Measurement, Pair, by_gender
from harness.utility.praat import f0_track

OFFICIAL, VOICED, GAP = "pitch-correlation", "pitch-correlation-voiced", "length-gap"
DEFINITIONS = {OFFICIAL: official_2022, VOICED: voiced_only}


@dataclass(frozen=True)
class PitchCorrelation:
    """Pitch correlation with original speech; no parameters."""

    def measure(self, pair: Pair) -> Measurement:
        """Both correlations, and the gap in seconds."""
        original, anonymized = pair.original.read(), pair.anonymized.read()
        tracks = f0_track(original), f0_track(anonymized)
        found = {name: asdict(define(*tracks)) for name, define in DEFINITIONS.items()}
        return {**found, GAP: length_gap(len(original), len(anonymized), SAMPLE_RATE)}

    def evaluate(self, group: Group, sampling: Sampling) -> Evaluation:
        """Means over utterances, of all and of each gender."""
        rows = [
            {
                **{name: one[name]["value"] for name in DEFINITIONS},
                "lag": one[OFFICIAL]["lag"],
                # The defined value of an undefined correlation is 0.
                "undefined": ";".join(name for name in DEFINITIONS if one[name]["undefined"]),
                "length_gap_seconds": one[GAP],
            }
            for one in group.measured
        ]
        values = [one for each in by_gender(group) for one in _means(each, sampling)]
        return Evaluation(rows, values)


def _means(group: Group, sampling: Sampling) -> Iterator[Measured]:
    of_each: dict[str, Sequence[float]] = {
        name: [one[name]["value"] for one in group.measured] for name in DEFINITIONS
    }
    of_each[GAP] = [100.0 * (one[GAP] > LONGEST_GAP) for one in group.measured]
    for name, numbers in of_each.items():
        mean = mean_interval(numbers, group.speakers, sampling)
        yield Measured(name, group.gender, len(group), mean.estimate, mean.low, mean.high)
