"""The speakers of trials, told from the names of their utterances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.metrics.draws import Pairs


def pairs_of(
    enrolled: Sequence[str], utterances: Sequence[str], target: npt.NDArray[np.bool_]
) -> Pairs | None:
    """Both speakers of each trial of a list; None where the names do not tell them.

    An official name of an utterance begins with its speaker, up to the first `-`. That is believed
    only where it gives exactly the labels. enrolled: speakers, utterances: names, target: labels,
    each of shape (n_trials,).
    Raises ScoreError for shapes that differ or no trials.
    """
    pairs = Pairs(enrolled, [name.partition("-")[0] for name in utterances])
    return pairs if np.array_equal(pairs.target, target) else None
