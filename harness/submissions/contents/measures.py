"""What a submission claims beside its EERs: word error rates, recall of emotions, pitch, voices.

- A table in columns of fixed width, as pandas prints it: `result_for_rank<suffix>` of 2024 and
  2026, with the columns `dataset`, `split`, `asr` or `ser` (which speech), and `WER` or `UAR` in
  percent.
- Results of 2022: `ASR-libri_test_asr_anon` and `%WER 4.58 [ 1606 / 35042, …` on the same line or
  below, `libri_test_trials_f  Pitch_correlation: mean=0.6089 std=0.1574`, and, with the list's name
  before it or above, `Gain of voice distinctiveness : -1.705`.

Each is a claim of anonymized speech or of original speech; what does not say which is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from harness.protocols.conditions import AnonymizerRanking
from harness.submissions.contents.naming import ORIGINAL, Names
from harness.submissions.contents.results_files import doubled
from harness.submissions.model import Check, MeasureClaim

WER, PITCH, GVD = "WER", "pitch-correlation", "GVD"
SPEECH_COLUMNS = ("asr", "ser")
NUMBER = re.compile(r"[+-]?\d{1,6}(?:\.\d{0,20})?", re.ASCII)
ASR = re.compile(r"ASR-(?P<dataset>\S+?)_(?P<split>[^\s_]+)_asr(?P<anonymized>_anon)?(?=\s|$)")
RATE = re.compile(r"\s*%WER (?P<value>\S+) \[(?P<counts>[^\]]*)\](?P<decoded>.*)")
# The smaller of two language models, whose rates stand first and do not count.
SMALL_MODEL = "_tgsmall"
CORRELATION = re.compile(r"(?P<list>\S+)\s+Pitch_correlation: mean=(?P<value>\S+)")
GAIN = re.compile(r"(?P<list>\S*)\s+Gain of voice distinctiveness\s*:\s*(?P<value>\S+)")
MOST_CLAIMS = 500
LONGEST_SHOWN = 60


@dataclass
class Measures:
    """Reads the files of a submission, one after the other.

    claims: the same value of the same thing is kept once. checks: one for each file with a line
    that cannot be read.
    """

    names: Names
    rules: AnonymizerRanking
    claims: list[MeasureClaim] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    _seen: set[tuple[object, ...]] = field(default_factory=set)

    def read(
        self,
        text: str,
        file: str,
        system: str | None,
        *,
        original_only: bool = False,
        anonymized_only: bool = False,
    ) -> None:
        """State what a file says; original_only, anonymized_only: of this speech alone."""
        page = _Page(self, file, system, (not original_only, not anonymized_only))
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        page.tables(lines)
        page.blocks(lines)
        # What ranks nobody makes nothing unscorable.
        for code, faults in (("claim-unreadable", page.faults), ("measure-unchecked", page.notes)):
            if faults:
                line, what = faults[0]
                self.checks.append(Check(code, what, file, line, len(faults)))

    def has_claims(self, header: Sequence[str]) -> bool:
        """Do columns, in lower case, name a measure other than privacy, and which speech?"""
        names = {
            one.name.casefold() for one in self.rules.measures if one.name != self.rules.privacy
        }
        return not names.isdisjoint(header) and not set(SPEECH_COLUMNS).isdisjoint(header)

    def add(self, claim: MeasureClaim) -> None:
        """Keep a claim, unless it is kept already or there are too many."""
        key = (claim.system, claim.measure, claim.place, claim.value)
        if key not in self._seen and len(self.claims) < MOST_CLAIMS:
            self._seen.add(key)
            self.claims.append(claim)


@dataclass
class _Page:
    """One file. asked: is anonymized speech, is original speech asked for?

    faults, notes: what cannot be read of measures that rank, and of the others.
    """

    measures: Measures
    file: str
    system: str | None
    asked: tuple[bool, bool]
    faults: list[tuple[int, str]] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)

    def tables(self, lines: Sequence[str]) -> None:
        """Every table with a measure's name and a column that says which speech."""
        header: list[str] = []
        for number, line in enumerate(lines, 1):
            cells = line.split()
            if {"dataset", "split"} <= {cell.casefold() for cell in cells}:
                header = [cell.casefold() for cell in cells]
                # A table of EERs is read elsewhere.
                if self.measures.has_claims(header) and (twice := doubled(header)):
                    self.faults.append((number, f"two columns of one meaning: {twice}"))
                    header = []
            elif not cells or line.startswith("--"):
                header = []
            elif header and len(cells) - len(header) in (0, 1):
                # One more than names: the row's number stands before it.
                self._row(dict(zip(header, cells[len(cells) - len(header) :], strict=True)), number)

    def _row(self, row: Mapping[str, str], line: int) -> None:
        speech = next((row[one] for one in SPEECH_COLUMNS if one in row), "").casefold()
        # A row of one fold is no claim of the whole.
        if not speech or "fold" in row:
            return
        for measure in self.measures.rules.measures:
            value = row.get(measure.name.casefold())
            if value is not None and measure.name != self.measures.rules.privacy:
                place = (row["dataset"], row["split"], row.get("gender"))
                self._state(measure.name, place, value, line, original=speech.startswith("orig"))

    def blocks(self, lines: Sequence[str]) -> None:
        """The results of 2022."""
        above, recognized = "", None
        for number, line in enumerate(lines, 1):
            if line.strip() and not line[0].isspace():
                above, recognized = line.split()[0], ASR.match(line)
            rest = line[len(above) :] if line.startswith(above) else line
            if recognized is not None and (rate := RATE.match(rest)):
                if SMALL_MODEL not in rate["decoded"]:
                    place = (recognized["dataset"], recognized["split"], None)
                    original = recognized["anonymized"] is None
                    self._state(WER, place, rate["value"], number, original=original)
            elif correlation := CORRELATION.match(line):
                self._of_list(PITCH, correlation["list"], correlation["value"], number)
            elif gain := GAIN.match(line):
                self._of_list(GVD, gain["list"] or above, gain["value"], number)

    def _of_list(self, measure: str, name: str, value: str, line: int) -> None:
        """A measure that compares original with anonymized speech of a list's trials."""
        of_name = [one for one in self.measures.names.protocol.lists if one.trials == name]
        for listed in of_name:
            place = (listed.dataset, listed.split, listed.gender)
            self._state(measure, place, value, line, original=False)

    def _state(
        self,
        measure: str,
        place: tuple[str, str, str | None],
        text: str,
        line: int,
        *,
        original: bool,
    ) -> None:
        known = self._known(measure, place)
        if known is None or not self.asked[original]:
            return
        rules = self.measures.rules
        number = text.removesuffix(rules.measure(measure).unit)
        if not NUMBER.fullmatch(number):
            told = self.faults if measure in rules.tracks else self.notes
            told.append((line, f"{text[:LONGEST_SHOWN]!r} is no {measure}"))
            return
        system = ORIGINAL if original else self.system
        self.measures.add(MeasureClaim(system, measure, *known, Decimal(number), self.file, line))

    def _known(
        self, name: str, place: tuple[str, str, str | None]
    ) -> tuple[str, str, str | None] | None:
        """The edition's spelling of a data set, split and gender that a measure is of."""
        dataset, split, gender = place
        known = self.measures.names.split(split)
        for measure in self.measures.rules.measures:
            for part in measure.parts if measure.name == name else ():
                if part.dataset.casefold() == dataset.casefold() and part.gender == gender:
                    return None if known is None else (part.dataset, known, part.gender)
        return None
