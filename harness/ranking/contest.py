"""What is ranked: attackers' scores on an edition's lists, before any rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.metrics.draws import Pairs
from harness.protocols.protocol import TrialList
from harness.ranking.model import ListRate, Status


@dataclass(frozen=True)
class ScoredList:
    """One list: its trials, and the scores of each training, shape (n_trainings, n_trials).

    pairs: both speakers of each trial; None where the speakers of the trials are not known, and
    then there are no intervals. target: labels, shape (n_trials,). rates: one of each training.
    """

    listed: TrialList
    target: npt.NDArray[np.bool_]
    pairs: Pairs | None
    scores: npt.NDArray[np.float32]
    rates: tuple[ListRate, ...]


@dataclass(frozen=True)
class Contestant:
    """One attacker against one system. lists: by name, those with an EER; else as in `Row`."""

    attacker: str
    entry: str
    system: str
    status: Status
    reasons: tuple[str, ...]
    lists: Mapping[str, ScoredList]
