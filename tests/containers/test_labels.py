"""Nothing that an attacker's image is given, beside the speech itself, tells who speaks.

The hostile image is told the truth and measures every hint; inputs that are spoiled on purpose show
that it would find one.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from containers.conftest import Record
from harness.attackers.base import Pair
from harness.contracts.attacker.exchange import write_scoring
from harness.contracts.inputs import Circumstances, settle
from harness.contracts.wav import write_wav
from harness.corpora.opaque import opaque_ids, speech
from harness.corpora.store import Corpus, Made, Utterance, build, partition
from harness.runtime.containers.fence import Fence, Outcome, printable
from harness.runtime.containers.running import run
from harness.runtime.pool import Pool

pytestmark = [pytest.mark.containers, pytest.mark.usefixtures("clean")]

SECRET = 0x5EC7E7
# Official-looking names: `1272-128104-0003`. Some speakers are never enrolled, as in real lists.
SPEAKERS = [str(1272 + 190 * number) for number in range(12)]
ENROLLED = SPEAKERS[:10]
EACH = 6
ENROLMENTS = [f"{speaker}-128104-{number:04d}" for speaker in ENROLLED for number in range(EACH)]
TRIALS = [f"{speaker}-135031-{number:04d}" for speaker in SPEAKERS for number in range(EACH)]
FENCE = Fence(output=16, log=1, seconds=60.0)


def noise(utterance: Utterance) -> Made:
    generator = np.random.default_rng(utterance.recipe)
    return Made(generator.integers(-999, 999, utterance.samples).astype(np.int16))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Noise whose length says nothing of its speaker."""
    folder = tmp_path_factory.mktemp("corpus")
    lengths = np.random.default_rng(0).integers(800, 1600, len(ENROLMENTS) + len(TRIALS))
    utterances = [
        Utterance(name, name.partition("-")[0], "f", "", int(length), number)
        for number, (name, length) in enumerate(zip([*ENROLMENTS, *TRIALS], lengths, strict=True))
    ]
    with Pool(1) as pool:
        shards = partition(utterances)
        build(folder / "libri", shards, noise, work=folder / "work", pool=pool)
    return Corpus(folder / "libri")


@dataclass(frozen=True)
class Hidden:
    """Opaque names of official ones, and where inputs lie that are written under them."""

    names: dict[str, str]
    folder: Path

    def audio(self, official: str) -> Path:
        kind = "enrolments" if official in ENROLMENTS else "trials"
        return self.folder / kind / "audio" / f"{self.names[official]}.wav"


def hidden(folder: Path) -> Hidden:
    names = {
        **opaque_ids(ENROLMENTS, "e", SECRET),
        **opaque_ids(TRIALS, "t", SECRET),
        **opaque_ids(ENROLLED, "s", SECRET),
    }
    return Hidden(names, folder)


def attack(
    image: str,
    corpus: Corpus,
    given: Hidden,
    spoil: Callable[[Hidden], object] = lambda given: None,
    *,
    shuffled: bool = True,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """How the search for hints in `given` ends, when it is written as the harness writes it."""
    names = given.names
    pairs = [Pair(names[speaker], names[trial]) for speaker in ENROLLED for trial in TRIALS]
    if shuffled:
        random.Random(SECRET).shuffle(pairs)
    enrolments: dict[str, list[str]] = {}
    for official in ENROLMENTS:
        enrolments.setdefault(names[official.partition("-")[0]], []).append(names[official])
    sounds = speech(corpus, {name: names[name] for name in [*ENROLMENTS, *TRIALS]}).recordings
    inputs = write_scoring(given.folder, None, sounds, enrolments, pairs, {}, Circumstances())
    spoil(given)
    truth = given.folder.parent / "truth.tsv"
    rows = [("utterance", "official", "speaker")]
    rows += [(names[name], name, name.partition("-")[0]) for name in [*ENROLMENTS, *TRIALS]]
    truth.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return run(
        image,
        ["labels"],
        inputs={**inputs, truth.name: truth},
        fence=FENCE,
        environment=environment,
    )


def test_nothing_tells_who_speaks(
    hostile: str, corpus: Corpus, tmp_path: Path, record: Record
) -> None:
    outcome = attack(hostile, corpus, hidden(tmp_path / "in"))
    said = printable(outcome.stdout).strip()
    assert (outcome.status, said) == (3, "refused: nothing tells who speaks")
    record("labels", "opaque names, one order, one time, no tags", said)


def tag(given: Hidden) -> None:
    with given.audio(TRIALS[0]).open("ab") as stream:
        stream.write(b"LIST\x12\0\0\0INFOIART\6\0\0\0" + b"F 1272")


def date(given: Hidden) -> None:
    for number, official in enumerate(TRIALS):
        os.utime(given.audio(official), (number, number))


def make_in_order(given: Hidden) -> None:
    """Write the files anew, a speaker's after the other's.

    All are deleted first: a file system may give a new file the inode of the last that went.
    """
    audio = {path: path.read_bytes() for path in map(given.audio, ENROLMENTS)}
    for path in audio:
        path.unlink()
    for path, data in audio.items():
        path.write_bytes(data)
        settle(path)


def size_by_speaker(given: Hidden) -> None:
    for official in ENROLMENTS:
        number = ENROLLED.index(official.partition("-")[0])
        path = given.audio(official)
        write_wav(path, np.ones(800 + number, np.int16))
        settle(path)


def list_in_order(given: Hidden) -> None:
    path = given.folder / "trials" / "manifest.tsv"
    rows = [f"{given.names[name]}\taudio/{given.names[name]}.wav\n" for name in TRIALS]
    path.write_text("utterance\tpath\n" + "".join(rows), encoding="utf-8")


SPOILS: dict[str, tuple[Callable[[Hidden], object], str]] = {
    "tags in the audio": (tag, "holds more than samples"),
    "times": (date, "times of change in /in/trials follows the official one"),
    "files made in order": (make_in_order, "in /in/enrolments groups labels"),
    "sizes": (size_by_speaker, "sizes in /in/enrolments groups labels"),
    "rows": (list_in_order, "rows in /in/trials follows the official one"),
}


@pytest.mark.parametrize("name", SPOILS)
def test_a_hint_would_be_found(name: str, hostile: str, corpus: Corpus, tmp_path: Path) -> None:
    spoil, found = SPOILS[name]
    outcome = attack(hostile, corpus, hidden(tmp_path / "in"), spoil)
    assert outcome.status == 0
    assert found in printable(outcome.stdout)


def test_an_official_order_would_be_found(hostile: str, corpus: Corpus, tmp_path: Path) -> None:
    outcome = attack(hostile, corpus, hidden(tmp_path / "in"), shuffled=False)
    said = printable(outcome.stdout)
    assert "the order of pairs groups labels" in said
    assert "the order of pairs follows the official one" in said
    given = hidden(tmp_path / "named")
    in_order = {name: f"s{number:04d}" for number, name in enumerate(ENROLLED)}
    outcome = attack(hostile, corpus, Hidden({**given.names, **in_order}, given.folder))
    assert "the names of enrolled speakers are in official order" in printable(outcome.stdout)


def test_official_names_would_be_found(hostile: str, corpus: Corpus, tmp_path: Path) -> None:
    official = {name: name for name in [*ENROLMENTS, *TRIALS, *ENROLLED]}
    said = printable(attack(hostile, corpus, Hidden(official, tmp_path / "in")).stdout)
    for place in ("the name /in/trials/audio/", "/in/pairs.tsv says", "/in/enrolments/manifest"):
        assert place in said
    folder = hidden(tmp_path / f"libri_dev_{ENROLLED[3]}" / "in")
    said = printable(attack(hostile, corpus, folder).stdout)
    assert said == f"succeeded: /proc/self/mountinfo says {ENROLLED[3]}\n"
    other, variable = hidden(tmp_path / "other"), {"SPEAKER": ENROLLED[3]}
    said = printable(attack(hostile, corpus, other, environment=variable).stdout)
    assert f"/proc/self/environ says {ENROLLED[3]}" in said
