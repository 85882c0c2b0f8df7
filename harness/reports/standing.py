"""The ranking of a benchmark's own attackers, on each system that they were trained against."""

from __future__ import annotations

from collections.abc import Sequence

from harness import __version__
from harness.metrics.resampling import Sampling
from harness.protocols.protocol import Protocol
from harness.protocols.scenarios import SEMI_INFORMED
from harness.ranking.boards import make_boards
from harness.ranking.contest import Contestant
from harness.ranking.model import FORMAT, Method, Ranking
from harness.ranking.two_sided import make_two_sided
from harness.reports.measured import Measured

SENTENCES = (
    "Ranked are this repository's own attackers, each trained on speech of the system that it "
    "attacks, by the mean EER of the lists of the split {split} over all its trainings: the lower, "
    "the better. Equal means share the better rank.",
    "A tier holds the attacker of the lowest EER and all that are not told apart from it, by "
    "paired differences adjusted after Holm; the next tier is made likewise of the rest. What "
    "training again would change is counted where an attacker has several trainings.",
)


def own_ranking(
    protocol: Protocol, measured: Sequence[Measured], rank_by: str, sampling: Sampling
) -> Ranking:
    """A board for each system with a semi-informed attack. rank_by: the split that ranks."""
    contestants = [
        Contestant(
            attacker=one.attacker,
            entry=one.attacker,
            system=one.system,
            status="official",
            reasons=(),
            lists={scored.listed.trials: scored for scored in one.scored},
        )
        for one in measured
        if one.scenario == SEMI_INFORMED.name
    ]
    systems = dict.fromkeys(one.system for one in contestants)
    boards, sampling = make_boards(systems, contestants, protocol, rank_by, sampling)
    return Ranking(
        format=FORMAT,
        harness=__version__,
        benchmark=protocol.name,
        title=protocol.title,
        method=Method(sampling.draws, sampling.level, sampling.unit, sampling.seed),
        rules=tuple(one.format(split=rank_by) for one in SENTENCES),
        boards=boards,
        two_sided=make_two_sided(boards),
    )
