"""The scores of a file's lines at the positions of their pairs, and the faults of the lines."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.submissions.model import Scores
from harness.submissions.reference import Reference
from harness.submissions.scores import columns
from harness.submissions.scores.lines import Faults

# Lines at the top that may be a header.
HEADER_LINES = 3

# Characters of a number that `float` reads as the official scripts do.
PLAIN = b"0123456789+-.eE"
WIDEST = 255


class Table:
    """Scores of the pairs of all lists, laid one after the other as in `Reference.position`.

    first, last: the score that stands first and last for a pair, NaN without one. digits: number of
    characters of the first; line: its line, from 1; both 0 without one. begun: was any line read.
    """

    def __init__(self, reference: Reference, faults: Faults) -> None:
        self._reference = reference
        self._position = reference.position
        self._faults = faults
        size = len(self._position)
        self.first = np.full(size, np.nan, np.float32)
        self.last = self.first.copy()
        self.digits = np.zeros(size, np.uint8)
        self.line = np.zeros(size, np.int64)
        self.begun = False

    def add(self, start: int, lines: list[bytes]) -> None:
        """Lines of a file in their order; start: number of the first."""
        if not self.add_plain(start, lines):
            self.add_each(start, lines)

    def add_plain(self, start: int, lines: list[bytes]) -> bool:
        """Store lines that are all without fault, pairs that stand twice apart. False if not.

        Where the text before the last space is a known pair and what follows is a finite number of
        plain characters, `add_each` finds no fault and the same number, in two to three times the
        time.
        """
        parts = [line.rpartition(b" ") for line in lines]
        places = [self._position.get(key) for key, _, _ in parts]
        texts = [text for _, _, text in parts]
        if None in places or b"".join(texts).translate(None, PLAIN):
            return False
        try:
            numbers = np.array([float(text) for text in texts])
        except ValueError:
            return False
        if not (np.abs(numbers) < columns.INFINITE).all():
            return False
        rows = np.arange(start, start + len(lines))
        self._store(np.array(places), numbers, np.array([len(text) for text in texts]), rows)
        return True

    def add_each(self, start: int, lines: list[bytes]) -> None:
        """Store what can be read of lines of any form, and record their faults."""
        known = [
            one
            for row, line in enumerate(lines, start)
            if (one := self._read(row, line)) is not None
        ]
        if known:
            places, numbers, digits, rows = zip(*known, strict=True)
            self._store(np.array(places), np.array(numbers), np.array(digits), np.array(rows))

    def _read(self, row: int, line: bytes) -> tuple[int, float, int, int] | None:
        """Position, score, its characters and number of a line; None where it is of no pair."""
        faults = self._faults
        if not columns.is_text(line):
            faults.add("encoding-invalid", row, line)
            return None
        found, separated = columns.split(line)
        if not found:
            faults.add("blank-lines", row)
            return None
        if len(found) != 3:
            faults.add("columns", row, line)
            return None
        speaker, utterance, text = found
        place = self._position.get(speaker + b" " + utterance)
        swapped = self._position.get(utterance + b" " + speaker) if place is None else None
        number = columns.to_number(text)
        if number is None and (number := columns.with_decimal_comma(text)) is not None:
            faults.add("decimal-comma", row, text)
        unknown = place is None and swapped is None
        if number is None and unknown and not self.begun and row <= HEADER_LINES:
            faults.add("header", row, line)
            return None
        self.begun = True
        if not separated:
            faults.add("separators", row, line)
        if number is None:
            faults.add("number", row, text)
        elif not columns.is_finite(number):
            faults.add("non-finite", row, text)
            number = None
        if swapped is not None:
            faults.add("columns-swapped", row, line)
            place = swapped
        if place is None:
            faults.add("pair-unknown", row, speaker + b" " + utterance)
            return None
        return place, np.nan if number is None else number, len(text), row

    def _store(
        self,
        places: npt.NDArray[np.int64],
        numbers: npt.NDArray[np.float64],
        digits: npt.NDArray[np.int64],
        rows: npt.NDArray[np.int64],
    ) -> None:
        """Scores at known positions, in the order of their lines."""
        self.begun = True
        scores = numbers.astype(np.float32)
        fresh = np.flatnonzero(self.line[places] == 0)[::-1]
        # Backwards, because of repeated indices numpy keeps the last: here the first line.
        self.line[places[fresh]] = rows[fresh]
        self.first[places[fresh]] = scores[fresh]
        self.digits[places[fresh]] = np.minimum(digits[fresh], WIDEST)
        self.last[places] = scores
        again = np.flatnonzero(self.line[places] != rows)
        if len(again):
            same = scores[again] == self.first[places[again]]
            for code, of in (("pair-duplicate", again[same]), ("pair-conflict", again[~same])):
                if len(of):
                    self._faults.add(code, int(rows[of[0]]), self.key(int(places[of[0]])), len(of))

    def key(self, place: int) -> bytes:
        """The pair at a position."""
        name = self._reference.list_at(place)
        return self._reference.lists[name].keys[place - self._reference.starts[name]]

    def range_of(self, name: str) -> slice:
        """The positions of a list."""
        start = self._reference.starts[name]
        return slice(start, start + len(self._reference.lists[name]))

    def held(self) -> dict[str, int]:
        """How many pairs of each list have a line."""
        return {
            name: int(np.count_nonzero(self.line[self.range_of(name)]))
            for name in self._reference.lists
        }

    def scores(self, name: str) -> Scores:
        """Of a list."""
        first, last = self.first[self.range_of(name)], self.last[self.range_of(name)]
        return Scores(first, first if np.array_equal(first, last, equal_nan=True) else last)
