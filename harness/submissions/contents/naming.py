"""What the names of folders, files and columns say: which list, which system, which average.

The official name of a pair is `<enrolments><suffix>-<trials><suffix>` (2024; before it `ASV-` in
2022). A suffix may hold hyphens (`_T8-5`), so names are not split: the edition's own are looked for
in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile

from harness.protocols.protocol import Protocol, TrialList
from harness.submissions.model import average_name

# Original speech, as the published tables call it; `orig` in all that follows.
ORIGINAL = "orig"
# The suffix of 2022: speech was anonymized, whatever the system.
ANONYMIZED = "anon"
AVERAGE_WORDS = ("average", "avg", "mean", "all")
GENDERS = {"female": "f", "male": "m"}
# Characters put in or left out in a name that is still taken for the right one.
MOST_ERRORS = 3
LONGEST_NAME = 256
# What a suffix is set off with; also stripped from it.
MARKS = " _-."


@dataclass(frozen=True)
class PairName:
    """A list, and the suffixes of its two sets, as they stand (`_B3`); empty for original names.

    prefixed: begins with `ASV-`, as in 2022. misspelt: read as the nearest name of the edition.
    """

    listed: TrialList
    enrolment: str
    trial: str
    prefixed: bool = False
    misspelt: bool = False

    @property
    def label(self) -> str:
        """The suffix without its marks, unless it is the one that names no system."""
        bare = self.trial.strip(MARKS)
        return "" if bare.casefold() == ANONYMIZED else bare


class Names:
    """The names of one edition, to be found in those that strangers give."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        # Longest first: the name of one list may begin that of another.
        self._lists = sorted(protocol.lists, key=lambda listed: -len(listed.trials))
        self._systems = {ORIGINAL: ORIGINAL, "original": ORIGINAL}
        self._systems |= {name.casefold(): system for name, system in protocol.suffixes.items()}
        self._systems |= {name.casefold(): name for name in protocol.systems}
        self._splits = {listed.split.casefold(): listed.split for listed in protocol.lists}
        if "test" in self._splits:
            self._splits.setdefault("eval", self._splits["test"])

    def system(self, text: str) -> str | None:
        """The edition's system of that name or official suffix, in any case."""
        return self._systems.get(text.strip(MARKS).casefold())

    def split(self, text: str) -> str | None:
        """The edition's split; `eval` may stand for `test`."""
        return self._splits.get(text.strip().casefold())

    def list_of(self, dataset: str, split: str, gender: str) -> str | None:
        """Name of the list, or of the average of the split; an empty data set is any."""
        known, kind = self.split(split), gender.strip().casefold()
        named = dataset.strip().casefold()
        if known is None:
            return None
        lists = [
            listed
            for listed in self.protocol.lists
            if listed.split == known and named in ("", listed.dataset.casefold())
        ]
        if kind in AVERAGE_WORDS or not kind:
            # Of several data sets together, not of one of them.
            every = self.protocol.weights(known).keys() == {listed.trials for listed in lists}
            return average_name(known) if every else None
        of_gender = [listed.trials for listed in lists if listed.gender == GENDERS.get(kind, kind)]
        return of_gender[0] if len(of_gender) == 1 else None

    def list_named(self, text: str) -> str | None:
        """Name of the list or of the average that a table or a description names.

        A split by itself is its average.
        """
        words = text.casefold().replace("_", " ").replace("-", " ").split()
        if len(words) == 1 and (known := self.split(words[0])) is not None:
            return average_name(known)
        if len(words) == 2 and words[0] in AVERAGE_WORDS:
            known = self.split(words[1])
            return average_name(known) if known else None
        pair = self.pair(text.strip())
        return pair.listed.trials if pair else None

    def of_its_data(self, text: str) -> bool:
        """Does a name begin with a data set of the edition, so that one of its lists is meant?"""
        folded = text.strip().casefold()
        return any(folded.startswith(one.dataset.casefold()) for one in self.protocol.lists)

    def pair(self, name: str, *, guess: bool = False) -> PairName | None:
        """What a folder or file name says; None where it names no list, or more than one.

        guess: also accept the nearest name, at most MOST_ERRORS characters away.
        """
        if len(name) > LONGEST_NAME:
            return None
        prefix = re.match("ASV-", name, re.IGNORECASE)
        bare = name[prefix.end() :] if prefix else name
        return (
            self._exact(bare, bool(prefix))
            or self._by_trials(bare, bool(prefix))
            or (self._nearest(bare, bool(prefix)) if guess else None)
        )

    def _exact(self, name: str, prefixed: bool) -> PairName | None:
        for listed in self._lists:
            match = _pattern(listed.enrolments, listed.trials).fullmatch(name)
            if match is None:
                continue
            enrolment, trial = match.groups()
            # The same ending on both is a suffix, whatever it is; else it must be set off.
            if enrolment == trial or (_is_set_off(enrolment) and _is_set_off(trial)):
                return PairName(listed, enrolment, trial, prefixed)
        return None

    def _by_trials(self, name: str, prefixed: bool) -> PairName | None:
        """A name that holds just the trial set's, or a misspelt enrolment set's before it."""
        hits = [(x, m) for x in self._lists if (m := _inner_pattern(x.trials).search(name))]
        if not hits or any(x.trials not in hits[0][0].trials for x, _ in hits):
            return None
        listed, match = hits[0]
        before, suffix = name[: match.start()].strip(MARKS), name[match.end() :]
        if not before:
            return PairName(listed, suffix, suffix, prefixed)
        if "enrol" not in before.casefold() and _errors(before, listed.enrolments) > MOST_ERRORS:
            # Such as `B3_libri_dev_trials_f`: what stands before names the system.
            return PairName(listed, suffix or before, suffix or before, prefixed)
        same = before.casefold().endswith(suffix.strip(MARKS).casefold())
        return PairName(listed, suffix if same else "", suffix, prefixed, misspelt=True)

    def _nearest(self, name: str, prefixed: bool) -> PairName | None:
        """The one list whose name, with the ending that both halves share, is nearest."""
        best: dict[str, tuple[int, PairName]] = {}
        for listed in self._lists:
            for suffix in {"", *_shared_endings(name)}:
                for text in (
                    f"{listed.enrolments}{suffix}-{listed.trials}{suffix}",
                    f"{listed.trials}{suffix}",
                ):
                    errors = _errors(name, text)
                    if errors <= min(MOST_ERRORS, best.get(listed.trials, (MOST_ERRORS,))[0]):
                        pair = PairName(listed, suffix, suffix, prefixed, misspelt=True)
                        best[listed.trials] = (errors, pair)
        nearest = min((errors for errors, _ in best.values()), default=0)
        found = [pair for errors, pair in best.values() if errors == nearest]
        return found[0] if len(found) == 1 else None


@lru_cache
def _pattern(enrolments: str, trials: str) -> re.Pattern[str]:
    text = f"{re.escape(enrolments)}(.*?)-{re.escape(trials)}(.*)"
    return re.compile(text, re.IGNORECASE | re.DOTALL)


@lru_cache
def _inner_pattern(trials: str) -> re.Pattern[str]:
    return re.compile(f"(?<![0-9a-z]){re.escape(trials)}(?![0-9a-z])", re.IGNORECASE)


def _is_set_off(suffix: str) -> bool:
    return not suffix or suffix[0] in MARKS


def _errors(one: str, other: str) -> int:
    """Characters that stand in only one of two names; more than MOST_ERRORS: some such number."""
    if abs(len(one) - len(other)) > MOST_ERRORS:
        return MOST_ERRORS + 1
    one, other = one.casefold(), other.casefold()
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    both = len(one) + len(other)
    if matcher.quick_ratio() * both < both - MOST_ERRORS - 0.5:
        return MOST_ERRORS + 1
    return both - 2 * sum(block.size for block in matcher.get_matching_blocks())


def _shared_endings(name: str) -> Iterator[str]:
    """For each hyphen, the ending that what stands before and after it share."""
    for place in (i for i, character in enumerate(name) if character == "-"):
        pairs = zip(reversed(name[:place]), reversed(name[place + 1 :]), strict=False)
        length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if length:
            yield name[len(name) - length :]
