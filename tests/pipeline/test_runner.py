"""Which system works where, on which device, with which versions; and what doctor says of it.

The Docker engine and the GPUs are stand-ins here; tests/containers has the real engine.
"""

from __future__ import annotations

import dataclasses
import hashlib
from importlib.metadata import version
from pathlib import Path

import pytest

from harness.anonymizers import knn_wavlm
from harness.anonymizers.mcadams import McAdams
from harness.anonymizers.original import Original
from harness.attackers.ecapa.attacker import Ecapa
from harness.contracts.anonymizer.image import ContainedAnonymizer, ImageAnonymizer
from harness.contracts.attacker.image import ImageAttacker
from harness.errors import ConfigError, ContainerError, HarnessError
from harness.pipeline import runner
from harness.runtime import images
from harness.runtime.files import code_fingerprint
from harness.runtime.machine import Finding
from harness.runtime.parameters import Parameters, load

REPOSITORY = Path(__file__).resolve().parents[2]
BUILT = {"harness-anonymizer-b2": f"sha256:{'a' * 64}", "harness-attacker": f"sha256:{'b' * 64}"}
THEIRS = f"sha256:{'c' * 64}"


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Parameters:
    """The shipped parameters, with a stranger's systems; an engine with the recorded images."""
    (tmp_path / "docker").mkdir()
    (tmp_path / "requirements").mkdir()
    lines = ["process: {anonymizer: none, attacker: none}", "docker:"]
    for tag, digest in BUILT.items():
        name = tag.removeprefix("harness-")
        packages = (REPOSITORY / f"requirements/{name}.lock").read_bytes()
        (tmp_path / f"requirements/{name}.lock").write_bytes(packages)
        lock_sha256 = hashlib.sha256(packages).hexdigest()
        hashes = f"lock_sha256: '{lock_sha256}', code_sha256: '{code_fingerprint()}'"
        entry = f"{{digest: '{digest}', {hashes}}}"
        lines.append(f"  {name.split('-')[0]}: {{{name}: {entry}}}")
    (tmp_path / "docker/images.lock").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    engine(monkeypatch, {**BUILT, THEIRS: THEIRS, **{digest: digest for digest in BUILT.values()}})
    parameters = load(REPOSITORY / "params.yaml")
    theirs = {"type": "image", "image": THEIRS}
    benchmark = dataclasses.replace(
        parameters.benchmark, systems=("orig", "b2", "t1"), attackers=("ecapa-demo", "a1")
    )
    return dataclasses.replace(
        parameters,
        benchmark=benchmark,
        anonymizers=parameters.anonymizers | {"t1": theirs},
        attackers=parameters.attackers | {"a1": theirs},
    )


def engine(monkeypatch: pytest.MonkeyPatch, known: dict[str, str]) -> None:
    """Stands for an engine that knows these images."""

    def image_digest(image: str) -> str:
        if image not in known:
            raise ContainerError("No such image", where=repr(image), fix="see `docker images`")
        return known[image]

    monkeypatch.setattr(images, "image_digest", image_digest)
    monkeypatch.setattr(runner, "image_digest", image_digest)


@pytest.fixture
def docker(process: Parameters) -> Parameters:
    return dataclasses.replace(process, runner="docker")


def test_as_a_process_only_images_are_contained(process: Parameters) -> None:
    systems = [runner.load_anonymizer(process, name) for name in ("orig", "b2", "t1")]
    assert systems == [Original(), McAdams(), ImageAnonymizer(image=THEIRS)]
    assert isinstance(runner.load_attacker(process, "ecapa-demo"), Ecapa)
    assert runner.load_attacker(process, "a1") == ImageAttacker(THEIRS)


def test_in_docker_all_but_the_original_are(docker: Parameters) -> None:
    assert runner.load_anonymizer(docker, "orig") == Original()
    entry = {"type": "mcadams", "level": "utterance", "alphas_from": "official"}
    assert runner.load_anonymizer(docker, "b2-official") == ContainedAnonymizer(
        image=BUILT["harness-anonymizer-b2"],
        parameters=entry,
        own=McAdams(alphas_from="official"),
    )
    attacker = runner.load_attacker(docker, "ecapa-demo")
    assert attacker == ImageAttacker(BUILT["harness-attacker"], docker.attackers["ecapa-demo"])
    assert runner.load_anonymizer(docker, "t1") == ImageAnonymizer(image=THEIRS)


def test_parameters_are_checked_on_the_host_too(docker: Parameters) -> None:
    docker.anonymizers["b2"]["alpha_min"] = 2.0
    with pytest.raises(ConfigError, match="alpha_min 2.0 is above alpha_max"):
        runner.load_anonymizer(docker, "b2")


@pytest.mark.heavy
def test_versions_are_those_where_the_work_is_done(
    process: Parameters, docker: Parameters, tmp_path: Path
) -> None:
    here = runner.versions(process, "ecapa-demo")
    assert here == {name: version(name) for name in runner.TRACKED_VERSIONS}
    # Both are of one lock, so a run says the same of itself.
    assert runner.versions(docker, "ecapa-demo") == here
    assert runner.versions(process, "a1") == runner.versions(docker, "a1") == {}


@pytest.mark.parametrize(
    ("asked", "contained", "there", "found"),
    [
        ("cpu", True, True, "cpu"),
        ("auto", True, True, "cuda"),
        ("auto", True, False, "cpu"),
        ("auto", False, True, "cuda"),
        ("cuda", False, True, "cuda"),
        ("cuda", True, True, "cuda"),
        ("cuda", True, False, None),
        ("cuda", False, False, None),
    ],
)
def test_device(
    process: Parameters,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: str,
    contained: bool,
    there: bool,
    found: str | None,
) -> None:
    # The one that is looked at says `there`, the other the opposite.
    node = tmp_path / "nvidiactl"
    if there == contained:
        node.touch()
    monkeypatch.setattr(runner, "GPU_DEVICE", node)
    monkeypatch.setattr(runner, "_torch_sees_one", lambda: there != contained)
    parameters = dataclasses.replace(
        process,
        runtime=dataclasses.replace(process.runtime, device=asked),  # type: ignore[arg-type]
    )
    attacker = runner.load_attacker(parameters, "a1" if contained else "ecapa-demo")
    if found is None:
        with pytest.raises(ConfigError, match="there is no CUDA device; use auto or cpu"):
            runner.device(parameters, attacker)
    else:
        assert runner.device(parameters, attacker) == found
    assert runner.device(parameters, Original()) == "cpu"


def test_what_is_missing_is_told_before_any_work(
    docker: Parameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = docker.benchmark
    runner.require_machine(docker, benchmark)
    assert runner.examine(docker, benchmark) == [
        Finding("anonymizer b2", "ok", f"works in {BUILT['harness-anonymizer-b2']}"),
        Finding("anonymizer t1", "ok", f"works in {THEIRS}"),
        Finding("attacker ecapa-demo", "ok", f"works in {BUILT['harness-attacker']}"),
        Finding("attacker a1", "ok", f"works in {THEIRS}"),
    ]
    other = f"sha256:{'d' * 64}"
    engine(monkeypatch, {"harness-anonymizer-b2": other})
    with pytest.raises(ConfigError, match=f"^harness-anonymizer-b2: is {other} here, and"):
        runner.require_machine(docker, benchmark)
    found = {finding.subject: finding for finding in runner.examine(docker, benchmark)}
    assert {finding.status for finding in found.values()} == {"problem"}
    assert found["anonymizer b2"].fix == "make images OFFLINE=1, or BASE=IMAGE@sha256:…"
    assert found["anonymizer t1"].text == f"'{THEIRS}': No such image"
    assert found["attacker ecapa-demo"].text == "'harness-attacker': No such image"


def test_weights_are_looked_at_before_any_work(process: Parameters, tmp_path: Path) -> None:
    entry = {"type": "knn-vc", "backend": "wavlm", "weights": str(tmp_path / "weights")}
    mixed = {"type": "admixture", "first": {"type": "original"}, "second": entry}
    parameters = dataclasses.replace(process, anonymizers={"knn": entry, "mixed": mixed})
    benchmark = dataclasses.replace(process.benchmark, systems=("knn", "mixed"), attackers=())
    files = [f"{part}/{name}" for part in ("wavlm", "hifigan") for name in knn_wavlm.FILES]

    def told(message: str) -> list[Finding]:
        with pytest.raises(HarnessError, match=message):
            runner.require_machine(parameters, benchmark)
        found = runner.examine(parameters, benchmark)
        assert [one.subject for one in found] == ["anonymizer knn", "anonymizer mixed"]
        assert {one.status for one in found} == {"problem"}
        return found

    assert told("no folder")[0].text == f"anonymizer knn-vc: no folder {tmp_path / 'weights'}"
    for name in files:
        (tmp_path / "weights" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "weights" / name).write_bytes(b"")
    (missing, _) = told("weights_sha256 is missing")
    assert f"sha256sum {' '.join(files)} | sha256sum" in str(missing.fix)
    entry["weights_sha256"] = "0" * 64
    told("the sha256 of .* is .*, not 0000")
    said = "".join(f"{hashlib.sha256(b'').hexdigest()}  {name}\n" for name in files)
    entry["weights_sha256"] = hashlib.sha256(said.encode()).hexdigest()
    runner.require_machine(parameters, benchmark)
    assert runner.examine(parameters, benchmark) == []


def test_weights_of_evaluators_are_looked_at_before_any_work(
    process: Parameters, tmp_path: Path
) -> None:
    folder = tmp_path / "whisper"
    words = {"type": "wer", "recognizer": "faster-whisper", "weights": str(folder)}
    emotions = {"type": "emotion", "recognizer": "wav2vec2-2024", "weights": str(folder)}
    entries = {"words": words, "emotions": emotions, "plain": {"type": "pitch-correlation"}}
    parameters = dataclasses.replace(process, evaluators=entries)
    benchmark = dataclasses.replace(
        process.benchmark,
        systems=("orig",),
        attackers=("ecapa-demo",),
        evaluators=("plain", "words"),
        emotion_evaluators=("emotions", "words"),
    )
    with pytest.raises(ConfigError, match=f"^evaluator wer: no folder {folder}; put a model there"):
        runner.require_machine(parameters, benchmark)
    found = {one.subject: one for one in runner.examine(parameters, benchmark)}
    assert list(found) == ["evaluator words", "evaluator emotions"]
    assert found["evaluator emotions"].text.startswith("recognizer wav2vec2-2024: no folder")

    folder.mkdir()
    for name in ("config.json", "model.bin", "tokenizer.json"):
        (folder / name).write_bytes(b"")
    words["sha256"] = "0" * 64
    with pytest.raises(HarnessError, match="^evaluator wer: the sha256 of .*, not 0000"):
        runner.require_machine(parameters, benchmark)
    # Those of another benchmark are not asked for.
    plain = dataclasses.replace(benchmark, evaluators=("plain",), emotion_evaluators=())
    runner.require_machine(parameters, plain)
    assert runner.examine(parameters, plain) == []
    del words["weights"]
    (first, _) = runner.examine(parameters, benchmark)
    assert first.text.startswith("params.yaml: evaluators.words (evaluator wer): recognizer faster")


def test_as_a_process_nothing_is_asked_of_an_engine(
    process: Parameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = dataclasses.replace(process.benchmark, systems=("orig", "b2"), attackers=("ecapa-demo",))
    engine(monkeypatch, {})
    runner.require_machine(process, own)
    assert runner.examine(process, own) == []
    with pytest.raises(ContainerError, match=f"^'{THEIRS}': No such image"):
        runner.require_machine(process, process.benchmark)
