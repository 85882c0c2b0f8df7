"""A rerun as text for people, from what a certificate holds of it."""

from __future__ import annotations

from collections.abc import Iterable

from harness.protocols.typed import build
from harness.reruns.document import certified_part
from harness.reruns.experiments import BY_NAME
from harness.reruns.model import INAUDIBLE, REPETITION, Rerun
from harness.submissions.certificates.predicate import CertifiedRerun, RerunExperiment, RerunList
from harness.submissions.shown import printable
from harness.submissions.table import aligned

LISTS = ("system", "list", "pairs", "moved", "ranks", "beyond", "submitted", "again", "agreement")
EXPERIMENTS = ("system", "list", "changed", "pairs", "moved", "ranks", "beyond", "result")
LISTS_RIGHT, EXPERIMENTS_RIGHT = range(2, 8), range(3, 7)
NOTHING = "-"
LEGEND = "moved: largest difference by the spread of the scores; ranks: largest movement in rank"


def to_text(done: Rerun) -> str:
    """What became of a submission, and why; what a terminal would obey is made visible."""
    part = build(CertifiedRerun, certified_part(done), "rerun")
    lines = [
        f"{done.name}: {done.outcome.upper()} ({done.verification.protocol.name})",
        *(f"  {name:<12}  {fact}" for name, fact in facts(part).items()),
        f"  {'verification':<12}  {done.verdict}",
        *tables(part),
    ]
    faults = [
        *(f"  {one.system}: {one.message}" for one in done.systems if one.message),
        *(
            f"  {system.system} {one.list}: {BY_NAME[one.experiment].what}: {one.said}"
            for system in done.systems
            for one in system.findings
            if one.said
        ),
    ]
    lines += ["", "faults", *faults] if faults else []
    return "".join(f"{printable(line)}\n" for line in lines)


def facts(part: CertifiedRerun) -> dict[str, str]:
    """What was run, and on what."""
    whole = part.level == "full"
    return {
        "image": part.image,
        "trials": "all" if whole else f"a sample of each list, drawn by --seed {part.seed}",
    }


def tables(part: CertifiedRerun) -> list[str]:
    """The lists, the experiments, and in words what differs or moves."""
    lists = [(system, one) for system in part.systems for one in system.lists]
    tried = [(system, one) for system in part.systems for one in system.experiments]
    lines = []
    if lists:
        rows = [(system.system, *_list(one)) for system, one in lists]
        lines += ["", *aligned([LISTS, *rows], LISTS_RIGHT)]
    if tried:
        experiments = [(system.system, *_experiment(one)) for system, one in tried]
        lines += ["", "the pair rule", *aligned([EXPERIMENTS, *experiments], EXPERIMENTS_RIGHT)]
    if lists:
        lines += ["", LEGEND]
    said = [
        *((system, one.list, _worst(one)) for system, one in lists if one.beyond or not one.same),
        *((system, one.list, one.sentence) for system, one in tried if one.state != "kept"),
    ]
    # That an image does not repeat itself explains the rest, so it comes first.
    unrepeated = {one.sentence for _, one in tried if one.experiment == REPETITION}
    said.sort(key=lambda row: row[2] not in unrepeated)
    differs = [f"  {system.system} {name}: {sentence}" for system, name, sentence in said]
    return [*lines, "", "what differs", *differs] if differs else lines


def _list(one: RerunList) -> Iterable[str]:
    eers = (one.eer_submitted, one.eer_again)
    return (
        one.list,
        f"{one.pairs:,}",
        _moved(one.share),
        _percent(one.rank_share),
        f"{one.beyond:,}",
        *(NOTHING if eer is None else f"{eer:.3f}" for eer in eers),
        one.agreed,
    )


def _experiment(one: RerunExperiment) -> Iterable[str]:
    note = ", a note" if one.state == "moved" and one.experiment == INAUDIBLE else ""
    measured = (_moved(one.share), _percent(one.rank_share), f"{one.beyond:,}")
    return (
        one.list,
        BY_NAME[one.experiment].what if one.experiment in BY_NAME else one.experiment,
        f"{one.pairs:,}",
        *((NOTHING,) * 3 if one.state == "failed" else measured),
        f"{one.state}, a little" if one.small else f"{one.state}{note}",
    )


def _worst(one: RerunList) -> str:
    order = ", in the same order" if one.agreed == "same order" else ""
    said = (
        f"{one.beyond:,} of {one.pairs:,} pairs differ by more than the tolerance{order}; most: "
        f"{one.worst}, submitted {one.submitted:.6g}, again {one.again:.6g}"
    )
    if one.eer_submitted is None or one.eer_again is None:
        return said
    return f"{said}; EER {one.eer_submitted:.3f} submitted, {one.eer_again:.3f} again"


def _moved(share: float | None) -> str:
    return "inf" if share is None else f"{share:.4f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
