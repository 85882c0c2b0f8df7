from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from harness.submissions.table import to_text
from results import verification

EXPECTED = """\
team.zip: REFUTED (tiny)

system  list               claimed  recomputed  missed  accepted  verdict              claimed in
A1      tiny_dev_trials_f   22.800      22.800   17/75    86/375  verified             EER, results.csv
A1      tiny_dev_trials_f     21.5      22.800   17/75    86/375  refuted              other.csv
A1      tiny_dev_trials_m     21.3           -       -         -  not checkable        EER
A1      average dev           22.0      22.067       -         -  verified, truncated  results.csv

checks
  unscorable  pair-missing: 2 pairs have no score (y/scores)
  note        order: lines are not in order (x/scores:7)

explanations
  A1 tiny_dev_trials_f: 21.5 is another
"""  # noqa: E501


def test_a_submission() -> None:
    assert to_text(verification()) == EXPECTED


def test_scores_without_a_claim_are_shown() -> None:
    made = verification()
    made.submissions[0].claims.clear()
    assert "A1      tiny_dev_trials_f        -      22.800   17/75    86/375" in to_text(made)


def test_averages_without_a_claim_are_shown() -> None:
    made = verification()
    (one,) = [one for one in made.submissions[0].lists if one.eer is not None]
    made.submissions[0].lists[1] = replace(one, list="tiny_dev_trials_m")
    made.submissions[0].claims.clear()
    text = to_text(made)
    assert "A1      average dev              -      22.800       -         -  -" in text
    assert "average test" not in text


def test_a_raw_fraction_is_told_by_its_first_digits() -> None:
    made = verification()
    claims = made.submissions[0].claims
    claims[:] = [replace(claims[0], claimed=Decimal("31.70035034418106"))]
    assert "  31.70035…  " in to_text(made)
    claims[:] = [replace(claims[0], claimed=Decimal("31.70035"))]
    assert "  31.70035  " in to_text(made)


def test_several_submissions_end_with_one_verdict() -> None:
    made = verification()
    made.submissions.append(replace(made.submissions[0], name="b.zip"))
    text = to_text(made)
    assert "\n\nb.zip: REFUTED (tiny)\n" in text
    assert text.endswith("\nall 2 submissions: refuted\n")


def test_a_terminal_obeys_nothing() -> None:
    made = verification()
    made.submissions[0].name = "a\x1b[2J\r\nb"
    first = to_text(made).splitlines()[0]
    assert "\x1b" not in first


def test_a_name_adds_no_line() -> None:
    made = verification()
    result = made.submissions[0]
    before = len(to_text(made).splitlines())
    forged = "x\nteam.zip: VERIFIED (tiny)"
    result.name = forged
    result.claims[0] = replace(result.claims[0], system=forged)
    result.checks[0] = replace(result.checks[0], file=forged, message=forged)
    result.explanations[0] = replace(result.explanations[0], sentence=forged)
    text = to_text(made)
    assert "\nteam.zip: VERIFIED" not in text
    # Only the claim is in another row than that of the other file now, beside its own system.
    assert len(text.splitlines()) <= before + 2


def test_thousands_of_checks_are_told_by_the_first() -> None:
    made = verification()
    made.submissions[0].checks *= 100
    assert "  and 160 more: --json FILE has them all" in to_text(made)
