from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest
import small

from harness.metrics.eer import equal_error_rate
from harness.submissions.limits import Limits
from harness.submissions.members import Member
from harness.submissions.model import Check, ListResult, Scores
from harness.submissions.reference import Reference, ReferenceList, from_trials
from harness.submissions.scores.reading import Reading, read_scores
from harness.submissions.scores.suspicion import examine, shared
from harness.submissions.scores.writing import areas

PATH = "exp/scores"
LISTS = {
    listed.trials: from_trials(listed, small.trials_of(listed.split, listed.gender), "made here")
    for listed in small.edition().lists
}
REFERENCE = Reference(LISTS)
OWN = LISTS[small.list_name("dev", "f")]
TARGET = OWN.target
SCORES = small.scores_of("A1", "dev", "f").astype(np.float64)
RANDOM = np.random.default_rng(7)

Write = Callable[[float, bool], str]


def plain(score: float, target: bool) -> str:
    return repr(score)


def reading_of(
    scores: np.ndarray, write: Write = plain, order: np.ndarray | None = None
) -> Reading:
    """Written as a file, its lines in another order of the trials perhaps, and read."""
    places = range(len(OWN)) if order is None else order.tolist()
    data = b"".join(
        b"%b %b\n" % (OWN.keys[i], write(float(scores[i]), bool(TARGET[i])).encode())
        for i in places
    )
    return read_scores(Member(PATH, len(data), lambda: io.BytesIO(data)), OWN, REFERENCE, Limits())


def checks(
    scores: np.ndarray, write: Write = plain, order: np.ndarray | None = None
) -> list[Check]:
    reading = reading_of(scores, write, order)
    assert reading.checks == ()
    found = examine(PATH, reading, OWN)
    assert all(check.file == PATH and check.message.isprintable() for check in found)
    return found


def codes(scores: np.ndarray, write: Write = plain, order: np.ndarray | None = None) -> list[str]:
    return [check.code for check in checks(scores, write, order)]


HONEST: dict[str, Write] = {
    "repr": plain,
    "float32": lambda score, target: str(np.float32(score)),
    "%.6f": lambda score, target: f"{score:.6f}",
    "%+.7f": lambda score, target: f"{score:+.7f}",
    "%.6g": lambda score, target: f"{score:.6g}",
    "%.17e": lambda score, target: f"{score:.17e}",
}


@pytest.mark.parametrize("form", HONEST)
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_honest_scores_have_no_checks(form: str, scale: float) -> None:
    assert codes(scale * SCORES, HONEST[form]) == []
    assert codes(RANDOM.permutation(scale * SCORES), HONEST[form]) == []


def test_constant() -> None:
    (check,) = checks(np.full(len(OWN), 0.5))
    assert (check.code, check.count) == ("scores-constant", 450)
    assert "0.5" in check.message


def test_reversed() -> None:
    (check,) = checks(-SCORES)
    assert check.code == "sign-reversed"
    rate = equal_error_rate(SCORES[TARGET], SCORES[~TARGET]).rate
    assert f"the EER is {100 - 100 * rate:.3f} %" in check.message


def test_guessing_is_not_reversed() -> None:
    """Also where each speaker has one random vector, so that a list has few independent trials."""
    highest = 0.0
    for seed in range(60):
        random = np.random.default_rng(seed)
        speaker = np.arange(90)[OWN.utterance] // 15
        enrolled, tried = random.normal(size=(5, 8)), random.normal(size=(6, 8))
        scores = (enrolled[OWN.enrolment] * tried[speaker]).sum(1)
        scores += random.normal(size=len(OWN))
        highest = max(highest, equal_error_rate(scores[TARGET], scores[~TARGET]).rate)
        assert "sign-reversed" not in codes(scores)
    assert highest > 0.6  # far above 50 %, and still by chance


def test_a_weak_reversed_attacker_is_found_on_speakers_that_agree() -> None:
    noise = np.random.default_rng(3).normal(size=len(OWN))
    assert codes(noise - 0.8 * TARGET) == ["sign-reversed"]
    assert codes(noise + 0.8 * TARGET) == []


def of_utterances(spread: float) -> np.ndarray:
    """Scores of the utterance alone, but for a spread around them."""
    random = np.random.default_rng(5)
    return random.normal(size=90)[OWN.utterance] + spread * random.normal(size=len(OWN))


@pytest.mark.parametrize("spread", [0.0, 1e-7, 1e-5])
def test_enrolment_ignored(spread: float) -> None:
    (check,) = checks(of_utterances(spread))
    assert (check.code, check.count) == ("enrolment-ignored", 90)
    assert "90 of 90 trial utterances" in check.message


def test_enrolment_that_matters_little_is_not_ignored() -> None:
    assert codes(of_utterances(0.01)) == []
    few = of_utterances(0.0)
    few[OWN.utterance < 10] += np.random.default_rng(5).normal(size=(OWN.utterance < 10).sum())
    assert "enrolment-ignored" not in codes(few)


@pytest.mark.parametrize("decimals", [0, 1])
def test_rounded(decimals: int) -> None:
    (check,) = checks(SCORES, lambda score, target: f"{score:.{decimals}f}")
    assert check.code == "scores-rounded"
    assert f"rounded to {decimals} after the point" in check.message
    assert check.count > 400


def test_the_rounded_rates_are_those_of_broken_ties() -> None:
    """By hand: 300 nontargets and 5 targets at 0, 75 nontargets and 70 targets at 1."""
    scores = np.where(TARGET, 1.0, 0.0)
    scores[np.flatnonzero(TARGET)[:5]] = 0.0
    scores[np.flatnonzero(~TARGET)[:75]] = 1.0
    (check,) = checks(scores)
    # Targets above the nontargets they are tied with: 5 of 75 are missed while 75 of 375 nontargets
    # leave one by one, until 25 of 375 are left. Below them: 75 of 375 stay while 15 of 75 leave.
    assert "between 6.667 and 20.000 %" in check.message


def test_rounding_that_moves_nothing_is_none() -> None:
    """All ties are within a class, so the EER does not depend on how they are broken."""
    scores = np.round(SCORES, 1) + 0.05 * TARGET
    assert codes(scores, lambda score, target: f"{score:.2f}") == []


def test_tied() -> None:
    (check,) = checks(np.round(SCORES * 7) / 7)
    assert check.code == "scores-tied"
    half_precision = (0.6 + 0.05 * SCORES).astype(np.float16)
    assert codes(half_precision.astype(np.float64)) == ["scores-tied"]


def test_perfect_separation() -> None:
    (check,) = checks(SCORES + 20 * TARGET)
    assert check.code == "perfect-separation"
    touching = SCORES + 20 * TARGET
    touching[np.flatnonzero(~TARGET)[0]] = touching[TARGET].min()
    assert codes(touching) == []


def test_label_precision() -> None:
    (check,) = checks(SCORES, lambda score, target: f"{score:.{5 if target else 7}f}")
    assert check.code == "label-precision"
    assert "2.0 characters shorter" in check.message
    (check,) = checks(SCORES, lambda score, target: f"{score:.{8 if target else 7}f}")
    assert "1.0 characters longer" in check.message


def test_length_that_follows_the_score_is_no_label_precision() -> None:
    """Higher scores are printed longer here, so targets are, too."""
    scores = np.exp(3 * SCORES)
    reading = reading_of(scores, lambda score, target: f"{score:.6f}")
    assert reading.digits[TARGET].mean() > reading.digits[~TARGET].mean() + 0.2
    assert examine(PATH, reading, OWN) == []


def by(*keys: np.ndarray) -> np.ndarray:
    """Trials sorted by the first key, then the second, …"""
    return np.lexsort(keys[::-1])


OFFICIAL = np.arange(len(OWN))
ORDERS = {
    "backwards": OFFICIAL[::-1],
    "by utterance": by(OWN.utterance, OWN.enrolment),
    "speakers backwards": by(-OWN.enrolment, OWN.utterance),
    "shuffled": np.random.default_rng(1).permutation(len(OWN)),
    "best first": by(-SCORES),
    "best first for each speaker": by(OWN.enrolment, -SCORES),
    "best first for each utterance": by(OWN.utterance, -SCORES),
}


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_made_without_labels_is_only_noted(name: str) -> None:
    (check,) = checks(SCORES, order=ORDERS[name])
    assert check.code == "order"


LABELLED = {
    "before the nontarget lines": by(~TARGET, OFFICIAL),
    "after the nontarget lines": by(TARGET, OFFICIAL),
    "before the nontarget lines of a speaker": by(OWN.enrolment, ~TARGET, OFFICIAL),
    "after the nontarget lines of an utterance": by(OWN.utterance, TARGET, OFFICIAL),
}


@pytest.mark.parametrize("message", LABELLED)
def test_an_order_by_label(message: str) -> None:
    label, order = checks(SCORES, order=LABELLED[message])
    assert (label.code, order.code) == ("label-order", "order")
    assert label.message == f"100 % of target lines stand {message}"


def test_the_first_line_out_of_order() -> None:
    order = OFFICIAL.copy()
    order[[99, 100]] = order[[100, 99]]
    (check,) = checks(SCORES, order=order)
    assert (check.code, check.line, check.count) == ("order", 100, 1)


def test_areas_by_hand() -> None:
    values = np.array([3, 1, 2, 5, 5, 1, 9])
    target = np.array([True, False, False, True, False, False, True])
    group = np.array([0, 0, 0, 1, 1, 1, 2])
    # Group 0: 3 is above 1 and 2. Group 1: 5 ties with 5 and is above 1. Group 2: no nontarget.
    assert areas(values, target, group).tolist() == [1.0, 0.75]


def test_a_reading_that_cannot_be_scored_is_not_examined() -> None:
    data = b"df0 df0-1-0000 0.5\n"
    reading = read_scores(Member(PATH, 1, lambda: io.BytesIO(data)), OWN, REFERENCE, Limits())
    assert examine(PATH, reading, OWN) == []


# The same scores twice.


def result(
    system: str, scores: np.ndarray, listed: ReferenceList = OWN, scorable: bool = True
) -> ListResult:
    values = scores.astype(np.float32)
    target = listed.target
    eer = equal_error_rate(values[target], values[~target]) if scorable else None
    place = f"{system}/{listed.name}/scores"
    return ListResult(system, listed.name, place, "0" * 64, Scores(values, values), eer)


def test_all_clean_lists_differ() -> None:
    entries = [
        (team, result(system, small.scores_of(team + system, split, gender)))
        for team in ("a", "b")
        for system in small.SYSTEMS
        for split in small.SPLITS
        for gender in small.GENDERS
    ]
    assert shared(entries) == []


def test_a_copy_in_another_submission() -> None:
    other = small.scores_of("A2", "dev", "f")
    check, theirs = shared(
        [
            ("ours", result("A1", SCORES)),
            ("x", result("A1", other)),
            ("theirs", result("B", SCORES)),
        ]
    )
    assert (check.code, check.submission, check.count) == ("scores-shared", "ours", 2)
    assert check.file == "A1/tiny_dev_trials_f/scores"
    assert check.message == (
        "'A1' tiny_dev_trials_f has the same scores as 'B' tiny_dev_trials_f of 'theirs'"
    )
    assert (theirs.submission, theirs.file) == ("theirs", "B/tiny_dev_trials_f/scores")
    assert theirs.message.endswith("as 'A1' tiny_dev_trials_f of 'ours'")


def test_a_copy_in_an_archive_whose_name_is_not_utf8() -> None:
    # As Python gives the file names b"caf\xe9.zip" and b"A\xff".
    name, system = "caf\udce9.zip", "A\udcff"
    ours, theirs = shared([("ours", result("A1", SCORES)), (name, result(system, SCORES))])
    assert ours.message.endswith(r"as 'A\\xff' tiny_dev_trials_f of 'caf\\xe9.zip'")
    assert theirs.submission == name
    assert theirs.message.startswith(r"'A\\xff' tiny_dev_trials_f has")


@pytest.mark.parametrize("change", [lambda x: 3 * x - 1, np.arctan, lambda x: x.round(5)])
def test_a_copy_that_was_rescaled(change: Callable[[np.ndarray], np.ndarray]) -> None:
    checks = shared([("ours", result("A1", SCORES)), ("theirs", result("A1", change(SCORES)))])
    assert [check.submission for check in checks] == ["ours", "theirs"]
    assert all("has its scores in the same order as" in check.message for check in checks)


def test_two_systems_and_two_lists_of_one_submission() -> None:
    lists = list(LISTS.values())
    entries = [result("A1", SCORES), result("A2", SCORES), result("A2", SCORES, lists[1])]
    (check,) = shared(("ours", entry) for entry in entries)
    assert check.count == 3
    assert check.message.endswith("as 'A2' tiny_dev_trials_f, 'A2' tiny_dev_trials_m")


def test_scores_that_anyone_could_have_are_no_copy() -> None:
    for scores in (np.zeros(len(OWN)), np.round(SCORES), 1.0 * TARGET):
        assert shared([("a", result("A1", scores)), ("b", result("A1", scores))]) == []
    half = SCORES.copy()
    half[3] = np.nan
    pair = [result("A1", half, scorable=False), result("A2", half, scorable=False)]
    assert shared(("a", entry) for entry in pair) == []


def test_the_largest_scores_overflow_nowhere() -> None:
    # Of an even number the median is a mean of two. Warnings are errors in these tests.
    listed = from_trials(OWN.listed, small.trials_of("dev", "f")[16:], "made here")
    large = float(np.finfo(np.float32).max)
    data = b"".join(
        b"%b %b\n" % (key, repr(large if i % 3 else -large).encode())
        for i, key in enumerate(listed.keys)
    )
    member = Member(PATH, len(data), lambda: io.BytesIO(data))
    reading = read_scores(member, listed, Reference({listed.name: listed}), Limits())
    assert (listed.target.sum() % 2, (~listed.target).sum() % 2) == (0, 0)
    assert "sign-reversed" not in [one.code for one in examine(PATH, reading, listed)]
