from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import small

from harness.errors import ListError
from harness.protocols import protocol
from harness.submissions.reference import (
    GENERATED,
    LONGEST_NAME,
    MOST_PAIRS,
    READ,
    STATED,
    Reference,
    count_names,
    from_folder,
    generate,
    speaker_of,
    stated,
)

EDITION = small.edition()
LIST = EDITION.lists[0]
MOST = 10_000


def lines() -> list[bytes]:
    return small.score_text("A1", "dev", "f").encode().splitlines()


def test_names_give_the_list_back() -> None:
    found = generate(LIST, count_names(lines(), MOST))
    assert found is not None
    trials = small.trials_of("dev", "f")
    assert found.keys == tuple(f"{t.enrolment} {t.utterance}".encode() for t in trials)
    assert found.target.tolist() == [t.target for t in trials]
    assert found.origin == GENERATED
    # 5 speakers, 90 utterances: a pair's speaker changes every 90 trials.
    assert found.enrolment.tolist() == [i // 90 for i in range(450)]
    assert found.utterance.tolist() == [i % 90 for i in range(450)]


@pytest.mark.parametrize(
    "change", ["shuffled", "missing", "doubled", "header", "unknown", "commas", "swapped"]
)
def test_faults_of_lines_do_no_harm(change: str) -> None:
    text = lines()
    if change == "shuffled":
        random.Random(1).shuffle(text)
    elif change == "missing":
        del text[3:40]
    elif change == "doubled":
        text += text[:20]
    elif change == "header":
        text.insert(0, b"enrolment trial score")
    elif change == "unknown":
        text.append(b"df9 df9-1-0000 0.5")
    elif change == "commas":
        text = [line.replace(b" ", b",") for line in text]
    else:
        text = [b" ".join([*reversed(line.split()[:2]), line.split()[2]]) for line in text]
    found = generate(LIST, count_names(text, MOST))
    assert found is not None
    assert found.listed == LIST


def test_a_name_too_few_or_false_is_no_list() -> None:
    without = [line for line in lines() if b"df0-1-0000" not in line]
    assert generate(LIST, count_names(without, MOST)) is None
    renamed = [line.replace(b"df0-1-0000", b"df0-1-9999") for line in lines()]
    assert generate(LIST, count_names(renamed, MOST)) is None
    assert generate(EDITION.lists[1], count_names(lines(), MOST)) is None
    assert generate(LIST, count_names([], MOST)) is None


def test_endless_names_end_the_count() -> None:
    endless = (b"s%d u%d 0.5" % (i, i) for i in range(10**9))
    assert len(count_names(endless, 1000).first) == 1001


def test_from_folder(tmp_path: Path) -> None:
    folder = small.write_lists(tmp_path)
    reference = from_folder(EDITION, folder)
    assert list(reference.lists) == [listed.trials for listed in EDITION.lists]
    assert {one.origin for one in reference.lists.values()} == {READ}
    trials = folder / LIST.trials / "trials"
    trials.write_text(trials.read_text().replace("nontarget", "target", 1))
    with pytest.raises(ListError, match=r"tiny_dev_trials_f.trials: its sha256 is \w{64}, that of"):
        from_folder(EDITION, folder)
    with pytest.raises(ListError, match="no trial list of tiny, such as tiny_dev_trials_f/trials"):
        from_folder(EDITION, tmp_path / "elsewhere")


def test_a_position_is_of_one_list(tmp_path: Path) -> None:
    reference = from_folder(EDITION, small.write_lists(tmp_path))
    assert len(reference.position) == 4 * 450
    last = reference.lists["tiny_dev_trials_m"].keys[-1]
    assert reference.position[last] == 899
    assert reference.list_at(899) == "tiny_dev_trials_m"
    assert reference.list_at(900) == "tiny_test_trials_f"
    assert Reference({}).position == {}


def test_the_real_lists_from_their_names_alone(test_data: Path) -> None:
    edition = protocol.load("vpac2025")
    for listed in edition.lists:
        path = test_data / "vpc-lists" / listed.trials / "trials"
        scored = [line.rpartition(b" ")[0] + b" 0.5" for line in path.read_bytes().splitlines()]
        found = generate(listed, count_names(scored, 100_000))
        assert found is not None
        assert int(found.target.sum()) == listed.target


def test_long_names_take_no_memory() -> None:
    long = [b"df0 " + b"x" * (LONGEST_NAME + 1) + b" 0.5", b"y" * 3000 + b" df0-1-0000 0.5"]
    names = count_names([*lines(), *long], MOST)
    assert max(map(len, [*names.first, *names.second])) <= LONGEST_NAME
    assert generate(LIST, names) is not None


UNKNOWN = replace(LIST, sha256=None, nontarget=None)


def test_a_list_that_nobody_knows_is_that_of_the_scores() -> None:
    text = lines()
    random.Random(1).shuffle(text)
    found = stated(UNKNOWN, text)
    assert found is not None
    # In the order of the file, with labels by the names.
    assert found.keys == tuple(line.rpartition(b" ")[0] for line in text)
    labels = {
        f"{t.enrolment} {t.utterance}".encode(): t.target for t in small.trials_of("dev", "f")
    }
    assert found.target.tolist() == [labels[key] for key in found.keys]
    assert (found.origin, found.n_target, found.n_nontarget) == (STATED, 75, 375)
    # Another order is another text; in that of the list it is the list's.
    assert found.sha256 != LIST.sha256
    again = stated(UNKNOWN, lines())
    assert again is not None
    assert again.sha256 == LIST.sha256


@pytest.mark.parametrize(
    "change", ["a target less", "a nontarget less", "no target", "columns", "name", "bytes", "much"]
)
def test_pairs_that_cannot_be_the_list(change: str) -> None:
    text, listed = lines(), UNKNOWN
    targets = [i for i, trial in enumerate(small.trials_of("dev", "f")) if trial.target]
    if change == "a target less":
        del text[targets[0]]
    elif change == "a nontarget less":
        listed = replace(UNKNOWN, nontarget=375)
        del text[next(i for i in range(len(text)) if i not in targets)]
    elif change == "no target":
        listed = replace(UNKNOWN, target=None)
        text = [line for i, line in enumerate(text) if i not in targets]
    elif change == "columns":
        text[7] = b"df0 df0-1-0000"
    elif change == "name":
        text[7] = b"x" * (LONGEST_NAME + 1) + b" df0-1-0000 1.0"
    elif change == "bytes":
        text[7] = b"df0 \xff 1.0"
    else:
        listed = replace(UNKNOWN, target=None)
        text += [b"x %d 1.0" % i for i in range(MOST_PAIRS)]
    assert stated(listed, text) is None


@pytest.mark.parametrize(
    ("utterance", "speaker"),
    [("84-121123-0006", "84"), ("p234_293_mic2", "p234"), ("x", "x")],
)
def test_the_speaker_stands_first_in_an_utterance_s_name(utterance: str, speaker: str) -> None:
    assert speaker_of(utterance) == speaker


def test_a_folder_is_believed_where_no_hash_is_known(tmp_path: Path) -> None:
    edition = replace(EDITION, lists=(UNKNOWN, *EDITION.lists[1:]))
    lists = small.write_lists(tmp_path)
    assert from_folder(edition, lists).lists[LIST.trials].origin == READ
    path = lists / LIST.trials / "trials"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(ListError, match="74 target and 375 nontarget trials, in tiny 75 target"):
        from_folder(edition, lists)
