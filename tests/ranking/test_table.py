"""The text for people."""

from __future__ import annotations

from dataclasses import replace

from harness.ranking.table import to_text

from .sample import RANKING

EXPECTED = """\
A field of attackers (field): attackers, EER in percent

A1: system one
  rank  team               entry       test  95 % interval     dev  ranks   tier
     1  Evil \\x1b[31mteam  evil.zip   12.50  10.00 to 15.25  11.00  1 to 2  1
     2  Team               1.zip      20.00  -                   -  1 to 2  1
     -  Team               2.zip      30.00  25.00 to 35.00      -  -       -     another entry of the team counts
     -  Late               late.zip   12.00  10.00 to 14.00      -  -       -     late, would be 1
     -  False              false.zip      -  -                   -  -       -     refuted
  baseline (plan, Table 3), test: 25.50
  strongest: 12.00 (9.50 to 14.00), Late (late), Team
  no interval: the targets missed are of 2 speakers
  Late (late.zip), late: received a day later
  False (false.zip), refuted: 21.5 is claimed

A2
  no entry

overall, 1 are invited
  place  team               mean rank           ranks
      1  Evil \\x1b[31mteam       1.50  invited  A1 1
  The rule.

systems, most private first: the strongest attacker's EER
  system    EER  interval       strongest
  A2      30.00  -              Team
  A1      12.00  9.50 to 14.00  Late (late), Team
  without Late: A1 > A2

submissions
  evil.zip  Evil \\x1b[31mteam  verified
  folder    Team               not checkable

remarks
  A remark.

notes
  A note.

rules
  A rule.
  Intervals of 95 %, ranks and tiers: 2,000 draws of speakers, seed 1986.
"""  # noqa: E501


def test_a_ranking() -> None:
    assert to_text(RANKING) == EXPECTED


def test_long_names_are_cut() -> None:
    board = replace(
        RANKING.boards[0], rows=(replace(RANKING.boards[0].rows[1], attacker="x" * 500),)
    )
    text = to_text(replace(RANKING, boards=(board,), overall=None, two_sided=None))
    assert f"{'x' * 39}…" in text
    assert "x" * 40 not in text


def test_all_of_many_strongest_attackers_are_named() -> None:
    # Each name is cut by itself; together they are longer than a name may be.
    names = (*("Team of some University",) * 3, "x" * 500, "Late")
    board = replace(RANKING.boards[0], strongest_of=names)
    assert f"14.00), {'Team of some University, ' * 3}{'x' * 39}…, Late (late)\n" in to_text(
        replace(RANKING, boards=(board,))
    )


def test_nobody() -> None:
    text = to_text(
        replace(RANKING, boards=(), overall=replace(RANKING.overall, rows=()), evidence=())  # type: ignore[type-var]
    )
    assert "nobody is ranked" in text
    assert "submissions\n  none\n" in text
