"""An evaluator that writes down what it measures, and in which process, and can be stopped."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from harness.errors import AudioError, DataError
from harness.metrics.resampling import Sampling
from harness.utility.base import Evaluation, Group, Measured, Measurement, Pair, by_gender

LEVEL = "level"


@dataclass(frozen=True)
class Counting:
    """Ratio of the loudest samples. book: the file it writes into.

    What stands in the file `<book>.stop` is not measured: an error takes its place.
    """

    book: str
    times: int = 1

    def measure(self, pair: Pair) -> Measurement:
        """Writes the utterance down."""
        with Path(self.book).open("a", encoding="utf-8") as stream:
            stream.write(f"{pair.utterance} {os.getpid()}\n")
        stop = Path(f"{self.book}.stop")
        if stop.is_file() and pair.utterance in stop.read_text(encoding="utf-8").split():
            raise AudioError("cannot be heard", fix="speak up")
        original, anonymized = pair.original.read(), pair.anonymized.read()
        return {LEVEL: self.times * int(anonymized.max()) / int(original.max())}

    def evaluate(self, group: Group, sampling: Sampling) -> Evaluation:
        """Means, of all and of each gender."""
        if any("silent" in pair.text for pair in group.pairs):
            raise DataError("is silent", where=f"{group.dataset} {group.split}", fix="speak up")
        rows = [{"text": pair.text, LEVEL: one[LEVEL]} for pair, one in group_items(group)]
        values = [
            Measured("LEVEL", each.gender, len(each), sum(m[LEVEL] for m in each.measured), 0, 1)
            for each in by_gender(group)
        ]
        quiet = [f"{pair.utterance} is quiet" for pair in group.pairs if "quiet" in pair.text]
        return Evaluation(rows, values, quiet)


def group_items(group: Group) -> list[tuple[Pair, Measurement]]:
    """Pairs with their measurements."""
    return list(zip(group.pairs, group.measured, strict=True))


def measured(book: Path) -> list[str]:
    """The utterances that were measured, in order."""
    if not book.is_file():
        return []
    return [line.split()[0] for line in book.read_text(encoding="utf-8").splitlines()]


def processes(book: Path) -> set[str]:
    """Of all that was measured."""
    return {line.split()[1] for line in book.read_text(encoding="utf-8").splitlines()}
