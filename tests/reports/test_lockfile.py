"""dvc.lock, as DVC writes it."""

from __future__ import annotations

import pytest

from harness.errors import ConfigError, DataError
from harness.reports.lockfile import Stage, differing_inputs, read_lock

# Entries as DVC 3.67 writes them, in an order that is not the pipeline's.
LOCK = """\
schema: '2.0'
stages:
  compare@demo:
    cmd: harness stage compare demo
    deps:
    - path: results/demo/eer
      hash: md5
      md5: 0000000000000000000000000000000e.dir
      size: 9
      nfiles: 3
    outs:
    - path: results/demo/eer.csv
      hash: md5
      md5: 00000000000000000000000000000001
      size: 5
  evaluate@demo-b2:
    cmd: harness stage evaluate demo b2
    deps:
    - path: data/demo/corpus/lists
      hash: md5
      md5: 0000000000000000000000000000000d.dir
    outs:
    - path: results/demo/eer/b2
      hash: md5
      md5: 00000000000000000000000000000002.dir
  corpus@demo:
    cmd: harness stage corpus demo
    params:
      params.yaml:
        benchmark.segment_seconds:
        anonymizers.b2:
          type: mcadams
          levels: [a, b]
          inner: {x: 1}
    outs:
    - path: data/demo/corpus
      hash: md5
      md5: 00000000000000000000000000000003.dir
  corpus@demo-long:
    cmd: harness stage corpus demo-long
    outs:
    - path: data/demo-long/corpus
      hash: md5
      md5: 00000000000000000000000000000004.dir
"""


def test_stages_of_the_benchmark_in_pipeline_order() -> None:
    # A dependency may be, lie in, or hold the output of another stage.
    assert list(read_lock(LOCK, "demo", "dvc.lock")) == [
        "corpus@demo",
        "evaluate@demo-b2",
        "compare@demo",
    ]
    assert list(read_lock(LOCK, "demo-long", "dvc.lock")) == ["corpus@demo-long"]


def test_what_a_stage_holds() -> None:
    stages = read_lock(LOCK, "demo", "dvc.lock")
    assert stages["corpus@demo"] == Stage(
        cmd="harness stage corpus demo",
        deps={},
        params={
            "benchmark.segment_seconds": "null",
            "anonymizers.b2.type": "mcadams",
            "anonymizers.b2.levels": "['a', 'b']",
            "anonymizers.b2.inner.x": "1",
        },
        outs={"data/demo/corpus": "00000000000000000000000000000003.dir"},
        settings={
            "params.yaml": {
                "benchmark.segment_seconds": None,
                "anonymizers.b2": {"type": "mcadams", "levels": ["a", "b"], "inner": {"x": 1}},
            }
        },
    )
    assert stages["compare@demo"].deps == {
        "results/demo/eer": "0000000000000000000000000000000e.dir"
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stages: {}\n", r"^dvc\.lock at X: no stage of demo; run `dvc repro` for demo$"),
        ("schema: '2.0'\n", "no stage of demo"),
        ("stages: [1]\n", r"^dvc\.lock at X: not a lock of DVC"),
        ("stages: {a: {}}\n", "not a lock of DVC"),
        ("stages: {a: {cmd: x, outs: [{path: y}]}}\n", "not a lock of DVC"),
        ("stages: {a: {cmd: x, params: 5}}\n", "not a lock of DVC"),
    ],
)
def test_malformed_lock(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_lock(text, "demo", "dvc.lock at X")


def test_lock_in_conflict() -> None:
    with pytest.raises(ConfigError, match=r"dvc\.lock:3: not valid YAML"):
        read_lock("a: 1\n<<<<<<< HEAD\nb: 2\n", "demo", "dvc.lock")


def stage(cmd: str = "c", deps: str = "", params: str = "") -> Stage:
    as_pairs = (dict(pair.split("=") for pair in text.split()) for text in (deps, params))
    one, two = as_pairs
    return Stage(cmd, one, two, {})


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        (stage(), stage(), "same inputs"),
        (stage(cmd="a"), stage(cmd="b"), "cmd a -> b"),
        (
            stage(params="b2.alpha_min=0.5 s=1"),
            stage(params="b2.alpha_min=0.6 s=1"),
            "params b2.alpha_min 0.5 -> 0.6",
        ),
        (stage(params="a=1"), stage(params="b=1"), "params a 1 -> none, params b none -> 1"),
        (
            stage(deps="f.py=0123456789abcdef"),
            stage(deps="f.py=fedcba9876543210"),
            "deps f.py 01234567 -> fedcba98",
        ),
        (
            stage(deps="a=1 b=1 c=1 d=1", params="p=1 q=1"),
            stage(deps="a=2 b=2 c=2 d=1", params="p=2 q=2"),
            "params p 1 -> 2, params q 1 -> 2, deps a 1 -> 2, deps b 1 -> 2, and 1 more",
        ),
    ],
)
def test_differing_inputs(before: Stage, after: Stage, line: str) -> None:
    assert differing_inputs(before, after) == line


def test_hashes_that_differ_in_the_end_only_are_seen() -> None:
    line = differing_inputs(stage(deps="f=0123456789"), stage(deps="f=0123456700"))
    assert line == "deps f 01234567 -> 01234567"
