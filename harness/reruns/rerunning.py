"""From a submission, an image and speech to outcomes.

verify the submission → its scores
  → for each system and list: a sample of the trials, or all → the image scores them again
  → agreement with the submitted scores → the pair rule by experiment
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from harness.corpora.manifest import is_file_name
from harness.corpora.store import Corpus
from harness.errors import ConfigError, ContainerError, DataError, IntegrityError
from harness.metrics.agreement import agreement
from harness.metrics.eer import equal_error_rate
from harness.protocols.lists import Trial
from harness.protocols.protocol import Protocol
from harness.protocols.typed import did_you_mean
from harness.reruns.experiments import examine
from harness.reruns.model import Compared, Rerun, SystemRerun
from harness.reruns.sampling import sample
from harness.reruns.scoring import Bench, Image, Scores
from harness.runtime.files import fingerprint, folder_fingerprint
from harness.runtime.seeds import derived_seed
from harness.submissions.certificates.predicate import Level
from harness.submissions.contents.layout import UNNAMED
from harness.submissions.contents.naming import ORIGINAL
from harness.submissions.model import ListResult, Verification
from harness.submissions.model import Scores as SubmittedScores
from harness.submissions.reference import Reference, ReferenceList
from harness.submissions.verification import Options, verify


@dataclass(frozen=True)
class Plan:
    """What a person may choose.

    image: what runs, its model and system left open. speech: folder with a folder per system that
    holds one stored corpus per set. models: folder with a model per system; None where the image
    carries them. systems: those to run again, all submitted ones where it is empty. seed: what
    samples are drawn by. verification: how the submission is verified.
    """

    image: Image
    speech: Path
    models: Path | None
    systems: tuple[str, ...]
    level: Level
    seed: int
    verification: Options = field(default_factory=Options)


def rerun(
    path: Path, protocol: Protocol, plan: Plan, tell: Callable[[str], None] = lambda said: None
) -> Rerun:
    """Verify a submission, and run its attacker again. tell: is told what begins.

    Raises ConfigError for systems that were not submitted, and what `verify` raises. What is wrong
    with the image, or with the model, speech or scores of a system, is an outcome instead.
    """
    verification = verify([path], protocol, plan.verification)
    submitted = _by_system(verification)
    if len(plan.systems) == 1 and set(submitted) == {UNNAMED}:
        named = replace(plan.verification, system=plan.systems[0])
        verification = verify([path], protocol, named)
        submitted = _by_system(verification)
    for name in plan.systems:
        if name not in submitted:
            raise ConfigError(
                f"no scores of the system {name!r}", where=path, fix=did_you_mean(name, submitted)
            )
    parameters = fingerprint(dict(plan.image.parameters))
    reference = verification.reference_of(verification.submissions[0])
    done = Rerun(verification, plan.image.digest, parameters, plan.level, plan.seed)
    # Scores on original speech are a check of the team's own set-up.
    for system in dict.fromkeys(plan.systems) or [one for one in submitted if one != ORIGINAL]:
        result = SystemRerun(system)
        done.systems.append(result)
        _rerun_system(result, submitted[system], reference, plan, tell)
    return done


def _by_system(verification: Verification) -> dict[str, list[ListResult]]:
    found: dict[str, list[ListResult]] = {}
    for one in verification.submissions[0].lists:
        found.setdefault(one.system, []).append(one)
    return found


def _rerun_system(
    result: SystemRerun,
    lists: Sequence[ListResult],
    reference: Reference,
    plan: Plan,
    tell: Callable[[str], None],
) -> None:
    """Fill in the result of a system, up to its end or the first fault."""
    system = result.system
    # A stranger named it: nothing but a folder's own name becomes a part of a path.
    folder = system if is_file_name(system) else "unnamed"
    model = None if plan.models is None else plan.models / folder
    if model is not None and not model.is_dir():
        result.reason, result.message = "model", f"no folder {folder} in the one of --models"
        return
    if model is not None:
        # As it is now: what a certificate says is what was run.
        result.model = folder_fingerprint(model)
    image = plan.image.of(system, model)
    # At the level of a sample the rule is tried on one list, which nobody knows before.
    tried = random.Random(derived_seed(plan.seed, system)).choice([one.list for one in lists])
    for one in lists:
        if one.eer is None or one.scores is None:
            result.reason, result.message = "scores", f"{one.list}: not checkable as submitted"
            return
        listed = reference.lists[one.list]
        seed = derived_seed(plan.seed, system, one.list)
        trials = _trials(listed)
        part = sample(trials, seed) if plan.level == "sample" else trials
        try:
            enrolments = Corpus(plan.speech / folder / listed.listed.enrolments)
            heard = Corpus(plan.speech / folder / one.list)
            bench = Bench(image, enrolments, heard, part)
            names = bench.names()
            tell(f"{system} {one.list}: {len(part)} pairs")
            again = bench.score(part, names)
            digests = enrolments.digest(), heard.digest()
            result.lists.append(_compare(one, one.scores, listed, trials, part, again, digests))
            if plan.level == "full" or one.list == tried:
                result.findings += examine(
                    bench, one.list, names, again, seed, lambda what: tell(f"  {what}")
                )
        except ContainerError as error:
            # That it is the image is told already; where else, such as a file in /out, is not.
            said = error.what if error.where == image.digest else error
            result.reason, result.message = "image", f"{one.list}: {said}"
            return
        except (DataError, IntegrityError) as error:
            result.reason, result.message = "speech", f"{one.list}: {error}"
            return


def _trials(listed: ReferenceList) -> list[Trial]:
    names = (key.decode().split(" ") for key in listed.keys)
    return [
        Trial(speaker, utterance, bool(target))
        for (speaker, utterance), target in zip(names, listed.target, strict=True)
    ]


def _compare(
    one: ListResult,
    scores: SubmittedScores,
    listed: ReferenceList,
    trials: Sequence[Trial],
    part: Sequence[Trial],
    again: Scores,
    digests: tuple[str, str],
) -> Compared:
    """part: the trials that were scored again, of all of the list. digests: of its speech."""
    submitted = dict(zip(trials, scores.first, strict=True))
    before = np.array([submitted[trial] for trial in part], np.float32)
    agreed = agreement(before, again)
    eers = None
    if len(part) == len(trials) and one.eer is not None:
        rate = equal_error_rate(again[listed.target], again[~listed.target]).rate
        eers = 100 * one.eer.rate, 100 * rate
    return Compared(
        one.list,
        agreed,
        part[agreed.worst],
        float(before[agreed.worst]),
        float(again[agreed.worst]),
        *digests,
        eers,
    )
