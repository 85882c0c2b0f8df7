"""Files of results as challenges have printed them, told apart by their content.

- A table of comma, semicolon or tab separated columns: `results<suffix>.csv` of 2024 (`,dataset,
  split,gender,enrollment,trial,EER`, in percent), this harness's `eer.csv`, or any that names
  system, list (or split and gender) and EER.
- A table in columns of fixed width, as pandas prints it: `result_for_rank<suffix>` of 2024, which
  holds tables of other measures, too.
- Blocks of 2022: `ASV-<enrolments>_anon-<trials>_anon`, and within it `EER: 8.665%` and
  `ROCCH-EER: 8.600%`, beside blocks of other measures. In a summary the EER stands on the title's
  line, and averages follow: `Weighted average EER dev anon: 6.529`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.protocols.scenarios import ORIGINAL as ORIGINAL_SPEECH
from harness.protocols.scenarios import SEMI_INFORMED
from harness.submissions.contents.naming import ORIGINAL, Names
from harness.submissions.contents.places import SCENARIO_NAMES
from harness.submissions.contents.stated import Statements
from harness.submissions.model import Estimator, average_name

EER_COLUMNS = ("eer", "eer_percent", "eer(%)", "eer (%)", "eer [%]", "eer[%]", "eer%", "eer %")
SYSTEM_COLUMNS = ("system", "anonymizer", "anonymization")
LIST_COLUMNS = ("list", "trials")
ENROLMENT_COLUMNS = ("enrollment", "enrolment", "enroll", "enrol")
# Without `^anon`, the attacker was trained on original speech.
TITLE = re.compile(r"--.*\bASV_eval(?:\^(?P<trained>orig|anon))?(?!\w)", re.IGNORECASE)
BLOCK = re.compile(r"ASV-\S", re.IGNORECASE)
RATE = re.compile(r"\s+(?P<name>EER|ROCCH-EER):\s*(?P<value>\S+)")
AVERAGE = re.compile(
    r"(?:Weighted )?average EER (?P<split>\S+) (?P<speech>orig|anon):\s*(?P<value>\S+)",
    re.IGNORECASE,
)
ESTIMATORS: dict[str, Estimator] = {"EER": "official", "ROCCH-EER": "rocch"}
# Significant digits of `compute-eer`; `2.89%` stands for 2.890.
KALDI_DIGITS = 4
KALDI_RATE = re.compile(r"(?P<whole>\d{1,3})(?:\.(?P<decimals>\d{1,3}))?%", re.ASCII)
LONGEST_SYSTEM = 100
# What makes a file that cannot be understood worth a complaint.
MENTION = re.compile(r"(?<![a-z])EER(?![a-z])", re.IGNORECASE)
UNKNOWN_FORM = "an EER in no known form: use the columns system, list, EER"


@dataclass
class Reader:
    """Reads one file. system: of its anonymized speech, None where nothing tells it.

    original_only: the attacker was trained on original speech, so that only its EERs of original
    speech are of interest; anonymized_only: the other way round.
    """

    names: Names
    statements: Statements
    system: str | None
    original_only: bool = False
    anonymized_only: bool = False

    def read(self, text: str) -> None:
        """State all EERs of the file; a file of other measures has none."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if any(BLOCK.match(line) for line in lines):
            self._blocks(lines)
        elif any(_is_header(line) for line in lines):
            self._fixed_width(lines)
        elif not self._separated(lines) and MENTION.search(text):
            self.statements.fault(UNKNOWN_FORM)

    def _separated(self, lines: Sequence[str]) -> bool:
        """Read a table with separators; False where the first line does not name an EER."""
        first = next((i for i, line in enumerate(lines) if line.strip()), 0)
        for separator in ",;\t":
            header = [n.strip().strip('"').casefold() for n in lines[first].split(separator)]
            if set(EER_COLUMNS) & set(header):
                break
        else:
            return False
        if not {"split", *LIST_COLUMNS} & set(header):
            self.statements.fault("no column `list` or `split`", first + 1)
            return True
        if twice := doubled(header):
            self.statements.fault(f"two columns of one meaning: {twice}", first + 1)
            return True
        rows = csv.reader(lines[first + 1 :], delimiter=separator)
        try:
            for cells in rows:
                line = first + 1 + rows.line_num
                # A row that holds more than the header does is misread, whatever it says.
                if any(cell.strip() for cell in cells[len(header) :]):
                    self.statements.fault("more columns than names", line)
                elif any(cell.strip() for cell in cells):
                    self._row(dict(zip(header, cells, strict=False)), line, self.original_only)
        except csv.Error as error:
            self.statements.fault(f"not a table ({error})", first + 1 + rows.line_num)
        return True

    def _fixed_width(self, lines: Sequence[str]) -> None:
        """Read every table with a column EER, to a line of other columns that names no split."""
        header: list[str] = []
        original_only = self.original_only
        for number, line in enumerate(lines, 1):
            title = TITLE.match(line.strip())
            if title:
                trained = (title["trained"] or "orig").casefold()
                original_only = self.original_only or trained == "orig"
            cells = line.split()
            if _is_header(line):
                header = [cell.casefold() for cell in cells]
                if twice := doubled(header):
                    self.statements.fault(f"two columns of one meaning: {twice}", number)
                    header = []
            elif header and len(cells) - len(header) in (0, 1):
                # One more than names: the row's number stands before it.
                row = dict(zip(header, cells[len(cells) - len(header) :], strict=True))
                self._row(row, number, original_only)
            elif header and any(self.names.split(cell) for cell in cells):
                self.statements.fault("other columns than its table", number)
            else:
                header = []
                if MENTION.search(line) and not line.strip().startswith("--"):
                    self.statements.fault(UNKNOWN_FORM, number)

    def _blocks(self, lines: Sequence[str]) -> None:
        name, system = None, self.system
        for number, line in enumerate(lines, 1):
            measured = line
            if line.strip() and not line[0].isspace():
                # In a summary the title is followed by the rate.
                measured = line[len(line.split()[0]) :]
                pair = self.names.pair(line.split()[0]) if BLOCK.match(line) else None
                name = None
                if pair is not None and bool(pair.enrolment) == bool(pair.trial):
                    name = pair.listed.trials
                    system = self.system or self.names.system(pair.label) or pair.label or None
                    if not pair.trial:
                        system = ORIGINAL
                    if self.original_only if pair.trial else self.anonymized_only:
                        name = None
                elif pair is None and self._is_misspelt(line):
                    self.statements.fault(f"{line.split()[0][:60]!r} names no list", number)
                elif pair is None and (average := AVERAGE.match(line)):
                    self._average(average, number)
                elif pair is None and BLOCK.match(line) and RATE.match(measured):
                    pass  # of other data
                elif pair is None and MENTION.search(line):
                    self.statements.fault(UNKNOWN_FORM, number)
                if pair is None:
                    continue
            rate = RATE.match(measured)
            if rate is None and MENTION.search(measured):
                self.statements.fault(UNKNOWN_FORM, number)
            if name is not None and rate:
                estimator = ESTIMATORS[rate["name"]]
                value = self._whole(rate["value"]) if estimator == "official" else rate["value"]
                self.statements.state(system, name, value, number, estimator=estimator)

    def _whole(self, value: str) -> str:
        """An EER that Kaldi prints, with the zeros at the end that it leaves out: `16` is 16.00."""
        shortened = KALDI_RATE.fullmatch(value) if self.names.protocol.eer == "kaldi" else None
        if shortened is None:
            return value
        whole, decimals = shortened["whole"], shortened["decimals"] or ""
        digits = KALDI_DIGITS - len(whole.lstrip("0"))
        return f"{whole}.{decimals:0<{digits}}%"

    def _average(self, stated: re.Match[str], line: int) -> None:
        """State an average of 2022, if that is how this edition averages."""
        split = self.names.split(stated["split"])
        weighted = any(
            average.split == split and average.weights for average in self.names.protocol.averages
        )
        original = stated["speech"].casefold() == "orig"
        if split is None or not weighted or (self.original_only and not original):
            return
        system = ORIGINAL if original else self.system
        self.statements.state(system, average_name(split), stated["value"], line)

    def _is_misspelt(self, line: str) -> bool:
        """Is a line the title of a block, and one of the edition's lists almost its name?"""
        return bool(BLOCK.match(line)) and self.names.of_its_data(line[len("ASV-") :])

    def _row(self, row: Mapping[str, str], line: int, original_only: bool) -> None:
        """State what a row of any table says, if it is about a list of the edition."""
        benchmark = row.get("benchmark", "").strip().casefold()
        if benchmark not in ("", self.names.protocol.name.casefold()):
            return
        name = self._list(row, line)
        if name is None:
            return
        stated = _cell(row, SYSTEM_COLUMNS).strip()[:LONGEST_SYSTEM]
        system = self.names.system(stated) or stated or self.system
        scenario = row.get("scenario", "").strip()
        if scenario and scenario.casefold() not in SCENARIO_NAMES:
            known = ", ".join(sorted(SCENARIO_NAMES))
            self.statements.fault(f"{scenario[:60]!r} is no scenario: use {known}", line)
            return
        speech = _speech(row)
        if speech == "original" or (original_only and not speech):
            # Original speech has one EER, whatever system the file is about.
            system = ORIGINAL
        elif speech == "other" or (speech and (original_only or system == ORIGINAL)):
            return
        self.statements.state(system, name, _cell(row, EER_COLUMNS), line)

    def _list(self, row: Mapping[str, str], line: int) -> str | None:
        """The list that a row is about; None where it is of other data, or names none rightly."""
        stated = _cell(row, LIST_COLUMNS).strip()
        if stated:
            name = self.names.list_named(stated)
            if name is None and self.names.of_its_data(stated):
                # Passed over, a misspelt claim would be taken for one that was never made.
                edition = self.names.protocol
                known = ", ".join(listed.trials for listed in edition.lists)
                self.statements.fault(
                    f"{stated[:60]!r} is no list of {edition.name}: use {known}", line
                )
            return name
        return self.names.list_of(
            row.get("dataset", ""), row.get("split", ""), row.get("gender", "")
        )


def _speech(row: Mapping[str, str]) -> str:
    """`original`, `anonymized` (both sets), `other` (not asked for), or empty: it is not said."""
    scenario = row.get("scenario", "").strip().casefold()
    if scenario:
        known = {ORIGINAL_SPEECH.name: "original", SEMI_INFORMED.name: "anonymized"}
        return known.get(scenario, "other")
    sides = [_cell(row, ENROLMENT_COLUMNS), row.get("trial", "")]
    if not any(side.strip() for side in sides):
        return ""
    original = [side.strip().casefold().startswith("orig") for side in sides]
    if all(original):
        return "original"
    return "other" if any(original) else "anonymized"


def doubled(header: Sequence[str]) -> str | None:
    """The columns of a header of which one would be read and a person might read the other."""
    for columns in (EER_COLUMNS, SYSTEM_COLUMNS, LIST_COLUMNS, *((name,) for name in header)):
        found = [name for name in header if name and name in columns]
        if len(found) > 1:
            return " and ".join(map(repr, found[:2]))
    return None


def _cell(row: Mapping[str, str], columns: Sequence[str]) -> str:
    return next((row[column] for column in columns if column in row), "")


def _is_header(line: str) -> bool:
    """Of a fixed-width table of EERs."""
    if not MENTION.search(line) or any(mark in line for mark in ",;\t"):
        return False
    words = set(line.casefold().split())
    return bool(words & set(EER_COLUMNS)) and bool(words & {"split", *LIST_COLUMNS})
