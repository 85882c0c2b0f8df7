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

    def scores(self, system: str, attacker: str, seed: int) -> Path:
        """Official score files, one folder per scenario and list."""
        return Path("results", self.benchmark, "scores", system, attacker, f"seed-{seed}")

    def evaluation(self, system: str, attacker: str, seed: int) -> Path:
        """EERs of one run."""
        return Path("results", self.benchmark, "eer", system, attacker, f"seed-{seed}")

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
