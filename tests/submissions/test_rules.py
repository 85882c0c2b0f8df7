"""Dates, declarations and hashes: on both sides of every border."""

from __future__ import annotations

import dataclasses
import hashlib
import io
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from small import edition

from harness.errors import ConfigError, SubmissionError
from harness.protocols.protocol import DataSet
from harness.submissions.contents.description import Description, Resource
from harness.submissions.contents.rules import (
    check_files,
    end_of_day,
    examine_rules,
    parse_time,
    read_resources,
)
from harness.submissions.members import Member, Submission
from harness.submissions.model import Check

EDITION = dataclasses.replace(
    edition(), sets=(DataSet("train-libri", "train", 1, 1, 1, subset="train-clean-360"),)
)
HASH = hashlib.sha256(b"").hexdigest()


def described(**changes: Any) -> Description:
    fields: dict[str, Any] = {
        "format": 1,
        "benchmark": "tiny",
        "team": "t",
        "description": "d.pdf",
        "systems": ("A1", "A2"),
        "claims": {},
        "files": {"d.pdf": HASH},
    }
    return Description(**(fields | changes))


def examined(
    description: Description | None = None,
    systems: tuple[str, ...] = ("A1", "A2"),
    received: datetime | None = None,
    listed: frozenset[str] | None = None,
) -> list[Check]:
    return examine_rules(description, systems, EDITION, received, listed)


def codes(checks: list[Check]) -> list[str]:
    return [check.code for check in checks]


# The deadline is 2024-12-05. The last place on Earth where it is still that day is at UTC-12, where
# midnight is noon of the 6th in Greenwich.
@pytest.mark.parametrize(
    ("text", "late"),
    [
        ("2024-12-05T12:00:00Z", False),
        ("2024-12-06T11:59:59.999999Z", False),
        ("2024-12-06T12:00:00Z", True),
        ("2024-12-05T23:59:59-12:00", False),
        ("2024-12-06T00:00:00-12:00", True),
        ("2024-12-06T12:59:59+01:00", False),
        ("2024-12-06T13:00:00+01:00", True),
        ("2024-12-07T01:59:59+14:00", False),
        ("2024-12-07T02:00:00+14:00", True),
        ("0001-01-01T00:00:00+14:00", False),
        ("9999-12-31T23:59:59-14:00", True),
    ],
)
def test_late_is_when_the_day_has_ended_everywhere(text: str, late: bool) -> None:
    assert codes(examined(received=parse_time(text))) == (["late"] if late else [])


def test_a_late_mark_tells_both_times() -> None:
    (check,) = examined(received=parse_time("2024-12-06T18:30:00+01:00"))
    assert check.severity == "error"
    assert "received 2024-12-06T18:30:00+01:00" in check.message
    assert "2024-12-06T00:00:00-12:00" in check.message


def test_the_end_of_a_day() -> None:
    noon = datetime(2025, 1, 1, 12, tzinfo=UTC)
    assert end_of_day(datetime(2024, 12, 31).date()) == noon


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-12-05T18:30:00+01:00", datetime(2024, 12, 5, 17, 30, tzinfo=UTC)),
        ("2024-12-05 18:30Z", datetime(2024, 12, 5, 18, 30, tzinfo=UTC)),
        ("20241205T183000-0330", datetime(2024, 12, 5, 22, 0, tzinfo=UTC)),
    ],
)
def test_times(text: str, expected: datetime) -> None:
    assert parse_time(text) == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("2024-12-05", "--received: 2024-12-05T00:00:00 has no time zone; add it"),
        ("2024-12-05T18:30:00", "--received: 2024-12-05T18:30:00 has no time zone; add it"),
        ("yesterday", "--received: 'yesterday' is no time; write it as"),
        ("2024-12-05T24:30:00Z", "is no time"),
        ("", "--received: '' is no time"),
    ],
)
def test_a_time_without_zone_is_refused(text: str, line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        parse_time(text)


def test_a_naive_time_is_refused_wherever_it_comes_from() -> None:
    with pytest.raises(ConfigError, match="has no time zone"):
        examined(received=datetime(2024, 12, 5))


def test_an_edition_without_deadline_cannot_tell_what_is_late() -> None:
    free = dataclasses.replace(EDITION, dates={})
    with pytest.raises(ConfigError, match="--received: tiny has no date of submission"):
        examine_rules(None, ["A1"], free, datetime.now(timezone(timedelta(hours=1))), None)
    undeclared = described(resources=(Resource("x", "data", "u"),), own_anonymizers=("A1",))
    assert examine_rules(undeclared, ["A1", "A2"], free, None, None) == []


def test_without_a_description_nothing_is_known() -> None:
    assert examined(listed=frozenset({"x"})) == []
    assert examined(described()) == []


@pytest.mark.parametrize(
    ("released", "message"),
    [
        (None, "the team's own A2 without a date"),
        ("2024-10-12", None),
        ("2024-10-13", None),
        ("2024-10-14", "the code of the team's own A2 came out on 2024-10-14, after 2024-10-13"),
    ],
)
def test_own_anonymizer(released: str | None, message: str | None) -> None:
    checks = examined(described(own_anonymizers=("A2",), own_code_released=released))
    assert codes(checks) == ([] if message is None else ["own-anonymizer"])
    assert all(message in check.message for check in checks if message)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (None, "'WavLM' has no date of declaration"),
        ("2024-10-13", None),
        ("2024-10-14", "'WavLM' was declared on 2024-10-14, after 2024-10-13"),
    ],
)
def test_resources_are_declared_in_time(declared: str | None, message: str | None) -> None:
    checks = examined(described(resources=(Resource("WavLM", "model", "u", declared),)))
    assert codes(checks) == ([] if message is None else ["resource-undeclared"])
    assert all(check.message == message for check in checks)


@pytest.mark.parametrize("name", ["train-clean-360", "Train-Clean-360", "train-libri"])
def test_the_training_data_of_the_edition_need_no_declaration(name: str) -> None:
    description = described(resources=(Resource(name, "data", "openslr.org"),))
    assert examined(description, listed=frozenset({"WavLM"})) == []


def test_resources_are_on_the_list_where_it_is_known() -> None:
    names = ("wavlm  large", "VoxCeleb", "a", "b", "c")
    used = tuple(Resource(name, "model", "u", "2024-10-01") for name in names)
    assert examined(described(resources=used)) == []
    (check,) = examined(described(resources=used), listed=frozenset({"WavLM Large"}))
    assert (check.code, check.count) == ("resource-unlisted", 4)
    assert check.message == (
        "'VoxCeleb' is not on the edition's list; 'a' is not on the edition's list; "
        "'b' is not on the edition's list; and 1 more"
    )


@pytest.mark.parametrize(
    ("description", "systems", "message"),
    [
        (described(benchmark="huge"), ("A1", "A2"), "made for 'huge', and verified for tiny"),
        (described(systems=("A1", "A22")), ("A1",), "no system 'A22', did you mean 'A2'?"),
        (described(), ("A1",), "it names the system 'A2', which has no scores"),
        (described(systems=("A1",)), ("A1", "A2"), "scores of 'A2', which it does not name"),
    ],
)
def test_the_description_is_of_what_is_there(
    description: Description, systems: tuple[str, ...], message: str
) -> None:
    (check,) = examined(description, systems)
    assert check.code == "description-differs"
    assert message in check.message


def test_case_and_original_speech_are_no_difference() -> None:
    assert examined(described(systems=("a1", "A2")), ("A1", "a2", "orig")) == []


def test_a_list_of_resources(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("# the list of 15 October\nWavLM Large\n\n VoxCeleb # both\n")
    assert read_resources(path) == {"WavLM Large", "VoxCeleb"}


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "cannot be read \\(No such file or directory\\); name a file"),
        (b"\xff", "not UTF-8"),
        (b"# a\n\n", "no name in it"),
    ],
)
def test_no_list_of_resources(tmp_path: Path, content: bytes | None, line: str) -> None:
    path = tmp_path / "list.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=line):
        read_resources(path)


def submission(files: dict[str, bytes]) -> Submission:
    def member(path: str, data: bytes) -> Member:
        return Member(path, len(data), lambda: io.BytesIO(data))

    return Submission("s", None, tuple(member(path, files[path]) for path in sorted(files)))


FILES = {"d.pdf": b"%PDF", "A1/scores": b"a b 1\n"}
HASHES = {path: hashlib.sha256(data).hexdigest() for path, data in FILES.items()}


@pytest.mark.parametrize("folder", ["", "team/", "x/inner.zip/"])
def test_files_beside_the_description(folder: str) -> None:
    here = {folder + path: data for path, data in FILES.items()}
    here[f"{folder}submission.yaml"] = b"format: 1"
    assert check_files(described(files=HASHES), submission(here)) == []

    changed = here | {f"{folder}A1/scores": b"a b 2\n"}
    (check,) = check_files(described(files=HASHES), submission(changed))
    assert (check.code, check.file) == ("hash-mismatch", f"{folder}A1/scores")
    assert hashlib.sha256(b"a b 2\n").hexdigest() in check.message
    assert HASHES["A1/scores"] in check.message

    del changed[f"{folder}A1/scores"]
    (check,) = check_files(described(files=HASHES), submission(changed))
    assert (check.code, check.file) == ("hash-mismatch", f"{folder}A1/scores")
    assert check.message == "not there, yet submission.yaml lists it"

    (check,) = check_files(described(files=HASHES), submission(here | {"README": b"hi"}))
    assert (check.code, check.file, check.severity) == ("file-unknown", "README", "note")


def test_an_inner_description_is_a_file_as_any_other() -> None:
    here = FILES | {"submission.yaml": b"", "A1/submission.yaml": b""}
    (check,) = check_files(described(files=HASHES), submission(here))
    assert (check.code, check.file) == ("file-unknown", "A1/submission.yaml")


def test_a_file_that_cannot_be_read_is_named() -> None:
    def broken() -> BinaryIO:
        raise SubmissionError("bad CRC", code="archive-unreadable", where="d.pdf")

    member = Member("d.pdf", 4, broken)
    (check,) = check_files(described(files={"d.pdf": HASH}), Submission("s", None, (member,)))
    assert (check.code, check.file, check.message) == ("archive-unreadable", "d.pdf", "bad CRC")
