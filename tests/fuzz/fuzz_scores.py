"""Any bytes as a score file: scores in the order of the list, or checks that say why not."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache

import numpy as np
import small

from harness.errors import SubmissionError
from harness.submissions.codes import SEVERITY
from harness.submissions.limits import Limits
from harness.submissions.members import Member
from harness.submissions.reference import Reference, from_trials
from harness.submissions.scores.reading import read_scores

LIMITS = Limits(line=200)


@cache
def reference() -> Reference:
    return Reference(
        {
            one.trials: from_trials(one, small.trials_of(one.split, one.gender), "test")
            for one in small.edition().lists
        }
    )


def seeds() -> Iterator[bytes]:
    """A sound file, and its best known corruptions; each is short enough to be changed a lot."""
    text = small.score_text("A1", "dev", "f")
    yield text.encode()
    few = "".join(text.splitlines(keepends=True)[:5])
    for changed in (
        few,
        few.replace("\n", "\r\n"),
        few.replace(" ", "\t"),
        few.replace(".", ","),
        few + few,
        few + few.replace(".", "1."),
        "enrolment trial score\n" + few,
        few.replace(" -", " -1e"),
        few[:-1] + "nan\n\n" + few[:-5] + "inf",
        "".join(" ".join(line.split()[i] for i in (1, 0, 2)) + "\n" for line in few.splitlines()),
        few + "x" * 300,
        few + "x y 1_0 z\n\n \n",
    ):
        yield changed.encode()
        yield changed.encode("utf-16")
        yield changed.encode("utf-8-sig")


def one_input(data: bytes) -> None:
    listed = reference().lists[small.list_name("dev", "f")]
    member = Member("scores", len(data), lambda: io.BytesIO(data))
    try:
        reading = read_scores(member, listed, reference(), LIMITS)
    except SubmissionError as error:
        refused = error
    else:
        codes = [check.code for check in reading.checks]
        assert len(codes) == len(set(codes))
        assert all(check.message.isprintable() and check.count > 0 for check in reading.checks)
        assert reading.scorable == ("unscorable" not in {SEVERITY[code] for code in codes})
        assert reading.digits.shape == reading.order.shape == (len(listed),)
        if reading.scores is not None:
            assert reading.scores.first.shape == reading.scores.last.shape == (len(listed),)
            assert not np.isinf(reading.scores.first).any()
        if reading.scorable:
            assert reading.scores is not None
            assert np.isfinite(reading.scores.first).all()
        return
    assert str(refused).isprintable()
    assert refused.code in SEVERITY
