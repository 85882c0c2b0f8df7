"""Pages for tests: made up, the same each time, as small or as large as wanted."""

from __future__ import annotations

import hashlib
import random
from statistics import NormalDist

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
    Status,
    TwoSided,
    Without,
)
from harness.reports.page import Fact, Figure, MeasureRow, Page, ResultRow, Results, Utility
from harness.reports.tradeoff import Kept, Tradeoff

NORMAL = NormalDist()
LISTS = (("dev", "f"), ("dev", "m"), ("test", "f"), ("test", "m"))
SYSTEMS = {
    "B3": "Phonetic transcription, pitch and energy modification",
    "B4": "Neural audio codec language modeling",
    "B5": "Vector-quantized bottleneck features from an ASR model",
    "T8-5": "Admixture of ASR-TTS and kNN voice conversion",
    "T10-2": "Neural audio codec with disentanglement",
    "T12-5": "B5 with additional pitch smoothing",
    "T25-1": "VQ-BN content and global style tokens",
}
LATE = "received 2024-12-07T09:00:00+00:00; the deadline was 2024-12-06T00:00:00-12:00"
# Of the last teams of a board.
OTHERS: dict[Status, str] = {
    "late": LATE,
    "unofficial": "its own anonymizer, whose code was not released",
    "refuted": "claims 12.3, its scores give 21.345",
    "not checkable": "no scores of libri_test_trials_m",
}
SVG = (
    '<svg viewBox="0 0 400 120"><path d="M0 100H400" stroke="var(--grid)" fill="none"/>'
    '<path d="M10 90L200 40L390 20" stroke="var(--s1)" fill="none" stroke-width="2"/>'
    '<text x="10" y="115" fill="var(--ink)" font-size="12px">score</text></svg>'
)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def det(percent: float, points: int = 100) -> tuple[tuple[float, float], ...]:
    """False-alarm and miss rates of two normal distributions that cross at this EER."""
    half = -NORMAL.inv_cdf(percent / 100)
    thresholds = [-4 + 8 * i / points for i in range(points + 1)]
    return tuple((1 - NORMAL.cdf(t + half), NORMAL.cdf(t - half)) for t in thresholds)


def rate(attacker: str, system: str, split: str, gender: str, percent: float) -> ListRate:
    file = f"{attacker}/{system}/libri_{split}_enrolls-libri_{split}_trials_{gender}/scores"
    return ListRate(
        list=f"libri_{split}_trials_{gender}",
        split=split,
        gender=gender,
        percent=percent,
        misses=round(5 * percent),
        false_alarms=round(100 * percent),
        n_target=500,
        n_nontarget=10000,
        file=file,
        sha256=sha256(file),
        det=det(percent),
    )


def board(system: str, teams: list[str], draw: random.Random) -> Board:
    """Ranked teams, of ascending EER; then, where there are more than four, one of each other."""
    kinds = list(OTHERS) if len(teams) > 4 else []
    rows = []
    for place, team in enumerate(teams):
        other = place - (len(teams) - len(kinds))
        status: Status = kinds[other] if other >= 0 else "official"
        percent = 15 + 25 * place / len(teams) + draw.random()
        rates = [
            rate(team, system, split, gender, percent + (3 if gender == "f" else -3))
            for split, gender in LISTS
        ]
        ranked = status == "official"
        rows.append(
            Row(
                attacker=team,
                entry=f"{team}.zip",
                status=status,
                reasons=() if ranked else (OTHERS[status],),
                rates=tuple(rates[: 3 if status == "not checkable" else 4]),
                averages={
                    "test": Estimate(percent, percent - 6.2, percent + 6.9),
                    "dev": Estimate(percent + 1.4, reason="12 enrolled speakers are too few"),
                },
                deviations={"test": 0.4, "dev": 0.5} if place == 0 else None,
                rank=place + 1 if ranked else None,
                ranks=(max(1, place - 1), place + 4) if ranked else None,
                tier=1 + place // 3 if ranked else None,
                would_rank=2 if status in ("late", "unofficial") else None,
            )
        )
    lowest = rows[0].averages["test"].percent if rows[0].averages else 0.0
    return Board(
        system=system,
        title=SYSTEMS[system],
        split="test",
        rows=tuple(rows),
        references=(
            Reference("baseline", "test", 24.5, "plan, Table 3"),
            Reference("baseline", "dev", 26.25, "plan, Table 3"),
        ),
        strongest=Estimate(lowest, lowest - 7, lowest + 2),
        strongest_of=(teams[0],),
        notes=("The interval of a minimum is too low among equals.",),
    )


def evidence(team: str, systems: tuple[str, ...], status: Status) -> Evidence:
    claims = tuple(
        ClaimLine(
            system=system,
            list=f"libri_{split}_trials_{gender}",
            claimed="21.35",
            recomputed=21.345,
            verdict="verified",
            file=f"{team}/results.csv",
            remark="rounded" if gender == "f" else "",
        )
        for system in systems
        for split, gender in LISTS
    )
    name = f"{team}.zip"
    return Evidence(
        name=name,
        attacker=team,
        verdict=status if status in ("refuted", "not checkable") else "verified",
        sha256=sha256(name),
        received="2024-12-04T12:00:00+00:00",
        claims=claims,
        checks=(
            CheckLine("separators", "error", "columns are separated by tabs", "B3/scores", 1, 1200),
            CheckLine("late", "note", LATE),
        ),
        explanations=("The EER of B3 fits scores that were rounded to two decimals.",),
        certificate=CertificateLine(f"{name}.json", sha256(team), "ab12", "verified", "reproduced"),
    )


def ranking_of(teams: list[str], systems: tuple[str, ...], seed: int = 1) -> Ranking:
    draw = random.Random(seed)
    boards = tuple(board(system, teams, draw) for system in systems)
    statuses = {row.attacker: row.status for row in boards[0].rows}
    official = [team for team in teams if statuses[team] == "official"]
    overall = tuple(
        OverallRow(team, place, float(place), dict.fromkeys(systems, place), ())
        for place, team in enumerate(official, start=1)
    )
    moved = (systems[1], systems[0], *systems[2:]) if len(systems) > 1 else systems
    return Ranking(
        format=1,
        harness="0.5",
        benchmark="vpac2025",
        title="The First VoicePrivacy Attacker Challenge",
        method=Method(2000, 0.95, "speakers, jointly among enrolments and trials", 1),
        rules=("Attackers are ranked separately for each system.", "A lower EER is better."),
        boards=boards,
        overall=Overall("By the mean of a team's ranks; the plan leaves it open.", 5, overall),
        two_sided=TwoSided(
            systems=systems,
            places={name: place for place, name in enumerate(systems, start=1)},
            attackers=tuple(teams),
            privacy={one.system: one.strongest for one in boards if one.strongest},
            strongest=dict.fromkeys(systems, (teams[0],)),
            without=(
                Without(teams[0], moved, moved[:2]),
                *(Without(team, systems, ()) for team in teams[1:]),
            ),
            note="Such an interval is too low among equals.",
        ),
        evidence=tuple(evidence(team, systems, statuses[team]) for team in teams),
        remarks=("other.json: a certificate of another archive, left out",),
    )


def utility() -> Utility:
    """Of two splits; original speech, a system on the front, and one of which not all is there."""
    eer = Kept("EER", "ecapa", "", 10.0, 6.0, 14.0, 10.0, 0.0)
    wer = Kept("WER", "wer", "libri", 8.0, 7.0, 9.25, 8.0, 0.0)
    uar = Kept("UAR", "emodb-emotion", "emodb", 70.0, 65.0, 75.0, 70.0, 0.0)
    less = (
        Kept("EER", "ecapa", "", 30.0, 24.0, 36.0, 10.0, 0.5),
        Kept("WER", "wer", "libri", 31.0, 27.0, 35.0, 8.0, 0.25),
        # Worse than a guess.
        Kept("UAR", "emodb-emotion", "emodb", 18.25, None, None, 70.0, 1.15),
    )
    return Utility(
        tuple(
            one
            for split in ("dev", "test")
            for one in (
                Tradeoff("orig", split, (eer, wer, uar), 0.0, None),
                Tradeoff("B2", split, less, -0.2, True),
                Tradeoff("B3", split, (eer, wer), None, None),
            )
        ),
        "orig",
        ("results/libri-mini/tradeoff.csv", "results/libri-mini/utility.csv"),
    )


def results() -> Results:
    rows = tuple(
        ResultRow(
            system=system,
            attacker="ecapa",
            scenario=scenario,
            split=split,
            by_gender={"f": 12.5, "m": 9.25},
            mean=Estimate(10.875, 6.1, 15.9) if system == "B2" else Estimate(5.72, reason="few"),
            deviation=0.55,
            seeds={1: 10.5, 2: 11.25},
            published="10.51" if scenario == "semi-informed" else None,
            source="plan, Table 3" if scenario == "semi-informed" else None,
            file="results/libri-mini/report/intervals.csv",
        )
        for system in ("orig", "B2")
        for scenario in ("lazy-informed", "semi-informed")
        for split in ("dev", "test")
    )
    measures = tuple(
        MeasureRow(
            system="B2",
            attacker="ecapa",
            scenario="semi-informed",
            seed=seed,
            list="libri_test_trials_f",
            values={"linkability": "0.801", "ZEBRA population (bit)": "0.492"},
            cautions={
                "ZEBRA population (bit)": "Its extreme bins depend on the sample size alone."
            },
            file="results/libri-mini/report/measures.csv",
        )
        for seed in (1, 2)
    )
    figures = (
        Figure(
            title="DET curves of B2",
            caption="One curve a list.",
            text="Two curves that fall from the upper left to the lower right.",
            svg=SVG,
            files=("results/libri-mini/report/plots/det-B2.svg",),
            source="results/libri-mini/det.csv",
        ),
    )
    method = Method(1500, 0.9, "speakers", 7)
    return Results(rows, measures, figures, ("Two seeds are few.",), method, utility())


def page(
    teams: list[str] | int = 8,
    systems: tuple[str, ...] = ("B3", "B4", "T8-5"),
) -> Page:
    """Results, and a ranking of these teams, or so many. One page holds everything there is."""
    names = [f"Team {n:03}" for n in range(1, teams + 1)] if isinstance(teams, int) else teams
    return Page(
        benchmark="libri-mini",
        title="An excerpt of LibriSpeech",
        reference="A plan, version 1.0",
        rules=("Attackers are ranked separately for each anonymization system.",),
        results=results(),
        ranking=ranking_of(names, systems),
        provenance=(
            Fact("harness", "0.5"),
            Fact("trials libri_test_trials_f", sha256("f"), "dvc.lock"),
        ),
    )


def large_page() -> Page:
    """100 teams and all seven systems."""
    return page(100, tuple(SYSTEMS))
