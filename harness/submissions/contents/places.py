"""What the path of a member promises: scores, a claim, and of which scenario.

A score file is called `scores` in a folder that names its list, or it bears the list's name itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness.protocols.scenarios import IGNORANT, LAZY_INFORMED, ORIGINAL, SCENARIOS, SEMI_INFORMED
from harness.submissions.contents.naming import MARKS, PairName

EXTENSIONS = ("scores", "score", "eer", "txt", "tsv", "csv")
# The suffix of a system may be anything, and follows `results` without a mark of its own.
RESULTS = re.compile(
    r"(?:results(?:_for_rank)?|(?:result(?:_for_rank)?|eer|averages)(?![a-z]))(.*)", re.IGNORECASE
)
# A file of its own for each list: the list's name, and perhaps what is in the file.
FLAT = re.compile(r"(?:(scores?|eer)[_.-])?(?P<name>.*?)(?:[_.-](scores?|eer))?", re.IGNORECASE)
NOT_SCORES = re.compile(r".*(?:results?|det|roc|hist\w*|log|trials|key|labels?|wer)", re.IGNORECASE)
ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|tar\.\w+)$", re.IGNORECASE)
# Folders that say nothing of the system within them.
GENERIC = re.compile(r"exp|scores?|asv.*|results?(?:[^a-z].*)?|seed-\d+|eer", re.IGNORECASE)
SEED = re.compile(r"seed-\d+")
# Of 2022, beside each other: of an attacker trained on anonymized speech, and on original speech.
RESULTS_2022 = re.compile(r"results-\d[\w-]*(?P<orig>\.orig)?", re.IGNORECASE)
SCENARIO_NAMES = {scenario.name for scenario in SCENARIOS}
# What people rightly send along: documents, tables, settings, code.
ORDINARY = re.compile(
    r"[^.]*|.*\.(?:md|rst|txt|pdf|docx?|odt|tex|bib|html?|csv|tsv|json|ya?ml|toml|cfg|ini|log|out"
    r"|png|jpe?g|svg|eps|py|sh|ipynb|scores?|eer|sha256)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Place:
    """A member as its path shows it. name: what should name a list; folders: above that."""

    kind: Literal["scores", "EER", "results"]
    name: str
    folders: tuple[str, ...]
    sure: bool = True


def place_of(path: str) -> Place | None:
    """What a path promises; None for a file that cannot be part of the results."""
    *folders, file = path.split("/")
    stem, dot, extension = file.rpartition(".")
    if not dot or extension.casefold() not in EXTENSIONS:
        stem, extension = file, ""
    kind, word = extension.casefold(), stem.casefold()
    table = kind in ("csv", "tsv")
    if folders and word in ("scores", "score"):
        return Place("scores", folders[-1], tuple(folders[:-1]))
    if folders and word == "eer" and not table:
        return Place("EER", folders[-1], tuple(folders[:-1]))
    results = RESULTS.fullmatch(stem)
    if results and (table or not word.startswith("eer")):
        return Place("results", results.group(1), tuple(folders))
    flat = FLAT.fullmatch(stem)
    if flat is None or not flat["name"]:
        return None
    said = {(part or "").casefold() for part in (flat[1], flat[3], kind)}
    if "eer" in said:
        return Place("EER", flat["name"], tuple(folders))
    sure = bool(said & {"scores", "score"})
    return Place("scores", flat["name"], tuple(folders), sure)


def scenario_of(folders: Sequence[str], pair: PairName | None) -> str | None:
    """Name of the scenario, None where none has such speech; pair: None for a table of results.

    In the layout of 2022 and under `asv_orig`, what has no suffix is original speech.
    """
    original = pair is not None and pair.prefixed
    lazy = False
    for folder in reversed([folder.casefold() for folder in folders]):
        if folder in SCENARIO_NAMES:
            return folder
        of_2022 = RESULTS_2022.fullmatch(folder)
        if folder.startswith("asv_anon"):
            break
        if folder.startswith("asv_orig") or (of_2022 and of_2022["orig"]):
            original = lazy = True
            break
        if of_2022 and original and pair is not None and not (pair.enrolment or pair.trial):
            # Original speech, and an attacker that was trained on anonymized speech.
            return None
    if pair is None or not (pair.enrolment or pair.trial):
        return ORIGINAL.name if original else SEMI_INFORMED.name
    if not pair.enrolment:
        return IGNORANT.name
    if not pair.trial:
        return None
    return LAZY_INFORMED.name if lazy else SEMI_INFORMED.name


def bare_name(folder: str) -> str:
    """A folder's name without what is not the system's: archive ending, `asv_anon`, marks."""
    bare = ARCHIVE.sub("", folder)
    if bare.casefold().startswith(("asv_anon", "asv_orig")):
        bare = bare[len("asv_anon") :]
    return bare.strip(MARKS)
