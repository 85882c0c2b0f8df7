"""What may stand in a Kaldi `wav.scp`: a path, or one of a few commands that decode a path.

An entry that ends in `|` is a shell command in Kaldi. Here it is read, never run: the forms below
are understood as "the audio of that file", everything else is refused.

    PATH
    flac -c -d -s PATH |
    sox [-t flac|wav] PATH -t wav [-r 16000] [-b 16] [-c 1] [-e signed-integer] - |
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from harness.errors import ListError

ACCEPTED = (
    "accepted: PATH; flac -c -d -s PATH |; "
    "sox [-t flac|wav] PATH -t wav [-r 16000] [-b 16] [-c 1] [-e signed-integer] - |"
)

# Expanded or acted upon by a shell even inside double quotes, or wherever unquoted.
SHELL_CHARACTERS = frozenset("`$*?{}[]\n")
SHELL_OPERATORS = frozenset("();<>|&")
# `archive.ark:1234` and `file.wav[0:100]`: places inside a Kaldi archive or matrix.
OFFSET = re.compile(r":\d+$|\[[\d:,]*\]$")

FLAC_OPTIONS = {"--decode": "d", "--stdout": "c", "--silent": "s"}
# What can be read, and no other.
SOX_INPUT_TYPES = ("flac", "wav")
# What may be said of sox's output: only what the store makes of every file anyway.
SOX_OUTPUT = {
    "-t": ("wav",),
    "-r": ("16000", "16k"),
    "-b": ("16",),
    "-c": ("1",),
    "-e": ("signed-integer", "signed"),
}


def audio_path(entry: str, where: str) -> Path:
    """Path of the audio that an entry of `wav.scp` (the line without its id) stands for.

    where: file and line, for the error. Raises ListError.
    """
    if entry.endswith("|"):
        return Path(_piped_path(entry[:-1].strip(), where))
    if any(mark in entry for mark in ("|", ";", "`", "$(")):
        raise _refused("shell syntax in a path", where)
    if entry == "-" or OFFSET.search(entry):
        raise _refused("not a file of its own", where)
    return Path(entry)


def _refused(what: str, where: str) -> ListError:
    return ListError(f"{what} (never run)", where=where, fix=ACCEPTED)


def _piped_path(command: str, where: str) -> str:
    words = _words(command, where)
    # Whatever folder the program was in: it is not run.
    program = PurePosixPath(words[0]).name if words else ""
    if program == "flac":
        path = _flac_path(words[1:])
    elif program == "sox":
        path = _sox_path(words[1:])
    else:
        raise _refused(f"command {program!r} is not understood", where)
    if path is None:
        raise _refused(f"these arguments of {program} are not understood", where)
    return path


def _words(command: str, where: str) -> list[str]:
    if SHELL_CHARACTERS.intersection(command):
        raise _refused("shell syntax", where)
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise _refused(f"shell syntax: {error}", where) from error
    for word in words:
        if word.startswith(("~", "#", "!")) or (word and SHELL_OPERATORS.issuperset(word)):
            raise _refused("shell syntax", where)
    return words


def _flac_path(arguments: Sequence[str]) -> str | None:
    options: set[str] = set()
    paths: list[str] = []
    for argument in arguments:
        if argument in FLAC_OPTIONS:
            options.add(FLAC_OPTIONS[argument])
        elif argument.startswith("-"):
            options.update(argument[1:] or "-")
        else:
            paths.append(argument)
    if not {"c", "d"} <= options <= {"c", "d", "s"} or len(paths) != 1:
        return None
    return paths[0] or None


def _sox_path(arguments: Sequence[str]) -> str | None:
    words = list(arguments)
    if len(words) > 1 and words[0] == "-t" and words[1] in SOX_INPUT_TYPES:
        words = words[2:]
    # Nothing may follow the output: it would be an effect.
    if len(words) < 2 or not words[0] or words[0].startswith("-") or words[-1] != "-":
        return None
    path, options = words[0], words[1:-1]
    if len(options) % 2:
        return None
    said = dict(zip(options[::2], options[1::2], strict=True))
    if "-t" not in said or len(said) != len(options) // 2:
        return None
    for option, value in said.items():
        if value not in SOX_OUTPUT.get(option, ()):
            return None
    return path
