"""Trial lists and scores of speakers who differ."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from harness.metrics.draws import Pairs

Floats = npt.NDArray[np.float64]


def crossed(enrolled: range, trial: range, utterances: int) -> Pairs:
    """Every enrolled speaker against every utterance of every trial speaker."""
    speakers = np.repeat(np.array(trial), utterances)
    return Pairs(np.repeat(np.array(enrolled), len(speakers)), np.tile(speakers, len(enrolled)))


def scores(pairs: Pairs, eer: float, rng: np.random.Generator) -> Floats:
    """Of an attacker with that EER over all speakers: 0.6 of the variance is of speakers."""
    size = max(pairs.enrolled.max(), pairs.trial.max()) + 1
    enrolled, trial = 0.3**0.5 * rng.standard_normal((2, size))
    noise = 0.4**0.5 * rng.standard_normal(len(pairs.target))
    distance = -2 * NormalDist().inv_cdf(eer)
    return distance * pairs.target + enrolled[pairs.enrolled] + trial[pairs.trial] + noise
