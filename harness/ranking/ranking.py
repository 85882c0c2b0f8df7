"""A ranking of attackers: from the paths of submissions to boards, the overall order and evidence.

    verify → status of each entry → boards → overall, two-sided

The order of the paths and the number of workers change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from harness import __version__
from harness.errors import ConfigError
from harness.metrics.resampling import SAMPLING, Sampling
from harness.protocols.protocol import Protocol
from harness.protocols.ranking import AttackerRanking
from harness.ranking.boards import make_boards
from harness.ranking.certificates import Certificates, read_certificates
from harness.ranking.entries import all_pairs, contestants_of
from harness.ranking.evidence import evidence_of
from harness.ranking.model import FORMAT, Method, Ranking
from harness.ranking.overall import make_overall
from harness.ranking.register import times_of
from harness.ranking.registered import verify_registered
from harness.ranking.remarks import not_registered, on_no_board, suspicious
from harness.ranking.two_sided import make_two_sided
from harness.submissions import verification
from harness.submissions.limits import Limits

SENTENCES = (
    "Ranked is, for each system by itself, by the mean EER of the lists of the split {split}: the "
    "lower, the better. Equal means share the better rank; without a mean there is no rank.",
    "Of several official entries of a team the one of the lowest EER counts, for each system by "
    "itself.",
    "Late and unofficial entries take no rank; beside them stands the rank that each would have.",
    "An entry is refuted where a claim does not hold, or its attacker, run again, did not give its "
    "scores; it is not checkable where a list lacks an EER or a claim. Neither is ever ranked.",
    "A tier holds the attacker of the lowest EER and all that are not told apart from it, by "
    "paired differences adjusted after Holm; the next tier is made likewise of the rest. To share "
    "a tier is no evidence of being equal.",
)


@dataclass(frozen=True)
class Options:
    """What a person may choose.

    trials, limits, listed_resources: as for a verification. register: a file as
    `harness.ranking.register` reads. certificates, key: a folder of signed certificates, and the
    public key of who signed them.
    Raises ConfigError where one of these two stands without the other.
    """

    trials: Path | None = None
    register: Path | None = None
    certificates: Path | None = None
    key: Path | None = None
    listed_resources: frozenset[str] | None = None
    limits: Limits = field(default_factory=Limits)
    sampling: Sampling = SAMPLING

    def __post_init__(self) -> None:
        if (self.certificates is None) != (self.key is None):
            raise ConfigError(
                "--certificates and --key belong together", fix="give both or neither"
            )


def rank(
    paths: Sequence[Path],
    protocol: Protocol,
    rules: AttackerRanking,
    options: Options | None = None,
) -> Ranking:
    """Verify submissions, and rank those whose claims hold.

    Raises ConfigError, ListError or IntegrityError for what the caller gave (lists, a register,
    certificates), DataError for a path that cannot be read. What is wrong with a submission is part
    of the ranking instead.
    """
    options = options or Options()
    paths = sorted(paths, key=lambda path: (path.resolve().name, str(path)))
    for one, following in pairwise(sorted(path.resolve() for path in paths)):
        if one == following:
            raise ConfigError("is given twice", where=one.name, fix="name each submission once")
    found, teams, register = verify_registered(
        paths,
        protocol,
        options.register,
        verification.Options(
            trials=options.trials,
            limits=options.limits,
            listed_resources=options.listed_resources,
        ),
    )
    times = times_of(register)
    certificates = Certificates()
    if options.certificates is not None and options.key is not None:
        certificates = read_certificates(
            options.certificates, options.key, found.submissions, protocol.name
        )
    pairs = all_pairs(found.reference)
    contestants = [
        contestant
        for one in found.submissions
        for contestant in contestants_of(
            one,
            teams[one.name],
            protocol,
            found.reference,
            pairs,
            certificates.refuted.get(one.name, {}),
        )
    ]
    remarks = [*on_no_board(found.submissions, contestants, protocol)]
    if register is not None and options.register is not None:
        remarks += not_registered(found.submissions, register, options.register, protocol)
    remarks += [*suspicious(found.submissions), *certificates.remarks]
    # Those of the edition, or those attacked.
    systems = dict.fromkeys([*protocol.systems, *sorted(one.system for one in contestants)])
    boards, sampling = make_boards(systems, contestants, protocol, rules.rank_by, options.sampling)
    return Ranking(
        format=FORMAT,
        harness=__version__,
        benchmark=protocol.name,
        title=protocol.title,
        method=Method(sampling.draws, sampling.level, sampling.unit, sampling.seed),
        rules=(*protocol.rules, *(one.format(split=rules.rank_by) for one in SENTENCES)),
        boards=boards,
        overall=None if rules.overall is None else make_overall(boards, rules.overall),
        two_sided=make_two_sided(boards),
        evidence=tuple(
            evidence_of(one, teams[one.name], times.get(one.name), certificates.lines.get(one.name))
            for one in found.submissions
        ),
        remarks=tuple(remarks),
    )
