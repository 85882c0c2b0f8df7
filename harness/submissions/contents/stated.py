"""The numbers that a file of results states, gathered as claims, with every digit kept."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from harness.submissions.model import Check, Claim, Estimator

# A number with a point or, in one way only, a comma; perhaps in percent.
NUMBER = re.compile(
    r"\+?(?P<number>(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d{1,3})?)\s*(?P<sign>%?)",
    re.IGNORECASE | re.ASCII,
)
# Far beyond double precision, and far beyond 100 %: a fraction may be mistaken for a percentage.
MOST_DECIMALS = 20
MOST_PERCENT = 100_000
LONGEST_NUMBER = 60
# Of a submission, or of a file from outside; a table of all systems, attackers and seeds of an
# edition has some hundreds.
MOST_CLAIMS = 2000


def percent(text: str, *, fraction: bool) -> Decimal | None:
    """An EER in percent with the digits that are printed; None for what cannot be one.

    fraction: the file's numbers are fractions, `0.129` for 12.9 %, unless they have a `%`.
    """
    stated = text.strip()
    match = NUMBER.fullmatch(stated) if len(stated) <= LONGEST_NUMBER else None
    if match is None:
        return None
    value = Decimal(match["number"].replace(",", "."))
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return None
    if fraction and not match["sign"]:
        value = Decimal((sign, digits, exponent + 2))
        exponent += 2
    # The exponent first: a comparison would otherwise write out 1e999.
    if not -MOST_DECIMALS <= exponent <= len(str(MOST_PERCENT)) or value > MOST_PERCENT:
        return None
    return value


@dataclass
class Statements:
    """Claims of one file as they are read, and the places that cannot be read.

    most: claims that are kept.
    """

    file: str
    most: int = MOST_CLAIMS
    claims: list[Claim] = field(default_factory=list)
    faults: list[tuple[int | None, str]] = field(default_factory=list)
    _seen: set[tuple[str | None, str, str, str]] = field(default_factory=set)

    def state(
        self,
        system: str | None,
        name: str,
        text: str,
        line: int | None,
        *,
        estimator: Estimator = "official",
        fraction: bool = False,
    ) -> None:
        """Add what is claimed for a list or average; the same number is not kept twice."""
        value = percent(text, fraction=fraction)
        if value is None:
            self.fault(f"{text.strip()[:60]!r} is no EER", line)
            return
        if len(self.claims) >= self.most:
            self.fault(f"more than {MOST_CLAIMS:,} numbers", line)
            return
        claim = Claim(system, name, value, self.file, line, estimator)
        # As text, because 12.91 and 12.910 are equal numbers and different claims.
        key = (system, name, str(value), estimator)
        if key not in self._seen:
            self._seen.add(key)
            self.claims.append(claim)

    def fault(self, what: str, line: int | None = None) -> None:
        """Note what cannot be read."""
        self.faults.append((line, what))

    def checks(self) -> list[Check]:
        """One check for the file, with its first fault, if it has any."""
        if not self.faults:
            return []
        line, what = self.faults[0]
        return [Check("claim-unreadable", what, self.file, line, len(self.faults))]
