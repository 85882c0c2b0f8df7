"""Entries of wav.scp are understood or refused, and never run."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.corpora.wav_scp import audio_path
from harness.errors import ListError


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ("/data/a.wav", "/data/a.wav"),
        ("data/libri_dev/wav/a/a.wav", "data/libri_dev/wav/a/a.wav"),
        ("/data/two words.wav", "/data/two words.wav"),
        ("/data/Grüße (1).flac", "/data/Grüße (1).flac"),
        ("flac -c -d -s /data/a.flac |", "/data/a.flac"),
        ("flac -c -d -s /data/a.flac|", "/data/a.flac"),
        ("/usr/bin/flac -cds data/a.flac |", "data/a.flac"),
        ("flac --decode --stdout --silent a.flac |", "a.flac"),
        ("flac -d -c a.flac |", "a.flac"),
        ("flac -c -d -s '/data/two words (1).flac' |", "/data/two words (1).flac"),
        ("flac -c -d -s /data/two\\ words.flac |", "/data/two words.flac"),
        ("sox /data/a.flac -t wav - |", "/data/a.flac"),
        ("sox -t flac /data/a.flac -t wav -r 16000 -b 16 - |", "/data/a.flac"),
        ("sox a.wav -t wav -r 16k -b 16 -c 1 -e signed-integer - |", "a.wav"),
        ('sox "a b.mp3" -c 1 -t wav - |', "a b.mp3"),
    ],
)
def test_accepted_entries(entry: str, path: str) -> None:
    assert audio_path(entry, "wav.scp:1") == Path(path)


@pytest.mark.parametrize(
    "entry",
    [
        "cat a.wav |",
        "sph2pipe -f wav a.sph |",
        "sox -t mp3 a.mp3 -t wav - |",
        "sox -t sph a.sph -t wav - |",
        "ffmpeg -i a.mp3 -f wav - |",
        "bash -c 'flac -c -d a.flac' |",
        "|",
        " |",
        "flac a.flac |",
        "flac -c -d |",
        "flac -c -d a.flac b.flac |",
        "flac -c -d --output-name=x a.flac |",
        "flac -c -d -f a.flac |",
        "flac -c -d - |",
        "flac -c -d ; |",
        "sox < -t wav - |",
        "flac -c -d '' |",
        "flac -c -d -s a.flac | sox - -t wav - |",
        "flac -c -d -s a.flac; rm -rf x |",
        "flac -c -d -s a.flac;rm |",
        "flac -c -d -s a.flac && rm x |",
        "flac -c -d -s a.flac & |",
        "flac -c -d -s `rm x` |",
        "flac -c -d -s $(rm x) |",
        'flac -c -d -s "$(rm x)" |',
        "flac -c -d -s $HOME/a.flac |",
        "flac -c -d -s ~/a.flac |",
        "flac -c -d -s *.flac |",
        "flac -c -d -s {a,b}.flac |",
        "flac -c -d -s <(cat a.flac) |",
        "flac -c -d -s a.flac > b |",
        "flac -c -d -s a.flac >b |",
        "flac -c -d -s 'a.flac |",
        "flac -c -d -s a.flac # comment |",
        "sox a.wav - |",
        "sox a.wav -t wav b.wav |",
        "sox a.wav -t raw - |",
        "sox -t raw a.raw -t wav - |",
        "sox a.wav -t wav -r 8000 - |",
        "sox a.wav -t wav -b 8 - |",
        "sox a.wav -t wav -c 2 - |",
        "sox a.wav -t wav -t wav - |",
        "sox a.wav -t wav - speed 1.1 |",
        "sox a.wav -t wav - rate 16k |",
        "sox -v 0.9 a.wav -t wav - |",
        "sox a.wav b.wav -t wav - |",
        "sox |",
        "sox -t wav - -t wav - |",
        "| cat",
        "a.wav | cat",
        "a.wav; rm x",
        "$(rm x).wav",
        "`rm x`.wav",
        "-",
        "audio.ark:1234",
        "audio.wav[0:100]",
    ],
)
def test_everything_else_is_refused(entry: str) -> None:
    with pytest.raises(ListError, match=r"^wav\.scp:7: .*\(never run\); accepted: PATH; flac -c"):
        audio_path(entry, "wav.scp:7")
