from __future__ import annotations

import hashlib
import io
import itertools
import re
import tracemalloc
from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np
import pytest
import small
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.errors import SubmissionError
from harness.submissions.codes import SEVERITY
from harness.submissions.limits import MIB, Limits
from harness.submissions.members import Member
from harness.submissions.model import Check, primary
from harness.submissions.reference import Reference, from_trials
from harness.submissions.scores import columns
from harness.submissions.scores.lines import Faults, Lines, quote
from harness.submissions.scores.pairs import Table
from harness.submissions.scores.reading import Reading, iterate_lines, read_scores

PATH = "exp/scores"
OWN = small.list_name("dev", "f")
REFERENCE = Reference(
    {
        listed.trials: from_trials(
            listed, small.trials_of(listed.split, listed.gender), "made for the test"
        )
        for listed in small.edition().lists
    }
)
CLEAN = small.score_text("A1", "dev", "f")
SCORES = small.scores_of("A1", "dev", "f")
FIRST = CLEAN.splitlines()[0]
PAIR = " ".join(FIRST.split()[:2])


def member_of(data: bytes) -> Member:
    return Member(PATH, len(data), lambda: io.BytesIO(data))


def read(text: str | bytes, limits: Limits | None = None) -> Reading:
    data = text.encode() if isinstance(text, str) else text
    return read_scores(member_of(data), REFERENCE.lists[OWN], REFERENCE, limits or Limits())


def only(reading: Reading) -> Check:
    (check,) = reading.checks
    return check


def codes(reading: Reading) -> list[str]:
    return [check.code for check in reading.checks]


def with_line(change: Callable[[str, str, str], str], number: int = 9) -> str:
    """The clean text, one line of it (number from 1) written anew."""
    lines = CLEAN.splitlines()
    lines[number - 1] = change(*lines[number - 1].split())
    return "\n".join(lines) + "\n"


def test_a_clean_file() -> None:
    reading = read(CLEAN)
    assert reading.checks == ()
    assert reading.scorable
    assert reading.scores is not None
    assert reading.scores.first is reading.scores.last
    assert reading.scores.first.dtype == np.float32
    np.testing.assert_array_equal(reading.scores.first, SCORES)
    np.testing.assert_array_equal(reading.order, np.arange(1, len(SCORES) + 1))
    assert reading.digits.tolist() == [len(line.split()[2]) for line in CLEAN.splitlines()]
    assert reading.sha256 == hashlib.sha256(CLEAN.encode()).hexdigest()
    assert (reading.as_list, reading.as_scores) == (None, None)


# Every one of them reads in one way only: the scores are those of the clean file.
READABLE = {
    "encoding-utf16": CLEAN.encode("utf-16"),
    "encoding-bom": b"\xef\xbb\xbf" + CLEAN.encode(),
    "line-ends": CLEAN.replace("\n", "\r\n"),
    "header": "speaker utterance score\n" + CLEAN,
    "decimal-comma": CLEAN.replace(".", ","),
    "separators": CLEAN.replace(" ", "\t"),
    "blank-lines": CLEAN.replace("\n", "\n\n"),
    "pair-unknown": CLEAN + "df0 nobody-1-0000 0.5\n",
    "pair-duplicate": CLEAN + FIRST + "\n",
    "final-newline": CLEAN.removesuffix("\n"),
}


@pytest.mark.parametrize("code", READABLE)
def test_a_fault_that_is_scored(code: str) -> None:
    reading = read(READABLE[code])
    assert only(reading).code == code
    assert only(reading).file == PATH
    assert reading.scorable
    assert reading.scores is not None
    np.testing.assert_array_equal(reading.scores.first, SCORES)


UNSCORABLE = {
    "file-empty": "",
    "encoding-invalid": CLEAN.encode().replace(b"df0", b"d\xff0", 1),
    "columns": with_line(lambda speaker, utterance, score: f"{speaker} {utterance}"),
    "number": with_line(lambda speaker, utterance, score: f"{speaker} {utterance} n/a"),
    "non-finite": with_line(lambda speaker, utterance, score: f"{speaker} {utterance} NaN"),
    "columns-swapped": "".join(
        "{1} {0} {2}\n".format(*line.split()) for line in CLEAN.splitlines()
    ),
    "gender-swapped": small.score_text("A1", "dev", "m"),
    "split-swapped": small.score_text("A1", "test", "f"),
    "pair-conflict": CLEAN + f"{PAIR} 7.5\n",
    "pair-missing": CLEAN.partition("\n")[2],
}


@pytest.mark.parametrize("code", UNSCORABLE)
def test_a_fault_that_cannot_be_scored(code: str) -> None:
    reading = read(UNSCORABLE[code])
    assert only(reading).code == code
    assert SEVERITY[code] == "unscorable"
    assert not reading.scorable


@pytest.mark.parametrize(
    ("text", "line", "count", "message"),
    [
        (READABLE["header"], 1, 1, "1 line of header, 'speaker utterance score'"),
        (READABLE["line-ends"], 1, 450, "450 line ends are CR LF"),
        (
            READABLE["decimal-comma"],
            1,
            450,
            "a comma for the decimal point in 450 lines, .*: write a point",
        ),
        (READABLE["blank-lines"], 2, 450, "450 lines blank"),
        (READABLE["pair-unknown"], 451, 1, "1 pair that is no trial of .*'df0 nobody-1-0000'"),
        (READABLE["pair-duplicate"], 451, 1, f"again in 1 line, .*'{PAIR}': write each trial once"),
        (UNSCORABLE["pair-missing"], None, 1, f"no score for 1 of 450 trials, .* is '{PAIR}'"),
        (UNSCORABLE["pair-conflict"], 451, 1, f"another score .* is '{PAIR}'"),
        (UNSCORABLE["columns-swapped"], 1, 450, "450 lines with the utterance before the speaker"),
        (UNSCORABLE["columns"], 9, 1, "1 line without the three columns"),
        (UNSCORABLE["number"], 9, 1, "no number for a score in 1 line, the first is 'n/a'"),
        (UNSCORABLE["non-finite"], 9, 1, "the first is 'NaN'"),
        (UNSCORABLE["gender-swapped"], None, 450, "450 .* of tiny_dev_trials_m and 0 of"),
        (UNSCORABLE["encoding-invalid"], 1, 1, r"'d\\\\xff0 df0-1-0000 "),
        (READABLE["final-newline"], 450, 1, "no line end"),
    ],
)
def test_a_message_says_where_and_how_often(
    text: str | bytes, line: int | None, count: int, message: str
) -> None:
    check = only(read(text))
    assert (check.line, check.count) == (line, count)
    assert re.search(message, check.message), check.message


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(" ", "   "),
        lambda text: text.replace("\n", " \n"),
        lambda text: "  " + text.replace("\n", "\n  ").removesuffix("  "),
        lambda text: text.replace(" ", ","),
        lambda text: text.replace(" ", ";"),
        lambda text: text.replace(" ", " , "),
        lambda text: text.replace(" ", "; "),
        lambda text: text.replace(" ", " \x0b"),
    ],
)
def test_separators(change: Callable[[str], str]) -> None:
    reading = read(change(CLEAN))
    assert codes(reading) == ["separators"]
    assert reading.checks[0].count == 450
    assert reading.scores is not None
    np.testing.assert_array_equal(reading.scores.first, SCORES)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CLEAN.replace(".", ",").replace(" ", ";"), ["decimal-comma", "separators"]),
        ("enrol,trial,score\n" + CLEAN.replace(" ", ","), ["header", "separators"]),
        (CLEAN.replace("\n", "\r"), ["line-ends"]),
        (CLEAN.replace("\n", "\r\n", 1), ["line-ends"]),
        (CLEAN.replace("\n", "\r\n").encode("utf-16"), ["encoding-utf16", "line-ends"]),
        (b"\xfe\xff" + CLEAN.encode("utf-16-be"), ["encoding-utf16"]),
        (" \n" * 3, ["file-empty", "blank-lines"]),
        ("speaker utterance score\n", ["file-empty", "header"]),
        (b"\xef\xbb\xbf", ["file-empty", "encoding-bom"]),
        # One comma too many: which of them is the decimal one cannot be told.
        (CLEAN.replace(".", ",").replace(" ", ","), ["columns"]),
        # UTF-16 without its mark: a byte of each character is NUL.
        (CLEAN.encode("utf-16-le"), ["encoding-invalid"]),
        (b"\xff\xfe" + CLEAN.encode("utf-16-le")[:-1], ["encoding-invalid", "encoding-utf16"]),
        # A file cut within a line: pairs after it are missing, and that is told too.
        (CLEAN[: CLEAN.index("df2") + 5], ["columns", "pair-missing", "final-newline"]),
    ],
)
def test_faults_together(text: str | bytes, found: list[str]) -> None:
    assert codes(read(text))[: len(found)] == found


@pytest.mark.parametrize("text", ["1_0", "٣", "0x10", "high", "1,2,3", "1,234.5", "--1", "."])
def test_no_number(text: str) -> None:
    reading = read(with_line(lambda speaker, utterance, score: f"{speaker} {utterance} {text}"))
    assert codes(reading) == ["number"]
    assert reading.scores is not None
    assert np.isnan(reading.scores.first[8])


@pytest.mark.parametrize("text", ["nan", "-inf", "Infinity", "1e999", "3.4028236e38", "1" * 4000])
def test_not_finite_in_single_precision(text: str) -> None:
    reading = read(with_line(lambda speaker, utterance, score: f"{speaker} {utterance} {text}"))
    assert codes(reading) == ["non-finite"]
    assert len(reading.checks[0].message) < 300


@pytest.mark.parametrize("text", ["0x1.fffffep127", "0x1.fffffefffffffp127", "0x1.ffffffp127"])
def test_the_largest_number_is_where_numpy_rounds_to_infinity(text: str) -> None:
    number = float.fromhex(text)
    with np.errstate(over="ignore"):
        finite = bool(np.isfinite(np.float64(number).astype(np.float32)))
    assert columns.is_finite(number) == columns.is_finite(-number) == finite


def test_a_header_is_only_what_stands_before_the_scores() -> None:
    assert codes(read("a b c\nd e f\n" + CLEAN)) == ["header"]
    assert codes(read(CLEAN + "speaker utterance score\n")) == ["number", "pair-unknown"]
    below = CLEAN.replace("\n", "\nspeaker utterance score\n", 1)
    assert codes(read(below)) == ["number", "pair-unknown"]
    assert codes(read(f"{PAIR} none\n" + CLEAN.partition("\n")[2])) == ["number"]
    assert "header" not in codes(read("\n\n\na b c\n" + CLEAN))


def test_first_and_last_score_of_a_conflict() -> None:
    reading = read(f"{PAIR} 7.5\n" + CLEAN + f"{PAIR} 8.5\n")
    assert codes(reading)[0] == "pair-conflict"
    assert only(reading).count == 2
    assert reading.scores is not None
    assert (reading.scores.first[0], reading.scores.last[0]) == (7.5, 8.5)
    np.testing.assert_array_equal(reading.scores.first[1:], SCORES[1:])
    np.testing.assert_array_equal(reading.scores.last[1:], SCORES[1:])
    assert (reading.order[0], reading.digits[0]) == (1, 3)


def test_a_swapped_list_can_still_be_scored() -> None:
    reading = read(UNSCORABLE["split-swapped"])
    assert (reading.scores, reading.as_list) == (None, small.list_name("test", "f"))
    assert reading.as_scores is not None
    np.testing.assert_array_equal(reading.as_scores.first, small.scores_of("A1", "test", "f"))
    part = read("".join(f"{line}\n" for line in UNSCORABLE["split-swapped"].splitlines()[:300]))
    assert (codes(part), part.as_list, part.as_scores) == (["split-swapped"], None, None)


def test_swapped_columns_can_still_be_scored() -> None:
    reading = read(UNSCORABLE["columns-swapped"])
    assert (reading.scores, reading.as_list) == (None, OWN)
    assert reading.as_scores is not None
    np.testing.assert_array_equal(reading.as_scores.first, SCORES)


def test_both_genders_in_one_file_are_scored_on_its_own() -> None:
    reading = read(small.score_text("A1", "dev", "m") + CLEAN)
    check = only(reading)
    assert (check.code, check.line, check.count) == ("pair-unknown", 1, 450)
    assert "'dm0 dm0-1-0000'" in check.message
    assert reading.scores is not None
    np.testing.assert_array_equal(reading.scores.first, SCORES)
    assert reading.order[0] == 451


def test_a_complete_list_beside_a_larger_one_is_not_swapped() -> None:
    whole = REFERENCE.lists[OWN]
    part = from_trials(whole.listed, small.trials_of("dev", "f")[:100], "made for the test")
    other = small.list_name("dev", "m")
    reference = Reference({OWN: part, other: REFERENCE.lists[other]})
    lines = "".join(CLEAN.splitlines(keepends=True)[:100]) + small.score_text("A1", "dev", "m")
    reading = read_scores(member_of(lines.encode()), part, reference, Limits())
    assert codes(reading) == ["pair-unknown"]
    assert reading.scores is not None
    np.testing.assert_array_equal(reading.scores.first, SCORES[:100])


def test_blocks_end_anywhere() -> None:
    """A stream may give one byte at a time, between CR and LF and within a character too."""

    class OneByOne(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size or 1, 1))

    for code in ("encoding-utf16", "encoding-bom", "line-ends", "final-newline"):
        text = READABLE[code]
        data = text.encode() if isinstance(text, str) else text
        member = Member(PATH, len(data), lambda data=data: OneByOne(data))  # type: ignore[misc]
        slow = read_scores(member, REFERENCE.lists[OWN], REFERENCE, Limits())
        assert slow.checks == read(data).checks
        assert slow.sha256 == hashlib.sha256(data).hexdigest()
        assert slow.scores is not None
        np.testing.assert_array_equal(slow.scores.first, SCORES)


class Endless(io.RawIOBase):
    """The same bytes for ever; counts what was read."""

    def __init__(self, pattern: bytes) -> None:
        self.pattern = itertools.cycle([pattern])
        self.nbytes = 0

    def read(self, size: int = -1, /) -> bytes:
        data = next(self.pattern)
        self.nbytes += len(data)
        return data


def endless(pattern: bytes) -> tuple[Member, Endless]:
    stream = Endless(pattern)
    opened: BinaryIO = stream  # type: ignore[assignment]
    return Member(PATH, 10 << 30, lambda: opened), stream


def test_a_line_without_end_is_refused_by_its_option() -> None:
    member, stream = endless(b"x" * 5000)
    with pytest.raises(SubmissionError, match=r"exp/scores: line 1 .* 4,096 bytes.*--max-line"):
        read_scores(member, REFERENCE.lists[OWN], REFERENCE, Limits())
    assert stream.nbytes <= 10_000
    with pytest.raises(SubmissionError, match="line 452 is longer") as caught:
        read(CLEAN + "a b 1\n" + "1" * 1_000_000 + "\n" + CLEAN)
    assert caught.value.code == "file-limit"
    with pytest.raises(SubmissionError, match="line 451 is longer"):
        read(CLEAN + "1" * 5000 + "\n" + CLEAN)
    assert codes(read(CLEAN + "a b 1" + "0" * 5000 + "\n", Limits(line=6000))) == [
        "non-finite",
        "pair-unknown",
    ]


def test_a_file_without_end_is_refused_by_its_option() -> None:
    member, stream = endless(CLEAN.encode())
    with pytest.raises(SubmissionError, match=r"larger than 1 MiB; .*--max-file") as caught:
        read_scores(member, REFERENCE.lists[OWN], REFERENCE, Limits(file_mib=1))
    assert caught.value.code == "file-limit"
    assert stream.nbytes < 1.1 * MIB


def test_short_lines_without_end_are_refused_as_early() -> None:
    member, stream = endless(b"\n" * 10_000)
    with pytest.raises(SubmissionError, match=r"40,000 lines and more; .*--max-file"):
        read_scores(member, REFERENCE.lists[OWN], REFERENCE, Limits(file_mib=1))
    assert stream.nbytes == 40_000


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("pair-duplicate", FIRST),
        ("pair-unknown", "speaker{0} utterance 0.5"),
        ("blank-lines", ""),
        ("columns", "{0}"),
        ("encoding-invalid", "\0"),
    ],
)
def test_memory_is_bounded_by_the_list(
    code: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.submissions.scores.lines.BLOCK", 4096)
    read(CLEAN)  # the positions of all pairs are made once, for all files
    peaks = []
    for count in (15_000, 33_000):
        data = "".join(line.format(i) + "\n" for i in range(count)).encode()
        member = member_of(data)
        tracemalloc.start()
        reading = read_scores(member, REFERENCE.lists[OWN], REFERENCE, Limits())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert next(c.count for c in reading.checks if c.code == code) >= count - 1
    # To keep but a pointer of each line would take 8 bytes.
    assert peaks[1] - peaks[0] < 4 * 18_000


def test_what_is_quoted_has_no_control_characters() -> None:
    text = quote(b"\x1b[2J\x00\r\n" + b"A" * 500 + b"\xff")
    assert text.isprintable()
    assert len(text) < 90
    check = only(read(with_line(lambda a, b, c: f"{a} {b} \x1b]0;title\x07")))
    assert check.message.isprintable()


def test_lines_alone() -> None:
    lines = iterate_lines(io.BytesIO(b"\xef\xbb\xbfa\r\nb\n\nc"), Limits(), PATH)
    assert isinstance(lines, Iterator)
    assert list(lines) == [b"a", b"b", b"", b"c"]


def test_line_ends_are_found_where_they_are() -> None:
    lines = Lines(io.BytesIO(b"a\nb\nc\r\nd\re\r"), Limits(), PATH)
    assert [text for _, block in lines.blocks() for text in block] == [b"a", b"b", b"c", b"d", b"e"]
    assert (lines.faults["line-ends"].line, lines.faults["line-ends"].count) == (3, 3)
    assert lines.faults.count("final-newline") == 0


# Properties.

TEXTS = st.lists(
    st.one_of(
        st.sampled_from(CLEAN.splitlines(keepends=True)),
        st.sampled_from(["\n", "\r", "\r\n", "\0", "df0 df0-1-0000 ", "1,5", ";", "\t", "nan", "﻿"]),
        st.text(max_size=20),
    ),
    max_size=12,
).map("".join)


@given(st.one_of(st.binary(max_size=300), TEXTS.map(lambda t: t.encode("utf-8", "surrogatepass"))))
@example(b"\xff\xfe")
@example(b"\xff\xfe\x00")
@example(b"\xff\xfe\x00\xd8\x0a\x00")
@example(b"\r")
@settings(deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        reading = read(data, Limits(line=64))
    except SubmissionError:
        return
    assert not reading.scorable  # 12 lines are never a whole list
    assert primary(reading.checks) is not None
    assert len({check.code for check in reading.checks}) == len(reading.checks)
    assert all(check.message.isprintable() for check in reading.checks)


@given(st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=20)
def test_the_order_of_lines_changes_no_score(random: object) -> None:
    lines = CLEAN.splitlines(keepends=True)
    places = list(range(len(lines)))
    random.shuffle(places)  # type: ignore[attr-defined]
    reading = read("".join(lines[place] for place in places))
    assert reading.checks == ()
    assert reading.scores is not None
    np.testing.assert_array_equal(reading.scores.first, SCORES)
    np.testing.assert_array_equal(np.argsort(reading.order), places)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=9, max_size=9))
@settings(deadline=None, max_examples=50)
def test_what_is_written_is_read_exactly(values: list[float]) -> None:
    scores = np.resize(np.array(values, np.float32), len(SCORES))
    keys = [key.decode() for key in REFERENCE.lists[OWN].keys]
    for write in (lambda x: str(x), lambda x: repr(float(x)), lambda x: f"{float(x):.17e}"):
        text = "".join(f"{key} {write(x)}\n" for key, x in zip(keys, scores, strict=True))
        reading = read(text)
        assert reading.checks == ()
        assert reading.scores is not None
        assert reading.scores.first.tobytes() == scores.tobytes()


@given(
    st.lists(st.sampled_from([*CLEAN.splitlines()[:40], f"{PAIR} 1e5", f"{PAIR} -.5"]), min_size=1)
)
@settings(deadline=None)
def test_plain_lines_are_read_alike_at_once_and_each(lines: list[str]) -> None:
    at_once, each = Table(REFERENCE, Faults()), Table(REFERENCE, Faults())
    block = [line.encode() for line in lines]
    assert at_once.add_plain(3, block)
    each.add_each(3, block)
    for name in ("first", "last", "digits", "line"):
        np.testing.assert_array_equal(getattr(at_once, name), getattr(each, name))
    assert at_once._faults == each._faults
    assert at_once.begun == each.begun == bool(block)


@given(st.text(alphabet="0123456789+-.eE_ \t\r,;nainfx", max_size=12), st.sampled_from(" \t"))
@settings(deadline=None)
def test_what_is_read_at_once_has_no_fault(value: str, separator: str) -> None:
    line = f"{PAIR}{separator}{value}".encode()
    at_once, each = Table(REFERENCE, Faults()), Table(REFERENCE, Faults())
    each.add_each(1, [line])
    if at_once.add_plain(1, [line]):
        assert each._faults == {}
        np.testing.assert_array_equal(at_once.first, each.first)
        assert float(value) == pytest.approx(float(at_once.first[0]), rel=1e-6, abs=1e-44)
    else:
        assert each._faults != {}
