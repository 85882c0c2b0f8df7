"""`runner: docker` gives what `runner: process` gives, and strangers' images take part.

The benchmark is `demo` with fewer voices and a tiny attacker; DVC, MLflow and the engine are real.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from repository import Repository

from containers.conftest import BASE, docker
from harness.corpora.benchmark import synthetic
from harness.errors import HarnessError
from harness.protocols import protocol as protocols
from harness.protocols.lists import cross_product, sha256_text, to_text
from harness.reports.lockdiff import EER_BAND_POINTS
from harness.runtime.files import code_fingerprint
from harness.runtime.images import usable

pytestmark = [pytest.mark.containers, pytest.mark.heavy]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docker" / "examples"
# Of each gender in training, and enrolled; utterances of a voice are 4, and 2 + 2.
TRAINED, ENROLLED = 4, 3
SCORES = "results/demo/scores"
STAGE = "train@demo-b2-ecapa-demo-1986"


def small(repository: Repository) -> None:
    """Fewer voices, and an attacker of few weights."""
    whole = protocols.load("demo")
    counts = {"train": (TRAINED, TRAINED, 32), "demo_test_enrolls": (ENROLLED, ENROLLED, 12)}
    counts |= {"demo_test_trials_f": (ENROLLED, 0, 6), "demo_test_trials_m": (0, ENROLLED, 6)}
    sets = tuple(
        dataclasses.replace(s, female=f, male=m, utterances=n)
        for s in whole.sets
        for f, m, n in [counts[s.name]]
    )
    members = synthetic(dataclasses.replace(whole, sets=sets))
    lines = ["name: demo", "title: Demo", "source: {kind: voices, seed: 2025}", "sets:"]
    for one in sets:
        numbers = f"female: {one.female}, male: {one.male}, utterances: {one.utterances}"
        lines.append(f"  - {{name: {one.name}, role: {one.role}, {numbers}}}")
    lines.append("lists:")
    for listed in whole.lists:
        enrolled = {m.speaker for m in members[listed.enrolments] if m.gender == listed.gender}
        trials = cross_product(enrolled, {m.utterance: m.speaker for m in members[listed.trials]})
        names = f"trials: {listed.trials}, enrolments: {listed.enrolments}, dataset: demo"
        numbers = f"split: test, gender: {listed.gender}, target: 6, nontarget: 12"
        lines.append(f"  - {{{names}, {numbers}, sha256: {sha256_text(to_text(trials))}}}")
    lines += ["averages:", "  - {split: test, label: Average}"]
    path = repository.path / "harness/protocols/data/demo.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    # The images hold the whole protocol, which nothing in them reads.
    code = "from harness.runtime.files import code_fingerprint; print(code_fingerprint())"
    lock = repository.path / "docker/images.lock"
    found = repository.run(sys.executable, "-c", code).strip()
    text = lock.read_text(encoding="utf-8")
    lock.write_text(text.replace(code_fingerprint(), found), encoding="utf-8")
    demo = "  ecapa-demo:\n    type: ecapa\n    channels: [64, 64, 64, 64, 192]\n"
    change(repository, demo, demo.replace("64, 64, 64, 64, 192", "16, 16, 16, 16, 48"))
    change(repository, "epochs: 6", "epochs: 2")


def change(repository: Repository, old: str, new: str) -> None:
    """Change params.yaml."""
    params = repository.path / "params.yaml"
    text = params.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    params.write_text(text.replace(old, new), encoding="utf-8")


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def process(engine: None, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """All stages as processes."""
    try:
        usable("anonymizer", "anonymizer-b2", ROOT)
        usable("attacker", "attacker", ROOT)
    except HarnessError as error:
        pytest.fail(str(error))
    repository = Repository(tmp_path_factory.mktemp("process"))
    small(repository)
    repository.repro()
    return repository


@pytest.fixture(scope="module")
def contained(process: Repository, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """All stages in containers; what they leave in the folder of temporary files is seen."""
    repository = Repository(tmp_path_factory.mktemp("contained"))
    small(repository)
    change(repository, "runner: process ", "runner: docker ")
    scratch = tmp_path_factory.mktemp("scratch")
    repository.environment["TMPDIR"] = str(scratch)
    repository.repro()
    assert left_behind(repository) == []
    return repository


def left_behind(repository: Repository) -> list[str]:
    """Containers that see a folder of the repository, unfinished work, temporary files."""
    found = [f"container {name}" for name in running(repository)]
    found += [str(path) for path in (repository.path / ".work").glob("*/*")]
    return found + os.listdir(repository.environment["TMPDIR"])


def running(repository: Repository) -> list[str]:
    """Containers, running or not, that see a folder of the repository."""
    found = []
    for name in docker("ps", "--all", "--quiet").split():
        inspect = ["docker", "inspect", "--format", "{{json .Mounts}}", name]
        said = subprocess.run(inspect, capture_output=True, text=True, check=False).stdout.strip()
        # Another test's may be gone by now.
        mounts = json.loads(said) if said else []
        if any(mount["Source"].startswith(f"{repository.path}/") for mount in mounts):
            found.append(name)
    return found


def test_anonymized_corpora_are_the_same_bytes(process: Repository, contained: Repository) -> None:
    found = files(contained.path / "data/demo/anonymized")
    assert len(found) == 2 * 4 * 2
    assert found == files(process.path / "data/demo/anonymized")


def test_a_retrained_attacker_is_within_the_band(
    process: Repository, contained: Repository
) -> None:
    eers, contained_eers = (
        pd.read_csv(repository.path / "results/demo/averages.csv")["eer_percent"]
        for repository in (process, contained)
    )
    assert len(eers) == 4
    assert ((eers - contained_eers).abs() <= EER_BAND_POINTS).all()


def test_a_model_scores_the_same_under_both(process: Repository, contained: Repository) -> None:
    kept = [contained.path / "models", contained.path / SCORES]
    for path in kept:
        path.rename(path.with_name(f"{path.name}.kept"))
    try:
        shutil.copytree(process.path / "models", contained.path / "models")
        code = (
            "import sys; from harness.cli.main import main;"
            "assert main(['stage', 'score', 'demo', 'b2', 'ecapa-demo', '1986']) == 0;"
            # The host only reads the tables.
            "assert 'torch' not in sys.modules"
        )
        contained.run(sys.executable, "-c", code)
        place = f"{SCORES}/b2"
        found = files(contained.path / place)
        assert sum(name.endswith("/scores") for name in found) == 3 * 2
        # Pictures and events too.
        assert found == files(process.path / place)
    finally:
        for path in kept:
            shutil.rmtree(path)
            path.with_name(f"{path.name}.kept").rename(path)


def test_runs_of_containers_are_tracked(process: Repository, contained: Repository) -> None:
    tables = [one.runs().set_index("tags.harness.key") for one in (process, contained)]
    assert [set(table["status"]) for table in tables] == [{"FINISHED"}, {"FINISHED"}]
    here, inside = (table.loc[STAGE] for table in tables)
    assert inside["metrics.train_loss"] == pytest.approx(here["metrics.train_loss"], rel=0.01)
    assert inside["tags.harness.version.torch"] == here["tags.harness.version.torch"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_it_leaves_nothing_and_goes_on(
    contained: Repository, number: signal.Signals
) -> None:
    target = contained.path / "data/demo/anonymized/b2"
    whole = files(target)
    command = ["harness", "stage", "anonymize", "demo", "b2"]
    with subprocess.Popen(
        command,
        cwd=contained.path,
        env=contained.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as stage:
        done = f"{target.name}/*/sets/train"
        until(lambda: list((contained.path / ".work").glob(f"anonymize-{done}")), stage)
        until(lambda: running(contained), stage)
        os.kill(stage.pid, number)
        _, errors = stage.communicate(timeout=120)
    if number == signal.SIGKILL:
        assert stage.returncode == -number
    else:
        assert stage.returncode == 130
        assert errors == "harness: interrupted; run it again to go on\n"
        assert os.listdir(contained.environment["TMPDIR"]) == []
    until(lambda: not running(contained))
    assert not list((contained.path / ".work").glob("anonymize-b2/*/sets/demo_test_trials_m"))
    (kept,) = (contained.path / ".work").glob("anonymize-b2/*/sets/train")
    before = kept.stat().st_ino
    # As it was before: a stage's output is replaced as a whole, or not at all.
    assert files(target) == whole
    contained.run(*command)
    assert (target / "train").stat().st_ino == before
    assert files(target) == whole
    assert left_behind(contained) == []


def until(holds: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for what must come, at most two minutes."""
    end = time.monotonic() + 120
    while not holds():
        assert process is None or process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)


# Strangers' images


Built = Callable[[str, Path], str]


@pytest.fixture(scope="module")
def built(engine: None) -> Iterator[Built]:
    """Builds an image by its name for these tests; its digest. It is gone after them."""
    tags = []

    def build(name: str, context: Path) -> str:
        tags.append(f"harness-test-runner-{os.getpid()}-{name}")
        argument = f"BASE_IMAGE={BASE}"
        docker(
            *("build", "--network", "none", "--quiet", "--tag", tags[-1]),
            *("--build-arg", argument, str(context)),
        )
        return docker("image", "inspect", "--format", "{{.Id}}", tags[-1])

    yield build
    for tag in tags:
        docker("image", "rm", "--force", tag)


@pytest.fixture(scope="module")
def visited(process: Repository, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A copy for strangers."""
    repository = copy.copy(process)
    repository.path = tmp_path_factory.mktemp("visited") / "repository"
    shutil.copytree(process.path, repository.path)
    repository.environment = process.environment | {"PYTHONPATH": str(repository.path)}
    return repository


@contextmanager
def changed(repository: Repository, *replacements: tuple[str, str]) -> Iterator[None]:
    """Other parameters while the block runs."""
    params = repository.path / "params.yaml"
    text = params.read_text(encoding="utf-8")
    try:
        for old, new in replacements:
            change(repository, old, new)
        yield
    finally:
        params.write_text(text, encoding="utf-8")


def test_strangers_take_part_by_four_lines(visited: Repository, built: Built) -> None:
    anonymizer = built("anonymizer", EXAMPLES / "anonymizer-perl")
    attacker = built("attacker", EXAMPLES / "attacker-perl")
    before = files(visited.path / "data/demo/anonymized/orig")
    with changed(
        visited,
        (
            "systems: [orig, b2]\n    attackers: [ecapa-demo]",
            "systems: [orig, theirs]\n    attackers: [ours]",
        ),
        ("  b2: {", f"  theirs: {{type: image, image: '{anonymizer}'}}\n  b2: {{"),
        ("  ecapa: {", f"  ours: {{type: image, image: '{attacker}'}}\n  ecapa: {{"),
    ):
        ran = visited.repro()
    assert {name for name in ran if not name.startswith(("compare", "report"))} == {
        "anonymize@demo-theirs",
        "utility@demo-theirs-wer",
        "utility@demo-theirs-pitch",
        *(
            f"{stage}@demo-{system}-ours-1986"
            for stage in ("train", "score", "evaluate", "distinctiveness")
            for system in ("orig", "theirs")
        ),
    }
    table = pd.read_csv(visited.path / "results/demo/eer.csv")
    assert set(table["attacker"]) == {"ours"}
    assert table["eer_percent"].between(0, 100).all()
    speech = files(visited.path / "data/demo/anonymized/theirs")
    assert speech.keys() == before.keys()
    assert all(speech[name] != before[name] for name in speech if name.endswith(".tar"))
    events = (visited.path / "models/demo/theirs/ours/seed-1986/events.jsonl").read_text()
    assert json.loads(events.splitlines()[0])["versions"] == {}


SAYS_NAN = """printf '{"event": "metric", "name": "x\\\\u001b[1m", "value": NaN}\\n'; sleep 600"""
DIES = """printf 'first\\n\\033[31mno weights\\n' >&2; exit 3"""
LINKS = "mkdir /out/audio; ln -s /etc/passwd /out/audio/u0000.wav"
# What an image does, and what is said of it.
FAILURES = {
    "nan": (SAYS_NAN, r"its standard output, line 1: metric x\x1b[1m is not finite"),
    "dies": (DIES, r"the container ended with status 3 (\x1b[31mno weights)"),
    "links": (LINKS, "/out/audio/u0000.wav: the container left a symbolic link"),
    "nothing": ("true", "files are missing"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_strangers_failure_is_one_line(
    visited: Repository, built: Built, tmp_path: Path, name: str
) -> None:
    script, said = FAILURES[name]
    entrypoint = json.dumps(["sh", "-c", script])
    (tmp_path / "Dockerfile").write_text(
        f"ARG BASE_IMAGE\nFROM ${{BASE_IMAGE}}\nENTRYPOINT {entrypoint}\n", encoding="utf-8"
    )
    theirs = f"  b2: {{type: image, image: '{built(name, tmp_path)}'"
    with changed(
        visited, ("  b2: {type: mcadams", theirs), (", level: utterance, alphas_from: seed}", "}")
    ):
        output = visited.run("harness", "stage", "anonymize", "demo", "b2", code=1)
    assert output.startswith("harness: ")
    assert said in output
    assert output.count("\n") == 1
    assert output[:-1].isprintable()
    assert running(visited) == []


def test_a_tag_is_refused_with_its_digest(visited: Repository) -> None:
    theirs = f"  theirs: {{type: image, image: '{BASE}'}}\n  b2: {{"
    with changed(visited, ("  b2: {", theirs)):
        output = visited.run("harness", "stage", "anonymize", "demo", "b2", code=1)
    digest = docker("image", "inspect", "--format", "{{.Id}}", BASE)
    assert output == (
        f"harness: params.yaml: anonymizers.theirs (image '{BASE}'): a tag may mean another image "
        f"tomorrow; write image: {digest}\n"
    )
