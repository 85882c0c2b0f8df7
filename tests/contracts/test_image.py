"""Images as anonymizers and attackers of params.yaml. What runs them is a stand-in here: a function
that sees /in and fills /out; tests/containers has the real ones."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.anonymizers import base as anonymizers
from harness.anonymizers.base import BatchAnonymizer, Job
from harness.anonymizers.original import Original
from harness.attackers import base as attackers
from harness.attackers.base import Attacker, Machine, Pair
from harness.contracts import naming, working
from harness.contracts.allowance import FILE_BYTES, FURTHER_FILES, allowance
from harness.contracts.anonymizer.image import ContainedAnonymizer, ImageAnonymizer
from harness.contracts.anonymizer.program import anonymize
from harness.contracts.attacker.image import ImageAttacker
from harness.contracts.inputs import Held
from harness.contracts.wav import write_wav
from harness.corpora.opaque import Recording, Speech
from harness.errors import AudioError, ConfigError, ContainerError, ResourceError
from harness.runtime.containers.fence import MIB, Fence, Outcome
from harness.runtime.events import Event, Events

DIGEST = f"sha256:{'a' * 64}"
LENGTHS = {"u0002": 800, "u0000": 1600, "u0001": 3200}
Fill = Callable[[Path, Path], None]


class Container:
    """Stands for a container: `fill` gets /in and /out. Keeps what it was started with."""

    def __init__(self, fill: Fill, said: Sequence[bytes] = (), status: int = 0) -> None:
        self.fill, self.said, self.status = fill, said, status
        self.started: dict[str, Any] = {}
        self.inputs: dict[str, bytes] = {}

    def __call__(
        self,
        image: str,
        arguments: Sequence[str],
        *,
        inputs: Mapping[str, Path],
        output: Path,
        fence: Fence,
        gpus: bool,
        hear: Callable[[bytes], None],
    ) -> Outcome:
        self.started = {"image": image, "arguments": arguments, "fence": fence, "gpus": gpus}
        (folder,) = {path.parent for path in inputs.values()}
        self.inputs = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        output.mkdir()
        for line in self.said:
            hear(line)
        self.fill(folder, output)
        return Outcome(self.status, None, b"", b"no weights\n")


def work_as_original(inputs: Path, outputs: Path) -> None:
    anonymize({}, inputs, outputs, Events())


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Container]:
    def replaced(fill: Fill, **more: Any) -> Container:
        container = Container(fill, **more)
        monkeypatch.setattr(working, "run", container)
        return container

    return replaced


def speech() -> list[tuple[Job, Held]]:
    return [
        (Job(name, seed, 0.5), Held(np.arange(length, dtype=np.int16)))
        for seed, (name, length) in enumerate(LENGTHS.items())
    ]


ORIGINAL = ImageAnonymizer(image=DIGEST, parameters={"type": "original"})


def test_a_batch_in_the_order_of_opaque_names(
    start: Callable[..., Container], tmp_path: Path
) -> None:
    container = start(work_as_original)
    work = tmp_path / "batch"
    # What a killed run left is in nobody's way.
    (work / "out").mkdir(parents=True)
    with ORIGINAL.batch(speech(), work=work, threads=3, device="cuda") as made:
        assert {name: len(read()) for name, read in made.items()} == LENGTHS
        np.testing.assert_array_equal(made["u0002"](), np.arange(800))
    assert not work.exists()
    rows = container.inputs["manifest.tsv"].decode().splitlines()[1:]
    assert [row.split("\t")[0] for row in rows] == ["u0000", "u0001", "u0002"]
    assert json.loads(container.inputs["params.json"]) == {"type": "original"}
    said = json.loads(container.inputs["run.json"])
    assert (said["threads"], said["device"]) == (3, "cuda")
    assert container.started["image"] == DIGEST
    assert container.started["arguments"] == ["anonymize"]
    assert container.started["gpus"] is True
    assert container.started["fence"].cpus == 3


def test_one_utterance_alone(start: Callable[..., Container]) -> None:
    start(work_as_original)
    samples = np.arange(500, dtype=np.int16)
    np.testing.assert_array_equal(ORIGINAL.anonymize(samples, Job("u7", 1)), samples)


def test_it_is_found_by_its_type() -> None:
    entry = {"type": "image", "image": DIGEST, "level": "speaker", "parameters": {"x": [1, 2]}}
    found = anonymizers.load("theirs", entry)
    assert isinstance(found, BatchAnonymizer)
    assert found == ImageAnonymizer(image=DIGEST, level="speaker", parameters={"x": [1, 2]})
    del entry["level"]
    attacker = attackers.load("theirs", entry)
    assert isinstance(attacker, Attacker)
    assert attacker == ImageAttacker(DIGEST, {"x": [1, 2]})


@pytest.mark.parametrize("kind", [anonymizers, attackers])
def test_a_tag_is_refused(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Stands for an engine that has the image.
    monkeypatch.setattr(naming, "image_digest", lambda image: DIGEST)
    fault = r"image 'theirs:1\.0'\)?: a tag may mean another image tomorrow; write image: "
    with pytest.raises(ConfigError, match=fault + DIGEST):
        kind.load("theirs", {"type": "image", "image": "theirs:1.0"})

    def absent(image: str) -> str:
        raise ContainerError("no such image", where=image, fix="see `docker images`")

    monkeypatch.setattr(naming, "image_digest", absent)
    with pytest.raises(ConfigError, match=fault + "sha256:…, as `docker images --no-trunc`"):
        kind.load("theirs", {"type": "image", "image": "theirs:1.0"})


@pytest.mark.parametrize("name", ["registry.example/a/b@", "", "localhost:5000/a:1.0@"])
def test_names_with_a_digest(name: str) -> None:
    assert ImageAttacker(f"{name}{DIGEST}").image == f"{name}{DIGEST}"


def test_coefficients_are_the_own_ones() -> None:
    class Halves(Original):
        def alphas(self, sources: Sequence[Any], seeds: Sequence[int]) -> list[float | None]:
            return [seed / 2 for seed in seeds]

    entry = {"type": "original"}
    contained = ContainedAnonymizer(image=DIGEST, parameters=entry, own=Halves())
    assert contained.alphas([], [1, 2]) == [0.5, 1.0]
    assert ORIGINAL.alphas([None, None], [1, 2]) == [None, None]  # type: ignore[list-item]


def one_less(inputs: Path, outputs: Path) -> None:
    work_as_original(inputs, outputs)
    (outputs / "audio/u0001.wav").unlink()


def one_more(inputs: Path, outputs: Path) -> None:
    work_as_original(inputs, outputs)
    (outputs / "log.txt").touch()


@pytest.mark.parametrize(
    ("fill", "status", "fault"),
    [
        (one_less, 0, "1 of 3 files are missing, u0001 for one, 0 are further"),
        (one_more, 0, "0 of 3 files are missing, 1 are further"),
        (lambda inputs, outputs: None, 0, "3 of 3 files are missing, u0002 for one"),
        (work_as_original, 3, r"ended with status 3 \(no weights\)"),
    ],
)
def test_a_batch_that_is_not_whole(
    start: Callable[..., Container], tmp_path: Path, fill: Fill, status: int, fault: str
) -> None:
    start(fill, status=status)
    with (
        pytest.raises(ContainerError, match=f"^{DIGEST}: .*{fault}"),
        ORIGINAL.batch(speech(), work=tmp_path / "batch"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_speech_is_found_when_it_is_read(
    start: Callable[..., Container], tmp_path: Path
) -> None:
    def noise(inputs: Path, outputs: Path) -> None:
        work_as_original(inputs, outputs)
        (outputs / "audio/u0001.wav").write_bytes(b"RIFF")

    start(noise)
    with ORIGINAL.batch(speech(), work=tmp_path / "batch") as made:
        assert len(made["u0000"]()) == 1600
        with pytest.raises(AudioError, match="not a WAV file"):
            made["u0001"]()


def test_events_are_passed_on(start: Callable[..., Container], tmp_path: Path) -> None:
    start(
        work_as_original,
        said=[b'{"event": "progress", "task": "x", "done": 1, "total": 3}', b'{"event": "done"}'],
    )
    told: list[Event] = []
    with ORIGINAL.batch(speech(), work=tmp_path / "batch", events=Events(told.append)):
        pass
    assert [(event["task"], event["done"]) for event in told] == [("x", 1)]


# Attackers


def recordings(folder: Path) -> dict[str, Recording]:
    """Recordings that can be read, as WAV files."""
    found = {}
    for name, length in LENGTHS.items():
        path = folder / f"{name}.wav"
        write_wav(path, np.arange(length, dtype=np.int16))
        found[name] = Recording(path, 0, path.stat().st_size, None, length)  # type: ignore[arg-type]
    return found


def trained(tmp_path: Path) -> Path:
    """A training by the container of the moment, as the stage `train` starts it."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "left-by-a-killed-run").touch()
    ImageAttacker(DIGEST, {"epochs": 1}).train(
        Speech(recordings(tmp_path / "speech"), dict.fromkeys(LENGTHS, "s1")),
        model,
        seed=1986,
        work=tmp_path,
        machine=Machine(2, "cpu"),
        events=Events(),
    )
    return model


def weights(inputs: Path, outputs: Path) -> None:
    (outputs / "model" / "layers").mkdir(parents=True)
    (outputs / "model" / "layers" / "1").write_bytes(b"weights")


def test_a_model_is_what_the_container_left(
    start: Callable[..., Container], tmp_path: Path
) -> None:
    container = start(weights)
    model = trained(tmp_path)
    assert [path.relative_to(model).as_posix() for path in model.rglob("*")] == [
        "layers",
        "layers/1",
    ]
    assert not (tmp_path / "container").exists()
    assert container.started["arguments"] == ["train"]
    assert container.started["gpus"] is False
    assert json.loads(container.inputs["params.json"]) == {"epochs": 1}
    said = json.loads(container.inputs["run.json"])
    assert (said["threads"], said["device"], said["seed"]) == (2, "cpu", 1986)


def test_a_disk_that_is_too_small_for_the_speech(
    start: Callable[..., Container], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    container = start(weights)
    # Stands for a disk with one byte less than the samples take, two bytes each.
    free = 2 * sum(LENGTHS.values()) - 1
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=free))
    with pytest.raises(ResourceError, match=r"11\.2 kB free, 11\.2 kB needed"):
        trained(tmp_path)
    assert not container.started


@pytest.mark.parametrize(
    ("left", "fault"),
    [
        ([], "left something else than a model"),
        (["model"], "left something else than a model"),
        (["model/weights", "notes"], "left something else than a model"),
        (["model/weights", "work/weights"], "left something else than a model"),
        (["model/weights", "model/events.jsonl"], "a name that is the host's"),
        (["model/weights", "model/runs/events.jsonl"], "a name that is the host's"),
    ],
)
def test_what_is_no_model_is_refused(
    start: Callable[..., Container], tmp_path: Path, left: list[str], fault: str
) -> None:
    def fill(inputs: Path, outputs: Path) -> None:
        for place in left:
            (outputs / place).parent.mkdir(parents=True, exist_ok=True)
            (outputs / place).touch()

    start(fill)
    with pytest.raises(ContainerError, match=f"^{DIGEST}: .*{fault}"):
        trained(tmp_path)
    assert not (tmp_path / "container").exists()
    assert not (tmp_path / "model").exists()


def test_scores_come_in_the_order_of_the_pairs(
    start: Callable[..., Container], tmp_path: Path
) -> None:
    def reversed_scores(inputs: Path, outputs: Path) -> None:
        header, *rows = (inputs / "pairs.tsv").read_text().splitlines()
        lines = [f"{header}\tscore", *(f"{row}\t{len(rows) - n}.5" for n, row in enumerate(rows))]
        (outputs / "scores.tsv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")

    container = start(reversed_scores)
    (tmp_path / "model").mkdir()
    scores = ImageAttacker(DIGEST).score(
        tmp_path / "model",
        Speech(recordings(tmp_path / "speech")),
        {"s1": ["u0000"]},
        [Pair("s1", "u0002"), Pair("s1", "u0001")],
        machine=Machine(2, "cpu"),
        events=Events(),
    )
    assert scores.tolist() == [2.5, 1.5]
    assert container.started["fence"].output == math.ceil(
        (3 * 256 + FILE_BYTES * (1 + FURTHER_FILES)) / MIB
    )


def test_scores_stand_alone(start: Callable[..., Container], tmp_path: Path) -> None:
    def fill(inputs: Path, outputs: Path) -> None:
        (outputs / "scores.tsv").write_text("enrolment\ttrial\tscore\ns1\tu0002\t1\n")
        (outputs / "notes").touch()

    start(fill)
    (tmp_path / "model").mkdir()
    with pytest.raises(ContainerError, match=r"/out/notes stands beside /out/scores\.tsv"):
        ImageAttacker(DIGEST).score(
            tmp_path / "model",
            Speech(recordings(tmp_path / "speech")),
            {"s1": ["u0000"]},
            [Pair("s1", "u0002")],
            machine=Machine(2, "cpu"),
            events=Events(),
        )


def test_a_room_as_large_as_the_work() -> None:
    fence = allowance(utterances=MIB, output=10 * MIB, files=128)
    # 10 MiB, and 8 KiB for each of 1128 files: 8.8 MiB.
    assert fence.output == 19
    assert fence.files == 1128
    assert fence.log == 2048 + 4
    assert fence.seconds == 30 * 86_400
    assert fence.file >= fence.temporary
    meminfo = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    total = int(meminfo["MemTotal"].split()[0]) / 1024
    assert 0.85 * total < fence.memory < 0.95 * total
