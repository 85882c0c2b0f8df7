"""The stage `anonymize`: all randomness is the host's, and nothing else can change a result."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from anonymizers.noise_anonymizer import Noise
from harness.anonymizers.base import BatchAnonymizer, Device, Job
from harness.anonymizers.original import Original
from harness.anonymizers.stage import anonymize, jobs, plan
from harness.corpora.opaque import Recording
from harness.corpora.store import Corpus, Made, Samples, Utterance, build
from harness.errors import AudioError, ContainerError, IntegrityError
from harness.runtime.events import Event, Events
from harness.runtime.pool import Pool
from harness.runtime.seeds import derived_seed

SPEAKERS = ("84", "174", "1272")
NAMES = sorted(f"{speaker}-1-{number:04d}" for speaker in SPEAKERS for number in range(6))
MARK = 12_345


@dataclasses.dataclass(frozen=True)
class Fixed:
    """Makes samples from the name; `marked` begins with a sample of its own."""

    marked: str = ""

    def __call__(self, utterance: Utterance) -> Made:
        seed = int.from_bytes(utterance.utterance.encode()[-8:], "big")
        samples = np.random.default_rng(seed).integers(-9_000, 9_000, 1_000).astype(np.int16)
        if utterance.utterance == self.marked:
            samples[0] = MARK
        return Made(samples)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def corpus(path: Path, names: list[str] = NAMES, marked: str = "", each: int = 4) -> Corpus:
    """A corpus in shards of `each` utterances."""
    utterances = [
        Utterance(name, name.split("-")[0], "f", f"TEXT {name}", 1_000, None) for name in names
    ]
    shards = [utterances[start : start + each] for start in range(0, len(names), each)]
    build(path, shards, Fixed(marked), work=Path("work"), pool=Pool(1))
    return Corpus(path)


def run(
    anonymizer: Noise | Original,
    source: Path | list[Path],
    target: Path,
    *,
    workers: int = 1,
    seed: int = 7,
) -> list[Event]:
    heard: list[Event] = []
    sources = source if isinstance(source, list) else [source]
    with Pool(workers) as pool:
        count = anonymize(
            {path.name: anonymizer for path in sources},
            "sys",
            sources,
            target,
            seed=seed,
            pool=pool,
            events=Events(heard.append),
        )
    assert count == sum(len(Corpus(path)) for path in sources)
    return heard


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_job_depends_on_its_utterance_alone(tmp_path: Path) -> None:
    whole, part = corpus(tmp_path / "c"), corpus(tmp_path / "part" / "c", NAMES[5:9])
    by_name = dict(zip(NAMES, jobs(Noise(), whole, "sys", 7), strict=True))
    for name, job in zip(NAMES[5:9], jobs(Noise(), part, "sys", 7), strict=True):
        assert job.seed == by_name[name].seed == derived_seed(7, "sys", "utterance", name)
    assert len({job.seed for job in by_name.values()}) == len(NAMES)


@pytest.mark.parametrize(("system", "seed"), [("other", 7), ("sys", 8)])
def test_another_system_or_seed_draws_anew(tmp_path: Path, system: str, seed: int) -> None:
    source = corpus(tmp_path / "c")
    one, two = jobs(Noise(), source, "sys", 7), jobs(Noise(), source, system, seed)
    assert all(a.seed != b.seed for a, b in zip(one, two, strict=True))
    assert [job.utterance for job in one] != [job.utterance for job in two]


def test_opaque_ids_hide_speaker_and_order(tmp_path: Path) -> None:
    found = jobs(Noise(), corpus(tmp_path / "c"), "sys", 7)
    ids = [job.utterance for job in found]
    assert sorted(ids) == [f"u{number:04d}" for number in range(len(NAMES))]
    assert ids != sorted(ids)
    assert all(job.speaker is None for job in found)
    sent = repr(found)
    assert not any(name in sent for name in NAMES)


def test_one_seed_per_speaker_at_the_speaker_level(tmp_path: Path) -> None:
    one, two = corpus(tmp_path / "one"), corpus(tmp_path / "two")
    found = jobs(Noise(level="speaker"), one, "sys", 7)
    by_speaker: dict[str, set[tuple[int, str | None]]] = {}
    for name, job in zip(NAMES, found, strict=True):
        by_speaker.setdefault(name.split("-")[0], set()).add((job.seed, job.speaker))
    assert all(len(values) == 1 for values in by_speaker.values())
    assert sorted(job.speaker or "" for job in found[::6]) == ["s0000", "s0001", "s0002"]
    # The same in every set: enrolments and trials of a speaker get the same pseudo-speaker.
    assert [job.seed for job in jobs(Noise(level="speaker"), two, "sys", 7)] == [
        job.seed for job in found
    ]


def test_a_speaker_in_each_set_is_drawn_anew(tmp_path: Path) -> None:
    # In 2022 the seed of the draw went up with each set.
    drawn = [
        jobs(Noise(level="speaker-in-set"), corpus(tmp_path / name), "sys", 7)
        for name in ("enrolments", "trials")
    ]
    for found in drawn:
        assert len({job.seed for job in found}) == len({job.speaker for job in found}) == 3
        assert [job.seed for job in found[::6]] == [job.seed for job in found[5::6]]
    assert not {job.seed for job in drawn[0]} & {job.seed for job in drawn[1]}


def test_coefficients_are_handed_out_in_c_order(tmp_path: Path) -> None:
    found = jobs(Noise(), corpus(tmp_path / "c"), "sys", 7)
    assert [job.alpha for job in found] == [place / 8 for place in range(len(NAMES))]


def test_plan_keeps_shards_names_and_texts(tmp_path: Path) -> None:
    shards = plan(Noise(), corpus(tmp_path / "c"), "sys", 7)
    assert [[utterance.utterance for utterance in shard] for shard in shards] == [
        NAMES[start : start + 4] for start in range(0, 18, 4)
    ]
    assert {utterance.text for utterance in shards[0]} == {f"TEXT {name}" for name in NAMES[:4]}


def test_workers_do_not_change_a_byte(tmp_path: Path) -> None:
    corpus(tmp_path / "c")
    run(Noise(), tmp_path / "c", tmp_path / "one")
    run(Noise(), tmp_path / "c", tmp_path / "two", workers=2)
    one = files(tmp_path / "one")
    assert one == files(tmp_path / "two")
    assert sorted(one) == [
        "c/c-000000.tar",
        *(f"c/c-00000{n}.tar" for n in range(1, 5)),
        "c/manifest.tsv",
    ]
    # And it is what the anonymizer makes of the job.
    source, made = Corpus(tmp_path / "c"), Corpus(tmp_path / "one/c")
    for name, job in zip(NAMES, jobs(Noise(), source, "sys", 7), strict=True):
        np.testing.assert_array_equal(made.read(name), Noise().anonymize(source.read(name), job))


def test_other_shards_give_the_same_audio(tmp_path: Path) -> None:
    corpus(tmp_path / "few" / "c", each=4)
    corpus(tmp_path / "many" / "c", each=18)
    for kind in ("few", "many"):
        run(Noise(), tmp_path / kind / "c", tmp_path / "out" / kind)
    few, many = (Corpus(tmp_path / "out" / kind / "c") for kind in ("few", "many"))
    assert list(few.manifest["sha256"]) == list(many.manifest["sha256"])


def test_original_changes_nothing(tmp_path: Path) -> None:
    source = corpus(tmp_path / "c")
    run(Original(), tmp_path / "c", tmp_path / "out")
    given, made = files(tmp_path / "c"), files(tmp_path / "out" / "c")
    assert given.pop("manifest.tsv") != made.pop("manifest.tsv")
    assert given == made
    manifest = Corpus(tmp_path / "out" / "c").manifest
    assert list(manifest.columns) == [*source.manifest.columns, "note"]
    assert manifest.drop(columns="note").equals(source.manifest)
    assert {job.alpha for job in jobs(Original(), source, "sys", 7)} == {None}


def test_failed_run_keeps_whole_shards_for_the_same_work_only(tmp_path: Path) -> None:
    corpus(tmp_path / "c", marked=NAMES[9])
    work = tmp_path / ".work" / "anonymize-sys"
    kept = []
    for _ in range(2):
        with pytest.raises(AudioError, match="told to fail"):
            run(Noise(refused=MARK), tmp_path / "c", tmp_path / "out")
        assert not (tmp_path / "out").exists()
        kept.append({path.name: path.stat().st_mtime_ns for path in work.glob("*/c/*.tar")})
    assert sorted(kept[0]) == ["c-000000.tar", "c-000001.tar"]
    assert kept[0] == kept[1]
    # Another parameter is other work.
    run(Noise(amplitude=5), tmp_path / "c", tmp_path / "out")
    job = jobs(Noise(), Corpus(tmp_path / "c"), "sys", 7)[0]
    original, made = (Corpus(path).read(NAMES[0]) for path in (tmp_path / "c", tmp_path / "out/c"))
    np.testing.assert_array_equal(made, Noise(amplitude=5).anonymize(original, job))


@dataclasses.dataclass(frozen=True)
class Counting(Noise):
    """Noise that remembers its jobs, and is interrupted before job number `stop`."""

    made: ClassVar[list[str]] = []
    stop: ClassVar[int | None] = None

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        if len(self.made) == self.stop:
            raise KeyboardInterrupt("told to stop")
        self.made.append(job.utterance)
        return super().anonymize(samples, job)


def test_interrupted_run_makes_only_what_is_not_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus(tmp_path / "c")
    monkeypatch.setattr(Counting, "made", [])
    monkeypatch.setattr(Counting, "stop", 9)
    with pytest.raises(KeyboardInterrupt, match="told to stop"):
        run(Counting(), tmp_path / "c", tmp_path / "out")
    monkeypatch.setattr(Counting, "made", [])
    monkeypatch.setattr(Counting, "stop", None)
    run(Counting(), tmp_path / "c", tmp_path / "out")
    # Eight of the nine were in whole shards.
    assert len(Counting.made) == len(NAMES) - 8
    run(Noise(), tmp_path / "c", tmp_path / "whole")
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_sets_that_are_whole_are_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = [tmp_path / "a", tmp_path / "b"]
    for path in sets:
        corpus(path)
    monkeypatch.setattr(Counting, "made", [])
    monkeypatch.setattr(Counting, "stop", len(NAMES) + 1)
    with pytest.raises(KeyboardInterrupt, match="told to stop"):
        run(Counting(), sets, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(Counting, "made", [])
    monkeypatch.setattr(Counting, "stop", None)
    run(Counting(), sets, tmp_path / "out")
    assert len(Counting.made) == len(NAMES)
    run(Noise(), sets, tmp_path / "whole")
    assert [files(tmp_path / "out" / n) for n in "ab"] == [
        files(tmp_path / "whole" / n) for n in "ab"
    ]
    assert not list((tmp_path / ".work").glob("*/*")), "unfinished work is left behind"


def test_failure_names_the_official_utterance(tmp_path: Path) -> None:
    corpus(tmp_path / "c", marked=NAMES[3])
    with pytest.raises(AudioError, match=f"^{NAMES[3]}: told to fail; do not tell$"):
        run(Noise(refused=MARK), tmp_path / "c", tmp_path / "out")


def test_progress_runs_over_all_sets(tmp_path: Path) -> None:
    for name in ("a", "b"):
        corpus(tmp_path / name)
    heard = run(Noise(), [tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    done = [event["done"] for event in heard]
    assert done == sorted(done)
    assert (done[0], done[-1], heard[-1]["total"]) == (1, 36, 36)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a", "b"]


@dataclasses.dataclass(frozen=True)
class Reading(Noise):
    """Noise that reads a recording of its own, as of a target speaker."""

    shard: Path = Path()

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        return Recording(self.shard, 0, 512, "0" * 64, 1).read()


def test_a_failure_elsewhere_keeps_its_place(tmp_path: Path) -> None:
    corpus(tmp_path / "c")
    shard = tmp_path / "targets.tar"
    shard.write_bytes(bytes(512))
    with pytest.raises(IntegrityError, match=rf"^{NAMES[0]} \({shard} at byte 0\): "):
        run(Reading(shard=shard), tmp_path / "c", tmp_path / "out")


# What comes out


@dataclasses.dataclass(frozen=True)
class Odd(Noise):
    """What an anonymizer made of the utterance that is marked."""

    of_marked: int = 0

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        if samples[0] == MARK:
            return np.zeros(self.of_marked, dtype=np.int16)
        return super().anonymize(samples, job)


def test_silence_that_was_made_is_kept_noted_and_told_of(tmp_path: Path) -> None:
    corpus(tmp_path / "c", marked=NAMES[5])
    heard = run(Odd(of_marked=800), tmp_path / "c", tmp_path / "out")
    made = Corpus(tmp_path / "out" / "c")
    assert not made.read(NAMES[5]).any()
    notes = dict(zip(made.manifest["utterance"], made.manifest["note"], strict=True))
    assert notes[NAMES[5]] == "silence"
    assert not any("silence" in note for name, note in notes.items() if name != NAMES[5])
    (warning,) = [event for event in heard if event["event"] == "warning"]
    told = f"anonymize sys: c: 1 of {len(NAMES)} utterances became silent: {NAMES[5]}"
    assert warning["message"] == told
    # What was silent before is no news.
    assert not [e for e in run(Original(), tmp_path / "out/c", tmp_path / "o") if "message" in e]


def test_nothing_at_all_is_refused(tmp_path: Path) -> None:
    corpus(tmp_path / "c", marked=NAMES[5])
    with pytest.raises(AudioError, match=f"^{NAMES[5]}: nothing came out, not even silence; mend"):
        run(Odd(), tmp_path / "c", tmp_path / "out")


def test_a_set_has_the_anonymizer_of_its_name(tmp_path: Path) -> None:
    sets = [tmp_path / "a", tmp_path / "b"]
    for path in sets:
        corpus(path)
    by_set = {"a": Noise(), "b": Noise(level="speaker")}
    anonymize(by_set, "sys", sets, tmp_path / "out", seed=7, pool=Pool(1), events=Events())
    for name, system in by_set.items():
        run(system, tmp_path / name, tmp_path / "alone" / name)
        assert files(tmp_path / "out" / name) == files(tmp_path / "alone" / name / name)


# Systems that take a shard at once


@dataclasses.dataclass(frozen=True)
class Batched(Noise):
    """Noise that works as an image does; fails before batch number `stop`, or as it is told."""

    batches: ClassVar[list[list[str]]] = []
    given: ClassVar[dict[str, object]] = {}
    stop: ClassVar[int | None] = None
    fault: ClassVar[str | None] = None
    cut: ClassVar[str | None] = None

    def read(self, path: Path) -> Samples:
        if path.stem == self.cut:
            raise AudioError("cut short", where=path, fix="mend it")
        samples: Samples = np.load(path)
        return samples

    @contextmanager
    def batch(
        self,
        speech: Sequence[tuple[Job, Recording]],
        *,
        work: Path,
        threads: int,
        device: Device,
        events: Events,
    ) -> Iterator[Mapping[str, Callable[[], Samples]]]:
        if len(self.batches) == self.stop:
            raise KeyboardInterrupt("told to stop")
        self.batches.append([job.utterance for job, _ in speech])
        self.given.update(threads=threads, device=device)
        if self.fault is not None:
            raise ContainerError(self.fault, where="image", fix="mend it")
        work.mkdir()
        for job, recording in speech:
            np.save(work / job.utterance, self.anonymize(recording.read(), job))
        yield {
            job.utterance: partial(self.read, work / f"{job.utterance}.npy") for job, _ in speech
        }
        for path in work.iterdir():
            path.unlink()
        work.rmdir()


@pytest.fixture
def batched(monkeypatch: pytest.MonkeyPatch) -> Batched:
    monkeypatch.setattr(Batched, "batches", [])
    monkeypatch.setattr(Batched, "given", {})
    assert isinstance(Batched(), BatchAnonymizer)
    return Batched()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_batch_is_a_shard_and_changes_no_byte(
    tmp_path: Path, batched: Batched, workers: int
) -> None:
    source = corpus(tmp_path / "c")
    run(Noise(), tmp_path / "c", tmp_path / "one")
    heard = run(batched, tmp_path / "c", tmp_path / "batched", workers=workers)
    assert files(tmp_path / "batched") == files(tmp_path / "one")
    assert [event["done"] for event in heard][-1] == len(NAMES)
    ids = [job.utterance for job in jobs(Noise(), source, "sys", 7)]
    assert batched.batches == [ids[start : start + 4] for start in range(0, 18, 4)]
    assert batched.given == {"threads": workers, "device": "cpu"}


def test_an_interrupted_run_makes_whole_batches_once(
    tmp_path: Path, batched: Batched, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus(tmp_path / "c")
    monkeypatch.setattr(Batched, "stop", 3)
    with pytest.raises(KeyboardInterrupt, match="told to stop"):
        run(batched, tmp_path / "c", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(Batched, "stop", None)
    run(batched, tmp_path / "c", tmp_path / "out")
    assert [len(batch) for batch in batched.batches] == [4, 4, 4, 4, 2]
    assert len({name for batch in batched.batches for name in batch}) == len(NAMES)
    run(Noise(), tmp_path / "c", tmp_path / "whole")
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_a_failed_batch_names_official_utterances(
    tmp_path: Path, batched: Batched, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = jobs(Noise(), corpus(tmp_path / "c"), "sys", 7)
    fault = f"the container says: {found[2].utterance}.wav: too short"
    monkeypatch.setattr(Batched, "fault", fault)
    with pytest.raises(
        ContainerError,
        match=rf"^image: {fault} \({found[2].utterance} is {NAMES[2]}\); mend it$",
    ):
        run(batched, tmp_path / "c", tmp_path / "out")
    monkeypatch.setattr(Batched, "fault", "no weights")
    with pytest.raises(ContainerError, match="^image: no weights; mend it$"):
        run(batched, tmp_path / "c", tmp_path / "out")


def test_speech_that_cannot_be_read_is_named(
    tmp_path: Path, batched: Batched, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = jobs(Noise(), corpus(tmp_path / "c"), "sys", 7)
    monkeypatch.setattr(Batched, "cut", found[3].utterance)
    with pytest.raises(AudioError, match=f"^{NAMES[3]}: cut short; mend it$"):
        run(batched, tmp_path / "c", tmp_path / "out")
