"""Anonymizer images: B2 inside as outside, and each broken clause named as itself."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from containers.conftest import Build, assert_breaks, assert_conforms, present
from harness.anonymizers.mcadams import McAdams
from harness.cli.main import main
from harness.contracts import speech
from harness.contracts.anonymizer.conformance import CHECKED, FENCE, check
from harness.contracts.anonymizer.exchange import write_inputs
from harness.contracts.inputs import AUDIO, Circumstances, Held
from harness.contracts.wav import write_wav
from harness.errors import ContainerError
from harness.runtime.containers.running import run

pytestmark = pytest.mark.containers

EXAMPLE = Path(__file__).resolve().parents[2] / "docker" / "examples" / "anonymizer-perl"
B2 = "harness-anonymizer-b2"

START = "my @rows = read_manifest();"
END = "say_event('done');"
SEEDED = "srand(($row->{seed} ^ ($row->{seed} >> 32)) & 0xffffffff);"
FACTOR = "LOWEST + SPREAD * rand()"
SCALED = "int($_ / $peak * PEAK)"
CLIPPED = "my $v = int($_ / $peak * 60000); $v > 32767 ? 32767 : $v < -32768 ? -32768 : $v"
RAISED = "raised($factor, @samples));"

# The clause; what is changed in the example, and into what; a part of what is said.
BAD = {
    "C1 root": ("C1", START, f"open(X, '>/root/x') or fail(\"/root/x: $!\"); {START}", "denied"),
    "C2": (
        "C2",
        START,
        "use IO::Socket::INET; IO::Socket::INET->new('192.0.2.1:80') or fail(\"weights: $@\");"
        + START,
        "unreachable",
    ),
    "C3 new": ("C3", START, f"open(X, '>/in/x') or fail(\"/in/x: $!\"); {START}", "Read-only"),
    "C3 old": (
        "C3",
        START,
        f"open(X, '>>/in/manifest.tsv') or fail(\"/in/manifest.tsv: $!\"); {START}",
        "/in/manifest.tsv",
    ),
    "C4": ("C4", START, f"sleep 600; {START}", "longer than"),
    "C5": ("C5", START, f'print "loading\\n"; {START}', "line 1"),
    "C6 status": ("C6", END, f"{END} exit 3;", "status 3"),
    "C6 event": ("C6", END, "say_event('error', message => 'well');", "exit status 0"),
    "C7 skipped": ("C7", 'fail("$path: not a WAV file")', "return (1) x 16000", "no audio"),
    "C7 silent": ("C7", "    say_event('error', message => join(' ', @_));", "", "0 error events"),
    "C7 status": ("C7", "exit 1;", "exit 0;", "exit status 0"),
    "C8": ("C8", r"unless $parameters =~ /^\s*\{\s*\}\s*$/", "if 0", "an unknown parameter"),
    "C9": (
        "C9",
        FACTOR,
        f"{FACTOR} + 0.01 * (read_file(IN . '/run.json') =~ /other/)",
        "6 of 6 utterances differ",
    ),
    "A3 fewer": ("A3", START, f"{START} pop @rows if @rows > 1;", "1 of 6 files are missing"),
    "A3 more": ("A3", START, f"{START} open(X, '>/out/log');", "/out/log"),
    "A3 link": ("A3", START, f"{START} symlink('/in/audio', '/out/x');", "symbolic link"),
    "A4 channels": ("A4", "'fmt ', 16, 1, 1,", "'fmt ', 16, 1, 2,", "2 channels"),
    "A4 coding": ("A4", "'fmt ', 16, 1, 1,", "'fmt ', 16, 3, 1,", "floating point"),
    "A4 short": ("A4", "'data', length($data)", "'data', length($data) + 2", "cut short"),
    "A5": ("A5", RAISED, "raised($factor, @samples), (0) x 8000);", "samples from"),
    "A6": ("A6", SCALED, "7", "exceeds"),
    "A7": ("A7", SCALED, CLIPPED, "in a row"),
    "A8": ("A8", SEEDED, "srand();", "differ"),
    "A9": ("A9", SEEDED, "srand(1);", "no utterance"),
    "A10": ("A10", FACTOR, f"{FACTOR} / @rows", "1 of 1"),
    "A11 rows": ("A11", FACTOR, f"{FACTOR} + 0.01 * ($done % 2)", "6 of 6"),
    "A11 columns": ("A11", "@row{@columns}", "@row{qw(utterance path seed alpha)}", "status"),
}


@pytest.fixture
def b2(engine: None) -> str:
    """The image of B2."""
    return present(B2)


def test_the_example_conforms(
    build: Build, clean: None, capsys: pytest.CaptureFixture[str]
) -> None:
    image = build({})
    assert main(["conformance", "anonymizer", image]) == 0
    assert_conforms(capsys.readouterr().out, image, CHECKED)


def test_every_checked_clause_has_a_bad_image() -> None:
    assert {clause for clause, *_ in BAD.values()} == set(CHECKED)


@pytest.mark.parametrize("name", BAD)
def test_a_broken_clause_is_named(name: str, build: Build, clean: None) -> None:
    clause, old, new, said = BAD[name]
    seconds = 4.0 if clause == "C4" else 60.0
    findings = check(build({old: new}), {}, fence=dataclasses.replace(FENCE, seconds=seconds))
    assert_breaks(findings, clause, said)


def test_what_cannot_be_told_is_not_kept(build: Build, clean: None) -> None:
    findings = check(build({SEEDED: "srand();"}), {})
    states = {finding.clause: finding.state for finding in findings}
    assert {states[clause] for clause in ("C9", "A9", "A10", "A11")} == {"not checked"}
    assert states["A7"] == "kept"


def test_a_system_that_draws_nothing(build: Build, clean: None) -> None:
    findings = {
        finding.clause: finding for finding in check(build({SEEDED: "srand(1);"}), {}, seeded=False)
    }
    assert findings["A9"].state == "not checked"
    assert {f.state for clause, f in findings.items() if clause != "A9"} == {"kept"}


def test_an_image_that_does_not_start(
    build: Build, clean: None, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = build({'ENTRYPOINT ["perl", "': 'ENTRYPOINT ["/no/such", "'})
    assert main(["conformance", "anonymizer", broken]) == 1
    assert "C1   broken" in capsys.readouterr().out
    assert main(["conformance", "anonymizer", "harness-test-no-such-image"]) == 2
    assert "harness-test-no-such-image" in capsys.readouterr().err


def test_b2_in_its_image_is_b2(b2: str, clean: None, tmp_path: Path) -> None:
    given = list(zip(speech.jobs(7), speech.utterances(), strict=True))
    held = [(job, Held(samples)) for job, samples in given]
    inputs = write_inputs(tmp_path / "in", held, {"type": "mcadams"}, Circumstances(threads=2))
    outcome = run(b2, ["anonymize"], inputs=inputs, output=tmp_path / "inside", fence=FENCE)
    outcome.require(b2)
    anonymizer = McAdams()
    for job, samples in given:
        name = f"{job.utterance}.wav"
        write_wav(tmp_path / "outside" / name, anonymizer.anonymize(samples, job))
        inside = (tmp_path / "inside" / AUDIO / name).read_bytes()
        assert inside == (tmp_path / "outside" / name).read_bytes()
    assert len(list((tmp_path / "inside" / AUDIO).iterdir())) == len(given)


def test_b2_conforms(b2: str, clean: None) -> None:
    findings = check(b2, {"alpha_min": 0.5, "alpha_max": 0.9})
    assert {finding.state for finding in findings} == {"kept"}


def test_b2_refuses_an_unknown_parameter(b2: str, clean: None, tmp_path: Path) -> None:
    held = [(speech.jobs(7)[0], Held(speech.utterances()[0]))]
    inputs = write_inputs(tmp_path / "in", held, {"alpha_mim": 0.5}, Circumstances())
    outcome = run(b2, ["anonymize"], inputs=inputs, output=tmp_path / "out", fence=FENCE)
    with pytest.raises(ContainerError, match="alpha_mim"):
        outcome.require(b2)
