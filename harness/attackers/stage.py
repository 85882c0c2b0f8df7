"""The stages `train` and `score`: corpora in, a model or official score files out."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.attackers.base import Attacker, Machine, Pair
from harness.corpora.opaque import Recording, Speech, opaque_ids, speech
from harness.corpora.store import Corpus
from harness.errors import ScoreError
from harness.protocols.lists import Trial, read_trials, trials_path
from harness.protocols.protocol import Protocol, TrialList
from harness.protocols.scenarios import Scenario
from harness.protocols.scores import score_path, to_text
from harness.runtime.events import Events
from harness.runtime.files import code_fingerprint, finished_folder, work_folder, write_text
from harness.runtime.seeds import derived_seed


@dataclass(frozen=True)
class Run:
    """One attacker against one system with one seed, and what its events say about it."""

    key: str
    attacker: Attacker
    seed: int
    machine: Machine
    facts: dict[str, Any]

    def identity(self, *inputs: str) -> list[Any]:
        """What determines the result: parameters, seed, machine, inputs by hash, code."""
        return [
            self.key,
            repr(self.attacker),
            self.seed,
            repr(self.machine),
            inputs,
            code_fingerprint(),
        ]


def dataset_fact(corpus: Corpus, name: str, context: str) -> dict[str, str]:
    """How an event names a data set: by content."""
    return {"name": name, "digest": corpus.digest(), "context": context}


def train(run: Run, corpus: Corpus, name: str, target: Path, events: Events) -> None:
    """Train on a corpus (called `name` in events) and leave the model folder at `target`."""
    events.emit(
        "run", stage="train", datasets=[dataset_fact(corpus, name, "training")], **run.facts
    )
    ids = opaque_ids(corpus.manifest["utterance"], "u", derived_seed(run.seed, "utterances"))
    speakers = opaque_ids(corpus.manifest["speaker"], "s", derived_seed(run.seed, "speakers"))
    work = work_folder(run.key, run.identity(corpus.digest()))
    with finished_folder(target, work / "model") as folder:
        run.attacker.train(
            speech(corpus, ids, speakers),
            folder,
            seed=run.seed,
            work=work,
            machine=run.machine,
            events=events,
        )
        events.emit("done")
        events.write(folder)
    shutil.rmtree(work)


@dataclass(frozen=True)
class Lists:
    """Where a benchmark's lists, original speech and anonymized speech lie."""

    protocol: Protocol
    original: Path
    anonymized: Path

    def corpus(self, kind: str, name: str) -> Corpus:
        """A set of `original` or `anonymized` speech."""
        return Corpus((self.original if kind == "original" else self.anonymized) / name)

    def trials(self, listed: TrialList) -> list[Trial]:
        """The trials of a list."""
        return read_trials(trials_path(self.original, listed.trials))


def score_list(
    run: Run, scenario: Scenario, listed: TrialList, lists: Lists, model: Path, events: Events
) -> str:
    """Score one list in one scenario; the official text of its score file."""
    trials = lists.trials(listed)
    enrolment = lists.corpus(scenario.enrolment, listed.enrolments)
    trial = lists.corpus(scenario.trial, listed.trials)
    seed = derived_seed(run.seed, listed.trials)
    enrolled = sorted({t.enrolment for t in trials})
    members = enrolment.manifest[enrolment.manifest["speaker"].isin(enrolled)]
    utterance_ids = opaque_ids(members["utterance"], "e", seed)
    trial_ids = opaque_ids((t.utterance for t in trials), "t", seed)
    speaker_ids = opaque_ids(enrolled, "s", seed)
    recordings: dict[str, Recording] = {
        **speech(enrolment, utterance_ids).recordings,
        **speech(trial, trial_ids).recordings,
    }
    enrolments: dict[str, list[str]] = {speaker_ids[s]: [] for s in enrolled}
    for utterance, speaker in zip(members["utterance"], members["speaker"], strict=True):
        enrolments[speaker_ids[speaker]].append(utterance_ids[utterance])
    pairs = [Pair(speaker_ids[t.enrolment], trial_ids[t.utterance]) for t in trials]
    order = list(range(len(pairs)))
    random.Random(seed).shuffle(order)
    scores = run.attacker.score(
        model,
        Speech(recordings=dict(sorted(recordings.items()))),
        {speaker: sorted(utterances) for speaker, utterances in sorted(enrolments.items())},
        [pairs[place] for place in order],
        machine=run.machine,
        events=events,
    )
    if scores.shape != (len(pairs),):
        raise ScoreError(
            f"the attacker gave scores of shape {scores.shape} for {len(pairs)} trials",
            where=listed.trials,
            fix="return one score per pair, in the order of the pairs",
        )
    restored = scores.copy()
    restored[order] = scores
    return to_text(trials, restored)


def score(
    run: Run,
    scenarios: dict[Scenario, Path],
    lists: Lists,
    folder: Path,
    events: Events,
) -> None:
    """Score all lists in all scenarios (each with its model) into `folder`."""
    for scenario, model in scenarios.items():
        for listed in lists.protocol.lists:
            path = score_path(folder, scenario.name, listed)
            # Present means whole: an interrupted run goes on with the next list.
            if not path.is_file():
                write_text(path, score_list(run, scenario, listed, lists, model, events))
