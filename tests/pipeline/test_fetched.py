"""Scores of the workspace and of commits, brought by the real DVC in a small real repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.errors import ConfigError, DataError, ResourceError
from harness.pipeline.fetched import Wanted, find, parse
from harness.protocols.lists import read_trials, trials_path
from harness.protocols.protocol import load
from harness.protocols.scores import score_path

pytestmark = pytest.mark.heavy

SETTINGS = """\
benchmarks: {{}}
benchmark:
  {{name: demo, systems: [orig], attackers: [ecapa], seeds: {seeds}, segment_seconds: null,
   evaluators: [wer]}}
anonymizers: {{orig: {{type: original}}}}
attackers: {{ecapa: {{type: ecapa, noise: {noise}}}}}
evaluators: {{wer: {{type: wer}}}}
seed: 1
sources: {{}}
runtime: {{}}
tracking: {{}}
"""
# Stands for the stages: lists of speakers, and an attacker that hears every trial with noise.
WORK = """\
import pathlib, random, sys
import yaml

def write(path, text):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)

kind, *seed = sys.argv[1:]
for gender in "fm":
    name = f"demo_test_trials_{gender}"
    trials = [
        (f"{gender}{e:02d}", f"{gender}{s:02d}-0-{u}", e == s)
        for e in range(11) for s in range(14) for u in range(5)
    ]
    if kind == "corpus":
        lines = [f"{e} {u} {'target' if t else 'nontarget'}" for e, u, t in trials]
        write(f"data/demo/corpus/lists/{name}/trials", "\\n".join(lines) + "\\n")
    else:
        noise = yaml.safe_load(open("params.yaml"))["attackers"]["ecapa"]["noise"]
        rng = random.Random(seed[0] + gender)
        lines = [f"{e} {u} {t + noise * rng.gauss(0, 1)}" for e, u, t in trials]
        folder = f"results/demo/scores/orig/ecapa/seed-{seed[0]}"
        write(f"{folder}/original/demo_test_enrolls-{name}/scores", "\\n".join(lines) + "\\n")
        write(f"{folder}/events.jsonl", '{"event": "run", "stage": "score", "key": "k", '
              '"benchmark": "demo", "device": "cpu"}\\n')
"""
STAGES = """\
stages:
  corpus:
    cmd: python work.py corpus
    deps: [work.py]
    outs: [data/demo/corpus]
  score:
    matrix: {seed: "${benchmark.seeds}"}
    cmd: python work.py score ${item.seed}
    params: [attackers.ecapa]
    deps: [work.py, data/demo/corpus]
    outs: ["results/demo/scores/orig/ecapa/seed-${item.seed}"]
"""


class Repository:
    """Commands run where the files are."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, *command: str) -> str:
        identity = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", "t"), ("EMAIL", "t@example.org"))
        }
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            command,
            cwd=self.path,
            env={**os.environ, **identity, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def reproduce(self, seeds: list[int], noise: float) -> None:
        """Other parameters, all stages, and a commit."""
        (self.path / "params.yaml").write_text(SETTINGS.format(seeds=seeds, noise=noise))
        self.run("dvc", "repro", "--quiet")
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "--message", f"noise {noise}")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Three commits: one training that hears badly, three such, three that hear well."""
    repository = Repository(tmp_path_factory.mktemp("made"))
    repository.run("git", "init", "--quiet")
    repository.run("dvc", "init", "--quiet")
    repository.run("dvc", "config", "core.analytics", "false")
    (repository.path / "work.py").write_text(WORK)
    (repository.path / "dvc.yaml").write_text(STAGES)
    repository.reproduce([1], 1.5)
    repository.reproduce([1, 2, 3], 1.5)
    repository.reproduce([1, 2, 3], 0.5)
    return repository


@pytest.fixture
def repository(made: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A copy, in which this process works."""
    copied = Repository(Path(shutil.copytree(made.path, tmp_path / "repository", symlinks=True)))
    monkeypatch.chdir(copied.path)
    return copied


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("b2/ecapa", (None, "demo", "b2", "ecapa", None)),
        ("HEAD~1:b2/ecapa/", ("HEAD~1", "demo", "b2", "ecapa", None)),
        ("T8-5/ecapa_v2/seed-0", (None, "demo", "T8-5", "ecapa_v2", 0)),
        ("results/vpc/scores/b2/e", (None, "vpc", "b2", "e", None)),
        ("v1:results/vpc/scores/b2/e/seed-7/", ("v1", "vpc", "b2", "e", 7)),
        ("HEAD^{/fix: it}:b2/ecapa", ("HEAD^{/fix: it}", "demo", "b2", "ecapa", None)),
    ],
)
def test_what_is_asked_for(text: str, wanted: tuple[object, ...]) -> None:
    assert parse(text, "demo") == Wanted(text, *wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        *("", "b2", "b2/", ":b2/ecapa", "b2/ecapa/seed-x", "b2/ecapa/seed-01", "b2/ecapa/x"),
        *("../ecapa", "/b2/ecapa", "b2/ecapa/seed-1/original", "results/demo/eer/b2/ecapa"),
        *("results/demo/scores/b2", "results/demo/scores", "results/../scores/b2/ecapa"),
    ],
)
def test_what_is_no_folder_of_scores(text: str) -> None:
    with pytest.raises(ConfigError, match="not a folder of scores; give SYSTEM/ATTACKER"):
        parse(text, "demo")


def test_the_workspace_is_taken_as_it_is(repository: Repository, tmp_path: Path) -> None:
    side = find(parse("orig/ecapa", "demo"), tmp_path / "work")
    assert list(side.scores) == [1, 2, 3]
    assert side.scores[2] == Path("results/demo/scores/orig/ecapa/seed-2")
    assert side.corpus == Path("data/demo/corpus")
    assert side.runs[1]["device"] == "cpu"
    assert {"corpus", "score@1"} <= set(side.stages)
    assert not (tmp_path / "work").exists()
    assert list(find(parse("orig/ecapa/seed-2", "demo"), tmp_path / "work").scores) == [2]


def test_a_commit_is_brought_beside_it(repository: Repository, tmp_path: Path) -> None:
    # Nothing is taken from the workspace, and nothing left in it.
    shutil.rmtree("results")
    shutil.rmtree("data")
    before = repository.run("git", "status", "--porcelain")
    old = find(parse("HEAD~2:orig/ecapa", "demo"), tmp_path / "old")
    new = find(parse("HEAD:orig/ecapa", "demo"), tmp_path / "new")
    assert (list(old.scores), list(new.scores)) == ([1], [1, 2, 3])
    for listed in load("demo").lists:
        assert len(read_trials(trials_path(old.corpus, listed.trials))) == 11 * 14 * 5
        # Noise of 1.5 there and of 0.5 here is the same noise, three times as large.
        both = [
            [
                float(line.split()[2])
                for line in score_path(side.scores[1], "original", listed).read_text().splitlines()
            ]
            for side in (old, new)
        ]
        assert both[0][-1] == pytest.approx(3 * both[1][-1])
    assert old.stages["score@1"].params == {
        "attackers.ecapa.type": "ecapa",
        "attackers.ecapa.noise": "1.5",
    }
    assert not Path("results").exists()
    assert repository.run("git", "status", "--porcelain") == before
    assert list(find(parse("HEAD:orig/ecapa/seed-3", "demo"), tmp_path / "one").scores) == [3]


def test_what_is_not_there(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match="^orig/other: no scores there; run `dvc repro`"):
        find(parse("orig/other", "demo"), tmp_path / "1")
    with pytest.raises(DataError, match="^orig/ecapa/seed-9: no scores there"):
        find(parse("orig/ecapa/seed-9", "demo"), tmp_path / "1")
    with pytest.raises(DataError, match="^HEAD:results/demo/scores/orig/other: DVC cannot bring"):
        find(parse("HEAD:orig/other", "demo"), tmp_path / "2")
    with pytest.raises(ConfigError, match="^revision 'nope': git finds no such commit"):
        find(parse("nope:orig/ecapa", "demo"), tmp_path / "3")
    shutil.rmtree(".dvc/cache")
    with pytest.raises(DataError, match=r"DVC cannot bring it \(ERROR: .*cache"):
        find(parse("HEAD~1:orig/ecapa", "demo"), tmp_path / "4")
    Path("dvc.lock").unlink()
    with pytest.raises(DataError, match="^dvc.lock: no such file; run it at the root"):
        find(parse("orig/ecapa", "demo"), tmp_path / "5")
    monkeypatch.setattr("harness.pipeline.fetched.find_spec", lambda name: None)
    with pytest.raises(ResourceError, match="^HEAD: DVC is not installed"):
        find(parse("HEAD:orig/ecapa", "demo"), tmp_path / "6")


def test_a_change_and_its_effect(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "HEAD~1:orig/ecapa", "orig/ecapa", "--json", "found.json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    heading = lines.index("what differs, A -> B")
    assert lines[heading + 1 : heading + 3] == ["  parameter  attacker.noise: 1.5 -> 0.5", ""]
    assert "    more than trials, speakers and seeds explain" in lines
    (row,) = json.loads(Path("found.json").read_text())["rows"]
    assert (row["scenario"], row["split"], row["finding"]) == ("original", "test", "more")
    # Two normal distributions a distance apart, in deviations: Φ(-1 / 3) and Φ(-1).
    assert row["first"]["mean"] == pytest.approx(36.9, abs=3)
    assert row["second"]["mean"] == pytest.approx(15.9, abs=3)

    assert main(["compare", "HEAD~2:orig/ecapa", "HEAD~1:orig/ecapa"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  seeds  of the trainings: 1 -> 1, 2, 3" in lines
    assert "    not more than trials and speakers alone explain" in lines

    assert main(["compare", "HEAD~2:orig/ecapa", "orig/ecapa/seed-1"]) == 0
    said = "    more than trials and speakers explain; the noise of training is not known"
    assert said in capsys.readouterr().out

    assert main(["compare", "HEAD:orig/ecapa", "orig/ecapa"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[heading + 1] == "  nothing"
    assert "    identical: the same scores, byte for byte" in lines
