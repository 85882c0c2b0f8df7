"""Where a submission has its score files and its claims, whatever its top folders and suffixes.

Known are the layout of 2024, `exp/asv_anon<suffix>/<enrolments><suffix>-<trials><suffix>/scores`,
that of 2022, `exp/results-<date>/ASV-<enrolments>_anon-<trials>_anon/scores`, this harness's own,
`<system>/<attacker>/seed-<n>/<scenario>/<enrolments>-<trials>/scores`, and simpler ones:
`<system>/<enrolments>-<trials>/scores`, `<system>/<trials>/scores`, `<system>/<trials>.txt`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from harness.protocols import scenarios
from harness.protocols.protocol import Protocol, TrialList
from harness.submissions.contents.audio import Recording, recording_of
from harness.submissions.contents.description import ALMOST, FILE_NAME, nearest
from harness.submissions.contents.naming import ANONYMIZED, MARKS, ORIGINAL, Names, PairName
from harness.submissions.contents.places import (
    GENERIC,
    NOT_SCORES,
    ORDINARY,
    RESULTS_2022,
    SCENARIO_NAMES,
    SEED,
    Place,
    bare_name,
    place_of,
    scenario_of,
)
from harness.submissions.members import Member, Submission
from harness.submissions.model import Check

UNNAMED = "unnamed"
# Looking for the nearest name takes time, which a stranger could ask for without end.
MOST_GUESSES = 100
SHOWN = 3


@dataclass(frozen=True)
class ScoreFile:
    """The scores of one system on one list."""

    system: str
    listed: TrialList
    member: Member


@dataclass(frozen=True)
class ClaimFile:
    """A file that states EERs. kind: `EER`, one number for `listed`; `results`, a table or report.

    system: None where the path does not tell. original_only: of an attacker that was trained on
    original speech, so only what it says of original speech is asked for; anonymized_only: the
    other way round.
    """

    kind: Literal["EER", "results"]
    system: str | None
    listed: TrialList | None
    member: Member
    original_only: bool = False
    anonymized_only: bool = False


@dataclass(frozen=True)
class Found:
    """What a submission consists of.

    score_files: one per system and list, by path. rivals: those of which none is read, because
    there are several for one system and list. recordings: of an edition that asks for audio.
    """

    score_files: tuple[ScoreFile, ...]
    claim_files: tuple[ClaimFile, ...]
    description: Member | None
    checks: tuple[Check, ...]
    rivals: tuple[ScoreFile, ...] = ()
    recordings: tuple[Recording, ...] = ()

    @property
    def scores(self) -> tuple[ScoreFile, ...]:
        """All files that claim to hold scores, whether they are read or not."""
        return (*self.score_files, *self.rivals)


@dataclass
class _Search:
    """What has been found so far."""

    names: Names
    top: str
    scores: list[ScoreFile] = field(default_factory=list)
    claims: list[ClaimFile] = field(default_factory=list)
    misspelt: dict[str, str] = field(default_factory=dict)
    other: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    recordings: list[Recording] = field(default_factory=list)
    pairs: dict[str, PairName | None] = field(default_factory=dict)

    def add(self, member: Member) -> None:
        """Sort a file in."""
        if self.names.protocol.audio:
            recording = recording_of(member, self.names.protocol)
            if recording is not None:
                self.recordings.append(recording)
                return
        place = place_of(member.path)
        if place is not None and place.kind == "results":
            self._add_results(member, place)
            return
        pair = self._pair(place) if place is not None else None
        if place is None or pair is None:
            ordinary = ORDINARY.fullmatch(member.path.rpartition("/")[2])
            if not ordinary or (place is not None and place.sure):
                self.unknown.append(member.path)
            return
        scenario = scenario_of(place.folders, pair)
        if scenario not in (scenarios.SEMI_INFORMED.name, scenarios.ORIGINAL.name):
            if place.kind == "scores":
                self.other.append(member.path)
            return
        if pair.misspelt:
            self.misspelt.setdefault(place.name, member.path)
        original = scenario == scenarios.ORIGINAL.name
        system = ORIGINAL if original else self._system(place.folders, pair.label)
        if place.kind == "scores":
            self.scores.append(ScoreFile(system or UNNAMED, pair.listed, member))
        else:
            self.claims.append(ClaimFile("EER", system or UNNAMED, pair.listed, member))

    def _add_results(self, member: Member, place: Place) -> None:
        scenario = scenario_of(place.folders, None)
        if scenario in (scenarios.IGNORANT.name, scenarios.LAZY_INFORMED.name):
            return
        label = place.name.strip(MARKS)
        if label.casefold() == ANONYMIZED:
            label = ""
        self.claims.append(
            ClaimFile(
                "results",
                self._system(place.folders, label),
                None,
                member,
                original_only=scenario == scenarios.ORIGINAL.name,
                # A summary of 2022 has both, each of its own attacker.
                anonymized_only=scenario != scenarios.ORIGINAL.name
                and not label
                and any(RESULTS_2022.fullmatch(folder) for folder in place.folders),
            )
        )

    def _pair(self, place: Place) -> PairName | None:
        """What the folder's or file's name says, worked out once for each name."""
        if not place.sure:
            pair = self.names.pair(place.name)
            wrong = pair is None or pair.misspelt or NOT_SCORES.fullmatch(pair.trial)
            return None if wrong else pair
        if place.name not in self.pairs:
            guess = len(self.pairs) < MOST_GUESSES
            self.pairs[place.name] = self.names.pair(place.name, guess=guess)
        return self.pairs[place.name]

    def _system(self, folders: Sequence[str], label: str) -> str | None:
        """The edition's system that the label or a folder names, the nearest first; else any."""
        above = [bare_name(folder) for folder in reversed(folders)]
        for name in (label, *above, bare_name(self.top)):
            known = self.names.system(name)
            if known is not None:
                return known
        if label:
            return label
        for place, folder in enumerate(above[:-2]):
            if SEED.fullmatch(folder):
                return above[place + 2]
        named = (f for f in above if f and not GENERIC.fullmatch(f) and f not in SCENARIO_NAMES)
        return next(named, None)


def find(submission: Submission, protocol: Protocol, system: str | None) -> Found:
    """The score files and claims of a submission; what is odd about their places are its checks.

    system: the name of the one anonymized system, where the submission has just one.
    """
    search = _Search(Names(protocol), submission.name)
    description, unread = _descriptions(submission.members)
    for member in submission.members:
        if member is not description:
            search.add(member)
    groups = {one.system for one in search.scores} - {ORIGINAL}
    # A table in a folder that is not a system's, such as the team's, says nothing of the system.
    known = {*groups, ORIGINAL, *protocol.systems}
    claims = [
        one if one.kind == "EER" or one.system in known else replace(one, system=None)
        for one in search.claims
    ]
    scores = search.scores
    if system is not None and len(groups) <= 1:
        name = search.names.system(system) or system
        scores = [one if one.system == ORIGINAL else replace(one, system=name) for one in scores]
        claims = [one if one.system == ORIGINAL else replace(one, system=name) for one in claims]
    score_files, rivals, checks = _one_each(scores)
    checks += unread
    checks += _remarks(search)
    if system is not None and len(groups) > 1:
        names = ", ".join(sorted(groups))
        text = f"--system {system} is not used: the submission itself names {names}"
        checks.append(Check("system-ignored", text, count=len(groups)))
    if submission.members and not scores:
        checks.append(_no_scores(submission.members, protocol))
    return Found(
        tuple(score_files),
        tuple(claims),
        description,
        tuple(checks),
        rivals=tuple(rivals),
        recordings=tuple(search.recordings),
    )


def _descriptions(members: Sequence[Member]) -> tuple[Member | None, list[Check]]:
    """`submission.yaml`, and a check for each more, or of almost this name: none is read."""
    description = nearest(members)
    return description, [
        Check(
            "description-unreadable",
            f"there is {description.path} too: leave one"
            if description is not None
            else f"it must be called {FILE_NAME}",
            file=member.path,
        )
        for member in members
        if member is not description and ALMOST.fullmatch(member.path.rpartition("/")[2])
    ]


def _one_each(
    scores: Sequence[ScoreFile],
) -> tuple[list[ScoreFile], list[ScoreFile], list[Check]]:
    """The files that stand alone for their system and list, those that do not, and their checks."""
    by_list: dict[tuple[str, str], list[ScoreFile]] = {}
    for one in scores:
        by_list.setdefault((one.system, one.listed.trials), []).append(one)
    checks = [
        Check(
            "scores-ambiguous",
            f"{len(files)} score files of {system} for {name}: "
            f"{_some([one.member.path for one in files])}; leave one",
            file=files[0].member.path,
            count=len(files),
        )
        for (system, name), files in by_list.items()
        if len(files) > 1
    ]
    single = [files[0] for files in by_list.values() if len(files) == 1]
    rivals = [one for files in by_list.values() if len(files) > 1 for one in files]
    return single, rivals, checks


def _remarks(search: _Search) -> list[Check]:
    checks = []
    if search.misspelt:
        name, path = next(iter(search.misspelt.items()))
        pair = search.pairs[name]
        meant = pair.listed.trials if pair else ""
        checks.append(
            Check(
                "folder-misspelt",
                f"{name!r} is no name of a list; read as {meant}",
                file=path,
                count=len(search.misspelt),
            )
        )
    if search.other:
        checks.append(
            Check(
                "scenario-other",
                "scores on other speech, or of an attacker that was trained on original speech, "
                "are no part of a submission and are left out",
                file=search.other[0],
                count=len(search.other),
            )
        )
    if search.unknown:
        checks.append(
            Check(
                "file-unknown",
                f"no part of the format: {_some(search.unknown)}",
                file=search.unknown[0],
                count=len(search.unknown),
            )
        )
    return checks


def _no_scores(members: Sequence[Member], protocol: Protocol) -> Check:
    listed = protocol.lists[0]
    return Check(
        "no-scores",
        f"no score file, such as {listed.enrolments}-{listed.trials}/scores, for a list of "
        f"{protocol.name}; there are {_some([member.path for member in members])}",
    )


def _some(paths: Sequence[str]) -> str:
    """The first few paths, cut where they are long, and how many more there are."""
    shown = ", ".join(path if len(path) <= 100 else f"{path[:100]}…" for path in paths[:SHOWN])
    return shown if len(paths) <= SHOWN else f"{shown} and {len(paths) - SHOWN} more"
