"""A rebuilt result against the committed one, in a real git repository."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from harness.errors import ConfigError, DataError, IntegrityError, ResourceError
from harness.reports.lockdiff import Comparison, compare, from_commit, from_workspace, to_text

RESULTS = PurePosixPath("results/demo")
# EER averages in percent by system and scenario.
EERS = {("orig", "original"): 10.0, ("b2", "lazy-informed"): 30.0, ("b2", "semi-informed"): 22.0}
# What each stage reads and writes.
STAGES: dict[str, tuple[list[str], list[str]]] = {
    "corpus@demo": (["harness/voices.py"], ["data/demo/corpus"]),
    "anonymize@demo-b2": (["data/demo/corpus"], ["data/demo/anonymized/b2"]),
    "train@demo-b2": (["data/demo/anonymized/b2"], ["models/demo/b2"]),
    "score@demo-b2": (["models/demo/b2"], ["results/demo/scores/b2"]),
    "compare@demo": (
        ["results/demo/scores/b2"],
        ["results/demo/eer.csv", "results/demo/averages.csv"],
    ),
}


def md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


class Result:
    """What stands in a repository after `dvc repro`; a test changes parts of it."""

    def __init__(self) -> None:
        self.eers: dict[tuple[str, str], float] = dict(EERS)
        self.trials = "list 1"
        self.lists: dict[tuple[str, str, str], float] = {}
        self.outs: dict[str, str] = {}
        self.alpha_min = 0.5
        self.without: str | None = None

    def change(self, *stages: str) -> None:
        """Other bytes from these stages."""
        self.outs |= {out: "other" for stage in stages for out in STAGES[stage][1]}

    def write(self, root: Path) -> None:
        folder = root / RESULTS
        folder.mkdir(parents=True, exist_ok=True)
        averages = "benchmark,system,attacker,seed,scenario,dataset,split,eer_percent\n"
        eer = (
            "benchmark,system,attacker,seed,scenario,enrolment,trial,train,dataset,split,gender,"
            "n_target,n_nontarget,eer_percent,threshold,misses,false_alarms,trials_sha256\n"
        )
        for (system, scenario), value in self.eers.items():
            averages += f"demo,{system},ecapa,1986,{scenario},demo,test,{value}\n"
            for gender in "fm":
                eer += (
                    f"demo,{system},ecapa,1986,{scenario},o,a,a,demo,test,{gender},"
                    f"60,660,{self.lists.get((system, scenario, gender), value)},0.5,6,66,"
                    f"{self.trials}\n"
                )
        tables = {"averages.csv": averages, "eer.csv": eer}
        for name, text in tables.items():
            (folder / name).write_text(text)
        stages: dict[str, Any] = {}
        for stage, (deps, outs) in STAGES.items():
            if stage == self.without:
                continue
            stages[stage] = {
                "cmd": f"harness stage {stage}",
                "deps": [{"path": path, "hash": "md5", "md5": self.md5(path)} for path in deps],
                "outs": [],
            }
            for out in outs:
                hashed = md5(tables[Path(out).name]) if out.endswith(".csv") else self.md5(out)
                stages[stage]["outs"].append({"path": out, "hash": "md5", "md5": hashed})
        for path in [path for deps, outs in STAGES.values() for path in (*deps, *outs)]:
            if not path.endswith(".csv"):
                file = root / path if path.endswith(".py") else root / path / "content"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(path + self.outs.get(path, ""))
        settings = {"type": "mcadams", "alpha_min": self.alpha_min}
        stages["anonymize@demo-b2"]["params"] = {
            "docker/images.lock": {"docker.anonymizer": {"b2": {"digest": "sha256:1"}}},
            "params.yaml": {"anonymizers.b2": settings},
        }
        stages["compare@demo"]["params"] = {"params.yaml": {"benchmark.seeds": [1986]}}
        block = {"name": "demo", "seeds": [1986]}
        parameters = {
            "benchmarks": {"demo": block, "large": {"name": "large", "seeds": [1, 2]}},
            "benchmark": block,
            "anonymizers": {"b2": settings, "other": {"type": "original"}},
        }
        (root / "params.yaml").write_text(yaml.safe_dump(parameters))
        images = {"anonymizer": {"b2": {"digest": "sha256:1"}}, "attacker": {}}
        (root / "docker").mkdir(exist_ok=True)
        (root / "docker/images.lock").write_text(yaml.safe_dump({"docker": images}))
        lock = {"schema": "2.0", "stages": stages}
        (root / "dvc.lock").write_text(yaml.safe_dump(lock, sort_keys=False))

    def md5(self, path: str) -> str:
        content = md5(path + self.outs.get(path, ""))
        if path.endswith(".py"):
            return content
        return md5(f'[{{"md5": "{content}", "relpath": "content"}}]') + ".dir"


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository in which a result is committed, and stands in the workspace."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet")
    (root / ".gitignore").write_text("/data/\n/models/\n/results/*/scores/\n")
    Result().write(root)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "result")
    return root


def run(
    root: Path, band: float = 2.0, revision: str = "HEAD", list_band: float | None = None
) -> Comparison:
    committed = from_commit("demo", RESULTS, revision, root)
    rebuilt = from_workspace("demo", RESULTS, root)
    return compare(committed, rebuilt, RESULTS, band, list_band)


def statuses(comparison: Comparison) -> dict[str, str]:
    return {stage.name.split("@")[0]: stage.status for stage in comparison.stages}


def test_same_bytes_are_identical(repository: Path) -> None:
    comparison = run(repository)
    assert comparison.verdict == "identical"
    assert [(stage.name, stage.status) for stage in comparison.stages] == [
        (name, "identical") for name in STAGES
    ]
    assert to_text(comparison).endswith(
        "\n\nverdict: identical (3 EER averages, band 2 points; 6 lists, band 4 points)\n"
    )


def test_retrained_attacker_is_within_the_band(repository: Path) -> None:
    result = Result()
    result.change("train@demo-b2", "score@demo-b2")
    result.eers["b2", "semi-informed"] = 23.9
    result.write(repository)
    comparison = run(repository)
    assert comparison.verdict == "within the band"
    assert statuses(comparison) == {
        "corpus": "identical",
        "anonymize": "identical",
        "train": "different bytes",
        "score": "within the band",
        "compare": "within the band",
    }
    text = to_text(comparison)
    assert "  b2 ecapa 1986 semi-informed demo test: 22.000 -> 23.900 (+1.900)\n" in text
    assert "orig" not in text.split("EER averages")[1]


def test_move_beyond_the_band_is_different(repository: Path) -> None:
    result = Result()
    result.change("score@demo-b2")
    result.eers["b2", "semi-informed"] = 19.9
    result.write(repository)
    comparison = run(repository)
    assert comparison.verdict == "different"
    assert statuses(comparison)["score"] == statuses(comparison)["compare"] == "different"
    assert "22.000 -> 19.900 (-2.100)  outside the band\n" in to_text(comparison)
    assert run(repository, band=2.1).verdict == "within the band"


def test_opposite_moves_of_the_lists_do_not_cancel(repository: Path) -> None:
    result = Result()
    result.change("score@demo-b2")
    result.lists = {("b2", "semi-informed", "f"): 32.0, ("b2", "semi-informed", "m"): 12.0}
    result.write(repository)
    comparison = run(repository)
    assert {move.points for move in comparison.moves} == {0}
    assert comparison.verdict == "different"
    assert statuses(comparison)["score"] == "different"
    text = to_text(comparison)
    assert "EER averages in percent" not in text
    assert "\nEERs of single lists in percent that differ; band 4 points:\n" in text
    for gender, values in {"f": "32.000 (+10.000)", "m": "12.000 (-10.000)"}.items():
        key = f"b2 ecapa 1986 semi-informed demo test {gender}"
        assert f"  {key}: 22.000 -> {values}  outside the band\n" in text


@pytest.mark.parametrize(
    ("eer", "band", "list_band", "verdict"),
    [
        (26.0, 2.0, None, "within the band"),
        (26.001, 2.0, None, "different"),
        (26.001, 2.1, None, "within the band"),
        (26.001, 2.0, 4.5, "within the band"),
        (25.0, 2.0, 1.0, "different"),
        (float("nan"), 100.0, 100.0, "different"),
    ],
)
def test_band_of_a_list(
    repository: Path, eer: float, band: float, list_band: float | None, verdict: str
) -> None:
    result = Result()
    result.change("score@demo-b2")
    result.lists = {("b2", "semi-informed", "f"): eer}
    result.write(repository)
    assert run(repository, band, list_band=list_band).verdict == verdict


@pytest.mark.parametrize(
    ("eer", "band", "verdict"),
    [
        # 12.3 - 10.0 is 2.3000000000000007 in floating point.
        (12.3, 2.3, "within the band"),
        (12.301, 2.3, "different"),
        (7.7, 2.3, "within the band"),
        (10.001, 0.0, "different"),
        (10.0, 0.0, "within the band"),
        (float("nan"), 100.0, "different"),
    ],
)
def test_edge_of_the_band(repository: Path, eer: float, band: float, verdict: str) -> None:
    result = Result()
    result.change("corpus@demo")
    result.eers["orig", "original"] = eer
    result.write(repository)
    assert run(repository, band).verdict == verdict


def test_eer_that_is_no_number(repository: Path) -> None:
    result = Result()
    result.lists["orig", "original", "f"] = "n/a"  # type: ignore[assignment]
    result.write(repository)
    with pytest.raises(DataError, match=r"eer\.csv beside dvc\.lock: an EER is no number"):
        run(repository)
    result.eers["orig", "original"] = "n/a"  # type: ignore[assignment]
    result.write(repository)
    with pytest.raises(DataError, match=r"averages\.csv beside dvc\.lock: an EER is no number"):
        run(repository)


def test_other_bytes_upstream_are_judged_by_the_eer(repository: Path) -> None:
    result = Result()
    result.alpha_min = 0.6
    result.change("anonymize@demo-b2")
    result.write(repository)
    comparison = run(repository)
    assert comparison.verdict == "within the band"
    by_name = {stage.name: stage for stage in comparison.stages}
    anonymized = by_name["anonymize@demo-b2"]
    assert anonymized.status == "different bytes"
    assert anonymized.note == "params anonymizers.b2.alpha_min 0.5 -> 0.6"
    # What is identical needs no explanation, although its input differs.
    assert by_name["train@demo-b2"].note == ""


def test_changed_dependency_is_named(repository: Path) -> None:
    result = Result()
    result.outs["harness/voices.py"] = "edited"
    result.change("corpus@demo", "train@demo-b2")
    result.write(repository)
    notes = {stage.name: stage.note for stage in run(repository).stages}
    old, new = md5("harness/voices.py")[:8], md5("harness/voices.pyedited")[:8]
    assert notes["corpus@demo"] == f"deps harness/voices.py {old} -> {new}"
    assert notes["train@demo-b2"] == "same inputs"


@pytest.mark.parametrize(("side", "place"), [("committed", "rebuilt"), ("rebuilt", "committed")])
def test_missing_stage_is_different(repository: Path, side: str, place: str) -> None:
    lacking, whole = Result(), Result()
    lacking.without = "train@demo-b2"
    (lacking if side == "committed" else whole).write(repository)
    git(repository, "commit", "--quiet", "--allow-empty", "-am", "side")
    (lacking if side == "rebuilt" else whole).write(repository)
    comparison = run(repository)
    assert comparison.verdict == "different"
    (missing,) = [stage for stage in comparison.stages if stage.status == "missing"]
    assert (missing.name, missing.note) == ("train@demo-b2", f"only in the {place} dvc.lock")


def test_average_on_one_side_only_is_different(repository: Path) -> None:
    result = Result()
    del result.eers["b2", "lazy-informed"]
    result.eers["b3", "semi-informed"] = 25.0
    result.write(repository)
    comparison = run(repository)
    assert comparison.verdict == "different"
    text = to_text(comparison)
    assert "b2 ecapa 1986 lazy-informed demo test: 30.000 -> none  outside the band\n" in text
    assert "b3 ecapa 1986 semi-informed demo test: none -> 25.000  outside the band\n" in text


def test_other_trial_lists_are_not_comparable(repository: Path) -> None:
    result = Result()
    result.trials = "list 2"
    result.write(repository)
    comparison = run(repository)
    assert comparison.verdict == "different"
    assert "the trial lists differ, so the EERs are not comparable\n" in to_text(comparison)


def test_comparison_with_an_older_commit(repository: Path) -> None:
    result = Result()
    result.change("score@demo-b2")
    result.eers["orig", "original"] = 40.0
    result.write(repository)
    git(repository, "commit", "--quiet", "-am", "another result")
    assert run(repository).verdict == "identical"
    assert run(repository, revision="HEAD~1").verdict == "different"


@pytest.mark.parametrize("band", [-0.1, float("nan"), float("inf"), 101.0])
def test_band_must_be_points(repository: Path, band: float) -> None:
    with pytest.raises(ConfigError, match=r"--band: a band of \S+ points; give 0 to 100 points"):
        run(repository, band)


def test_band_of_lists_must_be_points(repository: Path) -> None:
    with pytest.raises(ConfigError, match=r"--list-band: a band of -1 points; give 0 to 100"):
        run(repository, list_band=-1)


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("harness/voices.py", "edited", r"corpus@demo: deps harness/voices\.py \w{8} -> \w{8}"),
        ("harness/voices.py", None, r"corpus@demo: deps harness/voices\.py \w{8} -> none"),
        # Made by one stage, read by the next: the first is named.
        (
            "data/demo/corpus/content",
            "edited",
            r"corpus@demo: data/demo/corpus has md5 \w{32}\.dir",
        ),
        ("data/demo/corpus/more", "", r"corpus@demo: data/demo/corpus has md5 \w{32}\.dir \(exp"),
        ("models/demo/b2/content", "bits", r"train@demo-b2: models/demo/b2 has md5 .* \(expected "),
        ("results/demo/scores/b2/content", None, "score@demo-b2: results/demo/scores/b2 has md5"),
    ],
)
def test_files_that_are_not_the_locked_ones(
    repository: Path, path: str, content: str | None, message: str
) -> None:
    if content is None:
        (repository / path).unlink()
    else:
        (repository / path).write_text(content)
    with pytest.raises(
        IntegrityError, match=f"^rebuilt results are stale: {message}.*; run `dvc repro`$"
    ):
        run(repository)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("alpha_min: 0.5", "alpha_min: 0.6", "anonymize@demo-b2: params anonymizers.b2.alpha_min"),
        ("alpha_min: 0.5", "alpha_min: 0.5\n    alpha_max: 1", "params .*alpha_max none -> 1"),
        ("- 1986", "- 1987", r"compare@demo: params benchmark\.seeds \[1986\] -> \[1987\]"),
        ("  b2:", "  b9:", r"anonymize@demo-b2: params anonymizers\.b2\.alpha_min 0\.5 -> none"),
    ],
)
def test_parameters_that_are_not_the_locked_ones(
    repository: Path, old: str, new: str, message: str
) -> None:
    path = repository / "params.yaml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(IntegrityError, match=f"^rebuilt results are stale: .*{message}"):
        run(repository)


def test_an_image_that_is_not_the_locked_one(repository: Path) -> None:
    path = repository / "docker/images.lock"
    text = path.read_text()
    path.write_text(text.replace("attacker: {}", "attacker: {attacker: new}"))
    assert run(repository).verdict == "identical"
    path.write_text(text.replace("sha256:1", "sha256:2"))
    message = r"anonymize@demo-b2: params docker\.anonymizer\.b2\.digest sha256:1 -> sha256:2;"
    with pytest.raises(IntegrityError, match=message):
        run(repository)
    path.unlink()
    with pytest.raises(IntegrityError, match=r"b2\.digest sha256:1 -> none"):
        run(repository)


def test_parameters_that_no_stage_reads_may_change(repository: Path) -> None:
    path = repository / "params.yaml"
    path.write_text(path.read_text().replace("type: original", "type: noise"))
    assert run(repository).verdict == "identical"


def test_another_benchmark_may_be_chosen(repository: Path) -> None:
    path = repository / "params.yaml"
    parameters = yaml.safe_load(path.read_text())
    parameters["benchmark"] = parameters["benchmarks"]["large"]
    path.write_text(yaml.safe_dump(parameters))
    assert run(repository).verdict == "identical"
    parameters["benchmarks"]["demo"]["seeds"] = [1987]
    path.write_text(yaml.safe_dump(parameters))
    with pytest.raises(IntegrityError, match=r"params benchmark\.seeds \[1986\] -> \[1987\]"):
        run(repository)


def test_only_the_first_stages_are_made_again(repository: Path) -> None:
    # The lock's entry of `anonymize` still names the corpus that it read.
    result = Result()
    result.change("corpus@demo")
    result.write(repository)
    lock = yaml.safe_load((repository / "dvc.lock").read_text())
    lock["stages"]["anonymize@demo-b2"]["deps"][0]["md5"] = Result().md5("data/demo/corpus")
    (repository / "dvc.lock").write_text(yaml.safe_dump(lock, sort_keys=False))
    with pytest.raises(IntegrityError, match="anonymize@demo-b2: deps data/demo/corpus"):
        run(repository)


def test_fresh_clone_has_rebuilt_nothing(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", str(repository), "clone")
    with pytest.raises(DataError, match="data/demo/corpus: nothing rebuilt here; run `dvc repro`"):
        run(tmp_path / "clone")


@pytest.mark.parametrize("name", ["dvc.lock", "results/demo/averages.csv", "results/demo/eer.csv"])
def test_missing_files_are_named(repository: Path, name: str) -> None:
    (repository / name).unlink()
    with pytest.raises(DataError, match=f"^{name}: nothing rebuilt here; run `dvc repro`"):
        run(repository)
    git(repository, "commit", "--quiet", "-am", "gone")
    Result().write(repository)
    with pytest.raises(DataError, match=f"^{name}: not committed at HEAD; name another revision"):
        run(repository)


def test_table_that_is_not_the_locked_one(repository: Path) -> None:
    path = repository / RESULTS / "averages.csv"
    path.write_text(path.read_text().replace("22.0", "12.0"))
    with pytest.raises(
        IntegrityError, match=r"averages\.csv beside dvc\.lock: md5 \w{32} \(expected \w{32}\); run"
    ):
        run(repository)
    git(repository, "commit", "--quiet", "-am", "embellished")
    Result().write(repository)
    with pytest.raises(IntegrityError, match=r"averages\.csv beside dvc\.lock at HEAD: md5"):
        run(repository)


@pytest.mark.parametrize("revision", ["nope", "--all", "HEAD:dvc.lock", ""])
def test_unknown_commit(repository: Path, revision: str) -> None:
    with pytest.raises(ConfigError, match=f"^revision '{revision}': git finds no such commit"):
        run(repository, revision=revision)


def test_outside_a_repository(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a git repository.*; run it in a clone of the repos"):
        from_commit("demo", RESULTS, "HEAD", tmp_path)


def test_without_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ResourceError, match="git is not installed; install it"):
        from_commit("demo", RESULTS, "HEAD", repository)


def test_other_benchmark(repository: Path) -> None:
    with pytest.raises(
        DataError, match=r"dvc\.lock at HEAD: no stage of vpac2025; run `dvc repro`"
    ):
        from_commit("vpac2025", PurePosixPath("results/vpac2025"), "HEAD", repository)
