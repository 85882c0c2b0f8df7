"""Where the stages leave their outputs, relative to the repository's root; each benchmark apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """Paths of one benchmark."""

    benchmark: str

    @property
    def corpus(self) -> Path:
        """Original speech and trial lists."""
        return Path("data", self.benchmark, "corpus")

    def anonymized(self, system: str) -> Path:
        """Speech of a system, one corpus per set."""
        return Path("data", self.benchmark, "anonymized", system)

    def imported(self, system: str) -> Path:
        """Speech of a system that others anonymized, as imported; one corpus per set."""
        return Path("data", self.benchmark, "imported", system)

    def model(self, system: str, attacker: str, seed: int) -> Path:
        """An attacker trained on the speech of a system."""
        return Path("models", self.benchmark, system, attacker, f"seed-{seed}")

    def emotional(self, name: str) -> Path:
        """A set of original emotional speech: apart, so that it can come later."""
        return Path("data", self.benchmark, "emotion", "corpus", name)

    def emotional_anonymized(self, name: str, system: str) -> Path:
        """The folder with that set as a system has it."""
        return Path("data", self.benchmark, "emotion", "anonymized", name, system)

    def scores(self, system: str, attacker: str, seed: int) -> Path:
        """Official score files, one folder per scenario and list."""
        return Path("results", self.benchmark, "scores", system, attacker, f"seed-{seed}")

    def evaluation(self, system: str, attacker: str, seed: int) -> Path:
        """EERs of one run."""
        return Path("results", self.benchmark, "eer", system, attacker, f"seed-{seed}")

    def utility(self, system: str, evaluator: str) -> Path:
        """What an evaluator measured of a system, beside the EER."""
        return Path("results", self.benchmark, "utility", system, evaluator)

    def voices(self, system: str, attacker: str, seed: int) -> Path:
        """How different the voices of a system are to an attacker."""
        return self.utility(system, f"voices-{attacker}-seed-{seed}")

    @property
    def results(self) -> Path:
        """Tables of the whole benchmark."""
        return Path("results", self.benchmark)

    @property
    def report(self) -> Path:
        """The page of the whole benchmark, with its tables and pictures."""
        return self.results / "report"

    @property
    def page(self) -> Path:
        """Where a page goes that is made on demand, of runs or of submissions."""
        return self.results / "report.html"

    @property
    def inbox(self) -> Path:
        """Submissions as they came."""
        return Path("submissions", "inbox", self.benchmark)

    @property
    def reports(self) -> Path:
        """What was found in them, one folder each."""
        return Path("submissions", "reports", self.benchmark)
