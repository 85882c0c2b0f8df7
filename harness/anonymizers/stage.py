"""The stage `anonymize`: every set of a benchmark's corpus, through one anonymizer."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.anonymizers.base import Anonymizer, Job, Source
from harness.corpora.opaque import Recording, opaque_ids
from harness.corpora.store import Corpus, Made, Utterance, build
from harness.errors import HarnessError
from harness.runtime.events import Events
from harness.runtime.files import code_fingerprint, finished_folder, work_folder
from harness.runtime.pool import Pool
from harness.runtime.seeds import derived_seed


@dataclass(frozen=True)
class Task:
    """Recipe of one anonymized utterance: where the original is, and the job."""

    recording: Recording
    job: Job


@dataclass(frozen=True)
class Maker:
    """Anonymizes one utterance in a worker."""

    anonymizer: Anonymizer

    def __call__(self, utterance: Utterance) -> Made:
        """The anonymized utterance. Raises what the anonymizer raises, with the official name."""
        task: Task = utterance.recipe
        try:
            samples = self.anonymizer.anonymize(task.recording.read(), task.job)
        except HarnessError as error:
            # The anonymizer knows an opaque name only; a person needs the official one.
            raise type(error)(error.what, where=utterance.utterance, fix=error.fix) from error
        return Made(samples)


def jobs(anonymizer: Anonymizer, corpus: Corpus, system: str, seed: int) -> list[Job]:
    """The jobs of a set in C order of its utterances; all randomness is drawn here, by the host.

    seed: of the benchmark. A job's seed follows from it, the system and the utterance's (or
    speaker's) name, so neither batches nor other utterances can change a result.
    """
    utterances = list(corpus.manifest["utterance"])
    speakers = list(corpus.manifest["speaker"])
    by_speaker = anonymizer.level == "speaker"
    seeds = [
        derived_seed(seed, system, anonymizer.level, name)
        for name in (speakers if by_speaker else utterances)
    ]
    alphas = anonymizer.alphas(
        [Source(u, s) for u, s in zip(utterances, speakers, strict=True)], seeds
    )
    ids = opaque_ids(utterances, "u", derived_seed(seed, system, corpus.path.name))
    speaker_ids = opaque_ids(speakers, "s", derived_seed(seed, system, "speakers"))
    return [
        Job(ids[u], s, alpha, speaker_ids[speaker] if by_speaker else None)
        for u, speaker, s, alpha in zip(utterances, speakers, seeds, alphas, strict=True)
    ]


def plan(anonymizer: Anonymizer, corpus: Corpus, system: str, seed: int) -> list[list[Utterance]]:
    """What to make, in the shards of the original."""
    shards: dict[str, list[Utterance]] = {}
    rows: Iterator[Any] = corpus.manifest.itertuples(index=False)
    for row, job in zip(rows, jobs(anonymizer, corpus, system, seed), strict=True):
        recording = Recording(
            corpus.path / row.shard, int(row.offset), int(row.nbytes), row.sha256, int(row.samples)
        )
        shards.setdefault(row.shard, []).append(
            Utterance(
                utterance=row.utterance,
                speaker=row.speaker,
                gender=row.gender,
                text=row.text,
                samples=int(row.samples),
                recipe=Task(recording, job),
            )
        )
    return [shards[name] for name in sorted(shards)]


def anonymize(
    anonymizer: Anonymizer,
    system: str,
    sources: Sequence[Path],
    target: Path,
    *,
    seed: int,
    pool: Pool,
    events: Events,
) -> int:
    """Anonymize the corpora `sources` into folders of the same names under `target`.

    Returns the number of utterances. What an interrupted run has finished is not made again.
    """
    corpora = [Corpus(source) for source in sources]
    total = sum(len(corpus) for corpus in corpora)
    digests = {corpus.path.name: corpus.digest() for corpus in corpora}
    identity = [repr(anonymizer), system, seed, digests, code_fingerprint()]
    work = work_folder(f"anonymize-{system}", identity)
    done = 0
    with finished_folder(target, work / "sets") as folder:
        for corpus in corpora:
            name = corpus.path.name

            def progress(count: int, before: int = done) -> None:
                events.progress(f"anonymize {system}", before + count, total)

            # Present means whole: an interrupted run goes on with the next set.
            if not (folder / name).is_dir():
                build(
                    folder / name,
                    plan(anonymizer, corpus, system, seed),
                    Maker(anonymizer),
                    work=work / name,
                    pool=pool,
                    on_progress=progress,
                )
            done += len(corpus)
    shutil.rmtree(work)
    return total
