"""The stage `anonymize`: every set of a benchmark's corpus, through one anonymizer.

What is odd about the speech that came out stands in the manifest's column `note`, in the words of
`harness.corpora.audio`; utterances that were made silent are told of, too. None is dropped.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.anonymizers.base import (
    Anonymizer,
    BatchAnonymizer,
    Device,
    Job,
    Source,
    everything_of,
    takes_batches,
)
from harness.corpora.audio import NOTE, SILENCE, oddities
from harness.corpora.opaque import Recording, opaque_ids
from harness.corpora.store import Corpus, Made, Maker, Prepare, Samples, Utterance, build
from harness.errors import AudioError, HarnessError
from harness.runtime.events import Events
from harness.runtime.files import code_fingerprint, finished_folder, work_folder
from harness.runtime.pool import Pool
from harness.runtime.seeds import derived_seed

# Utterances that an error about a whole shard, or a warning, names.
NAMED = 3


@dataclass(frozen=True)
class Task:
    """Recipe of one anonymized utterance: where the original is, and the job."""

    recording: Recording
    job: Job


@dataclass(frozen=True)
class OneByOne:
    """Anonymizes one utterance in a worker."""

    anonymizer: Anonymizer

    def __call__(self, utterance: Utterance) -> Made:
        """The anonymized utterance. Raises what the anonymizer raises, with the official name."""
        task: Task = utterance.recipe
        with _told_of(utterance, task.job.utterance):
            return _made(self.anonymizer.anonymize(task.recording.read(), task.job))


@dataclass(frozen=True)
class Batches:
    """Anonymizes a shard at once, before its utterances are stored. See `BatchAnonymizer.batch`."""

    anonymizer: BatchAnonymizer
    work: Path
    threads: int
    device: Device
    events: Events

    @contextmanager
    def __call__(self, utterances: Sequence[Utterance]) -> Iterator[list[Utterance]]:
        """The utterances, each with its opaque name and what reads its speech as its recipe.

        Raises what the anonymizer raises, with the official names of utterances that it names.
        """
        by_id = {utterance.recipe.job.utterance: utterance for utterance in utterances}
        with ExitStack() as stack:
            try:
                made = stack.enter_context(
                    self.anonymizer.batch(
                        [(u.recipe.job, u.recipe.recording) for u in utterances],
                        work=self.work,
                        threads=self.threads,
                        device=self.device,
                        events=self.events,
                    )
                )
            except HarnessError as error:
                said = f"{error.where} {error.what}"
                told = [f"{i} is {u.utterance}" for i, u in by_id.items() if i in said]
                if not told:
                    raise
                what = f"{error.what} ({', '.join(told[:NAMED])})"
                raise type(error)(what, where=error.where, fix=error.fix) from error
            yield [replace(u, recipe=(name, made[name])) for name, u in by_id.items()]


def read(utterance: Utterance) -> Made:
    """An utterance that was anonymized with its shard. Errors have its official name."""
    name, samples = utterance.recipe
    with _told_of(utterance, name):
        return _made(samples())


def _made(samples: Samples) -> Made:
    if samples.dtype != np.int16 or samples.ndim != 1:
        # The store says what is wrong with it.
        return Made(samples)
    if not samples.size:
        raise AudioError("nothing came out, not even silence", fix="mend the anonymizer")
    return Made(samples, {NOTE: ";".join(oddities(samples))})


@contextmanager
def _told_of(utterance: Utterance, opaque: str) -> Iterator[None]:
    # An anonymizer knows an opaque name only; a person needs the official one.
    try:
        yield
    except HarnessError as error:
        where = utterance.utterance
        # The fault may lie elsewhere: in another's recording, or in weights.
        if error.where is not None and opaque not in error.where:
            where = f"{where} ({error.where})"
        raise type(error)(error.what, where=where, fix=error.fix) from error


def jobs(anonymizer: Anonymizer, corpus: Corpus, system: str, seed: int) -> list[Job]:
    """The jobs of a set in C order of its utterances; all randomness is drawn here, by the host.

    seed: of the benchmark. A job's seed follows from it, the system and the utterance's (or
    speaker's) name, and that of the set where the level is `speaker-in-set`; so neither batches nor
    other utterances can change a result.
    """
    utterances = list(corpus.manifest["utterance"])
    speakers = list(corpus.manifest["speaker"])
    level = anonymizer.level
    by_speaker = level != "utterance"
    places = (corpus.path.name,) if level == "speaker-in-set" else ()
    seeds = [
        derived_seed(seed, system, level, *places, name)
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
    anonymizers: Mapping[str, Anonymizer],
    system: str,
    sources: Sequence[Path],
    target: Path,
    *,
    seed: int,
    pool: Pool,
    events: Events,
    device: Device = "cpu",
) -> int:
    """Anonymize the corpora `sources` into folders of the same names under `target`.

    anonymizers: by the name of the set, for a system may have another level in each. device: what
    one that takes batches may use, with as many threads as the pool has workers. Returns the number
    of utterances. What an interrupted run has finished is not made again.
    """
    corpora = [Corpus(source) for source in sources]
    total = sum(len(corpus) for corpus in corpora)
    digests = {corpus.path.name: corpus.digest() for corpus in corpora}
    used = {name: [repr(part) for part in everything_of(anonymizers[name])] for name in digests}
    identity = [used, system, seed, digests, device, code_fingerprint()]
    work = work_folder(f"anonymize-{system}", identity)
    done = 0
    with finished_folder(target, work / "sets") as folder:
        for corpus in corpora:
            name = corpus.path.name
            anonymizer = anonymizers[name]
            make: Maker = OneByOne(anonymizer)
            prepare: Prepare = nullcontext
            if takes_batches(anonymizer, device):
                make = read
                prepare = Batches(anonymizer, work / "batch", pool.workers, device, events)

            def progress(count: int, before: int = done) -> None:
                events.progress(f"anonymize {system}", before + count, total)

            # Present means whole: an interrupted run goes on with the next set.
            if not (folder / name).is_dir():
                build(
                    folder / name,
                    plan(anonymizer, corpus, system, seed),
                    make,
                    work=work / name,
                    pool=pool,
                    prepare=prepare,
                    on_progress=progress,
                )
            _warn_of_silence(corpus, Corpus(folder / name), system, events)
            done += len(corpus)
    shutil.rmtree(work)
    return total


def _warn_of_silence(original: Corpus, made: Corpus, system: str, events: Events) -> None:
    notes = zip(made.manifest["utterance"], made.manifest[NOTE], strict=True)
    silent = [name for name, note in notes if SILENCE in note.split(";")]
    new = [name for name in silent if SILENCE not in oddities(original.read(name))]
    if new:
        more = ", …" if new[NAMED:] else ""
        told = f"{len(new)} of {len(made)} utterances became silent: {', '.join(new[:NAMED])}{more}"
        events.emit("warning", message=f"anonymize {system}: {made.path.name}: {told}")
