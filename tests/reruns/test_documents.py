"""What is written of a rerun: table, JSON, certificate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from securesystemslib.signer import CryptoSigner

import results
from harness.cli.main import main
from harness.errors import ConfigError
from harness.metrics.agreement import agreement
from harness.protocols.lists import Trial
from harness.protocols.typed import build
from harness.reruns import table
from harness.reruns.document import certified_part, entry, failed_entry, schema, to_json
from harness.reruns.model import REPETITION, Compared, Finding, Rerun, SystemRerun
from harness.reruns.table import to_text
from harness.submissions.certificates.certificate import (
    certified,
    open_certificate,
    sign,
    statement,
)
from harness.submissions.certificates.keys import load_signer
from harness.submissions.certificates.predicate import CertifiedRerun
from reruns.standin import DIGEST

SIGNER = CryptoSigner(ed25519.Ed25519PrivateKey.from_private_bytes(bytes([1] * 32)))
LIST = "tiny_dev_trials_f"


def compared(before: list[float], after: list[float], **more: Any) -> Compared:
    made = agreement(before, after)
    worst = Trial("s1", f"s2-1-{made.worst:04d}", target=False)
    return Compared(
        LIST, made, worst, before[made.worst], after[made.worst], "e" * 64, "f" * 64, **more
    )


def made(level: Any = "sample") -> Rerun:
    """One system of each outcome."""
    same = compared([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], eers=(25.0, 25.05))
    other = compared([1.0, 2.0, 3.0], [1.0, 2.0, 1.5])
    findings = [
        Finding(LIST, "names", "kept", 3),
        Finding(LIST, "half-trials", "moved", 2, 0.31, 1, 0.5),
        Finding(LIST, REPETITION, "moved", 3, 0.25, 3, 0.0),
        Finding(LIST, "one-pair", "failed", 1, said="the engine said /home/someone/x"),
        Finding(LIST, "one-speaker", "moved", 2, float("inf"), 2, 0.0),
    ]
    return Rerun(
        results.verification(),
        DIGEST,
        "a" * 64,
        level,
        7,
        [
            SystemRerun("A1", [same], findings[:1], model="b" * 64),
            SystemRerun("A2", [other], findings),
            SystemRerun("A3", reason="speech", message="no such folder: /home/someone/A3"),
        ],
    )


def stated(done: Rerun) -> dict[str, Any]:
    (submission,) = done.verification.submissions
    return statement(done.verification, submission, None, [certified_part(done)])


def test_the_table() -> None:
    text = to_text(made())
    head, lists, rule, _, differs, faults = text.split("\n\n")
    assert head.splitlines() == [
        "team.zip: NOT REPRODUCED (tiny)",
        f"  image         {DIGEST}",
        "  trials        a sample of each list, drawn by --seed 7",
        "  verification  refuted",
    ]
    # 1.5 by the standard deviation of 1, 2, 3, which is 0.8165; from rank 3 of 3 to rank 2.
    assert [line.split() for line in lists.splitlines()[1:]] == [
        ["A1", LIST, "3", "0.0000", "0.0", "%", "0", "25.000", "25.050", "reproduced"],
        ["A2", LIST, "3", "1.8371", "33.3", "%", "1", "-", "-", "differs"],
    ]
    assert [line.split()[-1] for line in rule.splitlines()[2:]] == [
        *("kept", "kept", "moved", "moved", "failed", "moved"),
    ]
    said = differs.splitlines()
    # That it does not repeat itself comes first.
    assert said[1] == (
        f"  A2 {LIST}: not repeatable: scores move when nothing is changed: by up to 0.25 of their "
        "spread; 3 of 3 pairs; so far that it hides what else moves them"
    )
    assert said[2] == (
        f"  A2 {LIST}: 1 of 3 pairs differ by more than the tolerance; most: s1 s2-1-0002, "
        "submitted 3, again 1.5"
    )
    assert len(said) == 6
    assert faults.splitlines()[1:] == [
        "  A3: no such folder: /home/someone/A3",
        f"  A2 {LIST}: one pair alone: the engine said /home/someone/x",
    ]


def test_a_terminal_obeys_nothing() -> None:
    done = made()
    done.systems[0].system = "\x1b[31mA1"
    done.systems[2].message = "\x9b2J"
    assert to_text(done).replace("\n", "").isprintable()
    assert to_json("tiny", done.outcome, [entry(done)]).replace("\n", "").isprintable()


def test_the_document_keeps_its_schema() -> None:
    done = made()
    failed = failed_entry("two.zip", "image:tag", "no such image")
    text = to_json("tiny", "not reproduced", [entry(done), failed])
    document = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(json.loads(schema()))
    jsonschema.validate(document, json.loads(schema()))
    first, second = document["reruns"]
    assert first["submission"] == {
        "name": "team.zip",
        "sha256": results.DIGEST,
        "verdict": "refuted",
    }
    assert [one["outcome"] for one in first["systems"]] == [
        "reproduced",
        "not reproduced",
        "not checkable",
    ]
    experiments = first["systems"][1]["experiments"]
    assert experiments[3]["message"] == "the engine said /home/someone/x"
    assert experiments[4]["share"] is None
    assert not first["systems"][1]["repeatable"]
    assert (second["outcome"], second["message"]) == ("not checkable", "no such image")
    # Every field is described, so that none is added unseen.
    described = json.loads(schema())["properties"]["reruns"]["items"]["properties"]
    of_system = described["systems"]["items"]["properties"]
    system = first["systems"][1]
    assert set(first) == set(described)
    assert set(system) == set(of_system)
    for part in ("lists", "experiments"):
        assert set(system[part][0]) == set(of_system[part]["items"]["properties"])


def test_a_certificate_says_it_too() -> None:
    done = made()
    found = open_certificate(sign(stated(done), SIGNER), SIGNER.public_key)
    assert found["predicateType"] == "urn:anonymization-harness:verification:v2"
    assert found["predicate"]["reruns"] == [certified_part(done)]
    (part,) = certified(found).reruns
    assert (part.image, part.level, part.seed, part.outcome) == (
        DIGEST,
        "sample",
        7,
        "not reproduced",
    )
    assert part.systems[1].lists[0].worst == "s1 s2-1-0002"
    assert part.systems[1].experiments[1].share == 0.31
    assert part.tolerances["absolute_share"] == 0.01


def test_no_path_of_this_machine_gets_in() -> None:
    assert b"someone" not in json.dumps(certified_part(made())).encode()
    assert "someone" in json.dumps(entry(made()))


def test_without_a_rerun_a_certificate_is_of_version_1() -> None:
    verification = results.verification()
    content = statement(verification, verification.submissions[0])
    assert content["predicateType"] == "urn:anonymization-harness:verification:v1"
    assert "reruns" not in content["predicate"]
    assert certified(content).reruns == ()


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_version_has_its_own_fields_only(version: str) -> None:
    done = made()
    (submission,) = done.verification.submissions
    reruns = [certified_part(done)] if version == "v1" else []
    content = statement(done.verification, submission, None, reruns)
    content["predicateType"] = f"urn:anonymization-harness:verification:{version}"
    with pytest.raises(ConfigError, match="not of the type urn:"):
        certified(content)


def test_cert_check_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = made("full")
    assert main(["cert", "keygen", str(tmp_path / "key")]) == 0
    path = tmp_path / "team.json"
    path.write_bytes(sign(stated(done), load_signer(tmp_path / "key.key")))
    capsys.readouterr()
    assert main(["cert", "check", str(path), "--key", str(tmp_path / "key.pub")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("team.zip: REFUTED (tiny)\n")
    assert "attacker run again: NOT REPRODUCED\n" in said
    facts = [line.split(maxsplit=1) for line in said.splitlines() if line.startswith("  ")]
    assert ["image", DIGEST] in facts
    assert ["trials", "all"] in facts
    # What the table of the rerun shows, except what names paths.
    shown = to_text(done).partition("verification  refuted\n")[2].partition("\nfaults")[0]
    assert shown in said
    assert "someone" not in said


def test_an_unknown_experiment_of_a_later_version_is_shown() -> None:
    part = build(CertifiedRerun, certified_part(made()), "test")
    one = replace(part.systems[0].experiments[0], experiment="half-moon")
    part = replace(part, systems=(replace(part.systems[0], experiments=(one,)),))
    assert any("half-moon" in line for line in table.tables(part))
