"""Attackers in containers, run again: the honest Perl example, the cheating one, and ECAPA."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reruns import spoken

from containers.conftest import BASE, docker, leftovers
from harness.attackers.base import Machine
from harness.cli.main import main
from harness.contracts.attacker.image import ImageAttacker
from harness.contracts.inputs import Circumstances
from harness.corpora.benchmark import Folders, gather, trial_texts
from harness.corpora.importing import Recording, import_utterances
from harness.corpora.opaque import opaque_ids, speech
from harness.corpora.store import Corpus
from harness.protocols import protocol
from harness.protocols.lists import Trial
from harness.reruns.experiments import EXPERIMENTS
from harness.reruns.scoring import Bench, Image
from harness.runtime.containers.engine import image_digest
from harness.runtime.containers.fence import Fence
from harness.runtime.events import Events
from harness.runtime.pool import Pool

pytestmark = pytest.mark.containers

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docker" / "examples"
ECAPA = "harness-attacker"
TINY_ECAPA = {
    "channels": [64, 64, 64, 64, 192],
    "n_mels": 64,
    "crop_seconds": 0.5,
    "min_seconds": 0.4,
    "batch_size": 8,
    "epochs": 1,
}
LISTS = [spoken.list_name(gender) for gender in spoken.GENDERS]
LEFT_OUT = {"half-trials", "half-speakers", "one-speaker", "one-pair"}
LIMITS = Fence(memory=8192)


def built(context: Path | str, **arguments: str) -> str:
    """An image; a text is its Dockerfile."""
    tag = f"harness-test-rerun-{uuid.uuid4().hex[:8]}"
    where = ("-",) if isinstance(context, str) else (str(context),)
    subprocess.run(
        [
            *("docker", "build", "--network", "none", "--quiet", "--tag", tag),
            *(
                part
                for name, value in arguments.items()
                for part in ("--build-arg", f"{name}={value}")
            ),
            *where,
        ],
        input=context.encode() if isinstance(context, str) else None,
        check=True,
        capture_output=True,
    )
    return tag


@pytest.fixture(scope="module")
def images(engine: None) -> Iterator[dict[str, str]]:
    """The honest example, the one that cheats, one that fails and one that never ends."""
    honest = built(EXAMPLES / "attacker-perl", BASE_IMAGE=BASE)
    made = {
        "honest": honest,
        "cheating": built(EXAMPLES / "attacker-cheating", ATTACKER=honest),
        "failing": built(f'FROM {BASE}\nENTRYPOINT ["sh", "-c", "echo no model >&2; exit 3"]\n'),
        "endless": built(f'FROM {BASE}\nENTRYPOINT ["sh", "-c", "sleep 600"]\n'),
    }
    yield made
    docker("image", "rm", "--force", *made.values())


def trained(image: str, model: Path, corpus: Corpus, parameters: Mapping[str, Any]) -> None:
    known = speech(
        corpus,
        opaque_ids(corpus.manifest["utterance"], "u", 1),
        opaque_ids(corpus.manifest["speaker"], "s", 2),
    )
    work = model.with_name(f"{model.name}.work")
    work.mkdir(parents=True)
    ImageAttacker(image_digest(image), dict(parameters)).train(
        known, model, seed=0, work=work, machine=Machine(2, "cpu"), events=Events()
    )


def scorer(
    image: str, folder: Path, models: Path, parameters: Mapping[str, Any]
) -> Callable[[str, Sequence[Trial]], np.ndarray]:
    """What a team does: its image scores the whole of each list."""

    def scores(system: str, trials: Sequence[Trial]) -> np.ndarray:
        circumstances = Circumstances(threads=2, system=system)
        bench = Bench(
            Image(image, models / system, parameters, circumstances, LIMITS),
            spoken.corpus(folder, system, spoken.ENROLMENTS),
            spoken.corpus(folder, system, spoken.list_name(trials[0].enrolment[0])),
            trials,
        )
        return bench.score(trials, bench.names())

    return scores


@pytest.fixture(scope="module")
def speech_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return spoken.write_speech(tmp_path_factory.mktemp("speech"), ("A1",))


@pytest.fixture(scope="module")
def models(
    images: dict[str, str], speech_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("models")
    corpus = spoken.corpus(speech_folder, "A1", spoken.ENROLMENTS)
    trained(images["honest"], folder / "A1", corpus, {})
    return folder


@pytest.fixture(scope="module")
def teams(
    images: dict[str, str],
    speech_folder: Path,
    models: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A submission of each of the two images, each with the scores that it gave."""
    folder = tmp_path_factory.mktemp("teams")
    for name in ("honest", "cheating"):
        spoken.write_submission(
            folder / name, scorer(images[name], speech_folder, models, {}), ("A1",)
        )
    return folder


@pytest.fixture
def rerun(
    clean: None, speech_folder: Path, models: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, dict[str, Any]]]:
    """The command on the small edition; its exit status and its document."""
    monkeypatch.setattr(protocol, "load", lambda name: spoken.edition())

    def run(*arguments: object) -> tuple[int, dict[str, Any]]:
        path = tmp_path / "rerun.json"
        common = ("--speech", speech_folder, "--benchmark", "tiny", "--threads", 2, "--json", path)
        status = main(["rerun", *map(str, (*arguments, *common))])
        return status, json.loads(path.read_text())

    return run


def states(system: dict[str, Any]) -> dict[str, str]:
    return {one["experiment"]: one["state"] for one in system["experiments"]}


def test_the_honest_one_is_reproduced(
    rerun: Callable[..., tuple[int, dict[str, Any]]],
    images: dict[str, str],
    teams: Path,
    models: Path,
) -> None:
    status, document = rerun(teams / "honest", "--image", images["honest"], "--models", models)
    assert status == 0
    (one,) = document["reruns"]
    assert one["image"] == docker("image", "inspect", "--format", "{{.Id}}", images["honest"])
    (system,) = one["systems"]
    assert (system["outcome"], system["repeatable"]) == ("reproduced", True)
    assert [(made["list"], made["agreed"]) for made in system["lists"]] == [
        (name, "reproduced") for name in LISTS
    ]
    assert states(system) == {experiment.name: "kept" for experiment in EXPERIMENTS}


def test_the_cheating_one_is_caught(
    rerun: Callable[..., tuple[int, dict[str, Any]]],
    images: dict[str, str],
    teams: Path,
    models: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its submission is verified; of the whole list it even gives its scores again."""
    arguments = (teams / "cheating", "--image", images["cheating"], "--models", models)
    for level, agreed in (("sample", "same order"), ("full", "reproduced")):
        # How far half of the trials move the others depends on which half it is.
        status, document = rerun(*arguments, "--level", level, "--seed", "7")
        assert status == 1
        assert document["reruns"][0]["submission"]["verdict"] == "verified"
        (system,) = document["reruns"][0]["systems"]
        assert {made["agreed"] for made in system["lists"]} == {agreed}
        assert {name for name, state in states(system).items() if state == "moved"} == LEFT_OUT
        for experiment in system["experiments"]:
            if experiment["experiment"] in LEFT_OUT:
                assert experiment["share"] > 0.001
                assert experiment["beyond"] > 0.8 * experiment["pairs"]
        assert not all(one["small"] for one in system["experiments"] if one["state"] == "moved")
        said = capsys.readouterr().out
        assert "scores move when other trial utterances are left out: by up to 0." in said


def test_doctored_scores_are_not_reproduced(
    rerun: Callable[..., tuple[int, dict[str, Any]]],
    images: dict[str, str],
    teams: Path,
    models: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    team = Path(shutil.copytree(teams / "honest", tmp_path / "team"))
    trials = spoken.trials_of("m")
    (path,) = team.glob("A1/*trials_m/scores")
    scores = np.array([float(line.split()[2]) for line in path.read_text().splitlines()])
    raised = [place for place, trial in enumerate(trials) if trial.target][3:5]
    scores[raised] += [0.5 * scores.std(), scores.std()]
    spoken.write_list(path.parent, trials, scores)
    arguments = (team, "--image", images["honest"], "--models", models, "--level", "full")
    status, document = rerun(*arguments)
    assert status == 1
    (system,) = document["reruns"][0]["systems"]
    first, second = system["lists"]
    assert (first["agreed"], second["agreed"], second["beyond"]) == ("reproduced", "differs", 2)
    worst = trials[raised[1]]
    assert second["worst"] == f"{worst.enrolment} {worst.utterance}"
    assert f"most: {second['worst']}, submitted" in capsys.readouterr().out
    assert set(states(system).values()) == {"kept"}


def test_a_batch_goes_on_whatever_an_image_does(
    rerun: Callable[..., tuple[int, dict[str, Any]]],
    images: dict[str, str],
    teams: Path,
    models: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = []
    for name in ("failing", "endless", "honest"):
        shutil.copytree(teams / "honest", tmp_path / name)
        rows.append({"submission": name, "image": images[name], "models": str(models)})
    (tmp_path / "batch.yaml").write_text(json.dumps({"reruns": rows}))
    status, document = rerun("--batch", tmp_path / "batch.yaml", "--jobs", 2, "--seconds", 15)
    assert status == 2
    outcomes = [(one["submission"]["name"], one["outcome"]) for one in document["reruns"]]
    assert outcomes == [
        ("failing", "not checkable"),
        ("endless", "not checkable"),
        ("honest", "reproduced"),
    ]
    messages = [one["systems"][0]["message"] for one in document["reruns"]]
    assert messages[0] == f"{LISTS[0]}: the container ended with status 3 (no model)"
    assert messages[1] == f"{LISTS[0]}: the container ran longer than 15 seconds"
    assert capsys.readouterr().out.splitlines()[-1] == "all 3 reruns: not checkable"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_batch_leaves_no_container(
    sent: signal.Signals,
    images: dict[str, str],
    teams: Path,
    models: Path,
    speech_folder: Path,
    token: str,
    tmp_path: Path,
) -> None:
    rows = []
    for name in ("one", "two", "three"):
        shutil.copytree(teams / "honest", tmp_path / name)
        rows.append({"submission": name, "image": images["endless"], "models": str(models)})
    (tmp_path / "batch.yaml").write_text(json.dumps({"reruns": rows}))
    code = (
        "import sys, tempfile\n"
        "from harness.cli.main import main\n"
        "from harness.protocols import protocol\n"
        "from harness.runtime.containers import running\n"
        "from reruns import spoken\n"
        f"running.NAME_PREFIX = {token!r}\n"
        f"tempfile.tempdir = {str(tmp_path / 'scratch')!r}\n"
        "protocol.load = lambda name: spoken.edition()\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    arguments = ("--batch", tmp_path / "batch.yaml", "--jobs", 2, "--speech", speech_folder)
    command = [sys.executable, "-c", code, "rerun", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 60
        while len(docker("ps", "--quiet", "--filter", f"name={token}").split()) < 2:
            assert time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(sent)
        try:
            said = process.communicate(timeout=60)[1].decode()
        finally:
            process.kill()
    assert process.returncode == 130
    assert "harness: interrupted" in said
    assert "Traceback" not in said
    assert leftovers(token, 5) == []
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.slow
def test_ecapa_is_reproduced(
    rerun: Callable[..., tuple[int, dict[str, Any]]],
    speech_folder: Path,
    tmp_path: Path,
) -> None:
    docker("image", "inspect", ECAPA)  # make images OFFLINE=1
    corpus = spoken.corpus(speech_folder, "A1", spoken.ENROLMENTS)
    models = tmp_path / "models"
    trained(ECAPA, models / "A1", corpus, TINY_ECAPA)
    team = spoken.write_submission(
        tmp_path / "team", scorer(ECAPA, speech_folder, models, TINY_ECAPA), ("A1",)
    )
    (tmp_path / "params.json").write_text(json.dumps(TINY_ECAPA))
    status, document = rerun(
        *(team, "--image", ECAPA, "--models", models, "--params", tmp_path / "params.json")
    )
    (system,) = document["reruns"][0]["systems"]
    assert status == 0, system
    assert {made["agreed"] for made in system["lists"]} == {"reproduced"}
    assert states(system) == {experiment.name: "kept" for experiment in EXPERIMENTS}


def test_real_speech(
    images: dict[str, str],
    clean: None,
    test_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Five women of LibriSpeech's test-other, as if it were a system's speech."""
    monkeypatch.chdir(tmp_path)
    whole = protocol.load("libri-mini")
    edition = replace(whole, lists=whole.lists[:1])
    (listed,) = edition.lists
    members = gather(whole, Folders(test_data / "speech" / "LibriSpeech"))
    sets, model = tmp_path / "speech" / "X1", tmp_path / "models" / "X1"
    for name in (listed.enrolments, listed.trials):
        women = [one for one in members[name] if isinstance(one, Recording) and one.gender == "f"]
        with Pool(1) as pool:
            import_utterances(sets / name, women, pool=pool)
    trained(images["honest"], model, Corpus(sets / listed.enrolments), {})
    (text,) = trial_texts(edition, members).values()
    trials = [
        Trial(speaker, utterance, label == "target")
        for speaker, utterance, label in map(str.split, text.splitlines())
    ]
    bench = Bench(
        Image(images["honest"], model, {}, Circumstances(), LIMITS),
        Corpus(sets / listed.enrolments),
        Corpus(sets / listed.trials),
        trials,
    )
    place = tmp_path / "team" / "X1" / f"{listed.enrolments}-{listed.trials}"
    spoken.write_list(place, trials, bench.score(trials, bench.names()))
    monkeypatch.setattr(protocol, "load", lambda name: edition)
    arguments = ("team", "--image", images["honest"], "--models", "models", "--speech", "speech")
    assert main(["rerun", *arguments, "--json", "rerun.json"]) == 0
    (system,) = json.loads(Path("rerun.json").read_text())["reruns"][0]["systems"]
    assert [made["agreed"] for made in system["lists"]] == ["reproduced"]
    assert states(system) == {experiment.name: "kept" for experiment in EXPERIMENTS}
