"""The codes of all checks, in order of precedence.

Where one fault shows as several (a file cut in the middle lacks pairs too), the primary code is the
one that stands first here: causes stand before their consequences. Codes are stable: they may be
added, never renamed.

Severity. `note`: a suspicion or a remark, never a verdict. `error`: not the official format, yet it
can be read in one way only, or scores that are surely not meant so; they are scored as they stand.
`unscorable`: what it touches is not checkable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["note", "error", "unscorable"]


@dataclass(frozen=True)
class Code:
    """name: stable. meaning: one line for the documentation."""

    name: str
    severity: Severity
    meaning: str


CODES = (
    # The archive.
    Code("archive-unreadable", "unscorable", "not an archive, truncated, encrypted or corrupt"),
    Code("archive-path", "unscorable", "a member's name leaves the archive or is no name"),
    Code("archive-link", "unscorable", "a symbolic or hard link"),
    Code("archive-device", "unscorable", "a device, pipe or socket"),
    Code("archive-duplicate", "unscorable", "two members of the same name"),
    Code("archive-name-clash", "unscorable", "names that differ only in case or Unicode form"),
    Code("archive-limit", "unscorable", "larger, deeper or more compressed than a limit allows"),
    Code("archive-empty", "unscorable", "no file in it"),
    # The layout.
    Code("no-scores", "unscorable", "no score file of a list of the benchmark"),
    Code("scores-ambiguous", "unscorable", "several score files for one system and list"),
    Code("description-unreadable", "unscorable", "submission.yaml cannot be read"),
    Code("hash-mismatch", "unscorable", "a file is not the one that submission.yaml describes"),
    # The form of a score file.
    Code("file-empty", "unscorable", "nothing in a score file"),
    Code("file-limit", "unscorable", "a score file or a line of it is larger than a limit"),
    Code("encoding-invalid", "unscorable", "not UTF-8"),
    Code("encoding-utf16", "error", "UTF-16 instead of UTF-8"),
    Code("encoding-bom", "error", "begins with a byte order mark"),
    Code("line-ends", "error", "Windows or old Macintosh line ends instead of LF"),
    Code("header", "error", "a header line"),
    Code("decimal-comma", "error", "a comma instead of a point in numbers"),
    Code("separators", "error", "columns are not separated by one space each"),
    Code("blank-lines", "error", "blank lines"),
    Code("columns-swapped", "unscorable", "trial utterance before enrolled speaker"),
    Code("columns", "unscorable", "not three columns"),
    Code("number", "unscorable", "a score that is not a number"),
    Code("non-finite", "unscorable", "NaN, or infinite in single precision"),
    Code("gender-swapped", "unscorable", "scores of the other gender's list"),
    Code("split-swapped", "unscorable", "scores of the other split's list"),
    Code("pair-conflict", "unscorable", "a pair stands twice with different scores"),
    Code("pair-missing", "unscorable", "a trial without a score"),
    Code("pair-unknown", "error", "a pair that is no trial of the list"),
    Code("pair-duplicate", "error", "a pair stands twice with the same score"),
    Code("list-missing", "unscorable", "a list of the benchmark without scores"),
    Code("trials-unknown", "unscorable", "the trial list is not known: give it with --trials"),
    Code("list-unproven", "unscorable", "nothing shows that the pairs are the edition's list"),
    # What is claimed.
    Code("claim-unreadable", "unscorable", "a file of results that cannot be read"),
    Code("claim-missing", "unscorable", "scores without a claimed EER"),
    Code("claim-without-scores", "unscorable", "a claimed EER without scores"),
    # The anonymized speech, in an edition that asks for it.
    Code("audio-unreadable", "error", "a WAV file that cannot be read, or is cut short"),
    Code("audio-rate", "error", "audio of another rate than 16 kHz, or of several channels"),
    Code("audio-silent", "error", "a WAV file without a sample that sounds"),
    Code("audio-names", "error", "audio of a set that lacks utterances, or has others"),
    Code("audio-converted", "note", "audio that is not PCM of 16 bits, and is converted to it"),
    # The scores themselves.
    Code("scores-constant", "error", "all scores of a list are the same"),
    Code("sign-reversed", "error", "an EER well above 50 %: lower scores mean the same speaker"),
    Code("enrolment-ignored", "error", "a trial has the same score for every enrolled speaker"),
    Code("scores-shared", "note", "the same scores for two submissions, systems or lists"),
    Code("scores-rounded", "note", "scores are rounded so coarsely that the EER depends on it"),
    Code("scores-tied", "note", "many trials share their score with others"),
    Code("perfect-separation", "note", "every target scores above every nontarget"),
    Code("label-precision", "note", "target and nontarget scores have different numbers of digits"),
    Code("label-order", "note", "the order of the lines tells targets from nontargets"),
    Code("system-unknown", "note", "a system that the edition does not have"),
    Code("system-ignored", "note", "--system where the submission names several systems itself"),
    Code("claim-elsewhere", "note", "a claim from outside about a system without scores here"),
    Code("order", "note", "lines are not in the order of the list"),
    Code("final-newline", "note", "the last line has no line end"),
    Code("measure-unchecked", "note", "a claim of a measure that no scores give: not checkable"),
    Code("claim-coarse", "note", "a claim of so few digits that it says little"),
    # The rules of the edition.
    Code("description-differs", "error", "submission.yaml names other systems or another edition"),
    Code("late", "error", "received after the submission deadline"),
    Code("own-anonymizer", "error", "an attack on the team's own anonymizer: not official"),
    Code("resource-undeclared", "error", "data or a model that was not declared in time"),
    Code("resource-unlisted", "error", "data or a model that is not on the edition's list"),
    Code("folder-misspelt", "note", "a folder of scores that is named almost as a list"),
    Code("scenario-other", "note", "scores of an attacker or of speech that are not asked for"),
    Code("file-unknown", "note", "a file that no part of the format asks for"),
)

PRECEDENCE = {code.name: place for place, code in enumerate(CODES)}
SEVERITY: dict[str, Severity] = {code.name: code.severity for code in CODES}
