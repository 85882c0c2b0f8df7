"""What a verification inside a container is taken for; containers are tested elsewhere.

The runner is replaced by one that leaves what a verifier gone wrong might.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import small

from harness.errors import ContainerError, IntegrityError
from harness.runtime.containers.fence import Outcome
from harness.runtime.files import code_fingerprint
from harness.submissions import contained as inside
from harness.submissions.contained import PARTS, Contained, merged, verify_contained
from harness.submissions.document import schema, to_document, to_json
from harness.submissions.verification import verify


def contained(folder: Path, name: str, system: str) -> Contained:
    verification = verify([small.clean(folder / name, (system,))], small.edition())
    return Contained(0, "", "", to_json(verification).encode(), None)


def test_several_are_as_if_they_were_verified_together(tmp_path: Path) -> None:
    alone = {name: contained(tmp_path, name, system) for name, system in (("a", "A1"), ("b", "A2"))}
    together = verify([tmp_path / name for name in alone], small.edition())
    assert json.loads(merged("tiny", alone)) == to_document(together)


def test_one_without_a_report_is_not_checkable(tmp_path: Path) -> None:
    failed = Contained(2, "", "image: no such image\n", None, None)
    document = json.loads(merged("tiny", {"a": contained(tmp_path, "a", "A1"), "b": failed}))
    jsonschema.validate(document, json.loads(schema()))
    assert document["verdict"] == "not checkable"
    assert document["submissions"] == [
        {"name": "a", "sha256": None, "verdict": "verified"},
        {
            "name": "b",
            "sha256": None,
            "verdict": "not checkable",
            "message": "image: no such image",
        },
    ]
    nothing = json.loads(merged("tiny", {"b": failed}))
    jsonschema.validate(nothing, json.loads(schema()))
    assert all(nothing[part] == [] for part in PARTS)


ARCHIVE = b"an archive"
SHA256 = hashlib.sha256(ARCHIVE).hexdigest()
REPORT = {"submissions": [{"sha256": SHA256}]}
STATEMENT = {"subject": [{"digest": {"sha256": SHA256}}]}
Leave = Callable[..., Contained]


@pytest.fixture
def leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Leave:
    """Verifies an archive in a container that leaves these files and says this."""
    archive = tmp_path / "team.zip"
    archive.write_bytes(ARCHIVE)
    monkeypatch.setattr(inside, "require_engine", lambda: None)
    monkeypatch.setattr(inside, "image_code", lambda image: code_fingerprint())

    def verified(
        report: object, statement: object = None, status: int = 0, said: bytes = b""
    ) -> Contained:
        def run(*arguments: object, output: Path, **more: object) -> Outcome:
            output.mkdir()
            for name, content in ((inside.REPORT, report), (inside.STATEMENT, statement)):
                if content is not None:
                    written = (
                        content if isinstance(content, bytes) else json.dumps(content).encode()
                    )
                    (output / name).write_bytes(written)
            return Outcome(status, None, said, said)

        monkeypatch.setattr(inside, "run", run)
        return verify_contained(archive, {}, [], certified=statement is not None)

    return verified


def test_what_is_of_the_archive_is_taken(leave: Leave) -> None:
    """The host hashes it and does no more: it is no archive at all."""
    taken = leave(REPORT, STATEMENT, said=b"team.zip: VERIFIED\n\x1b[2J")
    assert json.loads(taken.report or b"") == REPORT
    assert json.loads(taken.statement or b"") == STATEMENT
    # A terminal obeys nothing of it.
    assert taken.table == taken.errors == "team.zip: VERIFIED\n\\x1b[2J"
    # What could not be read has no hash, or no report at all.
    assert leave({"submissions": [{"sha256": None}]}, status=2).status == 2
    assert leave(None, status=64).report is None


def test_the_verifier_is_of_this_code(leave: Leave, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "image_code", lambda image: "0" * 64)
    with pytest.raises(
        ContainerError, match=r"^harness-verifier: was built from other code .*; .*make images"
    ):
        leave(REPORT)


@pytest.mark.parametrize(
    ("report", "statement"),
    [
        ({"submissions": [{"sha256": "0" * 64}]}, None),
        (REPORT, {"subject": [{"digest": {"sha256": "0" * 64}}]}),
        (REPORT, {"subject": [{"digest": {"dirHash": SHA256}}]}),
    ],
)
def test_what_is_of_other_bytes_is_refused(leave: Leave, report: object, statement: object) -> None:
    with pytest.raises(IntegrityError, match=r"team.zip: the container verified .*, the host hash"):
        leave(report, statement)


@pytest.mark.parametrize(
    ("report", "statement"),
    [
        (None, None),
        (b"", None),
        (b"\xff\xfe", None),
        (json.dumps(REPORT).encode("utf-16"), None),
        (b"[" * 100_000, None),
        ([], None),
        ({"submissions": []}, None),
        ({"submissions": [None]}, None),
        (REPORT, {"subject": [{"digest": SHA256}]}),
        (None, STATEMENT),
    ],
)
def test_what_is_no_verification_is_one_line(
    leave: Leave, report: object, statement: object
) -> None:
    with pytest.raises(ContainerError, match="^harness-verifier: the container left no verificat"):
        leave(report, statement)
