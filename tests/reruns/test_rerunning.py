"""From a submission to an outcome, with a stand-in for the container."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.attackers.base import Pair
from harness.errors import ConfigError, ContainerError
from harness.protocols.lists import Trial
from harness.reruns.model import Rerun, SystemRerun, worst
from harness.reruns.rerunning import Plan, rerun
from harness.reruns.scoring import Image
from reruns import spoken
from reruns.standin import DIGEST, StandIn, normalised, scores_of

DOCTORED = ("f1", "f4-2-0003")


@pytest.fixture
def plan(image: Image, speech: Path) -> Plan:
    return Plan(image, speech, None, (), "sample", 11)


@pytest.fixture
def team(honest: Path, tmp_path: Path) -> Path:
    """A copy of the honest submission, to be changed."""
    return Path(shutil.copytree(honest, tmp_path / "team"))


@pytest.fixture
def cheating(speech: Path, tmp_path: Path) -> Path:
    """The submission of an attacker that normalises over each list."""
    return spoken.write_submission(
        tmp_path / "cheating",
        lambda system, trials: normalised(scores_of(speech, system, trials), []),
    )


def outcomes(done: Rerun) -> dict[str, str]:
    return {one.system: one.outcome for one in done.systems}


def doctor(team: Path) -> None:
    """Raise one score of A1 by 0.5, and claim the EER that the scores then have."""
    (path,) = team.glob("A1/*trials_f/scores")
    trials = spoken.trials_of("f")
    scores = np.array([float(line.split()[2]) for line in path.read_text().splitlines()])
    scores[[(t.enrolment, t.utterance) for t in trials].index(DOCTORED)] += 0.5
    spoken.write_list(path.parent, trials, scores)


@pytest.mark.parametrize("level", ["sample", "full"])
def test_an_honest_attacker_is_reproduced(
    level: str, standin: StandIn, plan: Plan, honest: Path
) -> None:
    done = rerun(honest, spoken.edition(), replace(plan, level=level))  # type: ignore[arg-type]
    assert (done.verdict, done.outcome) == ("verified", "reproduced")
    assert outcomes(done) == {"A1": "reproduced", "A2": "reproduced"}
    first = done.systems[0]
    assert [one.list for one in first.lists] == [spoken.list_name("f"), spoken.list_name("m")]
    assert all(one.agreement.share < 1e-6 for one in first.lists)
    assert all(one.state == "kept" for one in first.findings)
    tried = {one.list for one in first.findings}
    if level == "full":
        assert [one.agreement.pairs for one in first.lists] == [180, 180]
        assert all(one.eers is not None and one.eers[0] == one.eers[1] for one in first.lists)
        assert tried == {one.list for one in first.lists}
    else:
        assert all(one.eers is None for one in first.lists)
        assert len(tried) == 1


def test_the_same_attacker_that_normalises_is_not(
    standin: StandIn, plan: Plan, cheating: Path
) -> None:
    """Over a whole list it gives its scores again; that it does not keep the rule is enough."""
    standin.change = normalised
    done = rerun(cheating, spoken.edition(), replace(plan, level="full"))
    assert all(one.same for system in done.systems for one in system.lists)
    assert done.outcome == "not reproduced"
    # Of a sample other scores come, in the same order.
    done = rerun(cheating, spoken.edition(), plan)
    assert {one.agreement.agreed for s in done.systems for one in s.lists} == {"same order"}
    assert done.outcome == "not reproduced"


def test_doctored_scores_are_found_and_the_pair_is_named(
    standin: StandIn, plan: Plan, team: Path
) -> None:
    doctor(team)
    done = rerun(team, spoken.edition(), replace(plan, level="full", systems=("A1",)))
    assert outcomes(done) == {"A1": "not reproduced"}
    first, second = done.systems[0].lists
    assert (first.worst.enrolment, first.worst.utterance) == DOCTORED
    assert first.submitted - first.again == pytest.approx(0.5, abs=1e-5)
    assert (first.agreement.beyond, first.agreement.agreed) == (1, "differs")
    assert second.same
    assert done.verdict == "verified"


def test_the_eers_must_agree_too(standin: StandIn, plan: Plan, honest: Path) -> None:
    done = rerun(honest, spoken.edition(), replace(plan, level="full", systems=("A1",)))
    one = done.systems[0].lists[0]
    assert one.eers is not None
    assert one.same
    assert replace(one, eers=(one.eers[0], one.eers[0] + 0.0999)).same
    assert not replace(one, eers=(one.eers[0], one.eers[0] - 0.1001)).same


def test_an_image_is_told_its_system_and_given_its_model(
    standin: StandIn, plan: Plan, honest: Path, tmp_path: Path
) -> None:
    for system in spoken.SYSTEMS:
        (tmp_path / system).mkdir()
    rerun(honest, spoken.edition(), replace(plan, models=tmp_path))
    told = {(seen["circumstances"].system, seen["model"]) for seen in standin.seen}
    assert told == {(system, tmp_path / system) for system in spoken.SYSTEMS}
    assert {seen["circumstances"].threads for seen in standin.seen} == {2}
    # Two lists, and seven experiments on one of them, of each system.
    assert len(standin.seen) == 2 * (2 + 7)


def test_what_was_run_is_recorded_by_its_content(
    standin: StandIn, plan: Plan, honest: Path, tmp_path: Path
) -> None:
    for system in ("A1", "A2"):
        (tmp_path / "models" / system).mkdir(parents=True)
        (tmp_path / "models" / system / "weights").write_text(system, encoding="utf-8")
    first, second = rerun(
        honest, spoken.edition(), replace(plan, models=tmp_path / "models")
    ).systems
    # JSON of names to contents, by hashlib.
    weights = hashlib.sha256(b"A1").hexdigest()
    content = f'{{"weights": "{weights}"}}'.encode()
    assert first.model == hashlib.sha256(content).hexdigest()
    assert second.model != first.model
    (female, _) = first.lists
    folder = plan.speech / "A1"
    assert (
        female.trials
        == hashlib.sha256((folder / female.list / "manifest.tsv").read_bytes()).hexdigest()
    )
    assert female.enrolments != female.trials
    assert rerun(honest, spoken.edition(), plan).systems[0].model is None


def test_what_fails_is_not_checkable_and_the_others_go_on(
    standin: StandIn, plan: Plan, honest: Path, speech: Path, tmp_path: Path
) -> None:
    (tmp_path / "A2").mkdir()
    done = rerun(honest, spoken.edition(), replace(plan, models=tmp_path))
    assert outcomes(done) == {"A1": "not checkable", "A2": "reproduced"}
    assert (done.systems[0].reason, done.outcome) == ("model", "not checkable")
    assert done.systems[0].message == "no folder A1 in the one of --models"

    (tmp_path / "speech").mkdir()
    (tmp_path / "speech" / "A1").symlink_to(speech / "A1")
    done = rerun(honest, spoken.edition(), replace(plan, speech=tmp_path / "speech"))
    assert outcomes(done) == {"A1": "reproduced", "A2": "not checkable"}
    assert done.systems[1].reason == "speech"
    assert "no such manifest" in done.systems[1].message


def test_an_image_that_fails(standin: StandIn, plan: Plan, honest: Path) -> None:
    def fails(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
        raise ContainerError("the container says: no model", where=DIGEST)

    standin.change = fails
    done = rerun(honest, spoken.edition(), plan)
    assert outcomes(done) == {"A1": "not checkable", "A2": "not checkable"}
    assert done.systems[0].reason == "image"
    assert done.systems[0].message == f"{spoken.list_name('f')}: the container says: no model"

    def leaves_a_link(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
        raise ContainerError("the container left a link", where="/out/x", fix="plain files only")

    standin.change = leaves_a_link
    done = rerun(honest, spoken.edition(), plan)
    said = "/out/x: the container left a link; plain files only"
    assert done.systems[0].message == f"{spoken.list_name('f')}: {said}"


def test_an_image_that_fails_in_an_experiment(standin: StandIn, plan: Plan, honest: Path) -> None:
    """Whether it kept the rule is not known: it is neither passed nor refuted."""

    def fails(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
        if len(pairs) == 1:
            raise ContainerError("the container ended with status 1 (0/0)", where="image")
        return scores

    standin.change = fails
    done = rerun(honest, spoken.edition(), replace(plan, systems=("A1", "A1")))
    assert outcomes(done) == {"A1": "not checkable"}
    assert [one.reason for one in done.systems] == [""]
    moved = replace(done.systems[0].findings[1], state="moved")
    done.systems[0].findings[1] = moved
    assert done.outcome == "not reproduced"


def test_noise_of_its_own_breaks_no_rule(standin: StandIn, plan: Plan, honest: Path) -> None:
    draw = np.random.default_rng(1)
    standin.change = lambda scores, pairs: scores + draw.uniform(-0.01, 0.01, len(scores))
    done = rerun(honest, spoken.edition(), replace(plan, systems=("A1",)))
    assert not done.systems[0].repeatable
    assert done.outcome == "reproduced"


def test_an_image_cannot_hide_behind_its_noise(
    standin: StandIn, plan: Plan, cheating: Path
) -> None:
    """It normalises, gives the submitted scores, and is noisy when it is asked once more."""

    def cheat(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
        noise = 100 if len(standin.seen) == 2 else 0
        return normalised(scores, pairs) + noise * np.random.default_rng(1).normal(size=len(scores))

    standin.change = cheat
    done = rerun(cheating, spoken.edition(), replace(plan, level="full", systems=("A1",)))
    first = spoken.list_name("f")
    assert all(one.same for one in done.systems[0].lists)
    done.systems[0].findings = [one for one in done.systems[0].findings if one.list == first]
    # Nothing moves beyond twice that noise.
    states = {one.experiment: one.state for one in done.systems[0].findings}
    assert {name for name, state in states.items() if state == "moved"} == {"repetition"}
    assert done.outcome == "not checkable"


def test_a_table_of_recordings_is_noted(
    standin: StandIn, plan: Plan, team: Path, speech: Path
) -> None:
    shutil.rmtree(team / "A2")
    doctor(team)
    (raised,) = (
        trial for trial in spoken.trials_of("f") if (trial.enrolment, trial.utterance) == DOCTORED
    )
    heard = spoken.corpus(speech, "A1", spoken.list_name("f")).read(raised.utterance).tobytes()
    enrolled = spoken.corpus(speech, "A1", spoken.ENROLMENTS).read("f1-1-0000").tobytes()

    def table(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
        seen = standin.seen[-1]
        audio = {name: sound.read().tobytes() for name, sound in seen["audio"].items()}
        known = [
            audio[one.trial] == heard
            and enrolled in [audio[name] for name in seen["enrolments"][one.enrolment]]
            for one in pairs
        ]
        return scores + 0.5 * np.array(known)

    standin.change = table
    done = rerun(team, spoken.edition(), replace(plan, level="full"))
    (system,) = done.systems
    assert all(one.same for one in system.lists)
    moved = [(one.list, one.experiment) for one in system.findings if one.state == "moved"]
    assert moved == [(spoken.list_name("f"), "inaudible")]
    # A suspicion is no verdict.
    assert done.outcome == "reproduced"


def test_scores_that_cannot_be_read(standin: StandIn, plan: Plan, team: Path) -> None:
    (path,) = team.glob("A1/*trials_m/scores")
    path.write_text(path.read_text().replace(" -", " x", 1))
    done = rerun(team, spoken.edition(), plan)
    assert done.verdict == "not checkable"
    assert outcomes(done) == {"A1": "not checkable", "A2": "reproduced"}
    assert done.systems[0].reason == "scores"


def test_a_sample_follows_from_its_seed(standin: StandIn, plan: Plan, honest: Path) -> None:
    def worst_pairs(seed: int) -> list[Trial]:
        done = rerun(honest, spoken.edition(), replace(plan, seed=seed))
        return [one.worst for system in done.systems for one in system.lists]

    standin.change = lambda scores, pairs: scores + 1e-3 * scores**3
    assert worst_pairs(1) == worst_pairs(1)
    assert worst_pairs(1) != worst_pairs(2)


def test_systems_are_chosen_and_must_be_there(
    standin: StandIn, plan: Plan, honest: Path, tmp_path: Path
) -> None:
    done = rerun(honest, spoken.edition(), replace(plan, systems=("A2",)))
    assert outcomes(done) == {"A2": "reproduced"}
    with pytest.raises(ConfigError, match="no scores of the system 'A3'; known are: A1, A2"):
        rerun(honest, spoken.edition(), replace(plan, systems=("A3",)))
    # Where nothing in the submission names its one system, the person does.
    alone = tmp_path / "alone"
    shutil.copytree(honest / "A1", alone)
    done = rerun(alone, spoken.edition(), replace(plan, systems=("A1",)))
    assert outcomes(done) == {"A1": "reproduced"}


def test_scores_on_original_speech_are_run_again_only_when_asked_for(
    standin: StandIn, plan: Plan, team: Path, speech: Path, tmp_path: Path
) -> None:
    (team / "A2").rename(team / "original")
    (tmp_path / "speech").mkdir()
    for name, system in (("A1", "A1"), ("orig", "A2")):
        (tmp_path / "speech" / name).symlink_to(speech / system)
    plan = replace(plan, speech=tmp_path / "speech")
    assert outcomes(rerun(team, spoken.edition(), plan)) == {"A1": "reproduced"}
    asked = replace(plan, systems=("orig",))
    assert outcomes(rerun(team, spoken.edition(), asked)) == {"orig": "reproduced"}


def test_a_name_of_a_system_is_no_path(
    standin: StandIn, plan: Plan, honest: Path, speech: Path, tmp_path: Path
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "A1").symlink_to(speech / "A1")
    alone = shutil.copytree(honest / "A1", tmp_path / "alone")
    plan = replace(plan, speech=tmp_path / "below", systems=("../A1",))
    done = rerun(Path(alone), spoken.edition(), plan)
    assert [(one.system, one.reason) for one in done.systems] == [("../A1", "speech")]
    assert standin.seen == []


def test_the_worst_outcome_is_that_of_the_whole() -> None:
    assert worst(["reproduced", "not checkable", "not reproduced"]) == "not reproduced"
    assert worst(["reproduced", "not checkable"]) == "not checkable"
    assert worst(["reproduced"]) == "reproduced"
    assert worst([]) == "not checkable"
    assert SystemRerun("A1").outcome == "not checkable"


def test_an_archive_that_is_none(standin: StandIn, plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "team.zip").write_bytes(b"PK")
    done = rerun(tmp_path / "team.zip", spoken.edition(), plan)
    assert (done.verdict, done.outcome, done.systems) == ("not checkable", "not checkable", [])
    assert standin.seen == []
