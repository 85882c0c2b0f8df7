"""A ranking made by hand, with something in every field."""

from __future__ import annotations

from harness.ranking.model import (
    Board,
    CertificateLine,
    CheckLine,
    ClaimLine,
    Estimate,
    Evidence,
    ListRate,
    Method,
    Overall,
    OverallRow,
    Ranking,
    Reference,
    Row,
    TwoSided,
    Without,
)

DIGEST = "0123456789abcdef" * 4
EVIL = "Evil \x1b[31mteam"

RATE = ListRate(
    "field_test_trials_f",
    "test",
    "f",
    12.5,
    12,
    156,
    96,
    1248,
    "A1/scores",
    DIGEST,
    seed=7,
    det=((1.0, 0.0), (0.125, 0.125), (0.0, 1.0)),
    speakers={"tf00": 10.0, "tf13": None},
)
ROWS = (
    Row(
        EVIL,
        "evil.zip",
        "official",
        rates=(RATE,),
        averages={"dev": Estimate(11.0, 9.0, 13.0), "test": Estimate(12.5, 10.0, 15.25)},
        deviations={"test": 0.5},
        rank=1,
        ranks=(1, 2),
        tier=1,
    ),
    Row(
        "Team",
        "1.zip",
        "official",
        averages={"test": Estimate(20.0, reason="the targets missed are of 2 speakers")},
        rank=2,
        ranks=(1, 2),
        tier=1,
    ),
    Row(
        "Team",
        "2.zip",
        "official",
        counted=False,
        averages={"test": Estimate(30.0, 25.0, 35.0)},
    ),
    Row(
        "Late",
        "late.zip",
        "late",
        ("received a day later",),
        averages={"test": Estimate(12.0, 10.0, 14.0)},
        would_rank=1,
    ),
    Row("False", "false.zip", "refuted", ("21.5 is claimed",)),
)
RANKING = Ranking(
    format=1,
    harness="0.5.0",
    benchmark="field",
    title="A field of attackers",
    method=Method(2000, 0.95, "speakers", 1986),
    rules=("A rule.",),
    boards=(
        Board(
            "A1",
            "system one",
            "test",
            ROWS,
            (Reference("baseline", "test", 25.5, "plan, Table 3"),),
            strongest=Estimate(12.0, 9.5, 14.0),
            strongest_of=("Late", "Team"),
            notes=("A note.",),
        ),
        Board("A2", "A2", "test", ()),
    ),
    overall=Overall("The rule.", 1, (OverallRow(EVIL, 1, 1.5, {"A1": 1}, ("A2",)),)),
    two_sided=TwoSided(
        ("A2", "A1"),
        {"A2": 1, "A1": 2},
        ("Late", "Team"),
        {"A1": Estimate(12.0, 9.5, 14.0), "A2": Estimate(30.0, reason="why")},
        {"A1": ("Late", "Team"), "A2": ("Team",)},
        (Without("Late", ("A1", "A2"), ("A1", "A2")), Without("Team", ("A1",), ())),
        "How to read a minimum.",
    ),
    evidence=(
        Evidence(
            "evil.zip",
            EVIL,
            "verified",
            sha256=DIGEST,
            received="2024-12-01T10:00:00+01:00",
            claims=(ClaimLine("A1", "average test", "12.5", 12.5, "verified", "results.csv"),),
            checks=(CheckLine("order", "note", "not in order", "A1/scores", 7, 12),),
            explanations=("A1 average test: a sentence",),
            certificate=CertificateLine("evil.json", DIGEST, "key", "verified", "reproduced"),
        ),
        Evidence("folder", "Team", "not checkable"),
    ),
    remarks=("A remark.",),
)
