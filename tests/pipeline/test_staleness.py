"""What dvc.yaml makes stale when a runner, an image or an evaluator changes: asked of the real DVC.

The stages themselves are stand-ins that write the names of their inputs; what they depend on is
the project's dvc.yaml.
"""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path

import pytest
import yaml
from repository import Repository

pytestmark = pytest.mark.heavy

# Stands for the command `harness`: a stage's outputs, from its arguments alone.
STAND_IN = """#!/bin/sh
made() { mkdir -p "$1" && echo "$@" > "$1/made"; }
case $2 in
    corpus) made data/$3/corpus && made data/$3/corpus/lists ;;
    anonymize) made data/$3/anonymized/$4 ;;
    train) made models/$3/$4/$5/seed-$6 ;;
    score) made results/$3/scores/$4/$5/seed-$6 ;;
    evaluate) made results/$3/eer/$4/$5/seed-$6 ;;
    utility) made results/$3/utility/$4/$5 ;;
    distinctiveness) made results/$3/utility/$4/voices-$5-seed-$6 ;;
    compare) for name in eer.csv averages.csv utility.csv tradeoff.csv table.md summary.json det.csv
             do echo '{"a": 1}' > results/$3/$name; done ;;
    report) made results/$3/report/plots && made results/$3/report/leaderboard
            for name in index.html ranking.json
            do echo a > results/$3/report/$name; done
            for name in intervals measures histograms speakers
            do echo a > results/$3/report/$name.csv; done ;;
esac
"""
LOCK = {
    "process": {"anonymizer": "none", "attacker": "none"},
    "docker": {
        "base": "sha256:0",
        "anonymizer": {"anonymizer-b2": {"digest": "sha256:1", "lock_sha256": "1"}},
        "attacker": {"attacker": {"digest": "sha256:2", "lock_sha256": "2"}},
        "verifier": {"verifier": {"digest": "sha256:3", "lock_sha256": "3"}},
    },
}


class Images:
    """A repository whose images and parameters change."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.path = repository.path

    def lock(self, **digests: str) -> None:
        """Write images.lock with other digests, by kind."""
        lock = json.loads(json.dumps(LOCK))
        for kind, digest in digests.items():
            (entry,) = lock["docker"][kind].values()
            entry["digest"] = digest
        text = yaml.safe_dump(lock, sort_keys=False, default_flow_style=None)
        (self.path / "docker/images.lock").write_text(text, encoding="utf-8")

    def replace(self, old: str, new: str) -> None:
        """Change params.yaml."""
        params = self.path / "params.yaml"
        text = params.read_text(encoding="utf-8")
        assert text.count(old) == 1, old
        params.write_text(text.replace(old, new), encoding="utf-8")

    def stale(self) -> set[str]:
        """Stages whose dependencies or parameters changed; not those behind them."""
        status = json.loads(self.repository.run("dvc", "status", "--json"))
        return {name for name in status if not name.startswith("submissions/")}

    def kinds(self) -> set[str]:
        return {name.split("@")[0] for name in self.stale()}


@pytest.fixture(scope="module")
def images_at_first(tmp_path_factory: pytest.TempPathFactory) -> Images:
    """All stages up to date, as processes."""
    repository = Repository(tmp_path_factory.mktemp("repository"))
    stand_in = tmp_path_factory.mktemp("bin") / "harness"
    stand_in.write_text(STAND_IN, encoding="utf-8")
    stand_in.chmod(0o755)
    path = f"{stand_in.parent}:{repository.environment['PATH']}"
    repository.environment["PATH"] = path
    made = Images(repository)
    made.lock()
    repository.repro()
    assert made.stale() == set()
    return made


@pytest.fixture
def images(images_at_first: Images, tmp_path: Path) -> Images:
    """A copy for each test."""
    copied = copy.copy(images_at_first.repository)
    copied.path = tmp_path / "repository"
    shutil.copytree(images_at_first.path, copied.path)
    return Images(copied)


def test_as_processes_no_image_matters(images: Images) -> None:
    images.lock(anonymizer="sha256:91", attacker="sha256:92", verifier="sha256:93")
    assert images.stale() == set()


def test_in_docker_the_images_of_a_kind_matter_to_its_stages(images: Images) -> None:
    images.replace("runner: process ", "runner: docker ")
    # The page names the images.
    assert images.kinds() == {"anonymize", "train", "score", "distinctiveness", "report"}
    images.repository.repro()
    assert images.stale() == set()
    images.lock(verifier="sha256:93")
    assert images.stale() == set()
    images.lock(attacker="sha256:92")
    assert images.kinds() == {"train", "score", "distinctiveness", "report"}
    images.lock(anonymizer="sha256:91")
    assert images.kinds() == {"anonymize", "report"}


def test_a_strangers_image_makes_its_own_stages_stale(images: Images) -> None:
    old, new = (f"sha256:{digit * 64}" for digit in "45")
    images.replace(
        "systems: [orig, b2]\n    attackers: [ecapa-demo]",
        "systems: [orig, b2, theirs]\n    attackers: [ecapa-demo, ours]",
    )
    images.replace(
        "  orig: {type: original}",
        f"  theirs: {{type: image, image: '{old}'}}\n  orig: {{type: original}}",
    )
    images.replace(
        "  ecapa: {type: ecapa}",
        f"  ours: {{type: image, image: '{old}'}}\n  ecapa: {{type: ecapa}}",
    )
    images.repository.repro()
    assert images.stale() == set()
    images.replace(
        f"theirs: {{type: image, image: '{old}'", f"theirs: {{type: image, image: '{new}'"
    )
    assert images.stale() == {
        "anonymize@demo-theirs",
        "utility@demo-theirs-wer",
        "utility@demo-theirs-pitch",
        *(
            f"{stage}@demo-theirs-{attacker}-1986"
            for stage in ("train", "score", "distinctiveness")
            for attacker in ("ecapa-demo", "ours")
        ),
    }
    images.repository.repro()
    images.replace(f"ours: {{type: image, image: '{old}'", f"ours: {{type: image, image: '{new}'")
    # The leaderboard has what attackers are made of.
    assert images.stale() == {
        "report@demo",
        *(
            f"{stage}@demo-{system}-ours-1986"
            for stage in ("train", "score", "distinctiveness")
            for system in ("orig", "b2", "theirs")
        ),
    }


def test_an_evaluator_that_changes_is_asked_again_of_every_system(images: Images) -> None:
    images.replace("normalization: english}", "normalization: vpc2024}")
    assert images.stale() == {"utility@demo-orig-wer", "utility@demo-b2-wer"}


def test_images_that_are_not_built_are_told_before_any_work(images: Images) -> None:
    (images.path / "docker/images.lock").write_text(
        yaml.safe_dump({"process": LOCK["process"]}), encoding="utf-8"
    )
    assert images.stale() == set()
    images.replace("runner: process ", "runner: docker ")
    output = images.repository.run("dvc", "repro", code=255)
    assert "'docker.anonymizer' are missing from 'docker/images.lock'" in output
