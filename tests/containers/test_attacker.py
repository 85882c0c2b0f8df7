"""Attacker images: the example and ECAPA conform, and each broken clause is named as itself."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from containers.conftest import Build, assert_breaks, assert_conforms, present
from harness.cli.main import main
from harness.contracts.attacker.conformance import CHECKED, FENCE, OF_TRAINING, check

pytestmark = pytest.mark.containers

EXAMPLE = Path(__file__).resolve().parents[2] / "docker" / "examples" / "attacker-perl"
ECAPA = "harness-attacker"
# As params.yaml's ecapa-demo, but for one epoch of small batches.
TINY_ECAPA = {
    "channels": [64, 64, 64, 64, 192],
    "n_mels": 64,
    "crop_seconds": 2.0,
    "min_seconds": 2.0,
    "batch_size": 4,
    "epochs": 1,
    "max_lr": 0.003,
    "step_size": 18,
}

START = 'my $verb = "@ARGV";'
END = "say_event('done');"
TRAINED = "sqrt($_) + SMALLEST"
SCORE = "my $score = -sqrt($sum);"
WRITTEN = "write_file(OUT . '/scores.tsv', @lines);"
MODEL = "write_file(OUT . '/model/deviations',"
ROW = "@row{@columns} = @fields;"
READ_MODEL = "my $path = IN . '/model/deviations';"
NO_SPEECH = 'fail("pairs.tsv: no speech of $speaker or $trial") unless'
# Scores with the mean and deviation of all trials of the run; with the mean over its speakers.
OVER_TRIALS = """
    my ($head, @rest) = map { [split /\\t/] } @lines;
    my ($mean, $deviation) = moments(map { $_->[2] } @rest);
    $_->[2] = ($_->[2] - $mean) / ($deviation || 1) for @rest;
    write_file(OUT . '/scores.tsv', map { join "\\t", @$_ } $head, @rest);
"""
OVER_SPEAKERS = """
    my ($head, @rest) = map { [split /\\t/] } @lines;
    my %of;
    push @{$of{$_->[1]}}, $_->[2] for @rest;
    $_->[2] -= (moments(@{$of{$_->[1]}}))[0] for @rest;
    write_file(OUT . '/scores.tsv', map { join "\\t", @$_ } $head, @rest);
"""

# The clause; what is changed in the example, and into what; a part of what is said.
BAD = {
    "C1": ("C1", START, f"open(X, '>/root/x') or fail(\"/root/x: $!\"); {START}", "denied"),
    "C2": (
        "C2",
        START,
        "use IO::Socket::INET; IO::Socket::INET->new('192.0.2.1:80') or fail(\"weights: $@\");"
        + START,
        "unreachable",
    ),
    "C3": ("C3", START, f"open(X, '>/in/x') or fail(\"/in/x: $!\"); {START}", "Read-only"),
    "C4": ("C4", START, f"sleep 600; {START}", "longer than"),
    "C5": ("C5", START, f'print "loading\\n"; {START}', "line 1"),
    "C5 progress": ("C5", "done => ++$done, ", "", "progress without whole numbers"),
    "C6 status": ("C6", END, f"{END} exit 3;", "status 3"),
    "C6 event": ("C6", END, "say_event('error', message => 'well');", "exit status 0"),
    "C7 skipped": ("C7", 'fail("$path: not a WAV file")', "return (1) x 16000", "no audio"),
    "C7 pair": ("C7", NO_SPEECH, "next unless", "score, a pair of an unknown trial"),
    "C7 model": ("C7", 'fail("$path: not a model")', "return (1) x SIZE", "an empty model"),
    "C7 silent": ("C7", "    say_event('error', message => join(' ', @_));", "", "0 error events"),
    "C7 status": ("C7", "exit 1;", "exit 0;", "exit status 0"),
    "C8": ("C8", r"unless $parameters =~ /^\s*\{\s*\}\s*$/", "if 0", "train, an unknown parameter"),
    "C9": (
        "C9",
        SCORE,
        "my ($threads) = read_file(IN . '/run.json') =~ /\"threads\": (\\d+)/;"
        "my $score = -sqrt($sum) * $threads;",
        "with 2 threads: 24 scores move",
    ),
    "T2 nothing": ("T2", MODEL, "write_file('/tmp/deviations',", "nothing is in /out/model"),
    "T2 more": ("T2", START, f"open(X, '>/out/log'); {START}", "/out/log stands beside"),
    "T2 link": ("T2", START, f"symlink('/in', '/out/x'); {START}", "symbolic link"),
    "T2 name": ("T2", MODEL, f"write_file(OUT . '/model/events.jsonl', 'x'); {MODEL}", "events"),
    "T3": ("T3", TRAINED, f"{TRAINED} + rand()", "trained again: "),
    "T4": (
        "T4",
        ROW,
        "@row{$path =~ /train/ ? qw(utterance path speaker) : @columns} = @fields;",
        "status 1",
    ),
    "S4 fewer": ("S4", WRITTEN, f"pop @lines; {WRITTEN}", "1 of 24 pairs have no score"),
    "S4 twice": ("S4", WRITTEN, f"push @lines, $lines[3]; {WRITTEN}", "stands twice"),
    "S4 columns": ("S4", r'"enrolment\ttrial\tscore"', r'"speaker\ttrial\tscore"', "no column"),
    "S4 infinite": ("S4", SCORE, "my $score = -9**9**9;", "scores.tsv:2: a score is no finite"),
    "S4 more": ("S4", WRITTEN, f"{WRITTEN} write_file(OUT . '/log', 'x');", "/out/log"),
    "S5": ("S5", SCORE, "my $score = -sqrt($sum) - rand();", "scored again: "),
    "S6 pairs": ("S6", SCORE, "my $score = @lines - sqrt($sum);", "24 scores move"),
    "S6 rows": ("S6", "push @{$spoken{$_->{speaker}}}, ", "$spoken{$_->{speaker}}[0] = ", "scores"),
    "S6 names": ("S6", SCORE, "my $score = substr($trial, -1) - sqrt($sum);", "scores move"),
    "S6 columns": (
        "S6",
        ROW,
        "@row{$path =~ /pairs/ ? qw(enrolment trial) : @columns} = @fields;",
        "status 1",
    ),
    "S7 over trials": ("S7", WRITTEN, OVER_TRIALS, "half of the trials alone: 12 scores move"),
    "S7 over speakers": ("S7", WRITTEN, OVER_SPEAKERS, "one enrolled speaker alone: 8 scores move"),
    "S7 alone": ("S7", WRITTEN, f"fail('too few pairs') if @lines < 9; {WRITTEN}", "too few pairs"),
}


@pytest.fixture
def ecapa(engine: None) -> str:
    """The image of our ECAPA attacker."""
    return present(ECAPA)


def test_the_example_conforms(
    build: Build, clean: None, capsys: pytest.CaptureFixture[str]
) -> None:
    image = build({})
    assert main(["conformance", "attacker", image]) == 0
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
    findings = check(build({SCORE: "my $score = rand();"}), {})
    states = {finding.clause: finding.state for finding in findings}
    assert {states[clause] for clause in ("C9", "T3", "T4", "S6", "S7")} == {"not checked"}
    assert {states[clause] for clause in ("C7", "T2", "S4")} == {"kept"}


def test_a_model_of_other_bytes_may_score_the_same(build: Build, clean: None) -> None:
    findings = check(build({TRAINED: f"{TRAINED} + 1e-9 * rand()"}), {})
    assert {finding.state for finding in findings} == {"kept"}


def test_an_image_that_carries_its_models(
    build: Build, clean: None, capsys: pytest.CaptureFixture[str]
) -> None:
    carried = (
        'my ($system) = read_file(IN . \'/run.json\') =~ /"system": "(.*?)"/;'
        "fail(\"no model of '$system'\") unless $system eq 'T8-5'; return (1) x SIZE;"
    )
    image = build({READ_MODEL: f"{carried} {READ_MODEL}"})
    assert main(["conformance", "attacker", image, "--untrained"]) == 1
    assert "status 1 on good input: no model of ''" in capsys.readouterr().out
    assert main(["conformance", "attacker", image, "--untrained", "--system", "T8-5"]) == 0
    found = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[:-1]]
    for clause, state in found:
        assert state.startswith("not checked " if clause in OF_TRAINING else "kept ")
    assert [clause for clause, _ in found] == list(CHECKED)


def test_no_image(engine: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "attacker", "harness-test-no-such-image"]) == 2
    assert "harness-test-no-such-image" in capsys.readouterr().err


def test_ecapa_conforms(
    ecapa: str, clean: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parameters = tmp_path / "parameters.json"
    parameters.write_text(json.dumps(TINY_ECAPA), encoding="utf-8")
    assert main(["conformance", "attacker", ecapa, "--params", str(parameters)]) == 0
    assert_conforms(capsys.readouterr().out, ecapa, CHECKED)
